//! An exported system table as blocks of text: its rows written as records of a text log, or as lines of cells.

use std::io::{self, Read};

use super::sorting::{STRETCH_BYTES, Sorter};
use crate::intake::{Block, Limits};
use crate::parsers::tables::{
    Columns, Form, Known, Row, RowFault, Rows, Table, Writer, Written, identify,
};
use crate::record::{Origin, Start};
use crate::time::Timestamp;

/// How large a file may be that must be read whole, in bytes: a Parquet file's directory stands at its end.
pub const WHOLE_BYTES_MAX: u64 = 256 << 20;

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
    /// The rows of a log, put in order: a server exports its table in the order in which it reads the parts of it.
    sorter: Sorter,
    /// Why the rows could not be put in order.
    error: Option<io::Error>,
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
            sorter: Sorter::new(STRETCH_BYTES),
            error: None,
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
        let error = self.table.take_error().map(io::Error::other);
        Some((self.table.offset(), error.or_else(|| self.error.take())?))
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
        let ordered = if self.is_read { Ok(()) } else { self.order() };
        match ordered.and_then(|()| self.sorter.next(&mut self.text)) {
            Ok(Some(start)) => self.origin.starts.push(start),
            Ok(None) => self.ended = true,
            Err(error) => {
                self.error = Some(error);
                self.ended = true;
            }
        }
    }

    /// Reads all records and puts them in order.
    fn order(&mut self) -> io::Result<()> {
        while !self.is_read {
            self.read();
            for start in self.origin.starts.drain(..) {
                self.sorter.push(start, &self.text)?;
            }
            self.text.clear();
        }
        self.sorter.end()
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
