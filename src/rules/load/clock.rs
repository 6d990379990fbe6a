//! Pairs of records by which clocks are compared.

use super::origin::{LoadError, Origin};
use super::signal::{field_index, signal_index};
use crate::rules::ClockPair;
use crate::rules::schema::ClockDecl;
use crate::signals::Signal;
use crate::signals::tally::PairedSide;

/// Compiles the pairs: the sides of all, and the pairs of them.
pub(super) fn compile_clocks<'d, 't: 'd>(
    declared: impl Iterator<Item = (&'d ClockDecl, &'d Origin<'t>)>,
    signals: &[Signal],
) -> Result<(Vec<PairedSide>, Vec<ClockPair>), LoadError> {
    let (mut sides, mut pairs) = (Vec::new(), Vec::new());
    for (clock, origin) in declared {
        if clock.key.get_ref().is_empty() {
            let hint = "name the fields in which the records of a pair are equal";
            return Err(origin.fault(
                clock.key.span(),
                "no field says which records are a pair",
                hint,
            ));
        }
        let first = signal_index(signals, &clock.first, *origin)?;
        let then = signal_index(signals, &clock.then, *origin)?;
        let peer = |signal: u16| field_index(&signals[usize::from(signal)], &clock.peer, *origin);
        let (of_first, of_then) = (peer(first), peer(then));
        let then_names_peer = of_then.is_ok();
        if of_first.is_ok() == then_names_peer {
            let message = format!(
                "{:?} must be a field of one of the two signals",
                clock.peer.get_ref()
            );
            let hint = "the record of one node names the other one";
            return Err(origin.fault(clock.peer.span(), message, hint));
        }
        for (signal, peer) in [(first, of_first.ok()), (then, of_then.ok())] {
            let field = |name| field_index(&signals[usize::from(signal)], name, *origin);
            sides.push(PairedSide {
                signal,
                key: clock
                    .key
                    .get_ref()
                    .iter()
                    .map(field)
                    .collect::<Result<_, _>>()?,
                peer,
            });
        }
        pairs.push(ClockPair {
            first: sides.len() - 2,
            then: sides.len() - 1,
            then_names_peer,
        });
    }
    Ok((sides, pairs))
}
