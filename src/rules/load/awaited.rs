//! What is asked for and may not come; what a run in the engine reads.

use std::collections::BTreeMap;

use super::origin::{LoadError, Origin};
use super::signal::{field_index, signal_index};
use crate::rules::schema::{AwaitedDecl, ReadDecl};
use crate::signals::Signal;
use crate::signals::tally::AwaitedSide;

/// Compiles the signals that open or close something.
pub(super) fn compile_awaited<'d, 't: 'd>(
    declared: impl Iterator<Item = (&'d AwaitedDecl, &'d Origin<'t>)>,
    signals: &[Signal],
) -> Result<Vec<AwaitedSide>, LoadError> {
    let mut sides = Vec::new();
    for (awaited, (declared, origin)) in declared.enumerate() {
        let opens = std::iter::once((&declared.opens, true));
        let closes = declared.closes.iter().map(|it| (it, false));
        for (name, opens) in opens.chain(closes) {
            let signal = signal_index(signals, name, *origin)?;
            let field = field_index(&signals[usize::from(signal)], &declared.field, *origin)?;
            sides.push(AwaitedSide {
                awaited,
                signal,
                field,
                opens,
            });
        }
    }
    Ok(sides)
}

/// Checks that what a model is to read is there.
pub(super) fn check_reads(
    reads: &BTreeMap<String, ReadDecl>,
    origin: Origin<'_>,
    signals: &[Signal],
) -> Result<(), LoadError> {
    for read in reads.values() {
        let signal = signal_index(signals, &read.signal, origin)?;
        for field in read.filters.keys() {
            field_index(&signals[usize::from(signal)], field, origin)?;
        }
    }
    Ok(())
}
