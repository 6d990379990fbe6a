//! An artifact of the shape of report 001: three nodes that refuse relinks, and a run of tests in which rows of the very
//! partitions are missing whose parts were refused. Every count below is the report's, or set by the writer of the run.

use std::collections::BTreeMap;

use casdiag::report::model::tests::TestGroup;
use casdiag::report::model::{Finding, Report};

use super::ci;
use super::flow::{Flow, Test};
use crate::product::Folder;
use crate::report001;

/// 2026-09-01T21:10:00Z, two minutes before the first record of a node.
const START: f64 = DAY + 76_200.0;

/// 2026-09-01T00:00:00Z.
const DAY: f64 = 1_788_220_800.0;

/// Tables that the servers' logs name.
const TABLES: [&str; 4] = [
    "e3b71c02_a64b_11f1_acc8_92000910a29a",
    "1c09be44_a64a_11f1_b3f5_92000910a29a",
    "77aa10f6_a64d_11f1_8c21_92000910a29a",
    "2be5c8d0_a64d_11f1_a7b4_92000910a29a",
];
const EMPTY_FILE_TABLE: &str = "destination_bcd4d357_a64c_11f1_9d0e_92000910a29a";

/// Columns, key, and a row of a partition of which the logs refuse parts: `6-9`, `5-8`, `8`, `20260801`.
const KEYS: [(&str, &str, &str); 4] = [
    (
        "a UInt16, b UInt16, i UInt64, extra UInt64",
        "(intDiv(a,2), intDiv(b,2))",
        "12\t18\t22\t1003",
    ),
    (
        "a UInt16, b UInt16, i UInt64, extra UInt64",
        "(intDiv(a,2), intDiv(b,2))",
        "10\t16\t7\t1001",
    ),
    (
        "a UInt16, b UInt16, i UInt64, extra UInt64",
        "a",
        "8\t18\t22\t1003",
    ),
    (
        "time DateTime, id UInt64",
        "toDate(time)",
        "2026-08-01 01:00:00\t7",
    ),
];

fn explained(
    function: &str,
    line: u64,
    assertion: &str,
    description: &str,
    rows: &[&str],
) -> String {
    let rows: Vec<String> = rows.iter().map(|row| format!("    -{row}\n")).collect();
    let rows = rows.concat();
    format!(
        "AssertionError\nTraceback (most recent call last):\n  File \"/home/runner/work/r/r/alter/check.py\", line {line}, in {function}\n    \
         {assertion}\nAssertionError: Oops! Assertion failed\n\nThe following assertion was not satisfied\n  {assertion}\n\nDescription\n  \
         {description}\n\nAssertion values\n  {assertion}\n         ^ is = False\n    @@ -3 +2,0 @@\n{rows}  {assertion}\n  ^ is False\n\nWhere\n  \
         File '/home/runner/work/r/r/alter/check.py', line {line} in '{function}'\n"
    )
}

/// A run in the making.
struct Job {
    flow: Flow,
    made: usize,
    /// When a server logged the error of an empty file, in seconds since 1970.
    empty_file_at: f64,
}

impl Job {
    /// A test whose replicas differ: it creates its tables, tries, and fails.
    fn differs(&mut self, above: &mut Test, name: &str, subtype: &'static str, tries: usize) {
        let (table, (columns, key, row)) = (TABLES[self.made % 4], KEYS[self.made % 4]);
        self.made += 1;
        let flow = &mut self.flow;
        let mut leaf = flow.begin(above, name, "Test", subtype);
        let given = flow.begin(&mut leaf, "two tables", "Step", "Given");
        for side in ["source", "destination"] {
            let create = format!(
                "bash# client -q \"CREATE TABLE {side}_{table} ({columns}) ENGINE = ReplicatedMergeTree PARTITION BY {key} ORDER BY tuple()\""
            );
            flow.say(&given, "clickhouse1", &create);
        }
        flow.end(&given, "OK", None);
        let mut then = flow.begin(&mut leaf, "replicas are equal", "Step", "Then");
        let message = explained(
            "replicas_are_equal",
            142,
            "assert a == b and a == c, error()",
            "rows differ",
            &[row],
        );
        for number in 0..tries {
            let attempt = flow.begin(
                &mut then,
                &format!("try #{number}"),
                "Step",
                "RetryIteration",
            );
            flow.say(
                &attempt,
                "clickhouse3",
                &format!("bash# client -q \"SELECT * FROM destination_{table}\""),
            );
            flow.now += if tries == 28 {
                300.0 / 28.0 - 0.03
            } else {
                80.0
            };
            flow.end(&attempt, "Fail", Some(&message));
        }
        flow.end(&then, "Fail", Some(&message));
        flow.end(&leaf, "Fail", Some(&message));
    }

