//! A table as CSV: RFC 4180 with a header, lines that end in LF, UTF-8, empty cells for what is not known.

use std::io::{self, Write};

use super::{Cell, Row, Table};
use crate::report::escape;

pub(super) fn write(table: &Table, rows: &[Row], out: &mut dyn Write) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(table.columns.iter().map(|it| it.name))?;
    for row in rows {
        writer.write_record(row.iter().map(cell))?;
    }
    writer.flush()
}

fn cell(cell: &Cell) -> String {
    match cell {
        Cell::Text(text) => escape::csv(text),
        Cell::Number(number) => number.to_string(),
        Cell::Empty => String::new(),
    }
}
