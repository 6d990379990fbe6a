//! `casdiag rules`: list, show, test, lint.

use std::io::Write;

use clap::{Args, Subcommand};

use super::options::RulesOption;
use super::{Failure, Outcome};
use crate::pipeline;
use crate::report::{escape, rulebook};
use crate::rules::{self, Wanted};

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Lists rules and signals, a line each.
    List(Only),
    /// Shows a rule or a signal: what it finds, how it comes about, what to do, its samples.
    Show(Show),
    /// Runs every sample through the whole analysis.
    Test(Only),
    /// Checks the base for what has no sample, no prose or no use.
    Lint(Only),
    /// Prints the whole base as a Markdown page.
    #[command(hide = true)]
    Page(Only),
    /// Prints the rules as a Markdown table whose links lead to a page.
    #[command(hide = true)]
    Table(Table),
}

#[derive(Debug, Args)]
pub(super) struct Only {
    #[command(flatten)]
    rules: RulesOption,
}

#[derive(Debug, Args)]
pub(super) struct Show {
    /// The id of a rule or a signal
    id: String,
    #[command(flatten)]
    rules: RulesOption,
}

#[derive(Debug, Args)]
pub(super) struct Table {
    /// Where the page is, from the table
    page: String,
    #[command(flatten)]
    rules: RulesOption,
}

pub(super) fn run(command: &Command, out: &mut dyn Write) -> Result<Outcome, Failure> {
    match command {
        Command::List(only) => {
            rulebook::list(&only.rules.load()?, out)?;
            Ok(Outcome::Clean)
        }
        Command::Show(show) => {
            let base = show.rules.load()?;
            let known = rulebook::show(&base, &show.id, out)?;
            if known {
                Ok(Outcome::Clean)
            } else {
                Err(rules::unknown_name(&base, Wanted::Either, &show.id).into())
            }
        }
        Command::Test(only) => test(only, out),
        Command::Page(only) => {
            rulebook::page(&only.rules.load()?, out)?;
            Ok(Outcome::Clean)
        }
        Command::Table(table) => {
            rulebook::table(&table.rules.load()?, &table.page, out)?;
            Ok(Outcome::Clean)
        }
        Command::Lint(only) => {
            let faults = rules::lint(&only.rules.load()?);
            for fault in &faults {
                let text = format!("{}: {}", fault.owner, fault.what);
                writeln!(out, "{}", escape::terminal(&text))?;
            }
            let word = if faults.len() == 1 { "fault" } else { "faults" };
            writeln!(out, "{} {word}", faults.len())?;
            Ok(if faults.is_empty() {
                Outcome::Clean
            } else {
                Outcome::Found
            })
        }
    }
}

fn test(only: &Only, out: &mut dyn Write) -> Result<Outcome, Failure> {
    let base = only.rules.load()?;
    let mut failed = 0;
    let samples = rules::samples(&base);
    for sample in &samples {
        if let Some(fault) = pipeline::try_sample(sample, &base)? {
            failed += 1;
            let (owner, name, place) = (&sample.owner, &sample.name, &sample.place);
            let text = format!("FAILED {owner} ({name}), {place}: {fault}");
            writeln!(out, "{}", escape::terminal(&text))?;
        }
    }
    writeln!(out, "{} passed, {failed} failed", samples.len() - failed)?;
    Ok(if failed == 0 {
        Outcome::Clean
    } else {
        Outcome::Found
    })
}
