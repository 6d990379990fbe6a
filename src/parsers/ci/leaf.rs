//! Failing tests: what is kept of those at any level, and of leaves, the unit of everything that is grouped.

use super::model::{MENTIONS_MAX, Moment, NAME_BYTES_MAX, Place, bounded};

/// What a result means, whatever its word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// It passed.
    Passed,
    /// What was asserted did not hold.
    Failed,
    /// It could not be carried through.
    Errored,
    /// It ended without a result.
    Null,
    /// It was left out on purpose.
    Skipped,
    /// It failed as expected.
    Known,
    /// A word that says none of these.
    Other,
}

impl Class {
    /// What a word of any source means.
    pub fn of(word: &str) -> Self {
        let lower = word.to_ascii_lowercase();
        match lower.as_str() {
            "ok" | "passed" | "pass" | "success" | "not_failed" | "xok" | "xpassed" => Self::Passed,
            "fail" | "failed" | "failure" => Self::Failed,
            // The runner of functional tests says `UNKNOWN` where it could not judge a test.
            "error" | "errored" | "timeout" | "timed_out" | "server_died" | "aborted" | "abort"
            | "unknown" => Self::Errored,
            "null" => Self::Null,
            "skip" | "skipped" | "ignored" | "disabled" | "notrun" => Self::Skipped,
            "xfail" | "xfailed" | "xerror" | "xnull" | "broken" => Self::Known,
            _ => Self::Other,
        }
    }

    /// Whether it makes a test a failing one.
    pub fn is_failing(self) -> bool {
        matches!(self, Self::Failed | Self::Errored | Self::Null)
    }
}

/// A failing test at any level above steps.
#[derive(Debug, Clone, PartialEq)]
pub struct FailingTest {
    /// The name as stored.
    pub name: String,
    /// Its result, in the source's word.
    pub outcome: String,
    /// Its level.
    pub level: String,
    /// Whether no failing test stands below it.
    pub is_leaf: bool,
    /// How long it took, in seconds.
    pub seconds: Option<f64>,
    /// The line that says so.
    pub place: Place,
}

/// A failing test that has no failing test below it: the unit of everything that is grouped.
#[derive(Debug, Clone, PartialEq)]
pub struct Leaf {
    /// The name as stored: what the tool that ran it takes.
    pub name: String,
    /// The name as people write it, where it differs; else the same.
    pub readable: String,
    /// Its parts from the outermost to its own, as stored.
    pub path: Vec<String>,
    /// The innermost suite, feature, class or file that holds it, as stored.
    pub feature: String,
    /// What tells it from others of the same name, such as a test's id.
    pub id: String,
    /// Its level.
    pub level: String,
    /// Its result, in the source's word.
    pub outcome: String,
    /// What that means.
    pub class: Class,
    /// The class of the exception that ended it.
    pub exception: Option<String>,
    /// The assertion that did not hold, as its source line or lines write it.
    pub assertion: Option<String>,
    /// The message, bounded; the class of the exception is not repeated before it.
    pub message: String,
    /// Where in the tests' own code it failed.
    pub own: Option<Frame>,
    /// What its further failures say, bounded, where one test can have several.
    pub also: Vec<String>,
    /// What a failing test above it says, where it says nothing itself: a parent repeats one of its failing children.
    pub above: Option<Above>,
    /// When it began.
    pub began: Option<Moment>,
    /// When it ended.
    pub ended: Option<Moment>,
    /// How long it took, in seconds.
    pub seconds: Option<f64>,
    /// Tries of it, or of a step of it, that failed and were repeated.
    pub failed_tries: u64,
    /// Seconds that passed from the beginning of the first try to the end of the last.
    pub tries_span: Option<f64>,
    /// What its log names.
    pub mentions: Mentions,
    /// Where its result stands.
    pub place: Place,
}

impl Leaf {
    /// A failing test by its stored name; the parts of a name are what `/` separates.
    pub fn new(name: &str, outcome: &str) -> Self {
        let name = bounded(name, NAME_BYTES_MAX);
        let path: Vec<String> = name
            .split('/')
            .filter(|it| !it.is_empty())
            .map(str::to_owned)
            .collect();
        Self {
            readable: super::names::readable(&name),
            feature: String::new(),
            path,
            id: String::new(),
            level: "test".to_owned(),
            outcome: outcome.to_owned(),
            class: Class::of(outcome),
            exception: None,
            assertion: None,
            message: String::new(),
            own: None,
            also: Vec::new(),
            above: None,
            began: None,
            ended: None,
            seconds: None,
            failed_tries: 0,
            tries_span: None,
            mentions: Mentions::default(),
            place: Place::default(),
            name,
        }
    }
}

/// What a failing test above a leaf says.
#[derive(Debug, Clone, PartialEq)]
pub struct Above {
    /// The name as stored.
    pub name: String,
    /// What it says, bounded.
    pub message: String,
    /// The line of its result.
    pub place: Place,
}

/// A place in code.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Frame {
    /// The file as the source writes it.
    pub file: String,
    /// The line, from 1; 0 where it is not said.
    pub line: u64,
    /// The function; empty where it is not said.
    pub function: String,
}

/// What a leaf's log names of the system under test. Each list is in the order of first mention, without repetition, and
/// has at most [`MENTIONS_MAX`] entries.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Mentions {
    /// Nodes that its commands ran on.
    pub nodes: Vec<String>,
    /// Tables in its statements, without a database.
    pub tables: Vec<String>,
    /// Tables it created, with how they are partitioned.
    pub keys: Vec<PartitionKey>,
    /// Parts by name.
    pub parts: Vec<String>,
    /// Rows that one side of a failed comparison has and the other lacks, as printed.
    pub rows: Vec<String>,
    /// Query ids.
    pub queries: Vec<String>,
}

impl Mentions {
    /// Adds to a list what is not in it, while there is room.
    pub fn note(list: &mut Vec<String>, one: &str) {
        if list.len() < MENTIONS_MAX && !list.iter().any(|it| it == one) {
            list.push(bounded(one, NAME_BYTES_MAX));
        }
    }
}

/// How a table is partitioned, as the statement that creates it writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartitionKey {
    /// The table, without a database.
    pub table: String,
    /// Its columns in order, name and type.
    pub columns: Vec<(String, String)>,
    /// The expression after `PARTITION BY`.
    pub expression: String,
}
