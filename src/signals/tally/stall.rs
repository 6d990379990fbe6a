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
    /// The longest stretch so far, by repetitions.
    pub longest: Option<Stall>,
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
                if self
                    .longest
                    .as_ref()
                    .is_none_or(|longest| longest.repeats < stall.repeats)
                {
                    self.longest = Some(stall.clone());
                }
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
}
