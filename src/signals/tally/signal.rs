//! What is counted of one signal on one node.

use hashbrown::HashTable;

use super::name::{LARGE, LATER_MAX, Name, Sought};
use super::{Extent, Minutes, Rate};
use crate::record::Locator;
use crate::time::Timestamp;

/// How many lines of evidence are kept per signal and node.
pub const EVIDENCE_MAX: usize = 5;
/// How many bytes of a line are kept as evidence; a longer one ends in `…`.
pub const EVIDENCE_BYTES: usize = 600;

/// How many stamps of a signal that is marked on the time axis are kept per node.
pub const MARKS_MAX: usize = 200;

/// Lines beside a cited one, as far as the block that was read holds them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Around {
    /// Those before it, in order.
    pub before: Vec<String>,
    /// Those after it, in order: first what continues its record.
    pub after: Vec<String>,
}

/// A record cited by a report: where it stands, and its head's line as it was in the scan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    /// Where it stands.
    pub at: Locator,
    /// Its stamp.
    pub time: Option<Timestamp>,
    /// The head's line, repaired to UTF-8 and capped.
    pub text: String,
    /// What stands beside it; nothing where records are only listed.
    pub around: Around,
}

/// A record that is worth a mark on the time axis and has no stamp.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unplaced {
    /// The record.
    pub evidence: Evidence,
    /// The stamp of the nearest record before it in its log that has one.
    pub after: Option<Timestamp>,
    /// The same of the nearest behind it.
    pub before: Option<Timestamp>,
}

/// A count with its first and last stamp; suspect records count and leave no stamp.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many, suspect ones included.
    pub count: u64,
    /// How many of them are suspect.
    pub suspect: u64,
    /// Smallest and largest stamp of those that are not suspect.
    pub span: Option<(Timestamp, Timestamp)>,
}

impl Tally {
    /// Counts one more.
    pub fn add(&mut self, time: Option<Timestamp>, suspect: bool) {
        self.count += 1;
        if suspect {
            self.suspect += 1;
        } else if let Some(time) = time {
            self.span = Some(
                self.span
                    .map_or((time, time), |(low, high)| (low.min(time), high.max(time))),
            );
        }
    }

    /// Adds another count.
    pub fn merge(&mut self, other: Self) {
        self.count += other.count;
        self.suspect += other.suspect;
        if let Some((low, high)) = other.span {
            self.span = Some(
                self.span
                    .map_or((low, high), |(a, b)| (a.min(low), b.max(high))),
            );
        }
    }

    /// How many are not suspect.
    pub fn sound(&self) -> u64 {
        self.count - self.suspect
    }
}

/// How often one value was counted.
#[derive(Debug, Clone)]
struct Counted {
    value: Name,
    count: u64,
}

/// The values of one field.
#[derive(Debug, Default)]
pub struct Values {
    counts: HashTable<Counted>,
    /// Values that wait to be counted, with their hashes.
    later: Vec<(u64, Name)>,
    /// Occurrences whose value came after the cap was reached and is not counted apart.
    pub beyond_cap: u64,
}

impl Values {
    /// Counts one more of `value`; a new value beyond `cap` is only counted as such.
    pub fn add(&mut self, value: &[u8], cap: usize) {
        self.count_one(&Sought::new(value), cap);
    }

    /// The same, now or with others that follow: [`Values::settle`] counts what waits.
    pub fn add_later(&mut self, value: &[u8], cap: usize) {
        let sought = Sought::new(value);
        if self.counts.len() < LARGE || !sought.is_short() {
            self.settle(cap);
            self.count_one(&sought, cap);
            return;
        }
        self.later.push((sought.hash, sought.name()));
        if self.later.len() >= LATER_MAX {
            self.settle(cap);
        }
    }

    /// Counts what waits, in its order.
    pub fn settle(&mut self, cap: usize) {
        if self.later.is_empty() {
            return;
        }
        let mut later = std::mem::take(&mut self.later);
        for (hash, name) in &later {
            self.count_one(&Sought::again(name, *hash), cap);
        }
        later.clear();
        self.later = later;
    }

    #[inline]
    fn count_one(&mut self, sought: &Sought<'_>, cap: usize) {
        let known = self.counts.find_mut(sought.hash, |it| sought.is(&it.value));
        if let Some(known) = known {
            known.count += 1;
        } else if self.counts.len() < cap {
            self.insert(sought.name(), 1);
        } else {
            self.beyond_cap += 1;
        }
    }

    /// Takes a value that is not there.
    fn insert(&mut self, value: Name, count: u64) {
        let hash = value.hash();
        let counted = Counted { value, count };
        self.counts
            .insert_unique(hash, counted, |it| it.value.hash());
    }

    /// Adds the counts of another node, whatever the cap.
    pub fn absorb(&mut self, other: &Self) {
        debug_assert!(other.later.is_empty(), "what waits is not counted");
        for Counted { value, count } in &other.counts {
            let known = self.counts.find_mut(value.hash(), |it| it.value == *value);
            if let Some(known) = known {
                known.count += count;
            } else {
                self.insert(value.clone(), *count);
            }
        }
        self.beyond_cap += other.beyond_cap;
    }

