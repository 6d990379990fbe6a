//! `cases/clickhouse`: logs of real processes under injected faults. The truth beside them is no input.

use std::path::{Path, PathBuf};

use casdiag::intake::{Names, NodeGlob};
use casdiag::pipeline::Plan;
use casdiag::report::model::Report;
use casdiag::vocab::Severity;

use super::{expected, folders, is_within, name, number, numbers, prose};
use crate::product::{self, findings};

/// Asserts what a case says in prose.
type Check = fn(&Report);

/// The prose of `conclusion` and `must_not`, by case.
const READ: &[(&str, Check)] = &[
    ("01-baseline", nothing_is_wrong),
    ("02-fetch-refused", the_silent_node_is_accused),
    (
        "07-zookeeper-outage",
        nested_codes_are_no_errors_of_their_own,
    ),
    (
        "10-replace-partition-divergence",
        the_resetting_node_is_accused,
    ),
    ("m1-errors-textlog", forged_records_are_no_crash),
];

/// The folders of a case that are input: one per node.
pub(super) fn inputs(folder: &Path) -> Vec<PathBuf> {
    let nodes = expected(folder)["nodes"].clone();
    let nodes = nodes.as_array().unwrap().iter();
    nodes
        .map(|node| folder.join(node.as_str().unwrap()))
        .collect()
}

pub(super) fn report(folder: &Path) -> Report {
    let roots = inputs(folder);
    let names = |node: &PathBuf| NodeGlob {
        name: name(node).to_owned(),
        glob: globset::Glob::new(&format!("**/{}/**", name(node)))
            .unwrap()
            .compile_matcher(),
    };
    product::report_of(&Plan {
        names: Names {
            nodes: roots.iter().map(names).collect(),
            ..Names::default()
        },
        roots,
        ..Plan::default()
    })
}

#[test]
fn records_of_every_file_and_node_are_as_measured() {
    for folder in folders("clickhouse") {
        let (expected, report) = (expected(&folder), report(&folder));
        let id = name(&folder);
        for (path, measured) in expected["measured"]["files"].as_object().unwrap() {
            let input = product::input(&report, path);
            assert_eq!(input.records, number(&measured["records"]), "{id} {path}");
            let stamp = |at: &Option<String>| at.as_ref().map(|it| it[..26].replace('T', " "));
            let whole = report.records.suspect == 0;
            let measured = |key: &str| measured[key].as_str().map(str::to_owned);
            if whole {
                assert_eq!(stamp(&input.first), measured("min"), "{id} {path}");
                assert_eq!(stamp(&input.last), measured("max"), "{id} {path}");
            }
        }
        for (node, measured) in expected["measured"]["nodes"].as_object().unwrap() {
            let only_err = number(&measured["err_log_only"]);
            let records = number(&measured["log_records"]) + only_err;
            assert_eq!(report.records.by_node[node], records, "{id} {node}");
        }
    }
}

#[test]
fn levels_and_codes_of_every_node_are_as_measured() {
    for folder in folders("clickhouse") {
        let (expected, report) = (expected(&folder), report(&folder));
        let id = name(&folder);
        let mut levels = std::collections::BTreeMap::new();
        for (node, measured) in expected["measured"]["nodes"].as_object().unwrap() {
            for (level, count) in numbers(&measured["log_levels"]) {
                let class = match level.as_str() {
                    "Information" | "Notice" => "info".to_owned(),
                    other => other.to_lowercase(),
                };
                *levels.entry(class).or_default() += count;
            }
            let main = format!("{node}/clickhouse-server.log");
            let mut codes = numbers(&expected["measured"]["files"][&main]["codes"]);
            codes.remove("none");
            let rows = report.codes.iter().filter(|row| &row.node == node);
            let mut found = std::collections::BTreeMap::new();
            for row in rows {
                *found.entry(row.code.to_string()).or_default() += row.count;
            }
            assert_eq!(found, codes, "{id} {node}");
        }
        assert_eq!(report.records.by_level, levels, "{id}");
    }
}

#[test]
fn every_case_has_its_verdict() {
    let mut checked = 0;
    for folder in folders("clickhouse") {
        let (_, check) = READ
            .iter()
            .find(|(id, _)| *id == name(&folder))
            .expect("a case is registered with its verdict");
        check(&report(&folder));
        checked += 1;
    }
    assert_eq!(checked, READ.len());
}

