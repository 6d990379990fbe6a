//! Formats: how bytes become records. A parser knows one format and nothing of incidents.
//!
//! Cutting and reading are separate: [`Format::is_head`] finds where records start, [`Format::parse`] reads one. So a stack
//! trace is continuation lines and not a failure, and a file may be cut anywhere at a head.

pub mod ci;
pub mod clickhouse;
mod controller;
mod core_dump;
pub mod exception;
mod soak;
mod stderr;
pub mod tables;
pub mod wal;

use crate::record::Record;
use crate::time::Timestamp;

/// A known format of text logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// The text log of `ClickHouse` servers and keepers, all eras.
    ClickHouse,
    /// What a server process wrote to its standard error.
    Stderr,
    /// The image of a process that died: an ELF core.
    CoreDump,
    /// The log of an HA controller.
    Controller,
    /// What the soak harness of a content-addressed cluster prints.
    Soak,
    /// The rows of an exported system table.
    Table,
}

/// What is registered of a format.
#[derive(Debug)]
pub struct Spec {
    /// The format.
    pub format: Format,
    /// Its name in `inputs[].format` and in `rules.toml`.
    pub name: &'static str,
    /// Whether its records are log records: they enter `records.total`.
    pub counts_records: bool,
    /// Whether its lines name their node, and have a time of day without a date.
    pub nodes_in_lines: bool,
    /// How many bytes are read at all; `None` for the whole file.
    pub head_bytes: Option<u64>,
    /// Whether a line starts a record.
    pub is_head: fn(&[u8]) -> bool,
    /// Reads a record from its head's line, without the line's end, and the lines after it.
    parse: for<'a> fn(&'a [u8], &'a [u8]) -> Option<Record<'a>>,
    /// How many of the sample's lines it claims.
    claims: fn(&[u8]) -> usize,
}

/// Every format, in the order in which ties of sniffing are decided.
pub const FORMATS: &[Spec] = &[
    Spec {
        format: Format::ClickHouse,
        name: "clickhouse",
        counts_records: true,
        nodes_in_lines: false,
        head_bytes: None,
        is_head: clickhouse::is_head,
        parse: clickhouse::parse,
        claims: clickhouse::claims,
    },
    Spec {
        format: Format::Stderr,
        name: "server-stderr",
        counts_records: false,
        nodes_in_lines: false,
        head_bytes: None,
        is_head: stderr::is_head,
        parse: line_record,
        claims: stderr::claims,
    },
    Spec {
        format: Format::CoreDump,
        name: "core-dump",
        counts_records: false,
        nodes_in_lines: false,
        head_bytes: Some(core_dump::HEAD_BYTES),
        is_head: core_dump::is_head,
        parse: core_dump::parse,
        claims: core_dump::claims,
    },
    Spec {
        format: Format::Controller,
        name: "ha-controller",
        counts_records: true,
        nodes_in_lines: true,
        head_bytes: None,
        is_head: controller::is_head,
        parse: controller::parse,
        claims: controller::claims,
    },
    Spec {
        format: Format::Soak,
        name: "soak-output",
        counts_records: false,
        nodes_in_lines: false,
        head_bytes: None,
        is_head: soak::is_head,
        parse: line_record,
        claims: soak::claims,
    },
    Spec {
        format: Format::Table,
        name: "system-table",
        counts_records: false,
        nodes_in_lines: false,
        head_bytes: None,
        is_head: tables::line::is_head,
        parse: tables::line::parse,
        claims: tables::line::claims,
    },
];

impl Format {
    /// What is registered of this format.
    pub fn spec(self) -> &'static Spec {
        match self {
            Self::ClickHouse => &FORMATS[0],
            Self::Stderr => &FORMATS[1],
            Self::CoreDump => &FORMATS[2],
            Self::Controller => &FORMATS[3],
            Self::Soak => &FORMATS[4],
            Self::Table => &FORMATS[5],
        }
    }

    /// Its place in [`FORMATS`].
    pub fn index(self) -> usize {
        self as usize
    }

    /// The format registered under a name.
    pub fn from_name(name: &str) -> Option<Self> {
        FORMATS
            .iter()
            .find(|spec| spec.name == name)
            .map(|spec| spec.format)
    }

    /// Whether a line starts a record. `line` begins at the first byte of a line and may reach beyond it.
    #[inline]
    pub fn is_head(self, line: &[u8]) -> bool {
        match self {
            // Asked for every line of the largest logs: a call through a pointer would cost more than the answer.
            Self::ClickHouse => clickhouse::is_head(line),
            Self::Stderr | Self::CoreDump | Self::Controller | Self::Soak | Self::Table => {
                (self.spec().is_head)(line)
            }
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
        match self {
            Self::ClickHouse => clickhouse::parse(line, rest),
            Self::Stderr | Self::CoreDump | Self::Controller | Self::Soak | Self::Table => {
                (self.spec().parse)(line, rest)
            }
        }
    }

    /// The stamp of the head that `line` begins with.
    pub fn stamp(self, line: &[u8]) -> Option<Timestamp> {
        match self {
            Self::ClickHouse | Self::Table => Timestamp::read(line).map(|(at, _)| at),
            Self::Stderr | Self::CoreDump | Self::Soak => None,
            Self::Controller => controller::stamp(line),
        }
    }
}

impl Format {
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
}

/// Tells the format of a file from its first bytes: the one that claims most lines; `None` if none claims any.
pub fn sniff(sample: &[u8]) -> Option<Format> {
    claimed(sample).map(|(_, format)| format)
}

/// The format that claims most lines of a sample, and how many; `None` if none claims any.
pub fn claimed(sample: &[u8]) -> Option<(usize, Format)> {
    let mut best: Option<(usize, Format)> = None;
    for spec in FORMATS {
        let claimed = (spec.claims)(sample);
        if claimed > 0 && best.is_none_or(|(most, _)| claimed > most) {
            best = Some((claimed, spec.format));
        }
    }
    best
}

/// The lines of a sample, without their ends; a last line that the sample cuts is included.
fn sample_lines(sample: &[u8]) -> impl Iterator<Item = &[u8]> {
    sample
        .split(|&b| b == b'\n')
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
}

/// A line that is a record of its own, without a stamp, a level or a source.
#[expect(clippy::unnecessary_wraps, reason = "read like the other formats")]
fn line_record<'a>(line: &'a [u8], _rest: &'a [u8]) -> Option<Record<'a>> {
    Some(Record::bare(line, b""))
}
