//! The summary for a terminal: the verdict first, then what it rests on, on one screen. What is left out is said, with
//! how to see it. Each part has its share of lines, so a flood of one kind of thing cannot push out the others.

mod conclusions;
mod page;
mod remarks;
mod table;

use std::io::{self, Write};

use crate::report::Style;
use crate::report::model::Report;

use page::Page;

/// Writes the summary.
pub(super) fn write(report: &Report, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::new(*style);
    conclusions::verdict(report, &mut page);
    conclusions::findings(report, &mut page);
    table::counts(report, &mut page);
    remarks::write(report, &mut page);
    page.say_what_is_left_out();
    page.print(out)
}
