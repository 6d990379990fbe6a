//! `report.json`: the machine contract (`casdiag.report/1`), and the one value every output is rendered from.
//!
//! Fields may be added; none changes its meaning. Times are ISO 8601 with microseconds, with an offset only where the
//! zone is known. Maps are ordered by key, lists have a stated order, so the same input gives the same bytes.

mod clock;
mod finding;
pub mod replays;
mod rule;
mod step;
pub mod tests;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use clock::{ClockRow, SkewKind};
pub use finding::{Applies, Finding, FindingWindow, Incident, Known, NotObservable, Runs};
pub use rule::{Reference, RuleRow};
pub use step::{IgnoredRow, StepRow};
pub use tests::Tests;

use super::wal::{ComparisonRow, WalRow};
use crate::vocab::{Level, Severity};

mod timeline;

pub use timeline::{Gap, Mark, PositionSeries, Series, Strip, StripRow, Timeline, Unplaced};

/// The schema's name.
pub const SCHEMA: &str = "casdiag.report/1";

/// A whole report.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// What wrote it.
    pub tool: Tool,
    /// Whether everything recognised was read whole.
    pub complete: bool,
    /// Whether names, addresses, paths, queries and literals are masked.
    #[serde(default)]
    pub redacted: bool,
    /// Records before this local time were left out.
    pub since: Option<String>,
    /// Records from this local time on were left out.
    pub until: Option<String>,
    /// What each node says of its process, by run and node.
    pub environment: Vec<Environment>,
    /// Every artifact found, by path.
    pub inputs: Vec<Input>,
    /// Reporters and the peers they name, by run and id.
    pub nodes: Vec<Node>,
    /// Records counted once each.
    pub records: Records,
    /// First codes of records, by code, family and node.
    pub codes: Vec<CodeRow>,
    /// Codes mentioned further in, by code and node.
    pub codes_nested: Vec<CodeRow>,
    /// Error counters of exported system tables.
    pub counters: Vec<CounterRow>,
    /// How far the clocks of nodes are apart, by run and nodes; no stamp is moved by it.
    #[serde(default)]
    pub clocks: Vec<ClockRow>,
    /// Signals that occurred, by declaration and node; with 0 those that are always said and could have been observed.
    pub signals: Vec<SignalRow>,
    /// The rules that were asked, in the order of declaration.
    #[serde(default)]
    pub rules: Vec<RuleRow>,
    /// From which severity on a finding fails the command; none where nothing fails it.
    #[serde(default = "fails_on")]
    pub fail_on: Option<Severity>,
    /// What was concluded, worst first.
    pub findings: Vec<Finding>,
    /// Findings tied by cause, worst first.
    pub incidents: Vec<Incident>,
    /// The findings in the order in which a diagnosis asks; empty where there is no finding.
    #[serde(default)]
    pub diagnosis: Vec<StepRow>,
    /// Checked WALs, by path.
    pub wal: Vec<WalRow>,
    /// The nodes of each log side by side, as their WALs have it.
    pub wal_nodes: Vec<ComparisonRow>,
    /// Test results.
    pub tests: Tests,
    /// What could not have been seen, of what occurred elsewhere or is always said.
    pub not_observable: Vec<NotObservable>,
    /// What nothing that runs on a node logs, of what is counted elsewhere.
    #[serde(default)]
    pub foreign: Vec<Foreign>,
    /// Counts that must agree.
    pub balances: Vec<Balance>,
    /// What nodes asked for and what of it came, by declaration and node.
    #[serde(default)]
    pub awaited: Vec<AwaitedRow>,
    /// What no finding explains.
    pub coverage: Coverage,
    /// Replays in the reference engine.
    pub replays: Vec<serde_json::Value>,
    /// Rates over time.
    pub timeline: Timeline,
}

/// What fails a command that was not told.
#[expect(
    clippy::unnecessary_wraps,
    reason = "the default of a field that may be nothing"
)]
pub(in crate::report) fn fails_on() -> Option<Severity> {
    Some(Severity::High)
}

