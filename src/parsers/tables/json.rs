//! `JSONEachRow`, `JSONCompactEachRow` with names, and the `data` of `JSON` and `JSONCompact`.
//!
//! Values are taken as bytes, also where they are no UTF-8, as `ClickHouse` writes them. Objects and arrays inside a cell
//! stay text.

use super::lines::{Lines, Place};
use super::row::{COLUMNS_MAX, Columns, Row, RowFault};
use crate::parsers::json::{other, text, unescape};

/// A scanner over one JSON value.
struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    fn skip_blanks(&mut self) {
        // Servers write none.
        if !self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            return;
        }
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        self.at += rest.iter().take_while(|b| b.is_ascii_whitespace()).count();
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Takes a byte if it comes next, blanks before it aside.
    fn take(&mut self, byte: u8) -> bool {
        self.skip_blanks();
        let is_there = self.peek() == Some(byte);
        self.at += usize::from(is_there);
        is_there
    }

    /// The bytes of a string between its quotes, as they stand.
    fn string(&mut self) -> Option<&'a [u8]> {
        self.skip_blanks();
        let (string, rest) = text(self.bytes.get(self.at..)?)?;
        self.at = self.bytes.len() - rest.len();
        Some(string)
    }

    /// A value as it stands; an object or an array ends with its bracket.
    fn value(&mut self) -> Option<&'a [u8]> {
        self.skip_blanks();
        let start = self.at;
        if self.peek()? == b'"' {
            self.string()?;
            return self.bytes.get(start..self.at);
        }
        let (value, rest) = other(self.bytes.get(start..)?)?;
        self.at = self.bytes.len() - rest.len();
        Some(value.bytes()).filter(|value| !value.is_empty())
    }
}

/// Adds a value as a cell.
fn cell(value: &[u8], column: usize, row: &mut Row) {
    match value {
        b"null" => {}
        [b'"', inner @ .., b'"'] => row.write(column, |text| unescape(inner, text)),
        [b'{' | b'[', ..] => row.write(column, |text| compact(value, text)),
        other => row.push(column, other),
    }
}

/// Adds an object or an array without the blanks between its parts.
fn compact(value: &[u8], out: &mut Vec<u8>) {
    let (mut in_string, mut escaped) = (false, false);
    for &byte in value {
        if !in_string && byte.is_ascii_whitespace() {
            continue;
        }
        out.push(byte);
        in_string ^= byte == b'"' && !escaped;
        escaped = in_string && byte == b'\\' && !escaped;
    }
}

/// Reads an object as a row; what follows a fault in it is lost.
pub(super) fn object(bytes: &[u8], place: Place, columns: &mut Columns, row: &mut Row) {
    begin(row, place);
    let mut cursor = Cursor::new(bytes);
    if !cursor.take(b'{') {
        return row.fail(RowFault::Unreadable);
    }
    let mut name = Vec::new();
    let mut count = 0;
    while !cursor.take(b'}') {
        let pair = cursor
            .string()
            .filter(|_| cursor.take(b':'))
            .and_then(|key| Some((key, cursor.value()?)));
        let Some((key, value)) = pair else {
            return row.fail(RowFault::Unreadable);
        };
        name.clear();
        unescape(key, &mut name);
        match columns.place(&name, count) {
            Some(column) if row.len() < COLUMNS_MAX => cell(value, column, row),
            Some(_) | None => return row.fail(RowFault::Wide),
        }
        count += 1;
        if !cursor.take(b',') && cursor.peek() != Some(b'}') {
            return row.fail(RowFault::Unreadable);
        }
    }
}

/// Reads an array as a row.
pub(super) fn array(bytes: &[u8], place: Place, columns: &Columns, row: &mut Row) {
    begin(row, place);
    let mut cursor = Cursor::new(bytes);
    if !cursor.take(b'[') {
        return row.fail(RowFault::Unreadable);
    }
    let mut count = 0;
    while !cursor.take(b']') {
        let Some(value) = cursor.value() else {
            return row.fail(RowFault::Unreadable);
        };
        if count < columns.names().len() {
            cell(value, count, row);
        }
        count += 1;
        if !cursor.take(b',') && cursor.peek() != Some(b']') {
            return row.fail(RowFault::Unreadable);
        }
    }
    if count != columns.names().len() {
        row.fail(RowFault::Ragged);
    }
}

fn begin(row: &mut Row, place: Place) {
    row.clear();
    (row.line, row.offset) = (place.line, place.offset);
    if place.cut {
        row.fail(RowFault::Long);
    }
}

