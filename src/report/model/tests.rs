//! Test results in the report.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Evidence;

/// Test results.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct Tests {
    /// Whether results of tests were asked for, as `casdiag ci` does; then nothing is judged where there are none.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub wanted: bool,
    /// What each source says of a run of tests, in the order of runs; the source that speaks for a run comes first.
    pub runs: Vec<TestRun>,
    /// Failing leaves that are one failure, the largest first.
    pub groups: Vec<TestGroup>,
    /// Where sources of one run say different things.
    #[serde(default)]
    pub disagreements: Vec<TestDisagreement>,
    /// What sources beside the tests tell.
    #[serde(default)]
    pub events: Vec<TestEvent>,
    /// How the clocks of nodes were compared with those of tests.
    #[serde(default)]
    pub clocks: Vec<TestClock>,
    /// The finding that most failing leaves go back to.
    #[serde(default)]
    pub primary: Option<String>,
}

/// What one source says of one run of tests.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct TestRun {
    /// The run: rows with the same id tell of one run.
    pub run: String,
    /// Whether this row speaks for the run: it tells most.
    pub speaks: bool,
    /// The path of the source.
    pub source: String,
    /// The source's form.
    pub form: String,
    /// The root test, suite or job, as people write it.
    pub name: String,
    /// What tells it from other runs of the source, such as job and step.
    pub part: String,
    /// Whether the run is told to its end.
    pub complete: bool,
    /// Why not.
    pub incomplete: Vec<String>,
    /// The result of the whole, in the source's word.
    pub result: Option<String>,
    /// The exit code of the process that ran the tests.
    pub exit_code: Option<i64>,
    /// How long it took, in seconds.
    pub duration_s: Option<f64>,
    /// By each rule that the source allows; the first is `duration_s`.
    pub durations: Vec<TestDuration>,
    /// The earliest moment; with an offset where it is an instant.
    pub first: Option<String>,
    /// The latest.
    pub last: Option<String>,
    /// Tests with a result by level and result, results in lower case: counted from the source, else as it states them.
    pub totals: BTreeMap<String, BTreeMap<String, u64>>,
    /// The levels of `totals` from the outermost in.
    pub levels: Vec<String>,
    /// Whether the totals are the source's own sums and could not be counted from it.
    pub totals_are_stated: bool,
    /// Failing tests above steps, parents included.
    pub failing_tests: u64,
    /// Those without a failing test below them.
    pub failing_leaves: u64,
    /// Both by level.
    pub failing_by_level: Vec<FailingLevel>,
    /// Failures that were expected.
    pub known: Vec<KnownFail>,
    /// Tries that were repeated, which are in no list of failures.
    pub retries: Retries,
    /// Tests that were not chosen to run, which are in no total.
    pub filtered_out: u64,
    /// Tests with passing and failing repetitions.
    pub unstable: Vec<Unstable>,
    /// Tests that began and did not end.
    pub running: Vec<RunningTest>,
    /// What identifies the run.
    pub attributes: BTreeMap<String, String>,
    /// Results that are checks of the machinery and no tests.
    pub checks: Vec<TestCheck>,
    /// What else is to be said of the source.
    pub remarks: Vec<TestRemark>,
    /// What says that the run failed, although no listed test would explain it: its result, an exit code, sums, checks. On the
    /// row that speaks for the run, from all its sources.
    #[serde(default)]
    pub faults: Vec<TestSaying>,
    /// Failing tests that are counted and in no list, because there are too many or the source does not name them.
    pub left_out: u64,
    /// Failing leaves among them, which are in no group.
    #[serde(default)]
    pub leaves_left_out: u64,
    /// Failures that were expected and are in no list.
    #[serde(default)]
    pub known_left_out: u64,
}

/// A duration and how it was found.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct TestDuration {
    /// In seconds.
    pub seconds: f64,
    /// How it was found.
    pub rule: String,
}

/// Failing tests and leaves of one level.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailingLevel {
    /// The level.
    pub level: String,
    /// Failing tests.
    pub tests: u64,
    /// Those that are leaves.
    pub leaves: u64,
}

/// A failure that was expected.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct KnownFail {
    /// The test, as people write it.
    pub test: String,
    /// Its result.
    pub result: String,
    /// Its level.
    pub level: String,
    /// Why it was expected.
    pub reason: Option<String>,
    /// The line that says so.
    pub line: u64,
}

/// Tries that were repeated, of tests and of steps in them.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct Retries {
    /// Tries.
    pub tries: u64,
    /// Those that failed.
    pub failed: u64,
    /// Tries of steps among them; none where the source shows tries of tests alone.
    #[serde(default)]
    pub step_tries: Option<u64>,
    /// Those that failed.
    #[serde(default)]
    pub step_failed: Option<u64>,
    /// Tests that passed after a try had failed.
    pub passed_after: u64,
}

/// A test with passing and failing repetitions.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Unstable {
    /// The test, as people write it.
    pub test: String,
    /// Repetitions that passed.
    pub passed: u64,
    /// Those that failed.
    pub failed: u64,
}

/// A test that began and did not end.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct RunningTest {
    /// The test, as people write it.
    pub test: String,
    /// Its level.
    pub level: String,
    /// When it began.
    pub since: Option<String>,
    /// Whether nothing that runs stands below it.
    pub innermost: bool,
    /// The line that begins it.
    pub line: u64,
}

