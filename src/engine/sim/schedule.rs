//! The virtual clock: what happens next is what is earliest, and of equal times what was scheduled first.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Time since the beginning of a run, in microseconds.
pub type Micros = u64;

/// A millisecond.
pub const MILLISECOND: Micros = 1_000;

/// A second.
pub const SECOND: Micros = 1_000_000;

/// A minute.
pub const MINUTE: Micros = 60 * SECOND;

/// Events that wait for their time.
#[derive(Debug, Clone)]
pub struct Schedule<E> {
    now: Micros,
    sequence: u64,
    events: u64,
    waiting: BinaryHeap<Waiting<E>>,
}

#[derive(Debug, Clone)]
struct Waiting<E> {
    at: Micros,
    sequence: u64,
    event: E,
}

impl<E> Waiting<E> {
    fn key(&self) -> (Micros, u64) {
        (self.at, self.sequence)
    }
}

impl<E> PartialEq for Waiting<E> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl<E> Eq for Waiting<E> {}

impl<E> PartialOrd for Waiting<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> Ord for Waiting<E> {
    /// The heap gives its largest, so the earliest is the largest.
    fn cmp(&self, other: &Self) -> Ordering {
        other.key().cmp(&self.key())
    }
}

impl<E> Default for Schedule<E> {
    fn default() -> Self {
        Self {
            now: 0,
            sequence: 0,
            events: 0,
            waiting: BinaryHeap::new(),
        }
    }
}

impl<E> Schedule<E> {
    /// The time of the event that was given last.
    pub fn now(&self) -> Micros {
        self.now
    }

    /// How many events were given so far.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Events that still wait.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether nothing will happen any more.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Lets `event` happen at `at`, or now if that is past.
    pub fn at(&mut self, at: Micros, event: E) {
        let at = at.max(self.now);
        let sequence = self.sequence;
        self.sequence += 1;
        self.waiting.push(Waiting {
            at,
            sequence,
            event,
        });
    }

    /// The next event up to `end`; the clock then stands at its time, or at `end` if there is none.
    pub fn next_until(&mut self, end: Micros) -> Option<E> {
        if self.waiting.peek().is_none_or(|next| next.at > end) {
            self.now = self.now.max(end);
            return None;
        }
        let next = self.waiting.pop()?;
        self.now = next.at;
        self.events += 1;
        Some(next.event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_times_keep_the_order_in_which_they_were_scheduled() {
        let mut schedule = Schedule::default();
        for (at, event) in [(5, 'c'), (3, 'a'), (5, 'd'), (3, 'b'), (9, 'e')] {
            schedule.at(at, event);
        }
        let mut seen = String::new();
        while let Some(event) = schedule.next_until(8) {
            seen.push(event);
            if event == 'a' {
                schedule.at(1, 'x');
            }
        }
        assert_eq!(seen, "abxcd");
        assert_eq!(
            (schedule.now(), schedule.len(), schedule.events()),
            (8, 1, 5)
        );
    }
}
