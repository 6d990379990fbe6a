//! Findings by rule: who has it, how bad, how often.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::report::figures;
use crate::report::model::{Finding, Incident, Report, Role};
use crate::vocab::{Healing, Severity};

use super::{Change, Direction, Kind, Measure, NODES_MAX, Pair};

/// Where a finding stands: with those of its incident, by the worst of these, and causes before what follows from them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// How bad the worst finding of its incident is.
    worst: Reverse<Option<Severity>>,
    /// Whether it follows from others.
    follows: bool,
}

pub(super) fn compare(pair: &Pair<'_>) -> Vec<Change> {
    let all = pair.base.findings.iter().chain(&pair.new.findings);
    let rules: BTreeSet<&str> = all.map(|it| it.rule.as_str()).collect();
    let changes = rules.into_iter().flat_map(|rule| changes(pair, rule));
    changes.collect()
}

fn of<'r>(report: &'r Report, rule: &str) -> Vec<&'r Finding> {
    report
        .findings
        .iter()
        .filter(|it| it.rule == rule)
        .collect()
}

/// How a rule's findings differ: those of nodes that the base has none of apart, and the others taken together.
fn changes(pair: &Pair<'_>, rule: &str) -> Vec<Change> {
    let (before, after) = (of(pair.base, rule), of(pair.new, rule));
    let (fresh, known) = apart(pair, &before, after);
    let mut by_nodes: BTreeMap<String, Vec<&Finding>> = BTreeMap::new();
    for finding in fresh {
        let nodes = figures::names(&finding.reported_by, NODES_MAX);
        by_nodes.entry(nodes).or_default().push(finding);
    }
    let fresh = by_nodes.into_iter().map(|(nodes, found)| Change {
        node: Some(nodes),
        ..change(pair, rule, &[], &found)
    });
    let mut changes: Vec<Change> = fresh.collect();
    if !(before.is_empty() && known.is_empty()) {
        changes.push(change(pair, rule, &before, &known));
    }
    changes
}

/// Parts the findings on nodes of which the base has no such finding from the others. Among nodes that both reports have a
/// fault may hit now one and now another, so there it is new only if the rule finds more than before; and where the
/// reports have no node in common, names tell nothing.
fn apart<'r>(
    pair: &Pair<'_>,
    before: &[&Finding],
    after: Vec<&'r Finding>,
) -> (Vec<&'r Finding>, Vec<&'r Finding>) {
    let (old, new) = (reporters(pair.base), reporters(pair.new));
    if before.is_empty() || old.is_disjoint(&new) {
        return (Vec::new(), after);
    }
    let has_more = share(pair.new, &after) > share(pair.base, before);
    let accused: BTreeSet<&String> = before.iter().flat_map(|it| &it.reported_by).collect();
    let is_fresh = |it: &&Finding| {
        let nodes = &it.reported_by;
        let is_elsewhere = |known: &BTreeSet<&String>| !nodes.iter().any(|at| known.contains(at));
        !nodes.is_empty() && is_elsewhere(&accused) && (has_more || is_elsewhere(&old))
    };
    after.into_iter().partition(is_fresh)
}

/// The nodes whose records a report is of.
fn reporters(report: &Report) -> BTreeSet<&String> {
    report
        .nodes
        .iter()
        .filter(|it| it.role == Role::Reporter)
        .map(|it| &it.id)
        .collect()
}

fn change(pair: &Pair<'_>, rule: &str, before: &[&Finding], after: &[&Finding]) -> Change {
    let measure = |found: &[&Finding]| Measure {
        count: Some(u64::try_from(found.len()).unwrap_or(u64::MAX)),
        per_hour: None,
        severity: found.iter().map(|it| it.severity).max(),
        healing: found.iter().filter_map(|it| it.healing).max(),
    };
    let (base, new) = (measure(before), measure(after));
    let unhealed = undone(before, after);
    let direction = match (before.is_empty(), after.is_empty()) {
        (true, _) => Direction::New,
        (_, true) => Direction::Gone,
        _ if new.severity > base.severity => Direction::More,
        _ if new.severity < base.severity => Direction::Less,
        _ if unhealed.is_some() => Direction::More,
        _ if undone(after, before).is_some() => Direction::Less,
        // A rule that holds in more of the runs, or more often on the same nodes.
        _ if share(pair.new, after) > share(pair.base, before) => Direction::More,
        _ if share(pair.new, after) < share(pair.base, before) => Direction::Less,
        _ if new.healing.is_some() && base.healing.is_some() && new.healing != base.healing => {
            Direction::Unknown
        }
        _ => Direction::Same,
    };
    let told = unhealed.or(worst(after)).or(worst(before));
    Change {
        kind: Kind::Finding,
        direction,
        what: rule.to_owned(),
        node: None,
        severity: new.severity.or(base.severity),
        title: told.map(|it| it.title.clone()),
        base,
        new,
        unhealed: unhealed.is_some(),
        of_run: false,
        place: if after.is_empty() {
            place(pair.base, before)
        } else {
            place(pair.new, after)
        },
    }
}

/// The first finding of parts that are missing and came by the other report's findings: by those of its nodes, or by all of
/// them where the two have no nodes in common.
fn undone<'r>(healed: &[&Finding], found: &[&'r Finding]) -> Option<&'r Finding> {
    let is_of = |a: &Finding, b: &Finding| a.reported_by == b.reported_by;
    let by_node = healed
        .iter()
        .any(|it| found.iter().any(|other| is_of(it, other)));
    let mut missing = found
        .iter()
        .filter(|it| it.healing == Some(Healing::Missing));
    let came = |it: &&&Finding| {
        let same = healed.iter().filter(|other| !by_node || is_of(it, other));
        same.filter_map(|it| it.healing).max() == Some(Healing::Healed)
    };
    missing.find(came).copied()
}

/// The first of the worst: what is missing in one of them must not hide behind another that healed.
fn worst<'r>(found: &[&'r Finding]) -> Option<&'r Finding> {
    let key = |it: &&&Finding| Reverse((it.severity, it.healing));
    found.iter().min_by_key(key).copied()
}

/// Where findings of a rule stand among a report's others.
fn place(report: &Report, found: &[&Finding]) -> Place {
    let is_in = |incident: &&Incident| found.iter().any(|it| incident.findings.contains(&it.id));
    let incidents = report.incidents.iter().filter(is_in);
    let ids: BTreeSet<&String> = incidents.flat_map(|it| &it.findings).collect();
    let tied = report.findings.iter().filter(|it| ids.contains(&it.id));
    let worst = tied
        .chain(found.iter().copied())
        .map(|it| it.severity)
        .max();
    Place {
        worst: Reverse(worst),
        follows: found.iter().all(|it| !it.caused_by.is_empty()),
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
