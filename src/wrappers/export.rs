//! An exported system table as blocks of text: its rows written as records of a text log, or as lines of cells.

use std::io::{self, Read};

use crate::intake::{Block, Limits};
use crate::parsers::tables::{
    Columns, Form, Known, Row, RowFault, Rows, Table, Writer, Written, identify,
};
use crate::record::{Origin, Start};
use crate::time::Timestamp;

/// How large a file may be that must be read whole, in bytes: a Parquet file's directory stands at its end.
pub const WHOLE_BYTES_MAX: u64 = 256 << 20;

/// How much of a log's export is put in order at once, in bytes: a server exports its table in the order in which it reads the
/// parts of it. What people export is smaller; of a larger one each stretch of so many bytes is in order.
const ORDERED_MAX: usize = 256 << 20;

/// How many bytes the stamp has that a record begins with.
const STAMP_BYTES: usize = 26;

/// Records that are given in the order of their stamps.
#[derive(Default)]
struct Ordered {
    text: Vec<u8>,
    /// Each record's place, and where it ends in the text; the next one stands last.
    rows: Vec<(Start, usize)>,
}

/// Reads an exported table.
pub struct TableReader {
    table: Table,
    known: Option<&'static Known>,
    is_log: bool,
    /// The columns that the writer was made for.
    columns: Columns,
    writer: Writer,
    row: Row,
    text: Vec<u8>,
    origin: Origin,
    ordered: Ordered,
    /// Whether every row was read.
    is_read: bool,
    limits: Limits,
    /// How many lines of the file earlier blocks were made of.
    lines: u64,
    offset: u64,
    ended: bool,
}

impl TableReader {
    /// Starts at the beginning of `reader`, the export of a known table.
    pub fn new(
        reader: Box<dyn Read + Send>,
        form: Form,
        known: &'static Known,
        limits: Limits,
    ) -> Self {
        let table = Table::open(form, reader, limits.record_bytes, WHOLE_BYTES_MAX);
        let columns = table.columns().clone();
        Self {
            known: Some(known),
            is_log: known.rows == Rows::Records,
            writer: Writer::new(Some(known), &columns),
            columns,
            table,
            row: Row::default(),
            text: Vec::new(),
            origin: Origin::default(),
            ordered: Ordered::default(),
            is_read: false,
            limits,
            lines: 0,
            offset: 0,
            ended: false,
        }
    }

    /// The stamp of the first row to come, as `stamp` reads it.
    pub fn peek(&mut self, stamp: impl Fn(&[u8]) -> Option<Timestamp>) -> Option<Timestamp> {
        self.fill();
        stamp(&self.text)
    }

    /// The next block; `None` at the end. `buffer` is a used block's memory, or empty.
    pub fn next(&mut self, mut buffer: Vec<u8>) -> Option<Block> {
        self.fill();
        let origin = &mut self.origin;
        origin.lines = self.table.lines() - self.lines;
        self.lines = self.table.lines();
        let is_noted = origin.foreign.count > 0 || origin.ragged.count > 0;
        if self.text.is_empty() && !is_noted {
            return None;
        }
        buffer.clear();
        std::mem::swap(&mut buffer, &mut self.text);
        let block = Block {
            offset: self.offset,
            continues: false,
            last: self.ended,
            origin: Some(Box::new(std::mem::take(&mut self.origin))),
            bytes: buffer,
        };
        self.offset += u64::try_from(block.bytes.len()).unwrap_or(0);
        Some(block)
    }

    /// Why reading stopped before the end, and at which unpacked byte; once.
    pub fn take_error(&mut self) -> Option<(u64, io::Error)> {
        let error = self.table.take_error()?;
        Some((self.table.offset(), io::Error::other(error)))
    }

    /// Writes rows until they fill a block, or the input ends.
    fn fill(&mut self) {
        while !self.ended && self.text.len() < self.limits.block_bytes {
            if self.is_log {
                self.give();
            } else {
                self.read();
                self.ended = self.is_read;
            }
        }
    }

    /// Reads and writes a row.
    fn read(&mut self) {
        if !self.table.next(&mut self.row) {
            self.is_read = true;
            return;
        }
        self.learn();
        self.write();
    }

    /// Gives the next record in order; the end, if there is none.
    fn give(&mut self) {
        if self.ordered.rows.is_empty() && !self.is_read {
            self.order();
        }
        let Some((start, end)) = self.ordered.rows.pop() else {
            self.ended = self.is_read;
            return;
        };
        let at = u32::try_from(self.text.len()).unwrap_or(u32::MAX);
        let record = &self.ordered.text[start.at as usize..end];
        self.text.extend_from_slice(record);
        self.origin.starts.push(Start { at, ..start });
    }

    /// Reads records and puts them in order.
    fn order(&mut self) {
        let text = std::mem::replace(&mut self.text, std::mem::take(&mut self.ordered.text));
        let starts = std::mem::take(&mut self.origin.starts);
        self.text.clear();
        while !self.is_read && self.text.len() < ORDERED_MAX {
            self.read();
        }
        let text = std::mem::replace(&mut self.text, text);
        let starts = std::mem::replace(&mut self.origin.starts, starts);
        let ends = starts.iter().skip(1).map(|start| start.at as usize);
        let ends = ends.chain([text.len()]);
        let mut rows: Vec<(Start, usize)> = starts.iter().copied().zip(ends).collect();
        rows.sort_by_key(|(start, _)| text.get(start.at as usize..start.at as usize + STAMP_BYTES));
        rows.reverse();
        self.ordered = Ordered { text, rows };
    }

    /// Makes a writer for other columns: rows may name their own, and a file may hold the answers to several queries.
    fn learn(&mut self) {
        let columns = self.table.columns();
        if *columns == self.columns {
            return;
        }
        self.columns = columns.clone();
        if !self.is_log {
            self.known = identify(columns, self.known);
        }
        self.writer = Writer::new(self.known, columns);
    }

    fn write(&mut self) {
        let at = self.text.len();
        let row = &self.row;
        match row.fault {
            Some(RowFault::Unreadable) => return self.origin.foreign.note(row.line),
            Some(RowFault::Ragged | RowFault::Wide) => self.origin.ragged.note(row.line),
            Some(RowFault::Long) => self.origin.too_long.note(row.line),
            None => {}
        }
        let written = if self.is_log {
            self.writer.record(row, &mut self.text)
        } else {
            self.writer.line(row, &self.columns, &mut self.text)
        };
        if written == Written::Nothing {
            return self.origin.foreign.note(row.line);
        }
        self.origin.starts.push(Start {
            at: u32::try_from(at).unwrap_or(u32::MAX),
            line: row.line,
            offset: row.offset,
            time: None,
            is_record: true,
        });
    }
}

impl std::fmt::Debug for TableReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TableReader").finish_non_exhaustive()
    }
}
