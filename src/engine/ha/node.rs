//! A controller: its disk, its process, and its part in the replicated log.

use std::collections::{BTreeMap, BTreeSet};

use super::disk::Disk;
use super::names::{Entry, NodeId};
use super::persist::Persist;

/// Entries on their way, with what must be before them.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct AppendEntries {
    /// The primary's term.
    pub(super) term: u64,
    /// The position before the first.
    pub(super) prev: u64,
    /// Its term.
    pub(super) prev_term: u64,
    /// The entries, without a hole.
    pub(super) entries: Vec<Entry>,
    /// The primary's commit position.
    pub(super) commit: u64,
}

impl AppendEntries {
    /// The last position that the message speaks of.
    pub(super) fn last(&self) -> u64 {
        self.prev + self.entries.len() as u64
    }
}

/// A message between two controllers.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Message {
    /// A primary connects.
    Hello {
        term: u64,
    },
    /// A standby's answer: what it has.
    Welcome {
        term: u64,
        report: u64,
    },
    /// Live entries, or a heartbeat without one.
    Append(AppendEntries),
    /// A part of a stream.
    Batch(AppendEntries),
    /// A configuration record, without a check of the log.
    Push {
        term: u64,
        entry: Entry,
    },
    /// The whole state up to a position.
    Snapshot {
        term: u64,
        lsn: u64,
        lsn_term: u64,
    },
    /// Durable up to a position.
    Ack {
        term: u64,
        lsn: u64,
        is_heartbeat: bool,
    },
    /// Not taken: the entry before does not match.
    Nack {
        term: u64,
        prev: u64,
        lsn: u64,
    },
    AskVote {
        term: u64,
        last: u64,
        last_term: u64,
    },
    Vote {
        term: u64,
        is_granted: bool,
    },
}

/// Something that happens at a controller. The number of its life tells a process from the ones before.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Step {
    Deliver {
        from: NodeId,
        to: NodeId,
        message: Message,
    },
    Recover {
        node: NodeId,
        life: u32,
    },
    Synced {
        node: NodeId,
        life: u32,
    },
    Election {
        node: NodeId,
        life: u32,
        timer: u32,
    },
    Tick {
        node: NodeId,
        life: u32,
        term: u64,
    },
    Deadline {
        node: NodeId,
        life: u32,
        lsn: u64,
    },
}

impl Step {
    /// Entries in it.
    pub(super) fn entries(&self) -> u64 {
        match self {
            Self::Deliver {
                message: Message::Append(it) | Message::Batch(it),
                ..
            } => it.entries.len() as u64,
            Self::Deliver { .. }
            | Self::Recover { .. }
            | Self::Synced { .. }
            | Self::Election { .. }
            | Self::Tick { .. }
            | Self::Deadline { .. } => 0,
        }
    }

    /// Where it happens.
    pub(super) fn node(&self) -> NodeId {
        match self {
            Self::Deliver { to, .. } => *to,
            Self::Recover { node, .. }
            | Self::Synced { node, .. }
            | Self::Election { node, .. }
            | Self::Tick { node, .. }
            | Self::Deadline { node, .. } => *node,
        }
    }
}

/// What a step waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Delay {
    /// A message between two nodes.
    Hop(NodeId, NodeId),
    /// The disk.
    Sync,
    /// The start delay.
    Start,
    /// A time without a primary.
    Election,
    /// The tick of a primary.
    Tick,
    /// The deadline of a commit.
    Wait,
}

/// What a step leads to.
#[derive(Debug, Clone, Default)]
pub(super) struct Out {
    pub(super) later: Vec<(Delay, Step)>,
    pub(super) notes: Vec<super::names::Note>,
}

/// What a primary knows of a standby.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(super) struct Standby {
    /// Whether it answered a hello since it is connected.
    pub(super) is_registered: bool,
    /// What it says it has.
    pub(super) report: u64,
    /// Where a NACK moved the start of its catch-up.
    pub(super) join: Option<u64>,
    /// Whether it is in catch-up.
    pub(super) is_behind: bool,
    /// The next position to send live.
    pub(super) next: u64,
    /// What it has acknowledged in this term.
    pub(super) matched: u64,
}

/// What a primary knows.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Primary {
    pub(super) standbys: Vec<Standby>,
    /// Writes that wait for the log, with their positions.
    pub(super) buffer: Vec<Entry>,
    /// The last position handed to the log: the ceiling of streams, and what is writable.
    pub(super) handed: u64,
    /// What is durable here.
    pub(super) own: u64,
    /// Whether it has committed an entry of its term.
    pub(super) is_ready: bool,
    /// Writes that wait for their commit.
    pub(super) waits: BTreeSet<u64>,
}

/// A node's part.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Role {
    Follower,
    Candidate(BTreeSet<NodeId>),
    Primary(Primary),
}

/// A controller.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Node {
    pub(super) is_up: bool,
    pub(super) life: u32,
    pub(super) disk: Disk,
    pub(super) persist: Persist,
    /// The log in memory, which recovery reads from the disk.
    pub(super) log: BTreeMap<u64, Entry>,
    pub(super) role: Role,
    pub(super) committed: u64,
    /// Counts how often the time without a primary began again.
    pub(super) timer: u32,
    /// Answers that wait for the disk.
    pub(super) answers: Vec<(NodeId, Message)>,
    pub(super) told_drop: bool,
    /// What this node has said is durable: kept beside the system, to see whether it was true.
    pub(super) acknowledged: u64,
    /// Whether a record of this disk stands where it should not.
    pub(super) is_disordered: bool,
}

impl Node {
    pub(super) fn new() -> Self {
        Self {
            is_up: false,
            life: 0,
            disk: Disk::default(),
            persist: Persist::default(),
            log: BTreeMap::new(),
            role: Role::Follower,
            committed: 0,
            timer: 0,
            answers: Vec::new(),
            told_drop: false,
            acknowledged: 0,
            is_disordered: false,
        }
    }

    /// Whether it takes part in elections and appends.
    pub(super) fn is_recovered(&self) -> bool {
        self.is_up && self.persist.is_recovered
    }

    /// Answers that speak of positions from one on are not sent any more: what they were about is gone.
    pub(super) fn forget_answers(&mut self, from: u64) {
        let is_gone =
            |message: &Message| matches!(message, Message::Ack { lsn, .. } if *lsn >= from);
        self.answers.retain(|it| !is_gone(&it.1));
    }

    /// The last position in its log.
    pub(super) fn last(&self) -> u64 {
        let in_log = self.log.keys().next_back().copied().unwrap_or(0);
        in_log.max(self.disk.snapshot.0)
    }

    /// The term of a position, if it is known.
    pub(super) fn term_at(&self, lsn: u64) -> Option<u64> {
        let (snapshot, term) = self.disk.snapshot;
        if lsn == snapshot {
            return Some(term);
        }
        self.log.get(&lsn).map(|it| it.term)
    }

    /// The primary's part, if it is one.
    pub(super) fn primary(&self) -> Option<&Primary> {
        match &self.role {
            Role::Primary(primary) => Some(primary),
            Role::Follower | Role::Candidate(_) => None,
        }
    }

    /// The primary's part, to change it.
    pub(super) fn primary_mut(&mut self) -> Option<&mut Primary> {
        match &mut self.role {
            Role::Primary(primary) => Some(primary),
            Role::Follower | Role::Candidate(_) => None,
        }
    }
}
