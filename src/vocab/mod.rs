//! The domain's nouns, shared by every stage. Imports nothing of the crate.

mod healing;
mod level;
mod lsn;
mod mark;
mod model;
mod several;
mod severity;
mod spark;

pub use healing::Healing;
pub use level::{Level, LevelClass};
pub use lsn::{Lsn, LsnNotation, LsnRange, Shown, Term};
pub use mark::{MarkKind, Tone};
pub use model::EngineModel;
pub use several::several;
pub use severity::{Confidence, Severity};
pub use spark::spark;
