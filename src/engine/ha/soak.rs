//! The harness of the controllers: a fault a round, a failover expected, and every node's segments checked before it passes.

use std::io::{self, Write};

use super::names::{NodeId, What, controller};
use super::run::Run;
use super::scenario::{Deed, Scenario, Timing};
use super::setup::{Assumptions, Variant};
use crate::engine::sim::{Latency, MILLISECOND, Micros, SECOND, Stream};

/// What the harness does to the controllers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Each round the primary is killed and starts again.
    Sequential,
    /// Each round one or two of any node are killed, paused or cut off, for some time.
    Chaotic,
    /// Each round the primary is cut off with writes that nobody else has, then killed, and starts again: they are truncated.
    TruncatedFence,
}

impl Mode {
    /// All, with their names.
    pub const ALL: [(Self, &'static str); 3] = [
        (Self::Sequential, "sequential"),
        (Self::Chaotic, "chaotic"),
        (Self::TruncatedFence, "truncated-fence"),
    ];
}

/// What became of a soak.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// Rounds that passed.
    pub passed: u64,
    /// Why it failed.
    pub failure: Option<String>,
    /// Nodes with records where no reader by name looks for them, at the end.
    pub misfiled: Vec<NodeId>,
    /// Segments of all nodes at the end.
    pub segments: usize,
    /// Whether it ended because nothing could be committed while streams found nothing.
    pub is_stalled: bool,
    /// Whether a standby's catch-up stood still at the end of a round.
    pub is_lagging: bool,
    /// Processes that dropped traffic before their recovery.
    pub drops: u64,
    /// Streams that found nothing.
    pub empty: u64,
    /// Whether promises about the replicated log were broken.
    pub is_diverged: bool,
}

/// How long the harness waits for a failover: 21 attempts three seconds apart.
const PATIENCE: Micros = 63 * SECOND;
/// How long it waits for a node to be level again, before it goes on.
const LEVEL: Micros = 30 * SECOND;
/// The distance of two writes.
const PACE: Micros = 500 * MILLISECOND;

/// A soak under way.
#[derive(Debug)]
pub struct Soak {
    /// The controllers.
    pub run: Run,
    mode: Mode,
    chance: Stream,
    is_lagging: bool,
}

impl Soak {
    /// Three controllers with empty disks.
    pub fn new(mode: Mode, variant: Variant, seed: u64) -> Self {
        let scenario = Scenario {
            system: super::scenario::SYSTEM.to_owned(),
            what: String::new(),
            variant: variant.name(),
            nodes: 3,
            seed,
            until_ms: 0,
            begins: "07:00:00".to_owned(),
            assume: Assumptions::default(),
            timing: Timing {
                start: Latency::Uniform(400_000, 900_000),
                ..Timing::default()
            },
            disk: Vec::new(),
            act: Vec::new(),
            client: None,
        };
        Self {
            run: Run::new(&scenario, variant, seed),
            mode,
            chance: Stream::new(seed, "soak"),
            is_lagging: false,
        }
    }

    /// Runs all rounds, or until one fails.
    pub fn finish(&mut self, rounds: u64) -> Outcome {
        for node in 0..3 {
            self.run.do_now(Deed::Start, node, 0);
        }
        let mut failure = (!self.commits()).then(|| "no primary at the beginning".to_owned());
        let mut passed = 0;
        for round in 1..=rounds {
            if failure.is_some() {
                break;
            }
            failure = self.round(round);
            if failure.is_none() {
                passed = round;
                self.say(&format!("PASS: round {round}"));
            }
        }
        let is_stalled = failure.is_some() && self.run.stall().is_some();
        for node in 0..3 {
            self.run.do_now(Deed::Heal, node, 0);
            self.run.do_now(Deed::Stop, node, 0);
        }
        self.close(passed, failure, is_stalled)
    }