    /// So many of them below a scenario.
    fn area(&mut self, feature: &mut Test, scenario: &str, leaves: usize, subtype: &'static str) {
        let mut area = self.flow.begin(feature, scenario, "Test", "Scenario");
        for number in 0..leaves {
            let tries = if self.made == 0 { 28 } else { 2 };
            self.differs(&mut area, &format!("case {number}"), subtype, tries);
        }
        self.flow.end(&area, "Fail", Some("AssertionError"));
    }

    fn feature(&mut self, above: &mut Test, name: &str) -> Test {
        self.flow.begin(above, name, "Suite", "Feature")
    }

    fn operations(&mut self, part: &mut Test) {
        let mut feature = self.feature(part, "operations");
        self.area(&mut feature, "freeze partition", 4, "Example");
        for name in [
            "replace partition",
            "update in partition",
            "multiple operations",
        ] {
            self.differs(&mut feature, name, "Scenario", 2);
        }
        let flow = &mut self.flow;
        let drop = flow.begin(&mut feature, "drop partition", "Test", "Scenario");
        flow.say(
            &drop,
            "clickhouse2",
            &format!(
                "bash# client -q \"ALTER TABLE destination_{} DROP PARTITION 1\"",
                TABLES[0]
            ),
        );
        flow.now += 600.0;
        let timeout = "ExpectTimeoutError\nTraceback (most recent call last):\n  File \"/home/runner/work/r/r/alter/operations.py\", line 88, in drop\n    \
                       node.query()\nExpectTimeoutError: ExpectTimeoutError: Timeout 600.000s for 'bash# '";
        flow.end(&drop, "Error", Some(timeout));
        // It ran beside the others, when a server logged its error.
        let now = std::mem::replace(&mut flow.now, self.empty_file_at - 300.0);
        let empty = flow.begin(&mut feature, "attach of an empty file", "Test", "Scenario");
        flow.say(&empty, "clickhouse1", &format!("bash# client -q \"ALTER TABLE {EMPTY_FILE_TABLE} ATTACH PARTITION 1 FROM source_s\""));
        let said = "Exitcode 49\n  Code: 49. DB::Exception: Received from clickhouse1:9000. DB::Exception: Chosen multipart upload for an empty file. This must not happen. (LOGICAL_ERROR)";
        flow.end(
            &empty,
            "Fail",
            Some(&explained(
                "attach",
                61,
                "assert exitcode == 0, error(r)",
                said,
                &[],
            )),
        );
        flow.now = now;
        flow.end(&feature, "Error", Some("ExpectTimeoutError"));
    }

    fn part_level(&mut self, part: &mut Test) {
        let mut feature = self.feature(part, "part level");
        let flow = &mut self.flow;
        let leaf = flow.begin(
            &mut feature,
            "reset when equal to legacy max level",
            "Test",
            "Scenario",
        );
        flow.say(
            &leaf,
            "clickhouse1",
            &format!(
                "bash# client -q \"CREATE TABLE source_{} (a UInt16) PARTITION BY a\"",
                TABLES[1]
            ),
        );
        let said = "OSError\nTraceback (most recent call last):\n  File \"/home/runner/work/r/r/alter/level.py\", line 30, in reset\n    \
                    create()\nOSError: Code: 499. DB::Exception: Message: Poco::Exception. Code: 1000, e.code() = 0, Timeout, bucket cas-pool, \
                    key data/cas/ref_catalog, this error happened for S3 disk. (S3_ERROR)";
        flow.end(&leaf, "Error", Some(said));
        flow.end(&feature, "Error", Some("OSError"));
    }

    /// The run of the report: 84 leaves in the features of its table, and the three others.
    fn run(empty_file_at: f64) -> String {
        let mut job = Self {
            flow: Flow::new(START),
            made: 0,
            empty_file_at,
        };
        let mut root = job.flow.root("alter");
        job.flow
            .attribute(&root, "job.name", "alter_attach_partition_cas_1");
        let mut attach = job.feature(&mut root, "attach partition");
        let mut part = job.feature(&mut attach, "part 1");
        job.area(&mut part, "check simple attach partition", 22, "Scenario");
        let mut key = job.feature(&mut part, "partition key");
        job.area(&mut key, "attach partition from with id", 17, "Scenario");
        job.area(&mut key, "attach partition from without id", 16, "Scenario");
        job.flow.end(&key, "Fail", Some("AssertionError"));
        let mut rbac = job.feature(&mut part, "rbac");
        job.area(
            &mut rbac,
            "check attach partition from with privileges",
            10,
            "Check",
        );
        job.flow.end(&rbac, "Fail", Some("AssertionError"));
        let mut conditions = job.feature(&mut part, "conditions");
        job.area(&mut conditions, "order by", 6, "Check");
        job.flow.end(&conditions, "Fail", Some("AssertionError"));
        let mut datetime = job.feature(&mut part, "partition key datetime");
        job.area(&mut datetime, "attach partition from", 6, "Scenario");
        job.flow.end(&datetime, "Fail", Some("AssertionError"));
        job.operations(&mut part);
        job.part_level(&mut part);
        for number in 0..5 {
            let passes = job
                .flow
                .begin(&mut part, &format!("passes {number}"), "Test", "Scenario");
            job.flow.end(&passes, "OK", None);
        }
        for test in [&part, &attach, &root] {
            job.flow.end(test, "Error", Some("ExpectTimeoutError"));
        }
        job.flow.stop(&root);
        job.flow.text
    }
}

