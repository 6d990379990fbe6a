//! Whether what failed at first came in the end.

use serde::{Deserialize, Serialize};

/// Whether the parts that did not come at first came in the end. Ordered from the best to the worst.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Healing {
    /// All of them came.
    Healed,
    /// None is missing, and it cannot be told of all that they came.
    Untold,
    /// Some are missing where the log ends.
    Missing,
}

impl Healing {
    /// The words in outputs.
    pub fn words(self) -> &'static str {
        match self {
            Self::Healed => "healed",
            Self::Untold => "not told whether healed",
            Self::Missing => "parts missing",
        }
    }
}
