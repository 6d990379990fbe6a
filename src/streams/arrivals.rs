//! What an occurrence says of parts that did not come at first.

use super::awaited::table_of;
use super::{FoldRules, Scanned};
use crate::scan::Entry;
use crate::signals::tally::{Arrives, Evidence, NodeTally};

/// Adds an occurrence with these values to what its node says of parts that did not come, if it names one or should.
pub(super) fn note(
    tally: &mut NodeTally,
    rules: &FoldRules<'_>,
    (scanned, entry): (&Scanned, &Entry),
    (signal, values): (u16, &[&[u8]]),
    evidence: impl Fn() -> Evidence,
) {
    let Some(time) = entry.time else {
        return;
    };
    for arrival in &rules.uses[usize::from(signal)].arrivals {
        let part = values[arrival.field];
        let table = table_of(scanned, entry);
        let arrivals = tally.arrivals.entry(arrival.arrival).or_default();
        match arrival.says {
            Arrives::Fails => arrivals.fails(table, part, time, rules.subjects_max),
            _ if part.is_empty() => {}
            Arrives::Comes => arrivals.comes(table, part, time, &evidence),
            Arrives::Leaves => arrivals.leaves(table, part, time),
        }
    }
}
