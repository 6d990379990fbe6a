//! The steps of a diagnosis, as read.

use serde::Deserialize;
use toml::Spanned;

/// A question that a diagnosis asks; the steps are asked in the order of declaration.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct StepDecl {
    /// Its id, in kebab case.
    pub id: Spanned<String>,
    /// The question.
    pub asks: String,
    /// What answers it are the known issues of all findings, and the versions that have them.
    #[serde(default)]
    pub known: bool,
}
