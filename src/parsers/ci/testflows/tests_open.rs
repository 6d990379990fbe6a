//! The tests that have begun and not ended, by id or by name: all the state that a log of any length needs.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::above::{all_above, parents};
use crate::parsers::ci::model::{KEPT_MAX, Mentions, Moment, Place, Running};
use crate::parsers::ci::statements;

/// How long a statement may go on over several messages.
const STATEMENT_BYTES_MAX: usize = 8 * 1024;

/// A test that runs.
#[derive(Debug, Default)]
pub(super) struct Open {
    pub(super) id: Box<[u8]>,
    pub(super) name: String,
    pub(super) level: &'static str,
    /// Whether it holds suites or tests and is none.
    pub(super) is_suite: bool,
    pub(super) began: Option<Moment>,
    pub(super) place: Place,
    /// The number that its next message must have.
    pub(super) next: u64,
    pub(super) mentions: Mentions,
    /// A statement that goes on in the next message.
    pub(super) statement: Option<String>,
    /// Whether a failing test stands below it.
    pub(super) fails_below: bool,
    pub(super) tries: Tries,
    /// Repetitions that passed and failed.
    pub(super) repeated: (u64, u64),
}

/// Tries below a test.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tries {
    pub(super) failed: u64,
    pub(super) passed: u64,
    /// When the first began and the last ended, in seconds since 1970.
    pub(super) span: Option<(f64, f64)>,
}

impl Tries {
    /// Takes in a try.
    pub(super) fn add(&mut self, began: f64, ended: f64, failed: bool) {
        self.failed += u64::from(failed);
        self.passed += u64::from(!failed);
        self.widen((began, ended));
    }

    fn widen(&mut self, (began, ended): (f64, f64)) {
        let (low, high) = self.span.unwrap_or((began, ended));
        self.span = Some((low.min(began), high.max(ended)));
    }

    fn merge(&mut self, other: Self) {
        self.failed += other.failed;
        self.passed += other.passed;
        if let Some(span) = other.span {
            self.widen(span);
        }
    }
}

impl Open {
    /// Takes in what a shell printed.
    pub(super) fn said(&mut self, text: &str) {
        let goes_on = self.statement.take();
        let whole = match goes_on {
            Some(mut begun) => {
                begun.push(' ');
                begun.push_str(text);
                begun
            }
            None => text.to_owned(),
        };
        statements::note(&whole, &mut self.mentions);
        if statements::is_open(&whole) && whole.len() < STATEMENT_BYTES_MAX {
            self.statement = Some(whole);
        }
    }

    /// Whether a statement waits for its end.
    pub(super) fn waits(&self) -> bool {
        self.statement.is_some()
    }
}

/// All tests that run.
#[derive(Debug, Default)]
pub(super) struct OpenTests {
    slots: Vec<Option<Open>>,
    free: Vec<usize>,
    by_id: FxHashMap<Box<[u8]>, usize>,
    /// The slot of the message before: messages of a test come in runs.
    last: usize,
}

impl OpenTests {
    /// Begins a test; one of the same id that did not end is given up.
    pub(super) fn begin(&mut self, open: Open) {
        let id = open.id.clone();
        let slot = if let Some(slot) = self.by_id.get(&id) {
            *slot
        } else if let Some(slot) = self.free.pop() {
            slot
        } else {
            self.slots.push(None);
            self.slots.len() - 1
        };
        self.slots[slot] = Some(open);
        self.by_id.insert(id, slot);
        self.last = slot;
    }

    /// The test of an id, if it runs.
    pub(super) fn get(&mut self, id: &[u8]) -> Option<&mut Open> {
        let is_last = self
            .slots
            .get(self.last)
            .and_then(Option::as_ref)
            .is_some_and(|open| *open.id == *id);
        if !is_last {
            self.last = *self.by_id.get(id)?;
        }
        self.slots[self.last].as_mut()
    }

