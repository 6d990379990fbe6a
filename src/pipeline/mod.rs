//! From a plan to an analysis: the only place that sees every stage, and where threads live.

mod candidates;
mod copies;
mod facts;
mod find;
mod folding;
mod inputs;
mod listings;
mod lookup;
mod marks;
mod places;
mod plain;
mod reader;
mod run;
mod seen;
mod sharing;
mod sniffing;
mod tables;
mod taken;
mod tests;
mod trial;
mod wal;
mod wrapped;

pub use find::{RecordAt, record_at};
pub use trial::try_sample;

use listings::ListedWals;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::analysis::Analysis;
use crate::intake::{self, Bounds, Found, Limits, Names};
use crate::layout::Choice;
use crate::outcome;
use crate::profile::Profile;
use crate::rules::{RuleBase, WalProblem};
use crate::signals::tally::Watch;
use crate::time::{Period, Zone};

/// What to do, decided from the command line alone.
#[derive(Debug)]
pub struct Plan {
    /// What to look at.
    pub roots: Vec<PathBuf>,
    /// How runs and nodes are called.
    pub names: Names,
    /// Whether the folder that is given may be called after a node: where two are compared, it says which of them it is.
    pub is_folder_node: bool,
    /// Records that are not known to lie in it are left out.
    pub period: Period,
    /// The zone of all clocks, where the user knows it.
    pub zone: Zone,
    /// How many threads scan; 0 means one per core.
    pub threads: usize,
    /// How many values of a field are counted apart.
    pub subjects_max: usize,
    /// Bounds on memory.
    pub limits: Limits,
    /// Bounds on what is packed.
    pub bounds: Bounds,
    /// A signal whose records are wanted one by one.
    pub listing: Option<Listing>,
    /// How WALs are read.
    pub layout: Choice,
    /// Whether the question is what became of tests: what soaks print among logs is then read for its verdict too.
    pub for_tests: bool,
    /// Where to add what signals and rules cost.
    pub profile: Option<Arc<Profile>>,
}

/// What to list.
#[derive(Debug, Clone, Copy)]
pub struct Listing {
    /// The index of the signal.
    pub signal: u16,
    /// How many records per node.
    pub records_max: usize,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            roots: Vec::new(),
            names: Names::default(),
            is_folder_node: true,
            period: Period::default(),
            zone: Zone::Unknown,
            threads: 0,
            // 100,000 parts or tables of some 60 bytes are a few megabytes; a hostile log must not cost more.
            subjects_max: 100_000,
            limits: Limits::default(),
            bounds: Bounds::default(),
            listing: None,
            layout: Choice::Detect,
            for_tests: false,
            profile: None,
        }
    }
}

/// What stops an analysis.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A given path cannot be looked at.
    #[error(transparent)]
    Intake(#[from] intake::Error),
    /// A line that was asked for is not there, or belongs to no record.
    #[error("{path}:{line}: {why}")]
    Line {
        /// The file.
        path: String,
        /// The line, from 1.
        line: u64,
        /// What is the matter.
        why: &'static str,
    },
    /// The threads could not be started.
    #[error("cannot start {threads} threads")]
    Threads {
        /// How many were asked for.
        threads: usize,
        /// Why.
        source: rayon::ThreadPoolBuildError,
    },
}

/// Progress of a run, read by whoever shows it.
#[derive(Debug, Default)]
pub struct Progress {
    /// Stored bytes read so far.
    pub done: AtomicU64,
    /// Stored bytes to read, once known.
    pub total: AtomicU64,
    /// Members that were met in packed archives, which are unpacked before anything is read.
    pub unpacked: AtomicU64,
}

/// Analyses everything below the plan's roots.
pub fn analyze(plan: &Plan, rules: &RuleBase, progress: &Progress) -> Result<Analysis, Error> {
    let mut found = intake::walk(&plan.roots, plan.bounds, &|name, start| {
        progress.unpacked.fetch_add(1, Ordering::Relaxed);
        sniffing::useful(name, start, &plan.layout, rules)
    })?;
    let given = found.folder.filter(|_| plan.is_folder_node);
    found.folder = given.or_else(|| plan.names.folder.clone());
    analyze_found(plan, found, &[], rules, progress)
}

/// Analyses artifacts already found: what samples of the rule base go through too, with the problems of WALs that they
/// declare for nodes.
pub fn analyze_found(
    plan: &Plan,
    found: Found,
    sampled: &[(String, WalProblem)],
    rules: &RuleBase,
    progress: &Progress,
) -> Result<Analysis, Error> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(plan.threads)
        .build()
        .map_err(|source| Error::Threads {
            threads: plan.threads,
            source,
        })?;
    let looked = pool.install(|| inputs::look(found, plan, rules));
    progress.total.store(looked.bytes(), Ordering::Relaxed);
    let tests = match plan.listing {
        Some(_) => Vec::new(),
        None => tests::read(&pool, &looked, progress),
    };
    let watch = Watch::new(outcome::tables(&tests));
    let nodes = run::scan(&pool, plan, &looked, rules, &watch, progress);
    let wals = match plan.listing {
        Some(_) => Vec::new(),
        None => looked.wals.check(&pool, progress),
    };
    let found = plan.listing.map_or_else(Vec::new, |listing| {
        plain::lines_found(&pool, &looked, listing.signal, rules)
    });
    let listed = match plan.listing {
        Some(_) => ListedWals::default(),
        None => ListedWals::read(&looked),
    };
    let read = inputs::Read {
        nodes,
        wals,
        tests,
        listed,
        found,
    };
    Ok(inputs::assemble(looked, read, sampled, plan, rules))
}
