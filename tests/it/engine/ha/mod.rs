//! The controllers: report 003 again, what each fix and each assumption changes, and promises under random faults.

mod check;
mod fixes;
mod promises;
mod soak;
mod stall;

use casdiag::engine::ha::{Run, Scenario, Summary, Variant, summarize};
use casdiag::engine::scenarios::CONTROLLERS;

/// A scenario that comes with the program.
fn scenario(name: &str) -> Scenario {
    let (_, text) = CONTROLLERS.iter().find(|it| it.0 == name).unwrap();
    Scenario::read(name, text).unwrap()
}

/// A scenario after its run.
fn ran(scenario: &Scenario, variant: Variant) -> (Run, Summary) {
    let mut run = Run::new(scenario, variant, scenario.seed);
    run.finish();
    let summary = summarize("", variant, scenario.seed, &run);
    (run, summary)
}
