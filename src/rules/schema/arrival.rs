//! Parts that did not come at first, as a rule declares them.

use serde::Deserialize;
use toml::Spanned;

/// Parts of which a record says that they did not come, and that later ones may bring.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ArrivalDecl {
    /// The signal of the records that say so.
    pub failed: Spanned<String>,
    /// The signals of the records that bring a part, or one that covers it.
    pub came: Vec<Spanned<String>>,
    /// The signals of the records after which a part that came is to come again: it was lost, or is fetched anew.
    #[serde(default)]
    pub lost: Vec<Spanned<String>>,
    /// The field of all of them that names the part.
    pub part: Spanned<String>,
}
