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
    /// The signals of the records that a fetch begins with: of a part that came, what comes of it is open until its end is told.
    #[serde(default)]
    pub begun: Vec<Spanned<String>>,
    /// The signals of the records that a fetch ends with whose part is put aside: so that all is as before.
    #[serde(default)]
    pub aside: Vec<Spanned<String>>,
    /// The signals of the records after which a part that came is to come again: it was lost.
    #[serde(default)]
    pub lost: Vec<Spanned<String>>,
    /// The signals of the records that name a range of parts that is dropped: what of it did not come is wanted no more.
    #[serde(default)]
    pub dropped: Vec<Spanned<String>>,
    /// The signals of the records that say that some parts are wanted no more, and not which: these name no part.
    #[serde(default)]
    pub cleared: Vec<Spanned<String>>,
    /// The field of all but the last that names the part.
    pub part: Spanned<String>,
}

impl ArrivalDecl {
    /// The signals of all records that tell of the parts.
    pub fn signals(&self) -> impl Iterator<Item = &Spanned<String>> {
        let Self {
            failed,
            came,
            begun,
            aside,
            lost,
            dropped,
            cleared,
            ..
        } = self;
        let lists = [came, begun, aside, lost, dropped, cleared];
        std::iter::once(failed).chain(lists.into_iter().flatten())
    }
}
