//! `casdiag analyze`.

use std::io::{self, Write};
use std::mem::ManuallyDrop;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;

use super::options::{ColorChoice, FailOn, InputOptions, RulesOption, listed};
use super::output::{self, Format};
use super::{Failure, Outcome, progress, wal};
use crate::pipeline::{self, Progress};
use crate::profile::Profile;
use crate::report::model::Report;
use crate::report::{self, escape};
use crate::vocab::several;

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(super) struct Arguments {
    #[command(flatten)]
    pub(super) input: InputOptions,
    #[command(flatten)]
    rules: RulesOption,
    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Also writes every output into this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Overwrites outputs in a folder that is not empty
    #[arg(long, requires = "out")]
    force: bool,
    /// Reads the write-ahead logs beside the logs with this layout: the name of a known one, or a file that describes one
    #[arg(long, value_name = "NAME|FILE")]
    layout: Option<String>,
    /// Exits with 1 if there is a finding of this severity or worse
    #[arg(long, value_enum, default_value_t = FailOn::High, value_name = "LEVEL")]
    pub(super) fail_on: FailOn,
    /// Masks names of hosts and people, addresses, paths, query texts and literals in every output, the same text by the
    /// same mask
    #[arg(long)]
    pub(super) redact: bool,
    /// Prints on stderr what each signal and rule cost
    #[arg(long)]
    profile_rules: bool,
    /// Runs findings again in the reference engine, where their rules say how, and adds what comes of it
    #[arg(long)]
    replay: bool,
    /// Colors the text output
    #[arg(long, value_enum, default_value_t = ColorChoice::Auto, value_name = "WHEN")]
    color: ColorChoice,
}

pub(super) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<Outcome, Failure> {
    let (report, judged) = analyzed(arguments, false, out)?;
    Ok(outcome(&report, judged, arguments.fail_on))
}

/// Analyses, prints, and says on stderr what the answer cannot; the report, and whether there was anything to judge, of all
/// that was asked for.
pub(super) fn analyzed(
    arguments: &Arguments,
    for_tests: bool,
    out: &mut dyn Write,
) -> Result<(Report, bool), Failure> {
    let mut plan = arguments.input.plan()?;
    plan.for_tests = for_tests;
    plan.layout = wal::choice(arguments.layout.as_deref())?;
    if let Some(name) = arguments.input.read.only_node() {
        return Err(
            format!("--node {name}: expected NAME=GLOB, e.g. --node '{name}=**/{name}/*'").into(),
        );
    }
    if let Some(folder) = &arguments.out {
        report::check_folder(folder, arguments.force)?;
    }
    // The program ends with its answer: to take apart what it holds until then would only keep the answer's reader waiting.
    let base = ManuallyDrop::new(arguments.rules.load()?);
    plan.profile = arguments
        .profile_rules
        .then(|| Arc::new(Profile::new(base.signals.signals().len(), base.rules.len())));
    let wanted = !arguments.input.read.no_progress && !arguments.input.read.quiet;
    let progress = Progress::default();
    let analysis = progress::watched(wanted, &progress, || {
        pipeline::analyze(&plan, &base, &progress)
    });
    let analysis = ManuallyDrop::new(analysis?);
    let mut report = report::assemble::report(&analysis, &base);
    report.fail_on = arguments.fail_on.severity();
    report.tests.wanted = for_tests;
    if arguments.replay {
        super::again::add(&mut report);
    }
    if arguments.redact {
        report = report::redact(report)?;
    }
    if let Some(folder) = &arguments.out {
        report::write_folder(&report, folder, arguments.force)?;
    }
    output::print(&report, arguments.format, arguments.color, out)?;
    if let Some(profile) = &plan.profile {
        report::profile::write(profile, &base, &mut io::stderr())?;
    }
    if !analysis.is_recognised() && !arguments.input.read.quiet {
        let seen = several(report.inputs.len(), "file", "files");
        let message = format!(
            "casdiag: nothing was recognised under {} ({seen} seen). Looked for ClickHouse server and keeper logs in their text form \
             (main log, err.log, rotated pieces), logs of ZooKeeper, etcd, NuRaft, Consul, Vault and Nomad, NATS, MongoDB, CockroachDB, TiKV and HA controllers, \
             standard errors of servers, core files, write-ahead logs, and results of tests (TestFlows, JUnit, pytest, cargo, nextest, \
             google test, clickhouse-test, praktika, logs of GitHub Actions), and formats that a rules file declares, in folders and in tar, zip, gzip, zstd, xz, lz4 and bzip2.",
            escape::terminal(&listed(arguments.input.paths()))
        );
        writeln!(io::stderr(), "{message}")?;
    }
    if analysis.is_cut_away() && !arguments.input.read.quiet {
        super::complain_of(
            "no record of what was recognised lies in the time asked for; see --since and --until",
        );
    }
    let judged = analysis.is_recognised()
        && !analysis.is_cut_away()
        && arguments.input.read.are_found(
            |node| analysis.has_node(node),
            |glob| analysis.has_folder(|it| glob.is_match(it)),
        );
    Ok((report, judged))
}

/// `judged`: whether there was anything to judge, of all that was asked for.
pub(super) fn outcome(report: &Report, judged: bool, fail_on: FailOn) -> Outcome {
    let fails = |least| {
        report
            .findings
            .iter()
            .any(|finding| finding.severity >= least)
    };
    if fail_on.severity().is_some_and(fails) {
        Outcome::Found
    } else if !judged || !report.complete {
        Outcome::Partial
    } else {
        Outcome::Clean
    }
}
