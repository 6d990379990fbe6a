//! The exchange of parts: offer, T1, T2, T3, and everything that a receiver does when one of them goes wrong.

use super::ledger::{Act, Answer, Item, LaneState, Why};
use super::names::{NodeId, Note, PartId, What};
use super::server::Entrance;
use super::tasks::{Stage, Task};
use super::variant::{Broken, Fix};
use super::world::{Delay, Out, Outcome, Phase, Step, Ticket, Trouble, Violation, Waiter, World};

/// How often a source that waits before it answers looks again (fix E), in microseconds.
pub(super) const ANSWER_LOOK_US: u64 = 5_000;

/// The first pause of a source (fix D).
const PAUSE_US: u64 = 500_000;

impl World {
    /// The task of a ticket, if it still is the one that took it.
    pub(super) fn task(&mut self, ticket: Ticket) -> Option<&mut Task> {
        let slot = self
            .nodes
            .get_mut(ticket.node)?
            .slots
            .get_mut(ticket.slot)?;
        slot.as_mut().filter(|it| it.serial == ticket.serial)
    }

    /// Whether a message from a receiver reaches its source.
    fn reaches(&self, source: NodeId, outcome: Outcome) -> bool {
        outcome == Outcome::Done && self.nodes.get(source).is_some_and(|it| it.is_up)
    }

    pub(super) fn offer(&mut self, ticket: Ticket, outcome: Outcome, out: &mut Out) {
        let Some(task) = self.task(ticket).copied() else {
            return;
        };
        let source = task.source;
        let entrance = if self.reaches(source, outcome) {
            self.enter(source, Step::Offer(ticket), out)
        } else {
            Entrance::Refused
        };
        match entrance {
            Entrance::Waiting => return,
            Entrance::Refused => {
                self.give_up(ticket, What::Unreachable, out);
                return;
            }
            Entrance::Served => {}
        }
        if self.setup.handlers.is_some() {
            let free = Step::HandlerFree { node: source };
            out.after(Delay::Exact(self.setup.offer_us), free);
        }
        let table = self.parts.get(task.part).map_or(0, |it| it.table);
        let lane = self.lanes.get(self.setup.lane(source, table));
        let owned = lane.and_then(|it| it.stream.owners.get(&task.part));
        let is_held = self.nodes.get(source).is_some_and(|it| it.holds(task.part));
        let offered = owned.and_then(|it| it.committed).filter(|_| is_held);
        if let Some(task) = self.task(ticket) {
            task.offered = offered;
        }
        if offered.is_some() && self.knows_confirm(source) && self.knows_confirm(ticket.node) {
            let note = Note {
                peer: ticket.node,
                manifest: offered,
                ..self.note(What::Offered, source, task.part)
            };
            out.notes.push(note);
        }
        out.after(Delay::Hop(source, ticket.node), Step::Offered(ticket));
    }

    fn knows_confirm(&self, node: NodeId) -> bool {
        !self.setup.without_confirm.contains(&node)
    }

    pub(super) fn offered(&mut self, ticket: Ticket, outcome: Outcome, out: &mut Out) {
        let Some(task) = self.task(ticket).copied() else {
            return;
        };
        if outcome != Outcome::Done {
            self.give_up(ticket, What::Unreachable, out);
        } else if task.offered.is_none() {
            self.give_up(ticket, What::NotThere, out);
        } else if !self.knows_confirm(ticket.node) {
            self.start_bytes(ticket, 0, out);
        } else if !self.knows_confirm(task.source) {
            self.start_bytes(ticket, 1, out);
        } else {
            let note = Note {
                peer: task.source,
                ..self.note(What::Relinking, ticket.node, task.part)
            };
            out.notes.push(note);
            if self.setup.variant.broken == Some(Broken::PromoteBeforePlusOne) {
                self.send_confirm(ticket, out);
            }
            self.stage(ticket, out);
        }
    }

    /// T1: asks for the receiver's own reference.
    fn stage(&mut self, ticket: Ticket, out: &mut Out) {
        let Some(manifest) = self
            .nodes
            .get_mut(ticket.node)
            .map(|it| it.build(ticket.node))
        else {
            return;
        };
        let early = self.setup.variant.broken == Some(Broken::PromoteBeforePlusOne);
        if let Some(task) = self.task(ticket)
            && (!early || task.bytes)
        {
            task.stage = Stage::Staging;
        }
        self.append(ticket, Act::Stage(manifest), Phase::Stage, out);
    }