/// What must be found: rule, severity, who reports, who is accused, and in which of the truth's windows.
type Found = (
    &'static str,
    Severity,
    &'static [&'static str],
    &'static [&'static str],
    usize,
);

/// The findings of each case, by the truth beside it.
const FOUND: &[(&str, &[Found])] = &[
    (
        "02-fetch-refused",
        &[("fetch-storm", Severity::High, &["n2"], &["n1"], 0)],
    ),
    (
        "07-zookeeper-outage",
        &[(
            "coordination-lost",
            Severity::High,
            &["n1", "n2"],
            &["127.77.0.1:29303"],
            0,
        )],
    ),
    (
        "10-replace-partition-divergence",
        &[
            ("fetch-storm", Severity::High, &["n2"], &["n1"], 0),
            ("fetch-storm", Severity::High, &["n3"], &["n1"], 0),
            ("diverged-replicas", Severity::High, &["n2"], &["n1"], 0),
            ("diverged-replicas", Severity::High, &["n3"], &["n1"], 0),
        ],
    ),
    (
        "m1-errors-textlog",
        &[
            ("memory-limit", Severity::Medium, &["m1"], &[], 2),
            ("too-many-parts", Severity::Medium, &["m1"], &[], 3),
        ],
    ),
];

#[test]
fn each_injected_fault_is_found_when_and_where_it_was_and_nothing_else() {
    for (id, wanted) in FOUND {
        let folder = product::repository("tests/cases/clickhouse").join(id);
        let (windows, report) = (
            expected(&folder)["truth"]["windows"].clone(),
            report(&folder),
        );
        for &(rule, severity, reporters, accused, window) in *wanted {
            let reported = |it: &&&casdiag::report::model::Finding| it.reported_by == reporters;
            let found = findings(&report, rule);
            let found: Vec<_> = found.iter().filter(reported).collect();
            assert_eq!(found.len(), 1, "{id} {rule}");
            let finding = found[0];
            assert_eq!(finding.severity, severity, "{id} {rule}");
            assert_eq!(finding.accused, accused, "{id} {rule}");
            let window = &windows[window];
            let edge = |key: &str| window[key].as_str().unwrap();
            let grace = window["grace_s"].as_i64().unwrap();
            assert!(
                is_within(finding, edge("start"), edge("end"), grace),
                "{id} {rule}: {:?} leaves {window}",
                finding.window
            );
        }
        let worse = report
            .findings
            .iter()
            .filter(|it| it.severity > Severity::Low);
        assert_eq!(
            worse.count(),
            wanted.len(),
            "{id}: {:?}",
            product::fired(&report)
        );
        let coverage = &report.coverage;
        let listed: u64 = coverage.unexplained.iter().map(|it| it.count).sum();
        assert_eq!(coverage.explained + listed, coverage.error_records, "{id}");
        // Only what a query forged stays unexplained.
        let forged = |text: &str| text.starts_with("(may be forged) ");
        let unexplained = &coverage.unexplained;
        assert!(
            unexplained.iter().all(|it| forged(&it.template)),
            "{unexplained:?}"
        );
    }
}

/// Whose verdict says so: the case, the rule, who reports, and words of the truth beside it. The truth of the first says that
/// the queue drained between 16:30:28.8 and 16:30:32.3; that of the last that nothing did.
const SAID: &[(&str, &str, &str, &str)] = &[
    (
        "02-fetch-refused",
        "fetch-storm",
        "n2",
        "healed: 32 parts fetched since, by name or within a larger one, the last at 2026-11-29 16:30:3",
    ),
    (
        "07-zookeeper-outage",
        "coordination-lost",
        "n1",
        "ZooKeeper's own log has it start after that (2 starts in all)",
    ),
    (
        "10-replace-partition-divergence",
        "fetch-storm",
        "n2",
        "; 7 parts are still missing where the log ends",
    ),
    (
        "10-replace-partition-divergence",
        "fetch-storm",
        "n3",
        "; 8 parts are still missing where the log ends",
    ),
];

