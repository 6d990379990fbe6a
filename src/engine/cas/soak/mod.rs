//! The soak harness: its operations, its model of what a table must hold, its faults, and its three phases over the
//! simulated system.

mod chaos;
mod clients;
mod driver;
mod failure;
mod model;
mod ops;
mod stages;
mod workers;

pub use chaos::{Action, Plan, Target, schedule};
pub use driver::{BASE_TIME, Driver, Soak, Verdict};
pub use failure::Failure;
pub use model::{Aggregates, Model, Sum};
pub use ops::{Kind, Ledger, Op};
