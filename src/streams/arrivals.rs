//! What an occurrence says of parts that did not come at first.

use super::table::table_of;
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
        let part = arrival.field.map_or(&b""[..], |field| values[field]);
        let table = table_of(scanned, entry);
        let arrivals = tally.arrivals.entry(arrival.arrival).or_default();
        match arrival.says {
            Arrives::Fails => arrivals.fails(table, part, time, rules.subjects_max),
            Arrives::Clears => arrivals.clears(table, time),
            _ if part.is_empty() => {}
            Arrives::Comes => arrivals.comes(table, part, time, &evidence),
            Arrives::Begins => arrivals.begins(table, part, time),
            Arrives::Aside => arrivals.aside(table, part, time),
            Arrives::Leaves => arrivals.leaves(table, part, time),
            Arrives::Drops => arrivals.drops(table, part, time),
        }
    }
}
