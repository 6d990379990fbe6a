//! Wrong answers that other engines gave to questions like these, each by its claim.

use casdiag::report::model::Report;

use super::{fires, log, logs, report_with, rule, signals};
use crate::product::{self, Folder, findings, record, signal};

#[test]
fn no_window_alerts_over_more_than_its_span() {
    let three = "{ count = \"a\", at-least = 3, within = \"1m\" }";
    // Every 31 s for an hour: two in a minute, never three.
    let slow: Vec<String> = (0..116)
        .map(|n| n * 31)
        .map(|s| format!("1{}:{:02}:{:02} a", s / 3600, s / 60 % 60, s % 60))
        .collect();
    let slow: Vec<&str> = slow.iter().map(String::as_str).collect();
    assert!(!fires(three, &[("n1", &slow)]));
    // A late line that belongs further back does not stretch the window: these three span 70 s.
    assert!(!fires(
        three,
        &[("n1", &["10:00:30 a", "10:00:00 a", "10:01:10 a"])]
    ));
    assert!(!fires(
        three,
        &[("n1", &["10:01:10 a", "10:00:00 a", "10:00:30 a"])]
    ));
    assert!(!fires(
        three,
        &[("n1", &["10:01:00.000001 a", "10:00:30 a", "10:00:00 a"])]
    ));
}

#[test]
fn no_ordered_sequence_accepts_a_c_b() {
    let ordered = "{ sequence = [\"a\", \"b\", \"c\"], within = \"1m\" }";
    assert!(!fires(
        ordered,
        &[("n1", &["10:00:01 a", "10:00:02 c", "10:00:03 b"])]
    ));
    let skewed = "{ sequence = [\"a\", \"b\", \"c\"], within = \"1m\", skew = \"10ms\" }";
    let apart: &[(&str, &[&str])] = &[
        ("n1", &["10:00:01 a", "10:00:03 b"]),
        ("n2", &["10:00:02 c"]),
    ];
    assert!(!fires(skewed, apart));
}

#[test]
fn no_group_key_is_lost() {
    // Per node: two here and two there are no three anywhere.
    let per_node = signals() + &rule("asked", "per = \"node\"", "{ count = \"a\", at-least = 3 }");
    let two: &[&str] = &["10:00:00 a", "10:00:01 a"];
    let three: &[&str] = &["10:00:00 a", "10:00:01 a", "10:00:02 a"];
    let report = report_with(&per_node, &logs(&[("n1", two), ("n2", two)]));
    assert!(findings(&report, "asked").is_empty());
    let report = report_with(
        &per_node,
        &logs(&[("n1", two), ("n2", three), ("n3", three)]),
    );
    let found: Vec<_> = findings(&report, "asked");
    let of: Vec<_> = found
        .iter()
        .map(|it| (&it.reported_by[..], it.counts["a"]))
        .collect();
    assert_eq!(
        of,
        [(&["n2".to_owned()][..], 3), (&["n3".to_owned()][..], 3)]
    );
    // Per run: what two runs say is not summed.
    let of_run = signals() + &rule("asked", "", "{ count = \"a\", at-least = 3 }");
    let runs = logs(&[("x/n1", two), ("y/n1", two)]);
    assert!(findings(&report_with(&of_run, &runs), "asked").is_empty());
    let runs = logs(&[("x/n1", two), ("x/n2", two), ("y/n1", two)]);
    let report = report_with(&of_run, &runs);
    let found = findings(&report, "asked");
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].run.as_str(), found[0].counts["a"]), ("x", 4));
}

/// What a report says, without where its lines stand.
fn told(report: &Report) -> (Vec<(String, u64)>, String) {
    let top = signal(report, "a", "n1").unwrap().top["subject"].clone();
    let subjects = findings(report, "asked")[0].subjects["subject"].to_string();
    (top, subjects)
}

#[test]
fn no_tie_is_decided_by_hash_order_or_by_the_order_of_lines() {
    let more = "subjects.subject = { count = \"a\", field = \"subject\" }";
    let rules = signals() + &rule("asked", more, "{ count = \"a\", at-least = 1 }");
    let line = |name: &str| {
        record(
            "10:00:00.000000",
            "Debug",
            "l",
            &format!("event-a of {name}"),
        )
    };
    let mut names: Vec<String> = (0..40).map(|n| format!("s{:02}", n * 7 % 40)).collect();
    let of = |names: &[String]| {
        let text: String = names.iter().map(|name| line(name)).collect();
        told(&report_with(
            &rules,
            &Folder::with("n1/clickhouse-server.log", text),
        ))
    };
    let first = of(&names);
    names.reverse();
    assert_eq!(of(&names), first);
    names.sort();
    assert_eq!(of(&names), first);
    let shown: Vec<&str> = first.0.iter().map(|(name, _)| name.as_str()).collect();
    assert!(shown.len() >= 3 && shown.is_sorted(), "{shown:?}");
    assert_eq!(shown[0], "s00");
    assert!(
        first.1.contains("s00") && !first.1.contains("s39"),
        "{}",
        first.1
    );
}

#[test]
fn findings_that_tie_stand_in_the_order_of_their_nodes() {
    let rules = signals() + &rule("asked", "per = \"node\"", "{ count = \"a\", at-least = 1 }");
    let nodes = ["n3", "n1", "n10", "n2"];
    let folder = Folder::new();
    for node in nodes {
        folder.put(
            &format!("{node}/clickhouse-server.log"),
            log(&["10:00:00 a"]),
        );
    }
    let report = report_with(&rules, &folder);
    let order: Vec<&str> = findings(&report, "asked")
        .iter()
        .map(|it| it.reported_by[0].as_str())
        .collect();
    assert_eq!(order, ["n1", "n10", "n2", "n3"]);
}

#[test]
fn every_rule_that_is_built_in_says_where_a_fix_goes_and_its_findings_do() {
    let rules = &product::base().declared.rule;
    let silent: Vec<&String> = rules
        .iter()
        .filter(|rule| rule.fix_goes_in.is_none())
        .map(|rule| rule.id.get_ref())
        .collect();
    assert!(silent.is_empty(), "{silent:?}");
    let report = product::report(&product::repository("samples/incidents/report-001"));
    let storm = findings(&report, "code-210-storm")[0];
    let place =
        "ClickHouse: relink confirm at the source, fallback to a byte fetch at the receiver";
    assert_eq!(storm.fix_goes_in.as_deref(), Some(place));
    let known: Vec<_> = storm
        .known
        .iter()
        .map(|it| it.fixed_in.as_deref())
        .collect();
    assert_eq!(known, [None, None, Some("26.6.4.20001")]);
    assert_eq!((storm.runs.k, storm.runs.n), (1, 1));
    assert!(
        report
            .not_observable
            .iter()
            .all(|it| !it.collect.is_empty())
    );
}
