//! One test as reports of plain test runners tell it, and how such tests become a run.
//!
//! These runners know tests in suites and no levels between. Each reader collects its cases here, so that repeated cases are
//! joined and counted the same way for all of them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::failure::Failure;
use super::model::{
    Class, FailingTest, Incomplete, KnownFail, Leaf, Moment, NAME_BYTES_MAX, Place, TestRun,
    bounded,
};
use super::moments::after;

/// A word of a source, which is mostly one of few.
pub(super) type Word = Cow<'static, str>;

/// A test and its outcome.
#[derive(Debug, Clone, Default)]
pub(super) struct Case {
    /// The name as the runner takes it.
    pub(super) name: String,
    /// What holds it, from the outermost in: a binary, a file, a class.
    pub(super) suites: Vec<String>,
    /// What tells it from others of the same name, whatever report it stands in.
    pub(super) id: String,
    /// The outcome in the source's word.
    pub(super) outcome: Word,
    pub(super) failure: Failure,
    /// Why it was left out or expected to fail.
    pub(super) reason: String,
    pub(super) seconds: Option<f64>,
    pub(super) began: Option<Moment>,
    pub(super) ended: Option<Moment>,
    /// Tries of it that failed and were repeated.
    pub(super) failed_tries: u64,
    pub(super) place: Place,
}

/// Outcomes of tests that are counted here, and the level that they are counted at.
const LEVEL: &str = "test";

/// Names that are kept to join cases of one test; a run has tens of thousands at most.
const NAMES_MAX: usize = 200_000;

/// Cases in the order in which they are told.
#[derive(Debug, Default)]
pub(super) struct Cases {
    /// Whether two cases of one id are one test: its reruns, or its end after it failed.
    pub(super) joins: bool,
    by_id: BTreeMap<String, usize>,
    /// What stands for a test that is told: outcome, tries, and the case itself where it is to be shown.
    seen: Vec<Seen>,
    others: BTreeMap<Word, u64>,
}

#[derive(Debug)]
struct Seen {
    outcome: Word,
    passes: u64,
    failed_tries: u64,
    case: Option<Case>,
}

impl Seen {
    /// Passes beside the one that stands for the test.
    fn repeats(&self) -> u64 {
        let own = u64::from(Class::of(&self.outcome) == Class::Passed);
        self.passes.saturating_sub(own)
    }
}

impl Cases {
    /// Cases of a runner that gives every test a name of its own.
    pub(super) fn joined() -> Self {
        Self {
            joins: true,
            ..Self::default()
        }
    }

    /// Takes a case.
    pub(super) fn add(&mut self, case: Case) {
        let known = if self.joins {
            self.by_id.get(&case.id).copied()
        } else {
            None
        };
        match known {
            Some(at) => self.again(at, case),
            None if self.seen.len() < NAMES_MAX => {
                if self.joins {
                    self.by_id.insert(case.id.clone(), self.seen.len());
                }
                self.seen.push(Seen {
                    outcome: case.outcome.clone(),
                    passes: u64::from(Class::of(&case.outcome) == Class::Passed),
                    failed_tries: case.failed_tries,
                    case: is_shown(&case.outcome).then_some(case),
                });
            }
            None => *self.others.entry(case.outcome).or_default() += 1,
        }
    }

    /// A further case of a test: the worse outcome stands, the earlier one of equals.
    fn again(&mut self, at: usize, case: Case) {
        let seen = &mut self.seen[at];
        seen.failed_tries += case.failed_tries;
        seen.passes += u64::from(Class::of(&case.outcome) == Class::Passed);
        if badness(&case.outcome) > badness(&seen.outcome) {
            seen.outcome.clone_from(&case.outcome);
            seen.case = is_shown(&case.outcome).then_some(case);
        }
    }

    /// How many tests were told.
    pub(super) fn len(&self) -> usize {
        self.seen.len()
    }

    /// Cases of a test beyond the first that say that it passed: what a report of reruns leaves of them.
    pub(super) fn repeated_passes(&self) -> u64 {
        self.seen.iter().map(Seen::repeats).sum()
    }

    /// Counts the tests into a run and lists those that failed.
    pub(super) fn fill(self, run: &mut TestRun) {
        for (outcome, count) in self.others {
            run.count_many(LEVEL, &outcome, count);
            let class = Class::of(&outcome);
            if class.is_failing() {
                run.count_unlisted(LEVEL, count, count);
            } else if class == Class::Known {
                run.known_unlisted += count;
            }
        }
        for mut seen in self.seen {
            run.count(LEVEL, &seen.outcome);
            if self.joins {
                seen.failed_tries += seen.repeats();
            }
            if seen.failed_tries > 0 {
                run.retries.tries += seen.failed_tries + 1;
                run.retries.failed += seen.failed_tries;
                run.retries.passed_after += u64::from(Class::of(&seen.outcome) == Class::Passed);
            }
            if let Some(case) = seen.case {
                show(case, seen.failed_tries, run);
            }
        }
    }
}

/// Whether a case is listed and not only counted.
fn is_shown(outcome: &str) -> bool {
    let class = Class::of(outcome);
    class.is_failing() || class == Class::Known
}

/// The order in which outcomes of one test outweigh each other.
fn badness(outcome: &str) -> u8 {
    match Class::of(outcome) {
        Class::Passed => 0,
        Class::Skipped => 1,
        Class::Known | Class::Other => 2,
        Class::Null => 3,
        Class::Errored => 4,
        // A test that failed and could not be cleaned up failed.
        Class::Failed => 5,
    }
}

fn show(case: Case, failed_tries: u64, run: &mut TestRun) {
    let name = bounded(&case.name, NAME_BYTES_MAX);
    if Class::of(&case.outcome) == Class::Known {
        run.keep_known(KnownFail {
            name,
            outcome: case.outcome.clone().into_owned(),
            level: LEVEL.to_owned(),
            reason: (!case.reason.is_empty()).then_some(case.reason),
            place: case.place,
        });
        return;
    }
    run.keep_failing(FailingTest {
        name: name.clone(),
        outcome: case.outcome.clone().into_owned(),
        level: LEVEL.to_owned(),
        is_leaf: true,
        seconds: case.seconds,
        place: case.place,
    });
    let mut leaf = Leaf::new(&name, &case.outcome);
    // Their names hold slashes that separate nothing.
    leaf.readable.clone_from(&leaf.name);
    leaf.path.clone_from(&case.suites);
    leaf.path.push(name);
    leaf.feature = case.suites.last().cloned().unwrap_or_default();
    leaf.id = case.id;
    leaf.began = case.began;
    leaf.seconds = case.seconds;
    let computed = case
        .began
        .zip(case.seconds)
        .and_then(|(began, seconds)| after(began, seconds));
    leaf.ended = case.ended.or(computed);
    leaf.failed_tries = failed_tries;
    leaf.place = case.place;
    case.failure.describe(&mut leaf);
    run.keep_leaf(leaf);
}

/// Says why a run is not complete, once.
pub(super) fn note(run: &mut TestRun, why: Incomplete) {
    if !run.incomplete.contains(&why) {
        run.incomplete.push(why);
    }
}
