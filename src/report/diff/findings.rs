//! Findings by rule: who has it, how bad, how often.

use std::collections::BTreeSet;

use crate::report::model::{Finding, Report};

use super::{Change, Direction, Kind, Measure, Pair};

pub(super) fn compare(pair: &Pair<'_>) -> Vec<Change> {
    let all = pair.base.findings.iter().chain(&pair.new.findings);
    let rules: BTreeSet<&str> = all.map(|it| it.rule.as_str()).collect();
    rules.into_iter().map(|rule| change(pair, rule)).collect()
}

fn of<'r>(report: &'r Report, rule: &str) -> Vec<&'r Finding> {
    report
        .findings
        .iter()
        .filter(|it| it.rule == rule)
        .collect()
}

fn change(pair: &Pair<'_>, rule: &str) -> Change {
    let (before, after) = (of(pair.base, rule), of(pair.new, rule));
    let measure = |found: &[&Finding]| Measure {
        count: Some(u64::try_from(found.len()).unwrap_or(u64::MAX)),
        per_hour: None,
        severity: found.iter().map(|it| it.severity).max(),
    };
    let (base, new) = (measure(&before), measure(&after));
    let direction = match (before.is_empty(), after.is_empty()) {
        (true, _) => Direction::New,
        (_, true) => Direction::Gone,
        _ if new.severity > base.severity => Direction::More,
        _ if new.severity < base.severity => Direction::Less,
        // A rule that holds in more of the runs, or on more nodes where it is asked by node.
        _ if share(pair.new, &after) > share(pair.base, &before) => Direction::More,
        _ if share(pair.new, &after) < share(pair.base, &before) => Direction::Less,
        _ => Direction::Same,
    };
    let told = after.first().or(before.first());
    Change {
        kind: Kind::Finding,
        direction,
        what: rule.to_owned(),
        node: None,
        severity: new.severity.or(base.severity),
        title: told.map(|it| it.title.clone()),
        base,
        new,
        of_run: false,
    }
}

/// Findings of a rule by the run, in thousandths.
fn share(report: &Report, found: &[&Finding]) -> u64 {
    let runs: BTreeSet<&str> = report.nodes.iter().map(|it| it.run.as_str()).collect();
    let runs = u64::try_from(runs.len().max(1)).unwrap_or(u64::MAX);
    u64::try_from(found.len())
        .unwrap_or(u64::MAX)
        .saturating_mul(1000)
        / runs
}