/// The keys of the object that `bytes` begin with, as far as they are there.
pub(super) fn keys(bytes: &[u8]) -> Vec<String> {
    let mut names = Vec::new();
    let mut cursor = Cursor::new(bytes);
    if !cursor.take(b'{') {
        return names;
    }
    while let Some(key) = cursor.string().filter(|_| cursor.take(b':')) {
        let mut name = Vec::new();
        unescape(key, &mut name);
        names.push(String::from_utf8_lossy(&name).into_owned());
        if cursor.value().is_none() || !cursor.take(b',') {
            break;
        }
    }
    names
}

/// The strings of the array that `bytes` begin with; nothing if it holds anything else.
pub(super) fn strings(bytes: &[u8]) -> Option<Vec<String>> {
    let mut names = Vec::new();
    let mut cursor = Cursor::new(bytes);
    if !cursor.take(b'[') {
        return None;
    }
    loop {
        let mut name = Vec::new();
        unescape(cursor.string()?, &mut name);
        names.push(String::from_utf8_lossy(&name).into_owned());
        if !cursor.take(b',') {
            return cursor.take(b']').then_some(names);
        }
    }
}

/// The value behind `"key":` in a line of a document that is laid out in lines.
pub(super) fn named_string(line: &[u8], key: &str) -> Option<String> {
    let mut cursor = Cursor::new(line);
    if cursor.string()? != key.as_bytes() || !cursor.take(b':') {
        return None;
    }
    let mut name = Vec::new();
    unescape(cursor.string()?, &mut name);
    Some(String::from_utf8_lossy(&name).into_owned())
}

/// A row of a file with a row a line, without the brackets and commas of an array around the rows.
pub(super) fn bare(line: &[u8]) -> &[u8] {
    let line = line.trim_ascii();
    let line = line
        .strip_prefix(b"[{")
        .map_or(line, |_| &line[1..])
        .strip_suffix(b",")
        .unwrap_or(line);
    match line {
        b"[" | b"]" | b"," => b"",
        [b'{', .., b'}', b']'] => &line[..line.len() - 1],
        other => other,
    }
}

/// Reads the next element of a document's `data` to `buffer`: the lines from its bracket to the one that closes it.
pub(super) fn element(lines: &mut Lines, buffer: &mut Vec<u8>) -> Option<Place> {
    loop {
        buffer.clear();
        let place = lines.next(buffer)?;
        let first = buffer.trim_ascii();
        if first.is_empty() || first == b"[" || first == b"," {
            continue;
        }
        if !matches!(first[0], b'{' | b'[') {
            return None;
        }
        let first = buffer.clone();
        return Some(closed(lines, buffer, &first, place));
    }
}

/// Reads the rest of a row that is spread over lines, as `jq` and `PrettyJSONEachRow` write it, behind its first line.
pub(super) fn spread(lines: &mut Lines, buffer: &mut Vec<u8>, place: Place) -> Place {
    let first = buffer.clone();
    closed(lines, buffer, &first, place)
}

/// Reads lines up to the one that closes the bracket in the first one. A row that is torn ends where the next one begins: with a
/// line like its first.
fn closed(lines: &mut Lines, buffer: &mut Vec<u8>, first: &[u8], mut place: Place) -> Place {
    let is_spread = matches!(first.trim_ascii(), b"{" | b"[");
    let mut depth = Depth::default();
    let mut seen = 0;
    loop {
        depth.pass(&buffer[seen..]);
        seen = buffer.len();
        if depth.open == 0 || buffer.len() >= lines.bytes_max() {
            place.cut |= depth.open != 0;
            let length = buffer.trim_ascii_end().len();
            buffer.truncate(length);
            if buffer.last() == Some(&b',') {
                buffer.pop();
            }
            return place;
        }
        buffer.push(b'\n');
        seen += 1;
        let Some(next) = lines.next(buffer) else {
            place.cut = true;
            return place;
        };
        if is_spread && &buffer[seen..] == first {
            lines.give_back(first.to_vec(), next);
            buffer.truncate(seen - 1);
            return place;
        }
        place.cut |= next.cut;
    }
}

/// How many brackets are open.
#[derive(Default)]
struct Depth {
    open: usize,
    in_string: bool,
    escaped: bool,
}

impl Depth {
    fn pass(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if self.in_string {
                match byte {
                    _ if self.escaped => self.escaped = false,
                    b'\\' => self.escaped = true,
                    b'"' => self.in_string = false,
                    _ => {}
                }
                continue;
            }
            match byte {
                b'"' => self.in_string = true,
                b'{' | b'[' => self.open += 1,
                b'}' | b']' => self.open = self.open.saturating_sub(1),
                _ => {}
            }
        }
    }
}