/// A check of the machinery.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct TestCheck {
    /// What was checked.
    pub name: String,
    /// The outcome.
    pub result: String,
    /// More.
    pub detail: String,
}

/// A remark on a source.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct TestRemark {
    /// `unreadable`, `inconsistent`, `leaves-out`, `not-trusted`, or `reading`: how it was read where it can be read in several
    /// ways.
    #[serde(default)]
    pub kind: String,
    /// In words.
    pub text: String,
    /// The line it is about; 0 for the whole.
    pub line: u64,
}

/// Failing leaves that are one failure.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct TestGroup {
    /// `G1`, `G2`, ...
    pub id: String,
    /// What they have in common, on one line.
    pub signature: String,
    /// The result, in the source's word.
    pub result: String,
    /// The class of the exception.
    pub exception: Option<String>,
    /// The assertion, or the message with what differs from run to run replaced.
    pub text: String,
    /// The file of the tests' own code.
    pub file: Option<String>,
    /// Its line; 0 where it is not said.
    pub line: u64,
    /// The function.
    pub function: Option<String>,
    /// `cause`, `collateral`, `infrastructure`, `separate` or `unknown`.
    pub role: String,
    /// The finding that explains it.
    pub cause: Option<String>,
    /// Why, in words.
    pub why: String,
    /// The first leaf to end, as people write it.
    pub representative: String,
    /// All of them, in the order in which they ended.
    pub leaves: Vec<TestLeaf>,
    /// How many lie in each feature.
    pub by_feature: BTreeMap<String, u64>,
    /// The same by the first test below the feature.
    pub by_area: BTreeMap<String, u64>,
    /// The fewest and most failed tries of a leaf.
    pub failed_tries: (u64, u64),
    /// The longest time from the first try to the last, in seconds.
    pub tries_span_s: Option<f64>,
    /// How it was tied to findings, the strongest first.
    pub ties: Vec<TestTie>,
    /// What a failing test above says, where the leaves say nothing themselves. A parent repeats one of its failing children, so
    /// it is said of one of the leaves, and which is not known.
    #[serde(default)]
    pub above: Option<TestAbove>,
}

/// What a failing test above leaves says.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct TestAbove {
    /// The test, as people write it.
    pub test: String,
    /// The source.
    pub path: String,
    /// The line of its result.
    pub line: u64,
    /// What it says.
    pub message: String,
}

/// A failing test without a failing test below it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct TestLeaf {
    /// The run of tests.
    pub run: String,
    /// The test, as people write it.
    pub test: String,
    /// The name as stored, which the tool that runs the tests takes.
    pub stored: String,
    /// Its level.
    pub level: String,
    /// The feature that it lies in, as people write it.
    pub feature: String,
    /// The source.
    pub path: String,
    /// The line of its result.
    pub source_line: u64,
    /// When it began; with an offset where it is an instant.
    pub began: Option<String>,
    /// When it ended.
    pub ended: Option<String>,
    /// How long it took, in seconds.
    pub seconds: Option<f64>,
    /// Tries of it that failed and were repeated.
    pub failed_tries: u64,
    /// What it says.
    pub message: String,
    /// What its further failures say, where it has several.
    #[serde(default)]
    pub also: Vec<String>,
}

/// Leaves tied to a finding.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct TestTie {
    /// The finding.
    pub finding: String,
    /// Through what: `parts`, `record`, `death`, `table` or `code`.
    pub how: String,
    /// How many leaves.
    pub leaves: u64,
    /// Parts in whose partitions rows are missing, with how often the finding's records name them for the leaves' tables while
    /// the leaves ran; most often first.
    pub parts: Vec<(String, u64)>,
    /// The most records of the finding that name the tables of one leaf while it ran.
    pub records: u64,
    /// The error code that both carry.
    pub code: Option<u32>,
    /// Whether the leaves' error also has the text of the finding's records, or is of the same family of the code; otherwise the
    /// number is all they share.
    #[serde(default)]
    pub same_text: bool,
    /// Whether it is known that records and leaves met in time; otherwise when the leaves ran is not observable.
    #[serde(default)]
    pub timed: bool,
    /// A record that shows it.
    pub evidence: Option<Evidence>,
}

/// Two sources of one run that say different things.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct TestDisagreement {
    /// The run.
    pub run: String,
    /// What about.
    pub what: String,
    /// The source that speaks for the run.
    pub left: TestSaying,
    /// The other.
    pub right: TestSaying,
}

/// What a source says.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct TestSaying {
    /// The source.
    pub path: String,
    /// What it says.
    pub says: String,
}

/// Something that a source beside the tests tells.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct TestEvent {
    /// Its kind, such as `server-died`.
    pub kind: String,
    /// The source.
    pub path: String,
    /// The line.
    pub line: u64,
    /// When.
    pub at: Option<String>,
    /// The node, container, process or step; empty where it is not said.
    pub subject: String,
    /// What the source says.
    pub text: String,
}

/// How a node's clock was compared with those of tests.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct TestClock {
    /// The run of the node.
    pub run: String,
    /// The node.
    pub node: String,
    /// How.
    pub how: String,
}
