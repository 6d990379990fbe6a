//! A server as a replica: its parts, its queue with the waits after failures, and its pools.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::ledger::{Act, Item};
use super::names::{Manifest, NodeId, Note, PartId, What};
use super::tasks::Task;
use super::world::{Delay, Out, Step, Trouble, Waiter, World};

/// What a server has of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Held {
    /// Nothing.
    #[default]
    Absent,
    /// It is among the table's parts.
    Active,
    /// It was merged away or dropped, and its reference is still there.
    Outdated,
}

/// What an entry of the queue asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EntryKind {
    /// `GET_PART`.
    Get,
    /// `MERGE_PARTS` or `MUTATE_PART`.
    Merge,
    /// `REPLACE_RANGE` with parts of another table.
    Replace,
    /// `DROP_RANGE`: all parts up to the last.
    Drop,
}

impl EntryKind {
    /// As the log writes it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Get => "GET_PART",
            Self::Merge => "MERGE_PARTS",
            Self::Replace => "REPLACE_RANGE",
            Self::Drop => "DROP_RANGE",
        }
    }
}

/// An entry of a replication queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Entry {
    /// What it asks for.
    pub kind: EntryKind,
    /// Its first part.
    pub first: PartId,
    /// How many parts it names, one after another.
    pub count: usize,
    /// How often it was selected.
    pub tries: u32,
    /// How often it failed.
    pub failures: u32,
}

/// A pause of a source (fix D).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Breaker {
    /// Refusals in a row.
    pub streak: u32,
    /// Whether the source is paused.
    pub is_open: bool,
    /// Entries that wait for the end of the pause.
    pub held: Vec<u32>,
}

/// A server.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is turned by someone else: the process, the lease, an operator, the pool"
)]
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Node {
    /// Whether its process runs.
    pub is_up: bool,
    /// Whether its mount lease does not hold.
    pub is_fenced: bool,
    /// Whether fetches are stopped (`SYSTEM STOP FETCHES`).
    pub is_stopped: bool,
    /// Its writer epoch: one more with each mount.
    pub epoch: u32,
    /// Builds so far.
    pub builds: u32,
    /// Tasks so far.
    pub serial: u32,
    /// What it has of each part.
    pub held: Vec<Held>,
    /// Its queue.
    pub queue: BTreeMap<u32, Entry>,
    /// Entries so far.
    pub entries: u32,
    /// Entries for the fetch pool that may be tried.
    pub due_fetches: BTreeSet<u32>,
    /// Entries for the common pool that may be tried.
    pub due_tasks: BTreeSet<u32>,
    /// Its pools: fetches first.
    pub slots: Vec<Option<Task>>,
    /// Pauses by source.
    pub breakers: Vec<Breaker>,
    /// Handlers at work.
    pub busy: usize,
    /// Connections that wait for a handler.
    pub backlog: VecDeque<Step>,
    /// Whether a look at the queue is planned.
    pub rescans: bool,
    /// When the renewal began that holds now, in microseconds.
    pub renewed_at: u64,
    /// Whether the collector has fenced its mount out.
    pub is_fenced_out: bool,
    /// Whether it has started and not mounted yet.
    pub starts: bool,
    /// Attempts to mount that failed in a row.
    pub claims: u32,
}

impl Node {
    pub(super) fn new(nodes: usize, slots: usize) -> Self {
        Self {
            is_up: true,
            is_fenced: false,
            is_stopped: false,
            epoch: 1,
            builds: 0,
            serial: 0,
            held: Vec::new(),
            queue: BTreeMap::new(),
            entries: 0,
            due_fetches: BTreeSet::new(),
            due_tasks: BTreeSet::new(),
            slots: vec![None; slots],
            breakers: vec![Breaker::default(); nodes],
            busy: 0,
            backlog: VecDeque::new(),
            rescans: false,
            renewed_at: 0,
            is_fenced_out: false,
            starts: false,
            claims: 0,
        }
    }

    /// What it has of a part.
    pub fn part(&self, part: PartId) -> Held {
        self.held.get(part).copied().unwrap_or_default()
    }

    /// Whether a part is among its active or outdated parts (gate 0).
    pub fn holds(&self, part: PartId) -> bool {
        self.part(part) != Held::Absent
    }

    /// A manifest of a build that begins now.
    pub(super) fn build(&mut self, node: NodeId) -> Manifest {
        self.builds += 1;
        Manifest {
            node,
            epoch: self.epoch,
            build: self.builds,
        }
    }
}

impl World {
    /// Whether a server has a part or one that it was merged into.
    pub fn covers(&self, node: NodeId, part: PartId) -> bool {
        let Some(node) = self.nodes.get(node) else {
            return false;
        };
        let mut part = Some(part);
        while let Some(it) = part {
            if node.part(it) == Held::Active {
                return true;
            }
            part = self.parts.get(it).and_then(|it| it.into);
        }
        false
    }

