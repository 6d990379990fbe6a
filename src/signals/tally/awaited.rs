//! What was asked for and has not come yet: a record opens it, a later one closes it.

use rustc_hash::{FxHashMap, FxHashSet};

use super::signal::Value;
use crate::time::Timestamp;

/// How many things are remembered at least that were brought and not asked for yet, and at most twice as many: two logs of a
/// node are read beside each other, and one may be so far behind.
const EARLY_MAX: usize = 20_000;

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

/// When one thing was closed last, and how often it was.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Closed {
    last: Option<Timestamp>,
    times: u64,
}

impl Closed {
    fn once(time: Timestamp) -> Self {
        Self {
            last: Some(time),
            times: 1,
        }
    }

    fn add(&mut self, other: Self) {
        self.last = self.last.max(other.last);
        self.times += other.times;
    }
}

/// When one thing was opened last, and what closed it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct State {
    opened: Option<Timestamp>,
    closed: Closed,
}

impl State {
    /// Whether nothing that closes it came after, or with, what opened it last.
    fn is_open(self) -> bool {
        self.opened.is_some() && self.closed.last < self.opened
    }
}

/// Things by the table that they are in and their name. There are few tables and many things: one look among the tables, which
/// stay at hand, and one among all things.
#[derive(Debug)]
struct Things<T> {
    tables: FxHashMap<Value, u32>,
    all: FxHashMap<(u32, Value), T>,
}

impl<T> Default for Things<T> {
    fn default() -> Self {
        Self {
            tables: FxHashMap::default(),
            all: FxHashMap::default(),
        }
    }
}

impl<T> Things<T> {
    fn len(&self) -> usize {
        self.all.len()
    }

    /// The key of a thing, if its table is known.
    fn key(&self, table: &[u8], thing: &[u8]) -> Option<(u32, Value)> {
        Some((*self.tables.get(table)?, Value::from_slice(thing)))
    }

    fn get_mut(&mut self, table: &[u8], thing: &[u8]) -> Option<&mut T> {
        let key = self.key(table, thing)?;
        self.all.get_mut(&key)
    }

    /// The value of a thing, which is made if it is not there.
    fn of(&mut self, table: &[u8], thing: &[u8], value: impl FnOnce() -> T) -> &mut T {
        let next = u32::try_from(self.tables.len()).unwrap_or(u32::MAX);
        let number = match self.tables.get(table) {
            Some(number) => *number,
            None => *self.tables.entry(Value::from_slice(table)).or_insert(next),
        };
        let key = (number, Value::from_slice(thing));
        self.all.entry(key).or_insert_with(value)
    }

    fn remove(&mut self, table: &[u8], thing: &[u8]) -> Option<T> {
        let key = self.key(table, thing)?;
        self.all.remove(&key)
    }

    /// All of them: table, name and value, in no order.
    #[expect(clippy::iter_over_hash_type, reason = "every name has its place")]
    fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8], &T)> {
        let mut names: Vec<&[u8]> = vec![b""; self.tables.len()];
        for (name, &number) in &self.tables {
            names[number as usize] = name;
        }
        let all = self.all.iter();
        all.map(move |((table, thing), value)| (names[*table as usize], &thing[..], value))
    }
}

/// Things that were brought and that nothing has asked for yet: what asked may be read late.
#[derive(Debug, Default)]
struct Early {
    later: Things<Closed>,
    /// Those that came before: they are let go of together, which no number makes slow.
    before: Things<Closed>,
}

impl Early {
    fn note(&mut self, table: &[u8], thing: &[u8], closed: Closed) {
        if self.later.len() >= EARLY_MAX {
            self.before = std::mem::take(&mut self.later);
        }
        let known = self.later.of(table, thing, Closed::default);
        known.add(closed);
    }

    fn take(&mut self, table: &[u8], thing: &[u8]) -> Closed {
        let mut taken = self.later.remove(table, thing).unwrap_or_default();
        taken.add(self.before.remove(table, thing).unwrap_or_default());
        taken
    }
}

/// What a node awaits, by the table that the record's logger names and the name of the thing.
#[derive(Debug, Default)]
pub struct AwaitedTally {
    states: Things<State>,
    early: Early,
    /// Records whose thing was not kept apart because there were too many.
    pub beyond_cap: u64,
}

