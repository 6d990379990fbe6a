//! The reference engine: what its scenarios show, what its logs say, what a search of small worlds finds.

mod again;
mod again_answered;
mod again_attached;
mod again_died;
mod again_small;
mod closed;
mod exchange;
mod ha;
mod logs;
mod promises;
mod replay;
mod small;
mod soak;

use casdiag::engine::cas::{Run, Scenario, Variant, What};
use casdiag::engine::scenarios::BUILT_IN;

/// A scenario that comes with the program, after a change of its text.
fn scenario(name: &str, change: impl FnOnce(&str) -> String) -> Scenario {
    let (_, text) = BUILT_IN.iter().find(|it| it.0 == name).unwrap();
    Scenario::read(name, &change(text)).unwrap()
}

/// A scenario after its run.
fn run(scenario: &Scenario, variant: &str, seed: u64) -> Run<'static> {
    let mut run = Run::new(scenario, Variant::parse(variant).unwrap(), seed, None);
    run.finish();
    run
}

/// How often something happened on all servers.
fn total(run: &Run<'_>, what: What) -> u64 {
    run.tally.total(what, None)
}
