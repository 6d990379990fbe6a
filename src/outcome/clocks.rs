//! The clocks of nodes against those of tests, which are UTC: by the zone that a node's log or the user names, else taken as
//! UTC where the node's records then lie in the time of the tests, else estimated from where they begin.

use super::Row;
use crate::parsers::ci::{Clock, Moment};
use crate::rules::NodeFacts;
use crate::time::{MINUTE, Timestamp, Zone};

/// How a node's clock was compared with those of tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeClock {
    /// The run.
    pub run: String,
    /// The node.
    pub node: String,
    /// The zone, where it is named.
    pub zone: Zone,
    /// What its clock shows beyond UTC, in microseconds, where no zone is named; none where that is not known.
    pub ahead: Option<i64>,
    /// Whether no zone there is brings its records into the time of the tests.
    pub is_elsewhen: bool,
    /// How that was found, in words.
    pub how: String,
}

/// Zones differ from UTC by multiples of this.
const ZONE_STEP: i64 = 15 * MINUTE;

/// How far from a multiple the beginnings may be apart, for an estimate.
const BEGIN_SLACK: i64 = 5 * MINUTE;

/// Zones reach this far.
const ZONE_MAX: i64 = 14 * 60 * MINUTE;

impl NodeClock {
    /// What the node's clock showed at an instant.
    pub fn local(&self, at: Moment) -> Option<Timestamp> {
        if at.clock != Clock::Utc {
            return None;
        }
        self.zone.local(at.at).or_else(|| {
            self.ahead
                .map(|ahead| Timestamp(at.at.0.saturating_add(ahead)))
        })
    }
}

/// The clocks of all nodes with records, if there are tests with instants.
pub(super) fn clocks<'r>(
    nodes: &[NodeFacts],
    speakers: impl Iterator<Item = &'r Row>,
) -> Vec<NodeClock> {
    let mut span: Option<(i64, i64)> = None;
    for row in speakers {
        let utc = |at: Option<Moment>| at.filter(|at| at.clock == Clock::Utc).map(|at| at.at.0);
        if let (Some(first), Some(last)) = (utc(row.run.first), utc(row.run.last)) {
            span = Some(span.map_or((first, last), |(low, high)| {
                (low.min(first), high.max(last))
            }));
        }
    }
    let Some(span) = span else { return Vec::new() };
    let with_records = nodes.iter().filter(|facts| facts.tally.span.is_some());
    with_records.map(|facts| clock(facts, span)).collect()
}

fn clock(facts: &NodeFacts, (first, last): (i64, i64)) -> NodeClock {
    let records = facts
        .tally
        .span
        .map_or((0, 0), |(low, high)| (low.0, high.0));
    let is_unnamed = facts.zone == Zone::Unknown;
    let (ahead, how) = match facts.zone {
        Zone::Named(_) => (None, format!("the zone is {}", facts.zone)),
        Zone::Dateless => (
            None,
            "its stamps have no date: times are not compared".to_owned(),
        ),
        Zone::Unknown if records.0 <= last && records.1 >= first => (
            Some(0),
            "no zone is named; taken as UTC, in which its records lie in the time of the tests"
                .to_owned(),
        ),
        Zone::Unknown => estimate(facts, records.0 - first),
    };
    NodeClock {
        run: facts.tally.run.clone(),
        node: facts.tally.node.clone(),
        zone: facts.zone,
        ahead,
        is_elsewhen: is_unnamed && (records.0 - last > ZONE_MAX || first - records.1 > ZONE_MAX),
        how,
    }
}

/// The zone that brings the beginning of a node's log to that of the tests.
fn estimate(facts: &NodeFacts, apart: i64) -> (Option<i64>, String) {
    let start = facts.starts.first().map_or(0, |start| start.0);
    let began = facts.tally.span.map_or(0, |(low, _)| low.0);
    let steps = (apart + ZONE_STEP / 2).div_euclid(ZONE_STEP) * ZONE_STEP;
    let fits = steps.abs() <= ZONE_MAX && (apart - steps).abs() <= BEGIN_SLACK;
    if !fits {
        return (None, "no zone is named, and none brings its records into the time of the tests: times are not compared".to_owned());
    }
    let (hours, minutes) = (steps.abs() / (60 * MINUTE), steps.abs() / MINUTE % 60);
    let sign = if steps < 0 { '-' } else { '+' };
    let by = if start == began {
        "start"
    } else {
        "first record"
    };
    (
        Some(steps),
        format!(
            "no zone is named; estimated as UTC{sign}{hours:02}:{minutes:02}, with which its {by} lies where the tests begin"
        ),
    )
}
