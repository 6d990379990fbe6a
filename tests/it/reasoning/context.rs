//! Fields taken from another record of the same thread: a queue error of 18.16 names neither part nor source.

use casdiag::report::model::{Report, SignalRow};

use crate::product::{self, Folder, findings, signal};

fn request(time: &str, thread: u32, source: &str, part: &str) -> String {
    format!(
        "2026.09.01 {time} [ {thread} ] {{}} <Debug> shop.orders (StorageReplicatedMergeTree): Fetching part {part} from /clickhouse/tables/shop/orders/replicas/{source}\n"
    )
}

fn failure(time: &str, thread: u32) -> String {
    format!(
        "2026.09.01 {time} [ {thread} ] {{}} <Error> shop.orders (StorageReplicatedMergeTree): DB::StorageReplicatedMergeTree::queueTask()::<lambda(X&)>: Poco::Exception. Code: 1000, e.code() = 111, e.displayText() = Connection refused, e.what() = Connection refused\n"
    )
}

fn report(log: &[String]) -> Report {
    Folder::with("n2/clickhouse-server.log", log.concat()).report()
}

fn failed(report: &Report) -> &SignalRow {
    signal(report, "queue-entry-failed", "n2").unwrap()
}

/// Sources and parts of the failures, each with its count.
fn taken(report: &Report) -> Vec<(String, u64)> {
    let row = failed(report);
    let sources = row.by.get("source").into_iter().flatten();
    let mut taken: Vec<_> = sources
        .map(|(name, &count)| (name.clone(), count))
        .collect();
    taken.extend(row.top.get("part").into_iter().flatten().cloned());
    taken
}

fn pairs(expected: &[(&str, u64)]) -> Vec<(String, u64)> {
    expected
        .iter()
        .map(|(name, count)| ((*name).to_owned(), *count))
        .collect()
}

#[test]
fn part_and_source_come_from_the_record_before_on_the_thread() {
    let report = report(&[
        request("10:00:00.000000", 6, "n1", "202602_0_0_0"),
        failure("10:00:00.000900", 6),
    ]);
    assert_eq!(taken(&report), pairs(&[("n1", 1), ("202602_0_0_0", 1)]));
}

#[test]
fn another_threads_record_is_not_taken() {
    let report = report(&[
        request("10:00:00.000000", 7, "n1", "202602_0_0_0"),
        failure("10:00:00.000900", 6),
    ]);
    assert_eq!(failed(&report).count, 1, "it counts all the same");
    assert_eq!(taken(&report), pairs(&[]));
}

#[test]
fn threads_that_alternate_keep_their_own() {
    let log: Vec<String> = (0..5)
        .flat_map(|n| {
            let at = |ms: u32| format!("10:00:0{n}.{ms:03}000");
            [
                request(&at(0), 6, "n1", "202601_1_1_0"),
                request(&at(1), 7, "n3", "202603_3_3_0"),
                failure(&at(2), 6),
                failure(&at(3), 7),
            ]
        })
        .collect();
    let report = report(&log);
    assert_eq!(
        taken(&report),
        pairs(&[
            ("n1", 5),
            ("n3", 5),
            ("202601_1_1_0", 5),
            ("202603_3_3_0", 5)
        ])
    );
    let storm = findings(&report, "fetch-storm")[0];
    assert_eq!(storm.accused, ["n1", "n3"]);
}

#[test]
fn the_last_one_before_is_taken_and_none_that_follows() {
    let report = report(&[
        request("10:00:00.000000", 6, "n1", "202601_1_1_0"),
        request("10:00:01.000000", 6, "n3", "202603_3_3_0"),
        failure("10:00:02.000000", 6),
        request("10:00:03.000000", 6, "n4", "202604_4_4_0"),
    ]);
    assert_eq!(taken(&report), pairs(&[("n3", 1), ("202603_3_3_0", 1)]));
}

#[test]
fn a_record_that_is_too_old_is_not_taken() {
    let old = |time: &str| {
        report(&[
            request("10:00:00.000000", 6, "n1", "202602_0_0_0"),
            failure(time, 6),
        ])
    };
    assert_eq!(
        taken(&old("10:31:00.000000")),
        pairs(&[("n1", 1), ("202602_0_0_0", 1)])
    );
    assert_eq!(taken(&old("10:31:00.000001")), pairs(&[]));
}

#[test]
fn another_nodes_record_is_not_taken() {
    let folder = Folder::with(
        "n1/clickhouse-server.log",
        request("10:00:00.000000", 6, "n9", "202602_0_0_0"),
    );
    folder.put("n2/clickhouse-server.log", failure("10:00:00.000900", 6));
    assert_eq!(taken(&folder.report()), pairs(&[]));
}

#[test]
fn a_context_reaches_over_the_end_of_a_piece() {
    let folder = Folder::with(
        "n2/clickhouse-server.log.0.gz",
        product::gzip(request("10:00:00.000000", 6, "n1", "202602_0_0_0").as_bytes()),
    );
    folder.put("n2/clickhouse-server.log", failure("10:00:00.000900", 6));
    assert_eq!(
        taken(&folder.report()),
        pairs(&[("n1", 1), ("202602_0_0_0", 1)])
    );
}

#[test]
fn a_context_is_the_same_with_the_err_log_beside_it() {
    let (asked, error) = (
        request("10:00:00.000000", 6, "n1", "202602_0_0_0"),
        failure("10:00:00.000900", 6),
    );
    let folder = Folder::with("n2/clickhouse-server.log", asked + &error);
    folder.put("n2/clickhouse-server.err.log", &error);
    let report = folder.report();
    assert_eq!(failed(&report).count, 1);
    assert_eq!(taken(&report), pairs(&[("n1", 1), ("202602_0_0_0", 1)]));
    // An err.log alone has no record to take from.
    let alone = Folder::with("n2/clickhouse-server.err.log", &error);
    assert_eq!(taken(&alone.report()), pairs(&[]));
}

fn crash(time: &str, thread: u32) -> String {
    format!(
        "2026.09.01 {time} [ {thread} ] {{}} <Error> BaseDaemon: (from thread 18) Received signal Segmentation fault (11).\n"
    )
}

fn frame(time: &str, thread: u32, text: &str) -> String {
    format!("2026.09.01 {time} [ {thread} ] {{}} <Error> BaseDaemon: 0. {text} [0x7fa128aa3f16]\n")
}

#[test]
fn the_top_frame_comes_from_the_first_record_after_on_the_thread() {
    let top = |log: &[String]| {
        let report = report(log);
        let subjects = &findings(&report, "server-crash")[0].subjects;
        subjects
            .get("top-frame")
            .map_or_else(String::new, ToString::to_string)
    };
    let given = top(&[
        crash("10:00:00.000000", 2),
        frame("10:00:00.000001", 3, "another()"),
        frame("10:00:00.000002", 2, "first()"),
        frame("10:00:00.000003", 2, "second()"),
    ]);
    assert!(
        given.contains("first()") && !given.contains("another") && !given.contains("second"),
        "{given}"
    );
    let late = top(&[
        crash("10:00:00.000000", 2),
        frame("10:00:30.000001", 2, "first()"),
    ]);
    assert!(!late.contains("first()"), "{late}");
    let before = top(&[
        frame("09:59:59.000000", 2, "first()"),
        crash("10:00:00.000000", 2),
    ]);
    assert!(!before.contains("first()"), "{before}");
}
