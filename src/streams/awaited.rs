//! What an occurrence opens or closes of what a node awaits.

use super::table::table_of;
use super::{FoldRules, Scanned};
use crate::scan::Entry;
use crate::signals::tally::NodeTally;

/// Adds an occurrence with these values to what its node awaits, if it opens or closes something.
pub(super) fn note(
    tally: &mut NodeTally,
    rules: &FoldRules<'_>,
    scanned: &Scanned,
    entry: &Entry,
    (signal, values): (u16, &[&[u8]]),
) {
    let Some(time) = entry.time else {
        return;
    };
    for &at in &rules.uses[usize::from(signal)].awaited {
        let side = &rules.awaited[at];
        let thing = values[side.field];
        if thing.is_empty() {
            continue;
        }
        let table = table_of(scanned, entry);
        let awaited = tally.awaited.entry(side.awaited).or_default();
        awaited.add(table, thing, time, side.opens, rules.subjects_max);
    }
}
