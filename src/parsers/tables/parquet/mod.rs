//! Parquet: columns in row groups, read side by side in batches of rows.
//!
//! Lists and maps become the text that `ClickHouse` prints for them. What a file may cost is bounded by its own size: a
//! few bytes can stand for billions of equal rows.

mod leaf;

use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};

use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::SchemaDescriptor;

use super::row::{COLUMNS_MAX, Columns, Row, RowFault};
use leaf::{Leaf, Shape};

/// What a Parquet file begins and ends with.
pub(super) const MAGIC: &[u8] = b"PAR1";

/// How many rows are read of each column at once.
const BATCH: usize = 256;

/// How many times its size a file's rows may be, past what is free: logs pack well, and nothing packs better for a reason.
const RATIO: u64 = 500;

/// How many bytes of rows any file may have.
const FREE: u64 = 8 << 20;

/// Reads the rows of a file.
pub(super) struct Parquet {
    file: SerializedFileReader<Bytes>,
    size: u64,
    /// What was given so far, in bytes.
    given: u64,
    /// The row group to open next.
    group: usize,
    /// The columns of the open row group.
    leaves: Vec<Leaf>,
    /// Rows of the batch that were not given yet, and of the group that were not read yet.
    ready: usize,
    left: u64,
    row: u64,
}

impl Parquet {
    /// Reads a whole file of at most `bytes_max` bytes, and tells its columns.
    pub(super) fn open(
        reader: &mut dyn Read,
        bytes_max: u64,
        columns: &mut Columns,
    ) -> Result<Self, String> {
        let mut bytes = Vec::new();
        let read = reader.take(bytes_max + 1).read_to_end(&mut bytes);
        read.map_err(|error| error.to_string())?;
        let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        if size > bytes_max {
            return Err(format!(
                "a Parquet file of more than {bytes_max} bytes is not read"
            ));
        }
        let file = kept_from_panic(|| SerializedFileReader::new(Bytes::from(bytes)))?;
        if !is_within(file.metadata(), size) {
            return Err("its directory names places outside the file".to_owned());
        }
        *columns = Columns::new(names(file.metadata().file_metadata().schema_descr()));
        Ok(Self {
            file,
            size,
            given: 0,
            group: 0,
            leaves: Vec::new(),
            ready: 0,
            left: 0,
            row: 0,
        })
    }

    /// Reads the next row; nothing at the end.
    pub(super) fn next(&mut self, row: &mut Row) -> Result<bool, String> {
        row.clear();
        while self.ready == 0 {
            if self.left == 0 {
                if self.group == self.file.num_row_groups() {
                    return Ok(false);
                }
                kept_from_panic(|| self.open_group())?;
            } else {
                self.read_batch()?;
            }
        }
        self.row += 1;
        (row.line, row.offset) = (self.row, 0);
        let mut at = 0;
        while at < self.leaves.len() {
            at += cell(&mut self.leaves[at..], row);
        }
        self.ready -= 1;
        let bytes: usize = row.cells().map(|(_, cell)| cell.len()).sum();
        self.given += 16 + u64::try_from(bytes).unwrap_or(u64::MAX);
        if self.given > FREE && self.given / self.size.max(1) >= RATIO {
            return Err(format!("its rows are {RATIO} times its size or more"));
        }
        if self
            .file
            .metadata()
            .file_metadata()
            .schema_descr()
            .num_columns()
            > COLUMNS_MAX
        {
            row.fail(RowFault::Wide);
        }
        Ok(true)
    }

    fn open_group(&mut self) -> Result<(), ParquetError> {
        let group = self.file.get_row_group(self.group)?;
        self.group += 1;
        self.left = u64::try_from(group.metadata().num_rows()).unwrap_or(0);
        self.leaves.clear();
        let schema = group.metadata().schema_descr_ptr();
        let shapes = shapes(&schema);
        for (at, (column, shape)) in shapes.into_iter().enumerate().take(COLUMNS_MAX) {
            let pages = group.get_column_page_reader(at)?;
            self.leaves
                .push(Leaf::new(column, shape, schema.column(at), pages));
        }
        if self.leaves.is_empty() {
            self.left = 0;
        }
        Ok(())
    }

