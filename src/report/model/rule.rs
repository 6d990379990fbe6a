//! The rules that were asked, as `report.json` has them: an output made later needs no rule base.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::vocab::Severity;

/// A rule that was evaluated over the inputs.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct RuleRow {
    /// Its id.
    pub id: String,
    /// What it finds, in a few words.
    pub title: String,
    /// What kind of fault.
    pub category: String,
    /// Where a fix goes, if it says.
    #[serde(default)]
    pub fix_goes_in: Option<String>,
    /// The worst of its verdicts.
    pub severity: Severity,
    /// How it comes about.
    pub mechanism: String,
    /// What it is not, though it looks like it.
    pub not_this: Vec<String>,
    /// What to do next.
    pub next_steps: Vec<String>,
    /// The signals it counts.
    pub signals: Vec<String>,
    /// Issues that know it.
    pub known: Vec<Reference>,
}

/// An issue.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Reference {
    /// The issue.
    #[serde(rename = "ref")]
    pub reference: String,
    /// The first version without the fault.
    pub fixed_in: Option<String>,
}
