//! Options that several commands share, and what they mean.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use globset::{Glob, GlobMatcher};

use super::Failure;
use crate::intake::{Bounds, Names, NodeGlob, read_text};
use crate::pipeline::Plan;
use crate::rules::{self, RuleBase};
use crate::time::{Period, Zone, read_bound};
use crate::vocab::Severity;

/// The rules to use.
#[derive(Debug, Args)]
pub(super) struct RulesOption {
    /// A rules file; adds to the built-in base, and overrides what has the same id. May be given several times
    #[arg(long = "rules", value_name = "FILE")]
    files: Vec<PathBuf>,
}

impl RulesOption {
    /// Loads the rule base.
    pub(super) fn load(&self) -> Result<RuleBase, Failure> {
        let mut extra = Vec::new();
        for path in &self.files {
            extra.push((path.display().to_string(), read_text(path)?));
        }
        Ok(rules::load(&extra)?)
    }
}

/// What to read, and how.
#[derive(Debug, Args)]
pub(super) struct InputOptions {
    /// Folders, files and archives to look at; `-` is the standard input, `a.zip!/ch1` a part of an archive
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) read: ReadOptions,
}

/// How to read what is named.
#[derive(Debug, Args)]
pub(super) struct ReadOptions {
    /// Calls the node of the files that match GLOB by NAME, e.g. `--node web1='**/10.0.0.7/*'`; with `lines`, a NAME
    /// alone lists only the records of that node
    #[arg(long, value_name = "NAME[=GLOB]")]
    node: Vec<String>,
    /// Takes each folder that matches as a run of its own
    #[arg(long, value_name = "GLOB")]
    run: Vec<String>,
    /// Leaves out records before this local time, e.g. 2026-09-01T23:28
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Leaves out records from this local time on
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// The time zone of the servers' clocks, e.g. UTC or Europe/Berlin; wins over what the logs say
    #[arg(long, value_name = "ZONE")]
    tz: Option<String>,
    /// How many threads scan; one per core unless said, and with 0
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true, value_parser = clap::value_parser!(u16).range(0..=256))]
    threads: u16,
    /// How many different values of a field (parts, tables) are counted apart per node
    #[arg(long, value_name = "N", default_value_t = Plan::default().subjects_max, value_parser = at_least_one)]
    max_subjects: usize,
    /// The longest record kept whole, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = Plan::default().limits.record_bytes)]
    max_record: usize,
    /// How many bytes one packed file may unpack to, and all archives together in the temporary file (in TMPDIR)
    #[arg(long, value_name = "BYTES", default_value_t = Bounds::default().unpacked)]
    max_unpacked: u64,
    /// How many times its packed size a file may unpack to
    #[arg(long, value_name = "N", default_value_t = Bounds::default().ratio)]
    max_ratio: u64,
    /// How many members all archives may have together
    #[arg(long, value_name = "N", default_value_t = Bounds::default().members)]
    max_members: usize,
    /// How many archives may lie inside each other
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u8).range(1..=64))]
    max_nesting: u8,
    /// Shows no progress
    #[arg(long)]
    pub(super) no_progress: bool,
    /// Says nothing on stderr but errors
    #[arg(short, long)]
    pub(super) quiet: bool,
}

impl InputOptions {
    /// The plan these options describe.
    pub(super) fn plan(&self) -> Result<Plan, Failure> {
        self.read.plan(self.paths.clone())
    }

    /// What the user gave, for messages.
    pub(super) fn paths(&self) -> &[PathBuf] {
        &self.paths
    }
}

impl ReadOptions {
    /// The plan these options describe for some paths.
    pub(super) fn plan(&self, roots: Vec<PathBuf>) -> Result<Plan, Failure> {
        let mut plan = Plan {
            roots,
            threads: usize::from(self.threads),
            subjects_max: self.max_subjects,
            ..Plan::default()
        };
        plan.limits.record_bytes = self.max_record.max(plan.limits.block_bytes);
        plan.bounds = Bounds {
            nesting: usize::from(self.max_nesting),
            members: self.max_members,
            unpacked: self.max_unpacked,
            ratio: self.max_ratio,
        };
        plan.names = Names {
            nodes: self.nodes()?,
            runs: self
                .run
                .iter()
                .map(|text| glob("--run", text))
                .collect::<Result<_, _>>()?,
            ..Names::default()
        };
        plan.period = self.period()?;
        if let Some(name) = &self.tz {
            let hint = "use a name of the IANA data base such as UTC, Europe/Berlin or Etc/GMT-3";
            plan.zone = Zone::from_name(name)
                .ok_or_else(|| format!("--tz {name}: no such time zone; {hint}"))?;
        }
        Ok(plan)
    }

