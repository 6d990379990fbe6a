//! Tables of an `SQLite` file, read only and row by row: the metrics of a soak are kept in one.
//!
//! The file is held whole, within a bound, since its pages are read in any order. Of a damaged file comes what can be reached:
//! no page is read twice, and no length that it states is believed beyond the file.

use std::collections::BTreeSet;
use std::io::{BufRead, Read};

/// How much of a file is read: metrics of both nodes of a soak of a week are 10 MB.
pub(crate) const FILE_BYTES_MAX: u64 = 64 << 20;

/// Bytes of one row; its texts are short sums of counters.
const ROW_BYTES_MAX: usize = 1 << 20;

/// The first bytes of every file.
pub(crate) const MAGIC: &[u8] = b"SQLite format 3\0";

/// One value of a row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Null,
    Integer(i64),
    Real(f64),
    Text(String),
    /// Bytes of no type, which nothing here needs.
    Blob,
}

impl Value {
    pub(crate) fn number(&self) -> Option<f64> {
        match self {
            #[expect(
                clippy::cast_precision_loss,
                reason = "counters and stamps are far below 2^53"
            )]
            Self::Integer(number) => Some(*number as f64),
            Self::Real(number) => Some(*number).filter(|it| it.is_finite()),
            Self::Text(text) => text.trim().parse().ok().filter(|it: &f64| it.is_finite()),
            Self::Null | Self::Blob => None,
        }
    }

    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Null | Self::Integer(_) | Self::Real(_) | Self::Blob => "",
        }
    }
}

/// A table: where it begins, and its columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Table {
    pub(crate) name: String,
    root: u32,
    pub(crate) columns: Vec<String>,
    /// The column that is the row's number and so stands in no row.
    alias: Option<usize>,
}

/// A file.
#[derive(Debug)]
pub(crate) struct File {
    bytes: Vec<u8>,
    page_bytes: usize,
    usable: usize,
    encoding: u32,
    /// Whether changes may stand in a file beside it.
    pub(crate) has_journal: bool,
    /// Whether it is longer than what is read.
    pub(crate) is_cut: bool,
    /// Pages or rows that do not have the form that they must have.
    pub(crate) faults: u64,
}

