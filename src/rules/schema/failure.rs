//! Kinds of failing tests.

use serde::Deserialize;
use toml::Spanned;

/// A kind of failing test, told by its exception and by what it says.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct FailureDecl {
    /// Its id, in kebab case.
    pub id: Spanned<String>,
    /// What it means, in one sentence.
    pub what: String,
    /// What follows for the search of a cause.
    pub kind: FailureKind,
    /// Classes of exceptions, without their module.
    #[serde(default)]
    pub exceptions: Vec<String>,
    /// Texts, any of which the message holds.
    #[serde(default)]
    pub texts: Vec<String>,
    /// Messages that are of this kind.
    #[serde(default)]
    pub samples: Vec<String>,
    /// Messages that are not.
    #[serde(default)]
    pub not: Vec<String>,
}

/// What a kind of failing test says of its cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureKind {
    /// Something did not answer in time: as a rule it waited for what another failure is about.
    Timeout,
    /// A connection was refused or lost: as a rule a server was gone.
    Connection,
    /// What the tests run on failed: disks, networks, containers, object stores.
    Infrastructure,
    /// A server said that it is at fault.
    Defect,
}

impl FailureDecl {
    /// Whether a failure is of this kind.
    pub fn fits(&self, exception: Option<&str>, message: &str) -> bool {
        let class = exception.map(|class| class.rsplit('.').next().unwrap_or(class));
        let is_class = class.is_some_and(|class| self.exceptions.iter().any(|it| it == class));
        is_class
            || self
                .texts
                .iter()
                .any(|text| message.contains(text.as_str()))
    }
}