#[test]
fn a_verdict_says_whether_it_healed_and_what_the_service_says_itself() {
    for (id, rule, reporter, said) in SAID {
        let report = product::report(&product::repository("tests/cases/clickhouse").join(id));
        let found = findings(&report, rule);
        let mut mine = found.iter().filter(|it| it.reported_by[0] == *reporter);
        let finding = mine.next().unwrap();
        assert!(finding.title.contains(said), "{id}: {}", finding.title);
    }
}

#[test]
fn a_start_beside_an_outage_is_no_error_in_its_color() {
    let folder = product::repository("tests/cases/clickhouse/07-zookeeper-outage");
    let page = crate::html::page(&product::report(&folder));
    let color = |what: &str| {
        let (before, _) = page.split_once(&format!("title=\"{what}")).unwrap();
        let (_, class) = before.rsplit_once("class=\"row it lane ").unwrap();
        class.split('"').next().unwrap().to_owned()
    };
    assert_eq!(color("A ZooKeeper server starts"), "none");
    assert_eq!(color("Background work failed because the session"), "high");
}

#[test]
fn a_healthy_cluster_exits_with_0() {
    let healthy = |folder: &PathBuf| expected(folder)["truth"]["fault"] == "none";
    for folder in folders("clickhouse").into_iter().filter(healthy) {
        let ran = product::analyze(&folder, &["--fail-on", "low", "--format", "json"]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
    }
}

fn nothing_is_wrong(report: &Report) {
    let worse: Vec<_> = report
        .findings
        .iter()
        .filter(|it| it.severity > Severity::Low)
        .collect();
    assert!(worse.is_empty(), "{worse:?}");
    // An empty err.log is no missing log.
    for node in ["n1", "n2"] {
        let input = product::input(report, &format!("{node}/clickhouse-server.err.log"));
        assert_eq!(
            (input.format.as_str(), input.records, input.problems.len()),
            ("clickhouse", 0, 0)
        );
    }
    assert!(report.complete);
}

fn the_silent_node_is_accused(report: &Report) {
    let storm = findings(report, "fetch-storm");
    assert_eq!(storm.len(), 1, "{:?}", product::fired(report));
    assert_eq!(
        (&storm[0].reported_by[..], &storm[0].accused[..]),
        (&["n2".to_owned()][..], &["n1".to_owned()][..])
    );
    assert_eq!(storm[0].counts["failed"], 73);
    assert!(!prose(report).contains("data-loss"));
    assert!(
        report
            .findings
            .iter()
            .all(|it| !it.accused.contains(&"n2".to_owned())),
        "n2 is not to blame"
    );
}

fn nested_codes_are_no_errors_of_their_own(report: &Report) {
    for node in ["n1", "n2"] {
        let of = |code| {
            report
                .codes
                .iter()
                .filter(move |row| row.node == node && row.code == code)
                .map(|row| row.count)
                .sum::<u64>()
        };
        assert_eq!((of(210), of(1000), of(242)), (1, 1, 8), "{node}");
        assert!(of(999) >= 15, "{node}");
    }
}

fn the_resetting_node_is_accused(report: &Report) {
    let storms = findings(report, "fetch-storm");
    assert!(!storms.is_empty(), "{:?}", product::fired(report));
    for storm in storms {
        assert!(storm.accused.contains(&"n1".to_owned()), "{storm:?}");
        assert!(!storm.reported_by.contains(&"n1".to_owned()), "{storm:?}");
    }
}

fn forged_records_are_no_crash(report: &Report) {
    assert!(report.records.suspect >= 3, "{:?}", report.records);
    assert!(findings(report, "server-crash").is_empty());
    assert!(!prose(report).contains("crash"), "{}", prose(report));
    assert!(findings(report, "code-210-storm").is_empty());
    let count = |rule: &str, name: &str| findings(report, rule).first().map(|it| it.counts[name]);
    assert_eq!(count("memory-limit", "exceeded"), Some(15));
    assert_eq!(count("too-many-parts", "refused"), Some(13));
    // The forged records stand 35 minutes before the first true one.
    for input in report.inputs.iter().filter(|input| input.records > 0) {
        assert!(
            input.first.as_deref().unwrap() > "2026-11-29T16:35",
            "{input:?}"
        );
    }
}
