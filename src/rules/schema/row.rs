//! What a signal asks of a table's row, as read.

use serde::Deserialize;

use super::OneOrMany;

/// What a cell must be: a value, one of several, or within bounds.
#[derive(Debug, Clone)]
pub enum CellDecl {
    /// This value, or one of these.
    Is(OneOrMany),
    /// Bounds.
    Bounds(CellBounds),
}

/// Bounds of a cell; all that are given must hold.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct CellBounds {
    /// A number of at least this.
    pub at_least: Option<f64>,
    /// A number of at most this.
    pub at_most: Option<f64>,
    /// None of these; `""` is what is empty, `NULL` or missing.
    pub not: Option<OneOrMany>,
    /// A text that holds one of these.
    pub contains: Option<OneOrMany>,
}
