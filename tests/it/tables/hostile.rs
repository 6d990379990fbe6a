//! Broken and hostile tables: located, counted, and never fatal.

use std::fs;
use std::io::Cursor;

use casdiag::parsers::tables::{COLUMNS_MAX, Form, Row, Table};

use super::write::{parquet, records};
use crate::product::{self, Folder, repository};

fn head(at: u32) -> String {
    format!("2026.09.01 10:00:{at:02}.000000 [ 7 ] {{}} <Error> a: b\n")
}

#[test]
fn ragged_rows_are_located_and_the_others_count() {
    let text = "name\tcode\tvalue\tlast_error_time\nA\t1\t7\t2026-09-01 10:00:00\nB\t2\nC\t3\t5\t2026-09-01 10:00:00\tmore\n";
    let report = Folder::with("n1/errors.tsv", text).report();
    let input = product::input(&report, "errors.tsv");
    assert_eq!(product::problems(input), [("ragged-rows", Some(3))]);
    let counters: Vec<(&str, i128)> = report
        .counters
        .iter()
        .map(|row| (row.name.as_str(), row.value))
        .collect();
    assert_eq!(counters, [("A", 7), ("C", 5)]);
}

#[test]
fn a_counter_of_64_bits_keeps_its_value() {
    let text =
        "name\tcode\tvalue\tlast_error_time\nA\t1\t18446744073709551615\t2026-09-01 10:00:00\n";
    let report = Folder::with("n1/errors.tsv", text).report();
    assert_eq!(report.counters[0].value, (1 << 64) - 1);
    let json = serde_json::to_string(&report.counters[0]).unwrap();
    assert!(json.contains("18446744073709551615"), "{json}");
}

#[test]
fn a_hundred_thousand_columns_are_bounded() {
    let names: Vec<String> = (0..100_000).map(|at| format!("c{at}")).collect();
    let tsv = format!("{}\n{}\n", names.join("\t"), vec!["1"; 100_000].join("\t"));
    let json: Vec<String> = names.iter().map(|name| format!("\"{name}\":1")).collect();
    let json = format!("{{\"event\":\"a\",\"value\":1,{}}}\n", json.join(","));
    for (form, text) in [(Form::Tsv, tsv), (Form::JsonEachRow, json)] {
        let mut table = Table::open(form, Box::new(Cursor::new(text)), 1 << 24, 1 << 20);
        let mut row = Row::default();
        assert!(table.next(&mut row), "{form:?}");
        assert!(row.fault.is_some(), "{form:?}");
        assert_eq!(table.columns().names().len(), COLUMNS_MAX, "{form:?}");
        assert!(row.len() <= COLUMNS_MAX, "{form:?}");
    }
}

#[test]
fn a_huge_cell_is_cut_and_said_to_be() {
    let huge = "x".repeat(3 << 20);
    for (form, text) in [
        (Form::Tsv, format!("event\tvalue\n{huge}\t1\n")),
        (Form::Csv, format!("event,value\n\"{huge}\n{huge}\",1\n")),
        (
            Form::JsonEachRow,
            format!("{{\"event\":\"{huge}\",\"value\":1}}\n"),
        ),
        (
            Form::Vertical,
            format!("Row 1:\n──────\nevent: {huge}\nvalue: 1\n"),
        ),
    ] {
        let mut table = Table::open(form, Box::new(Cursor::new(text)), 1 << 20, 1 << 20);
        let mut row = Row::default();
        assert!(table.next(&mut row), "{form:?}");
        assert!(row.fault.is_some(), "{form:?}");
        let bytes: usize = row.cells().map(|(_, cell)| cell.len()).sum();
        assert!(bytes <= 1 << 20, "{form:?}: {bytes}");
    }
}

#[test]
fn broken_json_is_counted_and_the_rows_after_it_are_read() {
    let rows = "{\"event\":\"A\",\"value\":1}\n{\"event\":\"B\",\"val\n[[[[[[\n{\"event\":\"C\",\"value\":\"3\"}\n";
    let report = Folder::with("n1/events.jsonl", rows).report();
    let names: Vec<&str> = report
        .counters
        .iter()
        .map(|row| row.name.as_str())
        .collect();
    assert_eq!(names, ["A", "C"]);
    let input = product::input(&report, "events.jsonl");
    assert_eq!(product::problems(input), [("unparsed-lines", Some(2))]);
}

#[test]
fn a_parquet_file_that_is_cut_or_damaged_anywhere_is_said_to_be_and_costs_nothing() {
    let log: String = (0..30).map(head).collect();
    let whole = parquet(&records(&log));
    let read = |bytes: Vec<u8>| {
        let mut table = Table::open(
            Form::Parquet,
            Box::new(Cursor::new(bytes)),
            1 << 20,
            1 << 20,
        );
        let mut row = Row::default();
        let mut rows = 0;
        while table.next(&mut row) {
            rows += 1;
            assert!(rows <= 100_000, "rows without an end");
        }
        (rows, table.take_error())
    };
    assert_eq!(read(whole.clone()), (30, None));
    for length in 0..whole.len() {
        let (rows, error) = read(whole[..length].to_vec());
        assert!(rows == 0 && error.is_some(), "{length}");
    }
    for at in 0..whole.len() {
        for flip in [0x01, 0x80, 0xff] {
            let mut damaged = whole.clone();
            damaged[at] ^= flip;
            // Whatever it gives: it comes back.
            drop(read(damaged));
        }
    }
    let report = Folder::with("n1/text_log.parquet", &whole[..whole.len() - 3]).report();
    assert!(
        !product::input(&report, "text_log.parquet")
            .problems
            .is_empty()
            || !report.complete
            || product::input(&report, "text_log.parquet").format != "clickhouse"
    );
}

#[test]
fn the_files_of_another_program_may_be_damaged_too() {
    let bytes = fs::read(repository("tests/cases/tables/foreign/pyarrow.parquet")).unwrap();
    for at in (0..bytes.len()).step_by(7) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x55;
        let reader = Box::new(Cursor::new(damaged));
        let mut table = Table::open(Form::Parquet, reader, 1 << 20, 1 << 20);
        let mut row = Row::default();
        let mut rows = 0;
        while table.next(&mut row) {
            rows += 1;
        }
        assert!(rows <= 100_000, "{at}");
    }
}
