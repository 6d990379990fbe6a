//! `casdiag soak`: the soak harness over the reference engine.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::replay::{find, keep_soak, open_logs, outcome};
use super::{Failure, Outcome, controllers};
use crate::engine::cas::soak::{Driver, Soak, Verdict};
use crate::engine::cas::{Note, Sink, Variant, World};

#[derive(Debug, Subcommand)]
pub(super) enum SoakCommand {
    /// The soak of a content-addressed cluster, with the operations and lines of the real harness
    Cas(SoakArguments),
    /// The soak of three controllers: a fault a round, and every node's segments checked at the end
    Ha(controllers::HaArguments),
}

#[derive(Debug, Args)]
pub(super) struct SoakArguments {
    /// What the operations are drawn from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// 1: operations without chaos; 2: the same with it; 3: stages of a given time
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=3))]
    phase: u8,
    /// Operations
    #[arg(long, default_value_t = 200)]
    ops: u64,
    /// Inserts at once
    #[arg(long, default_value_t = 6)]
    workers: usize,
    /// Operations between two checkpoints
    #[arg(long, default_value_t = 50)]
    checkpoint_every: u64,
    /// Operations that take all rows away, at most
    #[arg(long, default_value_t = 2)]
    max_cliffs: u64,
    /// What the faults of phases 2 and 3 are drawn from; without, the seed
    #[arg(long)]
    chaos_seed: Option<u64>,
    /// The mean distance of two faults, in seconds
    #[arg(long, default_value_t = 90)]
    chaos_interval: u64,
    /// Phases 2 and 3 without faults
    #[arg(long)]
    no_chaos: bool,
    /// How long phase 3 lasts, such as 90m; for phase 2, within what time faults begin
    #[arg(long, default_value = "600s", value_name = "TIME", value_parser = seconds)]
    duration: u64,
    /// Operations between two updates or deletes of phase 3
    #[arg(long, default_value_t = 80)]
    min_ops_between_mutations: u64,
    /// The protocol and its fixes, such as v2
    #[arg(long, default_value = "v1", value_name = "VARIANT")]
    variant: String,
    /// Where a failure is described
    #[arg(long, default_value = "failure.json", value_name = "FILE")]
    failure_json: PathBuf,
    /// Write the logs that the servers would have written below this folder
    #[arg(long, value_name = "DIR")]
    logs: Option<PathBuf>,
}

/// A time as the harness takes it: a number and `h`, `m` or `s`.
fn seconds(text: &str) -> Result<u64, String> {
    let wrong = || format!("{text:?} is not a time such as 24h, 90m or 600s");
    let unit = text.chars().last().ok_or_else(wrong)?;
    let number = text.strip_suffix(unit).unwrap_or_default();
    let number: u64 = number.parse().ok().ok_or_else(wrong)?;
    let unit = match unit {
        'h' => 3600,
        'm' => 60,
        's' => 1,
        _ => return Err(wrong()),
    };
    number
        .checked_mul(unit)
        .filter(|it| *it <= MOST_S)
        .ok_or_else(wrong)
}

/// The longest soak: a week.
const MOST_S: u64 = 7 * 24 * 3600;

/// Runs the soak and prints the harness's lines.
pub(super) fn soak(command: &SoakCommand, out: &mut dyn Write) -> Result<Outcome, Failure> {
    let arguments = match command {
        SoakCommand::Cas(arguments) => arguments,
        SoakCommand::Ha(arguments) => return controllers::soak(arguments, out),
    };
    let mut scenario = find("soak-phase1")?;
    let Some(known) = scenario.soak.clone() else {
        return Err("the scenario soak-phase1 has no soak".into());
    };
    let soak = Soak {
        ops: arguments.ops,
        workers: arguments.workers.max(1),
        checkpoint_every: arguments.checkpoint_every,
        max_cliffs: arguments.max_cliffs,
        client: known.client,
        phase: arguments.phase,
        chaos_seed: arguments.chaos_seed,
        chaos_interval: arguments.chaos_interval,
        no_chaos: arguments.no_chaos,
        duration_s: arguments.duration,
        min_ops_between_mutations: arguments.min_ops_between_mutations,
    };
    // Only faults end a mount, and only the phases with faults are long enough for one to matter.
    scenario.leases = arguments.phase > 1;
    scenario.soak = Some(soak.clone());
    scenario.check("casdiag soak cas")?;
    let variant = Variant::parse(&arguments.variant)?;
    let mut logs = open_logs(arguments.logs.as_deref(), &scenario, variant)?;
    let mut note = |now, note: &Note, world: &World| {
        if let Some(logs) = &mut logs {
            logs.note(now, note, world);
        }
    };
    let sink: Option<Sink<'_>> = arguments.logs.as_ref().map(|_| -> Sink<'_> { &mut note });
    let mut driver = Driver::new(&scenario, &soak, variant, arguments.seed, sink);
    let mut lines = Vec::new();
    let verdict = driver.finish(&mut lines)?;
    let failure = driver.failure(&verdict);
    out.write_all(&lines)?;
    if let Some(failure) = failure {
        failure.write(&mut BufWriter::new(File::create(&arguments.failure_json)?))?;
    }
    if let Some(logs) = logs {
        logs.finish()?;
    }
    if let Some(dir) = &arguments.logs {
        keep_soak(dir, &lines, None)?;
    }
    Ok(outcome(verdict == Verdict::Ok))
}
