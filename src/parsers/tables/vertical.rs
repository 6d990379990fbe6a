//! `Vertical`: a row is a heading `Row N:` with a rule under it, then a line `name:  value` per column.
//!
//! A value may go on over lines. Which line is a column's is told by its place: all values of a row begin in the same
//! column of characters, and every row has the columns of the first one in their order.

use super::lines::{Lines, Place};
use super::row::{COLUMNS_MAX, Columns, Row, RowFault};

/// The number of a line `Row N:`.
fn row_number(line: &[u8]) -> Option<u64> {
    let number = line.strip_prefix(b"Row ")?.trim_ascii_end();
    let number = number.strip_suffix(b":")?;
    let digits = !number.is_empty() && number.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(number)
        .ok()
        .filter(|_| digits)?
        .parse()
        .ok()
}

/// Whether a line is the rule under a heading.
fn is_rule(line: &[u8]) -> bool {
    let line = line.trim_ascii_end();
    let wide = line.len().is_multiple_of(3) && line.chunks_exact(3).all(|it| it == "─".as_bytes());
    line.len() >= 4 && (wide || line.iter().all(|&byte| byte == b'-'))
}

/// Whether a client says how many rows there were: what follows belongs to no row.
fn is_footer(line: &[u8]) -> bool {
    let digits = line.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let rest = &line[digits..];
    digits > 0 && (rest.starts_with(b" rows in set") || rest.starts_with(b" row in set"))
}

/// Whether these are a heading and its rule.
pub(super) fn begins(heading: &[u8], rule: &[u8]) -> bool {
    row_number(heading).is_some() && is_rule(rule)
}

/// The names of the columns of the first row in `lines`, which begin behind its rule.
pub(super) fn names<'a>(lines: impl Iterator<Item = &'a [u8]>) -> Vec<String> {
    let mut width = None;
    let mut names: Vec<String> = Vec::new();
    for line in lines.take_while(|line| row_number(line).is_none() && !is_footer(line)) {
        let Some((name, value)) = split(line) else {
            continue;
        };
        if *width.get_or_insert(value) == value && names.len() < COLUMNS_MAX {
            names.push(String::from_utf8_lossy(name).into_owned());
        }
    }
    names
}

/// The name that a line begins with, and where its value does.
fn split(line: &[u8]) -> Option<(&[u8], usize)> {
    let colon = memchr::memchr(b':', line)?;
    let name = &line[..colon];
    let first = name.first()?;
    let is_name = (first.is_ascii_alphabetic() || *first == b'_')
        && name
            .iter()
            .all(|&byte| byte != b' ' || name.contains(&b'('));
    let blanks = line[colon + 1..].iter().take_while(|&&byte| byte == b' ');
    let blanks = blanks.count();
    (is_name && blanks > 0).then_some((name, colon + 1 + blanks))
}

/// Whether a line is the column's whose values begin at `width`.
fn value_at(line: &[u8], width: usize) -> Option<(&[u8], &[u8])> {
    let colon = memchr::memchr(b':', line)?;
    let name = &line[..colon];
    let named = !name.is_empty() && !name.starts_with(b" ");
    // An empty value may have lost the blanks at its end.
    let gap = line.get(colon + 1..width.min(line.len()))?;
    let fits = named && colon + 1 < width && gap.iter().all(|&byte| byte == b' ');
    let whole = line.len() >= width || line.trim_ascii_end().len() == colon + 1;
    (fits && whole).then(|| (name, line.get(width..).unwrap_or_default()))
}

/// Reads the rows of a file, which may hold the answers to several queries, and what a client prints around them.
#[derive(Default)]
pub(super) struct Vertical {
    /// The number of the row that was read last.
    number: u64,
    line: Vec<u8>,
    body: Vec<u8>,
    /// Where each line of the body ends.
    ends: Vec<usize>,
}

