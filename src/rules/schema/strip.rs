//! Strips as they are written.

use serde::Deserialize;
use toml::Spanned;

use super::CountDecl;
use crate::vocab::Tone;

/// Counts to show side by side over time.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct StripDecl {
    /// What is shown.
    pub name: Spanned<String>,
    /// One row per count and node.
    pub rows: Vec<StripRowDecl>,
}

/// A row of a strip.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct StripRowDecl {
    /// What is counted, in words.
    pub what: String,
    /// Whether that is good.
    #[serde(default)]
    pub tone: Tone,
    /// The count.
    pub count: CountDecl,
}
