//! The product's counts against those that the generator knows: every one of them, for every node.

use std::collections::BTreeMap;
use std::path::Path;

use casdiag::intake::{Names, NodeGlob};
use casdiag::report::model::Report;

use super::{NodeTruth, Plan, Truth, write};
use crate::product;

/// Codes of a node by family; codes that are not split have the family "".
fn families(report: &Report, node: &str) -> BTreeMap<(u32, String), u64> {
    let rows = report.codes.iter().filter(|row| row.node == node);
    rows.map(|row| {
        (
            (row.code, row.family.clone().unwrap_or_default()),
            row.count,
        )
    })
    .collect()
}

fn expected_families(node: &NodeTruth, new_era: bool) -> BTreeMap<(u32, String), u64> {
    let refusal = if new_era { 234 } else { 210 };
    let all = [
        (refusal, "relink-unproven", node.refusals),
        (210, "write-not-committed", node.write_not_committed),
        (210, "transient-unavailability", node.transient_unavailable),
        (210, "network", node.network_errors),
        (234, "no-active-replica", node.no_active_replica),
        (1000, "connection-reset", node.http_resets),
        (1000, "object-store", node.ref_catalog_attempts),
        (499, "timeout", node.s3_errors),
        (49, "", node.empty_multipart),
        (62, "", node.quoting_errors),
    ];
    let seen = all.into_iter().filter(|&(_, _, count)| count > 0);
    seen.map(|(code, family, count)| ((code, family.to_owned()), count))
        .collect()
}

fn check_codes(report: &Report, node: &NodeTruth, new_era: bool) {
    let found = families(report, node.name);
    assert_eq!(found, expected_families(node, new_era), "{}", node.name);
    let mut by_code: BTreeMap<u32, u64> = BTreeMap::new();
    for ((code, _), count) in found {
        *by_code.entry(code).or_default() += count;
    }
    assert_eq!(by_code, node.codes, "{}", node.name);
    let nested = report
        .codes_nested
        .iter()
        .filter(|row| row.node == node.name);
    let nested: BTreeMap<u32, u64> = nested.map(|row| (row.code, row.count)).collect();
    assert_eq!(nested, node.codes_nested, "{}", node.name);
}

fn check_signals(report: &Report, node: &NodeTruth) {
    for (signal, expected) in [
        ("relink-refused", node.refusals),
        ("relink-unproven", node.unproven_unknown + node.unproven_no),
        ("relink-finished", node.finished),
        ("ref-catalog-error", node.ref_catalog_errors),
        ("s3-attempt-failed", node.ref_catalog_attempts),
        ("s3-error", node.s3_errors),
        ("empty-multipart-upload", node.empty_multipart),
        ("cas-write-not-committed", node.write_not_committed),
        ("cas-transient-unavailability", node.transient_unavailable),
        ("cas-write-retry-warning", node.retry_warnings),
        ("ref-recovery-retry", node.ledger_warnings),
        ("queue-entry-failed", node.network_errors),
        ("client-gone", node.http_resets),
        ("user-error", node.quoting_errors),
        ("fatal-record", 0),
        ("crash-report", 0),
    ] {
        let found = product::count(report, signal, node.name);
        assert_eq!(found, expected, "{signal} at {}", node.name);
    }
    let Some(refused) = product::signal(report, "relink-refused", node.name) else {
        assert_eq!(node.refusals, 0);
        return;
    };
    let sources = node.refusals_by_source.iter();
    let sources: BTreeMap<String, u64> = sources.map(|(k, v)| ((*k).to_owned(), *v)).collect();
    assert_eq!(refused.by["source"], sources, "{}", node.name);
    let parts: BTreeMap<String, u64> = refused.top["part"].iter().cloned().collect();
    assert_eq!(parts, node.refusals_by_part, "{}", node.name);
    let mut ranked: Vec<(String, u64)> = parts.into_iter().collect();
    ranked.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    assert_eq!(
        refused.top["part"], ranked,
        "most frequent first, then by name"
    );
    let answers =
        product::signal(report, "relink-unproven", node.name).map(|row| row.by["answer"].clone());
    let mut expected = BTreeMap::new();
    if node.unproven_unknown > 0 {
        expected.insert("unknown".to_owned(), node.unproven_unknown);
    }
    if node.unproven_no > 0 {
        expected.insert("no".to_owned(), node.unproven_no);
    }
    assert_eq!(answers.unwrap_or_default(), expected, "{}", node.name);
    let classes = product::signal(report, "s3-error", node.name).map(|row| row.by["class"].clone());
    let catalog = classes
        .unwrap_or_default()
        .get("ref_catalog")
        .copied()
        .unwrap_or(0);
    assert_eq!(catalog, node.ref_catalog_exceptions, "{}", node.name);
}

