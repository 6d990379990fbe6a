//! `cases/logs`: structures that people paste in public reports.

use std::collections::BTreeMap;
use std::path::Path;

use casdiag::report::model::{Report, Role};
use casdiag::vocab::Confidence;
use serde_json::Value;

use super::{dialects, expected, folders, name, number, numbers, prose};
use crate::product::{self, codes, count, families, findings};

/// Asserts what a case says in prose.
type Check = fn(&Report);

/// The cases whose format this version reads, and what their prose asks for.
const READ: &[(&str, Check)] = &[
    ("h01-cas-relink-210-two-nodes", relink_storm_of_two_nodes),
    ("h02-nested-codes-279-209-210", nested_codes),
    ("h03-poco-1000-displaytext-2021", fetch_failures_of_2021),
    ("h04-docker-compose-interleaved", killed_beside_others),
    ("h05-fatal-sig11-basedaemon-2021", two_crashes),
    ("h06-json-logger-three-shapes", three_shapes),
    ("h07-keeper-raft-rsyslog-012", read_only_after_a_slow_keeper),
    ("h08-keeper-changelog-gap", dialects::changelog_gap),
    ("h09-etcd-snapshot-loop-capnslog", dialects::snapshot_loop),
    ("h10-nats-applied-stuck", dialects::applied_stuck),
    (
        "h11-tikv-snapshot-cancel-grafana",
        dialects::snapshot_canceled,
    ),
];

#[test]
fn every_case_ends_with_a_verdict() {
    for folder in folders("logs") {
        let ran = product::analyze(&folder.join("input"), &["--format", "json"]);
        assert!(
            matches!(ran.code, Some(0 | 1 | 3)),
            "{}: {ran:?}",
            name(&folder)
        );
        let report = ran.report();
        assert_eq!(report.schema, "casdiag.report/1", "{}", name(&folder));
    }
}

#[test]
fn records_codes_levels_times_and_reporters_are_as_expected() {
    let mut checked = 0;
    for folder in folders("logs") {
        if READ.iter().any(|(id, _)| *id == name(&folder)) {
            let report = product::report(&folder.join("input"));
            check_counts(&folder, &expected(&folder), &report);
            checked += 1;
        }
    }
    assert_eq!(checked, READ.len());
}

#[test]
fn findings_say_what_is_expected_and_nothing_that_must_not_be_said() {
    for folder in folders("logs") {
        if let Some((_, check)) = READ.iter().find(|(id, _)| *id == name(&folder)) {
            check(&product::report(&folder.join("input")));
        }
    }
}

fn check_counts(folder: &Path, expected: &Value, report: &Report) {
    let id = name(folder);
    for (path, records) in numbers(&expected["by_file"]) {
        assert_eq!(
            product::input(report, &path).records,
            records,
            "{id} {path}"
        );
    }
    let raw: u64 = report.inputs.iter().map(|input| input.records).sum();
    assert_eq!(raw, number(&expected["events"]), "{id}");
    let facts = &expected["facts"];
    let unique = facts.get("unique_events").unwrap_or(&expected["events"]);
    assert_eq!(report.records.total, number(unique), "{id}");
    let unique = facts.get("unique_codes").unwrap_or(&expected["codes"]);
    let found = codes(report)
        .into_iter()
        .map(|(code, n)| (code.to_string(), n));
    assert_eq!(found.collect::<BTreeMap<_, _>>(), numbers(unique), "{id}");
    let levels = if facts.get("unique_events").is_some() {
        // Typed from the issue: the levels of the case are raw.
        BTreeMap::from([("debug".to_owned(), 49), ("error".to_owned(), 58)])
    } else {
        numbers(&expected["by_level_norm"])
    };
    assert_eq!(report.records.by_level, levels, "{id}");
    // `Z` of the cases is `+00:00` of the product.
    // Some clocks show milliseconds, some their zone by a letter.
    let stamp = |key: &str| {
        let stamp = expected[key].as_str()?.replace('Z', "+00:00");
        let (clock, zone) = stamp.split_at(stamp.find('+').unwrap_or(stamp.len()));
        Some(format!("{clock:0<26}{zone}"))
    };
    let first = report
        .inputs
        .iter()
        .filter_map(|input| input.first.clone())
        .min();
    let last = report
        .inputs
        .iter()
        .filter_map(|input| input.last.clone())
        .max();
    assert_eq!((first, last), (stamp("first_ts"), stamp("last_ts")), "{id}");
    check_any_codes(id, expected, report);
    check_nodes(id, expected, report);
}

