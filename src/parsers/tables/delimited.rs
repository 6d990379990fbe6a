//! `TSVWithNames`, `CSVWithNames` and either with a line of types.

use super::lines::{Lines, Place};
use super::row::{COLUMNS_MAX, Columns, Row, RowFault};

/// Adds a TSV cell with its escapes undone; whether it is `NULL` is asked before.
pub(super) fn unescape(cell: &[u8], out: &mut Vec<u8>) {
    let mut rest = cell;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        out.extend_from_slice(&rest[..at]);
        let Some(&escaped) = rest.get(at + 1) else {
            rest = &rest[at..];
            break;
        };
        let mut used = 2;
        out.push(match escaped {
            b'b' => 8,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'0' => 0,
            b'a' => 7,
            b'v' => 11,
            b'e' => 27,
            b'x' => {
                let digits = rest.get(at + 2..at + 4).and_then(hex);
                used += if digits.is_some() { 2 } else { 0 };
                digits.unwrap_or(b'x')
            }
            other => other,
        });
        rest = &rest[at + used..];
    }
    out.extend_from_slice(rest);
}

/// The byte that two hexadecimal digits stand for.
fn hex(digits: &[u8]) -> Option<u8> {
    let text = std::str::from_utf8(digits).ok()?;
    let is_hex = text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hex.then(|| u8::from_str_radix(text, 16).ok()).flatten()
}

/// The names in a line of TSV.
pub(super) fn tsv_names(line: &[u8]) -> Vec<String> {
    let names = line.split(|&byte| byte == b'\t').take(COLUMNS_MAX);
    names
        .map(|name| {
            let mut out = Vec::new();
            unescape(name, &mut out);
            String::from_utf8_lossy(&out).into_owned()
        })
        .collect()
}

/// Splits a line of TSV into the cells of a row.
pub(super) fn tsv_row(line: &[u8], place: Place, columns: &Columns, row: &mut Row) {
    begin(row, place);
    let has_escapes = memchr::memchr(b'\\', line).is_some();
    let mut count = 0;
    let mut from = 0;
    let ends = memchr::memchr_iter(b'\t', line).chain([line.len()]);
    for end in ends {
        let cell = &line[from..end];
        from = end + 1;
        if count < columns.names().len() {
            if !has_escapes {
                row.push(count, cell);
            } else if cell != b"\\N" {
                row.write(count, |text| unescape(cell, text));
            }
        }
        count += 1;
    }
    judge(row, count, columns);
}

fn begin(row: &mut Row, place: Place) {
    row.clear();
    (row.line, row.offset) = (place.line, place.offset);
    if place.cut {
        row.fail(RowFault::Long);
    }
}

/// Says what is wrong with a row of so many cells.
fn judge(row: &mut Row, cells: usize, columns: &Columns) {
    if cells != columns.names().len() {
        row.fail(if cells > COLUMNS_MAX {
            RowFault::Wide
        } else {
            RowFault::Ragged
        });
    }
}

/// Reads the lines of one CSV row to the end of `buffer`: a quoted cell may hold line ends.
pub(super) fn csv_lines(lines: &mut Lines, buffer: &mut Vec<u8>) -> Option<Place> {
    buffer.clear();
    let mut place = lines.next(buffer)?;
    let mut seen = 0;
    let mut open = false;
    loop {
        let quotes = memchr::memchr_iter(b'"', &buffer[seen..]).count();
        open ^= quotes % 2 == 1;
        if !open {
            return Some(place);
        }
        if buffer.len() >= lines.bytes_max() {
            place.cut = true;
            return Some(place);
        }
        buffer.push(b'\n');
        seen = buffer.len();
        match lines.next(buffer) {
            Some(next) => place.cut |= next.cut,
            None => return Some(place),
        }
    }
}

/// The next cell of a line of CSV: its bytes as they stand, whether they are quoted, and where the next one begins.
fn csv_cell(line: &[u8], from: usize) -> (&[u8], bool, Option<usize>) {
    let rest = &line[from..];
    if rest.first() == Some(&b'"') {
        let mut at = 1;
        while let Some(quote) = memchr::memchr(b'"', &rest[at..]) {
            at += quote + 1;
            if rest.get(at) != Some(&b'"') {
                let after = memchr::memchr(b',', &rest[at..]);
                return (
                    &rest[1..at - 1],
                    true,
                    after.map(|comma| from + at + comma + 1),
                );
            }
            at += 1;
        }
        return (&rest[1..], true, None);
    }
    let end = memchr::memchr(b',', rest);
    (
        &rest[..end.unwrap_or(rest.len())],
        false,
        end.map(|comma| from + comma + 1),
    )
}

/// Adds a quoted cell: two quotes stand for one.
fn unquote(cell: &[u8], out: &mut Vec<u8>) {
    let mut rest = cell;
    while let Some(at) = memchr::memmem::find(rest, b"\"\"") {
        out.extend_from_slice(&rest[..=at]);
        rest = &rest[at + 2..];
    }
    out.extend_from_slice(rest);
}

/// The names in a line of CSV.
pub(super) fn csv_names(line: &[u8]) -> Vec<String> {
    let mut names = Vec::new();
    let mut next = Some(0);
    while let Some(from) = next.filter(|_| names.len() < COLUMNS_MAX) {
        let (cell, quoted, after) = csv_cell(line, from);
        let mut out = Vec::new();
        if quoted {
            unquote(cell, &mut out);
        } else {
            out.extend_from_slice(cell);
        }
        names.push(String::from_utf8_lossy(&out).into_owned());
        next = after;
    }
    names
}

/// Splits a line of CSV into the cells of a row.
pub(super) fn csv_row(line: &[u8], place: Place, columns: &Columns, row: &mut Row) {
    begin(row, place);
    let mut count = 0;
    let mut next = Some(0);
    while let Some(from) = next {
        let (cell, quoted, after) = csv_cell(line, from);
        if count < columns.names().len() && (quoted || cell != b"\\N") {
            row.write(count, |text| {
                if quoted {
                    unquote(cell, text);
                } else {
                    text.extend_from_slice(cell);
                }
            });
        }
        count += 1;
        next = after;
    }
    judge(row, count, columns);
}
