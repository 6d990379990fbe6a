//! What happens, what it waits for, and who is told: the words in which a world speaks of its future.

use super::names::{NodeId, Note, PartId};
use super::replica::EntryKind;
use super::world::World;

/// A fetch or another task at work, by its place; the serial tells it from earlier ones there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticket {
    /// The server that works.
    pub node: NodeId,
    /// The place in its pools.
    pub slot: usize,
    /// Counts the tasks of the server.
    pub serial: u32,
}

/// Which append of a fetch is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    /// T1: its own reference as a precommit.
    Stage,
    /// T3: the precommit becomes committed.
    Promote,
    /// The precommit is removed.
    Abort,
}

/// Who is told when a change of a reference is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Waiter {
    /// A fetch.
    Fetch(Ticket, Phase),
    /// Whoever wrote a part: an insert or an attach, with its number.
    Writer(NodeId, u64),
    /// The cleanup of old parts.
    Cleanup(NodeId),
    /// Nobody any more.
    Nobody,
}

/// Why a change of a reference failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Trouble {
    /// Nothing happened.
    Refused,
    /// It may have happened, or will.
    Open,
}

/// What happens next somewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Step {
    /// The leader of a lane takes the next batch.
    Carve {
        /// Which lane.
        lane: usize,
        /// The writer epoch that it was meant for.
        epoch: u32,
    },
    /// The store answers the creation of a log.
    LogAnswered {
        /// Which lane.
        lane: usize,
        /// The writer epoch that it was meant for.
        epoch: u32,
    },
    /// The store answers the publication of a frontier.
    FrontierAnswered {
        /// Which lane.
        lane: usize,
        /// The writer epoch that it was meant for.
        epoch: u32,
    },
    /// The exact read that resolves a wedge is answered.
    Resolved {
        /// Which lane.
        lane: usize,
        /// The writer epoch that it was meant for.
        epoch: u32,
    },
    /// A recovery ends.
    Recovered {
        /// Which lane.
        lane: usize,
        /// The writer epoch that it was meant for.
        epoch: u32,
    },
    /// A request for a part arrives at its source.
    Offer(Ticket),
    /// The handler of an offer is free again.
    HandlerFree {
        /// Which server.
        node: NodeId,
    },
    /// The offer arrives at the receiver.
    Offered(Ticket),
    /// A confirm arrives at the source.
    Confirm(Ticket),
    /// Its answer arrives at the receiver.
    Confirmed(Ticket),
    /// A request for bytes arrives at the source.
    BytesAsked(Ticket),
    /// The bytes are at the receiver.
    BytesArrived(Ticket),
    /// A merge has written its part.
    Merged(Ticket),
    /// An entry of the replication log comes into a queue.
    Pull {
        /// Which server.
        node: NodeId,
        /// What it asks for.
        kind: EntryKind,
        /// Its first part.
        first: PartId,
        /// How many parts.
        count: usize,
    },
    /// An entry may be tried again.
    Due {
        /// Which server.
        node: NodeId,
        /// Which entry.
        entry: u32,
    },
    /// A server with a full pool looks at its queue again.
    Rescan {
        /// Which server.
        node: NodeId,
    },
    /// A part that was merged away or dropped has had its time.
    Clean {
        /// Which server.
        node: NodeId,
        /// Which part.
        part: PartId,
    },
    /// The pause of a source ends (fix D).
    Reopen {
        /// Which server.
        node: NodeId,
        /// Which source.
        source: NodeId,
    },
    /// The collector reads a namespace.
    GcRead {
        /// Which lane.
        lane: usize,
    },
    /// The collector decides about what it read.
    GcDecide,
    /// The collector deletes what it decided to.
    GcDelete,
    /// A mount's lease is due to be renewed.
    Renew {
        /// Which server.
        node: NodeId,
        /// The writer epoch that it was meant for.
        epoch: u32,
    },
    /// A renewal is answered, or given up.
    Renewed {
        /// Which server.
        node: NodeId,
        /// The writer epoch that it was meant for.
        epoch: u32,
        /// When it was begun, in microseconds.
        begun: u64,
    },
    /// A server asks for its mount.
    Claim {
        /// Which server.
        node: NodeId,
        /// The writer epoch before.
        epoch: u32,
    },
    /// That is answered, or given up.
    Claimed {
        /// Which server.
        node: NodeId,
        /// The writer epoch before.
        epoch: u32,
    },
    /// The making of a table has read the catalog.
    CatalogRead {
        /// Which one.
        ddl: u64,
    },
    /// Its change of the catalog arrives at the store.
    CatalogWrite {
        /// Which one.
        ddl: u64,
    },
    /// It tries again.
    CatalogAgain {
        /// Which one.
        ddl: u64,
    },
}

