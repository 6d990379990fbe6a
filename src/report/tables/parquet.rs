//! A table as Parquet: one row group, no compression, so that the same rows are the same bytes for any reader.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use super::{Cell, Kind, Row, Table};

pub(super) fn write(table: &Table, rows: &[Row], out: &mut dyn Write) -> io::Result<()> {
    let bytes = file(table, rows).map_err(io::Error::other)?;
    out.write_all(&bytes)
}

fn file(table: &Table, rows: &[Row]) -> Result<Vec<u8>, ParquetError> {
    let columns = table.columns.iter().map(|column| match column.kind {
        Kind::Text => format!("OPTIONAL BYTE_ARRAY {} (UTF8);", column.name),
        Kind::Number => format!("OPTIONAL INT64 {};", column.name),
    });
    let columns: String = columns.collect();
    let schema = parse_message_type(&format!("message {} {{ {columns} }}", table.name))?;
    let properties = WriterProperties::builder().set_created_by("casdiag".to_owned());
    let mut bytes = Vec::new();
    let mut writer =
        SerializedFileWriter::new(&mut bytes, Arc::new(schema), Arc::new(properties.build()))?;
    let mut group = writer.next_row_group()?;
    for at in 0..table.columns.len() {
        let cells = rows.iter().filter_map(|row| row.get(at));
        let levels: Vec<i16> = cells
            .clone()
            .map(|it| i16::from(*it != Cell::Empty))
            .collect();
        let Some(mut column) = group.next_column()? else {
            return Err(ParquetError::General("a column is missing".to_owned()));
        };
        match table.columns[at].kind {
            Kind::Text => {
                let values: Vec<ByteArray> = cells.filter_map(bytes_of).collect();
                let typed = column.typed::<ByteArrayType>();
                typed.write_batch(&values, Some(&levels), None)?;
            }
            Kind::Number => {
                let values: Vec<i64> = cells.filter_map(number_of).collect();
                let typed = column.typed::<Int64Type>();
                typed.write_batch(&values, Some(&levels), None)?;
            }
        }
        column.close()?;
    }
    group.close()?;
    writer.close()?;
    Ok(bytes)
}

fn bytes_of(cell: &Cell) -> Option<ByteArray> {
    match cell {
        Cell::Text(text) => Some(ByteArray::from(text.as_str())),
        Cell::Number(number) => Some(ByteArray::from(number.to_string().as_str())),
        Cell::Empty => None,
    }
}

fn number_of(cell: &Cell) -> Option<i64> {
    match cell {
        Cell::Number(number) => Some(*number),
        Cell::Text(_) | Cell::Empty => None,
    }
}