impl Vertical {
    /// Reads the next row. A row numbered 1 brings its own columns.
    pub(super) fn next(&mut self, lines: &mut Lines, columns: &mut Columns, row: &mut Row) -> bool {
        row.clear();
        let Some(mut place) = self.heading(lines) else {
            return false;
        };
        self.body.clear();
        self.ends.clear();
        let bytes_max = lines.bytes_max();
        while let Some(at) = self.read(lines) {
            if is_footer(&self.line) || self.is_next_heading(lines) {
                if !is_footer(&self.line) {
                    lines.give_back(std::mem::take(&mut self.line), at);
                }
                break;
            }
            let room = bytes_max.saturating_sub(self.body.len());
            place.cut |= at.cut || self.line.len() > room;
            let kept = self.line.len().min(room);
            self.body.extend_from_slice(&self.line[..kept]);
            if room > 0 {
                self.ends.push(self.body.len());
            }
        }
        (row.line, row.offset) = (place.line, place.offset);
        if place.cut {
            row.fail(RowFault::Long);
        }
        self.cells(columns, row);
        true
    }

    fn read(&mut self, lines: &mut Lines) -> Option<Place> {
        self.line.clear();
        lines.next(&mut self.line)
    }

    /// The next heading with its rule, skipping whatever is none.
    fn heading(&mut self, lines: &mut Lines) -> Option<Place> {
        loop {
            let place = self.read(lines)?;
            let Some(number) = row_number(&self.line) else {
                continue;
            };
            let after = self.read(lines)?;
            if is_rule(&self.line) {
                self.number = number;
                return Some(place);
            }
            lines.give_back(std::mem::take(&mut self.line), after);
        }
    }

    /// Whether the line is the heading of the row that comes next, or of another answer's first row.
    fn is_next_heading(&mut self, lines: &mut Lines) -> bool {
        let number = row_number(&self.line);
        if number.is_none_or(|it| it != self.number + 1 && it != 1) {
            return false;
        }
        let mut rule = Vec::new();
        let Some(place) = lines.next(&mut rule) else {
            return false;
        };
        let is_heading = is_rule(&rule);
        lines.give_back(rule, place);
        is_heading
    }

    /// Cuts the body into cells.
    fn cells(&mut self, columns: &mut Columns, row: &mut Row) {
        let mut starts = 0;
        let lines: Vec<&[u8]> = self
            .ends
            .iter()
            .map(|&end| {
                let line = &self.body[starts..end];
                starts = end;
                line
            })
            .collect();
        // The blank line between two rows.
        let last = lines.iter().rposition(|line| !line.is_empty());
        let lines = &lines[..last.map_or(0, |last| last + 1)];
        let width = lines.first().and_then(|line| split(line)).map(|it| it.1);
        let Some(width) = width else {
            return row.fail(RowFault::Unreadable);
        };
        let first = self.number == 1;
        if first {
            *columns = Columns::default();
        }
        let mut cells: Vec<(usize, Vec<u8>)> = Vec::new();
        for line in lines {
            let expected = cells.len();
            let found = value_at(line, width).and_then(|(name, value)| {
                let known = columns.names().get(expected);
                let fits = known.is_some_and(|known| known.as_bytes() == name);
                let is_new = first && known.is_none() && is_new_name(name, columns);
                (fits || is_new).then_some((name, value))
            });
            match (found, cells.last_mut()) {
                (Some((name, value)), _) => match columns.place(name, expected) {
                    Some(column) => cells.push((column, value.to_vec())),
                    None => return row.fail(RowFault::Wide),
                },
                (None, Some((_, text))) => {
                    text.push(b'\n');
                    text.extend_from_slice(line);
                }
                (None, None) => row.fail(RowFault::Unreadable),
            }
        }
        if cells.len() != columns.names().len() {
            row.fail(RowFault::Ragged);
        }
        for (column, text) in cells {
            if !is_null(&text) {
                row.push(column, &text);
            }
        }
    }
}

/// Whether this may be the name of a column that is not known yet.
fn is_new_name(name: &[u8], columns: &Columns) -> bool {
    let known = std::str::from_utf8(name)
        .ok()
        .and_then(|it| columns.find(it));
    known.is_none()
}

/// Whether a cell that people read stands for `NULL`.
pub(super) fn is_null(text: &[u8]) -> bool {
    text == "ᴺᵁᴸᴸ".as_bytes() || text == b"NULL" || text == b"\\N"
}
