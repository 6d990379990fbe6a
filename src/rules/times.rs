//! Conditions that look at the stamps of single occurrences: on all nodes at once, one after another, after a silence.
//!
//! Widths include both edges. Stamps of different nodes come from different clocks: a sequence across nodes says by how
//! much they may disagree. Equal stamps are in order.

use super::condition::Scene;
use super::stalls::StallTest;
use super::unseen;
use crate::signals::tally::NodeTally;
use crate::time::Timestamp;

/// A test of stamps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TimeTest {
    /// A stall, on any node.
    Stall(StallTest),
    /// On every node whose log covers it, at least two of them, within so many microseconds of each other.
    Together {
        /// The counter; it keeps its stamps.
        counter: usize,
        /// The width, both edges included.
        within: i64,
    },
    /// In this order, each at or after the one before, all within so many microseconds of the first.
    Sequence {
        /// The counters; they keep their stamps.
        counters: Vec<usize>,
        /// The width, both edges included.
        within: i64,
        /// `None`: all on one node. Else the nodes may differ, and a later one may be stamped earlier by this much.
        skew: Option<i64>,
    },
    /// A node's log is silent for so long, and then says something.
    Silence {
        /// Microseconds of silence at least.
        lasting: i64,
        /// The counter of what follows; it keeps its stamps.
        then: usize,
        /// How soon after the silence.
        within: i64,
        /// The counter of what must not occur from the silence's start to what follows; it keeps its stamps.
        without: Option<usize>,
    },
}

impl TimeTest {
    /// Whether the test holds.
    pub(super) fn holds(&self, scene: &Scene<'_>) -> bool {
        match self {
            Self::Stall(test) => test.longest(scene.nodes).is_some(),
            Self::Together { counter, within } => {
                unseen::together(scene, *counter, *within).is_some()
            }
            Self::Sequence {
                counters,
                within,
                skew,
            } => in_sequence(scene, counters, *within, *skew),
            Self::Silence {
                lasting,
                then,
                within,
                without,
            } => {
                let silent =
                    |node: &NodeTally| silence(node, *lasting, *then, *within, *without).is_some();
                scene.nodes_with(silent) > 0
            }
        }
    }

    /// The longest silence of a node that the test holds for.
    pub(super) fn silence(&self, node: &NodeTally) -> Option<(Timestamp, Timestamp)> {
        match self {
            Self::Silence {
                lasting,
                then,
                within,
                without,
            } => silence(node, *lasting, *then, *within, *without),
            Self::Stall(_) | Self::Together { .. } | Self::Sequence { .. } => None,
        }
    }
}

/// The stamps of a counter on a node, in order.
pub(super) fn sorted(node: &NodeTally, counter: usize) -> Vec<Timestamp> {
    let mut times = node.counters[counter].times.clone();
    times.sort_unstable();
    times
}

/// The stamps of counters that keep them, node by node; without each node's first where that is only what the others follow.
pub(super) fn moments(
    nodes: &[&NodeTally],
    counters: &[usize],
    after_first: bool,
) -> Vec<Timestamp> {
    let of_node = |node: &&NodeTally| {
        let of = |&counter: &usize| node.counters[counter].times.iter().copied();
        let mut times: Vec<Timestamp> = counters.iter().flat_map(of).collect();
        times.sort_unstable();
        times.into_iter().skip(usize::from(after_first))
    };
    nodes.iter().flat_map(of_node).collect()
}

/// Whether the counters occur in order, all within `within` of the first.
fn in_sequence(scene: &Scene<'_>, counters: &[usize], within: i64, skew: Option<i64>) -> bool {
    let of = |nodes: &[&NodeTally]| -> Vec<Vec<Timestamp>> {
        let times = |&counter: &usize| {
            let mut all: Vec<Timestamp> = nodes
                .iter()
                .flat_map(|node| node.counters[counter].times.iter().copied())
                .collect();
            all.sort_unstable();
            all
        };
        counters.iter().map(times).collect()
    };
    let has = |nodes: &[&NodeTally], skew| has_sequence(counters, &of(nodes), within, skew);
    match skew {
        Some(skew) => has(scene.nodes, skew),
        None => scene.nodes.iter().any(|node| has(&[node], 0)),
    }
}

