//! Pairs of records by which the clocks of nodes are compared, as read.

use serde::Deserialize;
use toml::Spanned;

/// Two records that two nodes write about one event, one before the other.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ClockDecl {
    /// The two, in words.
    pub what: Spanned<String>,
    /// The signal of the record that is written first.
    pub first: Spanned<String>,
    /// The signal of the one that is written then.
    pub then: Spanned<String>,
    /// Fields that both have and that tell the event.
    pub key: Spanned<Vec<Spanned<String>>>,
    /// A field that one of the two has: the other node's name.
    pub peer: Spanned<String>,
}
