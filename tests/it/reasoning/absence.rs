//! What did not happen counts only where it would have been seen.

use casdiag::vocab::{Confidence, Severity};

use super::{fires, fires_in, log};
use crate::product::{self, Folder, findings, fired, record};

/// `a` happened, and `c`, which is logged at Debug, did not.
const WITHOUT: &str = "{ all = [{ count = \"a\", at-least = 1 }, { count = \"c\", at-most = 0 }] }";
const OBSERVABLE: &str = "{ observable = \"c\" }";

/// The three kinds, with `c` at Debug only.
fn fires_where(when: &str, folder: &Folder) -> bool {
    let debug = "[[signal]]\nid = \"c\"\nwhat = \"w\"\nlevels = [\"debug\"]\ntemplates = [\"event-c of {subject:word}\"]\n";
    let rules = super::signals().replace("[[signal]]\nid = \"c\"", "[[signal]]\nid = \"unused\"");
    let rules = rules + debug + &super::rule("asked", "", when);
    let report = super::report_with(&rules, folder);
    fired(&report).contains(&"asked")
}

fn at(level: &str, text: &str) -> String {
    record("10:00:00.000000", level, "l", text)
}

#[test]
fn an_upper_bound_needs_a_log_that_would_show_more() {
    let a = at("Error", "event-a of x");
    // The main log goes down to Debug: what is not there did not happen.
    let main = Folder::with(
        "n1/clickhouse-server.log",
        a.clone() + &at("Debug", "other"),
    );
    assert!(fires_where(WITHOUT, &main));
    // It goes down to Information only.
    let terse = Folder::with(
        "n1/clickhouse-server.log",
        a.clone() + &at("Information", "other"),
    );
    assert!(!fires_where(WITHOUT, &terse));
    // Only the err.log is here.
    let err = Folder::with("n1/clickhouse-server.err.log", &a);
    assert!(!fires_where(WITHOUT, &err));
    // One node of two could not have shown it.
    let half = Folder::with(
        "n1/clickhouse-server.log",
        a.clone() + &at("Debug", "other"),
    );
    half.put("n2/clickhouse-server.err.log", &a);
    assert!(!fires_where(WITHOUT, &half));
}

#[test]
fn what_exceeds_a_bound_is_known_wherever_it_is_seen() {
    let folder = Folder::with(
        "n1/clickhouse-server.log",
        at("Error", "event-a of x") + &at("Debug", "event-c of x"),
    );
    folder.put("n2/clickhouse-server.err.log", at("Error", "event-a of x"));
    assert!(!fires_where(WITHOUT, &folder));
    let opposite = "{ none = [{ count = \"c\", at-most = 0 }] }";
    assert!(fires_where(opposite, &folder));
}

#[test]
fn the_opposite_of_unknown_is_unknown() {
    let err = Folder::with("n1/clickhouse-server.err.log", at("Error", "event-a of x"));
    for when in [
        "{ count = \"c\", at-most = 0 }",
        "{ none = [{ count = \"c\", at-most = 0 }] }",
        "{ any = [{ count = \"c\", at-most = 0 }, { count = \"b\", at-least = 1 }] }",
    ] {
        assert!(!fires_where(when, &err), "{when}");
    }
    // What is known decides beside it.
    assert!(fires_where(
        "{ any = [{ count = \"c\", at-most = 0 }, { count = \"a\", at-least = 1 }] }",
        &err
    ));
}

#[test]
fn observable_says_whether_every_node_would_have_shown_it() {
    let folder = Folder::with("n1/clickhouse-server.log", at("Debug", "other"));
    assert!(fires_where(OBSERVABLE, &folder));
    folder.put("n2/clickhouse-server.err.log", at("Error", "other"));
    assert!(!fires_where(OBSERVABLE, &folder));
}

#[test]
fn a_signal_at_any_level_is_seen_in_an_err_log() {
    let folder = Folder::with("n1/clickhouse-server.err.log", log(&["10:00:00 a"]));
    assert!(fires_in(WITHOUT, &folder));
}

