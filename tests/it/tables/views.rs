//! One incident as a log and as exports of `system.text_log`: the same signals, counts and findings to the number, and
//! with both beside each other each record once.

use std::fs;

use casdiag::report::model::Report;

use super::write::{Logged, csv, json_each_row, parquet, records, tsv, vertical};
use crate::product::{self, Folder, repository};

const LOG: &str = "clickhouse-server.log";

/// The main logs of two nodes with a storm of refused relinks.
fn incident() -> Vec<(&'static str, String)> {
    let input = repository("tests/cases/logs/h01-cas-relink-210-two-nodes/input");
    let nodes = [("marten1", LOG), ("marten2", "clickhouse-server.err.log")];
    let read = |(node, file): (&'static str, &str)| {
        let text = fs::read_to_string(input.join(node).join(file)).unwrap();
        // What stands before the first record belongs to none.
        let start = text.find("\n2026.").map_or(0, |at| at + 1);
        let start = if text.starts_with("2026.") { 0 } else { start };
        (node, text[start..].to_owned())
    };
    nodes.map(read).to_vec()
}

/// Everything that is counted and said, without where it was read.
fn told(report: &Report) -> String {
    let mut report = report.clone();
    report.inputs.clear();
    for row in &mut report.signals {
        row.evidence.clear();
    }
    for finding in &mut report.findings {
        finding.evidence.clear();
    }
    for row in &mut report.coverage.unexplained {
        row.example = None;
    }
    for row in &mut report.coverage.near_misses {
        row.example = None;
    }
    serde_json::to_string_pretty(&report).unwrap()
}

fn exported(write: impl Fn(&[Logged]) -> Vec<u8>, file: &str) -> Report {
    let folder = Folder::new();
    for (node, log) in incident() {
        folder.put(&format!("{node}/{file}"), write(&records(&log)));
    }
    folder.report()
}

fn as_log() -> Report {
    let folder = Folder::new();
    for (node, log) in incident() {
        folder.put(&format!("{node}/{LOG}"), log);
    }
    folder.report()
}

#[test]
fn an_export_of_the_text_log_says_what_the_log_says() {
    let log = as_log();
    let expected = told(&log);
    // Typed from the case: 27 and 21 refusals, one storm.
    assert_eq!(product::total(&log, "relink-refused"), 48);
    assert_eq!(product::findings(&log, "code-210-storm").len(), 1);
    for (file, report) in [
        (
            "text_log.tsv",
            exported(|it| tsv(it, false).into_bytes(), "text_log.tsv"),
        ),
        (
            "text_log.csv",
            exported(|it| csv(it).into_bytes(), "text_log.csv"),
        ),
        (
            "text_log.jsonl",
            exported(|it| json_each_row(it).into_bytes(), "text_log.jsonl"),
        ),
        (
            "system.text_log.txt",
            exported(|it| vertical(it).into_bytes(), "system.text_log.txt"),
        ),
        ("text_log.parquet", exported(parquet, "text_log.parquet")),
    ] {
        let found = told(&report);
        if found != expected {
            let differ = found.lines().zip(expected.lines()).find(|(a, b)| a != b);
            panic!("{file}: {differ:?}");
        }
        for input in &report.inputs {
            let table = input.table.as_ref().unwrap();
            assert_eq!(table.name.as_deref(), Some("text_log"), "{file}");
            assert_eq!(table.rows, input.records, "{file}");
            assert_eq!(input.problems.len(), 0, "{file}: {:?}", input.problems);
        }
    }
}

#[test]
fn a_record_in_the_log_and_in_its_exports_counts_once() {
    let expected = told(&as_log());
    let folder = Folder::new();
    for (node, log) in incident() {
        folder.put(&format!("{node}/{LOG}"), &log);
        let records = records(&log);
        folder.put(&format!("{node}/tables/text_log.tsv"), tsv(&records, false));
        folder.put(&format!("{node}/again.text_log.parquet"), parquet(&records));
    }
    assert_eq!(told(&folder.report()), expected);
}

#[test]
fn an_export_in_the_order_of_parts_is_matched_as_one_in_the_order_of_time() {
    let expected = told(&as_log());
    let (alone, beside) = (Folder::new(), Folder::new());
    for (node, log) in incident() {
        // Every third row of each, so that stamps go back by the whole log twice.
        let rows = records(&log);
        let parts = (0..3).flat_map(|part| rows.iter().skip(part).step_by(3).cloned());
        let rows: Vec<Logged> = parts.collect();
        alone.put(&format!("{node}/text_log.tsv"), tsv(&rows, false));
        beside.put(&format!("{node}/{LOG}"), &log);
        beside.put(&format!("{node}/text_log.parquet"), parquet(&rows));
    }
    assert_eq!(told(&alone.report()), expected);
    assert_eq!(told(&beside.report()), expected);
}

