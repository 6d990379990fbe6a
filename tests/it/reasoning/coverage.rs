//! What no finding explains, by template; what nearly fits; and the share.

use super::{report_with, rule, signals};
use crate::product::{Folder, analyze, record};

fn error(second: u32, message: &str) -> String {
    record(&format!("10:00:{second:02}.000000"), "Error", "l", message)
}

#[test]
fn unexplained_errors_are_listed_by_template_most_frequent_first() {
    let mut log = String::new();
    log += &error(0, "Lost 7 sheep of herd 'north'");
    log += &error(1, "The barn is on fire");
    log += &error(2, "Lost 123 sheep of herd 'south by west'");
    log += &error(3, "Lost 8 sheep of herd ''");
    log += &record("10:00:04.000000", "Fatal", "l", "The barn is on fire");
    log += &record(
        "10:00:05.000000",
        "Warning",
        "l",
        "Lost 1 sheep of herd 'east'",
    );
    let report = Folder::with("n1/clickhouse-server.log", log).report();
    let coverage = &report.coverage;
    // A Fatal record is a signal of its own, which no finding claims here.
    assert_eq!(coverage.error_records, 5);
    let listed: u64 = coverage.unexplained.iter().map(|it| it.count).sum();
    assert_eq!(coverage.explained + listed, 5);
    let first = &coverage.unexplained[0];
    assert_eq!(
        (first.template.as_str(), first.count),
        ("Lost {} sheep of herd '{}'", 3)
    );
    let example = first.example.as_ref().unwrap();
    assert_eq!(example.line, 1);
    assert!(example.text.contains("Lost 7 sheep"), "{}", example.text);
    let fire = coverage
        .unexplained
        .iter()
        .find(|it| it.template == "The barn is on fire")
        .unwrap();
    assert_eq!(fire.count, 1);
}

#[test]
fn templates_that_tie_are_in_the_order_of_their_text() {
    let of = |messages: [&str; 3]| {
        let log: String = messages.iter().map(|message| error(0, message)).collect();
        let report = Folder::with("n1/clickhouse-server.log", log).report();
        let listed = report.coverage.unexplained.iter();
        listed.map(|it| it.template.clone()).collect::<Vec<_>>()
    };
    assert_eq!(
        of(["pear gone", "apple gone", "fig gone"]),
        ["apple gone", "fig gone", "pear gone"]
    );
    assert_eq!(
        of(["fig gone", "pear gone", "apple gone"]),
        ["apple gone", "fig gone", "pear gone"]
    );
}

#[test]
fn a_signal_explains_its_record_only_where_a_finding_counts_it() {
    let asked = |least: u32| {
        let rules = signals()
            + &rule(
                "asked",
                "",
                &format!("{{ count = \"a\", at-least = {least} }}"),
            );
        let log = error(0, "event-a of x") + &error(1, "event-a of y");
        report_with(&rules, &Folder::with("n1/clickhouse-server.log", log)).coverage
    };
    let explained = asked(2);
    assert_eq!((explained.error_records, explained.explained), (2, 2));
    assert!(explained.unexplained.is_empty());
    let silent = asked(3);
    assert_eq!((silent.error_records, silent.explained), (2, 0));
    assert_eq!(silent.unexplained.len(), 1);
    assert_eq!(silent.unexplained[0].count, 2);
    assert!(
        silent.unexplained[0].template.contains("event-a of"),
        "{:?}",
        silent.unexplained
    );
}

#[test]
fn a_finding_of_one_run_explains_nothing_of_another() {
    let rules = signals() + &rule("asked", "", "{ count = \"a\", at-least = 2 }");
    let folder = Folder::with(
        "x/n1/clickhouse-server.log",
        error(0, "event-a of x").repeat(2),
    );
    folder.put("y/n1/clickhouse-server.log", error(0, "event-a of x"));
    let coverage = report_with(&rules, &folder).coverage;
    assert_eq!((coverage.error_records, coverage.explained), (3, 2));
}

#[test]
fn what_is_benign_is_explained_without_a_finding() {
    let log = record(
        "10:00:00.000000",
        "Error",
        "shop.events (ReplicatedMergeTreeQueue)",
        "Couldn't remove /clickhouse/tables/events/replicas/n1/queue/queue-0000000101: No node. This shouldn't happen often.",
    );
    let report = Folder::with("n1/clickhouse-server.log", log).report();
    assert_eq!(
        (report.coverage.error_records, report.coverage.explained),
        (1, 1)
    );
    assert!(report.findings.is_empty());
}

#[test]
fn a_text_that_holds_a_signals_words_and_does_not_fit_is_a_near_miss() {
    let log = record(
        "10:00:00.000000",
        "Error",
        "q.s (94c6)",
        "Code: 210. DB::Exception: Source n2 did not prove it still holds the manifest it offered for part all_1_1_0 by a new way; the relink is abandoned. (NETWORK_ERROR)",
    );
    let report = Folder::with("n1/clickhouse-server.log", log.repeat(2)).report();
    let misses: Vec<_> = report
        .coverage
        .near_misses
        .iter()
        .filter(|it| it.signal == "relink-refused")
        .collect();
    assert_eq!(misses.len(), 1, "{:?}", report.coverage.near_misses);
    assert_eq!(misses[0].count, 2);
    assert_eq!(misses[0].example.as_ref().unwrap().line, 1);
    assert!(
        report
            .signals
            .iter()
            .all(|row| row.signal != "relink-refused" || row.count == 0)
    );
}

#[test]
fn the_share_explained_is_printed_in_every_form() {
    let user = "2026.09.01 10:00:00.000000 [ 7 ] {q-1} <Error> executeQuery: Code: 62. DB::Exception: Syntax error: failed at position 1. (SYNTAX_ERROR) (version 26.9.2.1) (from 127.0.0.1:0) (in query: SELEC 1)\n";
    let log = user.to_owned() + &error(1, "The barn is on fire").repeat(3);
    let folder = Folder::with("n1/clickhouse-server.log", log);
    let text = analyze(folder.path(), &[]).out;
    assert!(
        text.contains("explained 1 of 4 Error and Fatal records (25.0 %)"),
        "{text}"
    );
    assert!(text.contains("The barn is on fire"), "{text}");
    let page = analyze(folder.path(), &["--format", "markdown"]).out;
    assert!(
        page.contains("25.0 %") && page.contains("The barn is on fire"),
        "{page}"
    );
}
