//! The reference engine: the systems of the incidents as executable models.
//!
//! A model carries a system's own state machines and its own timing, and no outcome: storms, stalls and losses come
//! from the mechanism or do not come. It knows nothing of parsers, rules and reports.

pub mod cas;
pub mod ha;
pub mod scenarios;
pub mod search;
pub mod sim;
