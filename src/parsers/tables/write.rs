//! Rows as text of the formats that the other stages read: records of a text log as the server prints them, and any
//! other row as one line of columns.
//!
//! ```text
//! 2026.11.29 16:35:38.000000 errors\tname=BAD_ARGUMENTS\tcode=36\tvalue=1\tlast_error_message=Dictionary not found
//! - metrics\tmetric=Query\tvalue=1
//! ```

use super::known::Known;
use super::row::{Columns, Row};
use crate::time::Timestamp;

/// What a row without a stamp begins with.
pub(super) const NO_STAMP: &str = "-";

/// Cells longer than this stand behind the others: what is cited begins with what is short.
const LONG: usize = 120;

/// Puts `2026.11.29 16:35:38.000000` in front: the first of the columns that says when.
///
/// Whether the stamp has a fraction. What lies at the beginning of 1970 says that nothing happened yet.
fn stamp(row: &Row, columns: &[usize], out: &mut Vec<u8>) -> Option<bool> {
    let mut cells = columns.iter().filter_map(|&at| row.get(at));
    let first = cells.next()?;
    if let Some(head) = head_of(first) {
        out.extend_from_slice(&head);
        return Some(true);
    }
    let mut cells = std::iter::once(first).chain(cells);
    let (time, fraction) = cells.find_map(read_stamp)?;
    out.extend_from_slice(time.head().as_bytes());
    Some(fraction)
}

/// The stamp of a head for the `2026-11-29 16:35:38.000000` that most cells hold: it differs by its separators alone.
fn head_of(text: &[u8]) -> Option<[u8; 26]> {
    let mut head: [u8; 26] = text.try_into().ok()?;
    let (time, length) = Timestamp::read(text)?;
    if length != head.len() || time.0 < crate::time::DAY {
        return None;
    }
    (head[4], head[7], head[10], head[19]) = (b'.', b'.', b' ', b'.');
    Some(head)
}

/// Reads `2026-11-29 16:35:38.123`, the same with `T` and `Z`, or seconds since 1970.
pub(super) fn read_stamp(text: &[u8]) -> Option<(Timestamp, bool)> {
    let is_number = text
        .iter()
        .all(|byte| byte.is_ascii_digit() || *byte == b'.');
    let time = if is_number {
        let text = std::str::from_utf8(text).ok()?;
        let (seconds, fraction) = text.split_once('.').unwrap_or((text, ""));
        let seconds: i64 = seconds.parse().ok()?;
        let micros: i64 = format!("{fraction:0<6}").get(..6)?.parse().ok()?;
        Timestamp(
            seconds
                .checked_mul(crate::time::SECOND)?
                .checked_add(micros)?,
        )
    } else {
        Timestamp::read(text)?.0
    };
    let has_fraction = memchr::memchr(b'.', text).is_some();
    (time.0 >= crate::time::DAY).then_some((time, has_fraction))
}

/// Where the columns stand that a writer needs.
#[derive(Debug, Default, Clone)]
pub struct Writer {
    table: Option<&'static Known>,
    stamps: Vec<usize>,
    thread: Option<usize>,
    query: Option<usize>,
    level: Option<usize>,
    logger: Option<usize>,
    message: Option<usize>,
}

/// What was written of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// A record or a line.
    Whole,
    /// A record whose stamp has no fraction: the table says the second alone.
    ToTheSecond,
    /// Nothing: the row has none of the columns.
    Nothing,
}

impl Writer {
    /// A writer for the rows of a table with these columns.
    pub fn new(table: Option<&'static Known>, columns: &Columns) -> Self {
        let find = |names: &[&str]| names.iter().find_map(|name| columns.find(name));
        let stamps = table.map_or(&["event_time_microseconds", "event_time"][..], |it| {
            it.stamps
        });
        Self {
            table,
            stamps: stamps
                .iter()
                .filter_map(|name| columns.find(name))
                .collect(),
            thread: find(&["thread_id", "os_thread_id", "thread_number"]),
            query: find(&["query_id"]),
            level: find(&["level"]),
            logger: find(&["logger_name"]),
            message: find(&["message"]),
        }
    }

    /// Writes a row of a text log as the record that the server prints.
    pub fn record(&self, row: &Row, out: &mut Vec<u8>) -> Written {
        let start = out.len();
        let Some(fraction) = stamp(row, &self.stamps, out) else {
            return Written::Nothing;
        };
        let cell = |column: Option<usize>| column.and_then(|at| row.get(at)).unwrap_or_default();
        let Some(level) = level(cell(self.level)) else {
            out.truncate(start);
            return Written::Nothing;
        };
        let thread = cell(self.thread);
        let is_number = !thread.is_empty() && thread.iter().all(u8::is_ascii_digit);
        out.extend_from_slice(b" [ ");
        out.extend_from_slice(if is_number { thread } else { b"0" });
        out.extend_from_slice(b" ] {");
        one_line(cell(self.query), b'}', out);
        out.extend_from_slice(b"} <");
        out.extend_from_slice(level);
        out.extend_from_slice(b"> ");
        one_line(cell(self.logger), b'\n', out);
        out.extend_from_slice(b": ");
        out.extend_from_slice(cell(self.message));
        out.push(b'\n');
        if fraction {
            Written::Whole
        } else {
            Written::ToTheSecond
        }
    }

    /// Writes any other row as one line.
    pub fn line(&self, row: &Row, columns: &Columns, out: &mut Vec<u8>) -> Written {
        if stamp(row, &self.stamps, out).is_none() {
            out.extend_from_slice(NO_STAMP.as_bytes());
        }
        out.push(b' ');
        out.extend_from_slice(self.table.map_or("table", |table| table.name).as_bytes());
        let is_said = |cell: &[u8]| !matches!(cell, b"" | b"[]" | b"{}");
        for is_long in [false, true] {
            for (column, cell) in row.cells() {
                if is_said(cell) && (cell.len() > LONG) == is_long {
                    out.push(b'\t');
                    let name = columns.names().get(column);
                    escape(name.map_or(b"", |name| name.as_bytes()), true, out);
                    out.push(b'=');
                    escape(cell, false, out);
                }
            }
        }
        out.push(b'\n');
        Written::Whole
    }
}

/// Adds a text that must not end its place in a head.
fn one_line(text: &[u8], end: u8, out: &mut Vec<u8>) {
    let mut rest = text;
    while let Some(at) = memchr::memchr3(b'\n', b'\r', end, rest) {
        out.extend_from_slice(&rest[..at]);
        out.push(b' ');
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
}

/// Adds a text without tabs and line ends, as TSV has it; of a name also without `=`.
fn escape(text: &[u8], is_name: bool, out: &mut Vec<u8>) {
    for &byte in text {
        match byte {
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'=' if is_name => out.push(b'_'),
            other => out.push(other),
        }
    }
}

/// The word of a level that is a word or its number in the enumeration of the table.
fn level(text: &[u8]) -> Option<&'static [u8]> {
    const WORDS: [&[u8]; 9] = [
        b"Fatal",
        b"Critical",
        b"Error",
        b"Warning",
        b"Notice",
        b"Information",
        b"Debug",
        b"Trace",
        b"Test",
    ];
    if let [digit @ b'1'..=b'9'] = text {
        return WORDS.get(usize::from(digit - b'1')).copied();
    }
    WORDS.into_iter().find(|word| *word == text)
}
