//! What one source says of the tests that ran: the value that every reader of test results gives.
//!
//! A value keeps what the source says in the source's own words, and beside it the little that all sources share. Two sources
//! of one run stay two values; they are compared later, and neither is corrected here.

use std::collections::BTreeMap;

pub use super::event::{Event, EventKind};
pub use super::incomplete::Incomplete;
pub use super::leaf::{Above, Class, FailingTest, Frame, Leaf, Mentions, PartitionKey};

use super::Form;
use crate::time::Timestamp;

/// What one source says of one run of tests.
#[derive(Debug, Clone, PartialEq)]
pub struct TestRun {
    /// The form of the source.
    pub form: Form,
    /// What the source calls it: the root test, the suite, the job.
    pub name: String,
    /// What tells it from other runs of the same source, such as a job and a step; empty where there is one.
    pub part: String,
    /// The first line that speaks of it.
    pub place: Place,
    /// Why it is not complete; empty if it is.
    pub incomplete: Vec<Incomplete>,
    /// The earliest moment that is stated.
    pub first: Option<Moment>,
    /// The latest moment that is stated: where a run broke off, this is when.
    pub last: Option<Moment>,
    /// The result of the whole, in the source's word.
    pub result: Option<String>,
    /// The exit code of the process that ran the tests.
    pub exit_code: Option<i64>,
    /// The exit code that what it printed implies, whatever is told of its process.
    pub implied_code: Option<i64>,
    /// How long it took, by each rule that the source allows; the one to show first.
    pub durations: Vec<Duration>,
    /// Counts of tests by level, in the order of [`Total::rank`], then by name: counted one by one from the source.
    pub totals: Vec<Total>,
    /// The same as the source itself sums it up, where it does.
    pub stated: Vec<Total>,
    /// Failing tests at all levels above steps, in the order in which they ended; a try that was repeated is none.
    pub failing: Vec<FailingTest>,
    /// Failing tests that have no failing test below them, in the order in which they ended.
    pub leaves: Vec<Leaf>,
    /// Failures that were expected.
    pub known: Vec<KnownFail>,
    /// Tries of tests that were repeated until they passed or time was up.
    pub retries: Retries,
    /// Tests that were not chosen to run; they are in no total.
    pub filtered_out: u64,
    /// Tests with passing and failing repetitions.
    pub unstable: Vec<Unstable>,
    /// Tests that began and did not end.
    pub running: Vec<Running>,
    /// What identifies the run, by name: version, job, commit, architecture, arguments.
    pub attributes: BTreeMap<String, String>,
    /// Results that are checks of the machinery and no tests, such as `Fatal messages`, with their outcome.
    pub checks: Vec<Check>,
    /// What else is to be said of the source.
    pub remarks: Vec<Remark>,
    /// What says that the run failed and is no listed test, such as sums that count more failures than are listed.
    pub faults: Vec<String>,
    /// Failing tests that are counted and in no list, by level: there are more than [`KEPT_MAX`], or the source does not name
    /// them.
    pub unlisted: Vec<Unlisted>,
    /// Failures that were expected and are in no list, for the same reason.
    pub known_unlisted: u64,
}

/// Failing tests of a level that are counted and in no list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unlisted {
    /// The level.
    pub level: String,
    /// Failing tests.
    pub tests: u64,
    /// Those without a failing test below them.
    pub leaves: u64,
}

/// Failing tests, leaves, known fails or running tests that are kept of a run: a job has thousands at worst.
pub const KEPT_MAX: usize = 20_000;

/// Bytes of a message that are kept: an assertion with its values is a few thousand.
pub const MESSAGE_BYTES_MAX: usize = 8 * 1024;

/// Bytes of a test's name that are kept.
pub const NAME_BYTES_MAX: usize = 4 * 1024;

/// Nodes, tables, parts or rows that are kept of a leaf.
pub const MENTIONS_MAX: usize = 256;

impl TestRun {
    /// A run of which nothing is known yet.
    pub fn new(form: Form) -> Self {
        Self {
            form,
            name: String::new(),
            part: String::new(),
            place: Place::default(),
            incomplete: Vec::new(),
            first: None,
            last: None,
            result: None,
            exit_code: None,
            implied_code: None,
            durations: Vec::new(),
            totals: Vec::new(),
            stated: Vec::new(),
            failing: Vec::new(),
            leaves: Vec::new(),
            known: Vec::new(),
            retries: Retries::default(),
            filtered_out: 0,
            unstable: Vec::new(),
            running: Vec::new(),
            attributes: BTreeMap::new(),
            checks: Vec::new(),
            remarks: Vec::new(),
            faults: Vec::new(),
            unlisted: Vec::new(),
            known_unlisted: 0,
        }
    }

