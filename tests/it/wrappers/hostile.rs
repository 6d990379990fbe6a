//! Wrapped files that were made to do harm: read within bounds, and nothing forged.

use std::fmt::Write as _;

use crate::product::{Folder, problems, record, report};

const HEAD: &str = "2026.09.01 10:00:00.000001 [ 7 ] {} <Fatal> BaseDaemon: ########";

/// Every wrapper's line around a text, its message escaped as the wrapper does.
fn wrappings(text: &str) -> Vec<(&'static str, String)> {
    let json = serde_json::to_string(text).unwrap();
    let octal = text.replace('\n', "#012");
    vec![
        ("syslog", format!("Sep 01 10:00:00 h p[7]: {octal}\n")),
        (
            "journal",
            format!(
                "{{\"__REALTIME_TIMESTAMP\":\"1788305303217753\",\"_HOSTNAME\":\"h\",\"SYSLOG_IDENTIFIER\":\"p\",\"MESSAGE\":{json}}}\n"
            ),
        ),
        (
            "json-logger",
            format!(
                "{{\"date_time\":\"1788256800.000000\",\"thread_id\":\"7\",\"level\":\"Error\",\"query_id\":\"\",\"logger_name\":\"a\",\"message\":{json}}}\n"
            ),
        ),
    ]
}

#[test]
fn a_newline_that_a_wrapper_escaped_begins_no_record() {
    let text =
        record("10:00:00.000001", "Error", "a", "(from 1.1.1.1:1) SELECT") + HEAD + "\n" + HEAD;
    for (name, line) in wrappings(&text) {
        let report = Folder::with("x.log", line.repeat(5)).report();
        assert_eq!(report.records.total, 5, "{name}");
        assert_eq!(report.records.by_level.get("fatal"), None, "{name}");
    }
}

#[test]
fn objects_nested_without_end_and_cut_texts_end_no_run() {
    let deep = "{\"log\":".repeat(50_000) + "\n" + &"[".repeat(50_000) + "\n";
    let cut = "{\"log\":\"2026.09.01 10:00:00.000001 [ 7 ] {} <Error> a: b\\";
    let halves = r#"{"log":"2026.09.01 10:00:00.000002 [ 7 ] {} <Error> a: \ud83d \ude00\u00\n","stream":"stderr","time":""}"#;
    let log = format!("{halves}\n{halves}\n{halves}\n{deep}{cut}");
    let report = Folder::with("n1/clickhouse-server.log", log).report();
    // The three whole objects, and what there is of the one that is cut.
    assert_eq!(report.records.total, 4);
}

#[test]
fn a_line_beyond_the_bound_is_cut_and_said_to_be() {
    let folder = Folder::new();
    let prefix = "ch-1  | ";
    let huge = "x".repeat(3 << 20);
    let log = format!(
        "{prefix}{}{prefix}{}{}{huge}\n{prefix}{}",
        record("10:00:00.000001", "Error", "a", "b"),
        record("10:00:00.000002", "Error", "a", "c"),
        prefix,
        record("10:00:00.000003", "Error", "a", "d"),
    );
    folder.put("compose.log", log);
    let mut plan = crate::product::plan(folder.path());
    plan.limits.record_bytes = 1 << 20;
    let report = crate::product::report_of(&plan);
    assert_eq!(report.records.total, 3);
    let kinds: Vec<&str> = report.inputs[0]
        .problems
        .iter()
        .map(|it| it.kind.as_str())
        .collect();
    assert!(kinds.contains(&"record-too-long"), "{kinds:?}");
    assert!(!report.complete);
}

#[test]
fn services_without_number_are_bounded() {
    let mut log = String::new();
    for at in 0..3000 {
        write!(
            log,
            "s{at}  | {}",
            record("10:00:00.000001", "Error", "a", "b")
        )
        .unwrap();
    }
    let folder = Folder::with("compose.log", log);
    let report = report(folder.path());
    assert_eq!(report.nodes.len(), 256);
    assert_eq!(problems(&report.inputs[0]), [("unparsed-lines", Some(257))]);
    assert!(
        report.inputs[0].problems[0]
            .detail
            .starts_with("2744 lines")
    );
}

#[test]
fn names_of_services_and_hosts_are_inert() {
    let line = format!(
        "Sep 01 10:00:00 <script>alert(1)</script> p[7]: {}",
        record("10:00:00.000001", "Error", "a", "b")
    );
    let folder = Folder::with("x.log", line.repeat(3));
    let ran = crate::product::analyze(folder.path(), &["--format", "html"]);
    assert!(
        !ran.out.contains("<script>alert"),
        "{}",
        ran.code.unwrap_or_default()
    );
}

#[test]
fn the_blocks_do_not_show_in_the_report() {
    let mut log = String::new();
    for at in 0..500 {
        let one = record(
            &format!("10:00:00.{at:06}"),
            "Error",
            "a",
            "Code: 210. x, Stack trace:\n\n0. f\n1. g",
        );
        for line in one.lines() {
            writeln!(log, "ch-{}  | {line}", at % 3).unwrap();
        }
    }
    let folder = Folder::with("compose.log", log);
    let whole = serde_json::to_string(&report(folder.path())).unwrap();
    for block_bytes in [64, 700, 4096] {
        let mut plan = crate::product::plan(folder.path());
        plan.limits.block_bytes = block_bytes;
        plan.threads = 2;
        let cut = serde_json::to_string(&crate::product::report_of(&plan)).unwrap();
        assert!(cut == whole, "{block_bytes}");
    }
}
