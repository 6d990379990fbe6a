//! Formats: how bytes become records. A parser knows one format and nothing of incidents.
//!
//! Cutting and reading are separate: [`Format::is_head`] finds where records start, [`Format::parse`] reads one. So a stack
//! trace is continuation lines and not a failure, and a file may be cut anywhere at a head.
//!
//! A format is one file with a [`Spec`] and one line in [`FORMATS`]; a rules file declares further ones ([`declared`]).

pub mod ci;
mod clickhouse;
mod cockroach;
mod controller;
mod core_dump;
pub mod declared;
mod etcd;
pub mod exception;
mod hashicorp;
mod head;
pub(crate) mod json;
mod kafka;
mod mongo;
mod nats;
mod nuraft;
mod quoted;
mod soak;
mod spec;
mod stamps;
mod stderr;
pub mod tables;
mod tikv;
pub mod wal;
mod zookeeper;

use std::cell::OnceCell;
use std::cmp::Ordering;
use std::fmt;

pub use spec::{Absence, Spec};

use crate::record::{Record, split_lines};
use crate::time::Timestamp;
use exception::Exception;

/// A format of text logs: one that is registered here, or one that a rules file declares.
///
/// It is a handle that is copied into every block and every signal.
#[derive(Clone, Copy)]
pub struct Format(&'static Spec);

/// Every registered format, in the order in which ties of sniffing are decided.
pub const FORMATS: &[Format] = &[
    Format(&clickhouse::SPEC),
    Format(&stderr::SPEC),
    Format(&core_dump::SPEC),
    Format(&controller::SPEC),
    Format(&soak::SPEC),
    Format(&zookeeper::SPEC),
    Format(&etcd::SPEC),
    Format(&nuraft::SPEC),
    Format(&hashicorp::SPEC),
    Format(&nats::SPEC),
    Format(&mongo::SPEC),
    Format(&cockroach::SPEC),
    Format(&tikv::SPEC),
    Format(&kafka::SPEC),
    Format(&tables::line::SPEC),
];

impl Format {
    /// The text log of `ClickHouse`: the format of a signal that names none, and of an empty log.
    pub const CLICKHOUSE: Self = Self(&clickhouse::SPEC);

    /// The rows of an exported system table.
    pub const TABLE: Self = Self(&tables::line::SPEC);

    /// What is registered of this format.
    pub fn spec(self) -> &'static Spec {
        self.0
    }

    /// Whether a rules file declares it.
    pub fn is_declared(self) -> bool {
        self.0.declared.is_some()
    }

    /// The format registered under a name.
    pub fn from_name(name: &str) -> Option<Self> {
        FORMATS.iter().copied().find(|format| format.0.name == name)
    }

    /// Whether a line starts a record. `line` begins at the first byte of a line and may reach beyond it.
    #[expect(
        clippy::inline_always,
        reason = "asked for every line: a call would cost more than the answer"
    )]
    #[inline(always)]
    pub fn is_head(self, line: &[u8]) -> bool {
        if std::ptr::eq(self.0, &raw const clickhouse::SPEC) {
            return clickhouse::is_head(line);
        }
        match self.0.declared {
            None => (self.0.is_head)(line),
            Some(declared) => declared.is_head(line),
        }
    }

    /// Reads the record that fills `bytes`; `None` only if they do not begin with a head.
    #[inline]
    pub fn parse(self, bytes: &[u8]) -> Option<Record<'_>> {
        if !self.is_head(bytes) {
            return None;
        }
        let head_bytes = memchr::memchr(b'\n', bytes).map_or(bytes.len(), |at| at + 1);
        self.parse_split(bytes, head_bytes)
    }

    /// The same, where it is known that they begin with a head, whose line has so many bytes, its end included.
    #[expect(
        clippy::inline_always,
        reason = "a record takes longer to hand over than to read"
    )]
    #[inline(always)]
    pub fn parse_split(self, bytes: &[u8], head_bytes: usize) -> Option<Record<'_>> {
        let (line, rest) = bytes.split_at(head_bytes);
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if std::ptr::eq(self.0, &raw const clickhouse::SPEC) {
            return clickhouse::parse(line, rest);
        }
        match self.0.declared {
            None => (self.0.parse)(line, rest),
            Some(declared) => declared.parse(line, rest),
        }
    }

    /// The stamp of the head that `line` begins with.
    pub fn stamp(self, line: &[u8]) -> Option<Timestamp> {
        match self.0.stamp {
            Some(stamp) => stamp(line),
            None => self.parse(line).and_then(|record| record.time),
        }
    }

    /// The exception that a record of this format is.
    #[inline]
    pub fn exception(self, record: &Record<'_>) -> Option<Exception> {
        if self.0.has_codes {
            exception::of(record)
        } else {
            None
        }
    }

    /// Where in the message of a record the text of a query or of its data begins, if the servers of this format quote them.
    ///
    /// `exception` is that of the record: what precedes it is left alone.
    pub fn quoted_at(self, record: &Record<'_>, exception: Option<Exception>) -> Option<usize> {
        self.0
            .has_codes
            .then(|| quoted::of(record, exception))
            .flatten()
    }

    /// The node that the lines of a sample name, if the format's lines do and these name one only.
    pub fn only_node(self, sample: &[u8]) -> Option<String> {
        let mut nodes = sample_lines(sample)
            .filter_map(|line| self.parse(line))
            .map(|record| record.node)
            .filter(|node| !node.is_empty());
        let first = nodes.next()?;
        nodes
            .all(|node| node == first)
            .then(|| String::from_utf8_lossy(first).into_owned())
    }

    /// The node that the text of the records in a sample names as the one that writes them, if it names one only: for lines that
    /// somebody pasted, which nothing else says the node of.
    pub fn only_writer(self, sample: &[u8]) -> Option<String> {
        let writer = self.0.writer?;
        let mut writers = sample_lines(sample).filter_map(writer);
        let first = writers.next()?;
        writers.all(|node| node == first).then_some(first)
    }

    /// Whether a record begins in a sample: lines may look like one's head and be indented.
    pub fn begins(self, sample: &[u8]) -> bool {
        sample_lines(sample).any(|line| self.is_head(line))
    }

    /// How many lines of a sample it claims.
    fn claims(self, sample: &[u8]) -> usize {
        match self.0.claims {
            Some(claims) => claims(sample),
            None => sample_lines(sample)
                .filter(|line| self.is_head(line))
                .count(),
        }
    }
}

impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for Format {}

impl Ord for Format {
    fn cmp(&self, other: &Self) -> Ordering {
        // Two formats of one name never meet in one rule base.
        let place = |format: &Self| std::ptr::from_ref(format.0).addr();
        self.0
            .name
            .cmp(other.0.name)
            .then_with(|| place(self).cmp(&place(other)))
    }
}

impl PartialOrd for Format {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name)
    }
}

/// Tells the format of a file from its first bytes: the one that claims most lines; `None` if none claims any. Those that
/// a rules file declares are asked first: who declares one knows the file.
pub fn sniff(sample: &[u8], declared: &[Format]) -> Option<Format> {
    claimed(sample, declared).map(|(_, format)| format)
}

/// A file's first bytes, and what the formats claim of them: asked often, found once.
pub struct Sample<'s> {
    /// The bytes.
    pub bytes: &'s [u8],
    /// The formats that a rules file declares.
    pub declared: &'s [Format],
    claimed: OnceCell<Option<(usize, Format)>>,
}

impl<'s> Sample<'s> {
    /// A sample of which nothing was asked yet.
    pub fn new(bytes: &'s [u8], declared: &'s [Format]) -> Self {
        Self {
            bytes,
            declared,
            claimed: OnceCell::new(),
        }
    }

    /// The format that claims most of its lines, and how many; `None` if none claims any.
    pub fn claimed(&self) -> Option<(usize, Format)> {
        *self
            .claimed
            .get_or_init(|| claimed(self.bytes, self.declared))
    }

    /// The format that claims most of its lines.
    pub fn format(&self) -> Option<Format> {
        self.claimed().map(|(_, format)| format)
    }
}

/// The format that claims most lines of a sample, and how many; `None` if none claims any.
pub fn claimed(sample: &[u8], declared: &[Format]) -> Option<(usize, Format)> {
    let mut best: Option<(usize, Format)> = None;
    for &format in declared.iter().chain(FORMATS) {
        let claimed = format.claims(sample);
        if claimed > 0 && best.is_none_or(|(most, _)| claimed > most) {
            best = Some((claimed, format));
        }
    }
    best
}

/// The lines of a sample, without their ends; a last line that the sample cuts is included.
fn sample_lines(sample: &[u8]) -> impl Iterator<Item = &[u8]> {
    split_lines(sample).map(|line| line.strip_suffix(b"\r").unwrap_or(line))
}

pub(crate) use quoted::without_query;

/// A line that is a record of its own, without a stamp, a level or a source.
#[expect(clippy::unnecessary_wraps, reason = "read like the other formats")]
fn line_record<'a>(line: &'a [u8], _rest: &'a [u8]) -> Option<Record<'a>> {
    Some(Record::bare(line, b""))
}
