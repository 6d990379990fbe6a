//! Several nodes side by side: who has which positions, and whom each could bring up to date after a failover.
//!
//! A new primary streams to a standby from the standby's last position. It chooses segments by name, so a range that only a misfiled
//! segment holds does not exist for it, and the standby stalls although nothing is missing.

use std::collections::BTreeMap;

use crate::vocab::{Lsn, LsnNotation, LsnRange};

use super::model::{Stretch, Wal};

/// Nodes of one log, compared.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// The layout's name.
    pub layout: String,
    /// Which cluster or log, where the segments say.
    pub identity: Option<String>,
    /// How the system writes a position.
    pub notation: LsnNotation,
    /// The nodes' WALs, by their place in the list that was compared.
    pub wals: Vec<usize>,
    /// What each node has, in the order of the paths.
    pub nodes: Vec<Reach>,
    /// Each failover that would not go well.
    pub forecasts: Vec<Forecast>,
    /// Positions that two nodes hold under different terms, with the nodes.
    pub differing: Vec<(LsnRange, String, String)>,
}

/// What one node has.
#[derive(Debug, Clone)]
pub struct Reach {
    /// The node.
    pub node: String,
    /// Positions found where names send a reader.
    pub found: Vec<LsnRange>,
    /// The position that a recovery ends at: the last without a hole before it.
    pub end: Option<Lsn>,
    /// The highest position in any of its segments.
    pub tip: Option<Lsn>,
    /// The lowest position from which on it can serve a standby to its tip.
    pub serves_from: Option<Lsn>,
}

/// A failover that would not go well.
#[derive(Debug, Clone)]
pub struct Forecast {
    /// The node that becomes primary.
    pub primary: String,
    /// The node that has to be caught up.
    pub standby: String,
    /// Where the standby is.
    pub at: Lsn,
    /// The first range it needs and does not get by name.
    pub lacks: LsnRange,
    /// The segment of the primary that holds the range all the same; without one it is nowhere on the primary.
    pub held_by: Option<String>,
}

/// Nodes of one log that are compared with each other.
const NODES_MAX: usize = 64;
/// Stretches of one node that are compared with one of another.
const OVERLAPS_MAX: usize = 1000;

/// Compares the nodes of each log in each run; a log on one node alone is not compared.
pub fn compare(wals: &[Wal]) -> Vec<Comparison> {
    let mut groups: BTreeMap<(&str, &str, Option<String>), Vec<usize>> = BTreeMap::new();
    for (n, wal) in wals.iter().enumerate() {
        let has_positions = !wal.found.is_empty() || !wal.misfiled.is_empty();
        if has_positions && wal.is_replicated {
            let group = (
                wal.run.as_str(),
                wal.layout.as_str(),
                wal.identity.as_deref().map(cluster),
            );
            groups.entry(group).or_default().push(n);
        }
    }
    let groups = groups.into_iter().filter(|(_, places)| places.len() > 1);
    groups
        .map(|((_, layout, identity), places)| comparison(layout, identity, wals, places))
        .collect()
}

/// What the members of one cluster have in common.
fn cluster(identity: &str) -> String {
    identity
        .split_once(" of ")
        .map_or(identity, |(_, cluster)| cluster)
        .to_owned()
}

fn comparison(
    layout: &str,
    identity: Option<String>,
    all: &[Wal],
    mut places: Vec<usize>,
) -> Comparison {
    places.truncate(NODES_MAX);
    let wals: Vec<&Wal> = places.iter().filter_map(|&n| all.get(n)).collect();
    let mut nodes: Vec<Reach> = wals.iter().map(|wal| reach(wal)).collect();
    // Two logs of one node have its name, and only their folders tell them apart.
    for (n, wal) in wals.iter().enumerate() {
        if wals.iter().filter(|other| other.node == wal.node).count() > 1 {
            nodes[n].node.clone_from(&wal.path);
        }
    }
    let mut forecasts = Vec::new();
    let mut differing = Vec::new();
    for (n, primary) in wals.iter().enumerate() {
        for (m, standby) in wals.iter().enumerate() {
            if n != m {
                forecasts.extend(forecast(primary, &nodes[n], &nodes[m]));
            }
            if n < m {
                differing.extend(
                    differ(&primary.stretches, &standby.stretches)
                        .map(|range| (range, nodes[n].node.clone(), nodes[m].node.clone())),
                );
            }
        }
    }
    let notation = wals
        .first()
        .map_or(LsnNotation::Decimal, |wal| wal.notation);
    Comparison {
        layout: layout.to_owned(),
        wals: places,
        identity,
        notation,
        nodes,
        forecasts,
        differing,
    }
}

