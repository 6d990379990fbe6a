//! One column of values, and the text that they are printed as.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parquet::basic::{LogicalType, TimeUnit};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::column::reader::{ColumnReader, get_column_reader};
use parquet::data_type::{ByteArray, FixedLenByteArray, Int96};
use parquet::errors::{ParquetError, Result};
use parquet::schema::types::{ColumnDescPtr, ColumnDescriptor};

use crate::time::{DAY, Timestamp};

/// How many values one batch of rows may need of a column: a list of millions of numbers is nothing to search in.
const VALUES_MAX: u64 = 4 << 20;

/// How large an unpacked page may be.
const PAGE_BYTES_MAX: usize = 256 << 20;

/// What a leaf is to its column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// The column: a value a row.
    Value,
    /// The elements of a list, or the values of a map.
    List,
    /// The keys of the map whose values are the next leaf.
    Key,
}

/// How a value is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Print {
    Plain,
    Unsigned,
    Date,
    /// A stamp: so many microseconds a unit, or units a microsecond.
    Stamp {
        times: i64,
        by: i64,
    },
    Uuid,
    /// Text, which is quoted inside lists.
    Text,
}

enum Values {
    Bool(Vec<bool>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Int96(Vec<Int96>),
    Float(Vec<f32>),
    Double(Vec<f64>),
    Bytes(Vec<ByteArray>),
    Fixed(Vec<FixedLenByteArray>),
}

/// One leaf column of a row group.
pub(super) struct Leaf {
    /// The table's column.
    pub(super) column: usize,
    /// What it is to it.
    pub(super) shape: Shape,
    print: Print,
    max_def: i16,
    reader: ColumnReader,
    /// How many values the batch needed.
    needed: Arc<AtomicU64>,
    values: Values,
    defs: Vec<i16>,
    reps: Vec<i16>,
    /// The next level, and the next value.
    level: usize,
    value: usize,
}

impl Leaf {
    pub(super) fn new(
        column: usize,
        shape: Shape,
        descriptor: ColumnDescPtr,
        pages: Box<dyn PageReader>,
    ) -> Self {
        let print = print_of(&descriptor);
        let max_def = descriptor.max_def_level();
        let needed = Arc::new(AtomicU64::new(0));
        let pages = Box::new(BoundedPages {
            pages,
            values: Arc::clone(&needed),
            repeated: descriptor.max_rep_level() > 0,
        });
        let reader = get_column_reader(descriptor, pages);
        let values = match &reader {
            ColumnReader::BoolColumnReader(_) => Values::Bool(Vec::new()),
            ColumnReader::Int32ColumnReader(_) => Values::Int32(Vec::new()),
            ColumnReader::Int64ColumnReader(_) => Values::Int64(Vec::new()),
            ColumnReader::Int96ColumnReader(_) => Values::Int96(Vec::new()),
            ColumnReader::FloatColumnReader(_) => Values::Float(Vec::new()),
            ColumnReader::DoubleColumnReader(_) => Values::Double(Vec::new()),
            ColumnReader::ByteArrayColumnReader(_) => Values::Bytes(Vec::new()),
            ColumnReader::FixedLenByteArrayColumnReader(_) => Values::Fixed(Vec::new()),
        };
        Self {
            column,
            shape,
            print,
            max_def,
            reader,
            needed,
            values,
            defs: Vec::new(),
            reps: Vec::new(),
            level: 0,
            value: 0,
        }
    }

    /// Reads the next `wanted` rows; how many there are.
    pub(super) fn read(&mut self, wanted: usize) -> Result<usize> {
        self.defs.clear();
        self.reps.clear();
        (self.level, self.value) = (0, 0);
        self.needed.store(0, Ordering::Relaxed);
        let defs = Some(&mut self.defs);
        let reps = Some(&mut self.reps);
        macro_rules! read {
            ($reader:expr, $values:expr) => {{
                $values.clear();
                $reader.read_records(wanted, defs, reps, $values)
            }};
        }
        let read = match (&mut self.reader, &mut self.values) {
            (ColumnReader::BoolColumnReader(it), Values::Bool(values)) => read!(it, values),
            (ColumnReader::Int32ColumnReader(it), Values::Int32(values)) => read!(it, values),
            (ColumnReader::Int64ColumnReader(it), Values::Int64(values)) => read!(it, values),
            (ColumnReader::Int96ColumnReader(it), Values::Int96(values)) => read!(it, values),
            (ColumnReader::FloatColumnReader(it), Values::Float(values)) => read!(it, values),
            (ColumnReader::DoubleColumnReader(it), Values::Double(values)) => read!(it, values),
            (ColumnReader::ByteArrayColumnReader(it), Values::Bytes(values)) => read!(it, values),
            (ColumnReader::FixedLenByteArrayColumnReader(it), Values::Fixed(values)) => {
                read!(it, values)
            }
            _ => Err(ParquetError::General(
                "a column changed its type".to_owned(),
            )),
        };
        read.map(|(rows, ..)| rows)
    }

