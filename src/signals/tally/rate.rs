//! How often something happened over time, in few enough steps to be kept whole.

use std::collections::BTreeMap;

use crate::time::{MINUTE, SECOND, Timestamp};

/// How many steps with a count are kept of one rate.
pub const STEPS_MAX: usize = 360;

/// Widths of a step in seconds. Each divides the next, so that steps can be joined and none has to be split.
const WIDTHS: [i64; 9] = [1, 5, 15, 60, 300, 900, 3_600, 14_400, 86_400];

/// Counts by step of time, in the finest width of which [`STEPS_MAX`] steps suffice. The width depends on what was
/// counted and not on its order: a set that needs a wider step needs it however it grew.
#[derive(Debug, Clone, Default)]
pub struct Rate {
    grade: usize,
    /// Steps with a count, in order.
    steps: Vec<(i64, u64)>,
    /// The place of the step counted last, and from when until when it lasts: records come nearly in order, so it is nearly
    /// always the next one too.
    near: usize,
    lasts: (i64, i64),
}

impl Rate {
    /// Counts one more.
    #[inline]
    pub fn add(&mut self, time: Timestamp) {
        let (from, until) = self.lasts;
        if (from..until).contains(&time.0)
            && let Some((_, count)) = self.steps.get_mut(self.near)
        {
            *count += 1;
            return;
        }
        self.count(step(time, self.grade), 1);
        self.narrow();
    }

    /// Adds another rate.
    pub fn absorb(&mut self, other: &Self) {
        let grade = self.grade.max(other.grade);
        self.coarsen(grade);
        for (start, count) in other.points() {
            self.count(step(start, grade), count);
        }
        self.narrow();
    }

    /// The starts of the steps with a count, in order, and their counts.
    pub fn points(&self) -> impl Iterator<Item = (Timestamp, u64)> + '_ {
        let width = width(self.grade).saturating_mul(SECOND);
        let start = move |step: i64| Timestamp(step.saturating_mul(width));
        self.steps
            .iter()
            .map(move |&(step, count)| (start(step), count))
    }

    /// How wide its steps are; greater is wider.
    pub fn grade(&self) -> usize {
        self.grade
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// How many steps have a count.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Joins steps until they are as wide as those of `grade`.
    pub fn coarsen(&mut self, grade: usize) {
        if grade <= self.grade {
            return;
        }
        let points: Vec<(Timestamp, u64)> = self.points().collect();
        self.grade = grade;
        self.steps.clear();
        self.lasts = (0, 0);
        for (start, count) in points {
            self.count(step(start, grade), count);
        }
    }

    fn count(&mut self, step: i64, count: u64) {
        let found = match self.steps.last() {
            Some((last, _)) if *last < step => Err(self.steps.len()),
            _ => self.steps.binary_search_by_key(&step, |(step, _)| *step),
        };
        self.near = match found {
            Ok(at) => {
                self.steps[at].1 += count;
                at
            }
            Err(at) => {
                self.steps.insert(at, (step, count));
                at
            }
        };
        let width = width(self.grade).saturating_mul(SECOND);
        let from = step.saturating_mul(width);
        self.lasts = (from, from.saturating_add(width));
    }

    fn narrow(&mut self) {
        while self.steps.len() > STEPS_MAX {
            self.coarsen(self.grade + 1);
        }
    }
}

/// Counts by minute, all of them: the busiest one is told exactly.
#[derive(Debug, Clone, Default)]
pub struct Minutes {
    closed: BTreeMap<i64, u64>,
    /// The minute counted last, which is nearly always the next one too.
    open: Option<(i64, u64)>,
}

impl Minutes {
    /// Counts one more.
    #[inline]
    pub fn add(&mut self, time: Timestamp) {
        if let Some((open, count)) = &mut self.open
            && (0..MINUTE).contains(&time.0.wrapping_sub(open.wrapping_mul(MINUTE)))
        {
            *count += 1;
            return;
        }
        self.close();
        self.open = Some((time.minute(), 1));
    }

    /// Adds other counts.
    pub fn absorb(&mut self, mut other: Self) {
        self.close();
        other.close();
        for (minute, count) in other.closed {
            *self.closed.entry(minute).or_default() += count;
        }
    }

    /// The counts by minute since 1970.
    pub fn counts(&self) -> BTreeMap<i64, u64> {
        let mut all = self.clone();
        all.close();
        all.closed
    }

    /// The minute with most, the earliest of equal ones.
    pub fn peak(&self) -> Option<(i64, u64)> {
        let counts = self.counts().into_iter();
        counts.max_by(|a, b| a.1.cmp(&b.1).then(b.0.cmp(&a.0)))
    }

    fn close(&mut self) {
        if let Some((minute, count)) = self.open.take() {
            *self.closed.entry(minute).or_default() += count;
        }
    }
}

/// The width of a grade's steps in seconds.
pub fn width(grade: usize) -> i64 {
    WIDTHS.get(grade).copied().unwrap_or_else(|| {
        let longest = WIDTHS[WIDTHS.len() - 1];
        let beyond = u32::try_from(grade - WIDTHS.len() + 1).unwrap_or(u32::MAX);
        longest.saturating_mul(10_i64.saturating_pow(beyond))
    })
}

/// The step that a stamp falls in.
pub(super) fn step(time: Timestamp, grade: usize) -> i64 {
    time.0.div_euclid(width(grade).saturating_mul(SECOND))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(seconds: impl Iterator<Item = i64>) -> Rate {
        let mut rate = Rate::default();
        seconds.for_each(|second| rate.add(Timestamp(second * SECOND + 999_999)));
        rate
    }

    #[test]
    fn few_seconds_stay_seconds_and_many_are_joined_without_loss() {
        let short = rate([7, 7, 900].into_iter());
        let points: Vec<_> = short.points().map(|(at, n)| (at.0 / SECOND, n)).collect();
        assert_eq!(points, [(7, 2), (900, 1)]);
        // 1,800 seconds are 360 steps of 5 s; one more second needs the next width.
        let full = rate(0..1_800);
        assert_eq!((full.grade(), full.len()), (1, 360));
        let more = rate(0..1_801);
        assert_eq!((more.grade(), more.len()), (2, 121));
        assert_eq!(more.points().map(|(_, n)| n).sum::<u64>(), 1_801);
    }

    #[test]
    fn the_order_of_counting_changes_nothing() {
        let points = |rate: Rate| -> Vec<_> { rate.points().collect() };
        let forth = points(rate(0..5_000));
        assert_eq!(forth.len(), 334);
        assert_eq!(forth, points(rate((0..5_000).rev())));
        let mut parts = rate(0..100);
        parts.absorb(&rate(100..5_000));
        assert_eq!(forth, points(parts));
    }

    #[test]
    fn the_busiest_minute_is_found_wherever_its_records_stand() {
        let mut minutes = Minutes::default();
        assert_eq!(minutes.peak(), None);
        for second in [0, 1, 60, 61, 62, 30, 120, 59] {
            minutes.add(Timestamp(second * SECOND));
        }
        assert_eq!(minutes.peak(), Some((0, 4)));
        let mut more = Minutes::default();
        more.add(Timestamp(119 * SECOND));
        more.add(Timestamp(118 * SECOND));
        minutes.absorb(more);
        assert_eq!(minutes.peak(), Some((1, 5)));
    }

    #[test]
    fn centuries_are_bounded_too() {
        let rate = rate((0..1_000).map(|n| n * 40 * 86_400));
        assert!(rate.len() <= STEPS_MAX);
        assert_eq!(rate.points().map(|(_, n)| n).sum::<u64>(), 1_000);
    }
}
