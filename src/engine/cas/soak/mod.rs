//! The soak harness: its operations, its model of what a table must hold, and its first phase over the simulated system.

mod driver;
mod model;
mod ops;

pub use driver::{BASE_TIME, Driver, Failure, Soak, Verdict};
pub use model::{Aggregates, Model, Sum};
pub use ops::{Kind, Ledger, Op};
