//! Tables for whoever asks further: the same rows as CSV and as Parquet.
//!
//! A spreadsheet opens a CSV, so no cell of it begins like a formula; Parquet is read by programs and holds texts exactly.

mod csv;
mod findings;
mod inputs;
mod parquet;
mod positions;
mod signals;

use std::io::{self, Write};

use crate::report::model::Report;

/// A table.
#[derive(Debug)]
pub struct Table {
    /// Its name: the files are `tables/NAME.csv` and `tables/NAME.parquet`.
    pub name: &'static str,
    /// Its columns, in order.
    pub columns: &'static [Column],
    rows: fn(&Report) -> Vec<Row>,
}

/// A column.
#[derive(Debug)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// What its cells hold.
    pub kind: Kind,
}

/// What a column holds. A cell may be empty in either.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Text, UTF-8.
    Text,
    /// A whole number of 64 bits.
    Number,
}

/// A cell.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Cell {
    Text(String),
    Number(i64),
    Empty,
}

type Row = Vec<Cell>;

/// A form that a table is written in.
#[derive(Debug)]
pub struct Form {
    /// The end of the file's name.
    pub extension: &'static str,
    write: fn(&Table, &[Row], &mut dyn Write) -> io::Result<()>,
}

/// Every form.
pub const FORMS: &[Form] = &[
    Form {
        extension: "csv",
        write: csv::write,
    },
    Form {
        extension: "parquet",
        write: parquet::write,
    },
];

/// Every table.
pub const TABLES: &[Table] = &[
    signals::COUNTS,
    signals::SIGNALS,
    signals::CODES,
    positions::POSITIONS,
    findings::FINDINGS,
    findings::FINDING_COUNTS,
    findings::EVIDENCE,
    findings::TEMPLATES,
    findings::NOT_OBSERVABLE,
    inputs::INPUTS,
    inputs::INPUT_PROBLEMS,
    inputs::WAL_PROBLEMS,
];

impl Table {
    /// Writes the table of a report in a form.
    pub fn write(&self, report: &Report, form: &Form, out: &mut dyn Write) -> io::Result<()> {
        (form.write)(self, &(self.rows)(report), out)
    }
}

const fn text(name: &'static str) -> Column {
    Column {
        name,
        kind: Kind::Text,
    }
}

const fn number(name: &'static str) -> Column {
    Column {
        name,
        kind: Kind::Number,
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<&String> for Cell {
    fn from(text: &String) -> Self {
        Self::Text(text.clone())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<u64> for Cell {
    fn from(number: u64) -> Self {
        // No file and no log is so long that this cuts a number.
        Self::Number(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<i64> for Cell {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Empty, Into::into)
    }
}

/// Several names in one cell.
fn joined(names: &[String]) -> Cell {
    Cell::Text(names.join(", "))
}
