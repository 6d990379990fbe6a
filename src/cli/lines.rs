//! `casdiag lines`: the records behind a count, beside what a plain search would have counted.

use std::io::Write;

use clap::Args;

use super::options::{InputOptions, RulesOption};
use super::{Failure, Outcome, progress};
use crate::pipeline::{self, Listing, Progress};
use crate::report::{self, Texts, listing};
use crate::rules::{self, Wanted};

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
    /// Masks names of hosts and people, addresses, paths, query texts and literals, as in a report
    #[arg(long)]
    redact: bool,
}

pub(super) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<Outcome, Failure> {
    let base = arguments.rules.load()?;
    let signal = base.signals.index(&arguments.signal);
    let unknown = || rules::unknown_name(&base, Wanted::Signal, &arguments.signal);
    let signal = signal.ok_or_else(unknown)?;
    let mut plan = arguments.input.plan()?;
    plan.listing = Some(Listing {
        signal,
        records_max: arguments.limit,
    });
    let wanted = !arguments.input.read.no_progress && !arguments.input.read.quiet;
    let progress = Progress::default();
    let analysis = progress::watched(wanted, &progress, || {
        pipeline::analyze(&plan, &base, &progress)
    })?;
    let read = &arguments.input.read;
    if !read.are_found(
        |node| analysis.has_node(node),
        |glob| analysis.has_folder(|it| glob.is_match(it)),
    ) {
        return Ok(Outcome::Partial);
    }
    let mut texts = Texts::plain();
    if arguments.redact {
        let tallies = analysis.nodes.iter().map(|node| &node.tally);
        let found = tallies.flat_map(|it| &it.signals[usize::from(signal)].evidence);
        let lines = found.map(|it| it.text.as_str());
        texts = Texts::masked(&report::assemble::report(&analysis, &base), &base, lines)?;
    }
    let node = arguments.input.read.only_node();
    listing::write(&analysis, &base, signal, node, &mut texts, out)?;
    let whole = analysis.is_recognised() && analysis.is_complete() && !analysis.is_cut_away();
    Ok(if whole {
        Outcome::Clean
    } else {
        Outcome::Partial
    })
}
