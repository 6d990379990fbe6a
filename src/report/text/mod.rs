//! The summary for a terminal: the verdict first, then what it rests on, on one screen. What is left out is said, with
//! how to see it. Each part has its share of lines, so a flood of one kind of thing cannot push out the others; a page
//! that grows beyond a screen is laid out again with smaller shares.

mod conclusions;
pub(in crate::report) mod page;
mod remarks;
mod spark;
mod table;
mod tests;
mod wals;

use std::io::{self, Write};

use crate::report::model::Report;
use crate::report::{Style, testing, worst};
use crate::vocab::Severity;

use page::{Page, Room};

/// Lines of a screen.
const LINES_MAX: usize = 40;

/// Writes the summary.
pub(super) fn write(report: &Report, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    for room in [Room::WIDE, Room::NARROW] {
        let page = laid_out(report, style, room);
        if page.height() <= LINES_MAX {
            return page.print(out);
        }
    }
    let room = if report.tests.runs.is_empty() {
        Room::NARROW
    } else {
        Room::NARROWEST
    };
    laid_out(report, style, room).print(out)
}

fn laid_out(report: &Report, style: &Style, room: Room) -> Page {
    let mut page = Page::new(*style, room);
    // The first line must not say that nothing failed where a server did.
    let finding_first = !testing::fail(report)
        && worst(report).is_some_and(|finding| finding.severity > Severity::Low);
    if finding_first {
        conclusions::verdict(report, &mut page);
    }
    tests::write(report, &mut page);
    if !finding_first {
        conclusions::verdict(report, &mut page);
    }
    conclusions::findings(report, &mut page);
    tests::write_events_alone(report, &mut page);
    table::counts(report, &mut page);
    wals::write(report, &mut page);
    remarks::write(report, &mut page);
    page.say_what_is_left_out();
    page
}
