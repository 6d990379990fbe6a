//! What came of a run, for people and for machines.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use serde::Serialize;

use super::course::{self, Course};
use super::fsck;
use super::ledger::Why;
use super::logs::host;
use super::names::What;
use super::run::Run;
use super::world::Violation;
use crate::engine::sim::SECOND;

/// What came of a run.
#[derive(Debug, Clone, Serialize)]
pub struct RunSummary {
    /// The scenario.
    pub scenario: String,
    /// What it shows.
    pub what: String,
    /// The protocol.
    pub variant: String,
    /// What all chance was drawn from.
    pub seed: u64,
    /// Seconds that it simulated.
    pub seconds: u64,
    /// Events.
    pub events: u64,
    /// Whether it was ended before its time because more happened than a run keeps.
    pub is_cut: bool,
    /// The hash of everything that happened.
    pub trace: String,
    /// Whether all servers have the same parts and empty queues.
    pub converged: bool,
    /// What the store holds.
    pub fsck: FsckSummary,
    /// Promises of the protocol, and whether they were kept.
    pub promises: Vec<Promise>,
    /// By server.
    pub nodes: Vec<NodeSummary>,
    /// How a soak ended, if it was one.
    pub verdict: Option<String>,
}

/// The counts of an fsck at the end.
#[derive(Debug, Clone, Serialize)]
pub struct FsckSummary {
    /// Blobs that are referred to and there.
    pub reachable: u64,
    /// Blobs that are referred to and not there.
    pub dangling: u64,
    /// Blobs that are there and not referred to.
    pub unreachable: u64,
}

/// A promise of the protocol.
#[derive(Debug, Clone, Serialize)]
pub struct Promise {
    /// What it says.
    pub what: &'static str,
    /// Whether it was kept.
    pub kept: bool,
}

/// A server.
#[derive(Debug, Clone, Serialize)]
pub struct NodeSummary {
    /// Its host.
    pub node: String,
    /// What happened on it.
    pub counts: BTreeMap<&'static str, u64>,
    /// Why its answers were not yes.
    pub reasons: BTreeMap<&'static str, u64>,
    /// Relinks that it gave up, by minute.
    pub refused_per_minute: Vec<u64>,
    /// The length of its queue at the beginning of each minute.
    pub queue: Vec<u32>,
    /// Both, finer.
    pub course: Course,
}

/// What is counted, with the words for it.
const COUNTS: [(What, &str); 22] = [
    (What::Written, "parts written"),
    (What::Offered, "relinks offered"),
    (What::Finished, "relinks finished"),
    (What::Refused, "relinks refused"),
    (What::Proven, "answered yes"),
    (What::Unknown, "answered unknown"),
    (What::No, "answered no"),
    (What::ConfirmLost, "confirms lost"),
    (What::Downloaded, "parts as bytes"),
    (What::Appended, "batches appended"),
    (What::Recovered, "ledgers recovered"),
    (What::StoreError, "store errors"),
    (What::ConnectionReset, "connections reset"),
    (What::PoolFull, "tries without an attempt"),
    (What::Fenced, "changes refused by the fence"),
    (What::LeaseLost, "leases lost"),
    (What::Remounted, "mounts taken again"),
    (What::Faulted, "ledgers faulted"),
    (What::OutOfMemory, "killed for memory"),
    (What::TableMade, "tables made"),
    (What::TableNotMade, "tables not made"),
    (What::CatalogConflict, "catalog changes refused (412)"),
];

/// Sums a run up.
pub fn summarize(scenario: &str, seed: u64, run: &Run<'_>, verdict: Option<String>) -> RunSummary {
    let tally = &run.tally;
    let minutes = tally.steps().div_ceil(STEPS);
    let nodes = (0..run.world.nodes.len()).map(|node| {
        let counts = COUNTS
            .iter()
            .map(|(what, word)| (*word, tally.total(*what, Some(node))));
        let reasons = Why::ALL
            .iter()
            .map(|why| (why.word(), tally.reason(*why, Some(node))));
        let refused = |minute| {
            let from = minute * STEPS;
            tally.between(What::Refused, Some(node), from, from + STEPS)
        };
        let queue = |minute: usize| {
            let at = u64::try_from(minute).unwrap_or(u64::MAX).saturating_mul(60);
            tally.queue_at(node, at.saturating_mul(SECOND))
        };
        NodeSummary {
            node: host(node),
            counts: counts.collect(),
            reasons: reasons.filter(|it| it.1 > 0).collect(),
            refused_per_minute: (0..minutes).map(refused).collect(),
            queue: (0..minutes).filter_map(queue).collect(),
            course: Course::of(tally, node),
        }
    });
    let fsck = fsck::check(&run.world);
    RunSummary {
        scenario: scenario.to_owned(),
        what: run.scenario.what.clone(),
        variant: run.world.setup.variant.name(),
        seed,
        seconds: run.now() / SECOND,
        events: run.events(),
        is_cut: run.is_cut,
        trace: format!("{:016x}", run.hash()),
        converged: run.world.has_converged(),
        fsck: FsckSummary {
            reachable: fsck.reachable,
            dangling: fsck.dangling,
            unreachable: fsck.unreachable,
        },
        promises: Violation::ALL
            .iter()
            .map(|(violation, what)| Promise {
                what,
                kept: !run.world.broken.contains(violation),
            })
            .collect(),
        nodes: nodes.collect(),
        verdict,
    }
}