impl AwaitedTally {
    /// Adds a record about a thing of a table; `cap` things that were opened are kept at most.
    pub fn add(&mut self, table: &[u8], thing: &[u8], time: Timestamp, opens: bool, cap: usize) {
        if let Some(state) = self.states.get_mut(table, thing) {
            if opens {
                state.opened = state.opened.max(Some(time));
            } else {
                state.closed.add(Closed::once(time));
            }
        } else if !opens {
            self.early.note(table, thing, Closed::once(time));
        } else if self.states.len() < cap {
            let closed = self.early.take(table, thing);
            self.states.of(table, thing, || State {
                opened: Some(time),
                closed,
            });
        } else {
            self.beyond_cap += 1;
        }
    }

    /// How many different things were opened.
    pub fn things(&self) -> usize {
        self.states.len()
    }

    /// How many tables they are of.
    pub fn tables(&self) -> usize {
        self.states.tables.len()
    }

    /// How many of them are open at the end.
    pub fn open(&self) -> usize {
        self.states.iter().filter(|(.., it)| it.is_open()).count()
    }

    /// How many of them were closed at all, and how often they were in all: more often than once where a name comes again.
    pub fn closed(&self) -> (usize, u64) {
        let times = self.states.iter().map(|(.., it)| it.closed.times);
        let each = times.filter(|it| *it > 0);
        each.fold((0, 0), |(things, all), it| (things + 1, all + it))
    }

    /// How many different beginnings their names have, up to the first `_`, those of each table for themselves: the
    /// partitions, if the things are parts.
    pub fn families(&self) -> usize {
        let beginnings = self.states.iter().map(|(table, thing, _)| {
            let end = memchr::memchr(b'_', thing).unwrap_or(thing.len());
            (table, &thing[..end])
        });
        beginnings.collect::<FxHashSet<_>>().len()
    }

    /// Adds what another log of the same node says.
    pub(super) fn absorb(&mut self, other: &Self) {
        for early in [&other.early.before, &other.early.later] {
            for (table, thing, &closed) in early.iter() {
                if let Some(mine) = self.states.get_mut(table, thing) {
                    mine.closed.add(closed);
                } else {
                    self.early.note(table, thing, closed);
                }
            }
        }
        for (table, thing, theirs) in other.states.iter() {
            let early = self.early.take(table, thing);
            let mine = self.states.of(table, thing, State::default);
            mine.closed.add(early);
            mine.closed.add(theirs.closed);
            mine.opened = mine.opened.max(theirs.opened);
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
        tally.absorb(&other);
        assert_eq!(tally.open(), 1);
    }

    #[test]
    fn a_name_that_comes_again_is_counted_as_often_as_it_comes() {
        let mut tally = AwaitedTally::default();
        let mut other = AwaitedTally::default();
        let mut add = |log: u8, table: &str, thing: &str, at: i64, opens| {
            let tally = if log == 0 { &mut tally } else { &mut other };
            tally.add(table.as_bytes(), thing.as_bytes(), Timestamp(at), opens, 9);
        };
        // Three times, one of them before it was asked for; once, which the other log says; and never.
        add(0, "a", "5-8_1_1_0", 10, false);
        add(0, "a", "5-8_1_1_0", 20, true);
        add(0, "a", "5-8_1_1_0", 30, false);
        add(1, "a", "5-8_1_1_0", 40, false);
        add(0, "a", "5-8_2_2_0", 10, true);
        add(1, "a", "5-8_2_2_0", 20, false);
        add(0, "a", "all_1_1_0", 10, true);
        // The same partition of another table; one that nothing asked for.
        add(1, "b", "5-8_1_1_0", 10, true);
        add(0, "b", "7_1_1_0", 10, false);
        tally.absorb(&other);
        assert_eq!((tally.things(), tally.open()), (4, 2));
        assert_eq!(tally.closed(), (2, 4));
        // 5-8 and all of one table, 5-8 of the other.
        assert_eq!(tally.families(), 3);
    }

    #[test]
    fn what_is_brought_and_never_asked_for_is_forgotten_after_a_while() {
        let mut tally = AwaitedTally::default();
        let name = |at: i64| format!("all_{at}_{at}_0");
        for at in 0..50_000 {
            let time = Timestamp(at * 1_000);
            tally.add(b"a", name(at).as_bytes(), time, false, 100);
        }
        // The last twenty thousand at least, twice as many at most.
        let kept = tally.early.later.len() + tally.early.before.len();
        assert!((EARLY_MAX..=2 * EARLY_MAX).contains(&kept), "{kept}");
        tally.add(b"a", name(49_000).as_bytes(), Timestamp(1_000), true, 100);
        tally.add(b"a", name(7).as_bytes(), Timestamp(1_000), true, 100);
        assert_eq!((tally.things(), tally.open()), (2, 1));
    }
}
