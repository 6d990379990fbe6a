//! A storm that healed is said to have healed, by which record; one of which that is not shown is not.

use casdiag::report::model::{Finding, Report};
use casdiag::vocab::Severity;

use crate::product::{Folder, findings, record};

const STORAGE: &str = "shop.orders (StorageReplicatedMergeTree)";

/// A fetch of a part that is refused, twelve times a second apart, each on its own second.
fn refused(part: &str) -> String {
    refused_at("10:00", STORAGE, part)
}

fn refused_at(minute: &str, logger: &str, part: &str) -> String {
    let lines = (0..12).map(|second| {
        let time = format!("{minute}:{second:02}.100000");
        let failure = "DB::StorageReplicatedMergeTree::queueTask()::<lambda(X&)>: Poco::Exception. Code: 1000, e.code() = 111, e.displayText() = Connection refused, e.what() = x";
        asked(&time, logger, part) + &record(&time, "Error", logger, failure)
    });
    lines.collect()
}

fn asked(time: &str, logger: &str, part: &str) -> String {
    let text = format!("Fetching part {part} from /clickhouse/tables/orders/replicas/n1");
    record(time, "Debug", logger, &text)
}

fn fetched(time: &str, part: &str) -> String {
    fetched_of(time, STORAGE, part)
}

