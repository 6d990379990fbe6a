//! The mount of a server: its lease, its writer epoch, and what stops and starts do to its ledgers.

use super::ledger::Lane;
use super::names::{NodeId, Note, What};
use super::tasks::Stage;
use super::world::{Out, Trouble, World};

impl World {
    /// The lease does not hold any more: changes are refused. `announced` tells a renewal that failed from one that
    /// hangs, about which nothing is logged.
    pub fn lose_lease(&mut self, node: NodeId, announced: bool, out: &mut Out) {
        if let Some(it) = self.nodes.get_mut(node) {
            it.is_fenced = true;
        }
        let what = if announced {
            What::LeaseLost
        } else {
            What::LeaseExpired
        };
        out.notes.push(Note::of(what, node));
    }

    /// The lease holds again, in the same epoch.
    pub fn regain_lease(&mut self, node: NodeId) {
        if let Some(it) = self.nodes.get_mut(node) {
            it.is_fenced = false;
        }
    }

    /// The collector of another server fences one out.
    pub fn fence_out(&mut self, node: NodeId, by: NodeId, out: &mut Out) {
        if let Some(it) = self.nodes.get_mut(node) {
            it.is_fenced = true;
        }
        let note = Note {
            peer: node,
            ..Note::of(What::FencedOut, by)
        };
        out.notes.push(note);
    }

    /// A server mounts again: a new epoch, and every ledger cold.
    pub fn remount(&mut self, node: NodeId, out: &mut Out) {
        let Some(it) = self.nodes.get_mut(node) else {
            return;
        };
        it.epoch += 1;
        it.is_fenced = false;
        let epoch = it.epoch;
        let note = Note {
            a: u64::from(epoch),
            ..Note::of(What::Remounted, node)
        };
        out.notes.push(note);
        let mut failed = Vec::new();
        for table in 0..self.setup.tables {
            let lane = self.setup.lane(node, table);
            if let Some(lane) = self.lanes.get_mut(lane) {
                // Of a wedge the waiters were told already.
                let is_wedged = lane.state == super::ledger::LaneState::Wedged;
                let carved = lane.carved.iter().filter(|_| !is_wedged);
                failed.extend(carved.map(|it| (*it, Trouble::Open)));
                failed.extend(lane.pending.iter().map(|it| (*it, Trouble::Refused)));
                lane.forget();
            }
        }
        for (item, trouble) in failed {
            self.complete(item, Err(trouble), out);
        }
    }

    /// A server's process ends; what it had sent may still land.
    pub fn stop(&mut self, node: NodeId, out: &mut Out) {
        let Some(it) = self.nodes.get_mut(node) else {
            return;
        };
        it.is_up = false;
        it.epoch += 1;
        it.busy = 0;
        it.backlog.clear();
        it.due_fetches.clear();
        it.due_tasks.clear();
        for breaker in &mut it.breakers {
            breaker.held.clear();
            breaker.streak = 0;
        }
        let mut sources = Vec::new();
        for slot in &mut it.slots {
            if let Some(task) = slot.take()
                && task.stage == Stage::Bytes
            {
                sources.push(task.source);
            }
        }
        for table in 0..self.setup.tables {
            let lane = self.setup.lane(node, table);
            if let Some(lane) = self.lanes.get_mut(lane) {
                lane.forget();
            }
        }
        out.notes.push(Note::of(What::Stopped, node));
        for source in sources {
            self.handler_free(source, out);
        }
    }

    /// A server starts again: its ledgers are read, every entry is tried anew.
    pub fn start(&mut self, node: NodeId, out: &mut Out) {
        let Some(it) = self.nodes.get_mut(node) else {
            return;
        };
        if it.is_up {
            return;
        }
        it.is_up = true;
        it.is_fenced = false;
        let mut numbers = Vec::new();
        for (number, entry) in &mut it.queue {
            entry.tries = 0;
            numbers.push(*number);
        }
        out.notes.push(Note::of(What::Started, node));
        if self.setup.leases {
            self.claim_at_start(node, out);
        } else {
            self.load_tables(node, out);
        }
        for number in numbers {
            self.due(node, number, out);
        }
    }

    /// Drops the runtime of an idle lane.
    pub fn evict(&mut self, lane: usize, out: &mut Out) {
        if let Some(it) = self.lanes.get_mut(lane)
            && it.is_idle()
        {
            it.forget();
            let note = self.lane_note(What::Evicted, lane);
            out.notes.push(note);
        }
    }

    /// Evicts the lanes of a server that were used the longest ago, until `most` are resident.
    pub fn evict_down_to(&mut self, node: NodeId, most: usize, out: &mut Out) {
        let first = self.setup.lane(node, 0);
        let range = first..first + self.setup.tables;
        loop {
            let Some(lanes) = self.lanes.get(range.clone()) else {
                return;
            };
            if lanes.iter().filter(|it| it.resident).count() <= most {
                return;
            }
            let idle = lanes.iter().enumerate().filter(|(_, it)| it.is_idle());
            let oldest = idle.min_by_key(|(table, it): &(usize, &Lane)| (it.used, *table));
            let Some((table, _)) = oldest else {
                return;
            };
            self.evict(first + table, out);
        }
    }
}
