//! A run: the controllers under a clock, with a network, faults and whoever writes.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};

use super::names::{Entry, NodeId, Note, What};
use super::node::{Delay, Out, Step};
use super::scenario::{Act, Client, Deed, Scenario};
use super::setup::Variant;
use super::world::World;
use crate::engine::sim::{MILLISECOND, Micros, Schedule, Stream};

/// What waits for its time.
#[derive(Debug, Clone)]
enum Event {
    Step(Step),
    Act(Act),
    /// An attempt of the client that waits for a failover.
    Attempt(u64),
}

/// What happens in a run of a scenario at most: notes that are kept, a few hundred megabytes.
const NOTES_MAX: usize = 2_000_000;
/// Events with or without a note.
const EVENTS_MAX: u64 = 50_000_000;
/// Entries that are sent.
const SENT_MAX: u64 = 20_000_000;

/// The chances of a run, one stream each.
#[derive(Debug, Clone)]
struct Chances {
    hop: Stream,
    sync: Stream,
    start: Stream,
    election: Stream,
    loss: Stream,
}

/// A scenario while it runs.
#[derive(Debug, Clone)]
pub struct Run {
    /// The controllers.
    pub world: World,
    /// What happened, in order.
    pub events: Vec<(Micros, Note)>,
    /// What the harness printed.
    pub lines: Vec<String>,
    /// Whether it was ended before its time because more happened than a run keeps.
    pub is_cut: bool,
    pub(super) scenario: Scenario,
    schedule: Schedule<Event>,
    chances: Chances,
    /// When the last message from one node to another one arrives: they do not overtake each other.
    arrivals: BTreeMap<(NodeId, NodeId), Micros>,
    cut: BTreeSet<NodeId>,
    paused: BTreeSet<NodeId>,
    /// What happens at a paused node when it goes on.
    held: Vec<Step>,
    values: u64,
    /// The write of the client's last attempt.
    asked: Option<(u64, u64)>,
    /// Entries that were sent.
    sent: u64,
    out: Out,
}

impl Run {
    /// A scenario at its beginning.
    pub fn new(scenario: &Scenario, variant: Variant, seed: u64) -> Self {
        let mut world = World::new(scenario.setup(variant));
        for old in &scenario.disk {
            let entry = |lsn| Entry {
                lsn,
                term: old.term,
                value: lsn,
            };
            let entries: Vec<Entry> = (old.first..=old.last).map(entry).collect();
            world.put_segment(old.node, &entries);
        }
        let values = scenario.disk.iter().map(|it| it.last).max().unwrap_or(0);
        let mut schedule = Schedule::default();
        for act in &scenario.act {
            schedule.at(act.at_ms * MILLISECOND, Event::Act(*act));
        }
        if let Some(client) = &scenario.client {
            schedule.at(client.from_ms * MILLISECOND, Event::Attempt(1));
        }
        Self {
            world,
            events: Vec::new(),
            lines: Vec::new(),
            is_cut: false,
            sent: 0,
            scenario: scenario.clone(),
            schedule,
            chances: Chances {
                hop: Stream::new(seed, "hop"),
                sync: Stream::new(seed, "sync"),
                start: Stream::new(seed, "start"),
                election: Stream::new(seed, "election"),
                loss: Stream::new(seed, "loss"),
            },
            arrivals: BTreeMap::new(),
            cut: BTreeSet::new(),
            paused: BTreeSet::new(),
            held: Vec::new(),
            values,
            asked: None,
            out: Out::default(),
        }
    }

    /// Runs until the scenario ends, or more has happened than a run keeps: a scenario is anyone's file.
    pub fn finish(&mut self) {
        let end = self.scenario.end();
        while let Some(event) = self.schedule.next_until(end) {
            self.happen(event);
            self.is_cut = self.events.len() >= NOTES_MAX
                || self.schedule.events() >= EVENTS_MAX
                || self.sent >= SENT_MAX;
            if self.is_cut {
                return;
            }
        }
    }