/// From each occurrence of the first, takes the earliest of each next one: if any sequence fits, that one does. A counter
/// that stands in it several times needs as many occurrences.
fn has_sequence(counters: &[usize], times: &[Vec<Timestamp>], within: i64, skew: i64) -> bool {
    let Some((first, rest)) = times.split_first() else {
        return false;
    };
    let follows = |(begin, &start): (usize, &Timestamp)| {
        let mut at = start;
        let mut taken = vec![(counters[0], begin)];
        rest.iter().zip(&counters[1..]).all(|(next, &counter)| {
            let from = next.partition_point(|time| time.0 < at.0 - skew);
            let free = (from..next.len()).find(|&place| !taken.contains(&(counter, place)));
            let found = free.filter(|&place| next[place].0 - start.0 <= within);
            found.is_some_and(|place| {
                taken.push((counter, place));
                at = next[place];
                true
            })
        })
    };
    first.iter().enumerate().any(follows)
}

/// How many silences that nothing followed make their length a usual one.
const USUAL: usize = 2;

/// The longest silence of a node that lasted `lasting` and ended in `then` within `within`, without `without` in between. It stands
/// out of the log's own silences: where several that nothing followed are half as long, the node is silent like that at any time.
fn silence(
    node: &NodeTally,
    lasting: i64,
    then: usize,
    within: i64,
    without: Option<usize>,
) -> Option<(Timestamp, Timestamp)> {
    let follows = sorted(node, then);
    let excluded = without
        .map(|counter| sorted(node, counter))
        .unwrap_or_default();
    let next = |to: Timestamp| {
        let found = follows.get(follows.partition_point(|at| *at < to));
        found.filter(|at| at.0 - to.0 <= within).copied()
    };
    let is_excluded =
        |from: Timestamp, to: Timestamp| excluded.iter().any(|at| (from..=to).contains(at));
    let length = |(from, to): (Timestamp, Timestamp)| to.0 - from.0;
    let gaps = || node.gaps.iter().copied();
    let idle = gaps().filter(|(_, to)| next(*to).is_none());
    let idle =
        idle.filter(|(from, to)| !is_excluded(*from, Timestamp(to.0.saturating_add(within))));
    let mut idle: Vec<i64> = idle.map(length).collect();
    idle.sort_unstable();
    let stands_out = |gap: (Timestamp, Timestamp)| {
        let like = idle.partition_point(|idle| idle.saturating_mul(2) < length(gap));
        idle.len() - like < USUAL
    };
    let fits = |&(from, to): &(Timestamp, Timestamp)| {
        next(to).is_some_and(|found| !is_excluded(from, found)) && stands_out((from, to))
    };
    gaps()
        .filter(|gap| length(*gap) >= lasting)
        .filter(fits)
        .reduce(longer)
}

/// The longer of two stretches, the first of equal ones.
pub(super) fn longer(
    a: (Timestamp, Timestamp),
    b: (Timestamp, Timestamp),
) -> (Timestamp, Timestamp) {
    if b.1.0 - b.0.0 > a.1.0 - a.0.0 { b } else { a }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(times: &[&[i64]], within: i64, skew: i64) -> bool {
        let times: Vec<Vec<Timestamp>> = times
            .iter()
            .map(|list| list.iter().map(|&t| Timestamp(t)).collect())
            .collect();
        let counters: Vec<usize> = (0..times.len()).collect();
        has_sequence(&counters, &times, within, skew)
    }

    #[test]
    fn a_sequence_is_in_order_and_a_c_b_is_none() {
        assert!(fits(&[&[1], &[2], &[3]], 10, 0));
        assert!(!fits(&[&[1], &[3], &[2]], 10, 0));
    }

    #[test]
    fn the_width_counts_from_the_first_and_includes_its_edge() {
        assert!(fits(&[&[0], &[5], &[10]], 10, 0));
        assert!(!fits(&[&[0], &[5], &[11]], 10, 0));
    }

    #[test]
    fn a_later_start_may_fit_where_the_first_does_not() {
        assert!(fits(&[&[0, 50], &[55]], 10, 0));
    }

    #[test]
    fn equal_stamps_are_in_order_and_skew_forgives_as_much_as_it_says() {
        assert!(fits(&[&[7], &[7]], 0, 0));
        assert!(!fits(&[&[7], &[5]], 10, 1));
        assert!(fits(&[&[7], &[5]], 10, 2));
    }
}
