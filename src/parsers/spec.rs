//! What is registered of a format.

use super::declared::Declared;
use crate::record::Record;
use crate::time::Timestamp;

/// What is registered of a format: a format begins with `Spec::log` and says what differs.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own about a format"
)]
pub struct Spec {
    /// Its name in `inputs[].format` and in `rules.toml`.
    pub name: &'static str,
    /// Whether its records are log records: they enter `records.total`.
    pub counts_records: bool,
    /// Whether its lines name their node.
    pub nodes_in_lines: bool,
    /// Whether its stamps are times of day without a date.
    pub dateless: bool,
    /// Whether every record has a level, so that one without is worth a word.
    pub always_levels: bool,
    /// Whether its records may be exceptions of `ClickHouse`, with codes.
    pub has_codes: bool,
    /// How many bytes are read at all; `None` for the whole file.
    pub head_bytes: Option<u64>,
    /// The format of the log that its process writes as well: where that log is, a file of this format could be expected.
    pub beside: Option<&'static str>,
    /// What it tells that a record is not there.
    pub absence: Absence,
    /// The path that samples of such lines stand under.
    pub sample_path: &'static str,
    /// Whether a line starts a record.
    pub(super) is_head: fn(&[u8]) -> bool,
    /// Reads a record from its head's line, without the line's end, and the lines after it.
    pub(super) parse: Parse,
    /// The stamp of a head; the parsed record's unless given.
    pub(super) stamp: Option<Stamp>,
    /// How many of a sample's lines it claims; its heads unless given.
    pub(super) claims: Option<fn(&[u8]) -> usize>,
    /// The node that the text of a line names as its writer, where the format's texts do.
    pub(super) writer: Option<Writer>,
    /// The grammar of a format that a rules file declares.
    pub(super) declared: Option<&'static Declared>,
}

/// Reads a record from its head's line and the lines after it.
pub(super) type Parse = for<'a> fn(&'a [u8], &'a [u8]) -> Option<Record<'a>>;

/// Tells the node that a line names as its writer.
pub(super) type Writer = fn(&[u8]) -> Option<String>;

/// Reads the stamp of a head.
pub(super) type Stamp = fn(&[u8]) -> Option<Timestamp>;

/// What it tells that a log lacks a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Absence {
    /// That it did not happen, if the log shows its level.
    OfLevel,
    /// That it did not happen, if a file of the format is there; otherwise this is the reason.
    OfFile(&'static str),
    /// Nothing, for this reason.
    Nothing(&'static str),
}

impl Spec {
    /// A log whose records have stamps with dates and levels.
    pub(super) const fn log(name: &'static str, is_head: fn(&[u8]) -> bool, parse: Parse) -> Self {
        Self {
            name,
            counts_records: true,
            nodes_in_lines: false,
            dateless: false,
            always_levels: true,
            has_codes: false,
            head_bytes: None,
            beside: None,
            absence: Absence::OfLevel,
            sample_path: "node.log",
            is_head,
            parse,
            stamp: None,
            claims: None,
            writer: None,
            declared: None,
        }
    }

    /// Lines without stamps and levels, that are no log records.
    pub(super) const fn lines(
        name: &'static str,
        is_head: fn(&[u8]) -> bool,
        parse: Parse,
        claims: fn(&[u8]) -> usize,
    ) -> Self {
        Self {
            counts_records: false,
            always_levels: false,
            has_codes: true,
            stamp: Some(no_stamp),
            claims: Some(claims),
            ..Self::log(name, is_head, parse)
        }
    }
}

fn no_stamp(_line: &[u8]) -> Option<Timestamp> {
    None
}