/// The program.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Tool {
    /// `casdiag`.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// What a node says of its process.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Environment {
    /// The run.
    pub run: String,
    /// The node.
    pub node: String,
    /// The server's version; several are joined by `, `.
    pub version: Option<String>,
    /// The build: revision, hash or build id as printed.
    pub build: Option<String>,
    /// When the process started, in order.
    pub starts: Vec<String>,
    /// The least level in its main log.
    pub log_level: Option<Level>,
    /// Its clock's zone, if the log or the user names it.
    pub zone: Option<String>,
}

/// One artifact.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Input {
    /// Its path.
    pub path: String,
    /// Its format, `wal-segment`, `wal-listing`, `unknown` or `refused`.
    pub format: String,
    /// What stands around its lines, outermost first; places are those in the file as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wrapper: Option<String>,
    /// The run it belongs to.
    pub run: String,
    /// The node it belongs to.
    pub node: String,
    /// Its size as stored.
    pub bytes: u64,
    /// Its records, raw: before the err.log is matched.
    pub records: u64,
    /// The smallest stamp of a record that is not suspect.
    pub first: Option<String>,
    /// The largest.
    pub last: Option<String>,
    /// The zone of its stamps, if known.
    pub zone: Option<String>,
    /// The table that it exports; its rows are no records, but for those of a text log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<ExportedTable>,
    /// What is wrong with it.
    pub problems: Vec<InputProblem>,
}

/// An exported table.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ExportedTable {
    /// Its name without the database; nothing where nobody knows it.
    pub name: Option<String>,
    /// How it is written, as a query's `FORMAT` has it.
    pub form: String,
    /// Its columns.
    pub columns: Vec<String>,
    /// How many rows were read.
    pub rows: u64,
}

impl Input {
    /// Its format, and what it is wrapped in.
    pub fn kind(&self) -> String {
        match &self.wrapper {
            Some(wrapper) => format!("{} in {wrapper}", self.format),
            None => self.format.clone(),
        }
    }
}

/// A fault of an input.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct InputProblem {
    /// Its kind.
    pub kind: String,
    /// The first line that has it, from 1.
    pub line: Option<u64>,
    /// What, and how often.
    pub detail: String,
}

/// A server.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Node {
    /// The run.
    pub run: String,
    /// Its name.
    pub id: String,
    /// `reporter` if its own records are here, `peer` if only others name it.
    pub role: Role,
    /// Other names for it.
    pub aliases: Vec<String>,
    /// Its records.
    pub records: u64,
}

/// What nothing that runs on a node logs, of what is counted elsewhere: none of it is missing there.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Foreign {
    /// The run.
    pub run: String,
    /// The node.
    pub node: String,
    /// The signals.
    pub signals: Vec<String>,
    /// Whether none of its logs is of a kind whose records have codes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub codes: bool,
}

/// Whose records are here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Its own records are here.
    Reporter,
    /// Only others' records name it.
    Peer,
}

/// Totals.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct Records {
    /// Records, each once.
    pub total: u64,
    /// By folded level.
    pub by_level: BTreeMap<String, u64>,
    /// By reporter; `RUN/NODE` where there are several runs.
    pub by_node: BTreeMap<String, u64>,
    /// Lines that continue a record.
    pub continuation_lines: u64,
    /// Lines that belong to no record.
    pub unparsed_lines: u64,
    /// Records that may be forged.
    pub suspect: u64,
}

/// A code on a node.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct CodeRow {
    /// The code.
    pub code: u32,
    /// Its name, if known.
    pub name: Option<String>,
    /// The family by message text, where the code is split.
    pub family: Option<String>,
    /// The run.
    pub run: String,
    /// The reporter.
    pub node: String,
    /// Records.
    pub count: u64,
    /// The smallest stamp.
    pub first: Option<String>,
    /// The largest.
    pub last: Option<String>,
}

/// A counter of an exported table.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct CounterRow {
    /// The run.
    #[serde(default)]
    pub run: String,
    /// The node.
    pub node: String,
    /// The table.
    pub table: String,
    /// The counter's name.
    pub name: String,
    /// The error code.
    pub code: Option<u32>,
    /// Whether it counts what other servers reported.
    #[serde(default)]
    pub remote: bool,
    /// Its value; of several exports the largest.
    pub value: i128,
    /// How many records of the node's logs have the code; nothing where none of its logs is here.
    #[serde(default)]
    pub records: Option<u64>,
    /// When it moved last.
    pub last: Option<String>,
}