    /// Takes a moment into [`TestRun::first`] and [`TestRun::last`]. Moments of different clocks are not compared: the first
    /// clock that is seen stays.
    pub fn note_moment(&mut self, at: Moment) {
        let same = |it: &Moment| it.clock == at.clock;
        if self
            .first
            .as_ref()
            .is_none_or(|it| same(it) && at.at < it.at)
        {
            self.first = Some(at);
        }
        if self
            .last
            .as_ref()
            .is_none_or(|it| same(it) && at.at > it.at)
        {
            self.last = Some(at);
        }
    }

    /// Adds a test to the totals.
    pub fn count(&mut self, level: &str, outcome: &str) {
        add(&mut self.totals, level, outcome, 1);
    }

    /// Adds tests of one result to the totals.
    pub fn count_many(&mut self, level: &str, outcome: &str, count: u64) {
        add(&mut self.totals, level, outcome, count);
    }

    /// Adds what the source itself sums up.
    pub fn state(&mut self, level: &str, outcome: &str, count: u64) {
        add(&mut self.stated, level, outcome, count);
    }

    /// Keeps a leaf, unless too many are kept; it is counted as the failing test that it is.
    pub fn keep_leaf(&mut self, leaf: Leaf) {
        if self.leaves.len() < KEPT_MAX {
            self.leaves.push(leaf);
        }
    }

    /// Keeps a failing test; where too many are kept, it is counted.
    pub fn keep_failing(&mut self, test: FailingTest) {
        if self.failing.len() < KEPT_MAX {
            self.failing.push(test);
        } else {
            self.count_unlisted(&test.level, 1, u64::from(test.is_leaf));
        }
    }

    /// Counts failing tests that are in no list.
    pub fn count_unlisted(&mut self, level: &str, tests: u64, leaves: u64) {
        let known = self.unlisted.iter().position(|it| it.level == level);
        let at = known.unwrap_or_else(|| {
            self.unlisted.push(Unlisted {
                level: level.to_owned(),
                tests: 0,
                leaves: 0,
            });
            self.unlisted.len() - 1
        });
        self.unlisted[at].tests += tests;
        self.unlisted[at].leaves += leaves;
    }

    /// Failing tests at all levels above steps, listed or not.
    pub fn failing_tests(&self) -> u64 {
        let listed = u64::try_from(self.failing.len()).unwrap_or(u64::MAX);
        listed + self.unlisted.iter().map(|it| it.tests).sum::<u64>()
    }

    /// Those without a failing test below them, listed or not.
    pub fn failing_leaves(&self) -> u64 {
        let listed = self.failing.iter().filter(|test| test.is_leaf).count();
        let listed = u64::try_from(listed).unwrap_or(u64::MAX);
        listed + self.unlisted.iter().map(|it| it.leaves).sum::<u64>()
    }

    /// Keeps a failure that was expected; where too many are kept, it is counted.
    pub fn keep_known(&mut self, known: KnownFail) {
        if self.known.len() < KEPT_MAX {
            self.known.push(known);
        } else {
            self.known_unlisted += 1;
        }
    }

    /// Says something of the source. What is said already is not said again.
    pub fn remark(&mut self, kind: RemarkKind, text: impl Into<String>, place: Place) {
        let text = bounded(&text.into(), MESSAGE_BYTES_MAX);
        let is_new = |it: &Remark| it.kind != kind || it.text != text;
        if self.remarks.len() < MENTIONS_MAX && self.remarks.iter().all(is_new) {
            self.remarks.push(Remark { kind, text, place });
        }
    }

    /// Whether all that the source can say was said and read.
    pub fn is_complete(&self) -> bool {
        let mut remarks = self.remarks.iter();
        self.incomplete.is_empty() && remarks.all(|it| it.kind != RemarkKind::Unreadable)
    }
}

fn add(totals: &mut Vec<Total>, level: &str, outcome: &str, count: u64) {
    let known = totals.iter().position(|it| it.level == level);
    let at = known.unwrap_or_else(|| {
        let new = Total::new(level);
        let key = |it: &Total| (it.rank(), it.level.clone());
        let at = totals.partition_point(|it| key(it) < key(&new));
        totals.insert(at, new);
        at
    });
    totals[at].units += count;
    *totals[at].by.entry(outcome.to_owned()).or_default() += count;
}

/// The text up to a bound, cut between characters.
pub fn bounded(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let mut end = most.saturating_sub('…'.len_utf8());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", &text[..end])
}

/// Where something stands in the unpacked source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Place {
    /// The line, from 1; 0 where the source has no lines.
    pub line: u64,
    /// The byte, from 0.
    pub offset: u64,
}

