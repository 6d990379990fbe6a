//! The counts that rules ask for, with their sliding windows.

use std::collections::VecDeque;

use super::{EVIDENCE_MAX, Evidence, Rate, Tally, Values, is_below};
use crate::time::Timestamp;

/// How many stamps of one counter are kept per node.
pub const TIMES_MAX: usize = 20_000;

/// How many records of a counter are kept of which some are left out in the end.
const SIFTED_MAX: usize = 1_000;

/// A count that a rule asks for: a signal whose fields have given values, or something that is no record.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is something of its own that rules ask of a count"
)]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counter {
    /// The index of the signal; none where no record is counted, but a problem of a WAL.
    pub signal: Option<u16>,
    /// Field and accepted values; all must hold.
    pub filters: Vec<(usize, Vec<String>)>,
    /// Two fields of which the first must be the smaller number.
    pub below: Option<(usize, usize)>,
    /// Counters that keep their stamps: what one of them counts explains the occurrence after it, which is left out in the end.
    pub not_after: Vec<usize>,
    /// Windows whose fill is watched: at least so many within so many microseconds.
    pub windows: Vec<Window>,
    /// The fields whose values are counted, for a counter that takes only some occurrences.
    pub values: Vec<usize>,
    /// Whether the stamps are kept, for conditions that look at several nodes or at what follows.
    pub timed: bool,
    /// Whether it is counted over time, for a strip.
    pub rated: bool,
    /// The field whose numbers are added up instead of occurrences.
    pub sum: Option<usize>,
    /// Whether nothing follows from it where it is zero: what it counts may be there and not shown.
    pub is_absence_open: bool,
    /// Whether it counts queries: of several loggers' records of one that failed the first.
    pub per_query: bool,
}

impl Counter {
    /// Whether it takes only some of its signal's occurrences.
    pub fn selects(&self) -> bool {
        !self.filters.is_empty() || self.below.is_some() || self.per_query
    }

    /// Whether it takes an occurrence with these values.
    pub fn takes(&self, values: &[&[u8]]) -> bool {
        let holds = |(field, accepted): &(usize, Vec<String>)| {
            accepted.iter().any(|it| it.as_bytes() == values[*field])
        };
        let is_less = |(low, high): (usize, usize)| is_below(values[low], values[high]);
        self.filters.iter().all(holds) && self.below.is_none_or(is_less)
    }
}

/// A sliding window: `at_least` occurrences whose first and last stamp are at most `within` microseconds apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// How many.
    pub at_least: u64,
    /// Microseconds, both edges included.
    pub within: i64,
}

impl Window {
    /// When stamps in order fill it first.
    fn first(&self, times: &[Timestamp]) -> Option<Timestamp> {
        let wide = usize::try_from(self.at_least).unwrap_or(usize::MAX).max(1);
        let mut runs = times.windows(wide);
        let filled = runs.find(|run| run[run.len() - 1].0 - run[0].0 <= self.within);
        filled.map(|run| run[0])
    }
}

/// What one [`Counter`] counted on one node. Suspect records are left out: they ground nothing.
#[derive(Debug, Default)]
pub struct CounterTally {
    /// The count and its span.
    pub all: Tally,
    /// When each window was filled first, in the counter's order.
    pub filled: Vec<Option<Timestamp>>,
    recent: Vec<VecDeque<Timestamp>>,
    /// The values of the counter's fields, in its order.
    pub values: Vec<Values>,
    /// The stamps, where the counter keeps them, up to [`TIMES_MAX`].
    pub times: Vec<Timestamp>,
    /// Over time, where the counter asks for it.
    pub rate: Rate,
    /// The first few.
    pub evidence: Vec<Evidence>,
    /// Whether some are left out in the end: until then more are kept, so that those that stay can be cited.
    sifted: bool,
}

impl CounterTally {
    /// Counts the values that the counter keeps.
    pub fn add_values(&mut self, counter: &Counter, values: &[&[u8]], subjects_max: usize) {
        self.values
            .resize_with(counter.values.len(), Values::default);
        for (kept, &field) in self.values.iter_mut().zip(&counter.values) {
            if !values[field].is_empty() {
                kept.add_later(values[field], subjects_max);
            }
        }
    }

