//! The values beside the first one of a field of which a record holds several.

use std::collections::BTreeSet;

use super::count::Said;
use super::{FoldRules, Scanned};
use crate::scan::Entry;
use crate::signals::tally::NodeTally;

/// Counts the other values of an occurrence that was counted with these.
pub(super) fn count(
    tally: &mut NodeTally,
    rules: &FoldRules<'_>,
    (scanned, entry): (&Scanned, &Entry),
    said: &Said<'_>,
) {
    let signal = rules.signals.signal(said.signal);
    for (field, pattern) in &signal.each {
        let mut seen = BTreeSet::from([said.values[*field]]);
        for value in pattern.each(entry.bytes.of(&scanned.block.bytes)) {
            if seen.insert(value) {
                add(tally, rules, said, (*field, value));
            }
        }
    }
}

/// Adds one more value of a field to its signal, and to the counters that took the occurrence.
fn add(
    tally: &mut NodeTally,
    rules: &FoldRules<'_>,
    said: &Said<'_>,
    (field, value): (usize, &[u8]),
) {
    let uses = &rules.uses[usize::from(said.signal)];
    if uses.values.contains(&field) {
        tally.signals[usize::from(said.signal)].values[field].add_later(value, rules.subjects_max);
    }
    for &at in &uses.counters {
        let counter = &rules.counters[at];
        let place = counter.values.iter().position(|known| *known == field);
        let kept = place.and_then(|place| tally.counters[at].values.get_mut(place));
        let is_taken = counter.takes(said.values) && !(counter.per_query && said.is_again);
        if let (Some(kept), true) = (kept, is_taken) {
            kept.add_later(value, rules.subjects_max);
        }
    }
}
