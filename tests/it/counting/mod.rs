//! The rules of counting of `docs/counting.md`, one small log each. Every expected value is counted by hand from the text.

mod collected;
mod copies;
mod excerpts;
mod forged;
mod generated;
mod once;
mod plain;
mod positions;
mod queries;
mod quoted;
mod several;
mod timeline;

use std::collections::BTreeMap;

use casdiag::report::model::Report;

use crate::product::{self, Folder, codes, families, findings, record, total};

const LAMBDA: &str =
    "auto DB::StorageReplicatedMergeTree::processQueueEntry(X)::operator() const: ";

fn refusal_text(code: u32, source: &str) -> String {
    let name = if code == 210 {
        "NETWORK_ERROR"
    } else {
        "NO_REPLICA_HAS_PART"
    };
    format!(
        "Code: {code}. DB::Exception: Source {source} did not prove it still holds the manifest it offered for part all_1_1_0 by relink; the \
         relink is abandoned and the fetch will be retried later. ({name})"
    )
}

fn refused(time: &str, source: &str) -> String {
    record(
        time,
        "Error",
        "q.s (94c6)",
        &format!("{LAMBDA}{}", refusal_text(210, source)),
    )
}

fn unproven(time: &str, answer: &str) -> String {
    let message = format!(
        "Relink confirm is unproven ({answer}) for ref 'all_1_1_0' (part all_1_1_0, manifest 1:47542:1) in namespace 'ca/store/94c/94c6@cas@'"
    );
    record(
        time,
        "Debug",
        "q.s (94c6) (Replicated PartsService)",
        &message,
    )
}

fn levels(report: &Report) -> Vec<(&str, u64)> {
    report
        .records
        .by_level
        .iter()
        .map(|(level, n)| (level.as_str(), *n))
        .collect()
}

#[test]
fn rule_3_a_message_quoted_elsewhere_is_no_occurrence() {
    let text = refusal_text(210, "n2");
    let log = [
        record(
            "10:00:00.000001",
            "Debug",
            "executeQuery",
            &format!(
                "(from 1.1.1.1:1) SELECT count() FROM system.text_log WHERE message LIKE '%{text}%' (stage: Complete)"
            ),
        ),
        record(
            "10:00:00.000002",
            "Information",
            "q.s (94c6)",
            &format!("Log entry queue-0000000003 failed 3 times, last exception: {text}"),
        ),
        record(
            "10:00:00.000003",
            "Debug",
            "q.s (94c6) (ReplicatedMergeTreeQueue)",
            &format!("queue-0000000003: num_tries: 3, last_exception: {text}"),
        ),
        record(
            "10:00:00.000004",
            "Error",
            "executeQuery",
            &format!(
                "Code: 62. DB::Exception: Syntax error. (SYNTAX_ERROR) (in query: SELECT '{text}'), Stack trace:\n\n0. f @ 0x1"
            ),
        ),
        refused("10:00:00.000005", "n2"),
    ];
    let report = Folder::with("n1/clickhouse-server.log", log.concat()).report();
    assert_eq!(total(&report, "relink-refused"), 1);
    assert_eq!(codes(&report), BTreeMap::from([(62, 1), (210, 1)]));
    assert_eq!(
        families(&report, 210),
        BTreeMap::from([("relink-unproven", 1)])
    );
    assert!(report.codes_nested.is_empty(), "{:?}", report.codes_nested);
}

