//! What a finding stands on: its counts, shares and facts.

use std::collections::BTreeMap;

use super::condition::Scene;
use super::finding::Subject;
use super::schema::{FieldRef, RuleDecl};
use super::times::longer;
use super::wal::Ranges;
use super::{NodeFacts, Rule, RuleBase, WalProblem};
use crate::signals::SignalSet;
use crate::signals::tally::{Evidence, NodeTally, Stall, StallWatch, Values};
use crate::time::{SECOND, Timestamp};
use crate::vocab::Healing;

/// How many values of a field a title names, and how much of each.
const VALUES_MAX: usize = 2;
const VALUE_CHARS_MAX: usize = 90;

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
            let value = if let Some(stall) = &fact.stall {
                self.stall_fact(stall.get_ref(), value)
            } else if let Some(count) = &fact.wal {
                self.wal_fact(count.get_ref(), value)
            } else if let Some(parts) = &fact.arrival {
                self.arrival_fact(parts.get_ref(), value)
            } else if let Some(count) = &fact.count {
                let field = FieldRef {
                    count: count.clone(),
                    field: fact.value.clone(),
                };
                self.value_fact(&field)
            } else {
                self.silence_fact(value)
            };
            facts.extend(value.map(|value| (name.clone(), value)));
        }
        facts
    }

    fn stall_fact(&self, name: &str, value: &str) -> Option<String> {
        let mut stalls = self.rule.stalls.iter();
        let (_, test) = stalls.find(|(known, _)| known == name)?;
        let (node, stall) = test.longest(self.scene.nodes)?;
        if value == "ended-at" {
            let ended = test.wait.as_ref()?.ended(node, stall);
            return ended.map(Timestamp::short);
        }
        let (signals, watch) = (&self.base.signals, &self.base.stalls[test.stall]);
        stall_value(signals, watch, stall, node, value)
    }

    /// The most frequent values of a field over all nodes, in that order.
    pub(super) fn values(&self, field: &FieldRef, max: usize) -> Vec<Subject> {
        let (name, field) = (field.count.get_ref(), field.field.get_ref());
        let mut sums = Values::default();
        for (node, problem) in self.wal_problems(name) {
            if let Some(value) = problem.measure(field, node) {
                sums.add(value.as_bytes(), usize::MAX);
            }
        }
        let counter = self.counter(name);
        let signal = counter.and_then(|at| Some((at, self.base.counters[at].signal?)));
        let Some((counter, index)) = signal else {
            return subjects(&sums, max);
        };
        let Some(field) = self.base.signals.signal(index).field(field) else {
            return Vec::new();
        };
        let kept = self.base.counters[counter]
            .values
            .iter()
            .position(|known| *known == field);
        for node in self.scene.nodes {
            let of_node = match kept {
                Some(at) => node.counters[counter].values.get(at),
                None => Some(&node.signals[usize::from(index)].values[field]),
            };
            if let Some(values) = of_node {
                sums.absorb(values);
            }
        }
        subjects(&sums, max)
    }

    /// The most frequent values of a field, of which a sentence names few, and of long ones the beginning.
    fn value_fact(&self, field: &FieldRef) -> Option<String> {
        let values = self.values(field, usize::MAX);
        let shown = values.iter().take(VALUES_MAX).map(|it| {
            let cut = it.value.char_indices().nth(VALUE_CHARS_MAX);
            let kept = &it.value[..cut.map_or(it.value.len(), |(at, _)| at)];
            format!("{kept}{}", if cut.is_some() { "…" } else { "" })
        });
        let shown: Vec<String> = shown.collect();
        let more = values.len().saturating_sub(VALUES_MAX);
        let more = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        (!shown.is_empty()).then(|| format!("{}{more}", shown.join(", ")))
    }

    fn arrival_fact(&self, name: &str, value: &str) -> Option<String> {
        let mut arrivals = self.rule.arrivals.iter();
        let (_, test) = arrivals.find(|(known, _)| known == name)?;
        test.fact(&self.scene, value)
    }

    /// Whether the parts that did not come at first came in the end: the worst of what the rule asks for.
    pub(super) fn healing(&self) -> Option<Healing> {
        let arrivals = self.rule.arrivals.iter();
        let healing = arrivals.filter_map(|(_, test)| test.over(&self.scene).healing());
        healing.max()
    }

    /// The records that show that what failed at first came.
    pub(super) fn healed(&self) -> Vec<(String, Evidence)> {
        let arrivals = self.rule.arrivals.iter();
        arrivals
            .flat_map(|(_, test)| test.evidence(&self.scene))
            .collect()
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

/// Values by how often they occur, most frequent first.
fn subjects(sums: &Values, max: usize) -> Vec<Subject> {
    let ranked = sums.top(max).into_iter();
    ranked
        .map(|(value, count)| Subject { value, count })
        .collect()
}
