//! The values beside the first one of a field of which a record holds several.

use std::collections::HashSet;

use super::{FoldRules, Scanned};
use crate::scan::Entry;
use crate::signals::tally::NodeTally;

/// Counts the other values of an occurrence that was counted with these.
pub(super) fn count(
    tally: &mut NodeTally,
    rules: &FoldRules<'_>,
    (scanned, entry): (&Scanned, &Entry),
    (index, values): (u16, &[&[u8]]),
) {
    let signal = rules.signals.signal(index);
    for (field, pattern) in &signal.each {
        let mut seen = HashSet::from([values[*field]]);
        for value in pattern.each(entry.bytes.of(&scanned.block.bytes)) {
            if seen.insert(value) {
                add(tally, rules, (index, values), (*field, value));
            }
        }
    }
}

/// Adds one more value of a field to its signal, and to the counters that took the occurrence.
fn add(
    tally: &mut NodeTally,
    rules: &FoldRules<'_>,
    (index, values): (u16, &[&[u8]]),
    (field, value): (usize, &[u8]),
) {
    let uses = &rules.uses[usize::from(index)];
    if uses.values.contains(&field) {
        tally.signals[usize::from(index)].values[field].add_later(value, rules.subjects_max);
    }
    for &at in &uses.counters {
        let counter = &rules.counters[at];
        let place = counter.values.iter().position(|known| *known == field);
        let kept = place.and_then(|place| tally.counters[at].values.get_mut(place));
        if let (Some(kept), true) = (kept, counter.takes(values)) {
            kept.add_later(value, rules.subjects_max);
        }
    }
}
