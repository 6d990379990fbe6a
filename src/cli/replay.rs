//! `casdiag replay` and `casdiag soak`: the reference engine.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};

use super::{Failure, Outcome, again, controllers};
use crate::engine::cas::check::{self, Bounds, Checked};
use crate::engine::cas::soak::{BASE_TIME, Driver, Soak, Verdict};
use crate::engine::cas::{
    Logs, Note, PASSED, Run, Scenario, Sink, Variant, World, summarize, write_comparison,
    write_table,
};
use crate::engine::scenarios::BUILT_IN;
use crate::intake::read_text;

#[derive(Debug, Args)]
pub(super) struct ReplayArguments {
    /// A scenario that comes with the program, a file, or a report whose findings are run again; without one, all are listed
    #[arg(value_name = "NAME|SCENARIO.toml|REPORT.json")]
    pub(super) scenario: Option<String>,
    /// The protocol and its fixes, such as v1+A+C1
    #[arg(long, value_name = "VARIANT")]
    pub(super) variant: Option<String>,
    /// Fixes beside the scenario's own protocol, such as A+C1
    #[arg(long, value_name = "FIXES", conflicts_with = "variant")]
    pub(super) fixes: Option<String>,
    /// What all chance is drawn from
    #[arg(long)]
    pub(super) seed: Option<u64>,
    /// Write the logs that the servers would have written below this folder
    #[arg(long, value_name = "DIR")]
    pub(super) logs: Option<PathBuf>,
    /// How to write the answer
    #[arg(long, default_value = "text", value_name = "FORMAT")]
    pub(super) format: Format,
    /// Try every order of events in a small world under the scenario's protocol
    #[arg(long)]
    pub(super) check: bool,
    /// Compare the scenario under several protocols, such as v1,v1+A,v2
    #[arg(long, value_name = "VARIANTS", value_delimiter = ',', requires = "scenario", conflicts_with_all = ["variant", "fixes", "logs", "check"])]
    pub(super) compare: Vec<String>,
    /// Measure what every scenario that comes with the program must show
    #[arg(long, conflicts_with_all = ["scenario", "check"])]
    table: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// For people.
    Text,
    /// For machines.
    Json,
}

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
    /// Phase 1: inserts, mutations, merges, no chaos
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=1))]
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

/// Steps that a search tries at most: some minutes, and a few gigabytes. It says when that was not enough.
const STATES_MAX: usize = 8_000_000;

/// Runs a scenario, or whatever else was asked for.
pub(super) fn replay(arguments: &ReplayArguments, out: &mut dyn Write) -> Result<Outcome, Failure> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    if arguments.table {
        let fits = write_table(BUILT_IN, threads, out)?;
        return Ok(outcome(fits));
    }
    let Some(name) = &arguments.scenario else {
        if arguments.check {
            let variant = arguments.variant.as_deref().unwrap_or("v1");
            return run_check(Variant::parse(variant)?, threads, arguments.format, out);
        }
        return list(out);
    };
    if Path::new(name).extension().is_some_and(|it| it == "json") {
        return again::run(name, arguments.format, out);
    }
    if let Some(text) = controllers::text_of(name) {
        return controllers::replay(name, &text, arguments, out);
    }
    let scenario = find(name)?;
    if !arguments.compare.is_empty() {
        let variants = arguments.compare.iter().map(|it| Variant::parse(it));
        let variants = variants.collect::<Result<Vec<Variant>, _>>()?;
        return Ok(outcome(write_comparison(&scenario, &variants, out)?));
    }
    let variant = variant(arguments, &scenario)?;
    if arguments.check {
        return run_check(variant, threads, arguments.format, out);
    }
    let seed = arguments.seed.unwrap_or(scenario.seed);
    let mut logs = open_logs(arguments.logs.as_deref(), &scenario, variant)?;
    let mut note = |now, note: &Note, world: &World| {
        if let Some(logs) = &mut logs {
            logs.note(now, note, world);
        }
    };
    let sink: Option<Sink<'_>> = arguments.logs.as_ref().map(|_| -> Sink<'_> { &mut note });
    let mut lines = Vec::new();
    let mut failure = None;
    let summary = if let Some(soak) = &scenario.soak {
        let mut driver = Driver::new(&scenario, soak, variant, seed, sink);
        let verdict = driver.finish(&mut lines)?;
        failure = driver.failure(&verdict);
        summarize(name, seed, &driver.run, Some(word(&verdict)))
    } else {
        let mut run = Run::new(&scenario, variant, seed, sink);
        run.finish();
        summarize(name, seed, &run, None)
    };
    if let Some(logs) = logs {
        logs.finish()?;
    }
    if let Some(dir) = &arguments.logs {
        keep_soak(dir, &lines)?;
        if let Some(failure) = &failure {
            failure.write(&mut BufWriter::new(File::create(dir.join("failure.json"))?))?;
        }
    }
    match arguments.format {
        Format::Text => summary.write_text(out)?,
        Format::Json => summary.write_json(out)?,
    }
    Ok(outcome(summary.is_good()))
}