    /// Whether the level that comes next has no value.
    pub(super) fn is_null(&self) -> bool {
        self.max_def > 0
            && self
                .defs
                .get(self.level)
                .is_none_or(|def| *def < self.max_def)
    }

    /// Goes on behind a level without a value.
    pub(super) fn pass(&mut self) {
        self.level += 1;
    }

    /// Adds the value that comes next.
    pub(super) fn value(&mut self, out: &mut Vec<u8>) {
        self.level += 1;
        self.value += 1;
        self.print(self.value - 1, out);
    }

    /// Whether the level that comes next belongs to the row of the one before.
    fn goes_on(&self) -> bool {
        self.reps.get(self.level).is_some_and(|rep| *rep > 0)
    }

    /// Adds the row's elements as `[1,2]`.
    pub(super) fn list(&mut self, out: &mut Vec<u8>) {
        out.push(b'[');
        let start = out.len();
        loop {
            self.element(start, out);
            if !self.goes_on() {
                break;
            }
        }
        out.push(b']');
    }

    /// Adds an element, with a comma before all but the first; an empty list has a level and no value.
    fn element(&mut self, start: usize, out: &mut Vec<u8>) {
        if self.is_null() {
            return self.pass();
        }
        if out.len() > start {
            out.push(b',');
        }
        self.inner(out);
    }

    /// Adds the value that comes next as it is printed inside a list.
    fn inner(&mut self, out: &mut Vec<u8>) {
        if !matches!(
            self.print,
            Print::Text | Print::Date | Print::Stamp { .. } | Print::Uuid
        ) {
            return self.value(out);
        }
        let mut text = Vec::new();
        self.value(&mut text);
        out.push(b'\'');
        for &byte in &text {
            if matches!(byte, b'\'' | b'\\') {
                out.push(b'\\');
            }
            out.push(byte);
        }
        out.push(b'\'');
    }

