//! Whether parts that did not come at first came in the end, as far as the logs show it.

use std::collections::BTreeSet;

use super::condition::Scene;
use super::finding::NotObservable;
use super::{RuleBase, observe};
use crate::signals::tally::{Arrives, Evidence, NodeTally};
use crate::time::Timestamp;
use crate::vocab::Healing;

/// What a fact may be of parts that did not come at first.
pub(super) const ARRIVAL_MEASURES: &[&str] = &[
    "failed",
    "came",
    "dropped",
    "missing",
    "untold",
    "healed-at",
];

/// Parts that did not come at first, as a rule asks for them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArrivalTest {
    /// Their index.
    pub arrival: usize,
    /// The signals that bring them.
    pub came: Vec<u16>,
}

/// What became of them, over all nodes.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Arrived {
    /// How many different ones did not come at first.
    pub(super) failed: u64,
    /// How many of these were dropped before they came, so that nothing wants them any more.
    pub(super) dropped: u64,
    /// How many are missing where their node's log ends.
    pub(super) missing: u64,
    /// How many cannot be told: records that name none, or whose node's log would not show that it came.
    pub(super) untold: u64,
    /// When the last one came.
    last: Option<Timestamp>,
}

impl Arrived {
    /// Whether all came that were not dropped; `None` where that is not told.
    pub(super) fn all(&self) -> Option<bool> {
        match self.healing()? {
            Healing::Healed => Some(true),
            Healing::Untold => None,
            Healing::Missing => Some(false),
        }
    }

    /// The same in a word; `None` where nothing failed to come.
    pub(super) fn healing(&self) -> Option<Healing> {
        match (self.missing, self.untold) {
            (0, 0) => (self.failed > 0).then_some(Healing::Healed),
            (0, _) => Some(Healing::Untold),
            (_, _) => Some(Healing::Missing),
        }
    }
}

impl ArrivalTest {
    /// What became of them.
    pub(super) fn over(&self, scene: &Scene<'_>) -> Arrived {
        let mut all = Arrived::default();
        for node in scene.nodes {
            let Some(tally) = node.arrivals.get(&self.arrival) else {
                continue;
            };
            let whole = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
            let missing = whole(tally.missing());
            all.failed += whole(tally.failed());
            all.dropped += whole(tally.dropped());
            all.untold += tally.untold();
            if self.is_seen(scene, node) {
                all.missing += missing;
            } else {
                all.untold += missing;
            }
            all.last = all.last.max(tally.last().map(|(time, _)| *time));
        }
        all
    }

    /// Whether a node's log would show that a part came.
    fn is_seen(&self, scene: &Scene<'_>, node: &NodeTally) -> bool {
        let mut came = self.came.iter();
        came.any(|&at| observe::obstacle(scene.signals, at, node).is_none())
    }

    /// The records that brought the last of them on each node, where all came.
    pub(super) fn evidence(&self, scene: &Scene<'_>) -> Vec<(String, Evidence)> {
        if self.over(scene).all() != Some(true) {
            return Vec::new();
        }
        let last = scene.nodes.iter().filter_map(|node| {
            let (_, evidence) = node.arrivals.get(&self.arrival)?.last()?;
            Some((node.node.clone(), evidence.clone()))
        });
        last.collect()
    }

    /// A measure of them; nothing where it is 0, or where they have not all come.
    pub(super) fn fact(&self, scene: &Scene<'_>, measure: &str) -> Option<String> {
        let all = self.over(scene);
        let count = match measure {
            "failed" => all.failed,
            // Where some are missing it is of no use how many are not.
            "came" if all.all() == Some(true) => all.failed - all.dropped,
            "came" => 0,
            "dropped" => all.dropped,
            "missing" => all.missing,
            "untold" => all.untold,
            _ => {
                let last = all.last.filter(|_| all.all() == Some(true));
                return last.map(Timestamp::short);
            }
        };
        (count > 0).then(|| count.to_string())
    }
}

/// What brings parts, of nodes that miss some or may: it could not be seen where a piece of their log is absent.
pub(super) fn in_holes(base: &RuleBase, nodes: &[&NodeTally]) -> BTreeSet<NotObservable> {
    let mut missed = BTreeSet::new();
    for node in nodes {
        let mut asked = node.arrivals.iter();
        let Some((&at, _)) = asked.find(|(_, tally)| tally.failed() > 0) else {
            continue;
        };
        let mut sides = base.arrivals[at].sides.iter();
        let Some((signal, ..)) = sides.find(|(.., says)| *says == Arrives::Comes) else {
            continue;
        };
        for (from, to) in &node.holes {
            let (from, to) = (from.short(), to.short());
            missed.insert(NotObservable {
                signal: base.signals.signal(*signal).id.clone(),
                run: node.run.clone(),
                node: node.node.clone(),
                why: format!("a piece of its log is not here, between {from} and {to}"),
                collect: observe::COLLECT.to_owned(),
            });
        }
    }
    missed
}
