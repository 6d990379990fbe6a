//! A row as the other stages see it: one line of a stamp, the table's name and its cells, written by [`super::Writer`].

use super::write::NO_STAMP;
use crate::record::Record;
use crate::time::Timestamp;
use crate::vocab::Level;

/// Whether a line starts a row: each does.
pub(in crate::parsers) fn is_head(line: &[u8]) -> bool {
    !line.is_empty()
}

/// Reads a row: its table is the source, its cells are the message.
#[expect(clippy::unnecessary_wraps, reason = "read like the other formats")]
pub(in crate::parsers) fn parse<'a>(line: &'a [u8], rest: &'a [u8]) -> Option<Record<'a>> {
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
pub(in crate::parsers) fn claims(_sample: &[u8]) -> usize {
    0
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
