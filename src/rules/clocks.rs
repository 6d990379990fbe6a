//! How far the clocks of nodes are apart, estimated from records that two nodes have of one event. Said, and never applied.
//!
//! Of a pair one record is written before the other, by an unknown time. So the distance of their stamps is that of the
//! clocks and some time more. Pairs that go both ways bound the distance from both sides; pairs that go one way bound it
//! from one.

use std::collections::BTreeMap;

use super::{NodeFacts, RuleBase};
use crate::signals::tally::{Paired, PairedSample};
use crate::time::{Timestamp, Zone};

/// Of fewer pairs nothing is said: one that is none would weigh too much.
const PAIRS_MIN: usize = 8;

/// Two kinds of records that are written one before the other, on two nodes, about one event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockPair {
    /// The side that is written first.
    pub first: usize,
    /// The side that is written then.
    pub then: usize,
    /// Whether the second side names the other node; otherwise the first does.
    pub then_names_peer: bool,
}

/// How far a node's clock is ahead of another one's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skew {
    /// The run.
    pub run: String,
    /// The node.
    pub node: String,
    /// The node that it is compared with.
    pub against: String,
    /// How far it is ahead, in microseconds; behind where negative.
    pub ahead: i64,
    /// How far the estimate may be off, in microseconds: half of what is between the bounds of pairs that go both ways, else
    /// the distance of the quartiles.
    pub spread: i64,
    /// How many pairs of records it is from.
    pub pairs: u64,
    /// What it is: an estimate, or a bound where pairs go one way alone.
    pub kind: SkewKind,
}

/// What an estimate of a skew is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkewKind {
    /// Between bounds from both sides.
    Between,
    /// No more than this.
    AtMost,
    /// No less than this.
    AtLeast,
}

/// The distances of stamps, of the second node's less the first's: where the first node wrote first, and where it wrote then.
#[derive(Debug, Default)]
struct Distances {
    forth: Vec<i64>,
    back: Vec<i64>,
}

/// The skews between the nodes of each run, by run and node.
pub fn skews(base: &RuleBase, nodes: &[NodeFacts]) -> Vec<Skew> {
    let mut distances: BTreeMap<(usize, usize), Distances> = BTreeMap::new();
    for pair in &base.clocks {
        for (at, node) in nodes.iter().enumerate() {
            let (named, other) = if pair.then_names_peer {
                (pair.then, pair.first)
            } else {
                (pair.first, pair.then)
            };
            let Some(sample) = node.tally.paired.get(&named) else {
                continue;
            };
            for (key, mine) in sample.keys().filter(|(_, mine)| !mine.is_torn) {
                let Some((peer, theirs)) =
                    partner(nodes, node, (key, mine, &sample.peer(mine)), other)
                else {
                    continue;
                };
                let apart = apart((node, mine.first), (&nodes[peer], theirs.first));
                let (low, high) = (at.min(peer), at.max(peer));
                let between = distances.entry((low, high)).or_default();
                // Which of the two nodes wrote first.
                let first = if pair.then_names_peer { peer } else { at };
                let of_high = if peer == high { apart } else { -apart };
                if first == low {
                    between.forth.push(of_high);
                } else {
                    between.back.push(of_high);
                }
            }
        }
    }
    let skews = distances.into_iter().filter_map(|((low, high), found)| {
        let (ahead, spread, kind) = found.estimate()?;
        Some(Skew {
            run: nodes[high].tally.run.clone(),
            node: nodes[high].tally.node.clone(),
            against: nodes[low].tally.node.clone(),
            ahead,
            spread,
            pairs: u64::try_from(found.forth.len() + found.back.len()).unwrap_or(0),
            kind,
        })
    });
    skews.collect()
}

/// The record of the other node that belongs to one, if that node has as many with its key: a log that begins later lacks
/// some, and then the first of the one is not the first of the other.
fn partner<'n>(
    nodes: &'n [NodeFacts],
    node: &NodeFacts,
    (key, mine, peer): (u64, &Paired, &str),
    side: usize,
) -> Option<(usize, &'n Paired)> {
    let is_named = |it: &NodeFacts| {
        let host = peer.split(['.', ':']).next().unwrap_or_default();
        it.tally.run == node.tally.run
            && it.tally.node != node.tally.node
            && (it.tally.node == peer || it.tally.node == host)
    };
    let at = nodes.iter().position(is_named)?;
    let theirs = nodes[at]
        .tally
        .paired
        .get(&side)
        .and_then(|it: &PairedSample| it.get(key))?;
    (theirs.count == mine.count).then_some((at, theirs))
}

/// The second stamp less the first, without what zones make of it where both are known.
fn apart(a: (&NodeFacts, Timestamp), b: (&NodeFacts, Timestamp)) -> i64 {
    let shown = |zone: Zone, at: Timestamp| zone.local(at).map(|local| local.0 - at.0);
    let zones = shown(a.0.zone, a.1).zip(shown(b.0.zone, b.1));
    b.1.0 - a.1.0 - zones.map_or(0, |(a, b)| b - a)
}

impl Distances {
    fn estimate(&self) -> Option<(i64, i64, SkewKind)> {
        if self.forth.len() + self.back.len() < PAIRS_MIN {
            return None;
        }
        // A quarter of the pairs may be no pairs at all.
        let (forth, back) = (quartiles(&self.forth), quartiles(&self.back));
        Some(match (forth, back) {
            (Some((most, _)), Some((_, least))) => (
                i64::midpoint(most, least),
                ((most - least) / 2).abs(),
                SkewKind::Between,
            ),
            (Some((low, high)), None) => (low, high - low, SkewKind::AtMost),
            (None, Some((low, high))) => (high, high - low, SkewKind::AtLeast),
            (None, None) => return None,
        })
    }
}

/// The lower and the upper quartile.
fn quartiles(values: &[i64]) -> Option<(i64, i64)> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let last = sorted.len().checked_sub(1)?;
    Some((sorted[last / 4], sorted[last - last / 4]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_that_go_both_ways_bound_a_skew_from_both_sides() {
        // A clock 500 ahead; the way forth takes 10 and more, the way back 30 and more.
        let both = Distances {
            forth: vec![510, 510, 511, 600],
            back: vec![470, 470, 469, 400],
        };
        assert_eq!(both.estimate(), Some((490, 20, SkewKind::Between)));
        let ways = || vec![510, 511, 512, 513, 514, 515, 516, 517, 900];
        let forth = Distances {
            forth: ways(),
            back: vec![],
        };
        assert_eq!(forth.estimate(), Some((512, 4, SkewKind::AtMost)));
        let back = Distances {
            forth: vec![],
            back: ways().into_iter().map(|way| 1_000 - way).collect(),
        };
        assert_eq!(back.estimate(), Some((488, 4, SkewKind::AtLeast)));
        let few = Distances {
            forth: vec![510],
            back: vec![470],
        };
        assert_eq!(few.estimate(), None);
    }
}