#[test]
fn rule_4_one_code_is_four_families_and_one_refusal_has_two_codes() {
    let error = |time: &str, text: &str| {
        record(
            time,
            "Error",
            "q.s (94c6)",
            &format!("{LAMBDA}Code: 210. {text} (NETWORK_ERROR)"),
        )
    };
    let log = [
        refused("10:00:00.000001", "n2"),
        error(
            "10:00:00.000002",
            "DB::Exception: CAS write could not be committed (conflict, observed x); retrying later.",
        ),
        error(
            "10:00:00.000003",
            "DB::Exception: pool 'ca' -- mount fence tripped: refused; TRANSIENT unavailability, not damage.",
        ),
        error(
            "10:00:00.000004",
            "DB::NetException: Connection reset by peer, while reading from socket (1.2.3.4:9009).",
        ),
        record(
            "10:00:00.000005",
            "Information",
            "q.s (94c6)",
            &format!("{LAMBDA}{}", refusal_text(234, "n2")),
        ),
        record(
            "10:00:00.000006",
            "Information",
            "q.s (94c6)",
            &format!(
                "{LAMBDA}Code: 234. DB::Exception: No active replica has part all_1_1_0 or covering part. (NO_REPLICA_HAS_PART)"
            ),
        ),
    ];
    let report = Folder::with("n1/clickhouse-server.log", log.concat()).report();
    let expected = [
        ("network", 1),
        ("relink-unproven", 1),
        ("transient-unavailability", 1),
        ("write-not-committed", 1),
    ];
    assert_eq!(families(&report, 210), BTreeMap::from(expected));
    assert_eq!(
        families(&report, 234),
        BTreeMap::from([("no-active-replica", 1), ("relink-unproven", 1)])
    );
    assert_eq!(
        total(&report, "relink-refused"),
        2,
        "Code 210 in one era, Code 234 in the next"
    );
}

#[test]
fn rule_5_both_spellings_of_a_renamed_thing_are_one() {
    let warning = "CAS ref-table recovery for namespace 'a/store/451@cas@' hit a transient object-store error (code 499: Timeout); retry #1 after 200ms backoff";
    let write = "CAS write could not be committed (conflict, observed x); retrying later";
    let log = [
        record("10:00:00.000001", "Warning", "CasRefLedger", warning),
        record("10:00:00.000002", "Warning", "CASRefLedger", warning),
        record("10:00:00.000003", "Warning", "CasWriteRetryLater", write),
        record("10:00:00.000004", "Warning", "CASWriteRetryLater", write),
    ];
    let report = Folder::with("n1/clickhouse-server.log", log.concat()).report();
    assert_eq!(
        (
            total(&report, "ref-recovery-retry"),
            total(&report, "cas-write-retry-warning")
        ),
        (2, 2)
    );
}

#[test]
fn rule_6_a_failed_attempt_that_was_retried_is_counted_and_called_harmless() {
    let attempt = "S3Exception name , Message: Poco::Exception. Code: 1000, e.code() = 0, Timeout (version 26.6.2), bucket test, key ca/cas/ref_catalog, object size 2295";
    let report = Folder::with(
        "n1/clickhouse-server.log",
        record("10:00:00.000001", "Error", "WriteBufferFromS3", attempt),
    )
    .report();
    assert_eq!(
        (
            total(&report, "s3-attempt-failed"),
            total(&report, "ref-catalog-error"),
            total(&report, "s3-error")
        ),
        (1, 1, 0)
    );
    let found = findings(&report, "object-store-errors");
    assert_eq!((found.len(), found[0].severity.word()), (1, "low"));
    assert!(
        found[0]
            .title
            .contains("no operation failed for its caller"),
        "{}",
        found[0].title
    );
    assert_eq!(
        (report.coverage.error_records, report.coverage.explained),
        (1, 1)
    );
}

#[test]
fn rule_8_what_the_log_could_not_show_is_said_to_be_not_observable() {
    // Only an err.log: no Debug line of a relink that finished or of a confirm could be in it.
    let log: String = (0..12)
        .map(|n| refused(&format!("10:00:{n:02}.000000"), "n2"))
        .collect();
    let folder = Folder::with("n1/clickhouse-server.err.log", log);
    // The table of one node has no column for the total, so the sign in it is all that tells.
    let text = product::analyze(folder.path(), &["--fail-on", "never"]).out;
    let row = |signal: &str| {
        let line = text.lines().find(|line| line.starts_with(signal));
        line.map(|line| line.split_whitespace().nth(1).unwrap_or_default())
    };
    assert_eq!(row("relink-refused"), Some("12"), "{text}");
    assert_eq!(row("relink-finished"), Some("n/o"), "{text}");
    assert_eq!(row("relink-unproven"), Some("n/o"), "{text}");
    let report = folder.report();
    let storm = findings(&report, "code-210-storm");
    let hidden: Vec<_> = storm[0]
        .not_observable
        .iter()
        .map(|it| (it.signal.as_str(), it.node.as_str()))
        .collect();
    assert!(hidden.contains(&("relink-finished", "n1")), "{hidden:?}");
    assert!(hidden.contains(&("relink-unproven", "n1")), "{hidden:?}");
    assert!(
        storm[0]
            .not_observable
            .iter()
            .all(|it| !it.why.is_empty() && !it.collect.is_empty())
    );
    assert_ne!(storm[0].confidence.word(), "certain");
    // With the Debug log there, nothing is hidden.
    let log: String = (0..12)
        .map(|n| {
            refused(&format!("10:00:{n:02}.000000"), "n1")
                + &record(&format!("10:00:{n:02}.500000"), "Debug", "a", "b")
        })
        .collect();
    let report = Folder::with("n1/clickhouse-server.log", log).report();
    assert_eq!(
        findings(&report, "code-210-storm")[0].confidence.word(),
        "certain"
    );
}

