//! Controllers that replicate a log: terms and votes, segments on disks, catch-up by streams, and what happens before
//! a process has recovered.
//!
//! [`World`] is the system; [`Run`] lets it live through a [`Scenario`].

mod bounds;
mod catchup;
pub mod check;
mod disk;
mod logs;
mod names;
mod node;
mod persist;
mod raft;
mod run;
mod scenario;
mod setup;
pub mod soak;
mod summary;
mod table;
#[cfg(test)]
mod tests;
mod world;

pub use logs::write_logs;
pub use names::{Entry, LayoutKind, LayoutProblem, NodeId, Note, Violation, What, controller};
pub use node::Node;
pub use run::Run;
pub use scenario::{Act, Client, Deed, Old, SYSTEM, Scenario, ScenarioError, Timing};
pub use setup::{
    Assumptions, Defect, Dispatch, Heartbeat, Recovery, Setup, Shown, UnknownVariant, Variant,
};
pub use summary::{Elected, NodeSummary, Stalled, Summary, summarize};
pub use table::{write_assumptions, write_fixes};
pub use world::World;
