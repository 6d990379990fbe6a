//! Parts that did not come at first, compiled: who says so, and who brings them.

use toml::Spanned;

use super::origin::{LoadError, Origin};
use super::rule::Counters;
use super::signal::{field_index, signal_index};
use crate::rules::arrivals::ArrivalTest;
use crate::rules::schema::RuleDecl;
use crate::signals::tally::ArrivalWatch;

/// Compiles what a rule asks of parts; what two rules ask alike is watched once.
pub(super) fn compile_arrivals(
    declared: &RuleDecl,
    origin: Origin<'_>,
    counters: &mut Counters<'_>,
) -> Result<Vec<(String, ArrivalTest)>, LoadError> {
    let mut tests = Vec::new();
    for (name, arrival) in &declared.arrivals {
        let side = |signal: &Spanned<String>| {
            let at = signal_index(counters.signals, signal, origin)?;
            let signal = &counters.signals[usize::from(at)];
            Ok((at, field_index(signal, &arrival.part, origin)?))
        };
        let failed = side(&arrival.failed)?;
        let came = arrival.came.iter().map(side);
        let came = came.collect::<Result<Vec<(u16, usize)>, LoadError>>()?;
        if came.is_empty() {
            let message = "nothing brings these parts, so that they never come";
            let hint = "name the signals of the records that bring one: came = [...]";
            return Err(origin.fault(arrival.failed.span(), message, hint));
        }
        let lost = arrival.lost.iter().map(side);
        let lost = lost.collect::<Result<Vec<(u16, usize)>, LoadError>>()?;
        let watch = ArrivalWatch { failed, came, lost };
        let known = counters.arrivals.iter().position(|it| *it == watch);
        let came = watch.came.iter().map(|(signal, _)| *signal).collect();
        let arrival = known.unwrap_or_else(|| {
            counters.arrivals.push(watch);
            counters.arrivals.len() - 1
        });
        tests.push((name.clone(), ArrivalTest { arrival, came }));
    }
    Ok(tests)
}
