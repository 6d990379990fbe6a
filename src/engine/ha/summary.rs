//! A run in figures, for people and for machines.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use super::catchup::number;
use super::names::{NodeId, What, controller};
use super::run::Run;
use super::setup::Variant;
use crate::engine::sim::{MILLISECOND, Micros, SECOND};

/// An election and what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Elected {
    /// The term.
    pub term: u64,
    /// The primary.
    pub primary: String,
    /// When, in milliseconds from the beginning.
    pub at_ms: u64,
    /// How long until it had committed an entry of its term, in milliseconds; never within the run without.
    pub ready_after_ms: Option<u64>,
}

/// A primary that streams to a standby from one position to the end of the run and finds nothing there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Stalled {
    /// The primary.
    pub primary: String,
    /// Its position.
    pub from: u64,
    /// What it streams up to.
    pub ceiling: u64,
    /// What it has committed.
    pub committed: u64,
    /// How often.
    pub times: u64,
    /// Where that standby is, by its last answer to a heartbeat.
    pub matched: Option<u64>,
    /// Whether it commits by another standby.
    pub is_available: bool,
}

/// A controller at the end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NodeSummary {
    /// Its name.
    pub name: String,
    /// How far it has committed.
    pub committed: u64,
    /// Its segments, with the stretches of positions in them.
    pub segments: Vec<String>,
    /// What a check of its segments finds.
    pub problems: Vec<String>,
    /// Records that its next recovery would not find.
    pub hidden: u64,
    /// Processes that dropped traffic before their recovery.
    pub drops: u64,
    /// Replicated writes refused before recovery.
    pub busy: u64,
    /// Acknowledgements that its own recovery would not have kept.
    pub false_acks: u64,
    /// Positions that were acknowledged and that a recovery did not find.
    pub lost: u64,
}

/// A run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// The scenario.
    pub scenario: String,
    /// The defects that are there.
    pub variant: String,
    /// The seed.
    pub seed: u64,
    /// How long it ran, in milliseconds.
    pub ran_ms: u64,
    /// Whether it was ended before its time because more happened than a run keeps.
    pub is_cut: bool,
    /// The hash of everything that happened.
    pub trace: String,
    /// Elections.
    pub elections: Vec<Elected>,
    /// A stall at the end, if there is one.
    pub stall: Option<Stalled>,
    /// Appends that were rejected.
    pub rejected: u64,
    /// Streams that found nothing and said that they were sent.
    pub silent: u64,
    /// Streams that found nothing and said so.
    pub warned: u64,
    /// Writes that were not committed in their time.
    pub expired: u64,
    /// Requests that were told that the cluster is not ready.
    pub not_ready: u64,
    /// The controllers.
    pub nodes: Vec<NodeSummary>,
    /// Promises that were broken.
    pub broken: Vec<&'static str>,
}

impl Run {
    /// How often something happened, on one node or on all.
    pub fn count(&self, node: Option<usize>, is: impl Fn(&What) -> bool) -> u64 {
        let all = self.events.iter().map(|it| it.1);
        let there = all.filter(|it| node.is_none_or(|node| node == it.node) && is(&it.what));
        there.count() as u64
    }

    /// Elections, in order.
    pub fn elections(&self) -> Vec<Elected> {
        let mut elections: Vec<(u64, Elected)> = Vec::new();
        for (at, note) in &self.events {
            if let What::Primary { term, .. } = note.what {
                let elected = Elected {
                    term,
                    primary: controller(note.node),
                    at_ms: at / MILLISECOND,
                    ready_after_ms: None,
                };
                elections.push((*at, elected));
            } else if let What::Ready { term, .. } = note.what
                && let Some((since, it)) = elections.iter_mut().find(|it| it.1.term == term)
            {
                it.ready_after_ms = Some((at - *since) / MILLISECOND);
            }
        }
        elections.into_iter().map(|it| it.1).collect()
    }

    /// A stall at the end: under the last primary, streams to one standby from one position that find nothing, until
    /// the end and for at least ten seconds.
    pub fn stall(&self) -> Option<Stalled> {
        let elected = self.elections().pop()?;
        let (since, primary) = self.last_election()?;
        let mut courses: BTreeMap<u64, Course> = BTreeMap::new();
        let mut matched: BTreeMap<u64, u64> = BTreeMap::new();
        let mut stream = None;
        for (at, note) in self.events.iter().filter(|it| it.0 > since) {
            if note.node != primary {
                if let What::AppendOk {
                    matched: at, n: 0, ..
                } = note.what
                {
                    matched.insert(number(primary, note.node), at);
                }
            } else if let What::Stream {
                standby,
                lsn,
                ceiling,
                committed,
            } = note.what
            {
                stream = Some((standby, [lsn, ceiling, committed]));
            } else if note.what.ends_stream()
                && let Some((standby, positions)) = stream.take()
            {
                if note.what.is_empty_stream() {
                    let course = courses.entry(standby).or_default();
                    course.goes_on(*at, positions);
                } else {
                    courses.remove(&standby);
                }
            }
        }
        let patience = 2 * self.scenario.timing.tick;
        let now = self.events.last().map_or(0, |it| it.0);
        let lasts = |it: &(&u64, &Course)| {
            let Course {
                from, until, times, ..
            } = *it.1;
            times >= 5 && until - from >= 10 * SECOND && now - until <= patience
        };
        let (standby, course) = courses.iter().find(lasts)?;
        let [from, ceiling, committed] = course.positions;
        Some(Stalled {
            primary: elected.primary,
            from,
            ceiling,
            committed,
            times: course.times,
            matched: matched.get(standby).copied(),
            is_available: elected.ready_after_ms.is_some(),
        })
    }