impl RunSummary {
    /// Whether every promise was kept, and a soak passed.
    pub fn is_good(&self) -> bool {
        let passed = self
            .verdict
            .as_deref()
            .is_none_or(|it| it.starts_with(PASSED));
        passed && self.fsck.dangling == 0 && self.promises.iter().all(|it| it.kept)
    }

    /// Whether a promise of the protocol was broken.
    pub fn has_broken(&self) -> bool {
        self.promises.iter().any(|it| !it.kept)
    }

    /// Prints it for machines.
    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, self)?;
        writeln!(out)
    }

    /// Prints it for people.
    pub fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(
            out,
            "{} under {}, seed {}: {} events in {} simulated seconds, trace {}",
            self.scenario, self.variant, self.seed, self.events, self.seconds, self.trace
        )?;
        writeln!(out, "{}\n", self.what)?;
        if self.is_cut {
            writeln!(out, "CUT SHORT: more happened than a run keeps.\n")?;
        }
        write!(out, "{:<WORDS$}", "")?;
        for node in &self.nodes {
            write!(out, "{:>CELL$}", node.node)?;
        }
        writeln!(out)?;
        for (_, word) in COUNTS {
            self.row(word, |it| it.counts.get(word).copied(), out)?;
        }
        let reasons: BTreeSet<&str> = self
            .nodes
            .iter()
            .flat_map(|it| it.reasons.keys().copied())
            .collect();
        if !reasons.is_empty() {
            writeln!(out, "\nWhy an answer was not yes:")?;
            for reason in &reasons {
                self.row(reason, |it| it.reasons.get(*reason).copied(), out)?;
            }
        }
        course::write(&self.nodes, out)?;
        self.minutes(out)?;
        writeln!(out)?;
        let state = if self.converged {
            "All servers have the same parts, and every queue is empty."
        } else {
            "The servers have not converged."
        };
        writeln!(out, "{state}")?;
        writeln!(
            out,
            "fsck: reachable={} dangling={} unreachable={}",
            self.fsck.reachable, self.fsck.dangling, self.fsck.unreachable
        )?;
        for promise in &self.promises {
            let word = if promise.kept { "kept" } else { "BROKEN" };
            writeln!(out, "{word}: {}", promise.what)?;
        }
        if let Some(verdict) = &self.verdict {
            writeln!(out, "The harness says: {verdict}")?;
        }
        Ok(())
    }

    fn row(
        &self,
        word: &str,
        value: impl Fn(&NodeSummary) -> Option<u64>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let values: Vec<u64> = self.nodes.iter().map(|it| value(it).unwrap_or(0)).collect();
        if values.iter().all(|it| *it == 0) {
            return Ok(());
        }
        write!(out, "{word:<WORDS$}")?;
        for value in values {
            write!(out, "{value:>CELL$}")?;
        }
        writeln!(out)
    }

    /// Refusals and queues over time, at most [`ROWS`] rows.
    fn minutes(&self, out: &mut dyn Write) -> io::Result<()> {
        let minutes = self
            .nodes
            .iter()
            .map(|it| it.refused_per_minute.len())
            .max()
            .unwrap_or(0);
        let is_flat = |it: &NodeSummary| {
            let refused = it.refused_per_minute.iter().sum::<u64>();
            refused == 0 && it.queue.iter().all(|it| *it == 0)
        };
        if minutes < 2 || self.nodes.iter().all(is_flat) {
            return Ok(());
        }
        let step = minutes.div_ceil(ROWS);
        writeln!(
            out,
            "\nRefusals in {step} min, and the queue at their beginning:"
        )?;
        write!(out, "{:>8}", "minute")?;
        for node in &self.nodes {
            write!(out, "{:>CELL$} {:>CELL$}", node.node, "queue")?;
        }
        writeln!(out)?;
        for minute in (0..minutes).step_by(step) {
            write!(out, "{minute:>8}")?;
            for node in &self.nodes {
                let refused = node.refused_per_minute.iter().skip(minute).take(step);
                let queue = node.queue.get(minute).copied().unwrap_or(0);
                write!(out, "{:>CELL$} {queue:>CELL$}", refused.sum::<u64>())?;
            }
            writeln!(out)?;
        }
        Ok(())
    }
}

/// The width of what a row is about.
const WORDS: usize = 42;

/// Steps of a minute.
const STEPS: usize = 6;

/// The width of a number.
const CELL: usize = 10;

/// Rows of the table over time.
const ROWS: usize = 20;

/// How what a soak that passed says begins.
pub const PASSED: &str = "PHASE";
