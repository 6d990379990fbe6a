//! A storm that healed is said to have healed, by which record; one of which that is not shown is not.

use casdiag::report::model::{Finding, Report};
use casdiag::vocab::Severity;

use crate::product::{Folder, findings, record};

const STORAGE: &str = "shop.orders (StorageReplicatedMergeTree)";

/// A fetch of a part that is refused, twelve times a second apart, each on its own second.
fn refused(part: &str) -> String {
    let lines = (0..12).map(|second| {
        let time = format!("10:00:{second:02}.100000");
        let asks = format!("Fetching part {part} from /clickhouse/tables/orders/replicas/n1");
        let failure = "DB::StorageReplicatedMergeTree::queueTask()::<lambda(X&)>: Poco::Exception. Code: 1000, e.code() = 111, e.displayText() = Connection refused, e.what() = x";
        record(&time, "Debug", STORAGE, &asks) + &record(&time, "Error", STORAGE, failure)
    });
    lines.collect()
}

fn fetched(time: &str, part: &str) -> String {
    let text = format!("Fetched part {part} from /clickhouse/tables/orders/replicas/n1");
    record(time, "Debug", STORAGE, &text)
}

fn storm(report: &Report) -> &Finding {
    findings(report, "fetch-storm")[0]
}

fn report(log: &str) -> Report {
    Folder::with("n2/clickhouse-server.log", log).report()
}

#[test]
fn parts_that_came_afterwards_in_a_larger_one_healed_the_storm() {
    let log = refused("202602_1_1_0")
        + &fetched("10:00:20.000000", "202602_0_4_1")
        + &fetched("10:00:30.000000", "202603_0_0_0");
    let report = report(&log);
    let storm = storm(&report);
    assert_eq!(storm.severity, Severity::High);
    let healed = "healed: 1 part fetched since, by name or within a larger one, the last at 2026-09-01 10:00:20, and none is missing";
    assert!(storm.title.ends_with(healed), "{}", storm.title);
    assert!(
        storm.evidence[1].text.contains("Fetched part 202602_0_4_1"),
        "{:?}",
        storm.evidence
    );
}

#[test]
fn a_part_that_came_before_or_another_one_heals_nothing() {
    let log = fetched("09:59:59.000000", "202602_1_1_0")
        + &refused("202602_1_1_0")
        + &fetched("10:00:30.000000", "202602_2_2_0");
    let report = report(&log);
    let title = &storm(&report).title;
    let missing =
        "1 part is still missing where the log ends, and what came later is not observable";
    assert!(title.ends_with(missing), "{title}");
}

#[test]
fn where_no_record_names_the_parts_it_is_not_observable_whether_they_came() {
    let whole = refused("202602_1_1_0");
    let errors = whole.split_inclusive('\n');
    let log: String = errors.filter(|line| line.contains("<Error>")).collect();
    let report = Folder::with("n2/clickhouse-server.err.log", log).report();
    let storm = storm(&report);
    let untold = "of 12 failures it is not observable whether the part came";
    assert!(storm.title.ends_with(untold), "{}", storm.title);
    assert_eq!(storm.severity, Severity::High);
}

#[test]
fn a_try_that_finds_every_part_at_hand_is_no_divergence() {
    let found = |have: u32| {
        let text = format!("Found {have} parts that could be cloned (of 4 required parts)");
        record("10:00:30.000000", "Debug", STORAGE, &text)
    };
    let log = refused("202602_1_1_0") + &found(4).repeat(5);
    assert!(findings(&report(&log), "diverged-replicas").is_empty());
    // Those of others that lack parts are none of these failures.
    let log = refused("202602_1_1_0") + &found(1).repeat(5);
    assert!(findings(&report(&log), "diverged-replicas").is_empty());
}

#[test]
fn failures_after_a_clock_was_set_back_are_not_healed_by_what_came_before() {
    let came = fetched("10:00:40.000000", "202602_1_1_0");
    let log = refused("202602_1_1_0") + &came + &refused("202602_1_1_0");
    let title = &storm(&report(&log)).title.clone();
    let untold = "; of 12 failures it is not observable whether the part came";
    assert!(title.ends_with(untold), "{title}");
}

#[test]
fn a_failure_is_not_of_a_fetch_that_had_ended_on_its_thread() {
    let failures: String = refused("202602_1_1_0")
        .split_inclusive('\n')
        .filter(|line| line.contains("<Error>"))
        .collect();
    let ask = "Fetching part 202602_1_1_0 from /clickhouse/tables/orders/replicas/n1";
    let log = record("09:59:50.000000", "Debug", STORAGE, ask)
        + &fetched("09:59:51.000000", "202602_1_1_0")
        + &failures
        + &fetched("10:00:40.000000", "202602_1_1_0");
    let report = report(&log);
    let storm = storm(&report);
    let untold = "of 12 failures it is not observable whether the part came";
    assert!(storm.title.ends_with(untold), "{}", storm.title);
    assert!(storm.accused.is_empty(), "{:?}", storm.accused);
}

#[test]
fn only_a_start_of_the_service_while_servers_try_to_reach_it_ends_an_outage() {
    let lost = "Code: 210, e.displayText() = DB::NetException: Connection reset by peer, while reading from socket (127.77.0.1:29303), e.what() = DB::NetException, Stack trace:";
    let tries = "void DB::ReplicatedMergeTreeRestartingThread::run(): Code: 999, e.displayText() = Coordination::Exception: All connection tries failed while connecting to ZooKeeper. Addresses: 127.77.0.1:29303";
    for (start, is_cause) in [("10:00:20", true), ("10:02:20", false)] {
        let folder = Folder::with(
            "n1/clickhouse-server.err.log",
            record(
                "10:00:00.100000",
                "Error",
                "void Coordination::ZooKeeper::receiveThread()",
                lost,
            ) + &record(
                "10:00:05.100000",
                "Error",
                "shop.orders (ReplicatedMergeTreeRestartingThread)",
                tries,
            ),
        );
        let start = format!(
            "2026-09-01 {start},578 [myid:] - INFO  [main:ZooKeeperServerMain@123] - Starting server\n"
        );
        folder.put("zk/zookeeper.log", start.repeat(2));
        let report = folder.report();
        let title = &findings(&report, "coordination-lost")[0].title;
        assert_eq!(title.contains("because it was down"), is_cause, "{title}");
        assert!(
            !is_cause || title.starts_with("n1 lost its session"),
            "{title}"
        );
    }
}