    /// Takes one more occurrence; whether its evidence is wanted.
    ///
    /// It counts as `weight` of them where the counter adds up numbers.
    pub fn add(&mut self, counter: &Counter, time: Option<Timestamp>, weight: u64) -> bool {
        self.all.add(time, false);
        if counter.sum.is_some() {
            self.all.count = (self.all.count - 1).saturating_add(weight);
        }
        if self.filled.len() < counter.windows.len() {
            self.filled.resize(counter.windows.len(), None);
            self.recent.resize(counter.windows.len(), VecDeque::new());
        }
        if let (true, Some(time)) = (counter.timed && self.times.len() < TIMES_MAX, time) {
            self.times.push(time);
        }
        if let Some(time) = time {
            if counter.rated {
                self.rate.add(time);
            }
            for (at, window) in counter.windows.iter().enumerate() {
                let recent = &mut self.recent[at];
                if self.filled[at].is_some() {
                    continue;
                }
                // In order of stamps: threads write out of order, and a window never holds more than its span.
                recent.insert(recent.partition_point(|known| *known <= time), time);
                let newest = recent.back().copied().unwrap_or(time);
                while recent
                    .front()
                    .is_some_and(|oldest| newest.0 - oldest.0 > window.within)
                {
                    recent.pop_front();
                }
                if u64::try_from(recent.len()).is_ok_and(|n| n >= window.at_least) {
                    self.filled[at] = recent.front().copied();
                    recent.clear();
                }
            }
        }
        self.sifted = !counter.not_after.is_empty();
        self.evidence.len() < self.evidence_max()
    }

    fn evidence_max(&self) -> usize {
        if self.sifted {
            SIFTED_MAX
        } else {
            EVIDENCE_MAX
        }
    }
}

impl CounterTally {
    /// Leaves out occurrences that something explains, once all are counted; the counter keeps their stamps.
    pub fn leave_out(&mut self, counter: &Counter, is_explained: impl Fn(Timestamp) -> bool) {
        let before = self.times.len();
        self.times.retain(|time| !is_explained(*time));
        let left_out = u64::try_from(before - self.times.len()).unwrap_or(u64::MAX);
        self.all.count = self.all.count.saturating_sub(left_out);
        let ends = self.times.iter().min().zip(self.times.iter().max());
        self.all.span = ends.map(|(first, last)| (*first, *last));
        self.evidence
            .retain(|one| one.time.is_none_or(|time| !is_explained(time)));
        self.evidence.truncate(EVIDENCE_MAX);
        let filled = counter.windows.iter().map(|it| it.first(&self.times));
        self.filled = filled.collect();
    }

    pub(super) fn absorb(&mut self, other: Self) {
        self.all.merge(other.all);
        self.filled
            .resize(self.filled.len().max(other.filled.len()), None);
        for (mine, theirs) in self.filled.iter_mut().zip(other.filled) {
            *mine = mine.map_or(theirs, |at| Some(theirs.map_or(at, |other| at.min(other))));
        }
        self.values
            .resize_with(self.values.len().max(other.values.len()), Values::default);
        for (mine, theirs) in self.values.iter_mut().zip(&other.values) {
            mine.absorb(theirs);
        }
        self.times.extend(other.times);
        self.times.sort_unstable();
        self.rate.absorb(&other.rate);
        self.evidence.extend(other.evidence);
        self.evidence.sort_by_key(|one| (one.time, one.at));
        self.sifted |= other.sifted;
        self.evidence.truncate(self.evidence_max());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(times: &[i64], window: Window) -> Option<i64> {
        let counter = Counter {
            signal: Some(0),
            filters: Vec::new(),
            below: None,
            not_after: Vec::new(),
            windows: vec![window],
            timed: false,
            rated: false,
            values: Vec::new(),
            sum: None,
            is_absence_open: false,
            per_query: false,
        };
        let mut tally = CounterTally::default();
        for &time in times {
            tally.add(&counter, Some(Timestamp(time)), 1);
        }
        tally.filled.first().copied().flatten().map(|t| t.0)
    }

    #[test]
    fn a_sliding_window_holds_both_edges_and_nothing_beyond() {
        let window = Window {
            at_least: 3,
            within: 10,
        };
        assert_eq!(filled(&[0, 5, 10], window), Some(0));
        assert_eq!(filled(&[0, 5, 11], window), None);
        assert_eq!(filled(&[0, 9, 11, 12], window), Some(9));
    }

    #[test]
    fn equal_stamps_count_each() {
        assert_eq!(
            filled(
                &[7, 7, 7],
                Window {
                    at_least: 3,
                    within: 0
                }
            ),
            Some(7)
        );
    }

    #[test]
    fn a_small_step_back_neither_fills_nor_empties_a_window() {
        assert_eq!(
            filled(
                &[10, 9, 12],
                Window {
                    at_least: 3,
                    within: 3
                }
            ),
            Some(9)
        );
        let within = 5;
        let window = Window {
            at_least: 3,
            within,
        };
        assert_eq!(filled(&[10, 7, 13], window), None);
    }
}