    fn print(&self, at: usize, out: &mut Vec<u8>) {
        macro_rules! number {
            ($value:expr) => {{
                // Writing to memory does not fail.
                drop(write!(out, "{}", $value));
            }};
        }
        match &self.values {
            Values::Bool(values) => number!(values.get(at).copied().unwrap_or_default()),
            Values::Int32(values) => {
                let value = values.get(at).copied().unwrap_or_default();
                match self.print {
                    Print::Unsigned => number!(value.cast_unsigned()),
                    Print::Date => out.extend_from_slice(&date(i64::from(value))),
                    Print::Plain | Print::Stamp { .. } | Print::Uuid | Print::Text => {
                        number!(value);
                    }
                }
            }
            Values::Int64(values) => {
                let value = values.get(at).copied().unwrap_or_default();
                match self.print {
                    Print::Unsigned => number!(value.cast_unsigned()),
                    Print::Stamp { times, by } => {
                        let micros = value.saturating_mul(times).div_euclid(by);
                        out.extend_from_slice(&stamp(micros));
                    }
                    Print::Plain | Print::Date | Print::Uuid | Print::Text => number!(value),
                }
            }
            Values::Int96(values) => {
                let micros = values.get(at).map_or(0, Int96::to_micros);
                out.extend_from_slice(&stamp(micros));
            }
            Values::Float(values) => number!(values.get(at).copied().unwrap_or_default()),
            Values::Double(values) => number!(values.get(at).copied().unwrap_or_default()),
            Values::Bytes(values) => {
                out.extend_from_slice(values.get(at).map_or(b"", |value| value.data()));
            }
            Values::Fixed(values) => {
                let bytes = values.get(at).map_or(&b""[..], |value| value.data());
                if self.print == Print::Text {
                    out.extend_from_slice(bytes);
                    return;
                }
                for (at, byte) in bytes.iter().enumerate() {
                    if self.print == Print::Uuid && matches!(at, 4 | 6 | 8 | 10) {
                        out.push(b'-');
                    }
                    number!(format_args!("{byte:02x}"));
                }
            }
        }
    }
}

/// Adds a row's map as `{'k':1}`.
pub(super) fn map(keys: &mut Leaf, values: &mut Leaf, out: &mut Vec<u8>) {
    out.push(b'{');
    let start = out.len();
    loop {
        let had = out.len();
        keys.element(start, out);
        if out.len() > had {
            out.push(b':');
        }
        if values.is_null() {
            values.pass();
            if out.last() == Some(&b':') {
                out.extend_from_slice(b"NULL");
            }
        } else {
            values.inner(out);
        }
        if !keys.goes_on() || !values.goes_on() {
            break;
        }
    }
    out.push(b'}');
}

fn print_of(descriptor: &ColumnDescriptor) -> Print {
    match descriptor.logical_type_ref() {
        Some(LogicalType::Integer(int)) if !int.is_signed => Print::Unsigned,
        Some(LogicalType::Date) => Print::Date,
        Some(LogicalType::Timestamp(stamp)) => match stamp.unit {
            TimeUnit::MILLIS => Print::Stamp { times: 1000, by: 1 },
            TimeUnit::MICROS => Print::Stamp { times: 1, by: 1 },
            TimeUnit::NANOS => Print::Stamp { times: 1, by: 1000 },
        },
        Some(LogicalType::Uuid) => Print::Uuid,
        Some(LogicalType::String | LogicalType::Enum | LogicalType::Json) => Print::Text,
        _ => converted(descriptor),
    }
}

/// The same for files that have only what older writers say of a type.
fn converted(descriptor: &ColumnDescriptor) -> Print {
    use parquet::basic::{ConvertedType, Type};
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the library's types, most of which print as they are"
    )]
    match descriptor.converted_type() {
        ConvertedType::UINT_8
        | ConvertedType::UINT_16
        | ConvertedType::UINT_32
        | ConvertedType::UINT_64 => Print::Unsigned,
        ConvertedType::DATE => Print::Date,
        ConvertedType::TIMESTAMP_MILLIS => Print::Stamp { times: 1000, by: 1 },
        ConvertedType::TIMESTAMP_MICROS => Print::Stamp { times: 1, by: 1 },
        _ if descriptor.physical_type() == Type::BYTE_ARRAY => Print::Text,
        _ => Print::Plain,
    }
}

/// `2026-11-29 16:35:37.805891`.
fn stamp(micros: i64) -> Vec<u8> {
    let mut text = Timestamp(micros).head().into_bytes();
    for at in [4, 7] {
        if let Some(byte) = text.get_mut(at).filter(|byte| **byte == b'.') {
            *byte = b'-';
        }
    }
    text
}

/// `2026-11-29`.
fn date(days: i64) -> Vec<u8> {
    let mut text = stamp(days.saturating_mul(DAY));
    text.truncate(10);
    text
}

/// Pages that stop where they would cost too much.
struct BoundedPages {
    pages: Box<dyn PageReader>,
    /// Values of a repeated column that the batch needed so far.
    values: Arc<AtomicU64>,
    repeated: bool,
}

impl PageReader for BoundedPages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.pages.get_next_page()?;
        if let Some(page) = &page {
            let values = u64::from(page.num_values());
            let before = self.values.fetch_add(values, Ordering::Relaxed);
            let is_list = self.repeated && before + values > VALUES_MAX;
            if is_list || page.buffer().len() > PAGE_BYTES_MAX {
                let why = "a page holds more than is read of a column at once";
                return Err(ParquetError::General(why.to_owned()));
            }
        }
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.pages.skip_next_page()
    }

    fn at_record_boundary(&mut self) -> Result<bool> {
        self.pages.at_record_boundary()
    }
}

impl Iterator for BoundedPages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}