    fn period(&self) -> Result<Period, Failure> {
        let end =
            |flag, text: &Option<String>| text.as_deref().map(|text| bound(flag, text)).transpose();
        let (since, until) = (end("--since", &self.since)?, end("--until", &self.until)?);
        if let (Some(first), Some(end)) = (since, until)
            && end <= first
        {
            let (since, until) = (first.short(), end.short());
            return Err(format!(
                "--until {until} is not after --since {since}: no record can lie between"
            )
            .into());
        }
        Ok(Period { since, until })
    }

    /// Says on stderr which nodes and runs that were named no input is of; whether there are none.
    pub(super) fn are_found(
        &self,
        has_node: impl Fn(&str) -> bool,
        has_folder: impl Fn(&GlobMatcher) -> bool,
    ) -> bool {
        let name = |text: &String| text.split('=').next().unwrap_or_default().to_owned();
        let nodes = self.node.iter().map(name);
        let unknown: Vec<String> = nodes.filter(|it| !has_node(it)).collect();
        let is_run = |text: &&String| glob("--run", text).is_ok_and(|it| has_folder(&it));
        let runs = self.run.iter().filter(|text| !is_run(text));
        let unmatched: Vec<&str> = runs.map(String::as_str).collect();
        if !unmatched.is_empty() {
            super::complain_of(&format!(
                "no folder matches --run {}; a GLOB has to match the whole path of a run's folder below what was given",
                unmatched.join(", ")
            ));
        }
        if !unknown.is_empty() {
            super::complain_of(&format!(
                "no input is of the node {}; see `nodes` in --format json for those that are",
                unknown.join(", ")
            ));
        }
        unknown.is_empty() && unmatched.is_empty()
    }

    fn nodes(&self) -> Result<Vec<NodeGlob>, Failure> {
        let named = self.node.iter().filter_map(|text| text.split_once('='));
        let node = |(name, pattern): (&str, &str)| -> Result<NodeGlob, Failure> {
            Ok(NodeGlob {
                name: name.to_owned(),
                glob: glob("--node", pattern)?,
            })
        };
        named.map(node).collect()
    }

    /// The node named without a glob: the only one wanted.
    pub(super) fn only_node(&self) -> Option<&str> {
        self.node
            .iter()
            .map(String::as_str)
            .find(|text| !text.contains('='))
    }

    /// The first of the options that say what to read of logs, and mean nothing for a kept report.
    pub(super) fn selecting(&self) -> Option<&'static str> {
        let given = [
            ("--node", !self.node.is_empty()),
            ("--run", !self.run.is_empty()),
            ("--since", self.since.is_some()),
            ("--until", self.until.is_some()),
        ];
        given.into_iter().find(|(_, is)| *is).map(|(name, _)| name)
    }
}

fn at_least_one(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| "a whole number of at least 1 is needed".to_owned())
}

fn glob(flag: &str, text: &str) -> Result<GlobMatcher, Failure> {
    Ok(Glob::new(text)
        .map_err(|error| format!("{flag} {text}: {error}"))?
        .compile_matcher())
}

fn bound(flag: &str, text: &str) -> Result<crate::time::Timestamp, Failure> {
    let hint = "write a date or a date and a time, e.g. 2026-09-01 or 2026-09-01T23:28:20";
    Ok(read_bound(text).ok_or_else(|| format!("{flag} {text}: no time; {hint}"))?)
}

/// From which severity on a finding fails the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum FailOn {
    /// Never.
    Never,
    /// Any finding.
    Info,
    /// Low or worse.
    Low,
    /// Medium or worse.
    Medium,
    /// High or worse.
    High,
    /// Critical only.
    Critical,
}

impl FailOn {
    /// The least severity that fails.
    pub(super) fn severity(self) -> Option<Severity> {
        match self {
            Self::Never => None,
            Self::Info => Some(Severity::Info),
            Self::Low => Some(Severity::Low),
            Self::Medium => Some(Severity::Medium),
            Self::High => Some(Severity::High),
            Self::Critical => Some(Severity::Critical),
        }
    }
}

/// Whether output is colored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ColorChoice {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The paths joined for a message.
pub(super) fn listed(paths: &[PathBuf]) -> String {
    paths
        .iter()
        .map(|path| Path::display(path).to_string())
        .collect::<Vec<_>>()
        .join(", ")
}