    /// One append of a fetch on its receiver's lane.
    fn append(&mut self, ticket: Ticket, act: Act, phase: Phase, out: &mut Out) {
        let Some(task) = self.task(ticket) else {
            return;
        };
        task.appends += 1;
        let part = task.part;
        let table = self.parts.get(part).map_or(0, |it| it.table);
        let lane = self.setup.lane(ticket.node, table);
        let item = Item {
            part,
            act,
            waiter: Waiter::Fetch(ticket, phase),
        };
        self.submit(lane, item, out);
    }

    fn send_confirm(&mut self, ticket: Ticket, out: &mut Out) {
        let Some(task) = self.task(ticket) else {
            return;
        };
        task.stage = Stage::Confirming;
        let (part, source) = (task.part, task.source);
        let table = self.parts.get(part).map_or(0, |it| it.table);
        let lane = self.lanes.get(self.setup.lane(ticket.node, table));
        let owned = lane.and_then(|it| it.stream.owners.get(&part));
        if owned.is_none_or(|it| it.staged.is_none()) {
            self.break_promise(Violation::ConfirmBeforePlusOne);
        }
        out.after(Delay::Hop(ticket.node, source), Step::Confirm(ticket));
    }

    /// An append of a fetch is installed, or failed.
    pub(super) fn appended(
        &mut self,
        ticket: Ticket,
        phase: Phase,
        result: Result<(), Trouble>,
        out: &mut Out,
    ) {
        let Some(task) = self.task(ticket).copied() else {
            return;
        };
        match (phase, result) {
            (Phase::Stage, Ok(())) => self.staged(ticket, task, out),
            (Phase::Stage, Err(_)) if task.bytes => self.give_up(ticket, What::AppendRefused, out),
            (Phase::Stage, Err(_)) => self.start_bytes(ticket, 2, out),
            (Phase::Promote, Ok(())) => self.promoted(ticket, task, out),
            (Phase::Promote, Err(Trouble::Refused)) if task.bytes => {
                self.give_up(ticket, What::AppendRefused, out);
            }
            (Phase::Promote, Err(Trouble::Refused)) => self.start_bytes(ticket, 5, out),
            (Phase::Promote, Err(Trouble::Open)) => {
                let eager = self.setup.variant.broken == Some(Broken::BytesAfterUnresolved);
                if eager && !task.bytes {
                    self.start_bytes(ticket, 5, out);
                } else {
                    self.give_up(ticket, What::Unresolved, out);
                }
            }
            (Phase::Abort, result) => self.aborted(ticket, task, result, out),
        }
    }

    fn staged(&mut self, ticket: Ticket, task: Task, out: &mut Out) {
        let table = self.parts.get(task.part).map_or(0, |it| it.table);
        let lane = self.lanes.get(self.setup.lane(ticket.node, table));
        let is_there = lane.is_some_and(|it| it.rows.contains_key(&task.part));
        if is_there && self.setup.variant.broken != Some(Broken::BytesAfterUnresolved) {
            // An earlier promotion whose outcome was open has committed after all.
            if let Some(task) = self.task(ticket) {
                task.adopted = true;
                task.stage = Stage::Aborting;
            }
            self.append(ticket, Act::Unstage, Phase::Abort, out);
        } else if task.bytes {
            self.ensure_blob(task.part);
            if let Some(task) = self.task(ticket) {
                task.stage = Stage::Promoting;
            }
            self.append(ticket, Act::Promote, Phase::Promote, out);
        } else if self.setup.variant.broken != Some(Broken::PromoteBeforePlusOne) {
            self.send_confirm(ticket, out);
        }
    }

