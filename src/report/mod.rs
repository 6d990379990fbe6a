//! Outputs: one report value, rendered into each of them. The scan is over before anything here runs.
//!
//! Text of logs, paths and names is foreign: it reaches an output only through `escape`.

pub mod assemble;
mod axes;
mod axis;
mod bug;
mod chains;
mod clocks;
mod counts;
mod diagnosis;
pub mod diff;
pub mod escape;
pub mod explanation;
mod exported;
mod figures;
mod folder;
mod github;
mod html;
pub mod json;
mod junit;
pub mod listing;
mod markdown;
pub mod model;
mod plots;
mod positions;
pub mod profile;
mod redact;
pub mod rulebook;
mod sarif;
pub mod tables;
mod testing;
mod text;
mod tones;
pub mod wal;
mod width;

use std::io::{self, Write};

pub use diff::{DIFF_OUTPUTS, compare};
pub use folder::{Error, check_folder, write_folder};
pub use html::run_page;
use model::{Finding, Report};
pub use plots::{PLOTS, Plot, RunLine, RunPanel, RunPicture};
pub use redact::{Texts, redact, redact_inspection};

/// What a reader of a masked report is told.
const REDACTED: &str =
    "names, addresses, paths, queries and literals; the same text has the same mask";

/// How an output for people looks; machine formats ignore it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Whether to color.
    pub color: bool,
    /// Columns of a line.
    pub width: usize,
}

/// A kind of output.
#[derive(Debug, Clone, Copy)]
pub struct Output {
    /// Its name in `--format`.
    pub name: &'static str,
    /// Its file in `--out`.
    pub file: &'static str,
    /// Writes it.
    pub write: fn(&Report, &Style, &mut dyn Write) -> io::Result<()>,
}

/// Every output; the first is the default.
pub const REPORTS: &[Output] = &[
    Output {
        name: "text",
        file: "report.txt",
        write: text::write,
    },
    Output {
        name: "json",
        file: "report.json",
        write: json::write,
    },
    Output {
        name: "markdown",
        file: "report.md",
        write: markdown::write,
    },
    Output {
        name: "bug",
        file: "bug.md",
        write: bug::write,
    },
    Output {
        name: "html",
        file: "report.html",
        write: html::write,
    },
    Output {
        name: "github",
        file: "annotations.txt",
        write: github::write,
    },
    Output {
        name: "junit",
        file: "junit.xml",
        write: junit::write,
    },
    Output {
        name: "sarif",
        file: "report.sarif",
        write: sarif::write,
    },
];

/// Bytes that GitHub shows of what a step writes; what is longer is dropped as a whole.
const STEP_SUMMARY_MAX: u64 = 1 << 20;

/// The issue as a summary of a workflow's step, cut at a line so that with what is `written` there already it is shown.
pub fn step_summary(report: &Report, written: u64) -> io::Result<String> {
    const CUT: &str = "\n(cut: the summary of a step is bounded)\n";
    let mut bytes = Vec::new();
    let style = Style {
        color: false,
        width: 120,
    };
    markdown::write(report, &style, &mut bytes)?;
    let text = String::from_utf8(bytes).map_err(io::Error::other)?;
    let room = STEP_SUMMARY_MAX.saturating_sub(written);
    let room = usize::try_from(room).unwrap_or(usize::MAX);
    if text.len() <= room {
        return Ok(text);
    }
    let most = room.saturating_sub(CUT.len());
    let end = text.as_bytes()[..most]
        .iter()
        .rposition(|byte| *byte == b'\n');
    Ok(end.map_or_else(String::new, |end| format!("{}{CUT}", &text[..=end])))
}

/// Whether there are results of tests and no test ran.
pub fn tests_ran_nothing(report: &Report) -> bool {
    testing::ran_nothing(report)
}

/// Whether any test failed that was not expected to, or a run of tests says that it failed.
pub fn tests_fail(report: &Report) -> bool {
    testing::fail(report)
}

/// The finding that the verdict names: the first of the worst, or the root of its incident where that is as bad.
fn worst(report: &Report) -> Option<&Finding> {
    let severity = report.findings.iter().map(|it| it.severity).max()?;
    let first = report.findings.iter().find(|it| it.severity == severity)?;
    let incident = report
        .incidents
        .iter()
        .find(|it| it.findings.contains(&first.id));
    let root = incident.and_then(|it| report.findings.iter().find(|finding| finding.id == it.root));
    Some(
        root.filter(|root| root.severity == severity)
            .unwrap_or(first),
    )
}
