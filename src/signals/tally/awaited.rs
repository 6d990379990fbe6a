//! What was asked for and has not come yet: a record opens it, a later one closes it.

use hashbrown::HashTable;
use rustc_hash::FxHashSet;

use super::name::{LARGE, LATER_MAX, Name, Sought};
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

/// No stamp: earlier than any.
const NEVER: Timestamp = Timestamp(i64::MIN);

/// A thing of a table: when it was opened last, and what closed it.
#[derive(Debug, Clone)]
struct Thing {
    name: Name,
    table: u32,
    /// How often it was closed.
    closed: u32,
    opened_last: Timestamp,
    closed_last: Timestamp,
}

impl Thing {
    /// Whether nothing that closes it came after, or with, what opened it last.
    fn is_open(&self) -> bool {
        self.opened_last > NEVER && self.closed_last < self.opened_last
    }

    fn hash(&self) -> u64 {
        hash(self.table, self.name.hash())
    }

    fn close(&mut self, last: Timestamp, times: u32) {
        self.closed_last = self.closed_last.max(last);
        self.closed = self.closed.saturating_add(times);
    }

    /// Adds what another record says of the same thing.
    fn absorb(&mut self, other: &Self) {
        self.opened_last = self.opened_last.max(other.opened_last);
        self.close(other.closed_last, other.closed);
    }
}

/// The hash of a name in a table.
fn hash(table: u32, name: u64) -> u64 {
    name.wrapping_add(u64::from(table).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// A thing that is looked up.
#[derive(Clone, Copy)]
struct SoughtThing<'n> {
    table: u32,
    name: Sought<'n>,
    hash: u64,
}

impl<'n> SoughtThing<'n> {
    fn new(table: u32, name: Sought<'n>) -> Self {
        let hash = hash(table, name.hash);
        Self { table, name, hash }
    }

    #[inline]
    fn is(&self, thing: &Thing) -> bool {
        self.table == thing.table && self.name.is(&thing.name)
    }

    /// The thing, of which nothing is known.
    fn unknown(&self) -> Thing {
        Thing {
            name: self.name.name(),
            table: self.table,
            closed: 0,
            opened_last: NEVER,
            closed_last: NEVER,
        }
    }
}

/// Things by the table that they are in and their name.
#[derive(Debug, Default)]
struct Things(HashTable<Thing>);

impl Things {
    fn get_mut(&mut self, sought: &SoughtThing<'_>) -> Option<&mut Thing> {
        self.0.find_mut(sought.hash, |it| sought.is(it))
    }

    /// A thing, which is made if it is not there.
    fn of(&mut self, sought: &SoughtThing<'_>) -> &mut Thing {
        let entry = self.0.entry(sought.hash, |it| sought.is(it), Thing::hash);
        entry.or_insert_with(|| sought.unknown()).into_mut()
    }

    fn remove(&mut self, sought: &SoughtThing<'_>) -> Option<Thing> {
        let found = self.0.find_entry(sought.hash, |it| sought.is(it));
        found.ok().map(|found| found.remove().0)
    }
}

/// The numbers of tables: there are few, and many things in each.
#[derive(Debug, Default)]
struct Tables(HashTable<(Name, u32)>);

impl Tables {
    /// A table's number, which is given to it if there are fewer than `max`.
    fn number(&mut self, table: &[u8], max: usize) -> Option<u32> {
        let sought = Sought::new(table);
        if let Some((_, number)) = self.0.find(sought.hash, |(name, _)| sought.is(name)) {
            return Some(*number);
        }
        let next = u32::try_from(self.0.len()).ok()?;
        if self.0.len() >= max {
            return None;
        }
        let named = (sought.name(), next);
        self.0
            .insert_unique(sought.hash, named, |(name, _)| name.hash());
        Some(next)
    }

    /// The names by number.
    fn names(&self) -> Vec<&[u8]> {
        let mut names: Vec<&[u8]> = vec![b""; self.0.len()];
        for (name, number) in &self.0 {
            names[*number as usize] = name.bytes();
        }
        names
    }
}

/// Things that were brought and that nothing has asked for yet: what asked may be read late.
#[derive(Debug, Default)]
struct Early {
    later: Things,
    /// Those that came before: they are let go of together, which no number makes slow.
    before: Things,
}

impl Early {
    fn note(&mut self, sought: &SoughtThing<'_>, last: Timestamp, times: u32) {
        if self.later.0.len() >= EARLY_MAX {
            self.before = std::mem::take(&mut self.later);
        }
        self.later.of(sought).close(last, times);
    }

    /// Moves what is known of a thing to it.
    fn give(&mut self, sought: &SoughtThing<'_>, to: &mut Thing) {
        for known in [&mut self.later, &mut self.before] {
            if let Some(early) = known.remove(sought) {
                to.absorb(&early);
            }
        }
    }
}

/// A thing of another log, whose tables have these numbers here.
fn theirs_as<'n>(numbers: &[u32], thing: &'n Thing) -> SoughtThing<'n> {
    let name = Sought::again(&thing.name, thing.name.hash());
    SoughtThing::new(numbers[thing.table as usize], name)
}

/// A record that waits to be added.
#[derive(Debug)]
struct Later {
    name: Name,
    hash: u64,
    table: u32,
    opens: bool,
    time: Timestamp,
}

/// What a node awaits, by the table that the record's logger names and the name of the thing.
#[derive(Debug, Default)]
pub struct AwaitedTally {
    tables: Tables,
    states: Things,
    early: Early,
    /// Records that wait to be added.
    later: Vec<Later>,
    /// Records whose thing was not kept apart because there were too many.
    pub beyond_cap: u64,
}

