//! A table of log lines pasted from a dashboard or a ticket, a column with the time before the line:
//!
//! ```text
//! 2026-06-08 09:12:26 | [2026/06/08 01:12:26.417 +00:00] [WARN] ...
//! -- | --
//!   |   | 2026-06-08 09:15:19 | [2026/06/08 01:15:19.850 +00:00] [INFO] ...
//! ```
//!
//! Columns are parted by bars or tabs; a bar in a line is escaped. The column's clock is the reader's and often of another
//! zone than the line's, so it is not used.

use super::{Message, Peeled};
use crate::time::Timestamp;

/// The line behind the column of its time, and whether bars part the columns.
fn split(row: &[u8]) -> Option<(&[u8], bool)> {
    let is_frame = |byte: &&u8| matches!(byte, b'|' | b' ' | b'\t');
    let row = &row[row.iter().take_while(is_frame).count()..];
    row.first().filter(|byte| byte.is_ascii_digit())?;
    let (_, length) = Timestamp::read(row)?;
    let mut rest = &row[length..];
    rest = rest.strip_prefix(b"Z").unwrap_or(rest);
    if let Some(line) = rest.strip_prefix(b"\t") {
        return Some((line, false));
    }
    let line = rest.trim_ascii_start().strip_prefix(b"|")?;
    let line = line.strip_prefix(b" ").unwrap_or(line);
    Some((line, true))
}

/// `-- | --`, `|---|:--:|`.
fn is_rule(row: &[u8]) -> bool {
    row.contains(&b'-')
        && row
            .iter()
            .all(|byte| matches!(byte, b'-' | b'|' | b' ' | b':' | b'\t'))
}

pub(super) fn claims(row: &[u8]) -> bool {
    split(row).is_some()
}

pub(super) fn peel<'a>(row: &'a [u8], out: &'a mut Vec<u8>) -> Peeled<'a> {
    let Some((line, has_bars)) = split(row) else {
        return if is_rule(row) {
            Peeled::Frame
        } else {
            Peeled::Foreign
        };
    };
    if !has_bars {
        return Peeled::Message(Message::of(line));
    }
    // A row that begins with a bar ends with one.
    let line = match line.strip_suffix(b"|").filter(|_| row.starts_with(b"| ")) {
        Some(line) if !line.ends_with(b"\\") => line.trim_ascii_end(),
        Some(_) | None => line,
    };
    let mut rest = line;
    while let Some(at) = memchr::memmem::find(rest, b"\\|") {
        out.extend_from_slice(&rest[..at]);
        out.push(b'|');
        rest = &rest[at + 2..];
    }
    if rest.len() == line.len() {
        return Peeled::Message(Message::of(line));
    }
    out.extend_from_slice(rest);
    Peeled::Message(Message::of(out))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(row: &str) -> Option<String> {
        let mut out = Vec::new();
        match peel(row.as_bytes(), &mut out) {
            Peeled::Message(message) => Some(String::from_utf8_lossy(message.text).into_owned()),
            Peeled::Inner(_) | Peeled::Frame | Peeled::Gap | Peeled::Foreign => None,
        }
    }

    #[test]
    fn the_line_is_what_stands_behind_the_column_of_its_time() {
        for (row, line) in [
            (
                "2026-06-08 09:12:26 | [2026/06/08] [WARN] x",
                "[2026/06/08] [WARN] x",
            ),
            (
                "  |   | 2026-06-08 09:15:19 | [x=/a_(default\\|lock\\|write).sst]",
                "[x=/a_(default|lock|write).sst]",
            ),
            ("| 2026-06-08 09:15:19 | a b |", "a b"),
            ("2026-06-08T09:15:19.123Z\ta|b\\|c", "a|b\\|c"),
            ("2026-06-08 09:15:19 |", ""),
        ] {
            assert_eq!(read(row).as_deref(), Some(line), "{row}");
        }
    }

    #[test]
    fn rules_and_headings_are_no_lines() {
        for row in [
            "-- | --",
            "|---|:--:|",
            "| Time | Line |",
            "a | 2026-06-08 09:15:19 | b",
            "",
        ] {
            assert_eq!(read(row), None, "{row}");
        }
    }
}
