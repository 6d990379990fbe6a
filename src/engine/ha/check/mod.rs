//! Every order of events among three controllers, within stated bounds, over the very functions that runs use.

mod small;
mod words;

use small::Small;
pub use small::{Bounds, REJOINS, TRUNCATES};

use super::names::Violation;
use super::setup::Variant;
use crate::engine::search::{Checked, Limits, search, shortest};

/// Searches until all states within the bounds are seen, or a limit is reached.
pub fn check(variant: Variant, bounds: Bounds, limits: Limits) -> Checked {
    search(&Small { variant, bounds }, limits)
}

/// The shortest way to a broken promise, in words; empty if there is none within the bounds and limits.
pub fn shortest_way(
    variant: Variant,
    bounds: Bounds,
    violation: Violation,
    limits: Limits,
) -> Vec<String> {
    shortest(&Small { variant, bounds }, violation.promise(), limits).unwrap_or_default()
}
