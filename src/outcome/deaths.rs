//! When servers died, by records that are marked as such, and when they came back.

use crate::rules::{NodeFacts, RuleBase};
use crate::time::Timestamp;
use crate::vocab::MarkKind;

/// A server that died.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Death {
    /// The run.
    pub(super) run: String,
    /// The node.
    pub(super) node: String,
    /// When, by its own clock.
    pub(super) at: Timestamp,
    /// When it started next.
    pub(super) until: Option<Timestamp>,
    /// The signal that says so.
    pub(super) signal: u16,
}

/// All deaths, in the order of nodes and times.
pub(super) fn deaths(nodes: &[NodeFacts], base: &RuleBase) -> Vec<Death> {
    let mut deaths = Vec::new();
    for facts in nodes {
        let tallies = facts.tally.signals.iter().zip(base.signals.signals());
        for ((tally, signal), index) in tallies.zip(0_u16..) {
            if signal.mark != Some(MarkKind::Crash) {
                continue;
            }
            for at in &tally.marks {
                deaths.push(Death {
                    run: facts.tally.run.clone(),
                    node: facts.tally.node.clone(),
                    at: *at,
                    until: facts.starts.iter().find(|start| *start > at).copied(),
                    signal: index,
                });
            }
        }
    }
    deaths.sort_by(|a, b| (&a.run, &a.node, a.at).cmp(&(&b.run, &b.node, b.at)));
    // A process dies once, in however many records: a report has short lines before it, and two threads may fail at once.
    deaths.dedup_by(|b, a| (&a.run, &a.node, a.until) == (&b.run, &b.node, b.until));
    deaths
}
