//! What a finding stands on: its counts, shares and facts.

use std::collections::BTreeMap;

use super::condition::Scene;
use super::schema::RuleDecl;
use super::times::longer;
use super::wal::Ranges;
use super::{NodeFacts, Rule, RuleBase, WalProblem};
use crate::signals::SignalSet;
use crate::signals::tally::{NodeTally, Stall, StallWatch};
use crate::time::{SECOND, Timestamp};

/// What a finding stands on: a rule that fired, and where.
pub(super) struct Ground<'a> {
    pub(super) rule: &'a Rule,
    pub(super) declared: &'a RuleDecl,
    pub(super) facts: &'a [&'a NodeFacts],
    pub(super) scene: Scene<'a>,
    pub(super) base: &'a RuleBase,
}

impl Ground<'_> {
    pub(super) fn counter(&self, name: &str) -> Option<usize> {
        let mut counts = self.rule.counts.iter();
        counts
            .find(|(known, _)| known == name)
            .map(|(_, counter)| *counter)
    }

    pub(super) fn counts(&self) -> BTreeMap<String, u64> {
        let counts = self.rule.counts.iter();
        counts
            .map(|(name, counter)| (name.clone(), self.scene.sum(*counter)))
            .collect()
    }

    pub(super) fn counts_by_node(&self) -> BTreeMap<String, BTreeMap<String, u64>> {
        let of = |node: &NodeTally| {
            let counts = self.rule.counts.iter();
            counts
                .map(|(name, c)| (name.clone(), node.counters[*c].all.count))
                .collect()
        };
        self.scene
            .nodes
            .iter()
            .map(|node| (node.node.clone(), of(node)))
            .collect()
    }

    /// The declared values of the longest stalls and silences, over all nodes, and of the first problems of WALs.
    pub(super) fn facts(&self) -> BTreeMap<String, String> {
        let mut facts = BTreeMap::new();
        for (name, fact) in &self.declared.facts {
            let value = fact.value.get_ref();
            let value = match (&fact.stall, &fact.wal) {
                (Some(stall), _) => self.stall_fact(stall.get_ref(), value),
                (None, Some(count)) => self.wal_fact(count.get_ref(), value),
                (None, None) => self.silence_fact(value),
            };
            facts.extend(value.map(|value| (name.clone(), value)));
        }
        facts
    }

    fn stall_fact(&self, name: &str, value: &str) -> Option<String> {
        let mut stalls = self.rule.stalls.iter();
        let (_, test) = stalls.find(|(known, _)| known == name)?;
        let (node, stall) = test.longest(self.scene.nodes)?;
        let (signals, watch) = (&self.base.signals, &self.base.stalls[test.stall]);
        stall_value(signals, watch, stall, node, value)
    }

    /// The problems of WALs that a count counts, node by node.
    pub(super) fn wal_problems(&self, name: &str) -> Vec<(&str, &WalProblem)> {
        let counter = self.counter(name);
        counter.map_or_else(Vec::new, |at| self.base.wal_problems(at, self.facts))
    }

    fn wal_fact(&self, count: &str, value: &str) -> Option<String> {
        let problems = self.wal_problems(count);
        let (node, problem) = problems.first()?;
        problem.measure(value, node)
    }

    /// The positions that the problems behind each count withhold.
    pub(super) fn wal_ranges(&self) -> Ranges {
        let mut ranges = Ranges::new();
        for (name, _) in &self.rule.counts {
            let problems = self.wal_problems(name).into_iter();
            let of = problems.filter_map(|(node, it)| Some((node.to_owned(), it.withheld?)));
            let of: Vec<_> = of.collect();
            if !of.is_empty() {
                ranges.insert(name.clone(), of);
            }
        }
        ranges
    }

    fn silence_fact(&self, value: &str) -> Option<String> {
        let silences = self
            .scene
            .nodes
            .iter()
            .filter_map(|node| Some((*node, self.rule.when.silence(node)?)));
        let (node, span) = silences.reduce(|a, b| if longer(a.1, b.1) == a.1 { a } else { b })?;
        match value {
            "node" => Some(node.node.clone()),
            _ => Some(format!("{:.3}", seconds(span))),
        }
    }

    pub(super) fn shares(&self) -> BTreeMap<String, f64> {
        let mut shares = BTreeMap::new();
        for (name, share) in &self.declared.shares {
            let of: Option<Vec<usize>> = share
                .of
                .iter()
                .map(|name| self.counter(name.get_ref()))
                .collect();
            let part = self.counter(share.count.get_ref());
            if let Some(value) = part
                .zip(of)
                .and_then(|(part, of)| self.scene.share(part, &of))
            {
                shares.insert(name.clone(), value);
            }
        }
        shares
    }
}

/// The length of a stretch.
#[expect(
    clippy::cast_precision_loss,
    reason = "seconds are printed to a thousandth"
)]
fn seconds((from, to): (Timestamp, Timestamp)) -> f64 {
    (to.0 - from.0) as f64 / SECOND as f64
}

/// A field of a stall's signal, or a measure of the stall.
#[expect(
    clippy::cast_precision_loss,
    reason = "seconds are printed to a thousandth"
)]
fn stall_value(
    signals: &SignalSet,
    watch: &StallWatch,
    stall: &Stall,
    node: &NodeTally,
    name: &str,
) -> Option<String> {
    let seconds = seconds(stall.span);
    Some(match name {
        "repeats" => stall.repeats.to_string(),
        "duration-s" => format!("{seconds:.3}"),
        "period-s" => format!(
            "{:.3}",
            seconds / (stall.repeats.saturating_sub(1).max(1)) as f64
        ),
        "node" => node.node.clone(),
        field => {
            let field = signals.signal(watch.signal).field(field)?;
            String::from_utf8_lossy(stall.value(field)).into_owned()
        }
    })
}