fn artifact() -> Folder {
    let folder = Folder::new();
    let nodes = folder.path().join("alter/_instances");
    std::fs::create_dir_all(&nodes).unwrap();
    let plan = report001::Plan {
        scale: 20,
        seed: 7,
        new_era: false,
    };
    report001::write(&plan, &nodes);
    folder.put("raw.log", Job::run(empty_file_at(&nodes)));
    folder
}

/// When the logs have the error of an empty file: as a grep over the plain and packed err.logs finds it.
fn empty_file_at(nodes: &std::path::Path) -> f64 {
    for entry in walkdir::WalkDir::new(nodes).sort_by_file_name() {
        let entry = entry.unwrap();
        if !entry.path().is_file() {
            continue;
        }
        let bytes = std::fs::read(entry.path()).unwrap();
        let mut text = Vec::new();
        let mut unpacked = flate2::read::MultiGzDecoder::new(&bytes[..]);
        if std::io::Read::read_to_end(&mut unpacked, &mut text).is_err() {
            text = bytes;
        }
        let text = String::from_utf8_lossy(&text);
        let line = text.lines().find(|line| {
            line.contains("Chosen multipart upload for an empty file")
                && line.contains(EMPTY_FILE_TABLE)
        });
        if let Some(line) = line {
            let number = |at: usize| line[at..at + 2].parse::<u32>().unwrap();
            let seconds = ((number(8) - 1) * 24 + number(11)) * 3600 + number(14) * 60 + number(17);
            return DAY + f64::from(seconds);
        }
    }
    panic!("no error of an empty file in the logs");
}

fn finding<'r>(report: &'r Report, rule: &str) -> &'r Finding {
    report
        .findings
        .iter()
        .find(|it| it.rule == rule)
        .unwrap_or_else(|| panic!("no {rule}"))
}

fn group<'r>(report: &'r Report, exception: &str, text: &str) -> &'r TestGroup {
    let fits =
        |it: &&TestGroup| it.exception.as_deref() == Some(exception) && it.text.contains(text);
    report
        .tests
        .groups
        .iter()
        .find(fits)
        .unwrap_or_else(|| panic!("no {exception} {text}"))
}

#[test]
fn a_job_of_the_shape_of_report_001_has_one_cause_and_names_the_parts_that_show_it() {
    let folder = artifact();
    let ran = ci(folder.path(), &["--format", "json"]);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    let report = ran.report();
    let unproven = &finding(&report, "unproven-confirms").id;
    assert_eq!(report.tests.primary.as_ref(), Some(unproven));
    assert_eq!(report.tests.groups.len(), 4);

    let main = group(&report, "AssertionError", "a == b");
    assert_eq!(
        (main.role.as_str(), main.cause.as_ref(), main.leaves.len()),
        ("cause", Some(unproven), 84)
    );
    let part = "/alter/attach partition/part 1";
    let expected: BTreeMap<String, u64> = [
        ("check simple attach partition", 22),
        ("partition key/attach partition from with id", 17),
        ("partition key/attach partition from without id", 16),
        ("rbac/check attach partition from with privileges", 10),
        ("conditions/order by", 6),
        ("partition key datetime/attach partition from", 6),
        ("operations/freeze partition", 4),
        ("operations/replace partition", 1),
        ("operations/update in partition", 1),
        ("operations/multiple operations", 1),
    ]
    .map(|(area, count)| (format!("{part}/{area}"), count))
    .into();
    assert_eq!(main.by_area, expected);
    assert_eq!(main.by_feature.values().sum::<u64>(), 84);
    assert_eq!(main.failed_tries, (2, 28));
    let span = main.tries_span_s.unwrap();
    assert!((span - 300.0).abs() < 2.0, "{span}");
    let through_parts: Vec<_> = main.ties.iter().filter(|tie| tie.how == "parts").collect();
    assert!(
        through_parts
            .iter()
            .any(|tie| tie.finding == *unproven && tie.leaves > 42),
        "{through_parts:?}"
    );
    let refused = &finding(&report, "code-210-storm").id;
    let storm = through_parts
        .iter()
        .find(|tie| tie.finding == *refused)
        .unwrap();
    assert!(storm.leaves > 42, "{storm:?}");
    // Parts of the four partitions alone, of those that the logs refuse.
    for (part, _) in through_parts.iter().flat_map(|tie| &tie.parts) {
        let partition = part.split('_').next().unwrap();
        assert!(
            ["6-9", "5-8", "8", "20260801"].contains(&partition),
            "{part}"
        );
    }
    others_stand_apart(&report, unproven);
}

