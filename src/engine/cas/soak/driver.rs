//! The soak harness over the simulated system: operations, barriers, checkpoints, its lines.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use super::chaos::{self, Plan};
use super::model::{Aggregates, Model, Sum};
use super::ops::{Kind, Ledger, Op};
use super::workers::Insert;
use crate::engine::cas::fsck::{self, Summary};
use crate::engine::cas::scenario::Scenario;
use crate::engine::cas::{Held, Run, Sink, Variant, What};
use crate::engine::sim::{Latency, Micros, SECOND, Stream};

/// How the harness is run.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Soak {
    /// Operations.
    pub ops: u64,
    /// Inserts at once.
    pub workers: usize,
    /// Operations between two checkpoints.
    pub checkpoint_every: u64,
    /// Operations that take all rows away, at most.
    pub max_cliffs: u64,
    /// What the harness needs beside the server for an operation.
    pub client: Latency,
    /// 1 without chaos, 2 with it, 3 by stages of a time.
    #[serde(default = "first")]
    pub phase: u8,
    /// What the faults are drawn from; the seed of the operations if it is not said.
    #[serde(default)]
    pub chaos_seed: Option<u64>,
    /// The mean distance of two faults, in seconds.
    #[serde(default = "interval")]
    pub chaos_interval: u64,
    /// Whether there are faults in phases 2 and 3.
    #[serde(default)]
    pub no_chaos: bool,
    /// How long phase 3 lasts, and for how long the faults of phase 2 are planned, in seconds.
    #[serde(default = "ten_minutes")]
    pub duration_s: u64,
    /// Operations between two updates or deletes of phase 3; those in between become optimizes.
    #[serde(default = "eighty")]
    pub min_ops_between_mutations: u64,
}

fn first() -> u8 {
    1
}

fn interval() -> u64 {
    90
}

fn ten_minutes() -> u64 {
    600
}

fn eighty() -> u64 {
    80
}

impl Soak {
    /// Whether the harness tries again what a fault has interrupted.
    pub(super) fn is_resilient(&self) -> bool {
        self.phase > 1
    }
}

/// The moment that the harness prints as `base_time`: 2026-08-18 00:00:00 UTC.
pub const BASE_TIME: u64 = 1_787_011_200;

/// The harness takes `base_time` this long before its first operation.
pub(super) const LEAD_S: u64 = 60;

/// A checkpoint waits this long for a replica.
pub(super) const SYNC: Micros = 600 * SECOND;

/// The names of the servers in `failure.json`.
const NODES: [&str; 2] = ["node1", "node2"];

/// How a soak ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// All operations and checkpoints passed.
    Ok,
    /// It failed: the kind, and what it says.
    Failed(&'static str, String),
}

/// A soak at work.
pub struct Driver<'a> {
    /// The system under it.
    pub run: Run<'a>,
    pub(super) soak: Soak,
    pub(super) seed: u64,
    pub(super) ledger: Ledger,
    pub(super) model: Model,
    pub(super) inserts: Vec<Insert>,
    pub(super) client: Stream,
    pub(super) last: Option<Op>,
    /// Lines that are not printed yet.
    pub(super) said: Vec<String>,
    /// The faults, in order.
    pub(super) plans: Vec<Plan>,
    /// How many of them have begun, and how many are over.
    pub(super) begun: usize,
    pub(super) over: usize,
    /// Updates and deletes that were executed.
    mutated: Vec<Op>,
    refused: Vec<[u64; NODES.len()]>,
}

impl<'a> Driver<'a> {
    /// A soak of a scenario at its beginning.
    pub fn new(
        scenario: &Scenario,
        soak: &Soak,
        variant: Variant,
        seed: u64,
        sink: Option<Sink<'a>>,
    ) -> Self {
        let ledger = if soak.phase == 3 {
            Ledger::by_stages(seed, soak.duration_s, soak.min_ops_between_mutations)
        } else {
            Ledger::of(seed, soak.ops, soak.max_cliffs)
        };
        let mut driver = Self {
            run: Run::new(scenario, variant, seed, sink),
            soak: soak.clone(),
            seed,
            ledger,
            model: Model::default(),
            inserts: Vec::new(),
            client: Stream::new(seed, "client"),
            last: None,
            said: Vec::new(),
            plans: chaos::planned(soak, seed),
            begun: 0,
            over: 0,
            mutated: Vec::new(),
            refused: Vec::new(),
        };
        driver.arm();
        driver
    }

    /// Relinks that a server, or both, had given up when so many operations were executed.
    pub fn refused_after(&self, ops: u64, node: Option<usize>) -> u64 {
        let place = usize::try_from(ops).unwrap_or(usize::MAX);
        let counts = self.refused.get(place.saturating_sub(1));
        let counts = counts.into_iter().flatten().enumerate();
        let counts = counts.filter(|(it, _)| node.is_none_or(|node| node == *it));
        counts.map(|it| it.1).sum()
    }

