//! The ground that simulated systems stand on: a virtual clock, numbers by seed, faults, and a hash of what happened.
//!
//! Nothing here knows a system. The same seed gives the same run on every machine: all arithmetic is on integers, and
//! equal times are ordered by when they were scheduled.

mod fault;
mod latency;
mod random;
mod schedule;
mod shrink;
mod trace;

pub use fault::{Effect, Window};
pub use latency::{Latency, TIME_MAX};
pub use random::{Stream, splitmix64};
pub use schedule::{MILLISECOND, MINUTE, Micros, SECOND, Schedule};
pub use shrink::smallest;
pub use trace::Trace;
