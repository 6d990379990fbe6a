//! What did not happen counts only where it would have been seen.

use super::{fires_in, log};
use crate::product::{Folder, findings, fired, record};

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
