//! The controllers as a value, and the one function that changes it.
//!
//! A [`World`] has no clock and draws no number: a simulation turns waits into times, a check tries every order.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::names::{Entry, LayoutProblem, NodeId, Note, Violation, What};
use super::node::{Delay, Message, Node, Out, Role, Step};
use super::persist::{LOG_ID, Persist};
use super::setup::{Recovery, Setup};

/// What all nodes together have done, kept to see whether promises hold.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
struct History {
    /// The primary of each term.
    primaries: BTreeMap<u64, NodeId>,
    /// The value and the term before, of each position and term.
    entries: BTreeMap<(u64, u64), (u64, u64)>,
    /// What was committed.
    committed: BTreeMap<u64, (u64, u64)>,
}

/// The controllers.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct World {
    /// What does not change.
    pub setup: Arc<Setup>,
    pub(super) nodes: Vec<Node>,
    /// Promises that were broken.
    pub broken: BTreeSet<Violation>,
    history: History,
}

/// Why a write was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    /// The node is no primary.
    NotPrimary,
    /// It has not yet committed anything in its term (status -10013).
    NotReady,
}

impl World {
    /// Controllers that are down, with empty disks.
    pub fn new(setup: Setup) -> Self {
        Self {
            nodes: vec![Node::new(); setup.nodes],
            broken: BTreeSet::new(),
            history: History::default(),
            setup: Arc::new(setup),
        }
    }

    /// Puts a segment on a disk, as an earlier life left it.
    pub(super) fn put_segment(&mut self, node: NodeId, entries: &[Entry]) {
        let Some(first) = entries.first().map(|it| it.lsn) else {
            return;
        };
        let it = &mut self.nodes[node];
        it.disk.create(first, LOG_ID);
        for entry in entries {
            it.disk.append(first, *entry);
            it.disk.term = it.disk.term.max(entry.term);
            it.acknowledged = it.acknowledged.max(entry.lsn);
        }
        it.disk.sync();
        let known = it.disk.recoverable(false).entries;
        for entry in entries {
            let term = known.get(&(entry.lsn - 1)).map_or(0, |it| it.term);
            self.remember(*entry, term);
        }
    }

    /// Lets a step happen.
    pub(super) fn apply(&mut self, step: Step, out: &mut Out) {
        let node = step.node();
        match step {
            Step::Deliver { from, to, message } => {
                if self.nodes[to].is_up {
                    self.deliver(from, to, message, out);
                }
            }
            Step::Recover { life, .. } => {
                if self.lives(node, life) {
                    self.recover(node, out);
                }
            }
            Step::Synced { life, .. } => {
                if self.lives(node, life) {
                    self.synced(node, out);
                }
            }
            Step::Election { life, timer, .. } => {
                if self.lives(node, life) && self.nodes[node].timer == timer {
                    self.stand_for_election(node, out);
                }
            }
            Step::Tick { life, term, .. } => {
                let is_current = self.nodes[node].disk.term == term;
                if self.lives(node, life) && is_current {
                    self.tick(node, out);
                }
            }
            Step::Deadline { life, lsn, .. } => {
                if self.lives(node, life) {
                    self.deadline(node, lsn, out);
                }
            }
        }
    }

    fn lives(&self, node: NodeId, life: u32) -> bool {
        self.nodes[node].is_up && self.nodes[node].life == life
    }

    fn deliver(&mut self, from: NodeId, to: NodeId, message: Message, out: &mut Out) {
        match message {
            Message::Hello { term } => self.hello(from, to, term, out),
            Message::Welcome { term, report } => self.welcome(from, to, term, report, out),
            Message::Append(entries) => self.append(from, to, &entries, out),
            Message::Batch(entries) => self.batch(from, to, entries, out),
            Message::Push { term, entry } => self.push(to, term, entry, out),
            Message::Snapshot {
                term,
                lsn,
                lsn_term,
            } => self.snapshot(from, to, term, (lsn, lsn_term), out),
            Message::Ack {
                term,
                lsn,
                is_heartbeat,
            } => self.ack(from, to, term, lsn, is_heartbeat, out),
            Message::Nack { term, prev, lsn } => self.nack(from, to, term, prev, lsn, out),
            Message::AskVote {
                term,
                last,
                last_term,
            } => self.vote(from, to, term, (last_term, last), out),
            Message::Vote { term, is_granted } => self.voted(from, to, term, is_granted, out),
        }
    }

