//! What ended a process, told by what stands before its end: occurrences that a record of the life before explains are left out.

use super::{NodeFacts, RuleBase};
use crate::signals::tally::NodeTally;
use crate::time::{SECOND, Timestamp};

/// How far apart two starts are at least: one start may say so twice.
const STARTS_APART: i64 = 10 * SECOND;

impl RuleBase {
    /// Leaves out of each count with causes the occurrences that one of them explains.
    pub fn leave_explained(&self, facts: &mut NodeFacts) {
        let counters = self.counters.iter().enumerate();
        for (at, counter) in counters.filter(|(_, counter)| !counter.not_after.is_empty()) {
            let causes = stamps(&facts.tally, &counter.not_after);
            let own = stamps(&facts.tally, &[at]);
            let starts = &facts.starts;
            facts.tally.counters[at].leave_out(counter, |end| {
                let from = begin(starts, &own, end);
                let after = causes.partition_point(|cause| from.is_some_and(|from| *cause <= from));
                causes.get(after).is_some_and(|cause| *cause <= end)
            });
        }
    }
}

/// All stamps of counters, in order.
fn stamps(tally: &NodeTally, counters: &[usize]) -> Vec<Timestamp> {
    let times = counters.iter().flat_map(|&at| &tally.counters[at].times);
    let mut times: Vec<Timestamp> = times.copied().collect();
    times.sort_unstable();
    times
}

/// When the life began of whose end an occurrence tells, which stands behind the next start: with the start before that one, or
/// with the occurrence before.
fn begin(starts: &[Timestamp], own: &[Timestamp], end: Timestamp) -> Option<Timestamp> {
    let before = &starts[..starts.partition_point(|start| *start <= end)];
    let next = before.last();
    let start = next.and_then(|next| {
        let mut earlier = before.iter().rev();
        earlier.find(|start| next.0 - start.0 > STARTS_APART)
    });
    let told = own[..own.partition_point(|time| *time < end)].last();
    start.max(told).copied()
}