impl AwaitedTally {
    /// Adds a record about a thing of a table, now or with others that follow; `cap` things that were opened are kept at most.
    /// [`AwaitedTally::settle`] adds what waits.
    pub fn add(&mut self, table: &[u8], thing: &[u8], time: Timestamp, opens: bool, cap: usize) {
        // As many tables as things may be kept.
        let tables_max = cap.saturating_add(2 * EARLY_MAX);
        let Some(table) = self.tables.number(table, tables_max) else {
            self.beyond_cap += u64::from(opens);
            return;
        };
        let sought = SoughtThing::new(table, Sought::new(thing));
        if self.states.0.len() < LARGE || !sought.name.is_short() {
            self.settle(cap);
            self.add_one(&sought, time, opens, cap);
            return;
        }
        self.later.push(Later {
            name: sought.name.name(),
            hash: sought.name.hash,
            table,
            opens,
            time,
        });
        if self.later.len() >= LATER_MAX {
            self.settle(cap);
        }
    }

    /// Adds what waits, in its order.
    pub fn settle(&mut self, cap: usize) {
        if self.later.is_empty() {
            return;
        }
        let mut later = std::mem::take(&mut self.later);
        for one in &later {
            let sought = SoughtThing::new(one.table, Sought::again(&one.name, one.hash));
            self.add_one(&sought, one.time, one.opens, cap);
        }
        later.clear();
        self.later = later;
    }

    #[inline]
    fn add_one(&mut self, sought: &SoughtThing<'_>, time: Timestamp, opens: bool, cap: usize) {
        if let Some(state) = self.states.get_mut(sought) {
            if opens {
                state.opened_last = state.opened_last.max(time);
            } else {
                state.close(time, 1);
            }
        } else if !opens {
            self.early.note(sought, time, 1);
        } else if self.states.0.len() < cap {
            let state = self.states.of(sought);
            state.opened_last = time;
            self.early.give(sought, state);
        } else {
            self.beyond_cap += 1;
        }
    }

    /// The things, none of which waits.
    fn states(&self) -> impl Iterator<Item = &Thing> {
        debug_assert!(self.later.is_empty(), "what waits is not added");
        self.states.0.iter()
    }

    /// How many different things were opened.
    pub fn things(&self) -> usize {
        self.states().count()
    }

    /// How many tables they are of.
    pub fn tables(&self) -> usize {
        let tables = self.states().map(|thing| thing.table);
        tables.collect::<FxHashSet<_>>().len()
    }

    /// How many of them are open at the end.
    pub fn open(&self) -> usize {
        self.states().filter(|it| it.is_open()).count()
    }

    /// How many of them were closed at all, and how often they were in all: more often than once where a name comes again.
    pub fn closed(&self) -> (usize, u64) {
        let times = self.states().map(|it| u64::from(it.closed));
        let each = times.filter(|it| *it > 0);
        each.fold((0, 0), |(things, all), it| (things + 1, all + it))
    }

    /// How many different beginnings their names have, up to the first `_`, those of each table for themselves: the
    /// partitions, if the things are parts.
    pub fn families(&self) -> usize {
        let beginnings = self.states().map(|thing| {
            let name = thing.name.bytes();
            let end = memchr::memchr(b'_', name).unwrap_or(name.len());
            (thing.table, &name[..end])
        });
        beginnings.collect::<FxHashSet<_>>().len()
    }

    /// Adds what another log of the same node says.
    pub(super) fn absorb(&mut self, other: &Self) {
        let names = other.tables.names();
        let mine = names
            .into_iter()
            .map(|name| self.tables.number(name, usize::MAX).unwrap_or(u32::MAX));
        let mine: Vec<u32> = mine.collect();
        let sought = |thing| theirs_as(&mine, thing);
        for early in [&other.early.before, &other.early.later] {
            for theirs in &early.0 {
                let sought = sought(theirs);
                if let Some(mine) = self.states.get_mut(&sought) {
                    mine.absorb(theirs);
                } else {
                    self.early.note(&sought, theirs.closed_last, theirs.closed);
                }
            }
        }
        for theirs in other.states() {
            let sought = sought(theirs);
            let mine = self.states.of(&sought);
            self.early.give(&sought, mine);
            mine.absorb(theirs);
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
        let kept = tally.early.later.0.len() + tally.early.before.0.len();
        assert!((EARLY_MAX..=2 * EARLY_MAX).contains(&kept), "{kept}");
        tally.add(b"a", name(49_000).as_bytes(), Timestamp(1_000), true, 100);
        tally.add(b"a", name(7).as_bytes(), Timestamp(1_000), true, 100);
        assert_eq!((tally.things(), tally.open()), (2, 1));
    }

    #[test]
    fn what_waits_is_added_in_its_order() {
        // 600 things are enough for others to wait; then one is opened, closed and opened again, another closed and opened.
        let mut tally = AwaitedTally::default();
        for at in 0..600 {
            let name = format!("all_{at}_{at}_0");
            tally.add(b"a", name.as_bytes(), Timestamp(at), true, 601);
        }
        let mut add = |thing: &str, at, opens| {
            tally.add(b"a", thing.as_bytes(), Timestamp(at), opens, 601);
        };
        add("all_7_7_0", 1_000, false);
        add("one", 1_000, true);
        add("one", 1_001, false);
        add("one", 1_002, true);
        // Beyond the cap, and closed all the same; a name that is too long to wait.
        add("two", 1_003, true);
        add("two", 1_004, false);
        add("all_8_8_0", 1_005, false);
        add("all_8_8_0_of_a_longer_name", 1_006, true);
        tally.settle(601);
        assert_eq!((tally.things(), tally.open()), (601, 599));
        assert_eq!((tally.closed(), tally.beyond_cap), ((3, 3), 2));
    }
}
