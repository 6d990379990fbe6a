//! Rules 1 and 2: what a record is, and that each counts once.

use std::collections::BTreeMap;

use super::{levels, refused};
use crate::product::{self, Folder, codes, count, record, total};

#[test]
fn rule_1_a_record_is_a_head_and_its_continuation_lines() {
    let log = "2026.09.01 10:00:00.000001 [ 7 ] {} <Error> a: Code: 60. DB::Exception: no table. (UNKNOWN_TABLE), Stack trace (when copying this message, always include the lines below):\n\
               \n0. DB::Exception::Exception() @ 0x000000001b9da388\n1. main @ 0x1\n (version 26.6.2)\n\
               2026.09.01 10:00:00.000002 [ 7 ] {q-1} <Debug> executeQuery: (from 1.1.1.1:1) SELECT 1\nFROM t\n\nWHERE x (stage: Complete)\n\
               2026.09.01 10:00:00.000003 [ 7 ] {} <Trace> a: b\n";
    let report = Folder::with("n1/clickhouse-server.log", log).report();
    assert_eq!(report.records.total, 3);
    assert_eq!(report.records.continuation_lines, 7);
    assert_eq!(report.records.unparsed_lines, 0);
    assert_eq!(levels(&report), [("debug", 1), ("error", 1), ("trace", 1)]);
    assert_eq!(codes(&report), BTreeMap::from([(60, 1)]));
}

#[test]
fn rule_2_a_record_of_both_files_counts_once() {
    let (a, b, c) = (
        refused("10:00:00.000001", "n2"),
        refused("10:00:00.000002", "n2"),
        refused("10:00:00.000003", "n3"),
    );
    let note = record("10:00:00.000004", "Notice", "a", "b");
    let debug = record("10:00:00.000005", "Debug", "a", "b");
    let folder = Folder::with(
        "n1/clickhouse-server.log",
        [&a[..], &b, &b, &note, &debug].concat(),
    );
    // `a` is in both; `b` twice in the main log and once here; `c` only here; another node's twin is another record.
    folder.put(
        "n1/clickhouse-server.err.log",
        [&a[..], &b, &c, &note].concat(),
    );
    folder.put("n2/clickhouse-server.err.log", &a);
    let report = folder.report();
    assert_eq!(
        report.records.by_node,
        BTreeMap::from([("n1".to_owned(), 6), ("n2".to_owned(), 1)])
    );
    assert_eq!(levels(&report), [("debug", 1), ("error", 5), ("info", 1)]);
    assert_eq!(
        (
            count(&report, "relink-refused", "n1"),
            count(&report, "relink-refused", "n2")
        ),
        (4, 1)
    );
    let raw = ["n1/clickhouse-server.log", "n1/clickhouse-server.err.log"]
        .map(|path| product::input(&report, path).records);
    assert_eq!(raw, [5, 4], "files are counted raw");
    let cited = &product::signal(&report, "relink-refused", "n1")
        .unwrap()
        .evidence;
    assert!(
        cited
            .iter()
            .filter(|it| !it.text.contains("Source n3"))
            .all(|it| it.path.ends_with("server.log")),
        "{cited:?}"
    );
}

#[test]
fn rule_2_the_larger_multiplicity_counts_on_either_side() {
    let a = refused("10:00:00.000001", "n2");
    for (main, err) in [(1, 3), (3, 1), (2, 2), (0, 2)] {
        let folder = Folder::with(
            "n1/clickhouse-server.log",
            a.repeat(main) + &record("10:00:01.000000", "Debug", "a", "b"),
        );
        folder.put("n1/clickhouse-server.err.log", a.repeat(err));
        let expected = u64::try_from(main.max(err)).unwrap();
        assert_eq!(
            total(&folder.report(), "relink-refused"),
            expected,
            "{main} and {err}"
        );
    }
}

#[test]
fn a_cited_line_that_is_cut_says_so_and_ends_at_a_whole_character() {
    let line = refused("10:00:00.000000", "n2");
    let long = format!("{} {}\n", line.trim_end(), "ü".repeat(600));
    let folder = Folder::with("n1/clickhouse-server.log", &long);
    folder.put("n2/clickhouse-server.log", &line);
    let report = folder.report();
    let cited = |node: &str| {
        let row = product::signal(&report, "relink-refused", node).unwrap();
        row.evidence[0].text.clone()
    };
    assert!(cited("n1").ends_with("ü…"), "{}", cited("n1"));
    assert!(long.starts_with(cited("n1").trim_end_matches('…')));
    assert_eq!(cited("n2"), line.trim_end());
}

#[test]
fn rule_2_pieces_of_one_log_are_one_stream() {
    let folder = Folder::with(
        "n1/clickhouse-server.log.1",
        refused("10:00:00.000000", "n2"),
    );
    folder.put(
        "n1/clickhouse-server.log.0.gz",
        product::gzip(refused("10:01:00.000000", "n2").as_bytes()),
    );
    folder.put("n1/clickhouse-server.log", refused("10:02:00.000000", "n2"));
    folder.put(
        "n1/clickhouse-server.err.log",
        refused("10:00:00.000000", "n2") + &refused("10:02:00.000000", "n2"),
    );
    let report = folder.report();
    let row = product::signal(&report, "relink-refused", "n1").unwrap();
    assert_eq!(row.count, 3);
    assert_eq!(row.first.as_deref(), Some("2026-09-01T10:00:00.000000"));
    assert_eq!(row.last.as_deref(), Some("2026-09-01T10:02:00.000000"));
}

#[test]
fn rule_2_a_piece_that_lies_there_plain_and_packed_is_read_once() {
    let log = refused("10:00:00.000000", "n2");
    let folder = Folder::with("n1/clickhouse-server.log.0", &log);
    folder.put(
        "n1/clickhouse-server.log.0.gz",
        product::gzip(log.as_bytes()),
    );
    let report = folder.report();
    assert_eq!(total(&report, "relink-refused"), 1);
    let packed = product::input(&report, ".gz");
    assert_eq!(packed.problems[0].kind, "duplicate-piece");
}
