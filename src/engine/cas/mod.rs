//! A content-addressed pool that replicas share: ref ledgers, replicated tables, the exchange of parts, garbage
//! collection.
//!
//! [`World`] is the system; [`Run`] lets it live through a [`Scenario`].

mod append;
mod bounds;
pub mod check;
mod course;
mod ddl;
mod exchange;
mod expect;
mod fsck;
mod gc;
mod lease;
mod ledger;
mod load;
mod logs;
mod mount;
mod names;
mod replica;
mod run;
mod scenario;
mod server;
mod shortest;
pub mod soak;
mod step;
mod summary;
mod table;
mod tally;
mod tasks;
mod timing;
mod trial;
mod variant;
mod world;

pub use course::Course;
pub use ddl::{Catalog, Making};
pub use expect::{Expect, Measure, Over, measure, median};
pub use fsck::{Summary, check as fsck};
pub use gc::{Blob, Collector, Life};
pub use ledger::{Act, Answer, BATCH_MAX, Item, Lane, LaneState, Owned, Stream, Why};
pub use logs::{Logs, host};
pub use names::{Manifest, NONE, NodeId, Note, PartId, PartInfo, TableId, What};
pub use replica::{Breaker, Entry, EntryKind, Held, Node, backoff_ms};
pub use run::{Most, Run, Sink};
pub use scenario::{
    Act as OperatorAct, Deed, Fault, Handlers, Latencies, Load, LoadKind, Scenario, ScenarioError,
};
pub use shortest::{Shortest, shortest};
pub use summary::{FsckSummary, NodeSummary, PASSED, Promise, RunSummary, summarize};
pub use table::{TableError, write_comparison, write_table};
pub use tally::{NodeTally, STEP_S, Tally};
pub use tasks::{Stage, Task};
pub use timing::{Object, Target, Timing};
pub use trial::{Seen, trial};
pub use variant::{Broken, Fix, Rule, UnknownVariant, Variant};
pub use world::{
    Delay, Out, Outcome, Phase, Setup, Step, Ticket, Trouble, Violation, Waiter, World,
};
