//! How bad a finding is, and how sure.

use serde::{Deserialize, Serialize};

/// How bad the consequence of a finding is; never derived from a log level. Ordered from harmless to worst.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing, nothing is wrong.
    Info,
    /// Wrong, but harmless here.
    Low,
    /// Degraded: slower, noisier or one retry away from trouble.
    Medium,
    /// A replica, a table or clients suffer.
    High,
    /// Data is lost or wrong, or a server died.
    Critical,
}

impl Severity {
    /// The word in outputs and in `--fail-on`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }
}

/// How sure a verdict is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// The records fit, and so does something else.
    Possible,
    /// The records fit, and nothing seen contradicts.
    Likely,
    /// The records say so themselves.
    Certain,
}

impl Confidence {
    /// The word in outputs.
    pub fn word(self) -> &'static str {
        match self {
            Self::Possible => "possible",
            Self::Likely => "likely",
            Self::Certain => "certain",
        }
    }
}