fn check_files(report: &Report, folder: &Path, node: &NodeTruth, zoned: bool) {
    let inputs = report.inputs.iter().filter(|input| input.node == node.name);
    let inputs: Vec<_> = inputs.collect();
    assert_eq!(inputs.len(), node.files.len(), "{}", node.name);
    for (path, file) in &node.files {
        let input = product::input(report, path);
        assert_eq!(input.records, file.records, "{path}");
        assert_eq!(
            input.bytes,
            folder.join(path).metadata().unwrap().len(),
            "{path}"
        );
        if Path::new(path).extension().is_none_or(|end| end != "gz") {
            assert_eq!(input.bytes, file.bytes, "{path}");
        }
        let torn = product::problems(input)
            .iter()
            .any(|(kind, _)| *kind == "truncated");
        assert_eq!(torn, file.torn, "{path}");
    }
    let main = inputs.iter().filter(|input| !input.path.contains(".err."));
    let main: u64 = main.map(|input| input.records).sum();
    assert_eq!(
        main + node.err_only,
        report.records.by_node[node.name],
        "{}",
        node.name
    );
    let zone = if zoned { "+00:00" } else { "" };
    let first = inputs.iter().filter_map(|input| input.first.clone()).min();
    let last = inputs.iter().filter_map(|input| input.last.clone()).max();
    assert_eq!(
        first,
        Some(format!("{}{zone}", node.first)),
        "{}",
        node.name
    );
    assert_eq!(last, Some(format!("{}{zone}", node.last)), "{}", node.name);
}

/// A node's levels and lines are not in a report of several nodes, so the node is read alone.
fn check_alone(folder: &Path, node: &NodeTruth) {
    let glob = globset::Glob::new("**").unwrap().compile_matcher();
    let name = node.name.to_owned();
    let names = Names {
        nodes: vec![NodeGlob { name, glob }],
        ..Names::default()
    };
    let plan = casdiag::pipeline::Plan {
        names,
        ..product::plan(&folder.join(node.name))
    };
    let report = product::report_of(&plan);
    let levels = report.records.by_level.iter();
    let levels: BTreeMap<&str, u64> = levels.map(|(level, n)| (level.as_str(), *n)).collect();
    assert_eq!(levels, node.levels, "{}", node.name);
    assert_eq!(report.records.total, node.records, "{}", node.name);
    assert_eq!(
        report.records.continuation_lines, node.continuation_lines,
        "{}",
        node.name
    );
    assert_eq!(report.records.unparsed_lines, 0, "{}", node.name);
    check_signals(&report, node);
}

fn check_sums(report: &Report, truth: &Truth) {
    let sum = |of: fn(&NodeTruth) -> u64| truth.nodes.iter().map(of).sum::<u64>();
    assert_eq!(report.records.total, sum(|node| node.records));
    assert_eq!(
        report.records.continuation_lines,
        sum(|node| node.continuation_lines)
    );
    assert_eq!(report.records.unparsed_lines, 0);
    assert_eq!(report.records.suspect, 0);
    assert!(report.complete);
    let balance = report
        .balances
        .iter()
        .find(|it| it.name.contains("refusal"));
    let balance = balance.expect("refusals are balanced against answers");
    assert_eq!(balance.left.count, sum(|node| node.refusals));
    let right: u64 = balance.right.iter().map(|side| side.count).sum();
    assert_eq!(right, sum(|node| node.unproven_unknown + node.unproven_no));
    let remainder = i64::try_from(balance.left.count).unwrap() - i64::try_from(right).unwrap();
    assert_eq!(balance.remainder, remainder);
    assert!(product::findings(report, "server-crash").is_empty());
    // Every Error record has a known cause here.
    assert_eq!(
        report.coverage.error_records,
        sum(|node| node.levels["error"])
    );
    assert_eq!(
        report.coverage.explained, report.coverage.error_records,
        "{:?}",
        report.coverage.unexplained
    );
}

fn check_storm(report: &Report, truth: &Truth) {
    let storm = product::findings(report, "code-210-storm");
    assert_eq!(storm.len(), 1);
    let refusals: u64 = truth.nodes.iter().map(|node| node.refusals).sum();
    assert_eq!(storm[0].counts["refused"], refusals);
    assert_eq!(storm[0].reported_by, super::NODES);
    assert_eq!(storm[0].severity.word(), "high");
}