#[test]
fn a_share_of_nothing_is_unknown() {
    let share = "{ share = \"a\", of = [\"a\", \"b\"], share-below = 0.5 }";
    let folder = Folder::with("n1/clickhouse-server.log", log(&["10:00:00 c"]));
    assert!(!fires_in(share, &folder));
    assert!(!fires_in(&format!("{{ none = [{share}] }}"), &folder));
    folder.put(
        "n1/clickhouse-server.log",
        log(&["10:00:00 b", "10:00:00 b", "10:00:00 a"]),
    );
    assert!(fires_in(share, &folder));
    // Half is not below half.
    folder.put(
        "n1/clickhouse-server.log",
        log(&["10:00:00 b", "10:00:00 a"]),
    );
    assert!(!fires_in(share, &folder));
    let at_least = "{ share = \"a\", of = [\"a\", \"b\"], share-at-least = 0.5 }";
    assert!(fires_in(at_least, &folder));
}

#[test]
fn an_err_log_alone_does_not_say_that_a_process_was_killed_or_paused() {
    let lost = "2026.09.01 10:00:40.000000 [ 9 ] {} <Error> void Coordination::ZooKeeper::receiveThread(): Code: 33, e.displayText() = DB::Exception: Cannot read all data. Bytes read: 0. Bytes expected: 4.: while reading from socket (127.0.0.1:2181), e.what() = DB::Exception, Stack trace:\n";
    let before = record("10:00:00.000000", "Error", "l", "other");
    let main = Folder::with(
        "n1/clickhouse-server.log",
        record("09:59:59.000000", "Information", "l", "at work") + &before + lost,
    );
    main.put("n1/clickhouse-server.err.log", before.clone() + lost);
    assert_eq!(
        findings(&main.report(), "process-paused").len(),
        1,
        "{:?}",
        fired(&main.report())
    );
    let err = Folder::with("n1/clickhouse-server.err.log", before + lost);
    let report = err.report();
    assert!(findings(&report, "process-paused").is_empty());
    assert_eq!(findings(&report, "coordination-lost").len(), 1);
}

#[test]
fn an_err_log_alone_does_not_say_that_no_restart_is_logged() {
    let folder = Folder::with(
        "soak.log",
        "[soak.run] a\nTRANSPORT FAILURE: [Errno 54] Connection reset by peer\n",
    );
    folder.put("ch1/clickhouse-server.err.log", at("Error", "other"));
    let report = folder.report();
    let title = &findings(&report, "replica-unreachable")[0].title;
    // Servers of all versions say `unclean restart` at Information.
    assert!(!title.contains("no restart is logged"), "{title}");
    folder.put("ch1/clickhouse-server.log", at("Debug", "other"));
    let report = folder.report();
    let title = &findings(&report, "replica-unreachable")[0].title;
    assert!(title.contains("no restart is logged"), "{title}");
}

const ALONE: &str = "{ alone = [\"a\", \"b\"] }";

#[test]
fn a_node_is_alone_only_beside_another_whose_log_covers_that_time() {
    let n1: (&str, &[&str]) = ("n1", &["10:00:05 a", "10:00:06 b"]);
    assert!(!fires(ALONE, &[n1]));
    assert!(fires(ALONE, &[n1, ("n2", &["10:00:05 c", "10:00:05 c"])]));
    assert!(!fires(ALONE, &[n1, ("n2", &["10:00:00 c", "10:00:04 c"])]));
    assert!(!fires(ALONE, &[n1, ("n2", &["10:00:06 c", "10:00:09 c"])]));
    // The other one has it too, by another of the counts.
    assert!(!fires(ALONE, &[n1, ("n2", &["10:00:00 c", "10:00:09 b"])]));
    // One of two others is enough.
    let n2: (&str, &[&str]) = ("n2", &["10:00:08 c", "10:00:09 c"]);
    assert!(fires(
        ALONE,
        &[n1, n2, ("n3", &["10:00:00 c", "10:00:09 c"])]
    ));
}

const EXPIRED: &str = "2026.09.01 10:00:40.000000 [ 9 ] {} <Error> a.b (ReplicatedMergeTreeQueue): Code: 999, e.displayText() = Coordination::Exception: Session expired (Session expired), e.what() = Coordination::Exception\n";
const UNREACHABLE: &str = "2026.09.01 10:00:41.000000 [ 9 ] {} <Error> void DB::DDLWorker::run(): Code: 999, e.displayText() = Coordination::Exception: All connection tries failed while connecting to ZooKeeper. Addresses: 127.0.0.1:2181\n";

