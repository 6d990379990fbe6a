//! What an occurrence opens or closes of what a node awaits.

use super::FoldRules;
use super::count::Said;
use crate::signals::tally::NodeTally;

/// Adds an occurrence to what its node awaits, if it opens or closes something.
pub(super) fn note(tally: &mut NodeTally, rules: &FoldRules<'_>, said: &Said<'_>) {
    let Some(time) = said.time else {
        return;
    };
    for &at in &rules.uses[usize::from(said.signal)].awaited {
        let side = &rules.awaited[at];
        let thing = said.values[side.field];
        if thing.is_empty() {
            continue;
        }
        let awaited = tally.awaited.entry(side.awaited).or_default();
        awaited.add(said.table, thing, time, side.opens, rules.subjects_max);
    }
}
