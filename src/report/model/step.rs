//! The steps of a diagnosis with what answers them, as `report.json` has them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Known;

/// A question that a diagnosis asks, in the order in which it asks.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct StepRow {
    /// Its id.
    pub step: String,
    /// The question.
    pub asks: String,
    /// The findings that answer it, in their order; nothing where no rule of the step fired.
    pub findings: Vec<String>,
    /// For the step that asks for them: the issues that know any finding.
    pub known: Vec<Known>,
}

/// What an entry of the rule base left out.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct IgnoredRow {
    /// The entry.
    pub id: String,
    /// The rule that it names; none where it names a text of records.
    #[serde(default)]
    pub rule: Option<String>,
    /// Findings, or unexplained records, that it left out.
    pub count: u64,
    /// The day from which on it ignores nothing, by the stamps of the logs.
    pub expires: String,
    /// What it would have left out, had it not expired.
    #[serde(default)]
    pub expired: u64,
    /// Why.
    #[serde(default)]
    pub because: String,
    /// Titles of findings, or templates of records, that it left out.
    #[serde(default)]
    pub titles: Vec<String>,
}
