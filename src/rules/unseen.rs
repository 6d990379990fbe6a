//! Whom a condition on all nodes could not ask: nodes whose logs do not cover the time that it looks at. They say neither
//! yes nor no, so they weaken nothing, and the finding names them.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::Verdict;
use super::condition::{Condition, CountTest, Scene};
use super::finding::NotObservable;
use super::ground::Ground;
use super::times::{TimeTest, sorted};
use crate::signals::tally::NodeTally;
use crate::time::Timestamp;

/// From when to when, both edges included.
type Span = (Timestamp, Timestamp);

/// What to collect of a node that could not be asked.
const COLLECT: &str = "its log of that time";

/// What a condition on all nodes looks at, and who answers.
pub(super) struct Asked<'a> {
    /// The time that a log has to cover.
    time: Span,
    /// How many nodes have an occurrence in it.
    answers: usize,
    /// The nodes whose logs do not cover it, and that have no occurrence in it.
    pub(super) unseen: Vec<&'a NodeTally>,
}

/// The stretch of `within` in which every node whose log covers it, at least two, has an occurrence: the one with the most
/// nodes, the first of equal ones.
pub(super) fn together<'a>(scene: &Scene<'a>, counter: usize, within: i64) -> Option<Asked<'a>> {
    let nodes: Vec<(&NodeTally, Vec<Timestamp>)> = scene
        .nodes
        .iter()
        .filter(|node| (node.seen.main || node.seen.err) && scene.could_log(counter, node))
        .map(|node| (*node, sorted(node, counter)))
        .collect();
    let begun = nodes.iter().flat_map(|(_, times)| times);
    let asked = begun.filter_map(|&from| {
        let time = (from, Timestamp(from.0.saturating_add(within)));
        let answers = |times: &[Timestamp]| {
            let next = times.partition_point(|at| *at < from);
            times.get(next).is_some_and(|at| *at <= time.1)
        };
        let (with, without): (Vec<_>, Vec<_>) = nodes.iter().partition(|(_, times)| answers(times));
        let is_together = with.len() >= 2 && !without.iter().any(|(node, _)| covers(node, time));
        is_together.then(|| Asked {
            time,
            answers: with.len(),
            unseen: without.iter().map(|(node, _)| *node).collect(),
        })
    });
    asked.min_by_key(|it| (Reverse(it.answers), it.time))
}

/// Whether one node has any of `counters`, and another that has none was observed when it began.
pub(super) fn alone<'a>(scene: &Scene<'a>, counters: &[usize]) -> Option<Asked<'a>> {
    let has = |node: &NodeTally| counters.iter().any(|&at| node.counters[at].all.count > 0);
    let could = |node: &&&NodeTally| counters.iter().any(|&at| scene.could_log(at, node));
    let (with, without): (Vec<&NodeTally>, Vec<&NodeTally>) =
        scene.nodes.iter().filter(could).partition(|node| has(node));
    let [one] = with[..] else { return None };
    let spans = counters.iter().filter_map(|&at| one.counters[at].all.span);
    let begun = spans.map(|(first, _)| first).min()?;
    let time = (begun, begun);
    let (seen, unseen): (Vec<&NodeTally>, Vec<&NodeTally>) =
        without.into_iter().partition(|node| covers(node, time));
    (!seen.is_empty()).then_some(Asked {
        time,
        answers: 1,
        unseen,
    })
}

/// Whether a node's log goes from before a time to after it.
fn covers(node: &NodeTally, (from, to): Span) -> bool {
    node.span
        .is_some_and(|(first, last)| first <= from && last >= to)
}

/// Why a node could not be asked.
fn why(node: &NodeTally, time: Span) -> String {
    let how = match node.span {
        Some((_, last)) if last < time.1 => "it ends earlier",
        Some(_) => "it begins later",
        None => "no record of it has a stamp",
    };
    format!("its log does not cover the time of this: {how}")
}

/// The nodes of what could not be seen, each once.
pub(super) fn nodes(missed: &[NotObservable]) -> Vec<String> {
    let mut nodes: Vec<String> = missed.iter().map(|it| it.node.clone()).collect();
    nodes.dedup();
    nodes
}

impl Condition {
    /// Whom the parts of a condition that hold could not ask, and with which counters.
    fn asked<'a>(&self, scene: &Scene<'a>) -> Vec<(Vec<usize>, Asked<'a>)> {
        match self {
            Self::All(parts) | Self::Any(parts) => {
                let held = parts.iter().filter(|it| it.holds(scene) == Some(true));
                held.flat_map(|it| it.asked(scene)).collect()
            }
            Self::Time(TimeTest::Together { counter, within }) => {
                let asked = together(scene, *counter, *within).into_iter();
                asked.map(|it| (vec![*counter], it)).collect()
            }
            Self::Count(CountTest::Alone { counters }) => {
                let asked = alone(scene, counters).into_iter();
                asked.map(|it| (counters.clone(), it)).collect()
            }
            Self::None(_)
            | Self::AtMost { .. }
            | Self::Share { .. }
            | Self::Arrived(_)
            | Self::Count(_)
            | Self::Time(_) => Vec::new(),
        }
    }
}

impl Ground<'_> {
    /// What of the signals that a rule and its verdict ask all nodes for could not be seen on one: each node and signal once,
    /// by node.
    pub(super) fn missed(&self, verdict: &Verdict) -> Vec<NotObservable> {
        let conditions = [Some(&self.rule.when), verdict.when.as_ref()];
        let asked = conditions.into_iter().flatten();
        let mut missed: BTreeMap<(String, String), NotObservable> = BTreeMap::new();
        for (counters, asked) in asked.flat_map(|it| it.asked(&self.scene)) {
            let signals = counters
                .iter()
                .filter_map(|&at| self.base.counters[at].signal);
            for signal in signals.map(|at| &self.base.signals.signal(at).id) {
                for node in &asked.unseen {
                    let key = (node.node.clone(), signal.clone());
                    missed.entry(key).or_insert_with(|| NotObservable {
                        signal: signal.clone(),
                        run: node.run.clone(),
                        node: node.node.clone(),
                        why: why(node, asked.time),
                        collect: COLLECT.to_owned(),
                    });
                }
            }
        }
        missed.into_values().collect()
    }
}