    fn close(&mut self, passed: u64, failure: Option<String>, is_stalled: bool) -> Outcome {
        let world = &self.run.world;
        let problems: Vec<_> = (0..3).map(|it| world.layout(it)).collect();
        let segments = (0..3).map(|it| world.segments(it).count()).sum();
        let bad = (0..3).filter(|it| !problems[*it].is_empty());
        let misfiled: Vec<NodeId> = bad.collect();
        let is_diverged = world.broken.iter().any(|it| it.is_of_raft());
        let count: usize = problems.iter().map(Vec::len).sum();
        for (node, found) in problems.iter().enumerate() {
            for problem in found {
                self.say(&format!("{}: {problem}", controller(node)));
            }
        }
        self.say(&format!(
            "wal-layout-check: {segments} segments, {count} problems"
        ));
        let mut failure = failure;
        if failure.is_none() && count > 0 {
            failure = Some(format!("wal-layout-check: {count} problems"));
        }
        if failure.is_none() && is_diverged {
            failure = Some("committed-prefix: nodes diverge".to_owned());
        }
        match &failure {
            Some(why) => self.say(&format!("FAIL: {why}")),
            None => self.say(&format!("PASS: {passed} rounds")),
        }
        Outcome {
            passed,
            failure,
            misfiled,
            segments,
            is_stalled,
            is_lagging: self.is_lagging,
            drops: self
                .run
                .count(None, |it| matches!(it, What::Dropped { is_first: true })),
            empty: self.run.count(None, What::is_empty_stream),
            is_diverged,
        }
    }

    fn say(&mut self, text: &str) {
        self.run.lines.push(format!("[xce-test-ha] {text}"));
    }

    /// One round; why it failed.
    fn round(&mut self, round: u64) -> Option<String> {
        let down = self.strike(round);
        let is_available = self.commits();
        if !is_available {
            return Some(format!(
                "round {round}: failover: no write committed within {} s (last status=-10013)",
                PATIENCE / SECOND
            ));
        }
        if let Some(primary) = self.run.primary() {
            self.say(&format!(
                "round {round}: {} is primary",
                controller(primary)
            ));
        }
        let rest = self.chance.between(SECOND, 10 * SECOND);
        self.pass(rest);
        for node in down {
            self.run.do_now(Deed::Heal, node, 0);
            self.run.do_now(Deed::Resume, node, 0);
            self.run.do_now(Deed::Start, node, 0);
        }
        self.level();
        None
    }

    /// Does what the mode does; which nodes are down or away afterwards.
    fn strike(&mut self, round: u64) -> Vec<NodeId> {
        let primary = self.run.primary().unwrap_or(0);
        match self.mode {
            Mode::Sequential => {
                self.kill(round, primary);
                vec![primary]
            }
            Mode::Chaotic => {
                let nodes = usize::try_from(self.chance.between(1, 2)).unwrap_or(1);
                let first = usize::try_from(self.chance.below(3)).unwrap_or(0);
                let mut down = Vec::new();
                for step in 0..nodes {
                    let node = (first + step) % 3;
                    match self.chance.below(3) {
                        0 => self.kill(round, node),
                        1 => self.run.do_now(Deed::Pause, node, 0),
                        _ => self.run.do_now(Deed::Cut, node, 0),
                    }
                    down.push(node);
                    let rest = self.chance.between(SECOND, 20 * SECOND);
                    self.pass(rest);
                }
                // A majority has to be there before a write can be expected.
                if down.len() > 1 {
                    let back = down.remove(0);
                    self.run.do_now(Deed::Heal, back, 0);
                    self.run.do_now(Deed::Resume, back, 0);
                    self.run.do_now(Deed::Start, back, 0);
                }
                down
            }
            Mode::TruncatedFence => {
                self.run.do_now(Deed::Cut, primary, 0);
                self.run.write_at(primary, 3);
                self.pass(SECOND);
                self.kill(round, primary);
                vec![primary]
            }
        }
    }