    /// Ends a test.
    pub(super) fn end(&mut self, id: &[u8]) -> Option<Open> {
        let slot = self.by_id.remove(id)?;
        self.free.push(slot);
        self.slots[slot].take()
    }

    /// The nearest test above an id that runs.
    pub(super) fn above(&mut self, id: &[u8]) -> Option<&mut Open> {
        let id = parents(id).find(|above| self.by_id.contains_key(*above))?;
        self.get(id)
    }

    /// Gives what a step or try said and counted to the test above it, unless that is a suite.
    pub(super) fn hand_up(&mut self, ended: Open) {
        if let Some(above) = self.above(&ended.id)
            && !above.is_suite
        {
            above.tries.merge(ended.tries);
            let (mine, theirs) = (&mut above.mentions, ended.mentions);
            theirs
                .nodes
                .iter()
                .for_each(|it| Mentions::note(&mut mine.nodes, it));
            theirs
                .tables
                .iter()
                .for_each(|it| Mentions::note(&mut mine.tables, it));
            theirs
                .parts
                .iter()
                .for_each(|it| Mentions::note(&mut mine.parts, it));
            for key in theirs.keys {
                if !mine.keys.contains(&key) && mine.keys.len() < crate::parsers::ci::MENTIONS_MAX {
                    mine.keys.push(key);
                }
            }
        }
    }

    /// What runs at the end, in the order in which it began.
    pub(super) fn running(self) -> Vec<Running> {
        let mut open: Vec<Open> = self.slots.into_iter().flatten().collect();
        open.sort_by_key(|test| test.place);
        let above = all_above(open.iter().map(|test| &*test.id));
        let innermost: Vec<bool> = open.iter().map(|test| !above.contains(&*test.id)).collect();
        open.into_iter()
            .zip(innermost)
            .map(|(test, is_innermost)| Running {
                name: test.name,
                level: test.level.to_owned(),
                began: test.began,
                is_innermost,
                place: test.place,
            })
            .collect()
    }

    /// How many run.
    pub(super) fn count(&self) -> usize {
        self.by_id.len()
    }
}

/// Tests that began in a report that names them by name alone, of which several may have the same.
#[derive(Debug, Default)]
pub(super) struct Begun {
    /// By the order in which they began.
    tests: BTreeMap<u64, Running>,
    by_name: FxHashMap<String, Vec<u64>>,
    next: u64,
}

impl Begun {
    /// Begins a test, unless as many run as are kept.
    pub(super) fn begin(&mut self, name: &str, place: Place) {
        if self.tests.len() >= KEPT_MAX {
            return;
        }
        let test = Running {
            name: name.to_owned(),
            level: "test".to_owned(),
            began: None,
            is_innermost: true,
            place,
        };
        self.tests.insert(self.next, test);
        self.by_name
            .entry(name.to_owned())
            .or_default()
            .push(self.next);
        self.next += 1;
    }

    /// Ends the test of a name that began last.
    pub(super) fn end(&mut self, name: &str) {
        let Some(begun) = self.by_name.get_mut(name) else {
            return;
        };
        if let Some(last) = begun.pop() {
            self.tests.remove(&last);
        }
        if begun.is_empty() {
            self.by_name.remove(name);
        }
    }

    /// Whether a test of this name runs.
    pub(super) fn has(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    /// The names of running tests that begin so.
    pub(super) fn beginning(&self, start: &str) -> Vec<&str> {
        let names = self.tests.values().map(|test| test.name.as_str());
        names.filter(|name| name.starts_with(start)).collect()
    }

    /// What runs at the end, in the order in which it began.
    pub(super) fn running(self) -> Vec<Running> {
        let mut tests: Vec<Running> = self.tests.into_values().collect();
        let above = all_above(tests.iter().map(|test| test.name.as_bytes()));
        let innermost: Vec<bool> = tests
            .iter()
            .map(|test| !above.contains(test.name.as_bytes()))
            .collect();
        for (test, is_innermost) in tests.iter_mut().zip(innermost) {
            test.is_innermost = is_innermost;
        }
        tests
    }
}
