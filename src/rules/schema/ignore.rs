//! What is left out of the findings by request, as read.

use serde::Deserialize;
use toml::Spanned;

/// An entry: findings of a rule, or unexplained records that hold a text, until a day.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct IgnoreDecl {
    /// Its id, in kebab case.
    pub id: Spanned<String>,
    /// Why it may be ignored, in a sentence.
    pub reason: Spanned<String>,
    /// The day from which on it ignores nothing, as `2027-01-31`, by the stamps of the logs.
    pub expires: Spanned<String>,
    /// The rule whose findings are left out.
    pub rule: Option<Spanned<String>>,
    /// Instead of a rule: a text that unexplained records hold.
    pub text: Option<Spanned<String>>,
    /// Only what this node alone reports.
    pub node: Option<String>,
}
