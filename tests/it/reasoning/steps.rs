//! The order of a diagnosis: which finding answers which question, and which questions nothing answers.

use casdiag::report::model::Applies;

use super::{logs, report_with, rule, signals};
use crate::product::{Folder, analyze, base, record, report};

const WHEN: &str = "{ count = \"a\", at-least = 1 }";

fn refusal() -> &'static str {
    "Code: 210. DB::Exception: Source ch2 did not prove it still holds the manifest it offered for part all_4_4_0 by relink; the relink is abandoned and the fetch will be retried later. (NETWORK_ERROR)"
}

#[test]
fn the_questions_stand_in_the_order_that_avoids_false_causes() {
    let steps = base().declared.step.iter();
    let ids: Vec<&str> = steps.map(|it| it.id.get_ref().as_str()).collect();
    let asked = [
        "processes",
        "reach",
        "pairs",
        "answers",
        "store",
        "state",
        "convergence",
        "versions",
    ];
    assert_eq!(ids, asked);
    let without: Vec<&str> = base()
        .declared
        .rule
        .iter()
        .filter(|it| it.step.is_none())
        .map(|it| it.id.get_ref().as_str())
        .collect();
    assert_eq!(without, Vec::<&str>::new());
}

#[test]
fn each_finding_answers_the_step_of_its_rule_and_known_issues_the_last() {
    let start = "Starting ClickHouse 26.6.2.20000.altinityantalya (revision: 54510, git hash: 187e0661, build id: C386), PID 1";
    let mut log = record("09:00:00.000000", "Information", "Application", start);
    for second in 0..12 {
        log += &record(
            &format!("10:00:{second:02}.000000"),
            "Error",
            "q.s",
            refusal(),
        );
    }
    let folder = Folder::with("ch1/clickhouse-server.log", log);
    let report = report(folder.path());
    let storm = &report.findings[0];
    assert_eq!(storm.rule, "code-210-storm");
    let row = |id: &str| report.diagnosis.iter().find(|it| it.step == id).unwrap();
    assert_eq!(row("pairs").findings, [storm.id.as_str()]);
    assert_eq!(row("processes").findings, Vec::<String>::new());
    let known = row("versions").known.iter();
    let known: Vec<_> = known
        .map(|it| (it.reference.as_str(), it.applies))
        .collect();
    assert!(
        known.contains(&("Altinity/ClickHouse#2310", Applies::Yes)),
        "{known:?}"
    );
    // The issue is named, with the version that mends it, wherever the finding is told.
    for format in [
        "text", "markdown", "html", "github", "junit", "sarif", "json",
    ] {
        let out = analyze(folder.path(), &["--format", format]).out;
        let joined = out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(joined.contains("#2310"), "{format}");
        assert!(joined.contains("26.6.4.20001"), "{format}");
    }
}

#[test]
fn a_rule_without_a_step_answers_none_and_without_a_finding_nothing_is_asked() {
    let rules = signals() + &rule("mine", "", WHEN);
    let one = report_with(&rules, &logs(&[("n1", &["10:00:00 a"])]));
    assert_eq!(one.findings.len(), 1);
    assert!(one.diagnosis.iter().all(|it| it.findings.is_empty()));
    let none = report_with(&rules, &logs(&[("n1", &["10:00:00 b"])]));
    assert!(none.diagnosis.is_empty());
}
