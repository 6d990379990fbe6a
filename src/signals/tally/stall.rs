//! Stalls: the same thing said again and again while a position does not move.

use std::cmp::Reverse;
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
    /// The field whose number is smaller by one at each repetition.
    pub falls: Option<usize>,
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
    /// The stretches that ended.
    ended: Vec<Stall>,
}

/// How many stretches with most repetitions are kept, and how many of the longest.
const STRETCHES_MAX: usize = 250;

impl Stall {
    /// From the first to the last repetition, in microseconds.
    pub fn duration(&self) -> i64 {
        self.span.1.0 - self.span.0.0
    }

    /// How long both stretches go on at once, in microseconds; below 0 where they do not.
    pub fn overlap(&self, other: &Self) -> i64 {
        self.span.1.0.min(other.span.1.0) - self.span.0.0.max(other.span.0.0)
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
        // Where neither the subject nor its position is known, two occurrences need not be of one subject.
        let told = watch.key.iter().chain(&watch.still).chain(&watch.falls);
        if told.into_iter().all(|&field| values[field].is_empty()) {
            return;
        }
        let more = watch
            .below
            .is_none_or(|(low, high)| is_below(values[low], values[high]));
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
            let over = self.current.remove(&key);
            self.end(over);
            return;
        }
        if let Some(stall) = self.current.get_mut(&key) {
            let still = watch
                .still
                .iter()
                .all(|&field| stall.values[field] == said[field]);
            let falls = watch
                .falls
                .is_none_or(|field| is_next_below(&stall.values[field], &said[field]));
            if still && falls && time.0 - stall.span.1.0 <= watch.pause {
                stall.repeats += 1;
                stall.span.1 = stall.span.1.max(time);
                stall.values = said;
                return;
            }
        } else if self.current.len() >= subjects_max {
            return;
        }
        let begun = Stall {
            values: said,
            span: (time, time),
            repeats: 1,
            evidence: evidence(),
        };
        let over = self.current.insert(key, begun);
        self.end(over);
    }

    /// Every stretch that is known.
    pub fn stretches(&self) -> impl Iterator<Item = &Stall> {
        self.ended.iter().chain(self.current.values())
    }

    /// The stretch with most repetitions of those with so many at least over so many microseconds, the earliest of equals.
    pub fn longest(&self, repeats: u64, lasting: i64) -> Option<&Stall> {
        let long = |stall: &&Stall| stall.repeats >= repeats && stall.duration() >= lasting;
        let fits = self.stretches().filter(long);
        fits.reduce(|a, b| {
            let rank = |stall: &Stall| (Reverse(stall.repeats), stall.span);
            if rank(b) < rank(a) { b } else { a }
        })
    }

    /// Takes what another part of the node's logs showed.
    pub(super) fn absorb(&mut self, other: Self) {
        for stall in other.ended.into_iter().chain(other.current.into_values()) {
            self.end(Some(stall));
        }
    }

    /// Keeps a stretch that is over. Of very many those with most repetitions stay, and the longest.
    fn end(&mut self, stall: Option<Stall>) {
        self.ended.extend(stall);
        if self.ended.len() < 4 * STRETCHES_MAX {
            return;
        }
        let kept = &mut self.ended;
        kept.sort_by_key(|stall| (Reverse(stall.repeats), stall.span));
        kept[STRETCHES_MAX..].sort_by_key(|stall| (Reverse(stall.duration()), stall.span));
        kept.truncate(2 * STRETCHES_MAX);
    }
}

/// The number that a field holds.
fn number(value: &[u8]) -> Option<i128> {
    std::str::from_utf8(value).ok()?.parse().ok()
}

/// Whether both are numbers, and the second the first one's predecessor.
fn is_next_below(before: &str, now: &str) -> bool {
    let numbers = number(before.as_bytes()).zip(number(now.as_bytes()));
    numbers.is_some_and(|(before, now)| now.checked_add(1) == Some(before))
}

/// Whether both are numbers, and the first the smaller one.
pub fn is_below(low: impl AsRef<[u8]>, high: impl AsRef<[u8]>) -> bool {
    number(low.as_ref())
        .zip(number(high.as_ref()))
        .is_some_and(|(low, high)| low < high)
}
