//! How far the clocks of nodes are apart.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How far a node's clock is ahead of another one's, estimated from records that both have of one event.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ClockRow {
    /// The run.
    #[serde(default)]
    pub run: String,
    /// The node.
    pub node: String,
    /// The node that it is compared with.
    pub against: String,
    /// How far it is ahead, in seconds; behind where negative.
    pub ahead_s: f64,
    /// How far that may be off, in seconds.
    pub spread_s: f64,
    /// How many pairs of records it is from.
    pub pairs: u64,
    /// Whether it is an estimate or a bound.
    pub kind: SkewKind,
}

/// What is known of a distance of clocks: the second record of a pair is written later than the first, by an unknown time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SkewKind {
    /// Pairs go both ways: it lies between two bounds.
    Between,
    /// Pairs go one way: it is no more.
    AtMost,
    /// Pairs go one way: it is no less.
    AtLeast,
}
