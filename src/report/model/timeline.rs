//! What happened when: counts by step of time, marks, and stretches without a record. All of it is bounded.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::vocab::{MarkKind, Tone};

/// Rates over time.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct Timeline {
    /// The start of second 0.
    pub start: Option<String>,
    /// The width of a step: 1 for short logs, wider where steps would be too many. Steps begin at multiples of it.
    pub step_seconds: u64,
    /// One per signal and node.
    pub series: Vec<Series>,
    /// Where positions in logs stood, one per field, signal and node.
    #[serde(default)]
    pub positions: Vec<PositionSeries>,
    /// What is worth seeing side by side.
    #[serde(default)]
    pub strips: Vec<Strip>,
    /// Moments worth a mark, in order.
    pub marks: Vec<Mark>,
    /// Records worth a mark that are not in `marks`: they have no stamp, or there are too many.
    #[serde(default)]
    pub unmarked: u64,
    /// Those of them that have no stamp, with what is known of their time; the first of each signal and node.
    #[serde(default)]
    pub unplaced: Vec<Unplaced>,
    /// The longest stretches of 5 s and more in which a node's main log has no record, in order.
    #[serde(default)]
    pub gaps: Vec<Gap>,
}

/// The rate of one signal on one node.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Series {
    /// The signal.
    pub signal: String,
    /// The run.
    pub run: String,
    /// The reporter.
    pub node: String,
    /// Seconds since the start, and the count of the step; empty steps are left out. Suspect records and those without a
    /// stamp are not in it.
    pub points: Vec<(i64, u64)>,
}

/// Where a position stood on one node.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct PositionSeries {
    /// The signal.
    pub signal: String,
    /// Its field.
    pub field: String,
    /// The run.
    pub run: String,
    /// The reporter.
    pub node: String,
    /// Seconds since the start, and the lowest and the highest position of the step; steps without one are left out.
    /// Suspect records and those without a stamp are not in it.
    pub points: Vec<(i64, u64, u64)>,
}

/// Counts that are shown side by side.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Strip {
    /// What they are.
    pub name: String,
    /// The run.
    pub run: String,
    /// By declaration and node; those that counted nothing are left out.
    pub rows: Vec<StripRow>,
}

/// One count on one node.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct StripRow {
    /// What is counted.
    pub what: String,
    /// The signal of which it counts all or a part.
    pub signal: String,
    /// Whether that is good.
    pub tone: Tone,
    /// The reporter.
    pub node: String,
    /// How many, none of them suspect.
    pub count: u64,
    /// As in [`Series`].
    pub points: Vec<(i64, u64)>,
}

/// A moment.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Mark {
    /// When.
    pub at: String,
    /// The run.
    #[serde(default)]
    pub run: String,
    /// Where.
    pub node: String,
    /// What kind of moment.
    #[serde(default = "start")]
    pub kind: MarkKind,
    /// What.
    pub text: String,
}

/// A record that is worth a mark and has no stamp.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Unplaced {
    /// The run.
    pub run: String,
    /// Where.
    pub node: String,
    /// What kind of moment.
    pub kind: MarkKind,
    /// What.
    pub text: String,
    /// The artifact.
    pub path: String,
    /// Its line, from 1.
    pub line: u64,
    /// The line's text.
    pub said: String,
    /// The stamp of the nearest record before it in its log that has one.
    pub not_before: Option<String>,
    /// The stamp of the nearest one behind it.
    pub not_after: Option<String>,
}

/// A stretch without a record.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Gap {
    /// The run.
    pub run: String,
    /// The node.
    pub node: String,
    /// The record before it.
    pub first: String,
    /// The record after it.
    pub last: String,
}

/// The only kind that earlier reports have.
fn start() -> MarkKind {
    MarkKind::Start
}
