//! The table of experiments: what was expected, where from, and what the engine shows.

use std::io::{self, Write};

use super::expect::{Measure, Over, median, missing};
use super::fsck;
use super::logs::host;
use super::names::What;
use super::run::Run;
use super::scenario::{Scenario, ScenarioError};
use super::trial::{Seen, trial};
use super::variant::{UnknownVariant, Variant};
use crate::engine::sim::{Micros, SECOND};

/// Why the table cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// A scenario is none.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// An expectation names a protocol that there is not.
    #[error(transparent)]
    Variant(#[from] UnknownVariant),
    /// It cannot be written.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Measures the expectations of scenarios, given by name and text, and writes them as a Markdown table. Whether all
/// of them came out, but for those that say why they do not; one that says so and comes out is as bad.
///
/// The scenarios run beside each other on up to `threads` threads; the table does not depend on how many.
pub fn write_table(
    scenarios: &[(&str, &str)],
    threads: usize,
    out: &mut dyn Write,
) -> Result<bool, TableError> {
    let measured = measure_all(scenarios, threads);
    let mut fits = true;
    writeln!(
        out,
        "| scenario | variant | measure | expected | observed | fits | expected by |"
    )?;
    writeln!(out, "|---|---|---|---|---|---|---|")?;
    for ((name, _), seen) in scenarios.iter().zip(measured) {
        for one in seen? {
            let gap = one.expect.gap.as_deref();
            fits &= one.fits() == gap.is_none();
            let word = match (one.fits(), gap) {
                (true, None) => "yes".to_owned(),
                (true, Some(_)) => "yes, and a gap is named".to_owned(),
                (false, None) => "**no**".to_owned(),
                (false, Some(gap)) => format!("**no**: {gap}"),
            };
            writeln!(
                out,
                "| {name} | {} | {} | {} | {} | {word} | {} |",
                one.variant.name(),
                subject(&one),
                bounds(&one),
                values(&one),
                one.expect.from
            )?;
        }
    }
    Ok(fits)
}

type Measured = Result<Vec<Seen>, TableError>;

fn measure_all(scenarios: &[(&str, &str)], threads: usize) -> Vec<Measured> {
    let threads = threads.max(1);
    let mut all: Vec<(usize, Measured)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|worker| {
                let mine = scenarios.iter().enumerate().skip(worker).step_by(threads);
                scope.spawn(move || {
                    mine.map(|(place, (name, text))| (place, measure_one(name, text)))
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        workers
            .into_iter()
            .filter_map(|it| it.join().ok())
            .flatten()
            .collect()
    });
    all.sort_by_key(|it| it.0);
    all.into_iter().map(|it| it.1).collect()
}

fn measure_one(name: &str, text: &str) -> Measured {
    Ok(trial(&Scenario::read(name, text)?)?)
}

fn subject(seen: &Seen) -> String {
    let expect = &seen.expect;
    let word = match expect.measure {
        Measure::Refused => "relinks refused",
        Measure::RefusedPerMinute => "relinks refused per minute",
        Measure::RefusedPerFinished => "refused per 100 finished",
        Measure::Finished => "relinks finished",
        Measure::Availability => "relinks that went through, %",
        Measure::Unknown => "answers unknown",
        Measure::No => "answers no",
        Measure::Downloaded => "parts as bytes",
        Measure::Appends => "batches appended",
        Measure::Queue => "length of the queue",
        Measure::QueueLeft => "what is left of the queue, %",
        Measure::Missing => "parts missing",
        Measure::Unequal => "not converged",
        Measure::LongestWait => "longest wait of an entry, ms",
        Measure::FailuresAtLongestWait => "failures of that entry",
        Measure::Resets => "connections reset",
        Measure::Broken => "promises broken, references dangling",
        Measure::Recovered => "ledgers recovered",
        Measure::Fenced => "changes refused by the fence",
        Measure::PoolFull => "tries without an attempt",
        Measure::NotResident => "answers unknown: not resident",
        Measure::Unrecovered => "answers unknown: not recovered",
        Measure::Stopped => "servers stopped",
        Measure::SoakPassed => "soak passed",
        Measure::LeasesLost => "leases lost",
        Measure::FencedOut => "mounts fenced out",
        Measure::Remounted => "mounts taken again",
        Measure::Faulted => "ledgers faulted",
        Measure::OutOfMemory => "servers killed for memory",
        Measure::Conflicts => "changes of the catalog refused (412)",
        Measure::NotMade => "tables not made, %",
        Measure::MostAttempts => "most attempts of a table",
        Measure::StoreErrors => "store errors",
    };
    let node = expect
        .node
        .map_or_else(String::new, |it| format!(", {}", host(it)));
    let time = match (expect.from_s, expect.to_s) {
        (0, None) => String::new(),
        (from, None) => format!(", from {from} s"),
        (0, Some(to)) => format!(", until {to} s"),
        (from, Some(to)) => format!(", {from} to {to} s"),
    };
    let ops = expect.after_ops;
    let ops = ops.map_or_else(String::new, |it| format!(", after {it} operations"));
    format!("{word}{node}{time}{ops}")
}

fn bounds(seen: &Seen) -> String {
    let expect = &seen.expect;
    let bounds = match (expect.at_least, expect.at_most) {
        (Some(least), Some(most)) if least == most => least.to_string(),
        (Some(least), Some(most)) => format!("{least} to {most}"),
        (Some(least), None) => format!("at least {least}"),
        (None, Some(0)) => "0".to_owned(),
        (None, Some(most)) => format!("at most {most}"),
        (None, None) => "any".to_owned(),
    };
    match expect.over {
        _ if seen.values.len() < 2 => bounds,
        Over::Median => format!("{bounds} (median)"),
        Over::Each => format!("{bounds} (each)"),
    }
}

fn values(seen: &Seen) -> String {
    let (least, most) = (seen.values.iter().min(), seen.values.iter().max());
    match (median(&seen.values), least, most) {
        (Some(middle), Some(least), Some(most)) if least != most => {
            format!("{middle} ({least} to {most}, {} seeds)", seen.values.len())
        }
        (Some(middle), ..) if seen.values.len() > 1 => {
            format!("{middle} ({} seeds)", seen.values.len())
        }
        (Some(middle), ..) => middle.to_string(),
        (None, ..) => "not run".to_owned(),
    }
}

/// One protocol over the seeds of a scenario: medians.
struct Compared {
    converged: usize,
    seconds: Vec<u64>,
    missing: Vec<u64>,
    refused: Vec<u64>,
    finished: Vec<u64>,
    bytes: Vec<u64>,
    appends: Vec<u64>,
    kept: bool,
}

/// How often a comparison looks whether the servers have converged.
const LOOK: Micros = 5 * SECOND;

/// Writes what a scenario comes to under several protocols, as a Markdown table. Whether every promise was kept.
pub fn write_comparison(
    scenario: &Scenario,
    variants: &[Variant],
    out: &mut dyn Write,
) -> io::Result<bool> {
    writeln!(
        out,
        "| variant | converged | after, s | parts missing at the end | refused | finished | as bytes | batches appended | promises |"
    )?;
    writeln!(out, "|---|---|---|---|---|---|---|---|---|")?;
    let mut kept = true;
    for variant in variants {
        let one = compare(scenario, *variant);
        kept &= one.kept;
        let cell = |values: &[u64]| median(values).map_or_else(String::new, |it| it.to_string());
        let seconds = if one.seconds.is_empty() {
            "never".to_owned()
        } else {
            cell(&one.seconds)
        };
        writeln!(
            out,
            "| {} | {} of {} | {seconds} | {} | {} | {} | {} | {} | {} |",
            variant.name(),
            one.converged,
            scenario.seeds,
            cell(&one.missing),
            cell(&one.refused),
            cell(&one.finished),
            cell(&one.bytes),
            cell(&one.appends),
            if one.kept { "kept" } else { "**broken**" }
        )?;
    }
    Ok(kept)
}

fn compare(scenario: &Scenario, variant: Variant) -> Compared {
    let mut all = Compared {
        converged: 0,
        seconds: Vec::new(),
        missing: Vec::new(),
        refused: Vec::new(),
        finished: Vec::new(),
        bytes: Vec::new(),
        appends: Vec::new(),
        kept: true,
    };
    let written = scenario.load.iter().map(|it| it.to_s * SECOND).max();
    for seed in scenario.seed..scenario.seed + scenario.seeds {
        let mut run = Run::new(scenario, variant, seed, None);
        run.run_until(written.unwrap_or(0).min(scenario.end()));
        while !run.world.has_converged() && run.now() < scenario.end() {
            let next = (run.now() + LOOK).min(scenario.end());
            run.run_until(next);
            if !run.world.broken.is_empty() || run.is_cut {
                break;
            }
        }
        let at = run.now() / SECOND;
        run.finish();
        if run.world.has_converged() {
            all.converged += 1;
            all.seconds.push(at);
        }
        all.missing.push(missing(&run, None));
        all.refused.push(run.tally.total(What::Refused, None));
        all.finished.push(run.tally.total(What::Finished, None));
        all.bytes.push(run.tally.total(What::Downloaded, None));
        all.appends.push(run.tally.total(What::Appended, None));
        all.kept &= run.world.broken.is_empty() && fsck::check(&run.world).dangling == 0;
    }
    all
}
