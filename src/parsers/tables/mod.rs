//! Exports of system tables: which form a file has, which table it is, and its rows.
//!
//! A form is told by a file's beginning, a table by its columns; names only decide where columns leave it open.

mod delimited;
mod json;
mod known;
pub(super) mod line;
mod lines;
mod parquet;
mod pretty;
mod row;
mod sniff;
mod vertical;
mod write;

use std::io::Read;

pub use known::{Known, Rows, TABLES, hinted, identify, known};
pub use line::{cell, cells};
pub use row::{COLUMNS_MAX, Columns, Row, RowFault};
pub use sniff::{Sniffed, folded, sniff};
pub use write::{Writer, Written};

use lines::Lines;
use parquet::Parquet;
use pretty::{Drawing, Pretty};
use vertical::Vertical;

/// How an exported table is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Form {
    /// `TSVWithNames`.
    Tsv,
    /// `TSVWithNamesAndTypes`.
    TsvTypes,
    /// `CSVWithNames`.
    Csv,
    /// `CSVWithNamesAndTypes`.
    CsvTypes,
    /// `JSONEachRow`.
    JsonEachRow,
    /// `JSONCompactEachRowWithNames`.
    JsonCompactEachRow,
    /// `JSON`.
    Json,
    /// `JSONCompact`.
    JsonCompact,
    /// `Vertical`.
    Vertical,
    /// `Pretty` and its kin, with bars.
    Pretty,
    /// `PrettySpace`.
    PrettySpace,
    /// `Markdown`.
    Markdown,
    /// `Parquet`.
    Parquet,
}

impl Form {
    /// Its name, as `FORMAT` in a query has it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tsv => "TSVWithNames",
            Self::TsvTypes => "TSVWithNamesAndTypes",
            Self::Csv => "CSVWithNames",
            Self::CsvTypes => "CSVWithNamesAndTypes",
            Self::JsonEachRow => "JSONEachRow",
            Self::JsonCompactEachRow => "JSONCompactEachRowWithNames",
            Self::Json => "JSON",
            Self::JsonCompact => "JSONCompact",
            Self::Vertical => "Vertical",
            Self::Pretty => "Pretty",
            Self::PrettySpace => "PrettySpace",
            Self::Markdown => "Markdown",
            Self::Parquet => "Parquet",
        }
    }
}

/// Reads the rows of a table.
pub struct Table {
    form: Form,
    lines: Lines,
    columns: Columns,
    vertical: Vertical,
    pretty: Pretty,
    parquet: Option<Box<Parquet>>,
    buffer: Vec<u8>,
    error: Option<String>,
    ended: bool,
}

impl Table {
    /// Starts at the beginning of a file of that form. A row may have `row_bytes` bytes, a file that must be read whole
    /// `file_bytes`.
    pub fn open(
        form: Form,
        mut reader: Box<dyn Read + Send>,
        row_bytes: usize,
        file_bytes: u64,
    ) -> Self {
        let mut columns = Columns::default();
        let mut error = None;
        let mut parquet = None;
        if form == Form::Parquet {
            match Parquet::open(&mut reader, file_bytes, &mut columns) {
                Ok(file) => parquet = Some(Box::new(file)),
                Err(why) => error = Some(why),
            }
        }
        let drawing = match form {
            Form::Markdown => Drawing::Markdown,
            Form::PrettySpace => Drawing::Spaces,
            Form::Tsv
            | Form::TsvTypes
            | Form::Csv
            | Form::CsvTypes
            | Form::JsonEachRow
            | Form::JsonCompactEachRow
            | Form::Json
            | Form::JsonCompact
            | Form::Vertical
            | Form::Pretty
            | Form::Parquet => Drawing::Bars,
        };
        let mut table = Self {
            form,
            lines: Lines::new(reader, row_bytes),
            columns,
            vertical: Vertical::default(),
            pretty: Pretty::new(drawing),
            parquet,
            buffer: Vec::new(),
            error,
            ended: false,
        };
        table.heading();
        table
    }

    /// The columns known so far: of most forms all, of those that name them in every row those of the rows read.
    pub fn columns(&self) -> &Columns {
        &self.columns
    }

    /// How many lines were read; of a Parquet file 0.
    pub fn lines(&self) -> u64 {
        self.lines.line()
    }

    /// How many bytes were read; of a Parquet file 0.
    pub fn offset(&self) -> u64 {
        self.lines.offset()
    }