/// The one finding of lost sessions: its severity, how sure it is, whom it accuses and what it says.
fn lost(folder: &Folder) -> (Severity, Confidence, Vec<String>, String) {
    let report = folder.report();
    let found = findings(&report, "coordination-lost");
    assert_eq!(found.len(), 1, "{:?}", fired(&report));
    let it = found[0];
    (
        it.severity,
        it.confidence,
        it.accused.clone(),
        it.title.clone(),
    )
}

#[test]
fn one_node_s_log_does_not_tell_the_service_from_the_way_there() {
    let at = |time: &str| record(time, "Information", "l", "at work");
    for (lines, severity) in [
        (EXPIRED.to_owned() + UNREACHABLE, Severity::High),
        (EXPIRED.to_owned(), Severity::Medium),
    ] {
        let folder = Folder::with("n1/clickhouse-server.err.log", &lines);
        let (found, sure, accused, title) = lost(&folder);
        assert_eq!((found, sure), (severity, Confidence::Possible), "{title}");
        assert!(accused.is_empty() && !title.contains("alone"), "{title}");
        // Another node's log ends before: it saw nothing of it.
        folder.put(
            "n2/clickhouse-server.log",
            at("10:00:00.000000") + &at("10:00:39.000000"),
        );
        assert_eq!(lost(&folder).1, Confidence::Possible);
        // It goes on beyond, at work.
        folder.put(
            "n2/clickhouse-server.log",
            at("10:00:00.000000") + &at("10:00:49.000000"),
        );
        let (found, sure, accused, title) = lost(&folder);
        assert_eq!((found, sure), (severity, Confidence::Likely), "{title}");
        assert_eq!(accused, ["n1"]);
        assert!(
            title.contains("n1 alone") && !title.contains(" 0 "),
            "{title}"
        );
    }
}

#[test]
fn two_nodes_that_cannot_reach_the_service_are_not_each_alone() {
    let folder = Folder::with("n1/clickhouse-server.err.log", UNREACHABLE);
    folder.put("n2/clickhouse-server.err.log", UNREACHABLE);
    let (severity, sure, accused, title) = lost(&folder);
    assert_eq!((severity, sure), (Severity::High, Confidence::Likely));
    assert_eq!(accused, ["127.0.0.1:2181"]);
    assert!(!title.contains("alone"), "{title}");
}

/// What a finding says that logs could not show for want of the time: the signal, the node and why not.
fn missed(folder: &Folder) -> Vec<(String, String, String)> {
    let report = folder.report();
    let found = findings(&report, "coordination-lost");
    let missed = found.iter().flat_map(|it| &it.not_observable);
    let missed = missed.filter(|it| it.why.starts_with("its log does not cover"));
    let missed = missed.map(|it| (it.signal.clone(), it.node.clone(), it.why.clone()));
    missed.collect()
}

#[test]
fn a_node_whose_log_does_not_cover_the_outage_weakens_no_verdict_and_is_named() {
    let at = |time: &str| record(time, "Information", "l", "at work");
    let log = at("10:00:00.000000") + EXPIRED + UNREACHABLE + &at("10:01:00.000000");
    let folder = Folder::with("n1/clickhouse-server.log", &log);
    folder.put("n2/clickhouse-server.log", &log);
    let (_, sure, accused, title) = lost(&folder);
    assert_eq!(sure, Confidence::Certain, "{title}");
    assert!(!title.contains("no log"), "{title}");
    assert!(missed(&folder).is_empty());
    for (times, how) in [
        (["09:00:00.000000", "09:59:00.000000"], "it ends earlier"),
        (["10:02:00.000000", "10:59:00.000000"], "it begins later"),
    ] {
        folder.put("n3/clickhouse-server.log", at(times[0]) + &at(times[1]));
        let (severity, now, same, title) = lost(&folder);
        assert_eq!((severity, now), (Severity::High, sure), "{title}");
        assert_eq!(same, accused);
        assert!(title.starts_with("n1 and n2 lost"), "{title}");
        assert!(
            title.ends_with("; no log of n3 covers that time"),
            "{title}"
        );
        let why = format!("its log does not cover the time of this: {how}");
        let signal = "coordination-session-lost".to_owned();
        assert_eq!(missed(&folder), [(signal, "n3".to_owned(), why)]);
    }
    // One that was at work then did not lose its session.
    folder.put(
        "n3/clickhouse-server.log",
        at("10:00:00.000000") + &at("10:00:59.000000"),
    );
    let (_, now, _, title) = lost(&folder);
    assert_eq!(now, Confidence::Possible, "{title}");
    assert!(title.contains("not all nodes at once"), "{title}");
}