    /// Runs all operations and prints the harness's lines.
    pub fn finish(&mut self, out: &mut dyn Write) -> io::Result<Verdict> {
        self.preamble(out)?;
        let ended = if self.soak.phase == 3 {
            self.stages(out)?
        } else {
            self.listed(out)?
        };
        self.flush(out)?;
        match &ended {
            Ok(()) => writeln!(out, "PHASE{} OK", self.soak.phase)?,
            Err(Verdict::Failed(kind, text)) => writeln!(out, "{kind}: {text}")?,
            Err(Verdict::Ok) => {}
        }
        Ok(ended.err().unwrap_or(Verdict::Ok))
    }

    /// The operations of phases 1 and 2, one after the other.
    fn listed(&mut self, out: &mut dyn Write) -> io::Result<Result<(), Verdict>> {
        let ops = self.ledger.ops.clone();
        for op in ops {
            if let Err(verdict) = self.turn(op) {
                return Ok(Err(verdict));
            }
            let executed = op.id + 1;
            if let Err(verdict) = self.chaos_turn(executed, out)? {
                return Ok(Err(verdict));
            }
            let is_last = executed == self.soak.ops;
            if is_last || executed % self.soak.checkpoint_every.max(1) == 0 {
                let label = if is_last {
                    "final checkpoint"
                } else {
                    "checkpoint"
                };
                if let Err(verdict) = self.checkpoint(label, Some(executed), out)? {
                    return Ok(Err(verdict));
                }
            }
        }
        Ok(Ok(()))
    }

    /// One operation.
    pub(super) fn turn(&mut self, op: Op) -> Result<(), Verdict> {
        self.last = Some(op);
        self.execute(op)?;
        let refused = |node| self.run.tally.total(What::Refused, Some(node));
        self.refused.push([refused(0), refused(1)]);
        Ok(())
    }

    /// Prints what was said meanwhile.
    pub(super) fn flush(&mut self, out: &mut dyn Write) -> io::Result<()> {
        for line in self.said.drain(..) {
            writeln!(out, "[soak.run] {line}")?;
        }
        Ok(())
    }

    fn preamble(&self, out: &mut dyn Write) -> io::Result<()> {
        let (seed, soak) = (self.seed, &self.soak);
        writeln!(
            out,
            "[soak.run] base_time={BASE_TIME} (needed for replay) seed={seed} phase={} ops={} workers={} checkpoint_every={}",
            soak.phase,
            soak.ops,
            soak.workers,
            if soak.phase == 3 {
                "stage-boundary".to_owned()
            } else {
                soak.checkpoint_every.to_string()
            }
        )?;
        writeln!(
            out,
            "[soak.run] created ca_soak.ca_stress on both replicas (lazy_load_tables OFF, eager Atomic DB)"
        )?;
        if soak.phase < 3 {
            writeln!(
                out,
                "[soak.run] effective ledger: {} ops, {} cliffs (cap={}, min_gap={})",
                soak.ops, self.ledger.cliffs, soak.max_cliffs, self.ledger.min_gap
            )?;
        }
        let resilient = if soak.is_resilient() { "True" } else { "False" };
        writeln!(
            out,
            "[soak.run] insert_mode=default insert_settings_suffix= transport_resilient={resilient}"
        )?;
        if let Some(chaos_seed) = self.chaos_seed() {
            writeln!(
                out,
                "[soak.run] chaos schedule: {} faults over {}s (chaos_seed={chaos_seed} mean_interval={}s)",
                self.plans.len(),
                soak.duration_s,
                soak.chaos_interval
            )?;
        }
        Ok(())
    }

    /// Rows that a server shows, from its active parts.
    pub fn aggregates(&self, node: usize) -> Aggregates {
        let world = &self.run.world;
        let now = self.run.now() / SECOND;
        let mut sum = Sum::default();
        for (place, part) in world.parts.iter().enumerate() {
            let is_active = world
                .nodes
                .get(node)
                .is_some_and(|it| it.part(place) == Held::Active);
            if !is_active {
                continue;
            }
            let applied = |op: &&Op| op.id < u64::from(part.mutation);
            let mutations: Vec<Op> = self.mutated.iter().filter(applied).copied().collect();
            for insert in &part.inserts {
                let place = usize::try_from(*insert).unwrap_or(usize::MAX);
                if let Some(op) = self.ledger.ops.get(place).filter(|it| !it.is_expired(now)) {
                    sum.add(*op, &mutations);
                }
            }
        }
        sum.done()
    }