fn outcome(is_good: bool) -> Outcome {
    if is_good {
        Outcome::Clean
    } else {
        Outcome::Found
    }
}

fn list(out: &mut dyn Write) -> Result<Outcome, Failure> {
    for (name, text) in BUILT_IN {
        let scenario = Scenario::read(name, text)?;
        writeln!(out, "{name:<22}{}", scenario.what)?;
    }
    controllers::list(out)?;
    Ok(Outcome::Clean)
}

fn find(name: &str) -> Result<Scenario, Failure> {
    let built_in = BUILT_IN.iter().find(|it| it.0 == name);
    if let Some((name, text)) = built_in {
        return Ok(Scenario::read(name, text)?);
    }
    if !Path::new(name).exists() {
        let names: Vec<&str> = BUILT_IN.iter().map(|it| it.0).collect();
        let known = names.join(", ");
        return Err(format!(
            "{name}: no such file, and the scenarios that come with it are {known}"
        )
        .into());
    }
    Ok(Scenario::read(name, &read_text(Path::new(name))?)?)
}

fn variant(arguments: &ReplayArguments, scenario: &Scenario) -> Result<Variant, Failure> {
    let name = match (&arguments.variant, &arguments.fixes) {
        (Some(variant), _) => variant.clone(),
        (None, Some(fixes)) => format!("{}+{fixes}", scenario.protocol().name()),
        (None, None) => return Ok(scenario.protocol()),
    };
    Ok(Variant::parse(&name)?)
}

/// The logs below a folder; they begin a minute after the harness's base time.
fn open_logs(
    dir: Option<&Path>,
    scenario: &Scenario,
    variant: Variant,
) -> Result<Option<Logs>, Failure> {
    let Some(dir) = dir else {
        return Ok(None);
    };
    let begins = i64::try_from((BASE_TIME + 60) * 1_000_000)?;
    let mut logs = Logs::create(dir, scenario.nodes, begins, scenario.soak.is_some())?;
    logs.start(variant.rule);
    Ok(Some(logs))
}

fn keep_soak(dir: &Path, lines: &[u8]) -> Result<(), Failure> {
    if !lines.is_empty() {
        fs::write(dir.join("soak.log"), lines)?;
    }
    Ok(())
}

fn word(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Ok => PASSED.to_owned(),
        Verdict::Failed(kind, text) => format!("{kind}: {text}"),
    }
}

fn run_check(
    variant: Variant,
    threads: usize,
    format: Format,
    out: &mut dyn Write,
) -> Result<Outcome, Failure> {
    let bounds = Bounds::default();
    let checked = check::check(variant, bounds, STATES_MAX, threads);
    match format {
        Format::Text => write_checked(&checked, bounds, out)?,
        Format::Json => checked.write_json(out)?,
    }
    Ok(outcome(checked.is_sound()))
}

fn write_checked(checked: &Checked, bounds: Bounds, out: &mut dyn Write) -> Result<(), Failure> {
    writeln!(
        out,
        "{}: {} states, at most {} steps deep; 2 servers, 1 part and one that covers it, {} rounds of the collector, {} attempts, {} lost or refused request, {} eviction",
        checked.variant,
        checked.states,
        checked.depth,
        bounds.rounds,
        bounds.attempts,
        bounds.faults,
        bounds.evictions
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
    };
    scenario.soak = Some(soak.clone());
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
        keep_soak(dir, &lines)?;
    }
    Ok(outcome(verdict == Verdict::Ok))
}