#[test]
fn rule_9_the_zone_is_the_one_that_the_log_states() {
    let start = record(
        "10:00:00.000000",
        "Trace",
        "Application",
        "Initialized DateLUT with time zone `Europe/Berlin'.",
    );
    let folder = Folder::with(
        "n1/clickhouse-server.log",
        start + &refused("10:00:01.000000", "n2"),
    );
    folder.put("n2/clickhouse-server.log", refused("10:00:02.000000", "n1"));
    let report = folder.report();
    let zones: Vec<_> = report
        .environment
        .iter()
        .map(|it| (it.node.as_str(), it.zone.as_deref()))
        .collect();
    assert_eq!(zones, [("n1", Some("Europe/Berlin")), ("n2", None)]);
    let first = |node| {
        product::signal(&report, "relink-refused", node)
            .unwrap()
            .first
            .clone()
            .unwrap()
    };
    assert_eq!(first("n1"), "2026-09-01T10:00:01.000000+02:00");
    assert_eq!(first("n2"), "2026-09-01T10:00:02.000000");
}

#[test]
fn rule_10_every_error_is_explained_or_listed_by_its_template() {
    let log = [
        refused("10:00:00.000001", "n2"),
        record(
            "10:00:00.000002",
            "Error",
            "Strange",
            "The flux of coil 17 is off by 3.5",
        ),
        record(
            "10:00:00.000003",
            "Error",
            "Strange",
            "The flux of coil 4 is off by 0.1",
        ),
        record("10:00:00.000004", "Error", "Other", "Something else"),
        record("10:00:00.000005", "Warning", "Other", "Not an error"),
    ];
    let report = Folder::with("n1/clickhouse-server.log", log.concat()).report();
    assert_eq!(
        (report.coverage.error_records, report.coverage.explained),
        (4, 1)
    );
    let listed: Vec<(u64, u64)> = report
        .coverage
        .unexplained
        .iter()
        .map(|it| (it.count, it.example.as_ref().unwrap().line))
        .collect();
    assert_eq!(
        listed,
        [(2, 2), (1, 4)],
        "two lines of one template are one row"
    );
}

#[test]
fn rule_11_the_order_of_the_roots_changes_no_byte() {
    let folder = Folder::with(
        "a/n1/clickhouse-server.log",
        refused("10:00:00.000001", "n2"),
    );
    folder.put(
        "a/n2/clickhouse-server.log",
        refused("10:00:00.000001", "n1"),
    );
    let of = |first: &str, second: &str| {
        let path = |name: &str| {
            folder
                .path()
                .join("a")
                .join(name)
                .to_str()
                .unwrap()
                .to_owned()
        };
        product::casdiag(&["analyze", &path(first), &path(second), "--format", "json"]).out
    };
    assert_eq!(of("n1", "n2"), of("n2", "n1"));
}

#[test]
fn rule_12_both_sides_of_a_balance_and_what_is_left_are_shown() {
    let receiver: String = (0..20)
        .map(|n| refused(&format!("10:00:{n:02}.000000"), "n2"))
        .collect();
    let source: String = (0..14)
        .map(|n| {
            unproven(
                &format!("10:00:{n:02}.000000"),
                if n < 11 { "unknown" } else { "no" },
            )
        })
        .collect();
    let folder = Folder::with("n1/clickhouse-server.log", receiver);
    folder.put("n2/clickhouse-server.log", source);
    let report = folder.report();
    let balance = report
        .balances
        .iter()
        .find(|it| it.left.what.contains("refused"))
        .unwrap();
    assert_eq!((balance.left.count, balance.remainder), (20, 6));
    let right: Vec<u64> = balance
        .right
        .iter()
        .map(|side| side.count)
        .filter(|n| *n > 0)
        .collect();
    assert_eq!(right, [11, 3]);
    assert!(!balance.could_be.is_empty());
}

