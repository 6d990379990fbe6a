//! Samples of signals and rules, as read.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use crate::layout::{ProblemKind, Severity as Harm};
use crate::vocab::Severity;

/// A positive sample of a signal.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SampleDecl {
    /// The line, or lines.
    pub line: Spanned<String>,
    /// Fields and their values.
    #[serde(default)]
    pub fields: BTreeMap<String, String>,
}

/// A sample of a rule.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RuleSampleDecl {
    /// What it shows.
    pub name: Spanned<String>,
    /// The severity of the finding it must give; none: the rule is silent.
    pub fires: Option<Severity>,
    /// Log files by path.
    #[serde(default)]
    pub files: BTreeMap<String, SampleFile>,
    /// Problems of the nodes' WALs.
    #[serde(default)]
    pub wal: Vec<WalSampleDecl>,
    /// The rules whose findings must explain this one; none must, unless said.
    pub follows_from: Option<Vec<Spanned<String>>>,
}

/// A file of a sample.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SampleFile {
    /// Lines.
    pub text: String,
    /// How often the text stands there.
    #[serde(default = "once")]
    pub repeat: u32,
    /// By how much each repetition's stamps are later, in milliseconds.
    #[serde(default)]
    pub step_ms: u32,
}

fn once() -> u32 {
    1
}

/// A problem of a node's WAL, as a check would find it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct WalSampleDecl {
    /// Whose WAL.
    pub node: String,
    /// Its layout.
    #[serde(default = "reference")]
    pub layout: String,
    /// The kind.
    pub problem: ProblemKind,
    /// Whether a crash explains it.
    #[serde(default = "damage")]
    pub severity: Harm,
    /// The segment.
    pub segment: String,
    /// The first position it is about.
    pub first: Option<u64>,
    /// The last one; the first unless said.
    pub last: Option<Spanned<u64>>,
    /// The segment that should hold them.
    pub belongs_in: Option<String>,
    /// Whether only a listing of the folder shows it.
    #[serde(default)]
    pub listed: bool,
}

fn reference() -> String {
    "reference".to_owned()
}

fn damage() -> Harm {
    Harm::Damage
}
