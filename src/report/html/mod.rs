//! The report as one page that works from a file, without a network and without its script: the verdict, what it rests
//! on, what happened when, and what is left open.
//!
//! Everything is written as HTML and SVG; the script only narrows, zooms, sorts and folds what is there. Each list is
//! bounded in items and bytes, so the page stays below 2 MB whatever the input.

mod counts;
mod evidence;
mod findings;
mod inputs;
mod lanes;
mod levels;
mod markup;
mod page;
mod remainder;
mod replays;
mod run;
mod sheet;
mod signals;
mod strips;
mod tests;
mod timeline;
mod unplaced;
mod verdict;
mod wal;
mod windows;

use std::io::{self, Write};

use crate::report::Style;
use crate::report::model::Report;

pub use run::run_page;

use lanes::Lanes;
use markup::Markup;
use sheet::Sheet;

/// Writes the page.
pub(super) fn write(report: &Report, _style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let sheet = Sheet::of(report);
    let mut lanes = Lanes::default();
    let mut body = Markup::default();
    verdict::write(&sheet, &mut body);
    tests::write(&sheet, &mut body);
    timeline::write(&sheet, &mut lanes, &mut body);
    strips::write(&sheet, &mut lanes, &mut body);
    findings::write(&sheet, &mut body);
    counts::write(&sheet, &mut body);
    wal::write(&sheet, &mut body);
    replays::write(&sheet, &mut body);
    remainder::write(&sheet, &mut body);
    signals::write(&sheet, &mut body);
    inputs::write(&sheet, &mut body);
    let page = page::whole(&sheet, &lanes, &body);
    out.write_all(page.as_bytes())
}
