//! Tasks: an entry of the queue takes a place in a pool and begins.

use super::ledger::{Act, Answer, Item};
use super::names::Manifest;
use super::names::{NodeId, Note, PartId, What};
use super::replica::{Breaker, Entry, EntryKind};
use super::variant::Fix;
use super::world::{Delay, Out, Step, Ticket, Waiter, World};

/// How long an entry waits for parts that are still in the queue or at work.
const SOURCES_LOOK_US: u64 = 1_000_000;

/// How far a task has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stage {
    /// The source was asked.
    Asking,
    /// T1 is under way.
    Staging,
    /// T2 is under way.
    Confirming,
    /// T3 is under way.
    Promoting,
    /// The precommit is being removed.
    Aborting,
    /// Bytes are under way.
    Bytes,
    /// A merge writes its part.
    Merging,
}

/// A task in a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Task {
    /// Tells it from earlier ones in the same place.
    pub serial: u32,
    /// Its entry.
    pub entry: u32,
    /// The part that it is to bring.
    pub part: PartId,
    /// Where from.
    pub source: NodeId,
    /// How far it has come.
    pub stage: Stage,
    /// What the source offered.
    pub offered: Option<Manifest>,
    /// What the source answered; nothing if no answer came.
    pub answer: Option<Answer>,
    /// Whether it publishes bytes: those of the source, or those that a merge wrote.
    pub bytes: bool,
    /// Appends that a relink has cost.
    pub appends: u8,
    /// How long the source has waited before it answers, in microseconds (fix E).
    pub waited: u64,
    /// An earlier promotion turned out to have committed.
    pub adopted: bool,
}

impl World {
    /// Begins the work of an entry.
    pub(super) fn begin(&mut self, node: NodeId, number: u32, slot: usize, out: &mut Out) {
        let entry = self.nodes.get(node).and_then(|it| it.queue.get(&number));
        let Some(entry) = entry.copied() else {
            return;
        };
        match entry.kind {
            EntryKind::Drop => self.drop_range(node, number, entry, out),
            EntryKind::Merge => self.begin_merge(node, number, slot, entry, out),
            EntryKind::Get | EntryKind::Replace => {
                self.begin_fetch(node, number, slot, entry, out);
            }
        }
    }

    fn drop_range(&mut self, node: NodeId, number: u32, entry: Entry, out: &mut Out) {
        self.done(node, number);
        let last = entry.first + entry.count;
        let table = self.parts.get(entry.first).map(|it| it.table);
        for part in 0..last {
            if self.parts.get(part).map(|it| it.table) == table {
                self.outdate(node, part, out);
            }
        }
        let mut dropped = Vec::new();
        if let Some(it) = self.nodes.get_mut(node) {
            let parts = &self.parts;
            let is_dropped = |entry: &Entry| {
                entry.kind != EntryKind::Drop
                    && entry.first < last
                    && parts.get(entry.first).map(|it| it.table) == table
            };
            it.queue.retain(|_, entry| !is_dropped(entry));
            let (queue, slots) = (&it.queue, &mut it.slots);
            it.due_fetches.retain(|number| queue.contains_key(number));
            it.due_tasks.retain(|number| queue.contains_key(number));
            for slot in slots {
                let stale = slot.filter(|task| !queue.contains_key(&task.entry));
                if let Some(task) = stale {
                    dropped.push(task);
                    *slot = None;
                }
            }
        }
        for task in dropped {
            if task.stage == Stage::Bytes {
                self.handler_free(task.source, out);
            }
            self.abandon(node, task, out);
        }
    }

    /// The reference goes away that a task has staged and that no append of it is about to touch: the answer to such an
    /// append finds out by itself that nobody waits for it.
    fn abandon(&mut self, node: NodeId, task: Task, out: &mut Out) {
        let table = self.parts.get(task.part).map_or(0, |it| it.table);
        let lane = self.setup.lane(node, table);
        let owners = self.lanes.get(lane).map(|it| &it.stream.owners);
        let owned = owners.and_then(|it| it.get(&task.part));
        let is_staged = owned.is_some_and(|it| it.staged.is_some());
        let appends = matches!(
            task.stage,
            Stage::Staging | Stage::Promoting | Stage::Aborting
        );
        if is_staged && !appends {
            let item = Item {
                part: task.part,
                act: Act::Unstage,
                waiter: Waiter::Nobody,
            };
            self.submit(lane, item, out);
        }
    }