/// `codes_any` counts records that mention a code anywhere; only cases without repeats between files can be compared.
fn check_any_codes(id: &str, expected: &Value, report: &Report) {
    if expected["facts"].get("unique_events").is_some() {
        return;
    }
    let mut any: BTreeMap<String, u64> = BTreeMap::new();
    for row in report.codes.iter().chain(&report.codes_nested) {
        *any.entry(row.code.to_string()).or_default() += row.count;
    }
    assert_eq!(any, numbers(&expected["codes_any"]), "{id}");
}

fn check_nodes(id: &str, expected: &Value, report: &Report) {
    let named: Vec<&str> = expected["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it.as_str().unwrap())
        .collect();
    // The names of files and folders name the reporters.
    let by_file = numbers(&expected["by_file"]);
    let names_it = |node: &&str| {
        by_file.keys().any(|path| {
            path.starts_with(&format!("{node}/")) || path.starts_with(&format!("{node}."))
        })
    };
    let reporters: Vec<&str> = named.iter().copied().filter(names_it).collect();
    let role = |role: Role| {
        report
            .nodes
            .iter()
            .filter(move |node| node.role == role)
            .map(|node| node.id.as_str())
    };
    let found: Vec<&str> = role(Role::Reporter).collect();
    if reporters.is_empty() {
        // Nodes that only records name: the file's own name may still name its node, and nothing else may.
        let of_a_file = |node: &&str| {
            let unnamed = *node == "(unnamed)";
            // Or the text of its records says who wrote them.
            unnamed
                || named.contains(node)
                || by_file
                    .keys()
                    .any(|path| path.starts_with(&format!("{node}.")))
        };
        assert!(found.iter().all(of_a_file), "{id}: {found:?}");
    } else {
        assert_eq!(found, reporters, "{id}");
    }
    assert!(
        role(Role::Peer).all(|peer| named.contains(&peer)),
        "{id}: {:?}",
        report.nodes
    );
}

fn relink_storm_of_two_nodes(report: &Report) {
    let storm = findings(report, "code-210-storm");
    assert_eq!(storm.len(), 1);
    assert_eq!(storm[0].counts["refused"], 48);
    assert_eq!(storm[0].counts["finished"], 7);
    assert_eq!(storm[0].reported_by, ["marten1", "marten2"]);
    let mut accused = storm[0].accused.clone();
    accused.sort();
    assert_eq!(accused, ["marten1", "marten2"]);
    for (node, refused, source) in [("marten1", 27, "marten2"), ("marten2", 21, "marten1")] {
        let row = product::signal(report, "relink-refused", node).unwrap();
        assert_eq!((row.count, row.by["source"][source]), (refused, refused));
        assert_eq!(row.by["source"].len(), 1);
        assert_eq!(count(report, "client-gone", node), 5);
    }
    let unproven = findings(report, "unproven-confirms");
    assert_eq!(unproven[0].reported_by, ["marten1"]);
    assert_eq!(
        (unproven[0].counts["unknown"], unproven[0].counts["no"]),
        (21, 0)
    );
    assert_eq!(count(report, "relink-finished", "marten1"), 7);
    assert!(findings(report, "server-crash").is_empty());
    let said = prose(report).to_lowercase();
    for wrong in ["data-loss", "data loss", "corrupt", "crash", "partition"] {
        assert!(!said.contains(wrong), "{wrong}: {said}");
    }
}

fn nested_codes(report: &Report) {
    let unreachable = findings(report, "shard-unreachable");
    assert_eq!(unreachable.len(), 1);
    assert_eq!(
        (
            unreachable[0].counts["failed"],
            unreachable[0].counts["tries"]
        ),
        (6, 5)
    );
    let mut accused = unreachable[0].accused.clone();
    accused.sort();
    assert_eq!(accused, ["shard1-r2.gull", "shard2-r1.gull"]);
    assert_eq!(unreachable[0].reported_by, ["gull-q1"]);
    let clients = findings(report, "client-disconnects");
    assert_eq!(clients.len(), 1);
    assert_eq!(clients[0].counts["broken"], 7);
    let kinds = &product::signal(report, "client-gone", "gull-q1")
        .unwrap()
        .by["kind"];
    assert_eq!(kinds.values().copied().collect::<Vec<_>>(), [4, 3]);
    assert!(findings(report, "code-210-storm").is_empty());
    assert!(findings(report, "unproven-confirms").is_empty());
    // Six of the thirteen `Code: 210` lines stand inside records of Code 279.
    assert_eq!(families(report, 210), BTreeMap::from([("network", 7)]));
}

fn fetch_failures_of_2021(report: &Report) {
    let split = [
        ("connection-refused", 4),
        ("connection-reset", 6),
        ("no-message", 2),
        ("timeout", 3),
    ];
    assert_eq!(families(report, 1000), BTreeMap::from(split));
    assert_eq!(product::total(report, "queue-entry-failed"), 15);
    let failed = report
        .findings
        .iter()
        .filter_map(|it| it.counts.get("failed"))
        .sum::<u64>();
    assert_eq!(failed, 15);
    let endpoint = findings(report, "interserver-endpoint-missing");
    assert_eq!(endpoint.len(), 1);
    assert_eq!(endpoint[0].counts["answers"], 2);
    assert_eq!(
        (&endpoint[0].accused[..], &endpoint[0].reported_by[..]),
        (&["petrel3".to_owned()][..], &["petrel1".to_owned()][..])
    );
    assert!(
        report.codes.iter().all(|row| row.code != 221),
        "Code 221 was raised on petrel3 and is only quoted"
    );
}

fn killed_beside_others(report: &Report) {
    // Counted in the file by the prefix: what each of the three services logged.
    let by_node = [("clickhouse-1", 13), ("kafka-1", 6), ("keeper-1", 14)];
    let found = report.records.by_node.iter();
    assert!(found.map(|(node, n)| (node.as_str(), *n)).eq(by_node));
    let said = prose(report).to_lowercase();
    assert!(!said.contains("kafka"), "{said}");
    assert!(said.contains("137") || said.contains("killed"), "{said}");
    assert_eq!(families(report, 1000).values().sum::<u64>(), 11);
    assert_eq!(count(report, "memory-limit", "clickhouse-1"), 2);
}

fn two_crashes(report: &Report) {
    let crash = findings(report, "server-crash");
    assert_eq!(crash.len(), 1, "{:?}", product::fired(report));
    assert_eq!(
        (crash[0].counts["crashes"], crash[0].counts["fatal"]),
        (2, 20)
    );
    assert_eq!(
        crash[0].counts["starts"], 1,
        "the restart between the crashes"
    );
    let frames = serde_json::to_string(&crash[0].subjects["top-frame"]).unwrap();
    assert!(frames.contains("mergePartsToTemporaryPart"), "{frames}");
    assert!(frames.contains("addBatch"), "{frames}");
    let queries = serde_json::to_string(&crash[0].subjects["query"]).unwrap();
    assert!(
        queries.contains("no query") && queries.contains("query_id"),
        "{queries}"
    );
}

fn three_shapes(report: &Report) {
    let refused: u64 = findings(report, "too-many-parts")
        .iter()
        .map(|it| it.counts["refused"])
        .sum();
    assert_eq!(refused, 9);
    for (signal, node, records) in [
        ("too-many-parts", "rook-a", 7),
        ("too-many-parts", "rook-c", 2),
        ("memory-limit", "rook-a", 3),
        ("memory-limit", "rook-b", 2),
        ("coordination-session-lost", "rook-b", 4),
        ("coordination-session-lost", "rook-c", 3),
    ] {
        assert_eq!(count(report, signal, node), records, "{signal} {node}");
    }
    // Two years lie between what the two nodes lost.
    let lost = findings(report, "coordination-lost");
    let mut reporters: Vec<&[String]> = lost.iter().map(|it| &it.reported_by[..]).collect();
    reporters.sort();
    assert_eq!(reporters, [["rook-b"], ["rook-c"]]);
    let levels = &report.records.by_level;
    assert!(!levels.contains_key("none"), "{levels:?}");
    let firsts = report.signals.iter().filter_map(|row| row.first.as_ref());
    assert!(firsts.into_iter().all(|first| !first.starts_with("1970")));
}

fn read_only_after_a_slow_keeper(report: &Report) {
    dialects::slow_keeper(report);
    assert_eq!(codes(report)[&242], 4);
    let lost = findings(report, "coordination-lost");
    assert_eq!(lost.len(), 1);
    assert_eq!(lost[0].reported_by, ["tern-2"]);
    // The incident says that it follows from Keeper, and the finding no less.
    assert_eq!(lost[0].confidence, Confidence::Likely);
    assert!(
        lost[0].title.contains("Keeper's own records"),
        "{}",
        lost[0].title
    );
    let clients = findings(report, "client-disconnects");
    assert_eq!(clients[0].counts["broken"], 6);
    // `#0120.` is a line's end and a frame; `grep -o "#012" | wc -l` gives so many ends.
    assert_eq!(report.records.continuation_lines, 103);
    assert!(report.findings.len() < 10, "{:?}", product::fired(report));
}
