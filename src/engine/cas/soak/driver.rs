//! The first phase of the soak harness over the simulated system: workers, barriers, checkpoints, its lines.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use super::model::{Aggregates, Model, Sum};
use super::ops::{Kind, Ledger, Op};
use crate::engine::cas::fsck::{self, Summary};
use crate::engine::cas::scenario::{LoadKind, Scenario};
use crate::engine::cas::{EntryKind, Held, Run, Sink, Variant, What};
use crate::engine::sim::{Latency, Micros, SECOND, Stream};

/// How the harness is run.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
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
}

/// The moment that the harness prints as `base_time`: 2026-08-18 00:00:00 UTC.
pub const BASE_TIME: u64 = 1_787_011_200;

/// The harness takes `base_time` this long before its first operation.
const LEAD_S: u64 = 60;

/// A checkpoint waits this long for a replica.
const SYNC: Micros = 600 * SECOND;

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

/// What `failure.json` holds.
#[derive(Debug, Clone, Serialize)]
pub struct Failure {
    schema_version: u32,
    seed: u64,
    chaos_seed: Option<u64>,
    base_time: u64,
    op_id: u64,
    phase: u32,
    until_op: u64,
    error: String,
    last_fault: Option<u64>,
    last_op: Option<LastOp>,
    model_expected: Option<Aggregates>,
    nodes: Nodes,
    fsck: FsckReport,
    fsck_status: &'static str,
}

#[derive(Debug, Clone, Serialize)]
struct LastOp {
    op_id: u64,
    r#type: &'static str,
    target: usize,
    param: u64,
}

#[derive(Debug, Clone, Serialize)]
struct Nodes {
    node1: Option<Aggregates>,
    node2: Option<Aggregates>,
}

#[derive(Debug, Clone, Serialize)]
struct FsckReport {
    reachable: u64,
    dangling: u64,
    unreachable: u64,
    pending_gc: u64,
    awaiting_gc: u64,
    stale_edge: u64,
    exit_code: u32,
}

impl Failure {
    /// Writes it as the harness does.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, self)?;
        writeln!(out)
    }
}