    /// How often `value` was counted.
    pub fn count(&self, value: &str) -> u64 {
        let sought = Sought::new(value.as_bytes());
        let known = self.counts.find(sought.hash, |it| sought.is(&it.value));
        known.map_or(0, |it| it.count)
    }

    /// How many different values there are.
    pub fn distinct(&self) -> usize {
        debug_assert!(self.later.is_empty(), "what waits is not counted");
        self.counts.len()
    }

    /// Values and counts, most frequent first, equal ones by value.
    pub fn ranked(&self) -> Vec<(String, u64)> {
        self.top(usize::MAX)
    }

    /// The first `max` of [`Values::ranked`].
    pub fn top(&self, max: usize) -> Vec<(String, u64)> {
        let by_rank = |a: &(&[u8], u64), b: &(&[u8], u64)| b.1.cmp(&a.1).then(a.0.cmp(b.0));
        debug_assert!(self.later.is_empty(), "what waits is not counted");
        let counts = self.counts.iter();
        let mut values: Vec<(&[u8], u64)> = counts.map(|it| (it.value.bytes(), it.count)).collect();
        if max < values.len() {
            values.select_nth_unstable_by(max, by_rank);
            values.truncate(max);
        }
        values.sort_unstable_by(by_rank);
        values
            .into_iter()
            .map(|(value, count)| (String::from_utf8_lossy(value).into_owned(), count))
            .collect()
    }
}

/// What is counted of one signal on one node.
#[derive(Debug, Default)]
pub struct SignalTally {
    /// All occurrences.
    pub all: Tally,
    /// Occurrences that are not suspect, by minute since 1970.
    pub minutes: Minutes,
    /// The same in steps that are as fine as their number allows.
    pub rate: Rate,
    /// The stamps of a signal that is marked on the time axis, the first [`MARKS_MAX`] counted.
    pub marks: Vec<Timestamp>,
    /// The same of its records without a stamp, likewise.
    pub unplaced: Vec<Unplaced>,
    /// Where its positions stood over time, in the order of the signal's list of them.
    pub positions: Vec<Extent>,
    /// By field, in the signal's order; empty where a field is not counted.
    pub values: Vec<Values>,
    /// The first few.
    pub evidence: Vec<Evidence>,
    /// The values of the first occurrence, in the order of the signal's fields.
    pub first: Vec<String>,
    /// Records that hold the signal's literal and do not fit its template.
    pub near_misses: u64,
    /// The first of them.
    pub near_miss: Option<Evidence>,
}

impl SignalTally {
    pub(super) fn absorb(&mut self, other: Self) {
        self.all.merge(other.all);
        self.minutes.absorb(other.minutes);
        self.rate.absorb(&other.rate);
        self.marks.extend(other.marks);
        self.marks.sort_unstable();
        self.marks.truncate(MARKS_MAX);
        self.unplaced.extend(other.unplaced);
        self.unplaced.sort_by_key(|one| one.evidence.at);
        self.unplaced.truncate(MARKS_MAX);
        for (mine, theirs) in self.positions.iter_mut().zip(&other.positions) {
            mine.absorb(theirs);
        }
        for (mine, theirs) in self.values.iter_mut().zip(other.values) {
            mine.absorb(&theirs);
        }
        self.evidence.extend(other.evidence);
        self.evidence.sort_by_key(|one| (one.time, one.at));
        self.evidence.truncate(EVIDENCE_MAX);
        if self.first.is_empty() {
            self.first = other.first;
        }
        self.near_misses += other.near_misses;
        self.near_miss = self.near_miss.take().or(other.near_miss);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_beyond_the_cap_are_counted_as_such() {
        let mut values = Values::default();
        for value in [&b"a"[..], b"b", b"c", b"a"] {
            values.add(value, 2);
        }
        assert_eq!(
            (values.count("a"), values.count("c"), values.beyond_cap),
            (2, 0, 1)
        );
    }

    #[test]
    fn what_waits_is_counted_as_if_it_had_not() {
        // 2,000 values, each again and again, some of them too long to wait; the cap comes in between.
        let (mut now, mut later) = (Values::default(), Values::default());
        for at in 0..10_000_u32 {
            let number = at.wrapping_mul(2_654_435_761) >> 8;
            let tail = if at % 97 == 0 { "_of_a_long_name" } else { "" };
            let value = format!("all_{0}_{0}_0{tail}", number % 2_000);
            now.add(value.as_bytes(), 1_500);
            later.add_later(value.as_bytes(), 1_500);
        }
        later.settle(1_500);
        assert_eq!(now.distinct(), 1_500);
        assert_eq!(now.ranked(), later.ranked());
        assert_eq!(now.beyond_cap, later.beyond_cap);
        let counted: u64 = later.ranked().iter().map(|(_, count)| count).sum();
        assert_eq!(counted + later.beyond_cap, 10_000);
    }
}