    /// When the last primary was elected, and who it is.
    pub(super) fn last_election(&self) -> Option<(Micros, NodeId)> {
        let mut events = self.events.iter().rev();
        let last = events.find(|it| matches!(it.1.what, What::Primary { .. }));
        last.map(|(at, note)| (*at, note.node))
    }
}

/// Streams to one standby that find nothing, from one position.
#[derive(Debug, Clone, Copy, Default)]
struct Course {
    from: Micros,
    until: Micros,
    times: u64,
    /// Where the last one began, its ceiling, and what was committed.
    positions: [u64; 3],
}

impl Course {
    /// One more; another position begins anew.
    fn goes_on(&mut self, at: Micros, positions: [u64; 3]) {
        if self.times == 0 || self.positions[0] != positions[0] {
            (self.from, self.times) = (at, 0);
        }
        self.until = at;
        self.times += 1;
        self.positions = positions;
    }
}

/// Sums up a run.
pub fn summarize(scenario: &str, variant: Variant, seed: u64, run: &Run) -> Summary {
    let nodes = (0..run.scenario.nodes).map(|it| node(run, it)).collect();
    let all = |is: fn(&What) -> bool| run.count(None, is);
    Summary {
        scenario: scenario.to_owned(),
        variant: variant.name(),
        seed,
        ran_ms: run.now() / MILLISECOND,
        is_cut: run.is_cut,
        trace: format!("{:016x}", run.hash()),
        elections: run.elections(),
        stall: run.stall(),
        rejected: all(|it| matches!(it, What::AppendRejected { .. })),
        silent: all(|it| it.is_empty_stream() && !matches!(it, What::FoundNone { .. })),
        warned: all(|it| matches!(it, What::FoundNone { .. })),
        expired: all(|it| matches!(it, What::WaitExpired { .. })),
        not_ready: all(|it| matches!(it, What::NotReady)),
        nodes,
        broken: run.world.broken.iter().map(|it| it.promise()).collect(),
    }
}

fn node(run: &Run, node: usize) -> NodeSummary {
    let mine = |is: fn(&What) -> bool| run.count(Some(node), is);
    let lost = run.events.iter().filter(|it| it.1.node == node);
    let lost = lost.map(|it| {
        if let What::Lost { first, last } = it.1.what {
            last + 1 - first
        } else {
            0
        }
    });
    NodeSummary {
        name: controller(node),
        committed: run.world.committed(node),
        segments: run.world.stretches(node),
        problems: run
            .world
            .layout(node)
            .iter()
            .map(ToString::to_string)
            .collect(),
        hidden: run.world.hidden(node),
        drops: mine(|it| matches!(it, What::Dropped { is_first: true })),
        busy: mine(|it| matches!(it, What::Busy { .. })),
        false_acks: mine(|it| matches!(it, What::FalseAck { .. })),
        lost: lost.sum(),
    }
}

impl Summary {
    /// Whether every promise was kept, every log is in order and the last primary works.
    pub fn is_good(&self) -> bool {
        let is_ordered = self.nodes.iter().all(|it| it.problems.is_empty());
        is_ordered && self.broken.is_empty() && self.stall.is_none()
    }

    /// Writes it for machines.
    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, self)?;
        writeln!(out)
    }

    /// Writes it for people.
    pub fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(
            out,
            "{} with {}, seed {}: {} s, trace {}",
            self.scenario,
            self.variant,
            self.seed,
            seconds(self.ran_ms),
            self.trace
        )?;
        if self.is_cut {
            writeln!(out, "CUT SHORT: more happened than a run keeps.")?;
        }
        for it in &self.elections {
            let ready = it.ready_after_ms.map_or_else(
                || "and never commits".to_owned(),
                |ms| format!("and commits after {} s", seconds(ms)),
            );
            writeln!(
                out,
                "  {} s: {} is primary of term {}, {ready}",
                seconds(it.at_ms),
                it.primary,
                it.term
            )?;
        }
        if let Some(stall) = &self.stall {
            let matched = stall
                .matched
                .map_or_else(String::new, |it| format!("; the standby stays at {it}"));
            writeln!(
                out,
                "STALL: {} streams from {} up to {}, {} times, with {} committed{matched}",
                stall.primary, stall.from, stall.ceiling, stall.times, stall.committed
            )?;
        }
        writeln!(
            out,
            "appends rejected {}, streams that found nothing {} (warned {}), writes expired {}, requests not ready {}",
            self.rejected,
            self.silent + self.warned,
            self.warned,
            self.expired,
            self.not_ready
        )?;
        for it in &self.nodes {
            writeln!(
                out,
                "{}: committed {}; {}",
                it.name,
                it.committed,
                it.segments.join("; ")
            )?;
            for problem in &it.problems {
                writeln!(out, "  {problem}")?;
            }
            let figures = [
                ("records hidden from its next recovery", it.hidden),
                ("processes that dropped traffic before recovery", it.drops),
                ("writes refused before recovery", it.busy),
                ("false acknowledgements", it.false_acks),
                ("acknowledged positions lost", it.lost),
            ];
            for (what, count) in figures.iter().filter(|it| it.1 > 0) {
                writeln!(out, "  {what}: {count}")?;
            }
        }
        for promise in &self.broken {
            writeln!(out, "BROKEN: {promise}")?;
        }
        Ok(())
    }
}

/// Milliseconds as seconds.
pub(super) fn seconds(ms: u64) -> String {
    format!("{}.{:03}", ms / 1000, ms % 1000)
}