/// What became of what a step waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Outcome {
    /// It went through.
    Done,
    /// It did not, and had no effect.
    Failed,
    /// There is no answer; whether it had an effect is this.
    Open(bool),
}

/// What a step waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Delay {
    /// A message from a server to another.
    Hop(NodeId, NodeId),
    /// The conditional creation of a log, after a look at the catalog.
    Log(usize),
    /// The publication of a frontier (`_ckpt`).
    Frontier(usize),
    /// An exact read.
    Read(usize),
    /// A recovery: catalog, checkpoint, logs, seal, frontier.
    Recovery(usize),
    /// A token for a mutation of the lane's `_ckpt`.
    Token(usize),
    /// The wait after so many failures, with its cap in milliseconds.
    Backoff(u32, u64),
    /// Bytes of a part from a server to another.
    Transfer(NodeId, NodeId),
    /// A merge.
    Merge,
    /// The way through the coordination service.
    Keeper,
    /// A read of a namespace by the collector.
    Collect,
    /// A change of the mount of a server.
    Mount(usize),
    /// A read of the catalog by a server.
    CatalogRead(usize),
    /// A change of the catalog by a server.
    CatalogWrite(usize),
    /// The wait before the next attempt after so many: anything up to the cap of the store's request engine.
    Jitter(u32),
    /// So many microseconds.
    Exact(u64),
}

/// What a step leads to.
#[derive(Debug, Default)]
pub struct Out {
    /// Steps that follow, with what they wait for.
    pub later: Vec<(Delay, Step)>,
    /// What is to be told.
    pub notes: Vec<Note>,
    /// Writers whose part is done, or not.
    pub written: Vec<(u64, Result<(), Trouble>)>,
}

impl Out {
    /// Lets a step follow.
    pub fn after(&mut self, delay: Delay, step: Step) {
        self.later.push((delay, step));
    }
}

impl World {
    /// The server at which a step happens; none for what happens at the store.
    pub fn server_of(&self, step: Step) -> Option<NodeId> {
        let source = |ticket: Ticket| {
            let slots = self.nodes.get(ticket.node).map(|it| &it.slots);
            let task = slots.and_then(|it| it.get(ticket.slot)).copied().flatten();
            task.filter(|it| it.serial == ticket.serial)
                .map(|it| it.source)
        };
        match step {
            Step::Carve { lane, .. }
            | Step::LogAnswered { lane, .. }
            | Step::FrontierAnswered { lane, .. }
            | Step::Resolved { lane, .. }
            | Step::Recovered { lane, .. } => Some(self.setup.place(lane).0),
            Step::Offer(ticket) | Step::Confirm(ticket) | Step::BytesAsked(ticket) => {
                source(ticket)
            }
            Step::Offered(ticket)
            | Step::Confirmed(ticket)
            | Step::BytesArrived(ticket)
            | Step::Merged(ticket) => Some(ticket.node),
            Step::HandlerFree { node }
            | Step::Pull { node, .. }
            | Step::Due { node, .. }
            | Step::Rescan { node }
            | Step::Clean { node, .. }
            | Step::Reopen { node, .. }
            | Step::Renew { node, .. }
            | Step::Renewed { node, .. }
            | Step::Claim { node, .. }
            | Step::Claimed { node, .. } => Some(node),
            Step::GcRead { .. } | Step::GcDecide | Step::GcDelete => Some(0),
            Step::CatalogRead { ddl } | Step::CatalogWrite { ddl } | Step::CatalogAgain { ddl } => {
                self.catalog.making.get(&ddl).map(|it| it.node)
            }
        }
    }
}