    fn kill(&mut self, round: u64, node: NodeId) {
        self.say(&format!(
            "round {round}: kill {}, expect failover",
            controller(node)
        ));
        let kept = self.chance.below(64);
        self.run.do_now(Deed::Kill, node, kept);
    }

    /// Lets time pass while clients write.
    fn pass(&mut self, time: Micros) {
        let end = self.run.now() + time;
        while self.run.now() < end {
            let next = (self.run.now() + PACE).min(end);
            self.run.run_until(next);
            self.run.do_now(Deed::Write, 0, 1);
        }
    }

    /// Whether a write is committed before the harness loses patience.
    fn commits(&mut self) -> bool {
        let end = self.run.now() + PATIENCE;
        while self.run.now() < end {
            let asked = self.run.write_now();
            self.run.run_until(self.run.now() + PACE);
            if asked.is_some_and(|it| self.run.is_committed(it)) {
                return true;
            }
        }
        false
    }

    /// Waits until every node is level with the primary, or not any longer.
    fn level(&mut self) {
        let end = self.run.now() + LEVEL;
        while self.run.now() < end && !self.run.is_level() {
            self.pass(PACE);
        }
        self.is_lagging |= !self.run.is_level() && self.run.stall().is_some();
    }
}

/// Soaks over seeds, in figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Shares {
    /// Soaks.
    pub runs: u64,
    /// Soaks whose rounds all passed, whatever the segments look like.
    pub rounds_passed: u64,
    /// Soaks with a misfiled segment at the end.
    pub misfiled: u64,
    /// Soaks in which a standby's catch-up stood still at the end of a round.
    pub lagging: u64,
    /// Soaks that ended in a stall.
    pub stalled: u64,
    /// Soaks in which promises about the replicated log were broken.
    pub diverged: u64,
    /// Soaks in which traffic was dropped before recovery.
    pub dropped: u64,
    /// Drops in all of them.
    pub drops: u64,
    /// Streams that found nothing.
    pub empty: u64,
}

/// Runs a soak for each of the seeds from 1 on.
pub fn shares(mode: Mode, variant: Variant, rounds: u64, seeds: u64) -> Shares {
    let mut shares = Shares::default();
    for seed in 1..=seeds {
        let outcome = Soak::new(mode, variant, seed).finish(rounds);
        shares.runs += 1;
        shares.rounds_passed += u64::from(outcome.passed == rounds);
        shares.misfiled += u64::from(!outcome.misfiled.is_empty());
        shares.lagging += u64::from(outcome.is_lagging);
        shares.stalled += u64::from(outcome.is_stalled);
        shares.diverged += u64::from(outcome.is_diverged);
        shares.dropped += u64::from(outcome.drops > 0);
        shares.drops += outcome.drops;
        shares.empty += outcome.empty;
    }
    shares
}

/// Writes the shares of all modes, as reported and mended, as a Markdown table.
pub fn write_shares(seeds: u64, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "| soak | rounds | defects | runs | all rounds passed | misfiled at the end | a catch-up stood still | ended in a stall | diverged | runs with drops | drops |"
    )?;
    writeln!(out, "|---|---|---|---|---|---|---|---|---|---|---|")?;
    let plans = [
        (Mode::Sequential, 20),
        (Mode::Sequential, 50),
        (Mode::Chaotic, 50),
        (Mode::TruncatedFence, 20),
    ];
    for (mode, rounds) in plans {
        for variant in [Variant::REPORTED, Variant::FIXED] {
            let it = shares(mode, variant, rounds, seeds);
            let name = Mode::ALL
                .iter()
                .find(|it| it.0 == mode)
                .map_or("", |it| it.1);
            writeln!(
                out,
                "| {name} | {rounds} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
                variant.name(),
                it.runs,
                it.rounds_passed,
                it.misfiled,
                it.lagging,
                it.stalled,
                it.diverged,
                it.dropped,
                it.drops
            )?;
        }
    }
    Ok(())
}
