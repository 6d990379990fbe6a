//! Tables: documented, harmless to a spreadsheet, and with the counts of `report.json`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use casdiag::report::tables::{FORMS, Kind, TABLES};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;

use crate::product::{Folder, analyze, record, repository};

/// A table as text: its header, and its rows.
type Cells = (Vec<String>, Vec<Vec<String>>);

fn csv(path: &Path) -> Cells {
    let mut reader = csv::Reader::from_path(path).unwrap();
    let strings = |it: &csv::StringRecord| it.iter().map(str::to_owned).collect::<Vec<_>>();
    let header = strings(reader.headers().unwrap());
    let rows = reader.records().map(|it| strings(&it.unwrap())).collect();
    (header, rows)
}

fn parquet(path: &Path) -> Cells {
    let reader = SerializedFileReader::new(fs::File::open(path).unwrap()).unwrap();
    let schema = reader.metadata().file_metadata().schema();
    let header = schema.get_fields().iter().map(|it| it.name().to_owned());
    let header = header.collect();
    let cell = |field: &Field| {
        if let Field::Str(text) = field {
            text.clone()
        } else if let Field::Long(number) = field {
            number.to_string()
        } else {
            assert_eq!(*field, Field::Null);
            String::new()
        }
    };
    let rows = reader.get_row_iter(None).unwrap().map(|row| {
        let row = row.unwrap();
        row.get_column_iter()
            .map(|(_, field)| cell(field))
            .collect()
    });
    (header, rows.collect())
}

#[test]
fn every_column_is_documented_and_no_other() {
    let text = fs::read_to_string(repository("docs/tables.md")).unwrap();
    let mut documented: Vec<(String, Vec<(String, String)>)> = Vec::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("## ") {
            documented.push((name.to_owned(), Vec::new()));
        } else if let Some(row) = line.strip_prefix("| `") {
            let (name, rest) = row.split_once("` | ").unwrap();
            let (holds, meaning) = rest.split_once(" | ").unwrap();
            assert!(meaning.len() > 4, "{line}");
            let columns = &mut documented.last_mut().unwrap().1;
            columns.push((name.to_owned(), holds.to_owned()));
        }
    }
    let written: Vec<(String, Vec<(String, String)>)> = TABLES
        .iter()
        .map(|table| {
            let columns = table.columns.iter().map(|column| {
                let kind = match column.kind {
                    Kind::Text => "text",
                    Kind::Number => "number",
                };
                (column.name.to_owned(), kind.to_owned())
            });
            (table.name.to_owned(), columns.collect())
        })
        .collect();
    assert_eq!(written, documented);
}

#[test]
fn both_forms_have_the_rows_and_sums_of_the_report() {
    let out = Folder::new();
    let folder = out.path().join("out");
    let ran = analyze(
        &repository("samples/incidents"),
        &["--out", folder.to_str().unwrap(), "--format", "json"],
    );
    let report = ran.report();
    let mut tables = BTreeMap::new();
    for table in TABLES {
        let path = |extension: &str| folder.join(format!("tables/{}.{extension}", table.name));
        let (text, exact) = (csv(&path("csv")), parquet(&path("parquet")));
        assert_eq!(text.0, exact.0, "{}", table.name);
        assert_eq!(text.1.len(), exact.1.len(), "{}", table.name);
        for (at, column) in table.columns.iter().enumerate() {
            if column.kind == Kind::Number {
                let of =
                    |cells: &Cells| cells.1.iter().map(|it| it[at].clone()).collect::<Vec<_>>();
                assert_eq!(of(&text), of(&exact), "{}.{}", table.name, column.name);
            }
        }
        tables.insert(table.name, exact);
    }
    let sum = |table: &str, column: &str| -> u64 {
        let (header, rows) = &tables[table];
        let at = header.iter().position(|it| it == column).unwrap();
        rows.iter()
            .map(|it| it[at].parse::<u64>().unwrap_or(0))
            .sum()
    };
    let stamped = report.timeline.series.iter().flat_map(|it| &it.points);
    assert_eq!(
        sum("counts", "count"),
        stamped.map(|(_, count)| count).sum::<u64>()
    );
    let signals = report.signals.iter().map(|it| it.count);
    assert_eq!(sum("signals", "count"), signals.sum::<u64>());
    let codes = report.codes.iter().chain(&report.codes_nested);
    assert_eq!(sum("codes", "count"), codes.map(|it| it.count).sum::<u64>());
    let unexplained = report.coverage.unexplained.iter().map(|it| it.count);
    assert_eq!(sum("templates", "count"), unexplained.sum::<u64>());
    assert_eq!(
        sum("inputs", "bytes"),
        report.inputs.iter().map(|it| it.bytes).sum::<u64>()
    );
    assert_eq!(tables["findings"].1.len(), report.findings.len());
    let problems = report.wal.iter().map(|it| it.problems.len());
    assert_eq!(tables["wal_problems"].1.len(), problems.sum::<usize>());
}

#[test]
fn a_minute_is_that_of_the_servers_clock() {
    let error = "Code: 210. DB::Exception: Source n2 did not prove it still holds the manifest it offered for part all_1_1_0 by relink; the relink is abandoned";
    let lines = [
        "09:59:59.999999",
        "10:00:00.000000",
        "10:00:59.000000",
        "12:01:07.000000",
    ];
    let log: String = lines
        .iter()
        .map(|at| record(at, "Error", "q.s", error))
        .collect();
    let folder = Folder::with("n1/clickhouse-server.log", log);
    let report = folder.report();
    let counts = TABLES.iter().find(|it| it.name == "counts").unwrap();
    let mut bytes = Vec::new();
    counts.write(&report, &FORMS[0], &mut bytes).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let refused: Vec<&str> = text
        .lines()
        .filter(|it| it.starts_with("relink-refused,"))
        .collect();
    assert_eq!(
        refused,
        [
            "relink-refused,.,n1,2026-09-01T09:59:00.000000,0,1",
            "relink-refused,.,n1,2026-09-01T10:00:00.000000,60,2",
            "relink-refused,.,n1,2026-09-01T12:01:00.000000,7320,1",
        ]
    );
}

#[test]
fn no_cell_of_a_strangers_text_is_a_formula() {
    let folder = Folder::with(
        "=cmd|calc/clickhouse-server.log",
        record("10:00:00.000000", "Error", "a", "=HYPERLINK(1)")
            + &record("10:00:01.000000", "Error", "a", "@SUM(1)")
            + &record(
                "10:00:02.000000",
                "Error",
                "a",
                "Code: 210. DB::Exception: \t=1+1 \x1b[31m",
            ),
    );
    let out = folder.path().join("out");
    analyze(
        &folder.path().join("=cmd|calc"),
        &["--out", out.to_str().unwrap()],
    );
    let mut cells = 0;
    for table in TABLES {
        let path = out.join(format!("tables/{}.csv", table.name));
        for row in csv(&path).1 {
            for (cell, column) in row.iter().zip(table.columns) {
                assert!(
                    column.kind == Kind::Number
                        || !cell.starts_with(['=', '+', '-', '@', '\t', '\r']),
                    "{}.{}: {cell}",
                    table.name,
                    column.name
                );
                assert!(!cell.contains(char::is_control), "{cell}");
                cells += 1;
            }
        }
    }
    assert!(cells > 0);
    let (_, templates) = csv(&out.join("tables/templates.csv"));
    assert!(
        templates.iter().any(|it| it[0].starts_with("'=HYPERLINK")),
        "{templates:?}"
    );
}
