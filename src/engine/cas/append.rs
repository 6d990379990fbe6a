//! Appends to a lane: from a change that is asked for to one that is durable, installed and told.

use super::ledger::{Act, Item, Lane, LaneState};
use super::names::{Note, What};
use super::variant::Fix;
use super::world::{Delay, Out, Outcome, Step, Trouble, Violation, World};

impl World {
    /// Asks for a change of a reference. Its waiter is told when it is installed, or that it failed.
    pub fn submit(&mut self, lane: usize, item: Item, out: &mut Out) {
        let (node, _) = self.setup.place(lane);
        if !self.may_mutate(node) {
            let note = self.lane_note(What::Fenced, lane);
            out.notes.push(note);
            self.complete(item, Err(Trouble::Refused), out);
            return;
        }
        let now = self.now;
        let Some(it) = self.lanes.get_mut(lane) else {
            return;
        };
        it.used = now;
        it.pending.push_back(item);
        if !it.leader {
            it.leader = true;
            self.lead(lane, out);
        }
    }

    /// The leader's next turn: whatever keeps the lane from writing is dealt with first.
    fn lead(&mut self, lane: usize, out: &mut Out) {
        let epoch = self.epoch_of(lane);
        let coalesces = self.setup.variant.has(Fix::CkptCoalesce);
        let limits = self.setup.limits_ckpt && !coalesces;
        let Some(it) = self.lanes.get_mut(lane) else {
            return;
        };
        if it.pending.is_empty() {
            it.leader = false;
            return;
        }
        if !it.recovered || it.state == LaneState::NeedsRecovery {
            it.resident = true;
            it.recovered = false;
            it.recovering = true;
            out.after(Delay::Recovery(lane), Step::Recovered { lane, epoch });
            return;
        }
        match it.state {
            LaneState::Wedged => out.after(Delay::Read(lane), Step::Resolved { lane, epoch }),
            LaneState::Closed | LaneState::Faulted => self.fail_pending(lane, out),
            LaneState::Ready | LaneState::Writing | LaneState::NeedsRecovery if limits => {
                out.after(Delay::Token(lane), Step::Carve { lane, epoch });
            }
            LaneState::Ready | LaneState::Writing | LaneState::NeedsRecovery => {
                self.carve(lane, epoch, out);
            }
        }
    }

    pub(super) fn epoch_of(&self, lane: usize) -> u32 {
        let (node, _) = self.setup.place(lane);
        self.nodes.get(node).map_or(0, |it| it.epoch)
    }

    /// The lane, if the step was meant for its present runtime.
    fn current(&mut self, lane: usize, epoch: u32) -> Option<&mut Lane> {
        if self.epoch_of(lane) != epoch {
            return None;
        }
        self.lanes.get_mut(lane)
    }

    /// Everything that waits fails; nothing of it happened.
    fn fail_pending(&mut self, lane: usize, out: &mut Out) {
        let Some(it) = self.lanes.get_mut(lane) else {
            return;
        };
        let failed = std::mem::take(&mut it.pending);
        for item in failed {
            self.complete(item, Err(Trouble::Refused), out);
        }
        // Whoever was told may have asked again.
        let again = self.lanes.get_mut(lane).is_some_and(|it| {
            it.leader = !it.pending.is_empty();
            it.leader
        });
        if again {
            self.lead(lane, out);
        }
    }

    pub(super) fn carve(&mut self, lane: usize, epoch: u32, out: &mut Out) {
        let (node, _) = self.setup.place(lane);
        if !self.may_mutate(node) {
            if self.current(lane, epoch).is_some() {
                let note = self.lane_note(What::Fenced, lane);
                out.notes.push(note);
                self.fail_pending(lane, out);
            }
            return;
        }
        let Some(it) = self.current(lane, epoch) else {
            return;
        };
        it.carve();
        it.stream.flight = Some((epoch, it.carved.clone()));
        out.after(Delay::Log(lane), Step::LogAnswered { lane, epoch });
    }

    pub(super) fn log_answered(
        &mut self,
        lane: usize,
        epoch: u32,
        outcome: Outcome,
        out: &mut Out,
    ) {
        let landed = matches!(outcome, Outcome::Done | Outcome::Open(true));
        if self.current(lane, epoch).is_none() {
            self.straggler(lane, epoch, landed, out);
            return;
        }
        if self
            .current(lane, epoch)
            .is_some_and(|it| it.stream.is_foreign)
        {
            self.fault(lane, out);
            return;
        }
        if landed {
            self.land(lane, out);
        }
        let coalesces = self.setup.variant.has(Fix::CkptCoalesce);
        let Some(it) = self.current(lane, epoch) else {
            return;
        };
        match outcome {
            Outcome::Done if coalesces => self.install(lane, out),
            Outcome::Done => {
                out.after(
                    Delay::Frontier(lane),
                    Step::FrontierAnswered { lane, epoch },
                );
            }
            Outcome::Failed => {
                it.state = LaneState::Ready;
                it.stream.flight = None;
                let failed = std::mem::take(&mut it.carved);
                let note = self.lane_note(What::AppendRefused, lane);
                out.notes.push(note);
                for item in failed {
                    self.complete(item, Err(Trouble::Refused), out);
                }
                self.lead(lane, out);
            }
            Outcome::Open(landed) => {
                it.state = LaneState::Wedged;
                it.landed = landed;
                let open = it.carved.clone();
                let note = self.lane_note(What::Wedged, lane);
                out.notes.push(note);
                for item in open {
                    self.complete(item, Err(Trouble::Open), out);
                }
                self.lead(lane, out);
            }
        }
    }

