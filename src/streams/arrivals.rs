//! What an occurrence says of parts that did not come at first.

use super::FoldRules;
use super::count::Said;
use crate::signals::tally::{Arrives, Evidence, NodeTally};

/// Adds an occurrence to what its node says of parts that did not come, if it names one or should.
pub(super) fn note(
    tally: &mut NodeTally,
    rules: &FoldRules<'_>,
    said: &Said<'_>,
    evidence: impl Fn() -> Evidence,
) {
    let Some(time) = said.time else {
        return;
    };
    let table = said.table;
    for arrival in &rules.uses[usize::from(said.signal)].arrivals {
        let part = arrival.field.map_or(&b""[..], |field| said.values[field]);
        // Most nodes say of all parts that they come, and of none that it does not.
        let arrivals = if matches!(arrival.says, Arrives::Fails | Arrives::Drops) {
            Some(tally.arrivals.entry(arrival.arrival).or_default())
        } else {
            tally.arrivals.get_mut(&arrival.arrival)
        };
        let Some(arrivals) = arrivals else { continue };
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