    /// A part becomes active on a server; what it was made of becomes outdated.
    pub fn activate(&mut self, node: NodeId, part: PartId, out: &mut Out) {
        let is_covered = self.parts.get(part).and_then(|it| it.into);
        let is_covered = is_covered.is_some_and(|into| self.covers(node, into));
        if let Some(it) = self.nodes.get_mut(node) {
            if it.held.len() <= part {
                it.held.resize(part + 1, Held::Absent);
            }
            if let Some(held) = it.held.get_mut(part) {
                *held = Held::Active;
            }
        }
        if is_covered {
            self.outdate(node, part, out);
        }
        let mut sources = self
            .parts
            .get(part)
            .map_or_else(Vec::new, |it| it.sources.clone());
        while let Some(source) = sources.pop() {
            self.outdate(node, source, out);
            if let Some(it) = self.parts.get(source) {
                sources.extend(&it.sources);
            }
        }
    }

    /// A part is no longer among the active ones; its reference goes away after its time.
    pub fn outdate(&mut self, node: NodeId, part: PartId, out: &mut Out) {
        let held = self
            .nodes
            .get_mut(node)
            .and_then(|it| it.held.get_mut(part));
        if let Some(held) = held
            && *held == Held::Active
        {
            *held = Held::Outdated;
            out.after(
                Delay::Exact(self.setup.old_parts_us),
                Step::Clean { node, part },
            );
        }
    }

    pub(super) fn clean(&mut self, node: NodeId, part: PartId, out: &mut Out) {
        let Some(it) = self.nodes.get(node) else {
            return;
        };
        if it.part(part) != Held::Outdated {
            return;
        }
        if !it.is_up {
            out.after(Delay::Exact(CLEANUP_AGAIN_US), Step::Clean { node, part });
            return;
        }
        let table = self.parts.get(part).map_or(0, |it| it.table);
        let item = Item {
            part,
            act: Act::Remove,
            waiter: Waiter::Cleanup(node),
        };
        self.submit(self.setup.lane(node, table), item, out);
    }

    pub(super) fn cleaned(
        &mut self,
        node: NodeId,
        part: PartId,
        result: Result<(), Trouble>,
        out: &mut Out,
    ) {
        if result.is_err() {
            out.after(Delay::Exact(CLEANUP_AGAIN_US), Step::Clean { node, part });
            return;
        }
        let held = self
            .nodes
            .get_mut(node)
            .and_then(|it| it.held.get_mut(part));
        if let Some(held) = held {
            *held = Held::Absent;
        }
        let note = self.note(What::Removed, node, part);
        out.notes.push(note);
    }

    pub(super) fn pull(
        &mut self,
        node: NodeId,
        kind: EntryKind,
        first: PartId,
        count: usize,
        out: &mut Out,
    ) {
        let Some(it) = self.nodes.get_mut(node) else {
            return;
        };
        it.entries += 1;
        let number = it.entries;
        let entry = Entry {
            kind,
            first,
            count,
            tries: 0,
            failures: 0,
        };
        it.queue.insert(number, entry);
        let note = Note {
            a: u64::from(number),
            ..self.note(What::Queued, node, first)
        };
        out.notes.push(note);
        self.due(node, number, out);
    }

    pub(super) fn due(&mut self, node: NodeId, number: u32, out: &mut Out) {
        let Some(it) = self.nodes.get_mut(node) else {
            return;
        };
        match it.queue.get(&number).map(|it| it.kind) {
            Some(EntryKind::Get) => it.due_fetches.insert(number),
            Some(EntryKind::Merge | EntryKind::Replace | EntryKind::Drop) => {
                it.due_tasks.insert(number)
            }
            None => return,
        };
        self.dispatch(node, out);
    }

    /// Starts whatever is due and finds a place.
    pub fn dispatch(&mut self, node: NodeId, out: &mut Out) {
        let fetches = self.setup.fetch_slots;
        loop {
            let Some(it) = self.nodes.get_mut(node) else {
                return;
            };
            if !it.is_up {
                return;
            }
            let (fetching, tasks) = it.slots.split_at(fetches.min(it.slots.len()));
            let fetch_slot = fetching.iter().position(Option::is_none);
            let task_slot = tasks.iter().position(Option::is_none);
            let fetch = it.due_fetches.first().copied().zip(fetch_slot);
            let task = it.due_tasks.first().copied().zip(task_slot);
            if let Some((number, slot)) = fetch
                && !it.is_stopped
            {
                it.due_fetches.remove(&number);
                self.begin(node, number, slot, out);
            } else if let Some((number, slot)) = task {
                it.due_tasks.remove(&number);
                self.begin(node, number, slot + fetches, out);
            } else {
                let waits = !it.due_tasks.is_empty() && task_slot.is_none();
                if waits && self.setup.counts_full_pool && !it.rescans {
                    it.rescans = true;
                    out.after(Delay::Exact(RESCAN_US), Step::Rescan { node });
                }
                return;
            }
        }
    }