    /// A process begins. It accepts connections at once and recovers after its start delay.
    pub(super) fn start(&mut self, node: NodeId, delay_ms: u64, out: &mut Out) {
        let it = &mut self.nodes[node];
        if it.is_up {
            return;
        }
        it.is_up = true;
        it.life += 1;
        it.persist = Persist::default();
        it.log.clear();
        it.role = Role::Follower;
        it.committed = 0;
        it.answers.clear();
        it.told_drop = false;
        let life = it.life;
        self.note(node, What::Started { delay_ms }, out);
        out.later.push((Delay::Start, Step::Recover { node, life }));
    }

    fn recover(&mut self, node: NodeId, out: &mut Out) {
        let setup = Arc::clone(&self.setup);
        let it = &mut self.nodes[node];
        let recovered = it.persist.recover(&mut it.disk, &setup.assumptions);
        it.log = recovered.entries;
        it.committed = it.disk.snapshot.0;
        let (current, segments) = (it.persist.current, it.disk.segments.len() as u64);
        let (term, last, acknowledged) = (it.disk.term, recovered.last, it.acknowledged);
        it.acknowledged = acknowledged.min(last);
        self.note(node, What::Recovered { current, segments }, out);
        if last < acknowledged {
            self.broken.insert(Violation::AcknowledgedLost);
            let (first, last) = (last + 1, acknowledged);
            self.note(node, What::Lost { first, last }, out);
        }
        self.note(node, What::Follower { term, last }, out);
        self.begin_timer(node, out);
    }

    /// A process is killed: of what is not durable the first `kept` bytes survive.
    pub(super) fn kill(&mut self, node: NodeId, kept: usize, out: &mut Out) {
        if self.nodes[node].is_up {
            self.nodes[node].disk.crash(kept);
            self.end(node, What::Killed, out);
        }
    }

    /// A process ends in order: what waits for the log is written.
    pub(super) fn stop(&mut self, node: NodeId, out: &mut Out) {
        if !self.nodes[node].is_up {
            return;
        }
        let primary = self.nodes[node].primary_mut();
        let waiting = primary.map_or_else(Vec::new, |it| std::mem::take(&mut it.buffer));
        for entry in waiting {
            self.write_entry(node, entry);
        }
        self.nodes[node].disk.sync();
        self.end(node, What::Stopped, out);
    }

    /// The connections of a process end with it, and its peers see that.
    fn end(&mut self, node: NodeId, what: What, out: &mut Out) {
        let it = &mut self.nodes[node];
        it.is_up = false;
        it.role = Role::Follower;
        self.disconnect(node);
        self.note(node, what, out);
    }

    /// The primaries' connections to a node end.
    pub(super) fn disconnect(&mut self, node: NodeId) {
        for other in &mut self.nodes {
            if let Some(standby) = other.primary_mut().and_then(|it| it.standbys.get_mut(node)) {
                standby.is_registered = false;
            }
        }
    }

    /// Writes an entry to the log of a recovered node, and looks whether it went where it is found.
    pub(super) fn write_entry(&mut self, node: NodeId, entry: Entry) {
        let limit = self.setup.assumptions.segment_records;
        let it = &mut self.nodes[node];
        let before = it.term_at(entry.lsn - 1).unwrap_or(0);
        let last = it.last();
        let segment = it.persist.write(&mut it.disk, entry, limit);
        it.log.insert(entry.lsn, entry);
        let is_found = segment.is_none() || it.disk.reader_opens(entry.lsn) == segment;
        it.is_disordered |= !is_found;
        if !is_found {
            self.broken.insert(Violation::Misfiled);
        }
        if entry.lsn != last + 1 {
            self.broken.insert(Violation::Hole);
        }
        self.remember(entry, before);
    }

    /// One position and term is one entry with one past, everywhere.
    pub(super) fn remember(&mut self, entry: Entry, before: u64) {
        let known = self.history.entries.entry((entry.lsn, entry.term));
        if *known.or_insert((entry.value, before)) != (entry.value, before) {
            self.broken.insert(Violation::LogMismatch);
        }
    }

    /// Whether an entry that a primary wrote made way, in that process, for another one.
    pub(super) fn has_truncated(&self) -> bool {
        let written = self.history.entries.keys();
        written.into_iter().any(|(lsn, term)| {
            let by = self.history.primaries.get(term);
            let by = by.and_then(|it| self.nodes.get(*it));
            by.is_some_and(|it| {
                let other = it.log.get(lsn).is_some_and(|it| it.term != *term);
                // A kill may have taken it away instead.
                other && it.is_up && it.life == 1
            })
        })
    }

