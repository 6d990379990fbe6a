//! `casdiag replay --check`: every order of events in a small world.

use std::io::Write;

use super::replay::{Format, outcome};
use super::{Failure, Outcome};
use crate::engine::cas::Variant;
use crate::engine::cas::check::{self, Bounds, Checked};

/// Steps that a search tries at most: some minutes, and a few gigabytes. It says when that was not enough.
const STATES_MAX: usize = 8_000_000;

/// Tries every order and says what was found.
pub(super) fn run_check(
    variant: Variant,
    bounds: Bounds,
    threads: usize,
    format: Format,
    out: &mut dyn Write,
) -> Result<Outcome, Failure> {
    let checked = check::check(variant, bounds, STATES_MAX, threads);
    match format {
        Format::Text => write_checked(&checked, out)?,
        Format::Json => checked.write_json(out)?,
    }
    Ok(outcome(checked.is_sound()))
}

fn write_checked(checked: &Checked, out: &mut dyn Write) -> Result<(), Failure> {
    writeln!(
        out,
        "{}: {} states, at most {} steps deep; {}",
        checked.variant, checked.states, checked.depth, checked.bounds
    )?;
    if !checked.is_complete {
        writeln!(out, "Not all states within these bounds were seen.")?;
    }
    for finding in &checked.findings {
        let word = match (finding.is_promise, &finding.trace) {
            (true, None) => "none found within these bounds that breaks",
            (true, Some(_)) => "BROKEN",
            (false, None) => "never seen",
            (false, Some(_)) => "possible",
        };
        writeln!(out, "\n{word}: {}", finding.what)?;
        for (place, step) in finding.trace.iter().flatten().enumerate() {
            writeln!(out, "  {:>2}. {step}", place + 1)?;
        }
    }
    Ok(())
}

/// Searches under several protocols and says of each, in a row of a Markdown table, what was found.
pub(super) fn compare_checks(
    variants: &[Variant],
    bounds: Bounds,
    out: &mut dyn Write,
) -> Result<Outcome, Failure> {
    writeln!(
        out,
        "| variant | states | steps at most | all seen | promises | shortest way to break one |"
    )?;
    writeln!(out, "|---|---|---|---|---|---|")?;
    let mut worlds: Vec<String> = Vec::new();
    for variant in variants {
        // With one thread the way to a state is the same in every search.
        let checked = check::check(*variant, bounds, STATES_MAX, 1);
        let broken = checked.findings.iter().filter(|it| it.is_promise);
        let broken: Vec<String> = broken
            .filter_map(|it| Some((it.what, it.trace.as_ref()?.len())))
            .map(|(what, steps)| format!("{steps} steps: {what}"))
            .collect();
        let word = if broken.is_empty() {
            "kept"
        } else {
            "**broken**"
        };
        let seen = if checked.is_complete { "yes" } else { "no" };
        writeln!(
            out,
            "| {} | {} | {} | {seen} | {word} | {} |",
            checked.variant,
            checked.states,
            checked.depth,
            broken.join("; ")
        )?;
        if !worlds.contains(&checked.bounds) {
            worlds.push(checked.bounds);
        }
    }
    writeln!(out, "\nThe world: {}.", worlds.join("; or "))?;
    Ok(Outcome::Clean)
}
