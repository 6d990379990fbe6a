//! Balances, as read.

use serde::Deserialize;
use toml::Spanned;

use super::CountDecl;

/// A balance.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct BalanceDecl {
    /// What is balanced.
    pub name: Spanned<String>,
    /// One side.
    pub left: SideDecl,
    /// The other side's parts.
    pub right: Vec<SideDecl>,
    /// What could explain a remainder.
    #[serde(default)]
    pub could_be: Vec<String>,
}

/// One side of a balance.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SideDecl {
    /// What is counted, in words.
    pub what: String,
    /// The count.
    pub count: CountDecl,
}
