//! What a mark on a time axis stands for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The kind of a moment worth a mark.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum MarkKind {
    /// A process starts.
    Start,
    /// A process finds that the one before it did not stop cleanly.
    Restart,
    /// A process is told to stop.
    Stop,
    /// A process dies.
    Crash,
    /// A fault, injected or not.
    Fault,
    /// A node stands for election, or is elected.
    Election,
    /// A check of the whole passed.
    Checkpoint,
}

impl MarkKind {
    /// Every kind.
    pub const ALL: [Self; 7] = [
        Self::Start,
        Self::Restart,
        Self::Stop,
        Self::Crash,
        Self::Fault,
        Self::Election,
        Self::Checkpoint,
    ];

    /// Its word in rules and reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Restart => "restart",
            Self::Stop => "stop",
            Self::Crash => "crash",
            Self::Fault => "fault",
            Self::Election => "election",
            Self::Checkpoint => "checkpoint",
        }
    }
}

/// Whether what is counted is good news.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Tone {
    /// It went through.
    Good,
    /// It did not.
    Bad,
    /// Neither.
    #[default]
    Neutral,
}

impl Tone {
    /// Its word in rules and reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Bad => "bad",
            Self::Neutral => "neutral",
        }
    }
}