fn reach(wal: &Wal) -> Reach {
    let tip = wal.tip();
    let mut whole = wal.found.clone();
    whole.extend(&wal.in_snapshot);
    let whole = LsnRange::join(whole);
    // Epochs make legal holes between ranges; only what is missing or misfiled ends the part that a recovery can use.
    let broken = wal
        .missing
        .iter()
        .chain(wal.misfiled.iter().map(|(range, _)| range))
        .map(|range| range.first)
        .min();
    let last = |limit: Option<Lsn>| {
        whole
            .iter()
            .filter(|range| limit.is_none_or(|limit| range.first < limit))
            .map(|range| range.last)
            .max()
    };
    let end = match broken {
        Some(broken) => last(Some(broken)).map(|end| end.min(broken.before())),
        None => last(None),
    };
    let worst = wal
        .missing
        .iter()
        .chain(wal.misfiled.iter().map(|(range, _)| range))
        .map(|range| range.last)
        .max();
    let first = wal.found.first().map(|range| range.first);
    let from_snapshot = wal.in_snapshot.last().map(|range| range.last.next());
    let serves_from = match worst {
        Some(worst) if Some(worst) >= tip => None,
        Some(worst) => Some(worst.next()),
        None => first,
    };
    Reach {
        node: wal.node.clone(),
        found: wal.found.clone(),
        end,
        tip,
        serves_from: serves_from.max(from_snapshot.filter(|_| serves_from.is_some())),
    }
}

/// What a standby would not get from a primary by name.
fn forecast(primary: &Wal, from: &Reach, to: &Reach) -> Option<Forecast> {
    let at = to.end?;
    let tip = from.tip?;
    let broken = primary
        .missing
        .iter()
        .copied()
        .chain(primary.misfiled.iter().map(|(range, _)| *range));
    let needed = LsnRange::new(at.next(), tip)?;
    let lacks = broken.filter_map(|range| range.common(needed)).min()?;
    let held_by = primary
        .misfiled
        .iter()
        .find(|(range, _)| range.first <= lacks.first && lacks.first <= range.last);
    let held_by = held_by
        .and_then(|(_, segment)| primary.segments.get(*segment))
        .map(|segment| segment.file.clone());
    Some(Forecast {
        primary: from.node.clone(),
        standby: to.node.clone(),
        at,
        lacks,
        held_by,
    })
}

/// The positions that both have, under different terms.
fn differ<'a>(left: &'a [Stretch], right: &'a [Stretch]) -> impl Iterator<Item = LsnRange> + 'a {
    let mut from = 0;
    let pairs = left.iter().flat_map(move |stretch| {
        while right
            .get(from)
            .is_some_and(|other| other.range.last < stretch.range.first)
        {
            from += 1;
        }
        // Stretches of one node overlap only where it is damaged.
        right[from..]
            .iter()
            .take(OVERLAPS_MAX)
            .take_while(|other| other.range.first <= stretch.range.last)
            .map(move |other| (stretch, other))
    });
    let ranges = pairs
        .filter(|(left, right)| left.term != right.term)
        .filter_map(|(left, right)| left.range.common(right.range));
    LsnRange::join(ranges.collect()).into_iter()
}

impl Wal {
    /// What a standby at a position would not get from this node by name, up to its tip.
    pub fn withheld_from(&self, at: Lsn) -> Vec<LsnRange> {
        let Some(needed) = self.tip().and_then(|tip| LsnRange::new(at.next(), tip)) else {
            return Vec::new();
        };
        needed.without(&self.found)
    }

    /// The position that a recovery ends at: the last without a hole before it.
    pub fn end(&self) -> Option<Lsn> {
        reach(self).end
    }
}
