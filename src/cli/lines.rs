//! `casdiag lines`: the records behind a count, beside what a plain search would have counted.

use std::io::Write;

use clap::Args;

use super::options::{InputOptions, RulesOption};
use super::{Failure, Outcome, progress};
use crate::pipeline::{self, Listing, Progress};
use crate::report::listing;

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The id of a signal; `casdiag rules list` names them all
    signal: String,
    #[command(flatten)]
    input: InputOptions,
    #[command(flatten)]
    rules: RulesOption,
    /// At most so many records per node
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    limit: usize,
}

pub(super) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<Outcome, Failure> {
    let base = arguments.rules.load()?;
    let signal = base.signals.index(&arguments.signal);
    let signal = signal.ok_or_else(|| {
        format!(
            "no signal is called {:?}; `casdiag rules list` names them all",
            arguments.signal
        )
    })?;
    let mut plan = arguments.input.plan()?;
    plan.listing = Some(Listing {
        signal,
        records_max: arguments.limit,
    });
    let wanted = !arguments.input.no_progress && !arguments.input.quiet;
    let progress = Progress::default();
    let analysis = progress::watched(wanted, &progress, || {
        pipeline::analyze(&plan, &base, &progress)
    })?;
    if !arguments.input.names_are(|name| analysis.has_node(name)) {
        return Ok(Outcome::Partial);
    }
    listing::write(&analysis, &base, signal, arguments.input.only_node(), out)?;
    let whole = analysis.is_recognised() && analysis.is_complete() && !analysis.is_cut_away();
    Ok(if whole {
        Outcome::Clean
    } else {
        Outcome::Partial
    })
}
