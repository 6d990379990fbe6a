//! Copies of a log, and files that only quote one, add nothing to a count. Every expected value is counted by hand.

use crate::counting::refused;
use crate::product::{self, Folder, count, total};

/// Three refusals, a minute apart.
fn three() -> String {
    ["10:00:00", "10:01:00", "10:02:00"]
        .map(|at| refused(&format!("{at}.000000"), "n2"))
        .concat()
}

#[test]
fn what_was_collected_while_it_was_rotated_counts_once() {
    let log = three();
    let first = refused("10:00:00.000000", "n2");
    let folder = Folder::with("n1/clickhouse-server.log", &first);
    folder.put("n1/clickhouse-server.log.0", &log);
    let report = folder.report();
    assert_eq!(total(&report, "relink-refused"), 3);
    let cut = product::input(&report, "server.log");
    assert_eq!(product::problems(cut), [("duplicate-piece", None)]);
}

#[test]
fn what_was_set_aside_or_downloaded_twice_counts_once() {
    for name in [
        "clickhouse-server.log~",
        "clickhouse-server.log.bak",
        "clickhouse-server (1).log",
        "server.log",
    ] {
        let folder = Folder::with("n1/clickhouse-server.log", three());
        folder.put(&format!("n1/{name}"), three());
        let report = folder.report();
        assert_eq!(total(&report, "relink-refused"), 3, "{name}");
    }
}

#[test]
fn dated_pieces_are_pieces_of_their_log() {
    let at = |time: &str| refused(time, "n2");
    let folder = Folder::with("n1/clickhouse-server.log", at("10:02:00.000000"));
    folder.put("n1/clickhouse-server.log-20260901", at("10:01:00.000000"));
    folder.put(
        "n1/clickhouse-server.log-20260831.gz",
        product::gzip(at("10:00:00.000000").as_bytes()),
    );
    let report = folder.report();
    assert_eq!(count(&report, "relink-refused", "n1"), 3);
    let row = product::signal(&report, "relink-refused", "n1").unwrap();
    assert_eq!(row.first.as_deref(), Some("2026-09-01T10:00:00.000000"));
    assert_eq!(row.suspect, 0);
}

#[test]
fn a_document_that_quotes_a_log_is_none() {
    let folder = Folder::with("n1/clickhouse-server.log", three());
    folder.put("ticket.md", three());
    folder.put("n1/errors.html", three());
    let report = folder.report();
    assert_eq!(total(&report, "relink-refused"), 3);
    assert_eq!(product::input(&report, "ticket.md").records, 0);
}

#[test]
fn a_folder_that_is_given_in_two_spellings_is_read_once() {
    let folder = Folder::with("in/n1/clickhouse-server.log", three());
    let plain = folder.path().join("in");
    let detour = folder.path().join("in/n1/../../in");
    let mut plan = product::plan(&plain);
    plan.roots.push(detour);
    assert_eq!(total(&product::report_of(&plan), "relink-refused"), 3);
}

#[cfg(target_os = "linux")]
#[test]
fn paths_that_differ_only_in_bytes_that_are_no_text_stay_two() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let folder = Folder::new();
    for name in [&b"n\xfe"[..], b"n\xff"] {
        let node = folder.path().join(OsStr::from_bytes(name));
        std::fs::create_dir(&node).unwrap();
        std::fs::write(node.join("clickhouse-server.log"), three()).unwrap();
    }
    let report = folder.report();
    assert_eq!(count(&report, "relink-refused", "n\\xfe"), 3);
    assert_eq!(count(&report, "relink-refused", "n\\xff"), 3);
}

#[test]
fn a_server_log_that_begins_with_a_hole_is_not_passed_over_in_silence() {
    let folder = Folder::with("n1/clickhouse-server.log", three());
    folder.put("n2/clickhouse-server.log", vec![0; 70_000]);
    let report = folder.report();
    let hole = product::input(&report, "n2/clickhouse-server.log");
    assert_eq!(product::problems(hole), [("unreadable", None)]);
    assert!(!report.complete);
}
