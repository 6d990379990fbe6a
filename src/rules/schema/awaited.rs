//! What is asked for and may not come, and what a run in the engine reads, as declared.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

/// Things that a record asks for, and that a later one brings.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct AwaitedDecl {
    /// What they are, in a few words.
    pub name: Spanned<String>,
    /// The signal of the records that ask for one.
    pub opens: Spanned<String>,
    /// The signals of the records that bring one.
    pub closes: Vec<Spanned<String>>,
    /// The field of all of them that names it; the table that their loggers name tells equal names apart.
    pub field: Spanned<String>,
}

/// Something that a run in the engine reads from the report: the occurrences of a signal.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ReadDecl {
    /// The signal.
    pub signal: Spanned<String>,
    /// A field that its `by` counts, and its value; all occurrences without.
    #[serde(default, rename = "where")]
    pub filters: BTreeMap<Spanned<String>, String>,
}
