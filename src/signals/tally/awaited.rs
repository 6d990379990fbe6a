//! What was asked for and has not come yet: a record opens it, a later one closes it.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use crate::time::{SECOND, Timestamp};

/// How many things are remembered that were brought and not asked for yet.
const EARLY_MAX: usize = 10_000;
/// For how long at least: two logs of a node are read beside each other, and one may be so far behind.
const EARLY: i64 = 120 * SECOND;

/// Records of one signal that open or close what is awaited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AwaitedSide {
    /// The declaration that it belongs to.
    pub awaited: usize,
    /// The signal.
    pub signal: u16,
    /// The field that names what is awaited.
    pub field: usize,
    /// Whether its records open it; otherwise they close it.
    pub opens: bool,
}

/// The last stamps at which one thing was opened and closed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct State {
    opened: Option<Timestamp>,
    closed: Option<Timestamp>,
}

impl State {
    /// Whether nothing that closes it came after, or with, what opened it last.
    fn is_open(self) -> bool {
        self.opened.is_some() && self.closed < self.opened
    }
}

/// A table and the name of a thing in it.
type Thing = (Box<[u8]>, Box<[u8]>);

/// What a node awaits, by the table that the record's logger names and the name of the thing.
#[derive(Debug, Default)]
pub struct AwaitedTally {
    states: FxHashMap<Thing, State>,
    /// Things that were brought and that nothing has asked for yet: what asked may be read late.
    early: FxHashMap<Thing, Timestamp>,
    /// Records whose thing was not kept apart because there were too many.
    pub beyond_cap: u64,
}

impl AwaitedTally {
    /// Adds a record about a thing of a table; `cap` things that were opened are kept at most.
    pub fn add(&mut self, table: &[u8], thing: &[u8], time: Timestamp, opens: bool, cap: usize) {
        let key: Thing = (table.into(), thing.into());
        if let Some(state) = self.states.get_mut(&key) {
            let end = if opens {
                &mut state.opened
            } else {
                &mut state.closed
            };
            *end = (*end).max(Some(time));
        } else if !opens {
            self.came_early(key, time);
        } else if self.states.len() < cap {
            let state = State {
                opened: Some(time),
                closed: self.early.remove(&key),
            };
            self.states.insert(key, state);
        } else {
            self.beyond_cap += 1;
        }
    }

    /// Remembers what was brought, and forgets what was long ago.
    fn came_early(&mut self, key: Thing, time: Timestamp) {
        let last = self.early.entry(key).or_insert(time);
        *last = time.max(*last);
        if self.early.len() > EARLY_MAX {
            self.early.retain(|_, it| it.0 >= time.0 - EARLY);
        }
    }

    /// How many different things were opened.
    pub fn things(&self) -> usize {
        self.states.len()
    }

    /// How many tables they are of.
    pub fn tables(&self) -> usize {
        let tables: BTreeSet<&[u8]> = self.states.keys().map(|it| &*it.0).collect();
        tables.len()
    }

    /// How many of them are open at the end.
    pub fn open(&self) -> usize {
        self.states.values().filter(|it| it.is_open()).count()
    }

    /// Adds what another log of the same node says.
    #[expect(
        clippy::iter_over_hash_type,
        reason = "the later stamp of two does not depend on the order"
    )]
    pub(super) fn absorb(&mut self, other: Self) {
        for (key, closed) in other.early {
            if let Some(mine) = self.states.get_mut(&key) {
                mine.closed = mine.closed.max(Some(closed));
            } else {
                self.came_early(key, closed);
            }
        }
        for (key, theirs) in other.states {
            let early = self.early.remove(&key);
            let mine = self.states.entry(key).or_default();
            mine.closed = mine.closed.max(early);
            mine.opened = mine.opened.max(theirs.opened);
            mine.closed = mine.closed.max(theirs.closed);
        }
        self.beyond_cap += other.beyond_cap;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_closed_after_it_was_opened_last_is_not_open() {
        let mut tally = AwaitedTally::default();
        let mut add = |table: &str, thing: &str, at: i64, opens| {
            tally.add(table.as_bytes(), thing.as_bytes(), Timestamp(at), opens, 3);
        };
        // Opened twice and closed; closed, and opened again; the same name in another table.
        add("a", "1", 10, true);
        add("a", "1", 20, true);
        add("a", "1", 30, false);
        add("a", "2", 10, true);
        add("a", "2", 20, false);
        add("a", "2", 30, true);
        add("b", "1", 10, true);
        // Never opened; and a fourth, which is beyond the cap.
        add("b", "7", 10, false);
        add("b", "8", 10, true);
        assert_eq!((tally.things(), tally.tables(), tally.open()), (3, 2, 2));
        assert_eq!(tally.beyond_cap, 1);
    }

    #[test]
    fn a_record_that_is_read_late_takes_nothing_back() {
        let mut tally = AwaitedTally::default();
        tally.add(b"a", b"1", Timestamp(10), true, 10);
        tally.add(b"a", b"1", Timestamp(30), false, 10);
        tally.add(b"a", b"1", Timestamp(20), true, 10);
        assert_eq!(tally.open(), 0);
        // What brings it is read first.
        tally.add(b"a", b"2", Timestamp(30), false, 10);
        tally.add(b"a", b"2", Timestamp(20), true, 10);
        assert_eq!((tally.things(), tally.open()), (2, 0));
        let mut other = AwaitedTally::default();
        other.add(b"a", b"1", Timestamp(40), true, 10);
        tally.absorb(other);
        assert_eq!(tally.open(), 1);
    }
}
