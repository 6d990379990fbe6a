//! Stalls as a rule asks for them: how often, how long, and during which other stall.

use std::cmp::Reverse;

use crate::signals::tally::{NodeTally, Stall, is_below};
use crate::time::Timestamp;

/// What a rule asks of a stall.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StallTest {
    /// The stall.
    pub stall: usize,
    /// How often at least.
    pub repeats: u64,
    /// How long at least, in microseconds.
    pub lasting: i64,
    /// The stall that it must go on with.
    pub during: Option<Box<During>>,
    /// Whether what it waits for must have come since, or must not.
    pub wait: Option<Wait>,
}

/// What a stall waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wait {
    /// The parts, as a rule asks for them.
    pub arrival: usize,
    /// The field of the stall that names one.
    pub field: usize,
    /// Whether it must have come, or be wanted no more.
    pub is_over: bool,
}

impl Wait {
    /// When that which a stretch waited for came or was let go of.
    pub(super) fn ended(&self, node: &NodeTally, stall: &Stall) -> Option<Timestamp> {
        let arrivals = node.arrivals.get(&self.arrival)?;
        arrivals.closed(stall.table(), stall.value(self.field))
    }
}

/// The stall that another one must go on with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct During {
    /// That stall, as the rule asks for it.
    pub other: StallTest,
    /// A field of the stall that must be a smaller number than this field of the other one.
    pub below: Option<(usize, usize)>,
}

impl StallTest {
    /// The stretch that facts are taken from, and its node: with most repetitions, the first node's of equal ones. During
    /// another stall it is the one that shares most time with that, wherever more was said at other times.
    pub(super) fn longest<'a>(
        &self,
        nodes: &[&'a NodeTally],
    ) -> Option<(&'a NodeTally, &'a Stall)> {
        let Some(during) = &self.during else {
            let stalls = nodes
                .iter()
                .filter_map(|node| Some((*node, self.on(node)?)));
            return stalls.reduce(|a, b| if b.1.repeats > a.1.repeats { b } else { a });
        };
        let (_, other) = during.other.longest(nodes)?;
        let fits = |stall: &Stall| {
            let is_less =
                |(here, there): (usize, usize)| is_below(stall.value(here), other.value(there));
            stall.repeats >= self.repeats
                && stall.overlap(other) >= self.lasting.max(0)
                && during.below.is_none_or(is_less)
        };
        let stretches = nodes.iter().flat_map(|&node| {
            let stretches = node.stalls[self.stall].stretches();
            stretches.map(move |stall| (node, stall))
        });
        let rank = |stall: &Stall| {
            let shared = Reverse(stall.overlap(other));
            (shared, Reverse(stall.repeats), stall.span)
        };
        stretches
            .filter(|(_, stall)| fits(stall))
            .reduce(|a, b| if rank(b.1) < rank(a.1) { b } else { a })
    }

    /// The stretches that the test holds for: one a node, or the one during another stall.
    pub(super) fn each<'a>(&self, nodes: &[&'a NodeTally]) -> Vec<&'a Stall> {
        if self.during.is_some() {
            return self
                .longest(nodes)
                .map(|(_, stall)| stall)
                .into_iter()
                .collect();
        }
        nodes.iter().filter_map(|node| self.on(node)).collect()
    }

    fn on<'a>(&self, node: &'a NodeTally) -> Option<&'a Stall> {
        let is_asked = |stall: &Stall| {
            let wait = self.wait.as_ref();
            wait.is_none_or(|wait| wait.ended(node, stall).is_some() == wait.is_over)
        };
        node.stalls[self.stall].longest(self.repeats, self.lasting, is_asked)
    }
}
