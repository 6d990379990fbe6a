//! What an analysis hands to the reports: inputs, tallies of every node, and what the rules concluded.

use crate::layout::{Comparison, Wal};
use crate::outcome::Tests;
use crate::rules::{Conclusions, NodeFacts};
use crate::scan::{GrepCounts, ProblemKind};
use crate::time::{Period, Timestamp};

/// What the format of an input that is a WAL's segment is called.
pub const SEGMENT: &str = "wal-segment";

/// What the format of an input is called that lists the folder of a WAL.
pub const LISTING: &str = "wal-listing";

/// What the format of an input that is a table is called which nobody knows.
pub const TABLE: &str = "table";

/// A finished analysis.
#[derive(Debug)]
pub struct Analysis {
    /// Every artifact found, by relative path.
    pub inputs: Vec<InputFacts>,
    /// What is listed and was not read.
    pub refused: Vec<RefusedFacts>,
    /// The time asked for.
    pub period: Period,
    /// One per node and run, by run and node.
    pub nodes: Vec<NodeFacts>,
    /// What the rules say.
    pub conclusions: Conclusions,
    /// The WALs found beside the logs, by path.
    pub wals: Vec<Wal>,
    /// The nodes of each log side by side, as their WALs have it.
    pub comparisons: Vec<Comparison>,
    /// What became of tests.
    pub tests: Tests,
}

/// Something that was found and not read.
#[derive(Debug)]
pub struct RefusedFacts {
    /// Its path as the user would write it.
    pub path: String,
    /// Why.
    pub why: String,
    /// Whether it could be a log.
    pub partial: bool,
}

/// What was read of one artifact.
#[derive(Debug, Clone, Default)]
pub struct InputFacts {
    /// Its path as the user would write it.
    pub path: String,
    /// Its format's name; `None` for an unknown kind.
    pub format: Option<&'static str>,
    /// What stands around its lines, outermost first.
    pub wrapper: Option<String>,
    /// Whether its records are log records.
    pub counts_records: bool,
    /// Whether it holds results of tests, which no time asked for leaves out.
    pub holds_tests: bool,
    /// Whether it is of a form of results, and says of no test, no step and no machine how it went: stamps alone make a text the
    /// log of a job.
    pub is_mute: bool,
    /// The run.
    pub run: String,
    /// The node.
    pub node: String,
    /// The size as stored.
    pub bytes: u64,
    /// Raw records.
    pub records: u64,
    /// Lines.
    pub lines: u64,
    /// The table that it exports.
    pub table: Option<TableFacts>,
    /// Smallest and largest stamp of records that are not suspect.
    pub span: Option<(Timestamp, Timestamp)>,
    /// What stands in its records of what a plain search for a listed signal's text finds.
    pub grep: GrepCounts,
    /// How many lines of the file that search finds, read as records or not.
    pub found: u64,
    /// What is wrong with it.
    pub problems: Vec<InputFault>,
}

/// An exported table.
#[derive(Debug, Clone, Default)]
pub struct TableFacts {
    /// Its name without the database; nothing where nobody knows it.
    pub name: Option<&'static str>,
    /// How it is written, as a query's `FORMAT` has it.
    pub form: &'static str,
    /// Its columns.
    pub columns: Vec<String>,
    /// How many rows were read.
    pub rows: u64,
}

/// A fault of an artifact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputFault {
    /// Its kind.
    pub kind: ProblemKind,
    /// The first line that has it, from 1.
    pub line: Option<u64>,
    /// How many lines or records have it.
    pub count: u64,
    /// More, where the kind does not say it all.
    pub detail: String,
}

impl InputFault {
    /// A fault that is of no line, in words.
    pub fn of(kind: ProblemKind, detail: String) -> Self {
        Self {
            kind,
            line: None,
            count: 1,
            detail,
        }
    }
}

impl Analysis {
    /// Whether everything recognised was read whole.
    pub fn is_complete(&self) -> bool {
        let read = self.inputs.iter().flat_map(|input| &input.problems);
        self.refused.iter().all(|refused| !refused.partial)
            && self.wals.iter().all(|wal| wal.unread.is_empty())
            && read.into_iter().all(|problem| !problem.kind.is_partial())
    }

    /// Whether any input is of a node of that name.
    pub fn has_node(&self, name: &str) -> bool {
        self.inputs.iter().any(|input| input.node == name)
            || self.nodes.iter().any(|facts| facts.tally.node == name)
    }

    /// Whether any input lies in a folder whose path fits, from wherever that path begins.
    pub fn has_folder(&self, fits: impl Fn(&str) -> bool) -> bool {
        self.inputs.iter().any(|input| {
            let mut folders: Vec<&str> = input.path.split('/').collect();
            folders.pop();
            let mut parts = (0..folders.len())
                .flat_map(|from| (from + 1..=folders.len()).map(move |to| from..to));
            parts.any(|part| fits(&folders[part].join("/")))
        })
    }

    /// Whether logs were recognised and the time asked for leaves out all their records.
    pub fn is_cut_away(&self) -> bool {
        // A WAL has no time that could be left out.
        let is_log = |input: &InputFacts| {
            let mut others = [SEGMENT, LISTING, TABLE].into_iter();
            !input.holds_tests
                && input
                    .format
                    .is_some_and(|it| others.all(|other| it != other))
        };
        self.period.is_bounded()
            && self.inputs.iter().any(is_log)
            && self.inputs.iter().all(|input| {
                let rows = input.table.as_ref().map_or(0, |table| table.rows);
                input.records == 0 && rows == 0
            })
    }

    /// Whether any artifact was recognised that says anything.
    pub fn is_recognised(&self) -> bool {
        let speaking = self.inputs.iter().filter(|input| !input.is_mute);
        let mut formats = speaking.filter_map(|input| input.format);
        formats.any(|format| format != TABLE)
    }
}
