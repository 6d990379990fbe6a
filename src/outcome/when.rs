//! When a leaf ran, by the clock of a node whose records are held against it.

use super::Row;
use super::cause::Scene;
use super::clocks::NodeClock;
use crate::parsers::ci::{Leaf, Moment};
use crate::rules::NodeFacts;
use crate::signals::tally::WatchTally;
use crate::time::{MINUTE, Timestamp};

/// How much later than a leaf's end, or earlier than its beginning, a record may be that still belongs to it.
pub(super) const SLACK: i64 = MINUTE;

/// A leaf's time by the clock of a node.
pub(super) enum LeafTime {
    /// The clocks cannot be compared: any record may lie in it.
    Unknown,
    /// No record does.
    Never,
    /// From when to when, with what clocks may disagree.
    Between(i64, i64),
}

impl LeafTime {
    /// How many records lie in it, to the minute.
    pub(super) fn during(&self, tally: &WatchTally) -> u64 {
        match self {
            Self::Unknown => tally.all.count,
            Self::Never => 0,
            Self::Between(first, last) => {
                let minutes = Timestamp(*first).minute()..=Timestamp(*last).minute();
                tally
                    .minutes
                    .counts()
                    .range(minutes)
                    .map(|(_, count)| count)
                    .sum()
            }
        }
    }

    /// Whether a span reaches into it.
    pub(super) fn meets(&self, span: Option<(Timestamp, Timestamp)>) -> bool {
        match (self, span) {
            (Self::Unknown, _) | (Self::Between(..), None) => true,
            (Self::Never, _) => false,
            (Self::Between(first, last), Some((low, high))) => low.0 <= *last && high.0 >= *first,
        }
    }
}

/// When a leaf ran; where its source has no time of it, it ran within its run.
pub(super) fn time_of(
    scene: &Scene<'_>,
    facts: &NodeFacts,
    (row, leaf): (&Row, &Leaf),
) -> LeafTime {
    let Some(clock) = clock_of(scene, &facts.tally.run, &facts.tally.node) else {
        return LeafTime::Unknown;
    };
    let local = |at: Option<Moment>| clock.local(at?);
    let began = leaf.began.or(row.run.first);
    let ended = leaf.ended.or(row.run.last);
    match (local(began), local(ended)) {
        _ if clock.is_elsewhen => LeafTime::Never,
        (Some(began), Some(ended)) => LeafTime::Between(began.0 - SLACK, ended.0 + SLACK),
        _ => LeafTime::Unknown,
    }
}

pub(super) fn clock_of<'s>(scene: &'s Scene<'_>, run: &str, node: &str) -> Option<&'s NodeClock> {
    scene
        .clocks
        .iter()
        .find(|clock| clock.run == run && clock.node == node)
}