fn check(plan: &Plan) -> (tempfile::TempDir, Truth, Report) {
    let folder = tempfile::tempdir().unwrap();
    let truth = write(plan, folder.path());
    let report = product::report(folder.path());
    for (index, node) in truth.nodes.iter().enumerate() {
        assert_eq!(
            report.records.by_node[node.name], node.records,
            "{}",
            node.name
        );
        check_codes(&report, node, plan.new_era);
        check_signals(&report, node);
        // Only a log that reaches back to the server's start names its zone.
        check_files(&report, folder.path(), node, index != 1);
    }
    check_sums(&report, &truth);
    // A thousandth is spread so thin that it is no storm.
    if plan.scale <= 100 {
        check_storm(&report, &truth);
    }
    (folder, truth, report)
}

fn check_with_nodes_alone(scale: u32, new_era: bool) {
    let seed = 3;
    let (folder, truth, _) = check(&Plan {
        scale,
        seed,
        new_era,
    });
    for node in &truth.nodes {
        check_alone(folder.path(), node);
    }
}

#[test]
fn a_thousandth_of_report_001_is_counted_exactly() {
    check_with_nodes_alone(1000, false);
}

#[test]
fn a_hundredth_of_report_001_is_counted_exactly() {
    check_with_nodes_alone(100, false);
}

#[test]
fn a_thousandth_of_report_001_in_the_new_era_is_counted_exactly() {
    check_with_nodes_alone(1000, true);
}

#[test]
fn a_hundredth_of_report_001_in_the_new_era_is_counted_exactly() {
    check_with_nodes_alone(100, true);
}

/// The report's own table, typed from its text.
#[test]
fn report_001_at_its_own_size_gives_the_numbers_of_its_table() {
    let (_folder, _, report) = check(&Plan {
        scale: 1,
        seed: 1,
        new_era: false,
    });
    for (signal, expected) in [
        ("relink-refused", [45_294, 67_280, 58_355]),
        ("relink-unproven", [31_541, 6_135, 0]),
        ("relink-finished", [9_201, 6_344, 5_494]),
        ("ref-catalog-error", [468, 126, 117]),
        ("s3-error", [304, 74, 70]),
        ("empty-multipart-upload", [1, 0, 0]),
    ] {
        let found = super::NODES.map(|node| product::count(&report, signal, node));
        assert_eq!(found, expected, "{signal}");
    }
    let balance = &report.balances[0];
    assert_eq!((balance.left.count, balance.remainder), (170_929, 133_253));
}

fn number_before<'t>(text: &'t str, mark: &str) -> Option<&'t str> {
    let line = text.lines().find(|line| line.contains(mark))?;
    line.split_once(mark).map(|(number, _)| number)
}

#[test]
fn lines_lists_every_record_and_says_what_a_plain_grep_prints() {
    for new_era in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let truth = write(
            &Plan {
                scale: 1000,
                seed: 5,
                new_era,
            },
            folder.path(),
        );
        let path = folder.path().to_str().unwrap();
        let all = product::casdiag(&["lines", "relink-refused", path]);
        assert_eq!(all.code, Some(0), "{}", all.err);
        let unique: u64 = truth.nodes.iter().map(|node| node.refusals).sum();
        let grep: u64 = truth
            .nodes
            .iter()
            .flat_map(|node| node.files.values())
            .map(|file| file.grep_lines)
            .sum();
        assert_eq!(
            number_before(&all.out, " records are relink-refused"),
            Some(unique.to_string().as_str())
        );
        assert_eq!(
            number_before(&all.out, " lines: what a plain search finds"),
            Some(grep.to_string().as_str())
        );
        let listed = all
            .out
            .lines()
            .filter(|line| line.starts_with(path))
            .count();
        assert_eq!(u64::try_from(listed).unwrap(), unique);
        // What differs is told apart, to the last line.
        let reasons = all
            .out
            .lines()
            .filter_map(|line| line.trim_start().split_once(" of them "));
        let reasons: u64 = reasons
            .map(|(number, _)| number.parse::<u64>().unwrap())
            .sum();
        assert_eq!(reasons + unique, grep, "{}", all.out);
        for node in &truth.nodes {
            let one = product::casdiag(&["lines", "relink-refused", path, "--node", node.name]);
            assert_eq!(
                number_before(&one.out, " records are relink-refused"),
                Some(node.refusals.to_string().as_str())
            );
            let grep: u64 = node.files.values().map(|file| file.grep_lines).sum();
            assert_eq!(
                number_before(&one.out, " lines: what a plain search finds"),
                Some(grep.to_string().as_str())
            );
        }
    }
}
