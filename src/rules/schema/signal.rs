//! Signals as a rules file declares them.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use super::{CellDecl, SampleDecl, value};
use crate::signals::{At, Direction};
use crate::vocab::{Level, MarkKind};

/// A signal.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a key of its own in the file"
)]
pub struct SignalDecl {
    /// Its id, in kebab case.
    pub id: Spanned<String>,
    /// What it means, in one sentence.
    pub what: String,
    /// The format of its records; `clickhouse` unless said.
    pub format: Option<Spanned<String>>,
    /// The levels it may be logged at; all unless said.
    #[serde(default, deserialize_with = "value::filled")]
    pub levels: Vec<Level>,
    /// The loggers it comes from, `*` at either end stands for anything.
    #[serde(default, deserialize_with = "value::loggers")]
    pub loggers: Vec<String>,
    /// Instead of one format: those in any of which its records may stand.
    #[serde(default)]
    pub formats: Vec<Spanned<String>>,
    /// Loggers whose records only quote it.
    #[serde(default, deserialize_with = "value::loggers")]
    pub not_loggers: Vec<String>,
    /// The codes its exception may carry.
    #[serde(default, deserialize_with = "value::filled")]
    pub codes: Vec<u32>,
    /// Where a template begins; `anywhere` unless said.
    pub at: Option<At>,
    /// What the message says, one spelling each.
    #[serde(default)]
    pub templates: Vec<Spanned<String>>,
    /// The same in the words of some of the formats only.
    #[serde(default)]
    pub dialects: Vec<DialectDecl>,
    /// Templates may reach beyond the head's line.
    #[serde(default)]
    pub deep: bool,
    /// Texts of the same line that rule it out.
    #[serde(default)]
    pub unless: Vec<String>,
    /// Fields with few values, all counted.
    #[serde(default)]
    pub by: Vec<Spanned<String>>,
    /// Fields with many values, the most frequent shown.
    #[serde(default)]
    pub top: Vec<Spanned<String>>,
    /// Fields of which a record may hold several values: a regular expression, whose group takes each.
    #[serde(default)]
    pub each: BTreeMap<Spanned<String>, Spanned<String>>,
    /// Fields computed from others.
    #[serde(default)]
    pub derived: Vec<DerivedDecl>,
    /// Fields taken from another record of the same thread.
    pub context: Option<ContextDecl>,
    /// Seen often and harmless: it explains its record without a finding.
    #[serde(default)]
    pub benign: bool,
    /// Said even where it did not occur, if it could have been observed: `0` is worth a line.
    #[serde(default)]
    pub always: bool,
    /// Keepers log it, too; other signals of a server's format are the servers' alone.
    #[serde(default)]
    pub keeper: bool,
    /// The kind of mark that its occurrences get on the time axis.
    pub mark: Option<MarkKind>,
    /// Fields that hold positions in a log: they are followed over time.
    #[serde(default)]
    pub positions: Vec<Spanned<String>>,
    /// What to collect where it cannot be observed.
    pub collect: Option<String>,
    /// Lines that are it, with the fields they must give.
    #[serde(default)]
    pub samples: Vec<SampleDecl>,
    /// Lines that are not it.
    #[serde(default)]
    pub not: Vec<Spanned<String>>,
    /// Instead of a format: the system table whose rows it is.
    pub table: Option<Spanned<String>>,
    /// What the cells of a row must be, by column.
    #[serde(default, rename = "where")]
    pub cells: BTreeMap<String, CellDecl>,
    /// What is read from a row: field, and `column` or `column:kind`.
    #[serde(default)]
    pub columns: BTreeMap<String, Spanned<String>>,
}

/// What a signal's message says in the records of some formats.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct DialectDecl {
    /// The formats.
    pub formats: Spanned<Vec<Spanned<String>>>,
    /// One spelling each.
    pub templates: Spanned<Vec<Spanned<String>>>,
}

impl SignalDecl {
    /// Every text that the message may say.
    pub fn wordings(&self) -> impl Iterator<Item = &Spanned<String>> {
        let dialects = self
            .dialects
            .iter()
            .flat_map(|dialect| dialect.templates.get_ref());
        self.templates.iter().chain(dialects)
    }
}

/// A derived field.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct DerivedDecl {
    /// Its name.
    pub field: String,
    /// The field it is computed from.
    pub from: Spanned<String>,
    /// The classes in order: a value, and a regular expression that must be found.
    pub classes: Vec<(String, Spanned<String>)>,
    /// The value when none fits; `other` unless said.
    pub otherwise: Option<String>,
}

/// A context.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ContextDecl {
    /// The other signal.
    pub signal: Spanned<String>,
    /// Before or after.
    pub direction: Direction,
    /// How far away at most, as `10s` or `500ms`.
    pub within: Spanned<String>,
    /// The signals of the records that end what the other one began: nothing is taken across one, nor twice over this one's own.
    #[serde(default)]
    pub ends: Vec<Spanned<String>>,
    /// From the other signal's field to this one's.
    pub take: BTreeMap<Spanned<String>, String>,
}
