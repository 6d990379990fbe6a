//! The report as an issue: pastes into a bug tracker, in the order in which a reader asks. What happened, where, which
//! counts and records show it, how it comes about, what it is not, what to do next, what is left unexplained.

mod analysis;
mod behavior;
mod environment;
pub(in crate::report) mod page;
mod remainder;
mod situation;
mod tests;
mod wals;

use std::io::{self, Write};

use crate::report::Style;
use crate::report::model::{Finding, Report};

use page::Page;

/// Findings told in full. An issue's text is bounded (65,536 characters on GitHub).
const FINDINGS_MAX: usize = 10;

/// Writes the issue.
pub(super) fn write(report: &Report, _style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::default();
    situation::title(report, &mut page);
    tests::write(report, &mut page);
    situation::write(report, &mut page);
    environment::write(report, &mut page);
    behavior::write(report, &mut page);
    wals::write(report, &mut page);
    analysis::write(report, &mut page);
    remainder::write(report, &mut page);
    out.write_all(page.text().as_bytes())
}

/// The findings that are told in full.
fn told(report: &Report) -> &[Finding] {
    report
        .findings
        .get(..FINDINGS_MAX)
        .unwrap_or(&report.findings)
}