    fn read_batch(&mut self) -> Result<(), String> {
        let wanted = usize::try_from(self.left).unwrap_or(BATCH).min(BATCH);
        let mut read = wanted;
        for leaf in &mut self.leaves {
            read = read.min(kept_from_panic(|| leaf.read(wanted))?);
        }
        if read < wanted {
            // Columns of different lengths: their rows do not belong together.
            self.left = 0;
            self.group = self.file.num_row_groups();
            if read == 0 {
                return Err("its columns have fewer values than it has rows".to_owned());
            }
        } else {
            self.left -= u64::try_from(read).unwrap_or(self.left);
        }
        self.ready = read;
        Ok(())
    }
}

/// Adds the cell that the first of some leaves begins; of how many leaves it is.
fn cell(leaves: &mut [Leaf], row: &mut Row) -> usize {
    let (column, shape) = (leaves[0].column, leaves[0].shape);
    match (shape, leaves) {
        (Shape::Key, [keys, values, ..]) => {
            row.write(column, |text| leaf::map(keys, values, text));
            2
        }
        (Shape::Value, [leaf, ..]) => {
            if leaf.is_null() {
                leaf.pass();
            } else {
                row.write(column, |text| leaf.value(text));
            }
            1
        }
        (Shape::Key | Shape::List, [leaf, ..]) => {
            row.write(column, |text| leaf.list(text));
            1
        }
        (_, []) => 1,
    }
}

/// Runs a part of the library, which checks much of what a file says, and gives up on some of it with a panic.
fn kept_from_panic<T>(run: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(done) => done.map_err(|error| error.to_string()),
        Err(_) => Err("its bytes contradict each other".to_owned()),
    }
}

/// Whether all that the directory names lies in a file of that size.
fn is_within(metadata: &ParquetMetaData, size: u64) -> bool {
    let is_place = |offset: i64| u64::try_from(offset).is_ok_and(|offset| offset <= size);
    metadata.row_groups().iter().all(|group| {
        group.columns().iter().all(|column| {
            is_place(column.data_page_offset())
                && column.dictionary_page_offset().is_none_or(is_place)
                && is_place(column.compressed_size())
                && column.num_values() >= 0
        })
    })
}

/// The table's columns: those of the outermost level, and of a tuple its parts.
fn names(schema: &SchemaDescriptor) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (at, (column, shape)) in shapes(schema).into_iter().enumerate() {
        if column < names.len() {
            continue;
        }
        names.push(match shape {
            Shape::Value => schema.column(at).path().string(),
            Shape::List | Shape::Key => schema.get_column_root(at).name().to_owned(),
        });
    }
    names
}

/// For each leaf: the column of the table that it is, or is part of, and how.
fn shapes(schema: &SchemaDescriptor) -> Vec<(usize, Shape)> {
    let mut shapes = Vec::new();
    let mut column = 0;
    let leaves = schema.num_columns();
    let mut at = 0;
    while at < leaves {
        let repeated = schema.column(at).max_rep_level() > 0;
        let root = schema.get_column_root_idx(at);
        let is_pair = repeated
            && at + 1 < leaves
            && schema.get_column_root_idx(at + 1) == root
            && schema.column(at + 1).max_rep_level() == 1
            && (at + 2 == leaves || schema.get_column_root_idx(at + 2) != root);
        if is_pair {
            shapes.push((column, Shape::Key));
            shapes.push((column, Shape::List));
            at += 2;
        } else {
            let shape = if repeated { Shape::List } else { Shape::Value };
            shapes.push((column, shape));
            at += 1;
        }
        column += 1;
    }
    shapes
}
