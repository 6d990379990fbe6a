//! The level of a log record, as printed, and the class it is counted under.

use serde::{Deserialize, Serialize};

/// The level a record was logged at, named as `ClickHouse` prints it. Ordered from worst to least.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// `<Fatal>`: the process is about to die.
    Fatal,
    /// `<Critical>`.
    Critical,
    /// `<Error>`.
    Error,
    /// `<Warning>`.
    Warning,
    /// `<Notice>`.
    Notice,
    /// `<Information>`.
    Information,
    /// `<Debug>`.
    Debug,
    /// `<Trace>`.
    Trace,
    /// `<Test>`: below Trace, only in builds under test.
    Test,
    /// No level, or one that no known version prints.
    None,
}

impl Level {
    /// All levels, worst first; the position of a level is its [`Level::index`].
    pub const ALL: [Self; 10] = [
        Self::Fatal,
        Self::Critical,
        Self::Error,
        Self::Warning,
        Self::Notice,
        Self::Information,
        Self::Debug,
        Self::Trace,
        Self::Test,
        Self::None,
    ];

    /// The position in [`Level::ALL`].
    pub fn index(self) -> usize {
        self as usize
    }

    /// Reads the word between `<` and `>` of a head; `None` for a word no version prints.
    pub fn from_head(word: &[u8]) -> Option<Self> {
        Some(match word {
            b"Fatal" => Self::Fatal,
            b"Critical" => Self::Critical,
            b"Error" => Self::Error,
            b"Warning" => Self::Warning,
            b"Notice" => Self::Notice,
            b"Information" => Self::Information,
            b"Debug" => Self::Debug,
            b"Trace" => Self::Trace,
            b"Test" => Self::Test,
            _ => return None,
        })
    }

    /// Whether some version repeats records of this level in the err.log: 18.16 from Warning on, later ones from Notice on.
    pub fn may_be_in_err_log(self) -> bool {
        self <= Self::Notice
    }

    /// The key under which `report.json` counts this level.
    pub fn class(self) -> LevelClass {
        match self {
            Self::Fatal | Self::Critical => LevelClass::Fatal,
            Self::Error => LevelClass::Error,
            Self::Warning => LevelClass::Warning,
            Self::Notice | Self::Information => LevelClass::Info,
            Self::Debug => LevelClass::Debug,
            Self::Trace | Self::Test => LevelClass::Trace,
            Self::None => LevelClass::None,
        }
    }
}

/// Levels folded to the keys that all dialects share.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum LevelClass {
    /// Fatal and Critical.
    Fatal,
    /// Error.
    Error,
    /// Warning.
    Warning,
    /// Notice and Information.
    Info,
    /// Debug.
    Debug,
    /// Trace and Test.
    Trace,
    /// Without a known level.
    None,
}

impl LevelClass {
    /// The key in `by_level`.
    pub fn key(self) -> &'static str {
        match self {
            Self::Fatal => "fatal",
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Info => "info",
            Self::Debug => "debug",
            Self::Trace => "trace",
            Self::None => "none",
        }
    }
}
