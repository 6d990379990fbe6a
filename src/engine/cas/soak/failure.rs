//! What the harness leaves of a soak that failed: `failure.json`.

use std::io::{self, Write};

use serde::Serialize;

use super::driver::{BASE_TIME, Driver, Verdict};
use super::model::Aggregates;
use crate::engine::cas::fsck;
use crate::engine::sim::SECOND;

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
    last_fault: Option<LastFault>,
    last_op: Option<LastOp>,
    model_expected: Option<Aggregates>,
    nodes: Nodes,
    fsck: FsckReport,
    fsck_status: &'static str,
}

#[derive(Debug, Clone, Serialize)]
struct LastFault {
    t_offset: u64,
    target: &'static str,
    action: &'static str,
    duration_s: u64,
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

impl Driver<'_> {
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
            chaos_seed: self.chaos_seed(),
            base_time: BASE_TIME,
            op_id,
            phase: u32::from(self.soak.phase),
            until_op: op_id,
            error: format!("{kind}: {text}"),
            last_fault: self.last_fault().map(|it| LastFault {
                t_offset: it.at_s,
                target: it.target.word(),
                action: it.action.word(),
                duration_s: it.seconds,
            }),
            last_op: self.last.map(|op| LastOp {
                op_id: op.id,
                r#type: op.kind.word(),
                target: op.target,
                param: op.param,
            }),
            model_expected: Some(self.model.aggregates(self.run.now() / SECOND)),
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
}