impl File {
    /// Reads a file; `None` if it is none.
    pub(crate) fn read(reader: &mut dyn BufRead) -> std::io::Result<Option<Self>> {
        let mut bytes = Vec::new();
        Read::take(reader, FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
        let is_cut = bytes.len() as u64 > FILE_BYTES_MAX;
        if !bytes.starts_with(MAGIC) || bytes.len() < 100 {
            return Ok(None);
        }
        let page_bytes = match u16::from_be_bytes([bytes[16], bytes[17]]) {
            1 => 65536,
            size => usize::from(size),
        };
        let usable = page_bytes.saturating_sub(usize::from(bytes[20]));
        if !page_bytes.is_power_of_two() || page_bytes < 512 || usable < 480 {
            return Ok(None);
        }
        Ok(Some(Self {
            encoding: u32_at(&bytes, 56).unwrap_or(1),
            has_journal: bytes[18] == 2 || bytes[19] == 2,
            bytes,
            page_bytes,
            usable,
            is_cut,
            faults: 0,
        }))
    }

    /// The tables that the file names.
    pub(crate) fn tables(&mut self) -> Vec<Table> {
        let mut found = Vec::new();
        let schema = Table {
            name: String::new(),
            root: 1,
            columns: Vec::new(),
            alias: None,
        };
        self.rows(&schema, &mut |row| {
            let [kind, name, _, root, sql, ..] = row else {
                return;
            };
            let root = root
                .number()
                .filter(|it| *it >= 1.0 && *it <= f64::from(u32::MAX));
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "checked to be in range"
            )]
            let root = root.map(|it| it as u32);
            if let (true, Some(root)) = (kind.text() == "table" && found.len() < 1000, root) {
                let (columns, alias) = columns(sql.text());
                let name = name.text().to_owned();
                found.push(Table {
                    name,
                    root,
                    columns,
                    alias,
                });
            }
        });
        found
    }

    /// Hands over every row of a table, in the order of the file.
    pub(crate) fn rows(&mut self, table: &Table, row: &mut dyn FnMut(&[Value])) {
        let mut open = vec![table.root];
        let mut seen = BTreeSet::new();
        while let Some(number) = open.pop() {
            if !seen.insert(number) {
                self.faults += 1;
                continue;
            }
            let faults = self.page(number, &mut open, table, row).unwrap_or(1);
            self.faults += faults;
        }
    }

    /// One page: its rows, or the pages below it. `None` if it is no page of a table; else how many cells are broken.
    fn page(
        &self,
        number: u32,
        open: &mut Vec<u32>,
        table: &Table,
        row: &mut dyn FnMut(&[Value]),
    ) -> Option<u64> {
        let start = usize::try_from(number.checked_sub(1)?)
            .ok()?
            .checked_mul(self.page_bytes)?;
        let page = self.bytes.get(start..)?;
        let page = &page[..page.len().min(self.usable)];
        let head = if number == 1 { 100 } else { 0 };
        let kind = *page.get(head)?;
        let cells = usize::from(u16_at(page, head + 3)?);
        let mut faults = 0;
        match kind {
            5 => {
                // The first page is to be read first, so it is opened last.
                open.push(u32_at(page, head + 8)?);
                for cell in (0..cells).rev() {
                    let at = u16_at(page, head + 12 + 2 * cell).map(usize::from);
                    match at.and_then(|at| u32_at(page, at)) {
                        Some(child) => open.push(child),
                        None => faults += 1,
                    }
                }
            }
            13 => {
                for cell in 0..cells {
                    let at = u16_at(page, head + 8 + 2 * cell).map(usize::from);
                    match at.and_then(|at| self.cell(page, at, table)) {
                        Some(values) => row(&values),
                        None => faults += 1,
                    }
                }
            }
            _ => return None,
        }
        Some(faults)
    }

    /// The values of a row.
    fn cell(&self, page: &[u8], at: usize, table: &Table) -> Option<Vec<Value>> {
        let (length, after) = varint(page, at)?;
        let (id, after) = varint(page, after)?;
        let length = usize::try_from(length)
            .ok()
            .filter(|it| *it <= ROW_BYTES_MAX)?;
        let most = self.usable - 35;
        let local = if length <= most {
            length
        } else {
            let least = (self.usable - 12) * 32 / 255 - 23;
            let fits = least + (length - least) % (self.usable - 4);
            if fits <= most { fits } else { least }
        };
        let mut payload = page.get(after..after + local)?.to_vec();
        let mut next = if local < length {
            u32_at(page, after + local)?
        } else {
            0
        };
        while payload.len() < length {
            let start = usize::try_from(next.checked_sub(1)?)
                .ok()?
                .checked_mul(self.page_bytes)?;
            let rest = self.bytes.get(start..)?;
            let part = (length - payload.len()).min(self.usable - 4);
            payload.extend_from_slice(rest.get(4..4 + part)?);
            next = u32_at(rest, 0)?;
        }
        self.record(&payload, id, table)
    }

    fn record(&self, payload: &[u8], id: u64, table: &Table) -> Option<Vec<Value>> {
        let (head, mut at) = varint(payload, 0)?;
        let head = usize::try_from(head)
            .ok()
            .filter(|it| *it <= payload.len())?;
        let mut body = head;
        let mut values = Vec::new();
        while at < head {
            let (kind, after) = varint(payload, at)?;
            at = after;
            let length = match kind {
                0 | 8 | 9 => 0,
                1..=4 => usize::try_from(kind).ok()?,
                5 => 6,
                6 | 7 => 8,
                10 | 11 => return None,
                text => usize::try_from((text - 12) / 2).ok()?,
            };
            let bytes = payload.get(body..body.checked_add(length)?)?;
            body += length;
            values.push(match kind {
                0 => Value::Null,
                1..=6 => Value::Integer(integer(bytes)),
                7 => Value::Real(f64::from_be_bytes(bytes.try_into().ok()?)),
                8 => Value::Integer(0),
                9 => Value::Integer(1),
                blob if blob % 2 == 0 => Value::Blob,
                _ => Value::Text(self.text(bytes)),
            });
        }
        // Columns that were added later are missing in older rows.
        while values.len() < table.columns.len() {
            values.push(Value::Null);
        }
        if let Some(value) = table.alias.and_then(|at| values.get_mut(at)) {
            *value = Value::Integer(i64::from_be_bytes(id.to_be_bytes()));
        }
        Some(values)
    }

    fn text(&self, bytes: &[u8]) -> String {
        let unit = |pair: &[u8]| match (pair, self.encoding) {
            ([high, low], 3) | ([low, high], _) => u16::from_be_bytes([*high, *low]),
            _ => 0,
        };
        match self.encoding {
            2 | 3 => char::decode_utf16(bytes.chunks_exact(2).map(unit))
                .map(|one| one.unwrap_or(char::REPLACEMENT_CHARACTER))
                .collect(),
            _ => String::from_utf8_lossy(bytes).into_owned(),
        }
    }
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes
        .get(at..)
        .and_then(|rest| rest.first_chunk())
        .map(|it| u16::from_be_bytes(*it))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes
        .get(at..)
        .and_then(|rest| rest.first_chunk())
        .map(|it| u32::from_be_bytes(*it))
}