/// What is no failure of the main kind has its own role and cause.
fn others_stand_apart(report: &Report, unproven: &String) {
    let dropped = group(report, "ExpectTimeoutError", "Timeout 600.000s");
    assert_eq!(
        (dropped.role.as_str(), dropped.cause.as_ref()),
        ("collateral", Some(unproven))
    );
    let storage = group(report, "OSError", "S3_ERROR");
    assert_eq!(
        (storage.role.as_str(), storage.cause.as_ref()),
        (
            "infrastructure",
            Some(&finding(report, "object-store-errors").id)
        )
    );
    let empty = group(report, "AssertionError", "exitcode");
    assert_eq!(
        (empty.role.as_str(), empty.cause.as_ref()),
        (
            "separate",
            Some(&finding(report, "empty-multipart-upload").id)
        )
    );
}

#[test]
fn scenarios_and_leaves_are_both_counted_and_it_is_said_why_they_differ() {
    let folder = artifact();
    let ran = ci(folder.path(), &["--format", "json"]);
    let report = ran.report();
    let run = &report.tests.runs[0];
    let scenario = &run.totals["scenario"];
    // 22 + 17 + 16 + 6 leaves, 3 operations, the empty file and 7 parents fail, 2 end in error.
    assert_eq!(
        (scenario["fail"], scenario["error"], scenario["ok"]),
        (72, 2, 5)
    );
    assert_eq!(
        (run.failing_leaves, run.failing_tests),
        (87, 87 + 7 + 6 + 3)
    );
    assert_eq!((run.complete, run.result.as_deref()), (true, Some("Error")));
    let text = ci(folder.path(), &[]).out;
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let why = "74 failing scenarios and 87 failing leaves are different counts: 7 of the scenarios fail because a test below them does, \
               the leaves are 67 scenarios and 16 checks, 4 examples";
    assert!(flat.contains(why), "{text}");
    assert!(
        text.starts_with("TESTS FAIL: 87 failing leaves, 4 failures by signature; 84 go back to F"),
        "{text}"
    );
    assert!(text.lines().count() <= 40, "{text}");
    let markdown = ci(folder.path(), &["--format", "markdown"]).out;
    assert!(
        markdown.starts_with("# 87 failing leaves, 4 failures by signature; 84 go back to F"),
        "{markdown}"
    );
    assert!(
        markdown.contains("| 22 | /alter/attach partition/part 1/check simple attach partition |"),
        "{markdown}"
    );
    assert!(
        markdown.contains("taken as UTC, in which its records lie in the time of the tests"),
        "{markdown}"
    );
}

#[test]
fn without_the_logs_of_servers_the_cause_is_unknown() {
    let report = ci(
        Folder::with("raw.log", Job::run(START + 7000.0)).path(),
        &["--format", "json"],
    )
    .report();
    let role = |exception: &str, text: &str| {
        let group = group(&report, exception, text);
        (group.role.clone(), group.cause.clone())
    };
    assert_eq!(
        role("AssertionError", "a == b"),
        ("unknown".to_owned(), None)
    );
    assert_eq!(
        role("ExpectTimeoutError", "Timeout"),
        ("unknown".to_owned(), None)
    );
    assert_eq!(
        role("OSError", "S3_ERROR"),
        ("infrastructure".to_owned(), None)
    );
    assert_eq!(
        role("AssertionError", "exitcode"),
        ("separate".to_owned(), None)
    );
    assert_eq!(report.tests.primary, None);
}

#[test]
fn a_run_of_another_day_is_tied_to_no_record() {
    let folder = artifact();
    // Four months before: no zone brings the logs there.
    let raw = Job::run(START + 7000.0).replace("\"message_time\":178", "\"message_time\":177");
    folder.put("raw.log", raw);
    let report = ci(folder.path(), &["--format", "json"]).report();
    let ties = report.tests.groups.iter().flat_map(|group| &group.ties);
    let by_names: Vec<_> = ties.filter(|tie| tie.how != "code").collect();
    assert!(by_names.is_empty(), "{by_names:?}");
    let without_zone = report
        .tests
        .clocks
        .iter()
        .find(|clock| clock.node == "clickhouse2");
    let how = &without_zone.unwrap().how;
    assert!(
        how.contains("none brings its records into the time of the tests"),
        "{how}"
    );
}