    fn begin_merge(&mut self, node: NodeId, number: u32, slot: usize, entry: Entry, out: &mut Out) {
        if self.covers(node, entry.first) {
            self.done(node, number);
            return;
        }
        let sources = self.parts.get(entry.first).map(|it| &it.sources);
        let is_ready = sources.is_some_and(|them| them.iter().all(|it| self.covers(node, *it)));
        if is_ready {
            let ticket = self.occupy(node, number, slot, entry.first, node, Stage::Merging);
            out.after(Delay::Merge, Step::Merged(ticket));
            return;
        }
        let waits = self.nodes.get(node).is_some_and(|it| {
            let mut queue = it.queue.values();
            queue.any(|other| {
                other.kind == EntryKind::Get
                    && sources.is_some_and(|them| them.contains(&other.first))
            })
        });
        if waits || self.source_of(node, entry.first, entry.tries).is_none() {
            let step = Step::Due {
                node,
                entry: number,
            };
            out.after(Delay::Exact(SOURCES_LOOK_US), step);
            return;
        }
        self.begin_fetch(node, number, slot, entry, out);
    }

    fn begin_fetch(&mut self, node: NodeId, number: u32, slot: usize, entry: Entry, out: &mut Out) {
        let Some(part) = self.missing(node, &entry) else {
            self.done(node, number);
            return;
        };
        let Some((source, part)) = self.source_of(node, part, entry.tries + number) else {
            let note = self.note(What::NoReplica, node, part);
            out.notes.push(note);
            self.postpone(node, number, out);
            return;
        };
        let is_at_work = self.nodes.get(node).is_some_and(|it| {
            let mut tasks = it.slots.iter().flatten();
            tasks.any(|task| task.part == part)
        });
        if is_at_work {
            let step = Step::Due {
                node,
                entry: number,
            };
            out.after(Delay::Exact(SOURCES_LOOK_US), step);
            return;
        }
        let breaker = self
            .nodes
            .get_mut(node)
            .and_then(|it| it.breakers.get_mut(source));
        if let Some(breaker) = breaker.filter(|it| it.is_open) {
            breaker.held.push(number);
            return;
        }
        let ticket = self.occupy(node, number, slot, part, source, Stage::Asking);
        let note = Note {
            peer: source,
            ..self.note(What::Fetching, node, part)
        };
        out.notes.push(note);
        out.after(Delay::Hop(node, source), Step::Offer(ticket));
    }

    fn occupy(
        &mut self,
        node: NodeId,
        entry: u32,
        slot: usize,
        part: PartId,
        source: NodeId,
        stage: Stage,
    ) -> Ticket {
        let mut serial = 0;
        if let Some(it) = self.nodes.get_mut(node) {
            it.serial += 1;
            serial = it.serial;
            if let Some(place) = it.slots.get_mut(slot) {
                *place = Some(Task {
                    serial,
                    entry,
                    part,
                    source,
                    stage,
                    offered: None,
                    answer: None,
                    bytes: stage == Stage::Merging,
                    appends: 0,
                    waited: 0,
                    adopted: false,
                });
            }
        }
        Ticket { node, slot, serial }
    }

    pub(super) fn breaker(&mut self, node: NodeId, source: NodeId) -> Option<&mut Breaker> {
        self.nodes.get_mut(node)?.breakers.get_mut(source)
    }

    /// The pause of a source ends.
    pub(super) fn reopen(&mut self, node: NodeId, source: NodeId, out: &mut Out) {
        let Some(it) = self.breaker(node, source) else {
            return;
        };
        it.is_open = false;
        for number in std::mem::take(&mut it.held) {
            self.due(node, number, out);
        }
    }

    /// One replica less needs the runtimes of an attached table (fix C1).
    pub(super) fn unpin(&mut self, entry: Entry) {
        if !self.setup.variant.has(Fix::C1) {
            return;
        }
        let table = self.parts.get(entry.first).map_or(0, |it| it.table);
        for node in 0..self.setup.nodes {
            let lane = self.setup.lane(node, table);
            if let Some(lane) = self.lanes.get_mut(lane) {
                lane.pins = lane.pins.saturating_sub(1);
            }
        }
    }
}
