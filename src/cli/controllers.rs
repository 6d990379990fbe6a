//! `casdiag replay` and `casdiag soak ha` for the controllers.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::orders::write_all;
use super::replay::{Format, ReplayArguments, outcome, outcome_of};
use super::{Failure, Outcome};
use crate::engine::ha::check::{Bounds, check};
use crate::engine::ha::soak::{Mode, Soak, write_shares};
use crate::engine::ha::{
    Run, Scenario, Variant, summarize, write_assumptions, write_fixes, write_logs,
};
use crate::engine::scenarios::CONTROLLERS;
use crate::engine::search::Limits;
use crate::intake::read_text;

#[derive(Debug, Args)]
pub(super) struct HaArguments {
    /// What the harness does to the controllers
    #[arg(long, default_value = "sequential", value_name = "MODE")]
    mode: ModeName,
    /// Faults, one a round
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(..=1000))]
    rounds: u64,
    /// What all chance is drawn from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The defects that are there: reported, fixed, or names joined by +
    #[arg(long, default_value = "reported", value_name = "VARIANT")]
    variant: String,
    /// Write the controllers' logs and segments below this folder
    #[arg(long, value_name = "DIR")]
    logs: Option<PathBuf>,
    /// Run every mode over this many seeds instead, as reported and mended, and print the shares
    #[arg(long, conflicts_with_all = ["mode", "rounds", "seed", "variant", "logs"], value_parser = clap::value_parser!(u64).range(1..=10_000))]
    seeds: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ModeName {
    /// The primary is killed.
    Sequential,
    /// One or two nodes are killed, paused or cut off.
    Chaotic,
    /// The primary is cut off with writes of its own, then killed.
    TruncatedFence,
}

/// States that a search visits at most.
const STATES_MAX: usize = 20_000_000;

/// Runs the soak of the controllers and prints the harness's lines.
pub(super) fn soak(arguments: &HaArguments, out: &mut dyn Write) -> Result<Outcome, Failure> {
    if let Some(seeds) = arguments.seeds {
        write_shares(seeds, out)?;
        return Ok(Outcome::Clean);
    }
    let mode = match arguments.mode {
        ModeName::Sequential => Mode::Sequential,
        ModeName::Chaotic => Mode::Chaotic,
        ModeName::TruncatedFence => Mode::TruncatedFence,
    };
    let variant = Variant::parse(&arguments.variant)?;
    let mut soak = Soak::new(mode, variant, arguments.seed);
    let result = soak.finish(arguments.rounds);
    for line in &soak.run.lines {
        writeln!(out, "{line}")?;
    }
    if let Some(dir) = &arguments.logs {
        write_logs(&soak.run, dir)?;
    }
    Ok(outcome(result.failure.is_none()))
}

/// The text of a scenario of the controllers, if a name or a file is one.
pub(super) fn text_of(name: &str) -> Option<String> {
    let built_in = CONTROLLERS.iter().find(|it| it.0 == name);
    if let Some((_, text)) = built_in {
        return Some((*text).to_owned());
    }
    let path = Path::new(name);
    if !path.is_file() {
        return None;
    }
    let text = read_text(path).ok()?;
    Scenario::claims(&text).then_some(text)
}

/// Lists the scenarios of the controllers.
pub(super) fn list(out: &mut dyn Write) -> Result<(), Failure> {
    for (name, text) in CONTROLLERS {
        let scenario = Scenario::read(name, text)?;
        writeln!(out, "{name:<22}{}", scenario.what)?;
    }
    Ok(())
}

/// Runs a scenario of the controllers.
pub(super) fn replay(
    name: &str,
    text: &str,
    arguments: &ReplayArguments,
    out: &mut dyn Write,
) -> Result<Outcome, Failure> {
    if arguments.out.is_some() {
        return Err(
            "of a run of controllers no picture is made; --logs keeps their logs and segments"
                .into(),
        );
    }
    let scenario = Scenario::read(name, text)?;
    if !arguments.compare.is_empty() {
        for what in &arguments.compare {
            match what.as_str() {
                "fixes" => write_fixes(&scenario, out)?,
                "assumptions" if scenario.nodes < 2 => {
                    return Err(format!(
                        "{name}: the assumptions are about a standby and its primary, so nodes must be at least 2"
                    )
                    .into());
                }
                "assumptions" => write_assumptions(&scenario, out)?,
                _ => {
                    return Err(format!(
                        "{what}: of controllers, fixes or assumptions are compared"
                    )
                    .into());
                }
            }
        }
        return Ok(Outcome::Clean);
    }
    let variant = variant(arguments, &scenario)?;
    if arguments.check {
        return search(variant, arguments.format, out);
    }
    let seed = arguments.seed.unwrap_or(scenario.seed);
    let mut run = Run::new(&scenario, variant, seed);
    run.finish();
    if let Some(dir) = &arguments.logs {
        write_logs(&run, dir)?;
    }
    let summary = summarize(name, variant, seed, &run);
    match arguments.format {
        Format::Text => summary.write_text(out)?,
        Format::Json => summary.write_json(out)?,
    }
    Ok(outcome_of(summary.is_good(), summary.is_cut))
}

fn search(variant: Variant, format: Format, out: &mut dyn Write) -> Result<Outcome, Failure> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let limits = Limits::new(STATES_MAX, threads);
    let all = Bounds::ALL.map(|bounds| check(variant, bounds, limits));
    write_all(&all, format, out)
}

fn variant(arguments: &ReplayArguments, scenario: &Scenario) -> Result<Variant, Failure> {
    if let Some(variant) = &arguments.variant {
        return Ok(Variant::parse(variant)?);
    }
    let own = scenario.protocol();
    match &arguments.fixes {
        Some(fixes) => Ok(own.mended(fixes)?),
        None => Ok(own),
    }
}
