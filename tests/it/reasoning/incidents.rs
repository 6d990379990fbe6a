//! Findings tied by cause: one root, a sentence for the chain, common nodes, in time; and balances.

use casdiag::report::model::{Finding, Report};
use casdiag::report::{REPORTS, Style};

use super::{logs, report_with, rule, signals};
use crate::html::page;
use crate::product::{Folder, findings, record};

/// `root` by `a`, `effect` of it by `b`, `far` of that by `c`, each per node.
fn chain() -> String {
    let one = |id: &str, more: &str, letter: &str| {
        let more = format!("per = \"node\"\nreported-by = [\"{letter}\"]\n{more}");
        rule(
            id,
            &more,
            &format!("{{ count = \"{letter}\", at-least = 1 }}"),
        )
    };
    signals()
        + &one("root", "", "a")
        + &one("effect", "caused-by = [\"root\"]", "b")
        + &one("far", "caused-by = [\"effect\"]", "c")
}

fn report(nodes: &[(&str, &[&str])]) -> Report {
    report_with(&chain(), &logs(nodes))
}

fn only<'r>(report: &'r Report, rule: &str) -> &'r Finding {
    let found = findings(report, rule);
    assert_eq!(found.len(), 1, "{rule}");
    found[0]
}

#[test]
fn a_chain_is_one_incident_with_one_root_and_a_sentence() {
    let report = report(&[("n1", &["10:00:00 a", "10:00:01 b", "10:00:02 c"])]);
    let [root, effect, far] = ["root", "effect", "far"].map(|rule| only(&report, rule));
    assert!(root.caused_by.is_empty());
    assert_eq!(effect.caused_by, std::slice::from_ref(&root.id));
    assert_eq!(far.caused_by, std::slice::from_ref(&effect.id));
    assert_eq!(report.incidents.len(), 1, "{:?}", report.incidents);
    let incident = &report.incidents[0];
    assert_eq!((incident.id.as_str(), &incident.root), ("I1", &root.id));
    assert_eq!(incident.findings[0], root.id);
    let mut all = incident.findings.clone();
    all.sort();
    assert_eq!(all.len(), 3);
    let sentence = &incident.summary;
    let at = |text: &str| {
        sentence
            .find(text)
            .unwrap_or_else(|| panic!("{text}: {sentence}"))
    };
    assert!(at("root at n1") < at("follows from it") && at("follows from it") < at("effect at n1"));
    assert!(at("far at n1") > at("follows from it"));
}

