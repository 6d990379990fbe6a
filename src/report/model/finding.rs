//! Findings and incidents as `report.json` has them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Evidence;
use crate::vocab::{Confidence, Healing, Severity};

/// A conclusion.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// `F1`, `F2`, ... in this order.
    pub id: String,
    /// The rule that fired.
    pub rule: String,
    /// How bad.
    pub severity: Severity,
    /// How sure.
    pub confidence: Confidence,
    /// What kind of fault.
    pub category: String,
    /// Where a fix goes, if the rule says.
    #[serde(default)]
    pub fix_goes_in: Option<String>,
    /// One sentence with the numbers.
    pub title: String,
    /// The run.
    pub run: String,
    /// Everyone involved.
    pub nodes: Vec<String>,
    /// Whose records say so.
    pub reported_by: Vec<String>,
    /// Whom they name.
    pub accused: Vec<String>,
    /// From the first to the last occurrence.
    pub window: FindingWindow,
    /// The rule's named counts, summed over nodes.
    pub counts: BTreeMap<String, u64>,
    /// The same by node.
    pub counts_by_node: BTreeMap<String, BTreeMap<String, u64>>,
    /// Shares that the rule computes from its counts.
    pub shares: BTreeMap<String, f64>,
    /// Whether the parts that failed to come at first came in the end, if its rule asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub healing: Option<Healing>,
    /// What it is about: parts, tables, positions.
    pub subjects: BTreeMap<String, serde_json::Value>,
    /// The records that show it.
    pub evidence: Vec<Evidence>,
    /// How it comes about.
    pub mechanism: String,
    /// What the evidence does not rule out.
    pub not_excluded: Vec<String>,
    /// What this is not, though it looks like it.
    pub not_this: Vec<String>,
    /// What could not have been seen here, and what to collect.
    pub not_observable: Vec<NotObservable>,
    /// The signals it counts.
    pub signals: Vec<String>,
    /// Those of them whose records show it; a start beside it, or what went well, does not.
    #[serde(default)]
    pub shown_by: Vec<String>,
    /// Issues that know it.
    pub known: Vec<Known>,
    /// What to do next.
    pub next_steps: Vec<String>,
    /// The findings that explain it.
    pub caused_by: Vec<String>,
    /// In how many runs it was found.
    pub runs: Runs,
    /// How to run it again in the reference engine.
    pub replay: Option<serde_json::Value>,
}

/// From when to when.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct FindingWindow {
    /// The first stamp.
    pub first: Option<String>,
    /// The last stamp.
    pub last: Option<String>,
    /// Whether these are the times at which counters last grew: since when they counted is not known.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub of_counters: bool,
}

/// k of n runs.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
pub struct Runs {
    /// Runs in which the rule fired.
    pub k: u64,
    /// All runs.
    pub n: u64,
}

/// What could not have been seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NotObservable {
    /// The signal.
    pub signal: String,
    /// The run.
    pub run: String,
    /// The node.
    pub node: String,
    /// Why not.
    pub why: String,
    /// What to collect to see it.
    pub collect: String,
}

/// An issue that knows the finding.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Known {
    /// The issue.
    #[serde(rename = "ref")]
    pub reference: String,
    /// The first version without the fault.
    pub fixed_in: Option<String>,
    /// Whether the versions here have the fault.
    pub applies: Applies,
}

/// Whether a known issue applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Applies {
    /// A version here is older than the fix.
    Yes,
    /// All versions here have the fix.
    No,
    /// The versions do not say.
    Unknown,
}

/// Findings tied by cause.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Incident {
    /// `I1`, `I2`, ...
    pub id: String,
    /// The finding the others follow from.
    pub root: String,
    /// All of them, root first.
    pub findings: Vec<String>,
    /// A sentence for the chain.
    pub summary: String,
}
