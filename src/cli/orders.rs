//! `casdiag replay --check`: every order of events in a small world.

use std::io::Write;

use super::replay::{Format, outcome};
use super::{Failure, Outcome};
use crate::engine::cas::Variant;
use crate::engine::cas::check::{self, Bounds};
use crate::engine::search::{Checked, Limits, write_json};

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
    let checked = check::check(variant, bounds, Limits::new(STATES_MAX, threads));
    match format {
        Format::Text => checked.write_text(out)?,
        Format::Json => write_json(&checked, out)?,
    }
    Ok(outcome(checked.is_sound()))
}

/// Says what several searches found: for machines as one array.
pub(super) fn write_all(
    all: &[Checked],
    format: Format,
    out: &mut dyn Write,
) -> Result<Outcome, Failure> {
    match format {
        Format::Text => {
            for checked in all {
                checked.write_text(out)?;
                writeln!(out)?;
            }
        }
        Format::Json => write_json(all, out)?,
    }
    Ok(outcome(all.iter().all(Checked::is_sound)))
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
        let checked = check::check(*variant, bounds, Limits::new(STATES_MAX, 1));
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
