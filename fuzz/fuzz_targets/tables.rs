//! Any bytes as an exported table of any form: the first byte says which.
#![no_main]

use std::io::Cursor;

use casdiag::parsers::tables::{COLUMNS_MAX, Form, Row, Rows, Table, Writer, known, sniff};
use libfuzzer_sys::fuzz_target;

const FORMS: [Form; 13] = [
    Form::Tsv,
    Form::TsvTypes,
    Form::Csv,
    Form::CsvTypes,
    Form::JsonEachRow,
    Form::JsonCompactEachRow,
    Form::Json,
    Form::JsonCompact,
    Form::Vertical,
    Form::Pretty,
    Form::PrettySpace,
    Form::Markdown,
    Form::Parquet,
];

/// How long a row may be here, in bytes.
const ROW_BYTES: usize = 1 << 10;

fuzz_target!(|bytes: &[u8]| {
    let Some((first, bytes)) = bytes.split_first() else {
        return;
    };
    let _ = sniff(bytes, "system.errors.tsv");
    let form = FORMS[usize::from(*first) % FORMS.len()];
    let mut table = Table::open(form, Box::new(Cursor::new(bytes.to_vec())), ROW_BYTES, 1 << 20);
    let mut row = Row::default();
    let mut text = Vec::new();
    let (records, facts) = (known("text_log"), known("errors"));
    assert!(records.is_some_and(|table| table.rows == Rows::Records));
    // The rows of a Parquet file may be more than its bytes.
    for _ in 0..10_000 {
        if !table.next(&mut row) {
            break;
        }
        let columns = table.columns();
        assert!(columns.names().len() <= COLUMNS_MAX && row.len() <= COLUMNS_MAX);
        assert!(row.cells().all(|(column, _)| column < columns.names().len()));
        if form != Form::Parquet {
            let whole: usize = row.cells().map(|(_, cell)| cell.len()).sum();
            // A character that is none takes three bytes, an escape may be two of one.
            assert!(whole <= 4 * ROW_BYTES, "{whole}");
        }
        text.clear();
        Writer::new(records, columns).record(&row, &mut text);
        text.clear();
        Writer::new(facts, columns).line(&row, columns, &mut text);
        assert_eq!(text.iter().filter(|&&byte| byte == b'\n').count(), 1, "a row is one line");
    }
});
