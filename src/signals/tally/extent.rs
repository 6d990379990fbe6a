//! Where a number that goes up and down stood over time: its lowest and highest value by step.

use std::collections::BTreeMap;

use super::rate::{STEPS_MAX, step, width};
use crate::time::{SECOND, Timestamp};

/// The lowest and the highest value by step of time, in the finest width of which [`STEPS_MAX`] steps suffice. As of a
/// rate the width depends on what was seen and not on its order.
#[derive(Debug, Clone, Default)]
pub struct Extent {
    grade: usize,
    steps: BTreeMap<i64, (u64, u64)>,
}

impl Extent {
    /// Notes a value.
    pub fn add(&mut self, time: Timestamp, value: u64) {
        self.note(step(time, self.grade), value, value);
        self.narrow();
    }

    /// Adds another one.
    pub fn absorb(&mut self, other: &Self) {
        self.coarsen(other.grade);
        for (start, low, high) in other.points() {
            self.note(step(start, self.grade), low, high);
        }
        self.narrow();
    }

    /// The starts of the steps with a value, in order, with the lowest and the highest.
    pub fn points(&self) -> impl Iterator<Item = (Timestamp, u64, u64)> + '_ {
        let width = width(self.grade).saturating_mul(SECOND);
        let steps = self.steps.iter();
        steps.map(move |(step, (low, high))| (Timestamp(step.saturating_mul(width)), *low, *high))
    }

    /// Whether nothing was seen.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Joins steps until they are as wide as those of `grade`.
    pub fn coarsen(&mut self, grade: usize) {
        if grade <= self.grade {
            return;
        }
        let points: Vec<(Timestamp, u64, u64)> = self.points().collect();
        self.grade = grade;
        self.steps.clear();
        for (start, low, high) in points {
            self.note(step(start, grade), low, high);
        }
    }

    fn note(&mut self, step: i64, low: u64, high: u64) {
        let seen = self.steps.entry(step).or_insert((low, high));
        *seen = (seen.0.min(low), seen.1.max(high));
    }

    fn narrow(&mut self) {
        while self.steps.len() > STEPS_MAX {
            self.coarsen(self.grade + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(extent: &Extent) -> Vec<(i64, u64, u64)> {
        extent
            .points()
            .map(|(at, low, high)| (at.0 / SECOND, low, high))
            .collect()
    }

    #[test]
    fn a_step_keeps_its_lowest_and_highest_value_in_any_order() {
        let values = [(7, 340), (7, 323), (8, 341), (900, 2)];
        let mut forth = Extent::default();
        let mut back = Extent::default();
        for (at, value) in values {
            forth.add(Timestamp(at * SECOND + 5), value);
        }
        for (at, value) in values.into_iter().rev() {
            back.add(Timestamp(at * SECOND + 5), value);
        }
        assert_eq!(seconds(&forth), [(7, 323, 340), (8, 341, 341), (900, 2, 2)]);
        assert_eq!(seconds(&forth), seconds(&back));
    }

    #[test]
    fn many_seconds_are_joined_and_no_extreme_is_lost() {
        // 10,000 seconds need steps of 60 s; each holds 60 values.
        let mut extent = Extent::default();
        for at in 0..10_000_u32 {
            extent.add(Timestamp(i64::from(at) * SECOND), u64::from(at));
        }
        let points = seconds(&extent);
        assert_eq!(points.len(), 167);
        assert_eq!(points[1], (60, 60, 119));
        assert_eq!(points[166], (9_960, 9_960, 9_999));
        let mut parts = Extent::default();
        parts.add(Timestamp(61 * SECOND), 7);
        parts.absorb(&extent);
        assert_eq!(seconds(&parts)[1], (60, 7, 119));
    }
}