    /// Runs until a time.
    pub fn run_until(&mut self, end: Micros) {
        while let Some(event) = self.schedule.next_until(end) {
            self.happen(event);
        }
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Step(step) => self.step(step),
            Event::Act(act) => self.act(act),
            Event::Attempt(number) => self.attempt(number),
        }
        self.settle();
    }

    /// The time.
    pub fn now(&self) -> Micros {
        self.schedule.now()
    }

    /// A hash of everything that happened.
    pub fn hash(&self) -> u64 {
        let mut hasher = rustc_hash::FxHasher::default();
        self.events.hash(&mut hasher);
        self.lines.hash(&mut hasher);
        hasher.finish()
    }

    fn step(&mut self, step: Step) {
        if let Step::Deliver { from, to, .. } = &step {
            let is_lost = |node| self.cut.contains(node) || self.paused.contains(node);
            if is_lost(from) || is_lost(to) {
                return;
            }
        } else if self.paused.contains(&step.node()) {
            self.held.push(step);
            return;
        }
        self.world.apply(step, &mut self.out);
    }

    /// Does something now.
    pub(super) fn do_now(&mut self, deed: Deed, node: NodeId, count: u64) {
        let at_ms = self.now() / MILLISECOND;
        self.act(Act {
            at_ms,
            deed,
            node,
            count,
        });
        self.settle();
    }

    fn act(&mut self, act: Act) {
        let (node, out) = (act.node, &mut self.out);
        match act.deed {
            Deed::Start => {
                let delay = self.scenario.timing.start.draw(&mut self.chances.start);
                self.world.start(node, delay / MILLISECOND, out);
                // The delay that was told is the one that is waited for.
                if let Some((kind, step)) = out.later.pop() {
                    debug_assert_eq!(kind, Delay::Start);
                    let at = self.schedule.now() + delay;
                    self.schedule.at(at, Event::Step(step));
                }
            }
            Deed::Kill => {
                self.paused.remove(&node);
                let kept = usize::try_from(act.count).unwrap_or(usize::MAX);
                self.world.kill(node, kept, out);
            }
            Deed::Stop => {
                self.paused.remove(&node);
                self.world.stop(node, out);
            }
            Deed::Pause => {
                self.paused.insert(node);
                self.world.disconnect(node);
            }
            Deed::Resume => self.resume(node),
            Deed::Cut => {
                self.cut.insert(node);
            }
            Deed::Heal => {
                self.cut.remove(&node);
            }
            Deed::Elect => self.world.stand_for_election(node, out),
            Deed::Write | Deed::Job => {
                for _ in 0..act.count.max(1) {
                    self.write(act.deed == Deed::Job);
                }
            }
            Deed::Compact => self.world.compact(node),
            Deed::RemoveSegment => self.world.remove_segment(node, act.count),
        }
    }

    fn resume(&mut self, node: NodeId) {
        if !self.paused.remove(&node) {
            return;
        }
        let (mine, others) = std::mem::take(&mut self.held)
            .into_iter()
            .partition(|it: &Step| it.node() == node);
        self.held = others;
        for step in mine {
            // Its clock stood still: the time without a primary begins anew.
            if matches!(step, Step::Election { .. }) {
                continue;
            }
            self.world.apply(step, &mut self.out);
        }
        self.world.begin_timer(node, &mut self.out);
    }

    /// A write at the primary; its position and value if it was taken.
    pub(super) fn write(&mut self, is_internal: bool) -> Option<(u64, u64)> {
        let primary = self.primary()?;
        let value = self.values + 1;
        let taken = self.world.write(primary, value, is_internal, &mut self.out);
        if let Ok(lsn) = taken {
            self.values = value;
            return Some((lsn, value));
        }
        self.world.note(primary, What::NotReady, &mut self.out);
        None
    }

    /// A write at the primary, with what follows of it.
    pub(super) fn write_now(&mut self) -> Option<(u64, u64)> {
        let asked = self.write(false);
        self.settle();
        asked
    }

    /// Writes at a node that may be cut off.
    pub(super) fn write_at(&mut self, node: NodeId, count: u64) {
        for _ in 0..count {
            self.values += 1;
            let taken = self.world.write(node, self.values, true, &mut self.out);
            debug_assert!(taken.is_ok() || self.world.primary() != Some(node));
        }
        self.settle();
    }

    /// Whether every node has everything that the primary has handed to its log, but for what is on its way.
    pub(super) fn is_level(&self) -> bool {
        self.primary().is_some_and(|it| self.world.is_level(it, 2))
    }

    /// The primary that clients reach.
    pub(super) fn primary(&self) -> Option<NodeId> {
        let primary = self.world.primary()?;
        let is_there = !self.paused.contains(&primary) && !self.cut.contains(&primary);
        is_there.then_some(primary)
    }

    /// Whether a write was committed.
    pub(super) fn is_committed(&self, write: (u64, u64)) -> bool {
        self.world.is_committed(write.0, write.1)
    }

    fn attempt(&mut self, number: u64) {
        let Some(client) = self.scenario.client else {
            return;
        };
        if self.asked.is_some_and(|it| self.is_committed(it)) {
            self.lines.push(rejoined(client));
            return;
        }
        self.asked = self.write(false);
        if number < client.attempts {
            let at = self.now() + client.every_ms * MILLISECOND;
            self.schedule.at(at, Event::Attempt(number + 1));
        } else if self.asked.is_none() {
            self.lines.extend(gave_up(client));
        }
    }

    /// Tells what happened and schedules what follows.
    pub(super) fn settle(&mut self) {
        let now = self.schedule.now();
        for note in self.out.notes.drain(..) {
            self.events.push((now, note));
        }
        for (delay, step) in std::mem::take(&mut self.out.later) {
            self.sent += step.entries();
            if let Some(at) = self.time_of(now, delay) {
                self.schedule.at(at, Event::Step(step));
            }
        }
    }

    fn time_of(&mut self, now: Micros, delay: Delay) -> Option<Micros> {
        let (timing, chances) = (&self.scenario.timing, &mut self.chances);
        let wait = match delay {
            Delay::Hop(from, to) => {
                let hop = timing.hop.draw(&mut chances.hop);
                if chances.loss.happens(timing.loss) {
                    return None;
                }
                let last = self.arrivals.entry((from, to)).or_insert(0);
                let at = if timing.reorders {
                    now + hop
                } else {
                    (now + hop).max(*last)
                };
                *last = at;
                return Some(at);
            }
            Delay::Sync => timing.sync.draw(&mut chances.sync),
            Delay::Start => timing.start.draw(&mut chances.start),
            Delay::Election => timing.election.draw(&mut chances.election),
            Delay::Tick => timing.tick,
            Delay::Wait => timing.wait,
        };
        Some(now + wait)
    }
}

fn rejoined(client: Client) -> String {
    let round = client.round;
    format!("[xce-test-ha] PASS: round {round}")
}

fn gave_up(client: Client) -> [String; 2] {
    let Client {
        round, attempts, ..
    } = client;
    [
        format!(
            "worker: xcecli failover: cluster not ready after {attempts} attempts (last status=-10013)"
        ),
        format!(
            "[xce-test-ha] FAIL: round {round}: worker-resync job: worker never logged a fresh rejoin after the failover"
        ),
    ]
}