/// What a moment was read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Clock {
    /// Seconds since 1970 or a stamp with an offset: an instant.
    Utc,
    /// A stamp without a zone: what a clock somewhere showed.
    Local,
}

/// A moment as the source states it. A source without one has `None` in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// Microseconds since 1970 of that clock.
    pub at: Timestamp,
    /// Whose.
    pub clock: Clock,
}

impl Moment {
    /// An instant, by seconds since 1970.
    pub fn from_epoch(seconds: f64) -> Option<Self> {
        let micros = (seconds * 1e6).round();
        // What is beyond the year 9999 is no time of a test.
        let fits = micros.is_finite() && micros.abs() < 253_402_300_800e6;
        #[expect(clippy::cast_possible_truncation, reason = "checked to be in range")]
        fits.then_some(Self {
            at: Timestamp(micros as i64),
            clock: Clock::Utc,
        })
    }
}

/// How long something took.
#[derive(Debug, Clone, PartialEq)]
pub struct Duration {
    /// In seconds.
    pub seconds: f64,
    /// How it was found, such as `from the first message to the last`.
    pub rule: &'static str,
}

/// Counts of one level.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Total {
    /// The level's name: `scenario`, `step`, `test`.
    pub level: String,
    /// Units with a result.
    pub units: u64,
    /// By result, in the source's words.
    pub by: BTreeMap<String, u64>,
}

impl Total {
    /// Nothing counted yet.
    pub fn new(level: &str) -> Self {
        Self {
            level: level.to_owned(),
            ..Self::default()
        }
    }

    /// Where a level stands among others: the outermost first, what is unknown last.
    pub fn rank(&self) -> usize {
        let level = self.level.as_str();
        LEVELS
            .iter()
            .position(|it| *it == level)
            .unwrap_or(LEVELS.len())
    }

    /// Whether it counts tests or what holds them: a try or a step may fail where the test that it is of passes.
    pub fn is_of_tests(&self) -> bool {
        !matches!(self.level.as_str(), "retry" | "paragraph" | "step")
    }

    /// How many have one of these results.
    pub fn of(&self, results: &[&str]) -> u64 {
        results.iter().filter_map(|it| self.by.get(*it)).sum()
    }
}

/// Levels from the outermost in.
const LEVELS: &[&str] = &[
    "book",
    "module",
    "chapter",
    "suite",
    "feature",
    "scenario",
    "test",
    "check",
    "critical",
    "major",
    "minor",
    "recipe",
    "document",
    "page",
    "section",
    "sketch",
    "combination",
    "outline",
    "example",
    "iteration",
    "retry",
    "paragraph",
    "step",
];

/// A failure that was expected.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownFail {
    /// The name as stored.
    pub name: String,
    /// Its result, in the source's word.
    pub outcome: String,
    /// Its level.
    pub level: String,
    /// Why it was expected: often an issue's address.
    pub reason: Option<String>,
    /// The line that says so.
    pub place: Place,
}

/// Tries that were repeated, of tests and of steps in them. What a try gave is in no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Retries {
    /// Tries.
    pub tries: u64,
    /// Those that failed.
    pub failed: u64,
    /// Tries of steps among both; none where the source shows tries of tests alone.
    pub of_steps: Option<(u64, u64)>,
    /// Tests that passed after a try had failed.
    pub passed_after: u64,
}

/// A test with passing and failing repetitions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unstable {
    /// The name as stored.
    pub name: String,
    /// Repetitions that passed.
    pub passed: u64,
    /// Those that failed.
    pub failed: u64,
}

/// A test that began and did not end.
#[derive(Debug, Clone, PartialEq)]
pub struct Running {
    /// The name as stored.
    pub name: String,
    /// Its level.
    pub level: String,
    /// When it began.
    pub began: Option<Moment>,
    /// Whether nothing that runs stands below it.
    pub is_innermost: bool,
    /// The line that begins it.
    pub place: Place,
}

/// A result of the machinery that is no test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// What was checked.
    pub name: String,
    /// The outcome, in the source's word.
    pub outcome: String,
    /// More, bounded.
    pub detail: String,
    /// The line that says so.
    pub place: Place,
}

/// What else is to be said of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// Its kind.
    pub kind: RemarkKind,
    /// In words or quoted, bounded.
    pub text: String,
    /// The line it is about.
    pub place: Place,
}

/// Kinds of remarks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RemarkKind {
    /// Lines or elements that could not be read.
    Unreadable,
    /// Messages are missing or were edited: a chain does not hold.
    Inconsistent,
    /// The source leaves tests out.
    LeavesOut,
    /// How names, times or results were read, where they can be read in several ways.
    Reading,
    /// A figure must not be trusted, and why.
    NotTrusted,
}