    pub(super) fn confirm_arrives(&mut self, ticket: Ticket, outcome: Outcome, out: &mut Out) {
        let Some(task) = self.task(ticket).copied() else {
            return;
        };
        let Some(offered) = task.offered else {
            return;
        };
        let source = task.source;
        let entrance = if !self.reaches(source, outcome) {
            Entrance::Refused
        } else if task.waited > 0 {
            Entrance::Served
        } else {
            self.enter(source, Step::Confirm(ticket), out)
        };
        match entrance {
            Entrance::Waiting => return,
            Entrance::Refused => {
                self.confirm_lost(ticket, out);
                return;
            }
            Entrance::Served => {}
        }
        let answer = self.answer(source, task.part, offered);
        let may_wait = matches!(
            answer,
            Answer::Unknown(
                Why::TableBusy | Why::Queued | Why::Carved | Why::Unrecovered | Why::StateLocked
            )
        );
        if self.setup.variant.has(Fix::E) && may_wait && task.waited < self.setup.answer_within_us {
            if let Some(task) = self.task(ticket) {
                task.waited += ANSWER_LOOK_US;
            }
            out.after(Delay::Exact(ANSWER_LOOK_US), Step::Confirm(ticket));
            return;
        }
        if let Some(task) = self.task(ticket) {
            task.answer = Some(answer);
        }
        self.tell_answer(ticket, task, answer, out);
        self.handler_free(source, out);
        out.after(Delay::Hop(source, ticket.node), Step::Confirmed(ticket));
    }

    fn tell_answer(&mut self, ticket: Ticket, task: Task, answer: Answer, out: &mut Out) {
        let (what, why) = match answer {
            Answer::Yes => (What::Proven, None),
            Answer::No(why) => (What::No, Some(why)),
            Answer::Unknown(why) => (What::Unknown, Some(why)),
        };
        if answer == Answer::Yes {
            let table = self.parts.get(task.part).map_or(0, |it| it.table);
            let lane = self.lanes.get(self.setup.lane(task.source, table));
            let owned = lane.and_then(|it| it.stream.owners.get(&task.part));
            let durable = owned.and_then(|it| it.committed);
            if durable != task.offered || !self.may_mutate(task.source) {
                self.break_promise(Violation::YesWithoutRow);
            }
        }
        let note = Note {
            peer: ticket.node,
            a: why.map_or(0, |it| it as u64),
            manifest: task.offered,
            ..self.note(what, task.source, task.part)
        };
        out.notes.push(note);
    }

    fn confirm_lost(&mut self, ticket: Ticket, out: &mut Out) {
        let Some(task) = self.task(ticket).copied() else {
            return;
        };
        if let Some(task) = self.task(ticket) {
            task.answer = None;
        }
        let note = Note {
            peer: task.source,
            ..self.note(What::ConfirmLost, ticket.node, task.part)
        };
        out.notes.push(note);
        self.abort(ticket, out);
    }

    fn abort(&mut self, ticket: Ticket, out: &mut Out) {
        if let Some(task) = self.task(ticket) {
            task.stage = Stage::Aborting;
        }
        self.append(ticket, Act::Unstage, Phase::Abort, out);
    }

    pub(super) fn confirmed(&mut self, ticket: Ticket, outcome: Outcome, out: &mut Out) {
        let Some(task) = self.task(ticket).copied() else {
            return;
        };
        if outcome != Outcome::Done {
            self.confirm_lost(ticket, out);
            return;
        }
        if task.answer == Some(Answer::Yes) {
            if let Some(it) = self.breaker(ticket.node, task.source) {
                it.streak = 0;
            }
            if let Some(task) = self.task(ticket) {
                task.stage = Stage::Promoting;
            }
            self.append(ticket, Act::Promote, Phase::Promote, out);
        } else {
            self.abort(ticket, out);
        }
    }

    /// The precommit is gone, or its removal failed and the sweep will take it.
    fn aborted(&mut self, ticket: Ticket, task: Task, result: Result<(), Trouble>, out: &mut Out) {
        if task.adopted {
            self.promoted(ticket, task, out);
            return;
        }
        if result.is_ok() && task.appends != 2 {
            self.break_promise(Violation::OddCost);
        }
        let variant = self.setup.variant;
        let is_unknown = matches!(task.answer, Some(Answer::Unknown(_)));
        let takes_bytes =
            (variant.has(Fix::A) && is_unknown) || (variant.has(Fix::B) && task.answer.is_some());
        let note = Note {
            peer: task.source,
            a: u64::from(takes_bytes),
            ..self.note(What::Refused, ticket.node, task.part)
        };
        out.notes.push(note);
        if takes_bytes {
            self.start_bytes(ticket, 3, out);
            return;
        }
        let streak = self.setup.breaker_streak;
        if variant.has(Fix::D)
            && let Some(it) = self.breaker(ticket.node, task.source)
        {
            it.streak += 1;
            if it.streak >= streak && !it.is_open {
                it.is_open = true;
                let doublings = (it.streak - streak).min(6);
                let step = Step::Reopen {
                    node: ticket.node,
                    source: task.source,
                };
                out.after(Delay::Exact(PAUSE_US << doublings), step);
            }
        }
        self.fail(ticket, task, out);
    }