#[test]
fn rule_13_a_forged_record_is_counted_marked_and_no_ground_of_a_finding() {
    let query = record(
        "10:00:00.000001",
        "Debug",
        "executeQuery",
        "(from 1.1.1.1:1) SELECT 'x",
    );
    let forged = "2026.09.01 09:25:00.000000 [ 1 ] {} <Fatal> BaseDaemon: (version 26.6.2) (from thread 1) (no query) Received signal Segmentation fault (11)\n";
    let log = query + forged + &record("10:00:00.000002", "Debug", "a", "b");
    let folder = Folder::with("n1/clickhouse-server.log", &log);
    folder.put("n1/clickhouse-server.err.log", "");
    let report = folder.report();
    assert_eq!((report.records.total, report.records.suspect), (3, 1));
    assert!(findings(&report, "server-crash").is_empty());
    assert_eq!(
        levels(&report),
        [("debug", 2), ("fatal", 1)],
        "counted nevertheless"
    );
    let input = product::input(&report, "clickhouse-server.log");
    assert_eq!(
        input.first.as_deref(),
        Some("2026-09-01T10:00:00.000001"),
        "its stamp is nobody's first"
    );
}

#[test]
fn rule_13_a_true_crash_is_no_forgery() {
    let crash = "2026.09.01 10:00:00.500000 [ 1 ] {} <Fatal> BaseDaemon: (version 26.6.2) (from thread 1) (no query) Received signal Segmentation fault (11)\n";
    let folder = Folder::with(
        "n1/clickhouse-server.log",
        record("10:00:00.000001", "Debug", "a", "b") + crash,
    );
    folder.put("n1/clickhouse-server.err.log", crash);
    let report = folder.report();
    assert_eq!((report.records.total, report.records.suspect), (2, 0));
    assert_eq!(findings(&report, "server-crash").len(), 1);
}

#[test]
fn rule_14_who_reports_and_who_is_accused_are_told_apart() {
    let log: String = (0..12)
        .map(|n| refused(&format!("10:00:{n:02}.000000"), "n2"))
        .collect();
    let folder = Folder::with("n1/clickhouse-server.log", log);
    folder.put(
        "n2/clickhouse-server.log",
        record("10:00:00.000000", "Debug", "a", "b"),
    );
    let report = folder.report();
    let storm = findings(&report, "code-210-storm")[0];
    assert_eq!(
        (&storm.reported_by[..], &storm.accused[..]),
        (&["n1".to_owned()][..], &["n2".to_owned()][..])
    );
}

#[test]
fn rule_15_a_count_can_be_checked_by_hand() {
    let a = refused("10:00:00.000001", "n2");
    let echo = record(
        "10:00:00.000002",
        "Information",
        "q.s (94c6)",
        &format!(
            "Log entry queue-3 failed 3 times, last exception: {}",
            refusal_text(210, "n2")
        ),
    );
    let query = record(
        "10:00:00.000003",
        "Debug",
        "executeQuery",
        &format!("(from 1.1.1.1:1) SELECT\n'{}'", refusal_text(210, "n2")),
    );
    let folder = Folder::with("n1/clickhouse-server.log", [&a[..], &echo, &query].concat());
    folder.put("n1/clickhouse-server.err.log", &a);
    let path = folder.path().to_str().unwrap();
    let ran = product::casdiag(&["lines", "relink-refused", path]);
    assert_eq!(ran.code, Some(0));
    assert!(
        ran.out.starts_with(&format!(
            "{path}/n1/clickhouse-server.log:1: 2026.09.01 10:00:00.000001 [ 7 ] {{}} <Error>"
        )),
        "{}",
        ran.out
    );
    // One in the main log, its repeat, the echo, and the second line of the query.
    assert!(
        ran.out
            .contains("\n1 record is relink-refused\n4 lines: what a plain search finds"),
        "{}",
        ran.out
    );
}