    /// The key of the log is taken by something that no server wrote: nothing of the batch happened, and nothing will
    /// on this lane.
    fn fault(&mut self, lane: usize, out: &mut Out) {
        let Some(it) = self.lanes.get_mut(lane) else {
            return;
        };
        it.state = LaneState::Faulted;
        it.stream.flight = None;
        let failed = std::mem::take(&mut it.carved);
        let note = self.lane_note(What::Faulted, lane);
        out.notes.push(note);
        for item in failed {
            self.complete(item, Err(Trouble::Refused), out);
        }
        self.lead(lane, out);
    }

    /// What was on its way becomes durable.
    fn land(&mut self, lane: usize, out: &mut Out) {
        let Some(it) = self.lanes.get_mut(lane) else {
            return;
        };
        let Some((_, items)) = it.stream.flight.take() else {
            return;
        };
        let rebound = it.stream.apply(&items);
        if !rebound.is_empty() {
            self.break_promise(Violation::Rebound);
        }
        for item in &items {
            let commits = match item.act {
                Act::Create(_) | Act::Promote => true,
                Act::Stage(_) | Act::Unstage | Act::Remove => false,
            };
            let owned = self
                .lanes
                .get(lane)
                .and_then(|it| it.stream.owners.get(&item.part));
            if commits
                && owned.is_some_and(|it| it.committed.is_some())
                && !self.has_blob(item.part)
            {
                self.break_promise(Violation::PromotedOverDeleted);
            }
        }
        let note = Note {
            a: u64::try_from(items.len()).unwrap_or(u64::MAX),
            ..self.lane_note(What::Appended, lane)
        };
        out.notes.push(note);
    }

    /// The batch of a runtime that is gone: it is durable if it came before the seal of its successor.
    fn straggler(&mut self, lane: usize, epoch: u32, landed: bool, out: &mut Out) {
        let Some(it) = self.lanes.get_mut(lane) else {
            return;
        };
        if it
            .stream
            .flight
            .as_ref()
            .is_none_or(|flight| flight.0 != epoch)
        {
            return;
        }
        if it.stream.sealed_below > epoch {
            it.stream.flight = None;
            let note = self.lane_note(What::SealRejected, lane);
            out.notes.push(note);
        } else if landed {
            self.land(lane, out);
            let note = self.lane_note(What::StragglerAdopted, lane);
            out.notes.push(note);
        } else {
            it.stream.flight = None;
        }
    }

    pub(super) fn frontier_answered(
        &mut self,
        lane: usize,
        epoch: u32,
        outcome: Outcome,
        out: &mut Out,
    ) {
        let Some(it) = self.current(lane, epoch) else {
            return;
        };
        if outcome == Outcome::Done {
            self.install(lane, out);
            return;
        }
        it.state = LaneState::NeedsRecovery;
        it.recovered = false;
        let open = std::mem::take(&mut it.carved);
        let note = self.lane_note(What::NeedsRecovery, lane);
        out.notes.push(note);
        for item in open {
            self.complete(item, Err(Trouble::Open), out);
        }
        self.lead(lane, out);
    }

    fn install(&mut self, lane: usize, out: &mut Out) {
        let Some(it) = self.lanes.get_mut(lane) else {
            return;
        };
        for item in it.install() {
            self.complete(item, Ok(()), out);
        }
        self.lead(lane, out);
    }

    pub(super) fn wedge_resolved(
        &mut self,
        lane: usize,
        epoch: u32,
        outcome: Outcome,
        out: &mut Out,
    ) {
        let Some(it) = self.current(lane, epoch) else {
            return;
        };
        if outcome != Outcome::Done {
            self.fail_pending(lane, out);
            return;
        }
        // What has not landed is sent again under the same key, so in the end it is there.
        let landed = std::mem::take(&mut it.landed);
        if !landed {
            self.land(lane, out);
        }
        let note = self.lane_note(What::Unwedged, lane);
        out.notes.push(note);
        if let Some(it) = self.lanes.get_mut(lane) {
            // Their waiters were told long ago.
            it.install();
        }
        self.lead(lane, out);
    }

    pub(super) fn recovery_ended(
        &mut self,
        lane: usize,
        epoch: u32,
        outcome: Outcome,
        out: &mut Out,
    ) {
        let Some(it) = self.current(lane, epoch) else {
            return;
        };
        if outcome == Outcome::Done && it.stream.is_foreign {
            // The walk over the logs ends at an object that it cannot classify.
            it.recovering = false;
            it.recovered = true;
            it.state = LaneState::Faulted;
            let note = self.lane_note(What::Faulted, lane);
            out.notes.push(note);
            self.fail_pending(lane, out);
        } else if outcome == Outcome::Done {
            it.stream.sealed_below = epoch;
            it.recover();
            let note = self.lane_note(What::Recovered, lane);
            out.notes.push(note);
            self.lead(lane, out);
        } else {
            it.recovering = false;
            let note = self.lane_note(What::RecoveryFailed, lane);
            out.notes.push(note);
            self.fail_pending(lane, out);
        }
    }
}
