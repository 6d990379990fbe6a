//! How long each node logs, and whether two counts differ by more than chance.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::report::model::{Report, Role};
use crate::time::{DAY, SECOND, Timestamp};
use crate::vocab::{Healing, Severity};

use super::Direction;

/// Microseconds of an hour.
const HOUR: f64 = 3_600.0 * 1e6;

/// How much longer one log may be than the other and still count as as long.
const SAME_LENGTH: f64 = 1.1;

/// How many times as many is more.
const MORE: f64 = 1.5;

/// How many standard deviations of such counts are beyond chance.
const SIGMAS: f64 = 3.0;

/// How much of a thing a report has.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Measure {
    /// How often; none where it could not have been seen.
    pub count: Option<u64>,
    /// The same by the hour of a node's log, where its length is known.
    pub per_hour: Option<f64>,
    /// Of a finding: the worst severity.
    pub severity: Option<Severity>,
    /// Of a finding: whether what failed to come at first came in the end; the worst.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub healing: Option<Healing>,
}

/// How long the nodes of a report log.
#[derive(Debug, Default)]
pub(super) struct Exposure {
    /// By node, in microseconds, over all its runs; 0 where no record has a stamp.
    nodes: BTreeMap<String, i64>,
}

impl Exposure {
    /// The times of a report's reporters, from what their inputs span.
    pub(super) fn of(report: &Report) -> Self {
        let mut spans: BTreeMap<(&str, &str), (i64, i64)> = BTreeMap::new();
        for input in &report.inputs {
            let (Some(first), Some(last)) = (&input.first, &input.last) else {
                continue;
            };
            let (Some(first), Some(last)) = (Timestamp::from_iso(first), Timestamp::from_iso(last))
            else {
                continue;
            };
            // Without dates the last stamp may be of the next day.
            let last = if last < first { last.0 + DAY } else { last.0 };
            let span = spans
                .entry((&input.run, &input.node))
                .or_insert((first.0, last));
            *span = (span.0.min(first.0), span.1.max(last));
        }
        let mut nodes: BTreeMap<String, i64> = BTreeMap::new();
        for node in report.nodes.iter().filter(|it| it.role == Role::Reporter) {
            let span = spans.get(&(node.run.as_str(), node.id.as_str()));
            let length = span.map_or(0, |(first, last)| last - first);
            *nodes.entry(node.id.clone()).or_default() += length;
        }
        Self { nodes }
    }

    /// The reporters.
    pub(super) fn nodes(&self) -> impl Iterator<Item = &str> {
        self.nodes.keys().map(String::as_str)
    }

    /// Whether a node reports.
    pub(super) fn has(&self, node: &str) -> bool {
        self.nodes.contains_key(node)
    }

    /// How long a node logs, or all together; none where that is not known.
    pub(super) fn time(&self, node: Option<&str>) -> Option<i64> {
        let time = match node {
            Some(node) => self.nodes.get(node).copied().unwrap_or(0),
            None => self.nodes.values().sum(),
        };
        // A second is the least that a rate says anything over.
        (time >= SECOND).then_some(time)
    }

    /// The same of all nodes in seconds.
    pub(super) fn seconds(&self) -> Option<f64> {
        self.time(None).map(|it| as_float(it) / 1e6)
    }

    /// Whether another one is about as long.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        match (self.time(None), other.time(None)) {
            (Some(one), Some(other)) => is_like(one, other),
            _ => true,
        }
    }

    /// So many of a thing on a node, or on all.
    pub(super) fn measure(&self, count: u64, node: Option<&str>) -> Measure {
        let per_hour = self.time(node).map(|time| {
            let rate = count_as_float(count) * HOUR / as_float(time);
            // Thousandths: what is below says nothing and reads badly.
            (rate * 1e3).round() / 1e3
        });
        Measure {
            count: Some(count),
            per_hour,
            severity: None,
            healing: None,
        }
    }
}

/// How many there were, where they could have been seen; none where not.
pub(super) const UNSEEN: Measure = Measure {
    count: None,
    per_hour: None,
    severity: None,
    healing: None,
};

fn is_like(one: i64, other: i64) -> bool {
    let (one, other) = (as_float(one), as_float(other));
    one <= other * SAME_LENGTH && other <= one * SAME_LENGTH
}

/// How two counts differ, of logs so long; lengths that are not known, or alike, are taken to be the same.
pub(super) fn direction(
    base: Option<u64>,
    new: Option<u64>,
    times: (Option<i64>, Option<i64>),
) -> Direction {
    let (Some(base), Some(new)) = (base, new) else {
        return Direction::Unknown;
    };
    match (base, new) {
        (0, 0) => return Direction::Same,
        (0, _) => return Direction::New,
        (_, 0) => return Direction::Gone,
        _ => {}
    }
    let longer = match times {
        (Some(base), Some(new)) if !is_like(base, new) => as_float(new) / as_float(base),
        _ => 1.0,
    };
    // What the base's rate gives in the time of the new one.
    let expected = count_as_float(base) * longer;
    let seen = count_as_float(new);
    let chance = SIGMAS * (seen + expected * longer.max(1.0)).sqrt();
    if seen >= MORE * expected && seen - expected > chance {
        Direction::More
    } else if expected >= MORE * seen && expected - seen > chance {
        Direction::Less
    } else {
        Direction::Same
    }
}

/// A rate in words: no more digits than tell.
pub(super) fn rate_words(rate: f64) -> String {
    if rate >= 100.0 {
        format!("{rate:.0}")
    } else if rate >= 1.0 {
        format!("{rate:.1}")
    } else {
        format!("{rate:.3}")
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "lengths and counts as estimates"
)]
fn as_float(number: i64) -> f64 {
    number as f64
}

#[expect(
    clippy::cast_precision_loss,
    reason = "lengths and counts as estimates"
)]
fn count_as_float(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_more_are_chance_and_many_more_are_not() {
        let same = (None, None);
        for (base, new, expected) in [
            (0, 0, Direction::Same),
            (0, 1, Direction::New),
            (3, 0, Direction::Gone),
            // 4 against 9: 5 more, chance is 3 * sqrt(13) = 10.8.
            (4, 9, Direction::Same),
            // 100 against 149: less than half as many again.
            (100, 149, Direction::Same),
            (100, 160, Direction::More),
            (160, 100, Direction::Less),
        ] {
            assert_eq!(
                direction(Some(base), Some(new), same),
                expected,
                "{base} {new}"
            );
        }
        assert_eq!(direction(None, Some(7), same), Direction::Unknown);
    }

    #[test]
    fn logs_of_other_lengths_are_compared_by_their_rates() {
        let hour = 3_600 * SECOND;
        // A tenth of the time: 100 in ten hours are 10 in one.
        let times = (Some(10 * hour), Some(hour));
        assert_eq!(direction(Some(100), Some(10), times), Direction::Same);
        assert_eq!(direction(Some(100), Some(40), times), Direction::More);
        assert_eq!(direction(Some(1_000), Some(30), times), Direction::Less);
        // As long within a tenth: the counts themselves.
        assert_eq!(
            direction(Some(100), Some(100), (Some(hour), Some(hour + hour / 20))),
            Direction::Same
        );
    }
}