#[test]
fn what_follows_from_a_follower_stands_below_it() {
    let report = report(&[("n1", &["10:00:00 a", "10:00:01 b", "10:00:02 c"])]);
    let [root, effect, far] = ["root", "effect", "far"].map(|rule| &only(&report, rule).id);
    let said = format!("I1: {effect} follows from {root}, {far} from {effect}");
    for name in ["text", "markdown"] {
        let output = REPORTS.iter().find(|it| it.name == name).unwrap();
        let style = Style {
            color: false,
            width: 120,
        };
        let mut text = Vec::new();
        (output.write)(&report, &style, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(text.contains(&said), "{text}");
    }
    // In the page the card of what follows stands in the effects of its cause: so many are open there.
    let page = page(&report);
    let depth = |id: &str| {
        let card = format!("href=\"#{id}\"><span class=\"card-head\">");
        let (before, _) = page
            .split_once(&card)
            .unwrap_or_else(|| panic!("{id}: {page}"));
        before.matches("class=\"effects\"").count()
    };
    assert_eq!([root, effect, far].map(|id| depth(id)), [0, 1, 2]);
}

#[test]
fn a_cause_on_another_node_is_none() {
    let report = report(&[("n1", &["10:00:00 a"]), ("n2", &["10:00:01 b"])]);
    assert!(only(&report, "effect").caused_by.is_empty());
    assert_eq!(report.incidents.len(), 2);
}

#[test]
fn a_cause_elsewhere_is_one_only_where_the_rule_says_so() {
    let elsewhere = chain().replace("caused-by = [\"root\"]", "caused-elsewhere-by = [\"root\"]");
    let caused = |nodes: &[(&str, &[&str])]| {
        let report = report_with(&elsewhere, &logs(nodes));
        !only(&report, "effect").caused_by.is_empty()
    };
    assert!(caused(&[("n1", &["10:00:00 a"]), ("n2", &["10:00:01 b"])]));
    assert!(!caused(&[("n1", &["10:00:00 a", "10:00:01 b"])]));
    // Long over.
    assert!(!caused(&[("n1", &["10:00:00 a"]), ("n2", &["10:02:01 b"])]));
}

#[test]
fn a_second_start_follows_from_the_death_before_it_and_not_the_first_one() {
    let first = rule(
        "again",
        "per = \"node\"\nreported-by = [\"b\"]\nafter-first = true\ncaused-by = [\"root\"]",
        "{ count = \"b\", at-least = 2 }",
    );
    let nodes: &[(&str, &[&str])] = &[("n1", &["10:00:00 b", "10:05:00 a", "10:05:08 b"])];
    let report = report_with(&(chain() + &first), &logs(nodes));
    let again = only(&report, "again");
    assert_eq!(again.caused_by, [only(&report, "root").id.clone()]);
    assert!(again.window.first.as_ref().unwrap().contains("T10:05:08"));
}

#[test]
fn each_node_has_its_own_chain() {
    let report = report(&[
        ("n1", &["10:00:00 a", "10:00:01 b"]),
        ("n2", &["10:00:00 a", "10:00:01 b"]),
    ]);
    for effect in findings(&report, "effect") {
        let causes: Vec<_> = report
            .findings
            .iter()
            .filter(|it| effect.caused_by.contains(&it.id))
            .collect();
        assert_eq!(causes.len(), 1);
        assert_eq!(causes[0].reported_by, effect.reported_by);
    }
    assert_eq!(report.incidents.len(), 2);
}

#[test]
fn a_cause_of_another_run_is_none() {
    let report = report(&[("x/n1", &["10:00:00 a"]), ("y/n1", &["10:00:01 b"])]);
    assert!(only(&report, "effect").caused_by.is_empty());
}

#[test]
fn a_cause_begins_before_its_effect_and_is_not_long_over() {
    let tied = |cause: &str, effect: &str| {
        let report = report(&[("n1", &[cause, effect])]);
        !only(&report, "effect").caused_by.is_empty()
    };
    assert!(tied("10:00:00 a", "10:00:00 b"));
    assert!(tied("10:00:00 a", "10:00:30 b"));
    // Clocks and the order of logging: the sufferer may be a little earlier.
    assert!(tied("10:00:05 a", "10:00:00 b"));
    assert!(!tied("10:05:00 a", "10:00:00 b"));
    assert!(!tied("10:00:00 a", "11:00:00 b"));
}

#[test]
fn an_undeclared_cause_ties_nothing() {
    let report = report(&[("n1", &["10:00:00 a", "10:00:01 c"])]);
    assert!(only(&report, "far").caused_by.is_empty());
    assert_eq!(report.incidents.len(), 2);
}

#[test]
fn every_finding_is_in_one_incident() {
    let report = report(&[
        ("n1", &["10:00:00 a", "10:00:01 b"]),
        ("n2", &["10:00:02 b", "10:00:03 c"]),
        ("n3", &["10:00:00 c"]),
    ]);
    let mut listed: Vec<&String> = report
        .incidents
        .iter()
        .flat_map(|it| &it.findings)
        .collect();
    listed.sort();
    let mut all: Vec<&String> = report.findings.iter().map(|it| &it.id).collect();
    all.sort();
    assert_eq!(listed, all);
    assert!(
        report
            .incidents
            .iter()
            .all(|it| it.findings.contains(&it.root))
    );
}

#[test]
fn two_causes_of_one_effect_do_not_follow_from_each_other() {
    let both = chain()
        .replace("caused-by = [\"effect\"]", "")
        .replace("caused-by = [\"root\"]", "caused-by = [\"root\", \"far\"]");
    let report = report_with(
        &both,
        &logs(&[("n1", &["10:00:00 a", "10:00:00 c", "10:00:01 b"])]),
    );
    assert_eq!(only(&report, "effect").caused_by.len(), 2);
    assert_eq!(report.incidents.len(), 1);
    let sentence = &report.incidents[0].summary;
    let (before, follows) = sentence.split_once("follows from").unwrap();
    assert!(
        before.contains("root at n1") && before.contains("far at n1"),
        "{sentence}"
    );
    assert!(follows.contains("effect at n1"), "{sentence}");
}

#[test]
fn rules_that_name_each_other_end() {
    let both = chain().replace(
        "id = \"root\"\n",
        "id = \"root\"\ncaused-by = [\"effect\"]\n",
    );
    let report = report_with(&both, &logs(&[("n1", &["10:00:00 a", "10:00:00 b"])]));
    assert_eq!(report.incidents.len(), 1);
    assert_eq!(report.incidents[0].findings.len(), 2);
}

const BALANCE: &str = "[[balance]]\nname = \"asked\"\nleft = { what = \"sent\", count = { signal = \"a\" } }\n\
    right = [{ what = \"done\", count = { signal = \"b\" } }, { what = \"refused\", count = { signal = \"c\", where = { subject = \"x\" } } }]\n\
    could-be = [\"lost on the way\"]\n";

#[test]
fn a_balance_shows_both_sides_over_all_nodes_of_a_run() {
    let folder = logs(&[
        ("n1", &["10:00:00 a", "10:00:01 a", "10:00:02 a"]),
        ("n2", &["10:00:00 b", "10:00:01 c"]),
    ]);
    folder.put(
        "n3/clickhouse-server.log",
        record("10:00:02.000000", "Debug", "l", "event-c of y"),
    );
    let report = report_with(&(signals() + BALANCE), &folder);
    let balance = report
        .balances
        .iter()
        .find(|it| it.name == "asked")
        .unwrap();
    assert_eq!(
        (balance.left.what.as_str(), balance.left.count),
        ("sent", 3)
    );
    let right: Vec<_> = balance
        .right
        .iter()
        .map(|side| (side.what.as_str(), side.count))
        .collect();
    assert_eq!(right, [("done", 1), ("refused", 1)]);
    assert_eq!(balance.remainder, 1);
    assert_eq!(balance.could_be, ["lost on the way"]);
}

#[test]
fn a_balance_is_shown_where_either_side_counts_and_by_run() {
    let more: &[&str] = &["10:00:00 b", "10:00:01 b"];
    let report = report_with(
        &(signals() + BALANCE),
        &logs(&[
            ("x/n1", more),
            ("y/n1", &["10:00:00 a"]),
            ("z/n1", &["10:00:00 x"]),
        ]),
    );
    let asked: Vec<_> = report
        .balances
        .iter()
        .filter(|it| it.name == "asked")
        .map(|it| (it.run.as_str(), it.left.count, it.remainder))
        .collect();
    assert_eq!(asked, [("x", 0, -2), ("y", 1, 1)]);
    let nothing = report_with(
        &(signals() + BALANCE),
        &Folder::with("n1/clickhouse-server.log", super::log(&["10:00:00 x"])),
    );
    assert!(nothing.balances.iter().all(|it| it.name != "asked"));
}
