//! The third phase of the soak: stages of a given time, each with the operations that it allows.

use std::io::{self, Write};

use super::driver::{BASE_TIME, Driver, LEAD_S, Verdict};
use super::ops::{Kind, Op};
use crate::engine::cas::scenario::Deed;
use crate::engine::sim::SECOND;

/// A stage: its name, its share of the time in hundredths, and the operations that it allows.
struct Stage {
    name: &'static str,
    share: u64,
    allowed: &'static [Kind],
}

const MUTATING: &[Kind] = &[Kind::Insert, Kind::Optimize, Kind::Update, Kind::Delete];

const ALL: &[Kind] = &[
    Kind::Insert,
    Kind::Optimize,
    Kind::Update,
    Kind::Delete,
    Kind::DropPartition,
    Kind::Truncate,
];

/// The stages in order. Chaos is armed from the first second of `chaos` to the last of `cliff`.
const STAGES: [Stage; 8] = [
    stage("warmup", 5, &[Kind::Insert]),
    stage("steady", 10, &[Kind::Insert, Kind::Optimize]),
    stage("mutations", 10, MUTATING),
    stage("ttl_pressure", 10, MUTATING),
    stage("gc_checkpoint", 5, &[]),
    stage("chaos", 45, MUTATING),
    stage("cliff", 5, ALL),
    stage("converge", 10, &[]),
];

const fn stage(name: &'static str, share: u64, allowed: &'static [Kind]) -> Stage {
    Stage {
        name,
        share,
        allowed,
    }
}

/// How long both servers are down when the last stage restarts them, in seconds.
const RESTART_S: u64 = 5;

/// The distance of two looks at the metrics, in seconds.
const TICK_S: u64 = 60;

/// The bytes of a row: its payload and its numbers.
const ROW_BYTES: u64 = 256 + 8 * 8;

/// When chaos is armed in a soak of so many seconds.
pub(super) fn armed(duration_s: u64) -> (u64, u64) {
    (duration_s * 40 / 100, duration_s * 90 / 100)
}

impl Driver<'_> {
    /// Runs all stages.
    pub(super) fn stages(&mut self, out: &mut dyn Write) -> io::Result<Result<(), Verdict>> {
        let duration_s = self.soak.duration_s;
        let mut next = 0;
        let mut share = 0;
        let mut ticks = 0;
        for stage in &STAGES {
            let now_s = self.run.now() / SECOND;
            self.said
                .push(format!("=== STAGE {} at t+{now_s}s ===", stage.name));
            self.flush(out)?;
            share += stage.share;
            let end_s = duration_s * share / 100;
            if stage.name == "converge" {
                self.restart_both();
            }
            if let Err(verdict) = self.stage(stage, end_s, (&mut next, &mut ticks), out)? {
                return Ok(Err(verdict));
            }
            let label = if stage.name == "converge" {
                "final converge checkpoint".to_owned()
            } else {
                format!("{} checkpoint", stage.name)
            };
            if let Err(verdict) = self.checkpoint(&label, None, out)? {
                return Ok(Err(verdict));
            }
        }
        Ok(Ok(()))
    }

    fn stage(
        &mut self,
        stage: &Stage,
        end_s: u64,
        (next, ticks): (&mut usize, &mut u64),
        out: &mut dyn Write,
    ) -> io::Result<Result<(), Verdict>> {
        while self.run.now() < end_s * SECOND {
            self.tick(ticks, out)?;
            let op = self.next_op(stage, next);
            let Some(op) = op else {
                let until = ((*ticks + 1) * TICK_S).min(end_s);
                let until = until.max(self.run.now() / SECOND + 1);
                self.run.run_until(until * SECOND);
                continue;
            };
            if let Err(verdict) = self.turn(op) {
                return Ok(Err(verdict));
            }
            if let Err(verdict) = self.chaos_turn(op.id + 1, out)? {
                return Ok(Err(verdict));
            }
        }
        Ok(Ok(()))
    }

    /// The next operation that a stage allows; others are passed over.
    fn next_op(&self, stage: &Stage, next: &mut usize) -> Option<Op> {
        if stage.allowed.is_empty() {
            return None;
        }
        loop {
            let op = self.ledger.ops.get(*next).copied()?;
            *next += 1;
            if stage.allowed.contains(&op.kind) {
                return Some(op);
            }
        }
    }

    /// One final restart of both servers, a second after the stage has begun.
    fn restart_both(&mut self) {
        let at = self.run.now() + SECOND;
        for node in 0..self.run.world.nodes.len() {
            self.run.plan_act(at, Deed::Stop, node);
            self.run
                .plan_act(at + RESTART_S * SECOND, Deed::Start, node);
        }
    }

    /// What the harness writes down of both servers each minute.
    fn tick(&mut self, ticks: &mut u64, out: &mut dyn Write) -> io::Result<()> {
        let now_s = self.run.now() / SECOND;
        if now_s < (*ticks + 1) * TICK_S {
            return self.flush(out);
        }
        *ticks = now_s / TICK_S;
        let blobs = self.run.world.blobs.iter().filter(|it| it.present);
        let rows = self.aggregates(0).count.max(self.aggregates(1).count);
        self.said.push(format!(
            "metrics tick #{ticks}: ts={} pool_objects={} pool_bytes={} throttle=0.0s recorded=2 signals=gap(2 nodes unreadable)",
            BASE_TIME + LEAD_S + now_s,
            blobs.count(),
            rows * ROW_BYTES
        ));
        self.flush(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stages_are_the_whole_time_and_chaos_ends_before_the_last() {
        assert_eq!(STAGES.iter().map(|it| it.share).sum::<u64>(), 100);
        let before = |name: &str| {
            let stages = STAGES.iter().take_while(|it| it.name != name);
            stages.map(|it| it.share).sum::<u64>()
        };
        assert_eq!(armed(1000), (before("chaos") * 10, before("converge") * 10));
    }
}
