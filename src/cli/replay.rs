//! `casdiag replay` and `casdiag soak`: the reference engine.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::orders::{compare_checks, run_check};
use super::{Failure, Outcome, again, controllers, pictures};
use crate::engine::cas::check::Bounds;
use crate::engine::cas::soak::{BASE_TIME, Driver, Failure as SoakFailure, Verdict};
use crate::engine::cas::{
    Logs, Note, PASSED, Run, RunSummary, Scenario, Sink, Variant, World, shortest, summarize,
    write_comparison, write_table,
};
use crate::engine::scenarios::{BUILT_IN, CONTROLLERS};
use crate::intake::read_text;
use crate::report::escape;

#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
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
    /// Write the summary, its numbers and the picture of rates and queues into this folder
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
    /// Write into the folder of --out although it is not empty
    #[arg(long, requires = "out")]
    pub(super) force: bool,
    /// How to write the answer
    #[arg(long, default_value = "text", value_name = "FORMAT")]
    pub(super) format: Format,
    /// List the scenarios that come with the program
    #[arg(long, conflicts_with_all = ["scenario", "table", "check"])]
    pub(super) list: bool,
    /// Try every order of events in a small world under the scenario's protocol
    #[arg(long)]
    pub(super) check: bool,
    /// Search the smallest world only: one attempt and no eviction, seconds instead of minutes
    #[arg(long, requires = "check")]
    pub(super) small: bool,
    /// Compare the scenario, or with --check the search, under several protocols, such as v1,v1+A,v2
    #[arg(long, value_name = "VARIANTS", value_delimiter = ',', conflicts_with_all = ["variant", "fixes", "logs", "out", "table"])]
    pub(super) compare: Vec<String>,
    /// Measure what every scenario that comes with the program must show
    #[arg(long, conflicts_with_all = ["scenario", "check", "out"])]
    pub(super) table: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// For people.
    Text,
    /// For machines.
    Json,
}

impl ReplayArguments {
    /// How far a search goes.
    fn bounds(&self) -> Bounds {
        if self.small {
            Bounds::small()
        } else {
            Bounds::default()
        }
    }
}

/// Runs a scenario, or whatever else was asked for.
pub(super) fn replay(arguments: &ReplayArguments, out: &mut dyn Write) -> Result<Outcome, Failure> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    if arguments.table {
        let fits = write_table(BUILT_IN, threads, out)?;
        return Ok(outcome(fits));
    }
    if arguments.list {
        return list(out);
    }
    if let Some(name) = &arguments.scenario {
        if Path::new(name).extension().is_some_and(|it| it == "json") {
            return again::run(name, arguments.format, out);
        }
        if let Some(text) = controllers::text_of(name) {
            return controllers::replay(name, &text, arguments, out);
        }
    }
    let bounds = arguments.bounds();
    let compared = arguments.compare.iter().map(|it| Variant::parse(it));
    let compared = compared.collect::<Result<Vec<Variant>, _>>()?;
    if arguments.check && !compared.is_empty() {
        return compare_checks(&compared, bounds, out);
    }
    let Some(name) = &arguments.scenario else {
        if arguments.check {
            let variant = Variant::parse(arguments.variant.as_deref().unwrap_or("v1"))?;
            return run_check(variant, bounds, threads, arguments.format, out);
        }
        if !compared.is_empty() {
            return Err("--compare is about a scenario, or about --check".into());
        }
        return list(out);
    };
    let scenario = find(name)?;
    if !compared.is_empty() {
        return Ok(outcome(write_comparison(&scenario, &compared, out)?));
    }
    let variant = variant(arguments, &scenario)?;
    if arguments.check {
        return run_check(variant, bounds, threads, arguments.format, out);
    }
    if let Some(dir) = &arguments.out {
        crate::report::check_folder(dir, arguments.force)?;
    }
    let seed = arguments.seed.unwrap_or(scenario.seed);
    let summary = run_once(arguments, name, &scenario, variant, seed)?;
    let mut said = Vec::new();
    summary.write_text(&mut said)?;
    if summary.has_broken()
        && let Some(shortest) = shortest(&scenario, variant, seed)
    {
        shortest.write(&mut said)?;
    }
    // A scenario is anyone's file, and its words are in here.
    let said: Vec<String> = String::from_utf8_lossy(&said)
        .lines()
        .map(escape::terminal)
        .collect();
    let said = format!("{}\n", said.join("\n"));
    match arguments.format {
        Format::Text => out.write_all(said.as_bytes())?,
        Format::Json => summary.write_json(out)?,
    }
    if let Some(dir) = &arguments.out {
        let paths = pictures::keep(&summary, &scenario, &said, dir)?;
        if arguments.format == Format::Text {
            let word = format!("written to {}: {}", dir.display(), paths.join(", "));
            writeln!(out, "\n{}", escape::terminal(&word))?;
        }
    }
    Ok(outcome_of(summary.is_good(), summary.is_cut))
}

