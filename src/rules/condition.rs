//! Conditions over the counts of a run or a node.
//!
//! Each answers holds, does not hold, or unknown: an upper bound on a signal that could not have been observed is
//! unknown. What is unknown never makes a rule fire.

use super::arrivals::ArrivalTest;
use super::observe;
use super::stalls::StallTest;
use super::times::{TimeTest, longer};
use super::unseen;
use crate::signals::SignalSet;
use crate::signals::tally::{Counter, NodeTally};
use crate::time::Timestamp;

/// A compiled condition.
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// All hold.
    All(Vec<Condition>),
    /// Any holds.
    Any(Vec<Condition>),
    /// None holds.
    None(Vec<Condition>),
    /// At most so many over all nodes, where that could have been observed.
    AtMost {
        /// The counter.
        counter: usize,
        /// How many.
        count: u64,
    },
    /// A share of a whole within bounds; unknown for an empty whole.
    Share {
        /// The counter of the part.
        counter: usize,
        /// The counters of the whole.
        of: Vec<usize>,
        /// At least this.
        at_least: Option<f64>,
        /// Below this.
        below: Option<f64>,
    },
    /// All parts that did not come at first came in the end; unknown where that is not told.
    Arrived(ArrivalTest),
    /// A test of counts; always known.
    Count(CountTest),
    /// A test of stamps; always known.
    Time(TimeTest),
}

/// A test of counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CountTest {
    /// At least so many over all nodes.
    AtLeast {
        /// The counter.
        counter: usize,
        /// How many.
        count: u64,
    },
    /// At least so many on each of at least `nodes` nodes.
    OnNodes {
        /// The counter.
        counter: usize,
        /// How many on a node.
        count: u64,
        /// How many nodes.
        nodes: u64,
    },
    /// At least as many as the window says within its span, on each of at least `nodes` nodes.
    Within {
        /// The counter.
        counter: usize,
        /// The index of the window in the counter.
        window: usize,
        /// How many nodes.
        nodes: u64,
    },
    /// One node alone has any of these, and the log of another one, which has none, covers its first occurrence.
    Alone {
        /// The counters.
        counters: Vec<usize>,
    },
    /// The counter's signal could have been observed on every node.
    Observable {
        /// The counter.
        counter: usize,
    },
}

/// What conditions are evaluated over.
#[derive(Debug, Clone, Copy)]
pub struct Scene<'a> {
    /// The nodes.
    pub nodes: &'a [&'a NodeTally],
    /// The counters.
    pub counters: &'a [Counter],
    /// The signals.
    pub signals: &'a SignalSet,
}

impl Scene<'_> {
    /// A count over all nodes.
    pub fn sum(&self, counter: usize) -> u64 {
        self.nodes
            .iter()
            .map(|node| node.counters[counter].all.count)
            .sum()
    }

    /// The share of a count in a whole; `None` for an empty whole.
    #[expect(
        clippy::cast_precision_loss,
        reason = "a share is printed to a tenth of a percent"
    )]
    pub fn share(&self, counter: usize, of: &[usize]) -> Option<f64> {
        let whole: u64 = of.iter().map(|&counter| self.sum(counter)).sum();
        (whole > 0).then(|| self.sum(counter) as f64 / whole as f64)
    }

    pub(super) fn nodes_with(&self, fits: impl Fn(&NodeTally) -> bool) -> u64 {
        u64::try_from(self.nodes.iter().filter(|node| fits(node)).count()).unwrap_or(u64::MAX)
    }

    /// Whether what runs on a node is such that it could log what a counter counts: the coordination service beside a server
    /// logs nothing of the server's.
    pub(super) fn could_log(&self, counter: usize, node: &NodeTally) -> bool {
        let signal = self.counters[counter].signal;
        signal.is_none_or(|signal| observe::concerns(self.signals.signal(signal), node))
    }

    fn observable(&self, counter: usize) -> bool {
        let Counter {
            signal,
            is_absence_open,
            ..
        } = self.counters[counter];
        if is_absence_open {
            return false;
        }
        let Some(signal) = signal else {
            return !self.nodes.is_empty() && self.nodes.iter().all(|node| node.seen.wal);
        };
        let mut nodes = self
            .nodes
            .iter()
            .filter(|node| observe::concerns(self.signals.signal(signal), node))
            .peekable();
        let is_seen = |node: &NodeTally| observe::obstacle(self.signals, signal, node).is_none();
        nodes.peek().is_some() && nodes.all(|node| is_seen(node))
    }
}

