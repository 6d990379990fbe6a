//! Outputs: one report value, rendered into each of them. The scan is over before anything here runs.
//!
//! Text of logs, paths and names is foreign: it reaches an output only through `escape`.

pub mod assemble;
mod axes;
mod axis;
mod bug;
mod counts;
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
mod text;
mod tones;
pub mod wal;
mod width;

use std::io::{self, Write};

pub use diff::{DIFF_OUTPUTS, compare};
pub use folder::{Error, check_folder, write_folder};
use model::{Finding, Report};
pub use plots::{PLOTS, Plot};
pub use redact::redact;

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