/// Runs a scenario and keeps its logs where that was asked for.
fn run_once(
    arguments: &ReplayArguments,
    name: &str,
    scenario: &Scenario,
    variant: Variant,
    seed: u64,
) -> Result<RunSummary, Failure> {
    let mut logs = open_logs(arguments.logs.as_deref(), scenario, variant)?;
    let mut note = |now, note: &Note, world: &World| {
        if let Some(logs) = &mut logs {
            logs.note(now, note, world);
        }
    };
    let sink: Option<Sink<'_>> = arguments.logs.as_ref().map(|_| -> Sink<'_> { &mut note });
    let mut lines = Vec::new();
    let mut failure = None;
    let summary = if let Some(soak) = &scenario.soak {
        let mut driver = Driver::new(scenario, soak, variant, seed, sink);
        let verdict = driver.finish(&mut lines)?;
        failure = driver.failure(&verdict);
        summarize(name, seed, &driver.run, Some(word(&verdict, soak.phase)))
    } else {
        let mut run = Run::new(scenario, variant, seed, sink);
        run.finish();
        summarize(name, seed, &run, None)
    };
    if let Some(logs) = logs {
        logs.finish()?;
    }
    if let Some(dir) = &arguments.logs {
        keep_soak(dir, &lines, failure.as_ref())?;
    }
    Ok(summary)
}

pub(super) fn outcome(is_good: bool) -> Outcome {
    if is_good {
        Outcome::Clean
    } else {
        Outcome::Found
    }
}

/// A run that was cut short has shown what it has shown, and no more.
pub(super) fn outcome_of(is_good: bool, is_cut: bool) -> Outcome {
    if is_cut && is_good {
        Outcome::Partial
    } else {
        outcome(is_good)
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

pub(super) fn find(name: &str) -> Result<Scenario, Failure> {
    let built_in = BUILT_IN.iter().find(|it| it.0 == name);
    if let Some((name, text)) = built_in {
        return Ok(Scenario::read(name, text)?);
    }
    if !Path::new(name).exists() {
        let names = BUILT_IN.iter().chain(CONTROLLERS);
        let known: Vec<&str> = names.map(|it| it.0).collect();
        let known = known.join(", ");
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
pub(super) fn open_logs(
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

/// What the harness leaves beside the servers' logs.
pub(super) fn keep_soak(
    dir: &Path,
    lines: &[u8],
    failure: Option<&SoakFailure>,
) -> Result<(), Failure> {
    if !lines.is_empty() {
        fs::write(dir.join("soak.log"), lines)?;
    }
    if let Some(failure) = failure {
        failure.write(&mut BufWriter::new(File::create(dir.join("failure.json"))?))?;
    }
    Ok(())
}

fn word(verdict: &Verdict, phase: u8) -> String {
    match verdict {
        Verdict::Ok => format!("{PASSED}{phase} OK"),
        Verdict::Failed(kind, text) => format!("{kind}: {text}"),
    }
}
