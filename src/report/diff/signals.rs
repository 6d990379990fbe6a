//! Signals by node: counts, or rates where the logs are of other lengths.

use std::collections::{BTreeMap, BTreeSet};

use crate::analysis::SEGMENT;
use crate::report::model::Report;
use crate::vocab::Level;

use super::measure::{Exposure, UNSEEN, direction};
use super::{Change, Kind, Measure, Pair, Place};

/// Formats of inputs that hold no records.
const NO_LOGS: [&str; 3] = ["unknown", "refused", SEGMENT];

/// Signal and node; no node for the sum over all.
type Key<'r> = (&'r str, Option<&'r str>);

pub(super) fn compare(pair: &Pair<'_>) -> Vec<Change> {
    let (base, new) = (counts(pair.base), counts(pair.new));
    let mut keys: Vec<Key<'_>> = base.keys().chain(new.keys()).copied().collect();
    keys.sort_unstable();
    keys.dedup();
    // A node that only one of them has is compared within the sum over all nodes.
    let is_alike = pair.base_time.nodes().eq(pair.new_time.nodes());
    keys.retain(|(_, node)| match node {
        Some(node) => {
            is_there(pair.base, &pair.base_time, node) && is_there(pair.new, &pair.new_time, node)
        }
        None => !is_alike,
    });
    let changes = keys.into_iter().map(|key| {
        let (signal, node) = key;
        let before = measure((pair.base, &pair.base_time), &base, key, pair.new);
        let after = measure((pair.new, &pair.new_time), &new, key, pair.base);
        let times = (pair.base_time.time(node), pair.new_time.time(node));
        Change {
            kind: Kind::Signal,
            direction: direction(before.count, after.count, times),
            what: signal.to_owned(),
            node: node.map(str::to_owned),
            severity: None,
            title: meaning(pair, signal),
            base: before,
            new: after,
            unhealed: false,
            of_run: false,
            place: Place::default(),
        }
    });
    changes.collect()
}

/// Counts of a report by signal and node, and by signal alone, over all runs.
fn counts(report: &Report) -> BTreeMap<Key<'_>, u64> {
    let mut counts: BTreeMap<Key<'_>, u64> = BTreeMap::new();
    for row in report.signals.iter().filter(|it| it.count > 0) {
        for node in [Some(row.node.as_str()), None] {
            *counts.entry((&row.signal, node)).or_default() += row.count;
        }
    }
    counts
}

/// Whether a report has anything of a node. What names no node is there wherever such a file is.
fn is_there(report: &Report, time: &Exposure, node: &str) -> bool {
    time.has(node) || report.inputs.iter().any(|it| it.node == node)
}

/// How much a report has of it. None is only said where it could have been seen as in the other report.
fn measure(
    (report, time): (&Report, &Exposure),
    counts: &BTreeMap<Key<'_>, u64>,
    key: Key<'_>,
    other: &Report,
) -> Measure {
    let (signal, node) = key;
    if let Some(count) = counts.get(&key) {
        return time.measure(*count, node);
    }
    let mut missed = report.not_observable.iter();
    let is_unseen = missed.any(|it| it.signal == signal && is_of(node, &it.node));
    let is_shallower = depth(report, node) < depth(other, node);
    if is_unseen || is_shallower || !has_such_files(report, other, signal) {
        UNSEEN
    } else {
        time.measure(0, node)
    }
}

fn is_of(node: Option<&str>, name: &str) -> bool {
    node.is_none_or(|node| node == name)
}

/// The least level that a node logs, or all nodes do; deeper is greater.
fn depth(report: &Report, node: Option<&str>) -> Option<Level> {
    let facts = report.environment.iter();
    let levels = facts
        .filter(|it| is_of(node, &it.node))
        .filter_map(|it| it.log_level);
    levels.min()
}

/// Whether a report has any file of the formats in which another one found a signal.
fn has_such_files(report: &Report, other: &Report, signal: &str) -> bool {
    let nodes = other
        .signals
        .iter()
        .filter(|it| it.signal == signal && it.count > 0);
    let nodes: BTreeSet<&str> = nodes.map(|it| it.node.as_str()).collect();
    let inputs = other
        .inputs
        .iter()
        .filter(|it| !NO_LOGS.contains(&it.format.as_str()));
    let formats = inputs.filter(|it| nodes.contains(it.node.as_str()));
    let formats: BTreeSet<&str> = formats.map(|it| it.format.as_str()).collect();
    formats.is_empty()
        || report
            .inputs
            .iter()
            .any(|it| formats.contains(it.format.as_str()))
}

fn meaning(pair: &Pair<'_>, signal: &str) -> Option<String> {
    let mut rows = pair.new.signals.iter().chain(&pair.base.signals);
    rows.find(|it| it.signal == signal)
        .map(|it| it.what.clone())
}
