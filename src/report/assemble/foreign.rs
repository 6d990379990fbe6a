//! What nothing that runs on a node logs, of what is counted elsewhere.

use std::collections::BTreeSet;

use super::Context;
use crate::report::model::{Foreign, SignalRow};
use crate::rules::{NodeFacts, concerns};

impl Context<'_> {
    /// The signals that are counted, or that a finding misses, and that are of another program than those of a node.
    pub(super) fn foreign(&self, counted: &[SignalRow]) -> Vec<Foreign> {
        let findings = &self.analysis.conclusions.findings;
        let missed = findings.iter().flat_map(|it| &it.not_observable);
        let missed = missed.map(|it| it.signal.as_str());
        let counted = counted.iter().map(|it| it.signal.as_str());
        let told: BTreeSet<&str> = counted.chain(missed).collect();
        let nodes = self.analysis.nodes.iter();
        let of = nodes.map(|facts| self.foreign_of(facts, &told));
        of.filter(|it| it.codes || !it.signals.is_empty()).collect()
    }

    fn foreign_of(&self, facts: &NodeFacts, told: &BTreeSet<&str>) -> Foreign {
        let signals = self.base.signals.signals().iter();
        let foreign = signals
            .filter(|signal| told.contains(signal.id.as_str()) && !concerns(signal, &facts.tally));
        let mut formats = facts.tally.seen.formats.iter();
        Foreign {
            run: facts.tally.run.clone(),
            node: facts.tally.node.clone(),
            signals: foreign.map(|signal| signal.id.clone()).collect(),
            codes: !formats.any(|format| format.spec().has_codes),
        }
    }
}
