//! The mount lease: renewals that go to the store, what a server may do between them, and how it comes back.

use super::names::{NodeId, Note, What};
use super::replica::Node;
use super::world::{Delay, Out, Outcome, Step, World};

/// How long a renewal holds.
const TTL_US: u64 = 30_000_000;

/// The distance of two renewals.
const PERIOD_US: u64 = 10_000_000;

/// A server stops writing this long before its lease ends.
const MARGIN_US: u64 = 2_000_000;

/// A lease whose token stays the same for so long is fenced out by the collector.
const FENCE_US: u64 = 41_500_000;

/// A server that was killed watches its own old lease for so long before it takes it over.
const OBSERVE_US: u64 = 36_500_000;

/// The first wait before a mount is tried again, doubled up to [`AGAIN_MAX_US`].
const AGAIN_US: u64 = 1_000_000;

/// The longest.
const AGAIN_MAX_US: u64 = 30_000_000;

impl World {
    /// Lets the renewals of every server begin.
    pub fn begin_leases(&mut self, out: &mut Out) {
        if !self.setup.leases {
            return;
        }
        for (node, it) in self.nodes.iter().enumerate() {
            let epoch = it.epoch;
            out.after(Delay::Exact(PERIOD_US), Step::Renew { node, epoch });
        }
    }

    /// Whether the last renewal still covers a change. Nobody is told when it no longer does.
    pub(super) fn lease_holds(&self, node: &Node) -> bool {
        !self.setup.leases || self.now + MARGIN_US < node.renewed_at + TTL_US
    }

    fn mounted(&mut self, node: NodeId, epoch: u32) -> Option<&mut Node> {
        let it = self.nodes.get_mut(node)?;
        (it.is_up && it.epoch == epoch).then_some(it)
    }

    pub(super) fn renew(&mut self, node: NodeId, epoch: u32, out: &mut Out) {
        let begun = self.now;
        if self.mounted(node, epoch).is_some() {
            let step = Step::Renewed { node, epoch, begun };
            out.after(Delay::Mount(node), step);
        }
    }

    pub(super) fn renewed(
        &mut self,
        node: NodeId,
        epoch: u32,
        begun: u64,
        outcome: Outcome,
        out: &mut Out,
    ) {
        let now = self.now;
        let Some(it) = self.mounted(node, epoch) else {
            return;
        };
        if outcome == Outcome::Done && !it.is_fenced_out {
            it.renewed_at = begun;
            let wait = (begun + PERIOD_US).saturating_sub(now);
            out.after(Delay::Exact(wait), Step::Renew { node, epoch });
            return;
        }
        it.claims = 0;
        self.lose_lease(node, true, out);
        out.after(Delay::Exact(AGAIN_US), Step::Claim { node, epoch });
    }

    pub(super) fn claim(&mut self, node: NodeId, epoch: u32, out: &mut Out) {
        if self.mounted(node, epoch).is_some() {
            out.after(Delay::Mount(node), Step::Claimed { node, epoch });
        }
    }

    pub(super) fn claimed(&mut self, node: NodeId, epoch: u32, outcome: Outcome, out: &mut Out) {
        let now = self.now;
        let Some(it) = self.mounted(node, epoch) else {
            return;
        };
        if outcome != Outcome::Done {
            it.claims += 1;
            let doubled = AGAIN_US << it.claims.min(5);
            let step = Step::Claim { node, epoch };
            out.after(Delay::Exact(doubled.min(AGAIN_MAX_US)), step);
            return;
        }
        it.renewed_at = now;
        it.is_fenced_out = false;
        let starts = std::mem::take(&mut it.starts);
        self.remount(node, out);
        let epoch = self.nodes.get(node).map_or(epoch, |it| it.epoch);
        out.after(Delay::Exact(PERIOD_US), Step::Renew { node, epoch });
        if starts {
            self.load_tables(node, out);
        }
    }

    /// A server that has started takes its mount over: at once if it was fenced out, after a watch if not.
    pub(super) fn claim_at_start(&mut self, node: NodeId, out: &mut Out) {
        let Some(it) = self.nodes.get_mut(node) else {
            return;
        };
        it.is_fenced = true;
        it.starts = true;
        it.claims = 0;
        let epoch = it.epoch;
        let watch = if it.is_fenced_out { 0 } else { OBSERVE_US };
        out.after(Delay::Exact(watch), Step::Claim { node, epoch });
    }

    /// A server that starts, or that answers a query, reads the references of its tables; a remount does not.
    pub(super) fn load_tables(&mut self, node: NodeId, out: &mut Out) {
        let epoch = self.nodes.get(node).map_or(0, |it| it.epoch);
        for table in 0..self.setup.tables {
            let lane = self.setup.lane(node, table);
            let Some(it) = self.lanes.get_mut(lane) else {
                continue;
            };
            if !it.recovered && !it.recovering && !it.leader && !it.stream.owners.is_empty() {
                it.resident = true;
                it.recovering = true;
                it.leader = true;
                out.after(Delay::Recovery(lane), Step::Recovered { lane, epoch });
            }
        }
    }

    /// The collector, which the first server leads, fences out whoever has not renewed for long.
    pub(super) fn fence_the_silent(&mut self, out: &mut Out) {
        if !self.setup.leases {
            return;
        }
        let now = self.now;
        let is_silent = |it: &Node| !it.is_fenced_out && now >= it.renewed_at + FENCE_US;
        let silent: Vec<NodeId> = (1..self.nodes.len())
            .filter(|it| self.nodes.get(*it).is_some_and(is_silent))
            .collect();
        for node in silent {
            self.fence_out(node, 0, out);
            if let Some(it) = self.nodes.get_mut(node) {
                it.is_fenced_out = true;
            }
        }
    }

    /// The memory of the requests at work is more than a server may take: the kernel kills it.
    pub(super) fn is_out_of_memory(&self, node: NodeId) -> bool {
        let Some((request, most)) = self.setup.memory else {
            return false;
        };
        let node = self.nodes.get(node);
        node.is_some_and(|it| it.is_up && it.busy * request > most)
    }

    /// Kills a server that takes too much memory. Whether it was.
    pub(super) fn kill_for_memory(&mut self, node: NodeId, out: &mut Out) -> bool {
        let kills = self.is_out_of_memory(node);
        if kills {
            out.notes.push(Note::of(What::OutOfMemory, node));
            self.stop(node, out);
        }
        kills
    }
}