/// A soak at work.
pub struct Driver<'a> {
    /// The system under it.
    pub run: Run<'a>,
    soak: Soak,
    seed: u64,
    ledger: Ledger,
    model: Model,
    in_flight: Vec<(u64, Op)>,
    client: Stream,
    last: Option<Op>,
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
        Self {
            run: Run::new(scenario, variant, seed, sink),
            soak: soak.clone(),
            seed,
            ledger: Ledger::of(seed, soak.ops, soak.max_cliffs),
            model: Model::default(),
            in_flight: Vec::new(),
            client: Stream::new(seed, "client"),
            last: None,
        }
    }

    /// Runs all operations and prints the harness's lines.
    pub fn finish(&mut self, out: &mut dyn Write) -> io::Result<Verdict> {
        self.preamble(out)?;
        let ops = self.ledger.ops.clone();
        for op in ops {
            self.last = Some(op);
            if let Err(verdict) = self.execute(op) {
                return Self::fail(verdict, out);
            }
            let executed = op.id + 1;
            let is_last = executed == self.soak.ops;
            if is_last || executed % self.soak.checkpoint_every.max(1) == 0 {
                let label = if is_last {
                    "final checkpoint"
                } else {
                    "checkpoint"
                };
                if let Err(verdict) = self.checkpoint(label, executed, out)? {
                    return Self::fail(verdict, out);
                }
            }
        }
        writeln!(out, "PHASE1 OK")?;
        Ok(Verdict::Ok)
    }

    fn preamble(&self, out: &mut dyn Write) -> io::Result<()> {
        let (seed, soak) = (self.seed, &self.soak);
        writeln!(
            out,
            "[soak.run] base_time={BASE_TIME} (needed for replay) seed={seed} phase=1 ops={} workers={} checkpoint_every={}",
            soak.ops, soak.workers, soak.checkpoint_every
        )?;
        writeln!(
            out,
            "[soak.run] created ca_soak.ca_stress on both replicas (lazy_load_tables OFF, eager Atomic DB)"
        )?;
        writeln!(
            out,
            "[soak.run] effective ledger: {} ops, {} cliffs (cap={}, min_gap={})",
            soak.ops, self.ledger.cliffs, soak.max_cliffs, self.ledger.min_gap
        )?;
        writeln!(
            out,
            "[soak.run] insert_mode=default insert_settings_suffix= transport_resilient=False"
        )
    }

    fn fail(verdict: Verdict, out: &mut dyn Write) -> io::Result<Verdict> {
        if let Verdict::Failed(kind, text) = &verdict {
            writeln!(out, "{kind}: {text}")?;
        }
        Ok(verdict)
    }

    /// What `failure.json` says after a failure.
    pub fn failure(&self, verdict: &Verdict) -> Option<Failure> {
        let Verdict::Failed(kind, text) = verdict else {
            return None;
        };
        let op_id = self.last.map_or(0, |it| it.id);
        let summary = fsck::check(&self.run.world);
        Some(Failure {
            schema_version: 1,
            seed: self.seed,
            chaos_seed: None,
            base_time: BASE_TIME,
            op_id,
            phase: 1,
            until_op: op_id,
            error: format!("{kind}: {text}"),
            last_fault: None,
            last_op: self.last.map(|op| LastOp {
                op_id: op.id,
                r#type: op.kind.word(),
                target: op.target,
                param: op.param,
            }),
            model_expected: Some(self.model.aggregates()),
            nodes: Nodes {
                node1: Some(self.aggregates(0)),
                node2: Some(self.aggregates(1)),
            },
            fsck: FsckReport {
                reachable: summary.reachable,
                dangling: summary.dangling,
                unreachable: summary.unreachable,
                pending_gc: summary.pending_gc,
                awaiting_gc: summary.awaiting_gc,
                stale_edge: 0,
                exit_code: u32::from(summary.dangling > 0),
            },
            fsck_status: if summary.dangling > 0 {
                "persistent-dangling"
            } else {
                "settled"
            },
        })
    }

    /// Rows that a server shows, from its active parts.
    pub fn aggregates(&self, node: usize) -> Aggregates {
        let world = &self.run.world;
        let mut sum = Sum::default();
        for (place, part) in world.parts.iter().enumerate() {
            let is_active = world
                .nodes
                .get(node)
                .is_some_and(|it| it.part(place) == Held::Active);
            if !is_active {
                continue;
            }
            let applied = |op: &&Op| {
                matches!(op.kind, Kind::Update | Kind::Delete) && op.id < u64::from(part.mutation)
            };
            let mutations: Vec<Op> = self.ledger.ops.iter().filter(applied).copied().collect();
            for insert in &part.inserts {
                let place = usize::try_from(*insert).unwrap_or(usize::MAX);
                if let Some(op) = self.ledger.ops.get(place) {
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
        match op.kind {
            Kind::Insert => {
                let Some(job) = self.run.client_insert(op.target, op.id) else {
                    let text = "[Errno 104] Connection reset by peer".to_owned();
                    return Err(Verdict::Failed("TRANSPORT FAILURE", text));
                };
                self.in_flight.push((job, op));
            }
            Kind::Update | Kind::Delete => {
                self.run
                    .mutate(u32::try_from(op.id + 1).unwrap_or(u32::MAX));
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

    /// Lets the system run until at most so many inserts are under way.
    fn wait_for_workers(&mut self, most: usize) -> Result<(), Verdict> {
        let deadline = self.run.now() + SYNC;
        loop {
            for (job, failed) in self.run.take_finished() {
                let place = self.in_flight.iter().position(|it| it.0 == job);
                let Some((_, op)) = place.map(|it| self.in_flight.remove(it)) else {
                    continue;
                };
                if failed {
                    let text = format!(
                        "INSERT op_id={}: Code: 210. DB::Exception: CAS write could not be committed; retrying later. (NETWORK_ERROR)",
                        op.id
                    );
                    return Err(Verdict::Failed("WORKLOAD FAILURE", text));
                }
                self.model.apply(op);
            }
            if self.in_flight.len() <= most {
                return Ok(());
            }
            if self.run.now() >= deadline || !self.run.advance(deadline) {
                let text = "timed out".to_owned();
                return Err(Verdict::Failed("TRANSPORT FAILURE", text));
            }
        }
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

    fn checkpoint(
        &mut self,
        label: &str,
        executed: u64,
        out: &mut dyn Write,
    ) -> io::Result<Result<(), Verdict>> {
        writeln!(
            out,
            "[soak.run] {label} at executed={executed} (op_id={})",
            executed - 1
        )?;
        let summary = match self.settle() {
            Ok(summary) => summary,
            Err(verdict) => return Ok(Err(verdict)),
        };
        let now = BASE_TIME + LEAD_S + self.run.now() / SECOND;
        let count = self.model.aggregates().count;
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
        self.wait_for_workers(0)?;
        self.sync()?;
        self.run.optimize();
        let soon = self.run.now() + SECOND;
        self.run.run_until(soon);
        self.sync()?;
        let model = self.model.aggregates();
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

impl Run<'_> {
    /// A client's insert of an operation's rows; `None` if its connection was reset.
    fn client_insert(&mut self, node: usize, op: u64) -> Option<u64> {
        let is_in = self.world.client_enters(node, &mut self.out);
        let job = is_in.then(|| self.write(LoadKind::Insert, node, 0, 1, 18, &[op]));
        self.settle();
        job
    }

    /// Lets one more thing happen before `end`. Whether there was one.
    fn advance(&mut self, end: Micros) -> bool {
        let before = self.events();
        self.run_one(end);
        self.events() > before
    }

    /// Whether no queue holds anything, and nothing is on its way to one.
    fn is_synced(&self) -> bool {
        self.world.nodes.iter().all(|it| it.queue.is_empty()) && self.announced == self.pulled()
    }

    fn pulled(&self) -> u64 {
        self.tally.total(What::Queued, None)
    }

    /// One part of all parts.
    fn optimize(&mut self) {
        self.merge(0, usize::MAX, 2);
        self.settle();
    }

    /// A mutation of every part.
    fn mutate(&mut self, mutation: u32) {
        let current = self.tables.current.first().cloned().unwrap_or_default();
        let mutated: Vec<usize> = current
            .iter()
            .map(|part| self.derive(0, &[*part], mutation))
            .collect();
        if let Some(current) = self.tables.current.first_mut() {
            *current = mutated;
        }
        self.settle();
    }

    /// All rows go away.
    fn clear(&mut self) {
        if let Some(current) = self.tables.current.first_mut() {
            current.clear();
        }
        let count = self.world.parts.len();
        if count > 0 {
            for node in 0..self.scenario.nodes {
                self.entry_for(node, EntryKind::Drop, 0, count);
            }
        }
        self.settle();
    }
}
