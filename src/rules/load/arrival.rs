//! Parts that did not come at first, compiled: who says so, and who brings them.

use super::origin::{LoadError, Origin};
use super::rule::Counters;
use super::signal::{field_index, signal_index};
use crate::rules::arrivals::ArrivalTest;
use crate::rules::schema::{ArrivalDecl, RuleDecl};
use crate::signals::tally::{ArrivalWatch, Arrives};

/// Compiles what a rule asks of parts; what two rules ask alike is watched once.
pub(super) fn compile_arrivals(
    declared: &RuleDecl,
    origin: Origin<'_>,
    counters: &mut Counters<'_>,
) -> Result<Vec<(String, ArrivalTest)>, LoadError> {
    let mut tests = Vec::new();
    for (name, arrival) in &declared.arrivals {
        let sides = sides(arrival, origin, counters)?;
        if arrival.came.is_empty() {
            let message = "nothing brings these parts, so that they never come";
            let hint = "name the signals of the records that bring one: came = [...]";
            return Err(origin.fault(arrival.failed.span(), message, hint));
        }
        let brings = sides.iter().filter(|(.., says)| *says == Arrives::Comes);
        let came = brings.map(|(signal, ..)| *signal).collect();
        let watch = ArrivalWatch { sides };
        let known = counters.arrivals.iter().position(|it| *it == watch);
        let arrival = known.unwrap_or_else(|| {
            counters.arrivals.push(watch);
            counters.arrivals.len() - 1
        });
        tests.push((name.clone(), ArrivalTest { arrival, came }));
    }
    Ok(tests)
}

/// Who says what of the parts, and by which field.
fn sides(
    declared: &ArrivalDecl,
    origin: Origin<'_>,
    counters: &Counters<'_>,
) -> Result<Vec<(u16, Option<usize>, Arrives)>, LoadError> {
    let failed = std::slice::from_ref(&declared.failed);
    let lists = [
        (&declared.came[..], Arrives::Comes),
        (&declared.begun, Arrives::Begins),
        (&declared.aside, Arrives::Aside),
        (&declared.lost, Arrives::Leaves),
        (&declared.dropped, Arrives::Drops),
        (&declared.cleared, Arrives::Clears),
        (failed, Arrives::Fails),
    ];
    let mut sides = Vec::new();
    for (signals, says) in lists {
        for signal in signals {
            let at = signal_index(counters.signals, signal, origin)?;
            let signal = &counters.signals[usize::from(at)];
            let names = says != Arrives::Clears;
            let field = names.then(|| field_index(signal, &declared.part, origin));
            sides.push((at, field.transpose()?, says));
        }
    }
    Ok(sides)
}