/// A signal on a node.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct SignalRow {
    /// The signal.
    pub signal: String,
    /// What it means.
    pub what: String,
    /// The run.
    pub run: String,
    /// The reporter.
    pub node: String,
    /// Occurrences.
    pub count: u64,
    /// How many of them may be forged.
    pub suspect: u64,
    /// The smallest stamp.
    pub first: Option<String>,
    /// The largest.
    pub last: Option<String>,
    /// The busiest minute.
    pub peak: Option<Peak>,
    /// What each counted field holds: the kind of its hole, or `class` for one that is computed.
    #[serde(default)]
    pub holds: BTreeMap<String, String>,
    /// Counts by value of the fields that have few values.
    pub by: BTreeMap<String, BTreeMap<String, u64>>,
    /// The most frequent values of the fields that have many.
    pub top: BTreeMap<String, Vec<(String, u64)>>,
    /// How many different values such a field has.
    pub distinct: BTreeMap<String, u64>,
    /// Occurrences whose value was not counted apart because of `--max-subjects`.
    pub beyond_cap: BTreeMap<String, u64>,
    /// The first few records.
    pub evidence: Vec<Evidence>,
}

/// The busiest minute of a signal.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Peak {
    /// Occurrences in it.
    pub per_minute: u64,
    /// Its start.
    pub at: String,
}

/// A cited record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    /// The artifact.
    pub path: String,
    /// The line of the head, from 1; 0 in a WAL's segment, which has no lines.
    pub line: u64,
    /// The byte of the head in the unpacked artifact, or of what is wrong in a segment.
    pub offset: u64,
    /// The head's line, or what is wrong.
    pub text: String,
    /// The lines before it, where they were at hand: in findings only, each cut where it is long.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<String>,
    /// The lines after it, likewise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
}

/// Two counts that must agree.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Balance {
    /// What is balanced.
    pub name: String,
    /// The run.
    pub run: String,
    /// One side.
    pub left: BalanceSide,
    /// The other side's parts.
    pub right: Vec<BalanceSide>,
    /// Left less right.
    pub remainder: i64,
    /// What could explain a remainder.
    pub could_be: Vec<String>,
}

/// One side of a balance.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct BalanceSide {
    /// What is counted.
    pub what: String,
    /// How many.
    pub count: u64,
}

/// What a node asked for and what of it came, as far as its logs go.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct AwaitedRow {
    /// What it is.
    pub name: String,
    /// The run.
    pub run: String,
    /// The node.
    pub node: String,
    /// The signal of the records that ask for it.
    pub signal: String,
    /// How many tables it is of.
    pub tables: u64,
    /// How many different things were asked for, equal names of two tables counted twice.
    pub things: u64,
    /// How many of them nothing brought after the last record that asked.
    pub open: u64,
    /// How many of them were brought at all.
    #[serde(default)]
    pub came: u64,
    /// How often those were brought, all together: more often than they are if names come again.
    #[serde(default)]
    pub brought: u64,
    /// How many different beginnings their names have, up to the first `_`, equal ones of two tables counted twice: of
    /// parts, the partitions.
    #[serde(default)]
    pub families: u64,
    /// Records that asked for one that was not counted because of `--max-subjects`.
    pub beyond_cap: u64,
}

/// What findings explain, and what they do not.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct Coverage {
    /// Error and Fatal records.
    pub error_records: u64,
    /// Those whose signals are a finding's, or benign.
    pub explained: u64,
    /// The others by template, most frequent first.
    pub unexplained: Vec<Unexplained>,
    /// Messages that may have changed.
    pub near_misses: Vec<NearMiss>,
    /// Ignored by request.
    pub ignored: Vec<IgnoredRow>,
}

/// A template of unexplained records.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Unexplained {
    /// The message with what varies replaced.
    pub template: String,
    /// Their level.
    pub level: Level,
    /// How many.
    pub count: u64,
    /// The first of them.
    pub example: Option<Evidence>,
}

/// Records that hold a signal's literal and do not fit it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct NearMiss {
    /// The signal.
    pub signal: String,
    /// How many.
    pub count: u64,
    /// The first of them.
    pub example: Option<Evidence>,
}
