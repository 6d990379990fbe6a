//! Every order of events in a small world, within stated bounds.
//!
//! The search uses the very function that simulated runs use, [`World::apply`](super::World::apply): a wait becomes a
//! choice instead of a time.

mod small;
mod words;

use small::Small;
pub use small::{ARRIVES, Bounds, IN_VAIN, IN_VAIN_AND_ARRIVES, STUCK};

use super::variant::Variant;
use crate::engine::search::{Checked, Limits, search};

/// Searches until all states within the bounds are seen, or a limit is reached.
pub fn check(variant: Variant, bounds: Bounds, limits: Limits) -> Checked {
    search(&Small { variant, bounds }, limits)
}