fn fetched_of(time: &str, logger: &str, part: &str) -> String {
    let text = format!("Fetched part {part} from /clickhouse/tables/orders/replicas/n1");
    record(time, "Debug", logger, &text)
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
fn what_the_accused_do_agrees_with_how_many_they_are() {
    let one = refused("202602_1_1_0");
    let other = refused_at("10:01", STORAGE, "202602_2_2_0").replace("replicas/n1", "replicas/n3");
    for (log, says) in [
        (
            one.clone(),
            "n1 refuses connections on its interserver port;",
        ),
        (
            one + &other,
            "n1 and n3 refuse connections on their interserver ports;",
        ),
    ] {
        let title = storm(&report(&log)).title.clone();
        assert!(title.contains(says), "{title}");
    }
}

#[test]
fn failures_whose_name_was_not_resolved_are_named_among_the_kinds() {
    let failure = "Poco::Exception. Code: 1000, e.code() = 111, e.displayText() = Connection refused, e.what() = x";
    let unresolved =
        "Code: 198. DB::NetException: Not found address of host: ch1: (ch1:9009). (DNS_ERROR)";
    let log = refused("202602_1_1_0").replace(failure, unresolved);
    let title = storm(&report(&log)).title.clone();
    let says = " at n2, 12 for a name that was not resolved; source: n1;";
    assert!(title.contains(says), "{title}");
}

/// What the title of a storm of one part says of that part.
fn told(log: &str) -> String {
    let title = storm(&report(log)).title.clone();
    let (_, told) = title.split_once("; ").unwrap();
    told.to_owned()
}

const HEALED: &str = "healed: 1 part fetched since, by name or within a larger one, the last at 2026-09-01 10:00:30, and none is missing";
const MISSING: &str =
    "1 part is still missing where the log ends, and what came later is not observable";
const UNTOLD: &str = "of 1 failure it is not observable whether the part came";

#[test]
fn a_table_is_told_by_its_uuid_and_else_by_its_whole_name() {
    let uuid =
        |table: &str, last: u8| format!("{table} (3f1c0b5e-0000-4000-8000-00000000000{last})");
    for (failed, came, says) in [
        (
            "`my db`.`orders` (Data)".to_owned(),
            "`my db`.`events` (Data)".to_owned(),
            MISSING,
        ),
        (
            "`my db`.`orders` (Data)".to_owned(),
            "`my db`.`orders` (Data)".to_owned(),
            HEALED,
        ),
        // One of them is within the other up to the first parenthesis, one up to the first quote.
        (
            "a.`b (1)` (Data)".to_owned(),
            "a.`b (2)` (Data)".to_owned(),
            MISSING,
        ),
        (
            r"a.`b\` 1` (Data)".to_owned(),
            r"a.`b\` 2` (Data)".to_owned(),
            MISSING,
        ),
        // Dropped and made anew; renamed.
        (uuid("a.b", 1), uuid("a.b", 2), MISSING),
        (uuid("a.b", 1), uuid("a.c", 1), HEALED),
        (uuid("`a b`.c", 1), uuid("`a b`.d", 1), HEALED),
    ] {
        let log = refused_at("10:00", &failed, "all_1_1_0")
            + &fetched_of("10:00:30.000000", &came, "all_1_1_0");
        assert_eq!(told(&log), says, "{failed} {came}");
    }
}

#[test]
fn an_entry_with_nothing_to_do_says_that_its_part_is_here() {
    let skips = "Skipping action for part all_1_1_0 because part all_0_9_1 already exists.";
    let log = fetched("09:59:59.000000", "all_0_9_1")
        + &refused("all_1_1_0")
        + &record("10:00:30.000000", "Debug", STORAGE, skips);
    assert_eq!(told(&log), HEALED);
}

#[test]
fn what_is_fetched_into_the_folder_of_detached_parts_was_here_before_or_is_not() {
    let detached = record(
        "10:01:01.000000",
        "Debug",
        STORAGE,
        "Fetched part all_1_1_0 from /clickhouse/tables/orders/replicas/n1 (to 'detached' directory)",
    );
    let came = refused("all_1_1_0") + &fetched("10:00:30.000000", "all_1_1_0");
    let begun = came + &asked("10:01:00.000000", STORAGE, "all_1_1_0");
    assert_eq!(told(&(begun.clone() + &detached)), HEALED);
    // Begun once more, and no record tells what for or what came of it.
    assert_eq!(told(&begun), UNTOLD);
    assert_eq!(told(&(refused("all_1_1_0") + &detached)), MISSING);
}

#[test]
fn a_part_that_is_dropped_is_neither_here_nor_missing() {
    let removed = record(
        "10:00:41.000000",
        "Debug",
        "shop.orders (ReplicatedMergeTreeQueue)",
        "Removed 1 entries from queue. Waiting for 0 entries that are currently executing.",
    );
    for (range, says) in [
        (
            "all_0_9_999999999",
            "1 part was dropped since and is wanted no more",
        ),
        // Another partition: which entries went is told, and this part's was none of them.
        ("b_0_9_999999999", MISSING),
    ] {
        let drops = format!("Executing DROP_RANGE {range}");
        let drops = record("10:00:40.000000", "Trace", STORAGE, &drops);
        assert_eq!(told(&(refused("all_1_1_0") + &drops + &removed)), says);
    }
    // Of a log without Trace it is not told which.
    assert_eq!(told(&(refused("all_1_1_0") + &removed)), UNTOLD);
    let none = removed.replace("Removed 1 entries", "Removed 0 entries");
    assert_eq!(told(&(refused("all_1_1_0") + &none)), MISSING);
}

#[test]
fn what_came_by_a_clock_that_was_set_back_cannot_be_told() {
    let log = refused_at("10:59", STORAGE, "all_1_1_0") + &fetched("10:00:20.000000", "all_1_1_0");
    assert_eq!(told(&log), UNTOLD);
}

#[test]
fn a_part_that_a_newer_version_calls_broken_is_missing_again() {
    let broken = "Part all_1_1_0 looks broken. Removing it and will try to fetch.";
    let log = refused("all_1_1_0")
        + &fetched("10:00:30.000000", "all_1_1_0")
        + &record(
            "10:00:40.000000",
            "Error",
            "shop.orders (ReplicatedMergeTreePartCheckThread)",
            broken,
        );
    assert_eq!(told(&log), MISSING);
}

#[test]
fn what_came_while_the_log_has_a_hole_cannot_be_told() {
    let failures = refused("all_1_1_0");
    let errors = |minute: &str| {
        let log = refused_at(minute, STORAGE, "all_1_1_0");
        let errors = log.split_inclusive('\n');
        errors
            .filter(|line| line.contains("<Error>"))
            .collect::<String>()
    };
    let last = fetched("10:05:00.000000", "all_2_2_0");
    let title = |pieces: &[(&str, &str)]| {
        let folder = Folder::with("n2/clickhouse-server.log", &last);
        for (name, text) in pieces {
            folder.put(&format!("n2/clickhouse-server.{name}"), *text);
        }
        storm(&folder.report()).title.clone()
    };
    // Two pieces that follow each other, and all that the err.log has.
    let whole = title(&[("log.0", &failures), ("err.log", &errors("10:00"))]);
    assert!(whole.ends_with(MISSING), "{whole}");
    // The number of one between them is not here.
    let numbered = title(&[("log.2", &failures)]);
    assert!(numbered.ends_with(UNTOLD), "{numbered}");
    // The err.log has twelve failures of a time between them.
    let both = errors("10:00") + &errors("10:02");
    let lacking = title(&[("log.1", &failures), ("err.log", &both)]);
    let untold = "; of 13 failures it is not observable whether the part came";
    assert!(lacking.ends_with(untold), "{lacking}");
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
