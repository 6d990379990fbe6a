//! One table in every form: the same rows from each. What they hold is typed from the README beside them.

use std::fs;
use std::io::Cursor;

use casdiag::parsers::tables::{Form, Row, RowFault, Table, sniff};

use crate::product::repository;

/// How a value with two lines, and one with a bar, comes out of a form.
const TEXTS: [&str; 6] = [
    "plain",
    "two\nlines",
    "tab\tand 'quote' \\ back | pipe",
    "\"dq\", comma",
    "юни │ box",
    "",
];

/// The endings of the files, and the form that each is.
const FORMS: &[(&str, Form)] = &[
    ("TSVWithNames", Form::Tsv),
    ("TSVWithNamesAndTypes", Form::TsvTypes),
    ("CSVWithNames", Form::Csv),
    ("CSVWithNamesAndTypes", Form::CsvTypes),
    ("JSON", Form::Json),
    ("JSONCompact", Form::JsonCompact),
    ("JSONEachRow", Form::JsonEachRow),
    ("JSONCompactEachRowWithNames", Form::JsonCompactEachRow),
    ("Vertical", Form::Vertical),
    ("Pretty", Form::Pretty),
    ("PrettyAscii", Form::Pretty),
    ("PrettyColor", Form::Pretty),
    ("PrettyCompact", Form::Pretty),
    ("PrettyCompactAscii", Form::Pretty),
    ("PrettyCompactColor", Form::Pretty),
    ("PrettyCompactOld", Form::Pretty),
    ("PrettySpace", Form::PrettySpace),
    ("PrettySpaceAscii", Form::PrettySpace),
    ("PrettySpaceColor", Form::PrettySpace),
    ("Markdown", Form::Markdown),
    ("Parquet", Form::Parquet),
];

fn bytes(ending: &str) -> Vec<u8> {
    let folder = repository("tests/cases/tables/forms");
    fs::read(folder.join(format!("table.{ending}"))).unwrap()
}

/// The cells of every row by name, `None` for `NULL`, and what is wrong with the row.
type Read = Vec<(Vec<Option<String>>, Option<RowFault>)>;

fn rows(form: Form, bytes: Vec<u8>) -> Read {
    let mut table = Table::open(form, Box::new(Cursor::new(bytes)), 1 << 20, 1 << 20);
    let mut row = Row::default();
    let mut rows = Vec::new();
    while table.next(&mut row) {
        let cell = |name: &str| {
            let cell = table.columns().find(name).and_then(|at| row.get(at));
            cell.map(|cell| String::from_utf8(cell.to_vec()).unwrap())
        };
        let names = ["id", "txt", "nul", "t", "lv", "arr", "m"];
        rows.push((names.map(cell).to_vec(), row.fault));
    }
    assert_eq!(table.take_error(), None);
    rows
}

/// A bar in a cell of a form that draws bars and escapes none, where a tab before it moves it from its place.
fn is_undecidable(ending: &str, row: usize) -> bool {
    let draws_ascii_bars = matches!(ending, "Markdown" | "PrettyAscii" | "PrettyCompactAscii");
    let counts_any_bar = matches!(
        ending,
        "PrettyColor" | "Pretty" | "PrettyCompact" | "PrettyCompactColor" | "PrettyCompactOld"
    );
    row == 2 && (draws_ascii_bars || counts_any_bar) || row == 4 && ending == "Markdown"
}

#[test]
fn every_form_gives_the_same_rows() {
    for &(ending, form) in FORMS {
        let rows = rows(form, bytes(ending));
        assert_eq!(rows.len(), 6, "{ending}");
        for (at, (cells, fault)) in rows.iter().enumerate() {
            if is_undecidable(ending, at) {
                assert_eq!(*fault, Some(RowFault::Ragged), "{ending} row {at}");
                assert_eq!(
                    cells[0].as_deref(),
                    Some(&*(at + 1).to_string()),
                    "{ending}"
                );
                continue;
            }
            let map = if matches!(
                form,
                Form::Json | Form::JsonCompact | Form::JsonEachRow | Form::JsonCompactEachRow
            ) {
                format!("{{\"k'\":{at}}}")
            } else if matches!(form, Form::Tsv | Form::TsvTypes | Form::Markdown) {
                // A text that begins like a map is escaped, a map is not, and without types nobody can tell.
                format!("{{'k'':{at}}}")
            } else {
                format!("{{'k\\'':{at}}}")
            };
            let nul = (at != 1).then_some("v");
            let level = ["Error", "Warning"][at % 2];
            let id = (at + 1).to_string();
            let expected = [
                Some(id.as_str()),
                Some(TEXTS[at]),
                nul,
                Some("2026-11-29 16:35:37.805891"),
                Some(level),
                Some("[1,2]"),
                Some(&map),
            ];
            let found: Vec<Option<&str>> = cells.iter().map(Option::as_deref).collect();
            assert_eq!(found, expected, "{ending} row {at}");
            assert_eq!(*fault, None, "{ending} row {at}");
        }
    }
}

#[test]
fn a_form_is_told_by_its_beginning() {
    for &(ending, form) in FORMS {
        // A table that nobody knows: what has a form of its own is told, lines of JSON and words apart are not.
        let sample = bytes(ending);
        let told = sniff(&sample, "x/table.tsv.csv").map(|sniffed| sniffed.form);
        let may_be_anything = matches!(
            form,
            Form::JsonEachRow | Form::JsonCompactEachRow | Form::PrettySpace
        );
        let expected = (!may_be_anything).then_some(form);
        assert_eq!(told, expected, "{ending}");
    }
}

#[test]
fn a_record_of_any_log_is_no_table() {
    for text in [
        "2026.08.21 09:47:56.948992 [ 60 ] {} <Error> a: b\n",
        "{\"date_time\":\"1764434137.805891\",\"thread_name\":\"\",\"thread_id\":\"1\",\"level\":\"Error\",\"query_id\":\"\",\"logger_name\":\"a\",\"message\":\"b\",\"source_file\":\"c\",\"source_line\":\"1\"}\n",
        "service-1  | 2026.08.21 09:47:56.948992 [ 60 ] {} <Error> a: b\n",
        "# a heading\n\nsome words, and more words\n",
        "a,b\n1,2\n",
        "",
    ] {
        let told = sniff(text.as_bytes(), "node/file.log");
        assert!(told.is_none(), "{text}: {told:?}");
    }
}

#[test]
fn tables_are_told_by_columns_and_names_decide_what_columns_leave_open() {
    for (heading, name, table) in [
        ("metric\tvalue\tdescription", "metrics.tsv", "metrics"),
        (
            "metric\tvalue\tdescription",
            "ch1/asynchronous_metrics.tsv",
            "asynchronous_metrics",
        ),
        (
            "name\tcode\tvalue\tlast_error_time",
            "whatever.tsv",
            "errors",
        ),
        ("name\tvalue", "system.errors.tsv", "errors"),
        ("event_time\tcode\terror\tvalue", "x.tsv", "error_log"),
        (
            "event_time\tlevel\tlogger_name\tmessage",
            "text_log_0.tsv",
            "text_log",
        ),
        (
            "event_time\tevent_type\tgc_id\tround\toutcome",
            "content_addressed_garbage_collection_log.tsv",
            "cas_gc_log",
        ),
    ] {
        let told = sniff(format!("{heading}\n").as_bytes(), name).unwrap();
        assert_eq!(
            told.table.map(|it| it.name),
            Some(table),
            "{heading} in {name}"
        );
    }
    let told = sniff(b"colour\tshape\nred\tround\n", "things.tsv").unwrap();
    assert!(told.table.is_none());
}
