//! `casdiag diff`: two reports, kept or made on the spot, side by side.

use std::fs::File;
use std::io::{BufReader, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::PossibleValuesParser;

use super::options::{ColorChoice, FailOn, ReadOptions, RulesOption};
use super::{Failure, Outcome, output, progress};
use crate::pipeline::{self, Progress};
use crate::report::model::Report;
use crate::report::{self, DIFF_OUTPUTS, json};
use crate::rules::RuleBase;

/// What `--out` calls a kept report.
const KEPT: &str = "report.json";

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// What to compare with, a good run: a kept report.json, a folder that --out wrote, or logs and results of tests as a folder or archive
    base: PathBuf,
    /// What to compare
    new: PathBuf,
    #[command(flatten)]
    rules: RulesOption,
    /// What to print
    #[arg(long, default_value = "text", value_name = "FORMAT", value_parser = PossibleValuesParser::new(DIFF_OUTPUTS.iter().map(|it| it.name)))]
    format: String,
    /// Exits with 1 if a finding of this severity or worse is new, or worse than in the base; and, unless this is `never`, if a
    /// test fails that did not
    #[arg(long, value_enum, default_value_t = FailOn::High, value_name = "LEVEL")]
    fail_on: FailOn,
    #[command(flatten)]
    read: ReadOptions,
    /// Colors the text output
    #[arg(long, value_enum, default_value_t = ColorChoice::Auto, value_name = "WHEN")]
    color: ColorChoice,
}

pub(super) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<Outcome, Failure> {
    let rules = arguments.rules.load()?;
    let (base, base_is_known) = side(&arguments.base, arguments, &rules)?;
    let (new, new_is_known) = side(&arguments.new, arguments, &rules)?;
    let name = |path: &Path| path.display().to_string();
    let names = (name(&arguments.base), name(&arguments.new));
    let fail_on = arguments.fail_on.severity();
    let diff = report::compare(&base, &new, (&names.0, &names.1), fail_on);
    if let Some(output) = DIFF_OUTPUTS.iter().find(|it| it.name == arguments.format) {
        (output.write)(&diff, &output::style(arguments.color), out)?;
    }
    out.flush()?;
    Ok(if diff.fails() {
        Outcome::Found
    } else if base_is_known && new_is_known && base.complete && new.complete && !diff.leaves_open()
    {
        Outcome::Clean
    } else {
        Outcome::Partial
    })
}

/// A report, and whether it is one of anything that was recognised.
fn side(path: &Path, arguments: &Arguments, rules: &RuleBase) -> Result<(Report, bool), Failure> {
    if let Some(kept) = kept(path) {
        if let Some(option) = arguments.read.selecting() {
            let hint = "it says what to read of logs; name the logs instead";
            return Err(format!("{option} with the kept report {}: {hint}", kept.display()).into());
        }
        let named = |error: &dyn std::fmt::Display| format!("{}: {error}", kept.display());
        let file = File::open(&kept).map_err(|error| named(&error))?;
        let report = json::read(BufReader::new(file)).map_err(|error| named(&error))?;
        return Ok((report, true));
    }
    if let Some(name) = arguments.read.only_node() {
        return Err(
            format!("--node {name}: expected NAME=GLOB, e.g. --node '{name}=**/{name}/*'").into(),
        );
    }
    let mut plan = arguments.read.plan(vec![path.to_path_buf()])?;
    plan.is_folder_node = false;
    let wanted = !arguments.read.no_progress && !arguments.read.quiet;
    let progress = Progress::default();
    let analysis = progress::watched(wanted, &progress, || {
        pipeline::analyze(&plan, rules, &progress)
    })?;
    let is_known = analysis.is_recognised();
    if !is_known && !arguments.read.quiet {
        super::complain_of(&format!("nothing was recognised under {}", path.display()));
    }
    Ok((report::assemble::report(&analysis, rules), is_known))
}

/// The kept report that a path leads to: a file called like JSON, or a folder that `--out` wrote.
fn kept(path: &Path) -> Option<PathBuf> {
    let is_json = path
        .extension()
        .is_some_and(|it| it.eq_ignore_ascii_case("json"));
    if is_json && path.is_file() {
        return Some(path.to_path_buf());
    }
    let inside = path.join(KEPT);
    let is_written = path.join("report.html").is_file();
    (inside.is_file() && is_written).then_some(inside)
}
