//! Stalls: the same thing said again and again while a position does not move.

use std::collections::BTreeMap;

use super::Evidence;
use crate::time::Timestamp;

/// A stall that a rule asks for: the same subject again and again, with a position that does not move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StallWatch {
    /// The index of the signal.
    pub signal: u16,
    /// The fields that tell one subject from another.
    pub key: Vec<usize>,
    /// The fields that stay.
    pub still: Vec<usize>,
    /// Two fields of which the first must be below the second: there is more to come.
    pub below: Option<(usize, usize)>,
    /// The longest pause between two repetitions, in microseconds.
    pub pause: i64,
}

/// One stretch in which a subject's position did not move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stall {
    /// The values of all the signal's fields at the last repetition.
    pub values: Vec<String>,
    /// The first and the last stamp.
    pub span: (Timestamp, Timestamp),
    /// How often it was said.
    pub repeats: u64,
    /// The first of the records.
    pub evidence: Evidence,
}

/// What one [`StallWatch`] saw on one node.
#[derive(Debug, Default)]
pub struct StallTally {
    /// By subject: the stretch under way.
    current: BTreeMap<Vec<Box<[u8]>>, Stall>,
    /// The stretches that no other one exceeds both in repetitions and in time.
    stretches: Vec<Stall>,
}

/// How many stretches are kept.
const STRETCHES_MAX: usize = 100;

impl Stall {
    /// From the first to the last repetition, in microseconds.
    pub fn duration(&self) -> i64 {
        self.span.1.0 - self.span.0.0
    }

    fn is_within(&self, other: &Self) -> bool {
        self.repeats <= other.repeats && self.duration() <= other.duration()
    }
}

impl StallTally {
    /// Takes one more occurrence of the watched signal.
    pub fn see(
        &mut self,
        watch: &StallWatch,
        values: &[&[u8]],
        time: Timestamp,
        evidence: impl FnOnce() -> Evidence,
        subjects_max: usize,
    ) {
        let number = |field: usize| {
            std::str::from_utf8(values[field])
                .ok()
                .and_then(|text| text.parse::<i128>().ok())
        };
        let more = watch.below.is_none_or(|(low, high)| {
            number(low)
                .zip(number(high))
                .is_some_and(|(low, high)| low < high)
        });
        let key: Vec<Box<[u8]>> = watch
            .key
            .iter()
            .map(|&field| values[field].into())
            .collect();
        let said: Vec<String> = values
            .iter()
            .map(|value| String::from_utf8_lossy(value).into_owned())
            .collect();
        if !more {
            self.current.remove(&key);
            return;
        }
        if let Some(stall) = self.current.get_mut(&key) {
            let still = watch
                .still
                .iter()
                .all(|&field| stall.values[field] == said[field]);
            if still && time.0 - stall.span.1.0 <= watch.pause {
                stall.repeats += 1;
                stall.span.1 = stall.span.1.max(time);
                stall.values = said;
                keep(&mut self.stretches, stall);
                return;
            }
        } else if self.current.len() >= subjects_max {
            return;
        }
        self.current.insert(
            key,
            Stall {
                values: said,
                span: (time, time),
                repeats: 1,
                evidence: evidence(),
            },
        );
    }

    /// The stretch with most repetitions of those with so many at least over so many microseconds, the first of equals.
    pub fn longest(&self, repeats: u64, lasting: i64) -> Option<&Stall> {
        let long = |stall: &&Stall| stall.repeats >= repeats && stall.duration() >= lasting;
        let fits = self.stretches.iter().filter(long);
        fits.reduce(|a, b| if b.repeats > a.repeats { b } else { a })
    }

    /// Takes what another part of the node's logs showed.
    pub(super) fn absorb(&mut self, other: &Self) {
        for stall in &other.stretches {
            keep(&mut self.stretches, stall);
        }
    }
}

/// Keeps a stretch unless another one is as long in both ways, and then none that it exceeds.
fn keep(stretches: &mut Vec<Stall>, stall: &Stall) {
    if stretches.iter().any(|known| stall.is_within(known)) {
        return;
    }
    stretches.retain(|known| !known.is_within(stall));
    if stretches.len() < STRETCHES_MAX {
        stretches.push(stall.clone());
    }
}
