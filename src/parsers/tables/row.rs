//! One row of a table: its cells as plain bytes, and where it stands.

use std::ops::Range;

use rustc_hash::FxHashMap;

/// How many columns of a table are kept: the widest system table has some 1,500, and a hostile one must not cost more.
pub const COLUMNS_MAX: usize = 4_096;

/// What is wrong with a row that was read all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RowFault {
    /// It has more or fewer cells than the table has columns.
    Ragged,
    /// It has more columns than are kept.
    Wide,
    /// It is longer than a record may be, and cut.
    Long,
    /// What stands there is no row.
    Unreadable,
}

/// One row; reused from row to row.
#[derive(Debug, Default)]
pub struct Row {
    /// The line that it begins at, from 1; in a Parquet file the number of the row.
    pub line: u64,
    /// Its first byte in the unpacked artifact; 0 in a Parquet file.
    pub offset: u64,
    /// What is wrong with it.
    pub fault: Option<RowFault>,
    text: Vec<u8>,
    /// Column and bytes of every cell that is not `NULL`, in the order of the row.
    cells: Vec<(usize, Range<usize>)>,
}

impl Row {
    /// Forgets what it holds.
    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.cells.clear();
        self.fault = None;
    }

    /// Adds the cell of a column.
    pub(super) fn push(&mut self, column: usize, value: &[u8]) {
        self.write(column, |text| text.extend_from_slice(value));
    }

    /// Adds the cell of a column, whose bytes `write` appends.
    pub(super) fn write<T>(&mut self, column: usize, write: impl FnOnce(&mut Vec<u8>) -> T) -> T {
        let start = self.text.len();
        let out = write(&mut self.text);
        self.cells.push((column, start..self.text.len()));
        out
    }

    /// Notes the first thing that is wrong.
    pub(super) fn fail(&mut self, fault: RowFault) {
        self.fault = self.fault.or(Some(fault));
    }

    /// How many cells it has.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Whether it has no cell.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// The cells in the order of the row: column and bytes.
    pub fn cells(&self) -> impl Iterator<Item = (usize, &[u8])> {
        let cells = self.cells.iter();
        cells.map(|(column, range)| (*column, &self.text[range.clone()]))
    }

    /// The cell of a column; nothing where it is `NULL` or the row has none.
    pub fn get(&self, column: usize) -> Option<&[u8]> {
        // Most rows have all columns in order.
        let fits = |(at, _): &&(usize, Range<usize>)| *at == column;
        let found = self.cells.get(column).filter(fits);
        let found = found.or_else(|| self.cells.iter().find(fits));
        found.map(|(_, range)| &self.text[range.clone()])
    }
}

/// The columns of a table, in the order in which they were met.
#[derive(Debug, Default, Clone)]
pub struct Columns {
    names: Vec<String>,
    /// By name: rows may name their columns in any order.
    places: FxHashMap<Vec<u8>, usize>,
}

impl PartialEq for Columns {
    fn eq(&self, other: &Self) -> bool {
        self.names == other.names
    }
}

impl Columns {
    /// The columns of a heading; those beyond [`COLUMNS_MAX`] are left out.
    pub(super) fn new(names: impl IntoIterator<Item = String>) -> Self {
        let mut columns = Self::default();
        for name in names.into_iter().take(COLUMNS_MAX) {
            let place = columns.names.len();
            columns
                .places
                .entry(name.clone().into_bytes())
                .or_insert(place);
            columns.names.push(name);
        }
        columns
    }

    /// The names.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The place of a column.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.places.get(name.as_bytes()).copied()
    }

    /// The place of a column that is expected at `hint`, added if it is new; nothing where there are too many.
    pub(super) fn place(&mut self, name: &[u8], hint: usize) -> Option<usize> {
        let is = |known: &&String| known.as_bytes() == name;
        if self.names.get(hint).as_ref().is_some_and(is) {
            return Some(hint);
        }
        let found = self.places.get(name).copied();
        if found.is_some() || self.names.len() == COLUMNS_MAX {
            return found;
        }
        let place = self.names.len();
        self.places.insert(name.to_vec(), place);
        self.names.push(String::from_utf8_lossy(name).into_owned());
        Some(place)
    }
}
