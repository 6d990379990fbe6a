//! What the harness asks of the system as its client.

use crate::engine::cas::scenario::LoadKind;
use crate::engine::cas::{EntryKind, Run, What};
use crate::engine::sim::Micros;

impl Run<'_> {
    /// A client's insert of an operation's rows; `None` if its connection was reset.
    pub(super) fn client_insert(&mut self, node: usize, op: u64) -> Option<u64> {
        let is_up = self.world.nodes.get(node).is_some_and(|it| it.is_up);
        let is_in = is_up && self.world.client_enters(node, &mut self.out);
        let job = is_in.then(|| self.write(LoadKind::Insert, node, 0, 1, 18, &[op]));
        self.settle();
        job
    }

    /// Lets one more thing happen before `end`. Whether there was one.
    pub(super) fn advance(&mut self, end: Micros) -> bool {
        let before = self.events();
        self.run_one(end);
        self.events() > before
    }

    /// Whether no queue holds anything, and nothing is on its way to one.
    pub(super) fn is_synced(&self) -> bool {
        self.world.nodes.iter().all(|it| it.queue.is_empty()) && self.announced == self.pulled()
    }

    /// Forgets a job whose server has ended.
    pub(super) fn forget_job(&mut self, job: u64) {
        self.jobs.remove(&job);
    }

    /// Whether a server answers a request.
    pub(super) fn answers(&self, node: usize) -> bool {
        let is_up = self.world.nodes.get(node).is_some_and(|it| it.is_up);
        is_up && !self.paused.contains_key(&node)
    }

    fn pulled(&self) -> u64 {
        self.tally.total(What::Queued, None)
    }

    /// One part of all parts.
    pub(super) fn optimize(&mut self) {
        self.merge(0, usize::MAX, 2);
        self.settle();
    }

    /// A mutation of every part.
    pub(super) fn mutate(&mut self, mutation: u32) {
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
    pub(super) fn clear(&mut self) {
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
