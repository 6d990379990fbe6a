//! What is wrong with an input's bytes: located and counted, never fatal.

use serde::Serialize;

/// A kind of fault in an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ProblemKind {
    /// The file could not be opened.
    Unreadable,
    /// Reading or unpacking stopped before the end.
    ReadError,
    /// The file ends inside a record.
    Truncated,
    /// A record is longer than what is kept whole.
    RecordTooLong,
    /// Bytes that are no UTF-8.
    InvalidUtf8,
    /// NUL bytes.
    NulBytes,
    /// A level that no known version prints.
    UnknownLevel,
    /// Lines that belong to no record.
    UnparsedLines,
    /// Lines that end in CR LF.
    CrLf,
    /// Rows of a table that have more or fewer cells than it has columns.
    RaggedRows,
    /// Another file holds the same piece of the log.
    DuplicatePiece,
    /// It was taken from a log that is here.
    FurtherView,
    /// It looks like a WAL that cannot be checked.
    UncheckedWal,
}

impl ProblemKind {
    /// Whether something of the input was not read.
    pub fn is_partial(self) -> bool {
        match self {
            Self::Unreadable | Self::ReadError | Self::RecordTooLong => true,
            Self::Truncated
            | Self::InvalidUtf8
            | Self::NulBytes
            | Self::UnknownLevel
            | Self::UnparsedLines
            | Self::CrLf
            | Self::RaggedRows
            | Self::DuplicatePiece
            | Self::FurtherView
            | Self::UncheckedWal => false,
        }
    }
}

/// One kind of fault in one stretch of input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Its kind.
    pub kind: ProblemKind,
    /// The first line that has it, from 0.
    pub line: u64,
    /// How many lines or records have it.
    pub count: u64,
}

/// The faults of one block, collected during its pass.
#[derive(Debug, Default)]
pub(super) struct Problems {
    list: Vec<Problem>,
    /// Whether the bytes are known to be ASCII without a NUL.
    pub(super) is_plain: bool,
}

impl Problems {
    /// What can be told of bytes without reading records.
    fn of(bytes: &[u8]) -> Self {
        let mut problems = Self::default();
        if simdutf8::basic::from_utf8(bytes).is_err() {
            problems.lines(bytes, ProblemKind::InvalidUtf8, |line| {
                std::str::from_utf8(line).is_err()
            });
        }
        if memchr::memchr(0, bytes).is_some() {
            problems.lines(bytes, ProblemKind::NulBytes, |line| {
                memchr::memchr(0, line).is_some()
            });
        }
        problems
    }

    fn lines(&mut self, bytes: &[u8], kind: ProblemKind, has: impl Fn(&[u8]) -> bool) {
        for (number, line) in (0u64..).zip(bytes.split(|&b| b == b'\n')) {
            if has(line) {
                self.note(kind, number);
            }
        }
    }

    pub(super) fn note(&mut self, kind: ProblemKind, line: u64) {
        match self.list.iter_mut().find(|problem| problem.kind == kind) {
            Some(problem) => problem.count += 1,
            None => self.list.push(Problem {
                kind,
                line,
                count: 1,
            }),
        }
    }

    /// All of them.
    pub(super) fn into_list(self, bytes: &[u8]) -> Vec<Problem> {
        if self.is_plain {
            return self.list;
        }
        let mut list = Self::of(bytes).list;
        list.extend(self.list);
        list
    }
}
