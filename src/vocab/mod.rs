//! The domain's nouns, shared by every stage. Imports nothing of the crate.

mod level;
mod severity;

pub use level::{Level, LevelClass};
pub use severity::{Confidence, Severity};
