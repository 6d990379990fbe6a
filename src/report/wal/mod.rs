//! The outputs of a WAL check: text with a picture, JSON, `JUnit`, SARIF; and the records of one segment.

mod dump;
mod json;
mod junit;
mod picture;
mod sarif;
pub(super) mod summary;
mod text;

use std::io::{self, Write};

use super::escape;
use crate::layout::{Inspection, Problem, Severity, Wal};

pub use dump::{DumpEnd, dump};
pub use json::{
    CheckDocument, ComparisonRow, FoundRow, LsnValue, NoteRow, ProblemRow, ReachRow, SegmentRow,
    StallRow, ToolRow, UnknownRow, UnreadRow, WalRow, comparison_rows, rows,
};

/// One output of a WAL check.
pub struct Output {
    /// The word for `--format`.
    pub name: &'static str,
    /// Writes it; with `true`, crash residue counts as damage.
    pub write: fn(&Inspection, bool, &mut dyn Write) -> io::Result<()>,
}

/// All outputs, the usual one first.
pub const OUTPUTS: &[Output] = &[
    Output {
        name: "text",
        write: text::write,
    },
    Output {
        name: "json",
        write: json::write,
    },
    Output {
        name: "junit",
        write: junit::write,
    },
    Output {
        name: "sarif",
        write: sarif::write,
    },
];

/// The place and the positions of a problem, in one line.
fn place(wal: &Wal, problem: &Problem) -> String {
    let show = |lsn| wal.notation.show(lsn);
    let offset = problem.offset.map(|offset| format!("offset {offset}"));
    let positions = problem
        .lsn
        .map(|lsn| match problem.lsn_to.filter(|&to| to > lsn) {
            Some(to) => format!("LSN {}..{}", show(lsn), show(to)),
            None => format!("LSN {}", show(lsn)),
        });
    let expected = problem
        .expected
        .filter(|&expected| Some(expected) != problem.lsn)
        .map(|expected| format!("expected {}", show(expected)));
    let file = escape::terminal(file(wal, problem));
    [Some(file), offset, positions, expected]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(", ")
}

fn file<'a>(wal: &'a Wal, problem: &Problem) -> &'a str {
    wal.segments
        .get(problem.segment)
        .map_or("", |segment| segment.file.as_str())
}

/// Whether a problem fails the gate.
fn counts(problem: &Problem, is_strict: bool) -> bool {
    is_strict || problem.severity == Severity::Damage
}

/// `1 problem`, `2 problems`.
fn count(n: usize, word: &str) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{n} {word}{plural}")
}