    fn execute(&mut self, op: Op) -> Result<(), Verdict> {
        let most = match op.kind {
            _ if op.kind.is_barrier() => 0,
            Kind::Insert => self.soak.workers.saturating_sub(1),
            Kind::Update | Kind::Delete | Kind::Optimize | Kind::DropPartition | Kind::Truncate => {
                usize::MAX
            }
        };
        self.wait_for_workers(most)?;
        let pause = self.soak.client.draw(&mut self.client);
        let pause = if op.kind == Kind::Insert {
            // The workers share the harness's time.
            pause / u64::try_from(self.soak.workers.max(1)).unwrap_or(1)
        } else {
            pause
        };
        let at = self.run.now() + pause;
        self.run.run_until(at);
        if self.soak.is_resilient() {
            self.wait_for_a_server()?;
        }
        match op.kind {
            Kind::Insert => self.insert(op)?,
            Kind::Update | Kind::Delete => {
                self.run
                    .mutate(u32::try_from(op.id + 1).unwrap_or(u32::MAX));
                self.mutated.push(op);
                self.model.apply(op);
            }
            Kind::Optimize => self.run.optimize(),
            Kind::DropPartition | Kind::Truncate => {
                self.run.clear();
                self.model.apply(op);
            }
        }
        Ok(())
    }

    /// `SYSTEM SYNC REPLICA` on both.
    fn sync(&mut self) -> Result<(), Verdict> {
        let deadline = self.run.now() + SYNC;
        while !self.run.is_synced() {
            if self.run.now() >= deadline || !self.run.advance(deadline) {
                let queues = self.run.world.nodes.iter().map(|it| it.queue.len());
                let queue = queues.max().unwrap_or(0);
                let text = format!(
                    "SYNC REPLICA ca_soak.ca_stress: replica stuck (queue {queue}) for {}s",
                    SYNC / SECOND
                );
                return Err(Verdict::Failed("CHECKPOINT FAILURE", text));
            }
        }
        Ok(())
    }

    pub(super) fn checkpoint(
        &mut self,
        label: &str,
        executed: Option<u64>,
        out: &mut dyn Write,
    ) -> io::Result<Result<(), Verdict>> {
        self.flush(out)?;
        match executed {
            Some(executed) => writeln!(
                out,
                "[soak.run] {label} at executed={executed} (op_id={})",
                executed - 1
            )?,
            None => writeln!(out, "[soak.run] {label}")?,
        }
        let summary = match self.settle() {
            Ok(summary) => summary,
            Err(verdict) => return Ok(Err(verdict)),
        };
        self.flush(out)?;
        let now = BASE_TIME + LEAD_S + self.run.now() / SECOND;
        let count = self.model.aggregates(self.run.now() / SECOND).count;
        writeln!(
            out,
            "[soak.run] unreachable={} (fold backlog / AwaitingGc); reachable={} dangling=0 dryrun_subset=ok",
            summary.unreachable, summary.reachable
        )?;
        writeln!(
            out,
            "[soak.run] {label} OK: now={now} count={count} fsck reachable={} unreachable={} (fold backlog / AwaitingGc) dangling={} stale_edge=0 dryrun_count={}",
            summary.reachable, summary.unreachable, summary.dangling, summary.dryrun
        )?;
        let rounds = self.run.world.gc.round;
        writeln!(
            out,
            "[soak.run] {label} GC PHASES [Node(localhost:8123)]: GC PHASES rounds={rounds}"
        )?;
        writeln!(
            out,
            "[soak.run] {label} GC PHASES [Node(localhost:8124)]: unavailable (node unreadable, or the GC log has never been materialized on this replica) \u{2014} recorded as a gap, not as zero"
        )?;
        Ok(Ok(()))
    }

    /// Everything between a checkpoint's first line and its verdict.
    fn settle(&mut self) -> Result<Summary, Verdict> {
        if self.soak.is_resilient() {
            self.wait_for_health()?;
        }
        self.wait_for_workers(0)?;
        self.sync()?;
        self.run.optimize();
        let soon = self.run.now() + SECOND;
        self.run.run_until(soon);
        self.sync()?;
        let now = self.run.now() / SECOND;
        let pruned = self.model.prune(now);
        let model = self.model.aggregates(now);
        if pruned > 0 {
            let live = model.count;
            self.said.push(format!(
                "model.prune_expired: reclaimed {pruned} TTL-expired rows (live={live})"
            ));
        }
        for (node, name) in NODES.iter().enumerate() {
            if let Some(text) = model.difference(name, &self.aggregates(node)) {
                return Err(Verdict::Failed("CHECKPOINT FAILURE", text));
            }
        }
        let mut summary = fsck::check(&self.run.world);
        let mut same = 0;
        for _ in 0..60 {
            let next = self.run.now() + 4 * SECOND;
            self.run.run_until(next);
            let now = fsck::check(&self.run.world);
            same = if now.unreachable == summary.unreachable {
                same + 1
            } else {
                0
            };
            summary = now;
            if same == 3 {
                break;
            }
        }
        if summary.dangling > 0 {
            let text = format!("fsck dangling != 0: {} (INV-NO-LOSS)", summary.dangling);
            return Err(Verdict::Failed("CHECKPOINT FAILURE", text));
        }
        Ok(summary)
    }
}