    /// The receiver turns to the bytes of the same source; `row` is the one of its taxonomy.
    fn start_bytes(&mut self, ticket: Ticket, row: u64, out: &mut Out) {
        let Some(task) = self.task(ticket).copied() else {
            return;
        };
        if self.is_open(ticket.node, task.part) {
            self.break_promise(Violation::BytesWhileOpen);
        }
        if let Some(task) = self.task(ticket) {
            task.stage = Stage::Bytes;
            task.bytes = true;
        }
        let note = |what| Note {
            peer: task.source,
            a: row,
            ..self.note(what, ticket.node, task.part)
        };
        if row > 0 {
            out.notes.push(note(What::FellBack));
        }
        out.notes.push(note(What::Downloading));
        out.after(
            Delay::Hop(ticket.node, task.source),
            Step::BytesAsked(ticket),
        );
    }

    /// Whether a promotion of a part may have committed or will.
    fn is_open(&self, node: NodeId, part: PartId) -> bool {
        let table = self.parts.get(part).map_or(0, |it| it.table);
        let Some(lane) = self.lanes.get(self.setup.lane(node, table)) else {
            return false;
        };
        let promotes = |item: &Item| item.part == part && item.act == Act::Promote;
        lane.state == LaneState::Wedged && lane.carved.iter().any(promotes)
    }

    pub(super) fn bytes_asked(&mut self, ticket: Ticket, outcome: Outcome, out: &mut Out) {
        let Some(task) = self.task(ticket).copied() else {
            return;
        };
        let entrance = if self.reaches(task.source, outcome) {
            self.enter(task.source, Step::BytesAsked(ticket), out)
        } else {
            Entrance::Refused
        };
        match entrance {
            Entrance::Waiting => {}
            Entrance::Refused => self.give_up(ticket, What::Unreachable, out),
            Entrance::Served
                if self
                    .nodes
                    .get(task.source)
                    .is_some_and(|it| it.holds(task.part)) =>
            {
                let transfer = Delay::Transfer(task.source, ticket.node);
                out.after(transfer, Step::BytesArrived(ticket));
            }
            Entrance::Served => {
                self.handler_free(task.source, out);
                self.give_up(ticket, What::NotThere, out);
            }
        }
    }

    pub(super) fn bytes_arrived(&mut self, ticket: Ticket, outcome: Outcome, out: &mut Out) {
        let Some(task) = self.task(ticket).copied() else {
            return;
        };
        self.handler_free(task.source, out);
        if self.reaches(task.source, outcome) {
            self.stage(ticket, out);
        } else {
            self.give_up(ticket, What::Unreachable, out);
        }
    }

    pub(super) fn merged(&mut self, ticket: Ticket, out: &mut Out) {
        self.stage(ticket, out);
    }

    fn promoted(&mut self, ticket: Ticket, task: Task, out: &mut Out) {
        let what = match (task.source == ticket.node, task.bytes) {
            (true, _) => What::Written,
            (false, true) => What::Downloaded,
            (false, false) => What::Finished,
        };
        let note = Note {
            peer: task.source,
            a: u64::from(what == What::Written),
            ..self.note(what, ticket.node, task.part)
        };
        out.notes.push(note);
        self.activate(ticket.node, task.part, out);
        self.free(ticket.node, ticket.slot);
        // The next part of the entry, or the end of it.
        self.begin(ticket.node, task.entry, ticket.slot, out);
        self.dispatch(ticket.node, out);
    }

    /// A task ends without its part, and says why.
    fn give_up(&mut self, ticket: Ticket, what: What, out: &mut Out) {
        let Some(task) = self.task(ticket).copied() else {
            return;
        };
        let note = Note {
            peer: task.source,
            ..self.note(what, ticket.node, task.part)
        };
        out.notes.push(note);
        self.fail(ticket, task, out);
    }

    fn fail(&mut self, ticket: Ticket, task: Task, out: &mut Out) {
        self.free(ticket.node, ticket.slot);
        self.postpone(ticket.node, task.entry, out);
        self.dispatch(ticket.node, out);
    }
}
