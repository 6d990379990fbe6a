//! Exports and logs as editors and shells of other systems save them, and rows that are spread over lines.

use super::write::{self, Logged};
use crate::product::{self, Folder, findings, record};

/// Four records, three of them errors.
fn log() -> String {
    let lines = [
        ("10:00:00.000001", "Error", "first"),
        ("10:00:01.000001", "Information", "second"),
        (
            "10:00:02.000001",
            "Error",
            "third, \"quoted\" {and} [bracketed]",
        ),
        ("10:00:03.000001", "Error", "fourth"),
    ];
    lines
        .map(|(time, level, message)| record(time, level, "x", message))
        .concat()
}

fn rows() -> Vec<Logged> {
    write::records(&log())
}

/// A row a line, spread over lines with this indentation.
fn spread(indent: &str, around: (&str, &str), between: &str) -> String {
    let rows = write::json_each_row(&rows());
    let row = |line: &str| {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = serde_json::to_string_pretty(&value).unwrap();
        let lines: Vec<String> = text.lines().map(|it| format!("{indent}{it}")).collect();
        lines.join("\n")
    };
    let rows: Vec<String> = rows.lines().map(row).collect();
    format!("{}{}{}", around.0, rows.join(between), around.1)
}

#[test]
fn an_export_that_begins_with_a_byte_order_mark_is_read() {
    for (name, text) in [
        ("text_log.tsv", write::tsv(&rows(), false)),
        ("text_log.tsv", write::tsv(&rows(), true)),
        ("text_log.csv", write::csv(&rows())),
        ("text_log.jsonl", write::json_each_row(&rows())),
        ("text_log.json", spread("", ("", "\n"), "\n")),
    ] {
        let folder = Folder::with(&format!("n1/{name}"), format!("\u{feff}{text}"));
        let report = folder.report();
        let input = product::input(&report, name);
        assert_eq!(
            (input.format.as_str(), input.records),
            ("clickhouse", 4),
            "{text}"
        );
        assert_eq!(report.records.by_level["error"], 3);
        // Beside the log, which begins with one, too, every record counts once.
        folder.put("n1/clickhouse-server.log", format!("\u{feff}{}", log()));
        assert_eq!(folder.report().records.total, 4, "{text}");
    }
}

#[test]
fn rows_of_json_that_are_spread_over_lines_are_read() {
    for text in [
        // As `jq .` and `PrettyJSONEachRow` write them, and as an array.
        spread("", ("", "\n"), "\n"),
        spread("", ("", ""), "\n"),
        spread("  ", ("[\n", "\n]\n"), ",\n"),
    ] {
        let folder = Folder::with("n1/text_log.json", &text);
        let report = folder.report();
        let input = product::input(&report, "text_log.json");
        assert_eq!(
            (input.records, product::problems(input)),
            (4, vec![]),
            "{text}"
        );
        assert_eq!(report.records.by_level["error"], 3);
    }
}

#[test]
fn a_torn_row_takes_no_other_with_it() {
    let text = spread("", ("", "\n"), "\n");
    // The second row ends behind its first lines.
    let second = text.match_indices("\n{").next().unwrap().0 + 1;
    let third = text.match_indices("\n{").nth(1).unwrap().0 + 1;
    let cut = second + text[second..].match_indices('\n').nth(2).unwrap().0 + 1;
    let torn = format!("{}{}", &text[..cut], &text[third..]);
    let report = Folder::with("n1/text_log.json", torn).report();
    assert_eq!(report.records.total, 3);
    assert_eq!(report.records.by_level["error"], 3);
}

/// A text in UTF-16.
fn utf16(text: &str, mark: bool, write: fn(u16) -> [u8; 2]) -> Vec<u8> {
    let mark = if mark { "\u{feff}" } else { "" };
    format!("{mark}{text}")
        .encode_utf16()
        .flat_map(write)
        .collect()
}

/// A text in UTF-32.
fn utf32(text: &str, mark: bool, write: fn(u32) -> [u8; 4]) -> Vec<u8> {
    let mark = if mark { "\u{feff}" } else { "" };
    let text = format!("{mark}{text}");
    text.chars().map(u32::from).flat_map(write).collect()
}

