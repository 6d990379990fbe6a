//! The nouns of the controllers, and what happens in them.

use std::fmt;

/// A controller, counted from 0; it is called `ctrl-1` and so on.
pub type NodeId = usize;

/// The name of a controller.
pub fn controller(node: NodeId) -> String {
    format!("ctrl-{}", node + 1)
}

/// An entry of the replicated log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Entry {
    /// Its position.
    pub lsn: u64,
    /// The term in which it was written.
    pub term: u64,
    /// What was written; 0 is the empty entry of a new primary.
    pub value: u64,
}

/// What a check of segments finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LayoutKind {
    /// Records stand where no reader that goes by the names looks for them.
    Misfiled,
    /// Positions are nowhere.
    Missing,
}

/// A stretch of positions with a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LayoutProblem {
    /// What is wrong.
    pub kind: LayoutKind,
    /// The segment, by the first position that its name promises.
    pub segment: u64,
    /// The first position.
    pub first: u64,
    /// The last position.
    pub last: u64,
}

impl fmt::Display for LayoutProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (word, first, last) = match self.kind {
            LayoutKind::Misfiled => ("misfiled", self.first, self.last),
            LayoutKind::Missing => ("missing", self.first, self.last),
        };
        write!(f, "{word} {first}..{last} in seg-{:016x}.wal", self.segment)
    }
}

/// A promise that was broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Violation {
    /// Two primaries of one term.
    TwoPrimaries,
    /// One position and term with two values, or with two pasts.
    LogMismatch,
    /// A primary without a committed entry.
    LeaderIncomplete,
    /// Two nodes committed different entries at one position.
    CommittedDiverged,
    /// A record went where a reader by name does not look for it.
    Misfiled,
    /// A record does not follow the one before it.
    Hole,
    /// What a node had acknowledged as durable is gone after its recovery.
    AcknowledgedLost,
}

impl Violation {
    /// All, with the promise in words.
    pub const ALL: [(Self, &'static str); 7] = [
        (Self::TwoPrimaries, "a term has one primary at most"),
        (
            Self::LogMismatch,
            "one position and term has one value and one past on every node",
        ),
        (
            Self::LeaderIncomplete,
            "a new primary has every committed entry",
        ),
        (
            Self::CommittedDiverged,
            "committed prefixes agree on every node",
        ),
        (
            Self::Misfiled,
            "a record stands in the segment that a reader by name opens",
        ),
        (
            Self::Hole,
            "positions rise by one within a segment and from one to the next",
        ),
        (
            Self::AcknowledgedLost,
            "what a node acknowledged as durable is there after its recovery",
        ),
    ];

    /// The promise in words.
    pub fn promise(self) -> &'static str {
        let known = Self::ALL.iter().find(|it| it.0 == self);
        known.map_or("", |it| it.1)
    }

    /// Whether it is about the replicated log, not about the files of one node.
    pub fn is_of_raft(self) -> bool {
        !matches!(self, Self::Misfiled | Self::Hole | Self::AcknowledgedLost)
    }
}

/// Something that a controller did or saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Note {
    /// Who.
    pub node: NodeId,
    /// What.
    pub what: What,
}

/// What a controller did or saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(
    missing_docs,
    reason = "positions and terms, named like in the log lines"
)]
pub enum What {
    /// The process began; it recovers after its start delay.
    Started { delay_ms: u64 },
    /// The process was killed.
    Killed,
    /// The process ended in order.
    Stopped,
    /// A primary said hello, and what was answered.
    HelloTaken {
        from: NodeId,
        term: u64,
        applied: u64,
    },
    /// Entries of a catch-up were written.
    CatchUp { first: u64, last: u64, term: u64 },
    /// Traffic before recovery was dropped.
    Dropped { is_first: bool },
    /// A replicated write before recovery was refused.
    Busy { lsn: u64 },
    /// Recovery ended.
    Recovered { current: u64, segments: u64 },
    /// It follows.
    Follower { term: u64, last: u64 },
    /// An append was taken.
    AppendOk {
        term: u64,
        prev: u64,
        n: u64,
        matched: u64,
    },
    /// An append was rejected.
    AppendRejected { term: u64, prev: u64, n: u64 },
    /// It heard nothing of a primary and stands for election.
    Candidate { term: u64 },
    /// It votes for another one.
    VoteGranted { to: NodeId, term: u64, last: u64 },
    /// It was elected.
    Primary { term: u64, votes: u64, of: u64 },
    /// It is no longer primary.
    SteppedDown { term: u64 },
    /// A standby told where it is.
    Registered { standby: u64, report: u64 },
    /// A standby is behind: it is streamed to.
    Stream {
        standby: u64,
        lsn: u64,
        ceiling: u64,
        committed: u64,
    },
    /// The stream said that it was sent, with what was sent.
    Streamed {
        from: u64,
        to: u64,
        entries: u64,
        is_counted: bool,
    },
    /// The stream found nothing and says so.
    FoundNone { from: u64, to: u64 },
    /// A snapshot was sent.
    SnapshotSent { lsn: u64 },
    /// A snapshot was installed.
    SnapshotTaken { lsn: u64, term: u64 },
    /// A standby refused.
    Nack { lsn: u64 },
    /// The first commit of a primary in its term.
    Ready { term: u64, committed: u64 },
    /// A write was not committed in its time.
    WaitExpired {
        lsn: u64,
        committed: u64,
        writable: u64,
    },
    /// A request was answered: the cluster is not ready.
    NotReady,
    /// A write was committed and acknowledged.
    Acknowledged { lsn: u64, value: u64 },
    /// A standby acknowledged what its own recovery would not find.
    FalseAck { lsn: u64 },
    /// Recovery found less than was acknowledged.
    Lost { first: u64, last: u64 },
}

impl What {
    /// Whether it is a stream that found nothing.
    pub(super) fn is_empty_stream(&self) -> bool {
        matches!(
            self,
            Self::FoundNone { .. } | Self::Streamed { entries: 0, .. }
        )
    }

    /// Whether it says what became of a stream.
    pub(super) fn ends_stream(&self) -> bool {
        let is_sent = matches!(self, Self::Streamed { .. } | Self::SnapshotSent { .. });
        is_sent || self.is_empty_stream()
    }
}
