//! Formats that a rules file declares, as read.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use crate::vocab::Level;

/// A format of text logs.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct FormatDecl {
    /// Its name, in kebab case.
    pub name: Spanned<String>,
    /// A regular expression that fits the head of a record, from the line's first byte to the message.
    pub pattern: Spanned<String>,
    /// Texts of which the head's line must hold one.
    #[serde(default)]
    pub holds: Vec<String>,
    /// The pattern of the stamp that the group `time` holds.
    pub time: Option<Spanned<String>>,
    /// Words that the group `level` may hold, and the levels they name, beside the usual ones.
    #[serde(default)]
    pub levels: BTreeMap<String, Level>,
    /// Lines that are records, with what they give.
    pub samples: Vec<Spanned<FormatSampleDecl>>,
    /// Lines that begin no record.
    #[serde(default)]
    pub not: Vec<Spanned<String>>,
}

/// A line of a declared format, and what it gives; what is not said is not looked at.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct FormatSampleDecl {
    /// The line, and lines that continue its record.
    pub line: String,
    /// Its stamp, as ISO 8601.
    pub time: Option<String>,
    /// Its level.
    pub level: Option<Level>,
    /// Its source.
    pub logger: Option<String>,
    /// The node it names.
    pub node: Option<String>,
    /// The query id it names.
    pub query: Option<String>,
    /// Its message.
    pub message: Option<String>,
}
