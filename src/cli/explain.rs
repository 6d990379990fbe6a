//! `casdiag explain`.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;

use super::options::RulesOption;
use super::{Failure, Outcome};
use crate::intake::{folder_of, is_stdin};
use crate::pipeline::{self, Plan, Progress};
use crate::report::{self, Texts, explanation};
use crate::rules::{self, Wanted};

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The id of a rule
    rule: String,
    /// A line of a log
    #[arg(value_name = "FILE:LINE")]
    line: String,
    /// What else to look at for the rule's conditions; the line's file alone unless said
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Masks names of hosts and people, addresses, paths, query texts and literals, as in a report
    #[arg(long)]
    redact: bool,
    #[command(flatten)]
    rules: RulesOption,
}

pub(super) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<Outcome, Failure> {
    let base = arguments.rules.load()?;
    let unknown = || rules::unknown_name(&base, Wanted::Rule, &arguments.rule);
    let (rule, _) = base.rule(&arguments.rule).ok_or_else(unknown)?;
    let place = || {
        format!(
            "{}: expected FILE:LINE with a line number from 1",
            arguments.line
        )
    };
    let (file, line) = arguments.line.rsplit_once(':').ok_or_else(place)?;
    let line: u64 = line
        .parse()
        .ok()
        .filter(|line| *line > 0)
        .ok_or_else(place)?;
    let file = PathBuf::from(file);
    if is_stdin(&file) {
        return Err("the standard input is read once, and this reads twice; name a file".into());
    }
    let record = pipeline::record_at(&file, line, &base)?;
    let mut plan = Plan::default();
    if arguments.paths.is_empty() {
        // What a folder says of the file in it, it says too where the file alone is looked at.
        plan.names.folder = folder_of(&file);
        plan.roots = vec![file];
    } else {
        plan.roots.clone_from(&arguments.paths);
    }
    let analysis = pipeline::analyze(&plan, &base, &Progress::default())?;
    let lines = record.with(|subject| rules::trace_record(&base, rule, record.format, subject));
    let lines = lines.unwrap_or_default();
    let mut texts = Texts::plain();
    if arguments.redact {
        let checks = lines.iter().flat_map(|it| &it.checks);
        let counts = lines.iter().flat_map(|it| &it.counts);
        let shown = checks.map(|check| check.text.as_str());
        let shown = shown.chain(counts.map(|taken| taken.text.as_str()));
        texts = Texts::masked(&report::assemble::report(&analysis, &base), &base, shown)?;
    }
    let named = arguments.line.rsplit_once(':').unwrap_or_default().0;
    let mut place = format!("{}:{line}", texts.path(named));
    if record.line != line {
        place = format!("{place}, of the record at line {},", record.line);
    }
    explanation::write(&place, &lines, &base, rule, &analysis, &mut texts, out)?;
    Ok(Outcome::Clean)
}
