//! Logs as streams: the rotated pieces of one log joined in order, the err.log matched against the main log, and what
//! is left counted once.

mod arrivals;
mod awaited;
mod contexts;
mod count;
mod counted;
mod each;
mod fold;
mod joints;
mod mask;
mod plan;
mod queries;
mod table;
mod twins;
mod views;
mod watch;

pub use counted::FoldRules;
pub use fold::Fold;
pub use plan::{Log, Source, Stream, plan};
pub use twins::{Scanned, Twins};
pub use views::Views;
