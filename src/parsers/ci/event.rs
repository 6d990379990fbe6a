//! What sources beside the tests tell: deaths, full disks, lost machines, and checks that passed.

use super::model::{Moment, Place};

/// Something that happened to the machinery or the servers, as a source beside the logs tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// What.
    pub kind: EventKind,
    /// The node, container, process or step that it happened to; empty where it is not said.
    pub subject: String,
    /// When.
    pub at: Option<Moment>,
    /// The line, bounded.
    pub text: String,
    /// Where it stands.
    pub place: Place,
}

/// Kinds of events. Only what the text says: no kind is a conclusion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EventKind {
    /// A server's process ended, or was found ended.
    ServerDied,
    /// A server did not answer, or reset connections.
    Unreachable,
    /// The kernel killed for memory.
    OutOfMemory,
    /// A disk was full.
    NoSpace,
    /// A step, job or harness ran out of its time.
    TimedOut,
    /// Someone cancelled it.
    Cancelled,
    /// A process was killed.
    Killed,
    /// The machine that ran the job was lost.
    RunnerLost,
    /// Images, packages or networks could not be had.
    Infrastructure,
    /// A check was left out or could not be made.
    GateSkipped,
    /// A container's state as the container tool tells it, such as `healthy`; it says nothing of the server in it.
    Container,
    /// A command or step failed, with its exit code in the text.
    StepFailed,
    /// A check passed, such as a checkpoint of a soak.
    Passed,
    /// An error the job log marks as one.
    Annotation,
}

impl EventKind {
    /// Its name in outputs.
    pub fn word(self) -> &'static str {
        match self {
            Self::ServerDied => "server-died",
            Self::Unreachable => "unreachable",
            Self::OutOfMemory => "out-of-memory",
            Self::NoSpace => "no-space",
            Self::TimedOut => "timed-out",
            Self::Cancelled => "cancelled",
            Self::Killed => "killed",
            Self::RunnerLost => "runner-lost",
            Self::Infrastructure => "infrastructure",
            Self::GateSkipped => "gate-skipped",
            Self::Container => "container",
            Self::StepFailed => "step-failed",
            Self::Passed => "passed",
            Self::Annotation => "annotation",
        }
    }
}