impl Condition {
    /// The stalls that the condition needs to hold.
    pub(super) fn stalls(&self) -> Vec<&StallTest> {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().flat_map(Self::stalls).collect(),
            Self::Time(TimeTest::Stall(test)) => vec![test],
            Self::None(_)
            | Self::AtMost { .. }
            | Self::Share { .. }
            | Self::Arrived(_)
            | Self::Count(_)
            | Self::Time(
                TimeTest::Together { .. } | TimeTest::Sequence { .. } | TimeTest::Silence { .. },
            ) => Vec::new(),
        }
    }

    /// The longest silence of a node that the condition needs to hold.
    pub(super) fn silence(&self, node: &NodeTally) -> Option<(Timestamp, Timestamp)> {
        match self {
            Self::All(parts) | Self::Any(parts) => parts
                .iter()
                .filter_map(|part| part.silence(node))
                .reduce(longer),
            Self::Time(test) => test.silence(node),
            Self::None(_)
            | Self::AtMost { .. }
            | Self::Share { .. }
            | Self::Arrived(_)
            | Self::Count(_) => None,
        }
    }

    /// Whether the condition holds; `None` is unknown.
    pub fn holds(&self, scene: &Scene<'_>) -> Option<bool> {
        match self {
            Self::All(parts) => all(parts.iter().map(|part| part.holds(scene))),
            Self::Any(parts) => none(parts, scene).map(|none| !none),
            Self::None(parts) => none(parts, scene),
            Self::AtMost { counter, count } => match scene.sum(*counter) <= *count {
                true if !scene.observable(*counter) => None,
                within => Some(within),
            },
            Self::Share {
                counter,
                of,
                at_least,
                below,
            } => {
                let share = scene.share(*counter, of)?;
                let high = at_least.is_none_or(|bound| share >= bound);
                Some(high && below.is_none_or(|bound| share < bound))
            }
            Self::Arrived(test) => test.over(scene).all(),
            Self::Count(test) => Some(test.holds(scene)),
            Self::Time(test) => Some(test.holds(scene)),
        }
    }
}

impl CountTest {
    fn holds(&self, scene: &Scene<'_>) -> bool {
        match self {
            Self::AtLeast { counter, count } => scene.sum(*counter) >= *count,
            Self::OnNodes {
                counter,
                count,
                nodes,
            } => scene.nodes_with(|node| node.counters[*counter].all.count >= *count) >= *nodes,
            Self::Within {
                counter,
                window,
                nodes,
            } => {
                let filled = |node: &NodeTally| {
                    node.counters[*counter]
                        .filled
                        .get(*window)
                        .copied()
                        .flatten()
                        .is_some()
                };
                scene.nodes_with(filled) >= *nodes
            }
            Self::Alone { counters } => unseen::alone(scene, counters).is_some(),
            Self::Observable { counter } => scene.observable(*counter),
        }
    }
}

/// Whether none of `parts` holds.
fn none(parts: &[Condition], scene: &Scene<'_>) -> Option<bool> {
    all(parts
        .iter()
        .map(|part| part.holds(scene).map(|holds| !holds)))
}

/// Whether all hold: one that does not decides, then one that is unknown.
fn all(parts: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut unknown = false;
    for part in parts {
        match part {
            Some(false) => return Some(false),
            Some(true) => {}
            None => unknown = true,
        }
    }
    (!unknown).then_some(true)
}

#[cfg(test)]
mod tests {
    use super::all;

    #[test]
    fn one_that_does_not_hold_decides_over_one_that_is_unknown() {
        assert_eq!(
            all([Some(true), None, Some(false)].into_iter()),
            Some(false)
        );
        assert_eq!(all([Some(true), None].into_iter()), None);
        assert_eq!(all([Some(true), Some(true)].into_iter()), Some(true));
        assert_eq!(all([].into_iter()), Some(true));
    }
}
