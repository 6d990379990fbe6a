//! What was asked for and has not come yet: a record opens it, a later one closes it.

use rustc_hash::FxHashMap;

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
    later: Things<Timestamp>,
    /// Those that came before: they are let go of together, which no number makes slow.
    before: Things<Timestamp>,
}

impl Early {
    fn note(&mut self, table: &[u8], thing: &[u8], time: Timestamp) {
        if self.later.len() >= EARLY_MAX {
            self.before = std::mem::take(&mut self.later);
        }
        let last = self.later.of(table, thing, || time);
        *last = time.max(*last);
    }

    fn take(&mut self, table: &[u8], thing: &[u8]) -> Option<Timestamp> {
        let (later, before) = (&mut self.later, &mut self.before);
        later.remove(table, thing).max(before.remove(table, thing))
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
            let end = if opens {
                &mut state.opened
            } else {
                &mut state.closed
            };
            *end = (*end).max(Some(time));
        } else if !opens {
            self.early.note(table, thing, time);
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

    /// Adds what another log of the same node says.
    pub(super) fn absorb(&mut self, other: &Self) {
        for early in [&other.early.before, &other.early.later] {
            for (table, thing, &closed) in early.iter() {
                if let Some(mine) = self.states.get_mut(table, thing) {
                    mine.closed = mine.closed.max(Some(closed));
                } else {
                    self.early.note(table, thing, closed);
                }
            }
        }
        for (table, thing, theirs) in other.states.iter() {
            let early = self.early.take(table, thing);
            let mine = self.states.of(table, thing, State::default);
            mine.closed = mine.closed.max(early).max(theirs.closed);
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
