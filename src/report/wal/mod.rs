//! The outputs of a WAL check: text with a picture, JSON, `JUnit`, SARIF; and the records of one segment.

mod dump;
mod json;
mod junit;
mod picture;
mod sarif;
mod text;

use std::borrow::Cow;
use std::io::{self, Write};

use crate::layout::{Inspection, Problem, Severity, Wal};

pub use dump::{DumpEnd, dump};
pub use json::{
    CheckDocument, ComparisonRow, LsnValue, NoteRow, ProblemRow, ReachRow, SegmentRow, StallRow,
    ToolRow, UnknownRow, UnreadRow, WalRow, rows,
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

/// Text that came from a file name or a file, safe for a terminal: control and direction characters are spelled out.
fn safe(text: &str) -> Cow<'_, str> {
    let is_unsafe = |c: char| {
        c.is_control()
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
    };
    if !text.contains(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let spelled = |c: char| {
        if is_unsafe(c) {
            c.escape_unicode().to_string()
        } else {
            c.to_string()
        }
    };
    Cow::Owned(text.chars().map(spelled).collect())
}

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
    let file = safe(file(wal, problem)).into_owned();
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