#[test]
fn a_text_in_utf_16_or_utf_32_is_refused_with_what_to_do() {
    for (bytes, encoding) in [
        (utf16(&log(), true, u16::to_le_bytes), "UTF-16LE"),
        (utf16(&log(), true, u16::to_be_bytes), "UTF-16BE"),
        (utf16(&log(), false, u16::to_le_bytes), "UTF-16LE"),
        (
            utf16(&write::tsv(&rows(), false), true, u16::to_le_bytes),
            "UTF-16LE",
        ),
        (utf32(&log(), true, u32::to_le_bytes), "UTF-32LE"),
        (utf32(&log(), true, u32::to_be_bytes), "UTF-32BE"),
        (utf32(&log(), false, u32::to_le_bytes), "UTF-32LE"),
        (utf32(&log(), false, u32::to_be_bytes), "UTF-32BE"),
    ] {
        let folder = Folder::with("n1/clickhouse-server.log", log());
        folder.put("n2/saved.txt", &bytes);
        let report = folder.report();
        let saved = product::input(&report, "saved.txt");
        assert_eq!(product::problems(saved), [("unreadable", None)]);
        let detail = &saved.problems[0].detail;
        assert!(
            detail.contains(&format!("iconv -f {encoding} -t UTF-8")),
            "{detail}"
        );
        assert!(!report.complete);
    }
}

#[test]
fn a_document_on_one_line_is_refused_with_what_to_do() {
    let text = r#"{"meta":[{"name":"event_time","type":"DateTime"},{"name":"message","type":"String"}],"data":[{"event_time":"2026-09-01 10:00:00","message":"x"}],"rows":1}"#;
    let folder = Folder::with("n1/clickhouse-server.log", log());
    folder.put("n1/text_log.json", text);
    let report = folder.report();
    let document = product::input(&report, "text_log.json");
    assert_eq!(product::problems(document), [("unreadable", None)]);
    assert!(document.problems[0].detail.contains("jq -c '.data[]'"));
    // Another document that begins alike is none.
    folder.put("n1/text_log.json", r#"{"meta":{"name":"x"}}"#);
    assert!(folder.report().complete);
}

#[test]
fn an_array_of_rows_on_one_line_is_refused_with_what_to_do() {
    let row = |second: u8| {
        format!(
            r#"{{"event_time_microseconds":"2026-09-01 10:00:0{second}.000001","level":"Error","logger_name":"x","message":"[lost], it says"}}"#
        )
    };
    let report = |text: &str| {
        let folder = Folder::with("n1/clickhouse-server.log", log());
        folder.put("n2/text_log.json", text);
        folder.report()
    };
    let (first, second) = (row(1), row(2));
    for text in [
        format!("[{first},{second}]"),
        format!(" [ {first} , {second} ]\n"),
        format!("[{first}]\n"),
        "[{\"ts\":1,\"msg\":\"x\"},{\"ts\":2,\"msg\":\"y\"}]".to_owned(),
    ] {
        let report = report(&text);
        let array = product::input(&report, "text_log.json");
        assert_eq!(product::problems(array), [("unreadable", None)], "{text}");
        let detail = &array.problems[0].detail;
        assert!(detail.contains("jq -c '.[]'"), "{detail}");
        assert!(!report.complete);
    }
    // What has a row a line is read, and what holds no rows of a log is none.
    for (text, records) in [
        (format!("[{first},\n{second}]\n"), 2),
        (format!("[\n{first},\n{second}\n]\n"), 2),
        ("[{\"id\":1},{\"id\":2}]".to_owned(), 0),
    ] {
        let report = report(&text);
        assert!(report.complete, "{text}");
        let read = product::input(&report, "text_log.json").records;
        assert_eq!(read, records, "{text}");
    }
}

#[test]
fn a_listing_that_begins_with_a_byte_order_mark_is_read() {
    let folder = Folder::with("n1/clickhouse-keeper.log", log());
    folder.put(
        "n1/ls.txt",
        "\u{feff}changelog_1_5.bin\nchangelog_11_15.bin\n",
    );
    let report = folder.report();
    let found = findings(&report, "wal-listing-gap");
    assert_eq!(found.len(), 1);
}