    /// Why reading stopped before the end; once.
    pub fn take_error(&mut self) -> Option<String> {
        let read = self.lines.take_error();
        self.error.take().or(read.map(|error| error.to_string()))
    }

    /// Reads what stands before the first row.
    fn heading(&mut self) {
        match self.form {
            Form::Tsv | Form::TsvTypes => {
                self.line();
                self.columns = Columns::new(delimited::tsv_names(&self.buffer));
            }
            Form::Csv | Form::CsvTypes => {
                delimited::csv_lines(&mut self.lines, &mut self.buffer);
                self.columns = Columns::new(delimited::csv_names(&self.buffer));
            }
            Form::JsonCompactEachRow => {
                self.line();
                self.columns = Columns::new(json::strings(&self.buffer).unwrap_or_default());
            }
            Form::Json | Form::JsonCompact => self.json_heading(),
            Form::JsonEachRow
            | Form::Vertical
            | Form::Pretty
            | Form::PrettySpace
            | Form::Markdown
            | Form::Parquet => {}
        }
        if self.form == Form::TsvTypes {
            self.line();
        }
        if self.form == Form::CsvTypes {
            delimited::csv_lines(&mut self.lines, &mut self.buffer);
        }
    }

    /// The names in the `meta` of a document, up to its `data`.
    fn json_heading(&mut self) {
        let mut names = Vec::new();
        while self.line().is_some() {
            let line = self.buffer.trim_ascii();
            if line.starts_with(b"\"data\":") {
                break;
            }
            if names.len() < COLUMNS_MAX {
                names.extend(json::named_string(line, "name"));
            }
        }
        self.columns = Columns::new(names);
    }

    fn line(&mut self) -> Option<lines::Place> {
        self.buffer.clear();
        self.lines.next(&mut self.buffer)
    }

    /// Reads the next row; whether there was one.
    pub fn next(&mut self, row: &mut Row) -> bool {
        if self.ended {
            return false;
        }
        let read = self.read(row);
        self.ended = !read;
        read
    }

    fn read(&mut self, row: &mut Row) -> bool {
        match self.form {
            Form::Tsv | Form::TsvTypes => {
                let Some(place) = self.filled() else {
                    return false;
                };
                delimited::tsv_row(&self.buffer, place, &self.columns, row);
            }
            Form::Csv | Form::CsvTypes => {
                let read = delimited::csv_lines(&mut self.lines, &mut self.buffer);
                let Some(place) = read.filter(|_| !self.buffer.is_empty()) else {
                    return false;
                };
                delimited::csv_row(&self.buffer, place, &self.columns, row);
            }
            Form::JsonEachRow => loop {
                let Some(mut place) = self.line() else {
                    return false;
                };
                if self.buffer.trim_ascii() == b"{" {
                    place = json::spread(&mut self.lines, &mut self.buffer, place);
                }
                let bare = json::bare(&self.buffer);
                if !bare.is_empty() {
                    json::object(bare, place, &mut self.columns, row);
                    break;
                }
            },
            Form::JsonCompactEachRow => {
                let Some(place) = self.filled() else {
                    return false;
                };
                json::array(&self.buffer, place, &self.columns, row);
            }
            Form::Json | Form::JsonCompact => {
                let Some(place) = json::element(&mut self.lines, &mut self.buffer) else {
                    return false;
                };
                if self.form == Form::Json {
                    json::object(&self.buffer, place, &mut self.columns, row);
                } else {
                    json::array(&self.buffer, place, &self.columns, row);
                }
            }
            Form::Vertical => {
                return self.vertical.next(&mut self.lines, &mut self.columns, row);
            }
            Form::Pretty | Form::PrettySpace | Form::Markdown => {
                return self.pretty.next(&mut self.lines, &mut self.columns, row);
            }
            Form::Parquet => return self.parquet_row(row),
        }
        true
    }

    /// The next line that holds anything.
    fn filled(&mut self) -> Option<lines::Place> {
        loop {
            let place = self.line()?;
            if !self.buffer.is_empty() {
                return Some(place);
            }
        }
    }

    fn parquet_row(&mut self, row: &mut Row) -> bool {
        match self.parquet.as_mut().map(|file| file.next(row)) {
            Some(Ok(read)) => read,
            Some(Err(why)) => {
                self.error = Some(why);
                false
            }
            None => false,
        }
    }
}
