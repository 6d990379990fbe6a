//! A row as the other stages see it: one line of a stamp, the table's name and its cells, written by [`super::Writer`].

use super::write::NO_STAMP;
use crate::parsers::{Absence, Spec};
use crate::record::Record;
use crate::time::Timestamp;
use crate::vocab::Level;

/// The rows of an exported table: whatever they say of an exception is an echo of one that was logged elsewhere.
pub(in crate::parsers) static SPEC: Spec = Spec {
    has_codes: false,
    stamp: Some(stamp),
    absence: Absence::OfFile("no system-table of it is here"),
    ..Spec::lines("system-table", is_head, parse, claims)
};

/// Whether a line starts a row: each does.
fn is_head(line: &[u8]) -> bool {
    !line.is_empty()
}

/// Reads a row: its table is the source, its cells are the message.
#[expect(clippy::unnecessary_wraps, reason = "read like the other formats")]
fn parse<'a>(line: &'a [u8], rest: &'a [u8]) -> Option<Record<'a>> {
    let (time, after) = match Timestamp::read(line) {
        Some((time, length)) => (Some(time), &line[length..]),
        None => (None, line.strip_prefix(NO_STAMP.as_bytes()).unwrap_or(line)),
    };
    let after = after.strip_prefix(b" ").unwrap_or(after);
    let end = memchr::memchr(b'\t', after);
    let (table, cells) = match end {
        Some(end) => (&after[..end], &after[end + 1..]),
        None => (after, &after[after.len()..]),
    };
    Some(Record {
        time,
        level: Level::None,
        logger: table,
        ..Record::bare(cells, rest)
    })
}

/// No file holds such lines.
fn claims(_sample: &[u8]) -> usize {
    0
}

fn stamp(line: &[u8]) -> Option<Timestamp> {
    Timestamp::read(line).map(|(at, _)| at)
}

/// The cells of a row: name and value, escaped as TSV.
pub fn cells(message: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    message.split(|&byte| byte == b'\t').filter_map(|cell| {
        let equals = memchr::memchr(b'=', cell)?;
        Some((&cell[..equals], &cell[equals + 1..]))
    })
}

/// The value of a cell; nothing where the row has none.
pub fn cell<'a>(message: &'a [u8], name: &str) -> &'a [u8] {
    cells(message)
        .find(|(known, _)| *known == name.as_bytes())
        .map_or(&message[..0], |(_, value)| value)
}
