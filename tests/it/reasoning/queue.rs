//! A queue that is stuck behind a part: behind one part of one table, and as long as that does not come.

use casdiag::report::model::Report;
use casdiag::vocab::Severity;

use crate::product::{Folder, findings, record};

const PART: &str = "all_0_0_0";

/// Twelve records, one a minute from 10:01 on, each of a table of its own or all of one.
fn each_minute(texts: &[(&str, &str)], tables: bool) -> String {
    let minutes = (1..=12).flat_map(|minute| {
        let table = if tables { minute } else { 1 };
        let logger = format!("db.t (3f1c0b5e-0000-4000-8000-0000000000{table:02})");
        let lines = texts.iter().enumerate();
        lines.map(move |(at, (level, text))| {
            let time = format!("10:{minute:02}:0{at}.000000");
            record(&time, level, &logger, text)
        })
    });
    minutes.collect()
}

fn of_first(time: &str, level: &str, text: &str) -> String {
    let logger = "db.t (3f1c0b5e-0000-4000-8000-000000000001)";
    record(time, level, logger, text)
}

fn stuck(log: &str) -> Option<(Severity, String)> {
    let report: Report = Folder::with("n1/clickhouse-server.log", log).report();
    let found = findings(&report, "queue-stuck-in-log");
    let found = found.first();
    found.map(|it| (it.severity, it.title.clone()))
}

const ABSENT: (&str, &str) = (
    "Information",
    "DB::Exception: No active replica has part all_0_0_0 or covering part (cannot execute queue-0000000001: GET_PART)",
);
const BEGUN: (&str, &str) = (
    "Debug",
    "Fetching part all_0_0_0 from /clickhouse/t/replicas/r1",
);
const FAILED: (&str, &str) = (
    "Error",
    "auto DB::StorageReplicatedMergeTree::processQueueEntry(X)::operator() const: Poco::Exception. Code: 1000, e.code() = 111, Connection refused",
);
const WAITS: (&str, &str) = (
    "Debug",
    "Not executing log entry queue-0000000101 of type MERGE_PARTS for part all_0_10_2 because part all_0_0_0 is not ready yet (log entry for that part is being processed).",
);

#[test]
fn the_same_part_of_twelve_tables_is_twelve_parts() {
    let waits = each_minute(&[WAITS], true).replace("): Not", ") (ReplicatedMergeTreeQueue): Not");
    for log in [
        each_minute(&[ABSENT], true),
        each_minute(&[BEGUN, FAILED], true),
        waits,
    ] {
        assert_eq!(stuck(&log), None, "{log}");
    }
}

#[test]
fn the_part_of_one_table_is_one() {
    // Twelve times a minute apart: eleven minutes.
    let is = format!("the queue of n1 is stuck behind part {PART}");
    let absent = format!("{is}, which no active replica has: tried 12 times in 660.000 s");
    let failed = format!("{is}: it failed 12 times in 660.000 s");
    assert_eq!(
        stuck(&each_minute(&[ABSENT], false)),
        Some((Severity::Medium, absent))
    );
    assert_eq!(
        stuck(&each_minute(&[BEGUN, FAILED], false)),
        Some((Severity::Medium, failed))
    );
}

#[test]
fn a_queue_was_stuck_until_its_part_came_or_was_dropped() {
    let ends = [
        (
            "Debug",
            "Fetched part all_0_5_1 from /clickhouse/t/replicas/r1",
        ),
        (
            "Debug",
            "Skipping action for part all_0_0_0 because part all_0_0_0 already exists.",
        ),
        ("Trace", "Executing DROP_RANGE all_0_9_999999999"),
    ];
    let until = "660.000 s, until the part came or was dropped at 2026-09-01 10:20:00";
    for (level, text) in ends {
        let end = of_first("10:20:00.000000", level, text);
        for texts in [&[ABSENT][..], &[BEGUN, FAILED]] {
            let (severity, title) = stuck(&(each_minute(texts, false) + &end)).unwrap();
            assert_eq!(severity, Severity::Low);
            assert!(title.ends_with(until), "{title}");
        }
    }
    // Another table's part of that name came.
    let other = of_first("10:20:00.000000", ends[0].0, ends[0].1).replace("0001)", "0002)");
    let (severity, title) = stuck(&(each_minute(&[ABSENT], false) + &other)).unwrap();
    assert_eq!(severity, Severity::Medium, "{title}");
}