    /// A node learns that everything up to a position is committed.
    pub(super) fn commit_to(&mut self, node: NodeId, lsn: u64, out: &mut Out) {
        let from = self.nodes[node].committed + 1;
        for at in from..=lsn {
            let here = self.nodes[node].log.get(&at).map(|it| (it.term, it.value));
            let Some(here) = here else {
                // Below a snapshot, or a log with a hole.
                continue;
            };
            if *self.history.committed.entry(at).or_insert(here) != here {
                self.broken.insert(Violation::CommittedDiverged);
            }
        }
        let it = &mut self.nodes[node];
        it.committed = it.committed.max(lsn);
        let Some(primary) = it.primary_mut() else {
            return;
        };
        let still = primary.waits.split_off(&(lsn + 1));
        let done = std::mem::replace(&mut primary.waits, still);
        for lsn in done {
            let value = self.nodes[node].log.get(&lsn).map_or(0, |it| it.value);
            self.note(node, What::Acknowledged { lsn, value }, out);
        }
    }

    /// A node is primary of its term: nobody else may be, and it must have all that was committed.
    pub(super) fn judge_primary(&mut self, node: NodeId) {
        let it = &self.nodes[node];
        let known = self.history.primaries.entry(it.disk.term).or_insert(node);
        if *known != node {
            self.broken.insert(Violation::TwoPrimaries);
        }
        let it = &self.nodes[node];
        let above = self.history.committed.range(it.disk.snapshot.0 + 1..);
        let has = |(lsn, what): (&u64, &(u64, u64))| {
            it.log.get(lsn).map(|it| (it.term, it.value)) == Some(*what)
        };
        if !above.into_iter().all(has) {
            self.broken.insert(Violation::LeaderIncomplete);
        }
    }

    /// What is durable is acknowledged; whether it would be found again is looked at where records stand elsewhere.
    pub(super) fn acknowledge(&mut self, node: NodeId, lsn: u64, out: &mut Out) {
        let is_ordered = self.setup.assumptions.recovery == Recovery::Positions;
        let it = &mut self.nodes[node];
        it.acknowledged = it.acknowledged.max(lsn);
        if it.is_disordered && it.disk.recoverable(is_ordered).last < lsn {
            self.note(node, What::FalseAck { lsn }, out);
        }
    }

    /// Whether a value was committed.
    pub(super) fn is_committed(&self, lsn: u64, value: u64) -> bool {
        let known = self.history.committed.get(&lsn);
        known.is_some_and(|it| it.1 == value)
    }

    /// What a check of a node's segments finds.
    pub fn layout(&self, node: NodeId) -> Vec<LayoutProblem> {
        self.nodes[node].disk.problems()
    }

    /// Records of a node that its next recovery would not find.
    pub fn hidden(&self, node: NodeId) -> u64 {
        let is_ordered = self.setup.assumptions.recovery == Recovery::Positions;
        let disk = &self.nodes[node].disk;
        let found = disk.recoverable(is_ordered).entries;
        disk.above_snapshot()
            .filter(|it| !found.contains_key(&it.lsn))
            .count() as u64
    }

    /// The stretches of positions in each of a node's segments.
    pub fn stretches(&self, node: NodeId) -> Vec<String> {
        self.nodes[node].disk.stretches()
    }

    /// The names and bytes of a node's segments.
    pub fn segments(&self, node: NodeId) -> impl Iterator<Item = (String, &[u8])> {
        self.nodes[node].disk.files()
    }

    /// Someone removes a segment of a node.
    pub(super) fn remove_segment(&mut self, node: NodeId, first: u64) {
        self.nodes[node].disk.segments.remove(&first);
    }

    /// The primary of the highest term that is up.
    pub(super) fn primary(&self) -> Option<NodeId> {
        let up = self.nodes.iter().enumerate();
        let primaries = up.filter(|it| it.1.is_up && it.1.primary().is_some());
        primaries.max_by_key(|it| it.1.disk.term).map(|it| it.0)
    }

    /// Whether every node has the primary's log but for at most `slack` entries, and the primary works.
    pub(super) fn is_level(&self, primary: NodeId, slack: u64) -> bool {
        let Some(known) = self.nodes[primary].primary() else {
            return false;
        };
        let handed = known.handed;
        let is_near = |it: &Node| it.is_recovered() && it.last() + slack >= handed;
        known.is_ready && self.nodes.iter().all(is_near)
    }

    /// How far a node has committed.
    pub fn committed(&self, node: NodeId) -> u64 {
        self.nodes[node].committed
    }

    pub(super) fn note(&self, node: NodeId, what: What, out: &mut Out) {
        debug_assert!(node < self.nodes.len());
        out.notes.push(Note { node, what });
    }

    pub(super) fn send(&self, from: NodeId, to: NodeId, message: Message, out: &mut Out) {
        debug_assert!(to < self.nodes.len());
        let step = Step::Deliver { from, to, message };
        out.later.push((Delay::Hop(from, to), step));
    }
}
