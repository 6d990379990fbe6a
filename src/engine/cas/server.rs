//! The HTTP side of a server: handlers, the connections that wait for one, and those that are reset.

use super::names::{NodeId, Note, What};
use super::world::{Out, Outcome, Step, World};

/// A request's way into a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Entrance {
    Served,
    Waiting,
    Refused,
}

impl World {
    /// A request arrives: a handler takes it, it waits for one, or its connection is reset.
    pub(super) fn enter(&mut self, node: NodeId, step: Step, out: &mut Out) -> Entrance {
        let Some((most, backlog)) = self.setup.handlers else {
            return Entrance::Served;
        };
        let Some(it) = self.nodes.get_mut(node) else {
            return Entrance::Refused;
        };
        if it.busy < most {
            it.busy += 1;
            if self.kill_for_memory(node, out) {
                return Entrance::Refused;
            }
            Entrance::Served
        } else if it.backlog.len() < backlog {
            it.backlog.push_back(step);
            Entrance::Waiting
        } else {
            out.notes.push(Note::of(What::ConnectionReset, node));
            Entrance::Refused
        }
    }

    /// A client's request arrives: whether it is served or may wait.
    pub(super) fn client_enters(&mut self, node: NodeId, out: &mut Out) -> bool {
        let Some((most, backlog)) = self.setup.handlers else {
            return true;
        };
        let Some(it) = self.nodes.get_mut(node).filter(|it| it.is_up) else {
            return false;
        };
        // Whoever waits is counted as one at work: it is served before what comes later.
        if it.busy < most + backlog {
            it.busy += 1;
            return !self.kill_for_memory(node, out);
        }
        out.notes.push(Note::of(What::ConnectionReset, node));
        false
    }

    pub(super) fn handler_free(&mut self, node: NodeId, out: &mut Out) {
        if self.setup.handlers.is_none() {
            return;
        }
        let Some(it) = self.nodes.get_mut(node) else {
            return;
        };
        it.busy = it.busy.saturating_sub(1);
        if let Some(step) = it.backlog.pop_front() {
            self.apply(step, Outcome::Done, out);
        }
    }
}