#[test]
fn an_export_with_full_seconds_alone_is_matched_by_its_text() {
    let expected = told(&as_log());
    let folder = Folder::new();
    for (node, log) in incident() {
        folder.put(&format!("{node}/{LOG}"), &log);
        folder.put(&format!("{node}/text_log.tsv"), tsv(&records(&log), true));
    }
    assert_eq!(told(&folder.report()), expected);
}

#[test]
fn an_export_that_is_sorted_in_several_stretches_is_matched_as_a_short_one() {
    // 45 MB, exported with its second half first: the log is long past what the export says last.
    let filler = "x".repeat(900);
    let one = |nth: u32| {
        let (minute, second) = (nth / 60 % 60, nth % 60);
        let hour = 10 + nth / 3600;
        format!("2026.09.01 {hour}:{minute:02}:{second:02}.000001 [ 7 ] {{}} <Debug> a: {filler}\n")
    };
    let count = 48_000;
    let log: String = (0..count).map(one).collect();
    let mut rows = records(&log);
    rows.rotate_left(24_000);
    let folder = Folder::new();
    folder.put("n1/clickhouse-server.log", &log);
    folder.put("n1/text_log.tsv", tsv(&rows, false));
    let report = folder.report();
    assert_eq!(report.records.total, u64::from(count));
    let alone = Folder::with("n1/text_log.tsv", tsv(&rows, false)).report();
    assert_eq!(alone.records.total, u64::from(count));
    let times = |report: &Report, name: &str| {
        let input = report.inputs.iter().find(|it| it.path.ends_with(name));
        input.map(|it| (it.first.clone(), it.last.clone()))
    };
    assert_eq!(times(&alone, "text_log.tsv"), times(&report, LOG));
}

fn line(second: u32, level: &str, message: &str) -> String {
    format!("2026.09.01 10:00:{second:02}.000001 [ 7 ] {{}} <{level}> a: {message}\n")
}

#[test]
fn what_only_the_export_has_counts_and_of_equal_records_the_larger_number() {
    // The log has lost its first two records, and one of two equal ones.
    let whole: String = (0..10).map(|at| line(at, "Information", "x")).collect();
    let whole = whole + &line(30, "Warning", "twice") + &line(30, "Warning", "twice");
    let log: String = (2..10).map(|at| line(at, "Information", "x")).collect();
    let log = log + &line(20, "Debug", "not in the table") + &line(30, "Warning", "twice");
    let folder = Folder::new();
    folder.put("n1/clickhouse-server.log", &log);
    folder.put("n1/clickhouse-server.err.log", line(30, "Warning", "twice"));
    folder.put("n1/text_log.tsv", tsv(&records(&whole), false));
    let report = folder.report();
    assert_eq!(report.records.total, 13);
    let expected = [("debug", 1), ("info", 10), ("warning", 2)];
    let found: Vec<(&str, u64)> = report
        .records
        .by_level
        .iter()
        .map(|(level, n)| (level.as_str(), *n))
        .collect();
    assert_eq!(found, expected);
    assert_eq!(report.records.by_node["n1"], 13);
}

#[test]
fn a_newline_in_a_message_forges_no_record() {
    let forged = "bad\n2026.09.01 10:00:05.000000 [ 1 ] {} <Fatal> BaseDaemon: forged";
    let mut rows = records(&line(1, "Information", "x"));
    rows[0].message = forged.to_owned();
    for (name, text) in [
        ("text_log.tsv", tsv(&rows, false)),
        ("text_log.csv", csv(&rows)),
        ("text_log.jsonl", json_each_row(&rows)),
        ("text_log.txt", vertical(&rows)),
    ] {
        let report = Folder::with(&format!("n1/{name}"), text).report();
        assert_eq!(report.records.total, 1, "{name}");
        assert_eq!(report.records.continuation_lines, 1, "{name}");
        assert!(!report.records.by_level.contains_key("fatal"), "{name}");
    }
}

#[test]
fn the_parquet_of_other_programs_is_read() {
    let cases = repository("tests/cases/tables/foreign");
    for name in ["pyarrow.parquet", "duckdb.parquet"] {
        let bytes = fs::read(cases.join(name)).unwrap();
        let report = Folder::with("m1/text_log.parquet", bytes).report();
        assert_eq!(report.records.total, 34, "{name}");
        let level = |key: &str| report.records.by_level[key];
        assert_eq!(
            (level("error"), level("warning"), level("info")),
            (9, 15, 10),
            "{name}"
        );
        let codes: Vec<(u32, u64)> = product::codes(&report).into_iter().collect();
        assert_eq!(codes, [(60, 2), (241, 4), (252, 3)], "{name}");
        assert_eq!(product::count(&report, "memory-limit", "m1"), 4, "{name}");
    }
}