/// A number of seven bits a byte, the highest first; the ninth byte has eight. Also where it ends.
fn varint(bytes: &[u8], at: usize) -> Option<(u64, usize)> {
    let mut value = 0_u64;
    for index in 0..9 {
        let byte = *bytes.get(at + index)?;
        if index == 8 {
            return Some(((value << 8) | u64::from(byte), at + 9));
        }
        value = (value << 7) | u64::from(byte & 0x7f);
        if byte < 0x80 {
            return Some((value, at + index + 1));
        }
    }
    None
}

/// A signed number of one to eight bytes, the highest first.
fn integer(bytes: &[u8]) -> i64 {
    let sign = bytes.first().is_some_and(|byte| *byte >= 0x80);
    let start = if sign { -1 } else { 0 };
    bytes
        .iter()
        .fold(start, |value, byte| (value << 8) | i64::from(*byte))
}

/// The columns of a `CREATE TABLE`, and the one that is the row's number.
fn columns(sql: &str) -> (Vec<String>, Option<usize>) {
    let inner = sql.find('(').map_or("", |at| &sql[at + 1..]);
    let mut parts = vec![String::new()];
    let (mut depth, mut quote) = (0_usize, None);
    for sign in inner.chars() {
        let last = parts.len() - 1;
        match (quote, sign) {
            (Some(open), _) => {
                if sign == open {
                    quote = None;
                }
                parts[last].push(sign);
            }
            (None, '"' | '\'' | '`') => {
                quote = Some(sign);
                parts[last].push(sign);
            }
            (None, ',') if depth == 0 => parts.push(String::new()),
            (None, ')') if depth == 0 => break,
            (None, _) => {
                match sign {
                    '(' => depth += 1,
                    ')' => depth -= 1,
                    _ => {}
                }
                parts[last].push(sign);
            }
        }
    }
    let constraints = ["PRIMARY", "UNIQUE", "CHECK", "FOREIGN", "CONSTRAINT"];
    let mut names = Vec::new();
    let mut alias = None;
    for part in parts {
        let text = part.trim();
        let word = text.split_ascii_whitespace().next().unwrap_or_default();
        // A column may be called `checkpoint`.
        let keyword = word.split('(').next().unwrap_or_default();
        let is_constraint = constraints
            .iter()
            .any(|it| keyword.eq_ignore_ascii_case(it));
        if word.is_empty() || is_constraint {
            continue;
        }
        let upper = text.to_ascii_uppercase();
        if upper.contains("INTEGER PRIMARY KEY") {
            alias = Some(names.len());
        }
        names.push(word.trim_matches(['"', '\'', '`', '[', ']']).to_owned());
    }
    (names, alias)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_read_from_the_statement() {
        let (names, alias) = columns(
            "CREATE TABLE t (id INTEGER PRIMARY KEY, \"a\" TEXT DEFAULT ',', checkpoint DECIMAL(1,2), UNIQUE(a))",
        );
        assert_eq!(
            (names.join("|").as_str(), alias),
            ("id|a|checkpoint", Some(0))
        );
    }

    #[test]
    fn numbers_of_any_length_are_read() {
        assert_eq!(varint(&[0x81, 0x00], 0), Some((128, 2)));
        assert_eq!(varint(&[0xff; 9], 0), Some((u64::MAX, 9)));
        assert_eq!(varint(&[0x80], 0), None);
        assert_eq!(
            (integer(&[0xff]), integer(&[0x01, 0x00]), integer(&[])),
            (-1, 256, 0)
        );
    }
}