    /// A full pool refuses the entry that was selected; the entry counts as tried.
    pub(super) fn rescan(&mut self, node: NodeId, out: &mut Out) {
        let Some(it) = self.nodes.get_mut(node) else {
            return;
        };
        it.rescans = false;
        let is_full = it
            .slots
            .iter()
            .skip(self.setup.fetch_slots)
            .all(Option::is_some);
        let first = it.due_tasks.first().copied().filter(|_| is_full);
        let entry = first.and_then(|it_is| it.queue.get_mut(&it_is));
        if let Some(entry) = entry {
            entry.tries += 1;
            let part = entry.first;
            let note = self.note(What::PoolFull, node, part);
            out.notes.push(note);
        }
        self.dispatch(node, out);
    }

    /// The next part of an entry that the server does not have.
    pub(super) fn missing(&self, node: NodeId, entry: &Entry) -> Option<PartId> {
        (entry.first..entry.first + entry.count).find(|part| !self.covers(node, *part))
    }

    /// A replica that has a part, or one that covers it.
    pub(super) fn source_of(
        &self,
        node: NodeId,
        part: PartId,
        turn: u32,
    ) -> Option<(NodeId, PartId)> {
        let turn = usize::try_from(turn).unwrap_or(0);
        let mut part = Some(part);
        while let Some(it) = part {
            let has = |other: &NodeId| {
                let other_node = self.nodes.get(*other);
                *other != node
                    && other_node.is_some_and(|at| at.is_up && at.part(it) == Held::Active)
            };
            let count = (0..self.nodes.len()).filter(has).count();
            if count > 0 {
                let mut sources = (0..self.nodes.len()).filter(has);
                return sources.nth((turn + it) % count).map(|source| (source, it));
            }
            part = self.parts.get(it).and_then(|it| it.into);
        }
        None
    }

    /// Forgets an entry whose work is done.
    pub(super) fn done(&mut self, node: NodeId, number: u32) {
        let entry = self
            .nodes
            .get_mut(node)
            .and_then(|it| it.queue.remove(&number));
        if let Some(entry) = entry.filter(|it| it.kind == EntryKind::Replace) {
            self.unpin(entry);
        }
    }

    /// Gives a task's place back.
    pub(super) fn free(&mut self, node: NodeId, slot: usize) {
        let place = self
            .nodes
            .get_mut(node)
            .and_then(|it| it.slots.get_mut(slot));
        if let Some(place) = place {
            *place = None;
        }
    }

    /// An entry failed: it waits, the longer the more often it was tried.
    pub(super) fn postpone(&mut self, node: NodeId, number: u32, out: &mut Out) {
        let (fetch_cap, task_cap) = (self.setup.fetch_cap_ms, self.setup.task_cap_ms);
        let entry = self
            .nodes
            .get_mut(node)
            .and_then(|it| it.queue.get_mut(&number));
        let Some(entry) = entry else {
            return;
        };
        entry.tries += 1;
        entry.failures += 1;
        let cap = match entry.kind {
            EntryKind::Get | EntryKind::Merge => fetch_cap,
            EntryKind::Replace | EntryKind::Drop => task_cap,
        };
        let (tries, failures) = (entry.tries, entry.failures);
        let wait = backoff_ms(tries, cap);
        let part = entry.first;
        let note = Note {
            a: wait,
            b: u64::from(failures),
            ..self.note(What::Postponed, node, part)
        };
        out.notes.push(note);
        let step = Step::Due {
            node,
            entry: number,
        };
        out.after(Delay::Backoff(tries, cap), step);
    }

    /// Whether every server has what the others have, and nothing waits.
    pub fn has_converged(&self) -> bool {
        let idle = self.nodes.iter().all(|it| it.queue.is_empty());
        let same = |part: PartId| {
            let mut held = self.nodes.iter().map(|it| it.part(part) == Held::Active);
            let first = held.next();
            held.all(|it| Some(it) == first)
        };
        idle && (0..self.parts.len()).all(same)
    }
}

/// How long an entry waits that was tried so often, in milliseconds.
pub fn backoff_ms(tries: u32, cap_ms: u64) -> u64 {
    1_u64.checked_shl(tries).map_or(cap_ms, |it| it.min(cap_ms))
}

/// When a removal that failed is tried again, in microseconds.
const CLEANUP_AGAIN_US: u64 = 30_000_000;

/// How often a server with a full pool selects from its queue, in microseconds.
const RESCAN_US: u64 = 100_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_ten_waits_add_up_and_the_sixteenth_is_capped() {
        // 2 + 4 + ... + 1024 = 2046.
        assert_eq!((1..=10).map(|n| backoff_ms(n, 60_000)).sum::<u64>(), 2046);
        assert_eq!(backoff_ms(15, 60_000), 32_768);
        assert_eq!(backoff_ms(16, 60_000), 60_000);
        assert_eq!(backoff_ms(200, 300_000), 300_000);
    }
}