#[test]
fn who_is_alone_is_so_among_those_whose_logs_cover_the_time() {
    let at = |time: &str| record(time, "Information", "l", "at work");
    let folder = Folder::with("n1/clickhouse-server.log", EXPIRED);
    folder.put(
        "n2/clickhouse-server.log",
        at("10:00:00.000000") + &at("10:01:00.000000"),
    );
    assert!(missed(&folder).is_empty());
    folder.put("n3/clickhouse-server.log", at("09:00:00.000000"));
    let (severity, sure, accused, title) = lost(&folder);
    assert_eq!((severity, sure), (Severity::Medium, Confidence::Likely));
    assert_eq!(accused, ["n1"]);
    assert!(
        title.ends_with("; no log of n3 covers that time"),
        "{title}"
    );
    let signals: Vec<String> = missed(&folder).into_iter().map(|it| it.0).collect();
    assert_eq!(
        signals,
        [
            "coordination-session-lost",
            "coordination-socket-broken",
            "coordination-unreachable"
        ]
    );
}

/// Both nodes silent for 40 s, then their sessions are gone, and new ones are had at once.
#[test]
fn after_a_silence_of_all_nodes_the_service_is_not_certain_and_the_silence_is_measured() {
    let broken = "2026.09.01 10:00:39.500000 [ 9 ] {} <Error> void Coordination::ZooKeeper::receiveThread(): Code: 33, e.displayText() = DB::Exception: Cannot read all data. Bytes read: 0. Bytes expected: 4.: while reading from socket (127.0.0.1:2181), e.what() = DB::Exception, Stack trace:\n";
    let log = record("09:59:58.250000", "Information", "l", "at work") + broken + EXPIRED;
    let folder = Folder::with("n1/clickhouse-server.log", &log);
    folder.put("n2/clickhouse-server.log", &log);
    let (severity, sure, _, title) = lost(&folder);
    assert_eq!((severity, sure), (Severity::High, Confidence::Possible));
    assert!(title.contains("what they run on"), "{title}");
    let report = folder.report();
    for rule in ["machine-paused", "process-paused"] {
        for finding in findings(&report, rule) {
            assert!(finding.title.contains("41.250 s"), "{}", finding.title);
            let first = finding.window.first.as_ref().unwrap();
            assert!(first.contains("T09:59:58.25"), "{first}");
        }
    }
    // A service that cannot be reached afterwards is at fault itself.
    folder.put("n1/clickhouse-server.log", log.clone() + UNREACHABLE);
    folder.put("n2/clickhouse-server.log", log + UNREACHABLE);
    assert_eq!(lost(&folder).1, Confidence::Certain);
}

#[test]
fn what_a_program_has_no_words_for_is_not_observable_in_its_log_and_leaves_the_total_whole() {
    let refused = at(
        "Error",
        "Code: 242. DB::Exception: Table is in readonly mode. (TABLE_IS_READ_ONLY)",
    );
    let folder = Folder::with(
        "n1/clickhouse-server.log",
        refused.replace(" l: ", " executeQuery: "),
    );
    folder.put(
        "zk/zookeeper.log",
        "2026-09-01 10:00:00,000 [myid:] - INFO  [main:ZooKeeperServerMain@123] - Starting server\n",
    );
    let ran = product::analyze(folder.path(), &["--fail-on", "never"]);
    let row = |signal: &str| {
        let line = ran.out.lines().find(|line| line.starts_with(signal));
        let line = line.unwrap_or_else(|| panic!("{signal}: {}", ran.out));
        let cells = line.split_whitespace().skip(1).take(3);
        cells.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(row("query-without-coordination"), ["1", "n/o", "1"]);
    assert_eq!(row("zookeeper-start"), ["n/o", "1", "1"]);
}
