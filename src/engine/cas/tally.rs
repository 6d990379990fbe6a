//! What is counted of a run: notes per server and minute, answers by reason, queues over time.

use super::ledger::Why;
use super::names::{Note, What};
use crate::engine::sim::{MINUTE, Micros};

/// Counts of one server.
#[derive(Debug, Clone, Default)]
pub struct NodeTally {
    /// How often each thing happened, by minute.
    minutes: Vec<[u32; What::COUNT]>,
    /// Answers that were not yes, by reason.
    pub reasons: [u64; Why::ALL.len()],
    /// The length of its queue, each 10 seconds.
    pub queue: Vec<u32>,
    /// The longest wait that an entry was given, in milliseconds, and how often it had failed.
    pub longest_wait: (u64, u64),
}

/// The distance of two samples of the queues: 10 seconds.
pub(super) const SAMPLE: Micros = 10_000_000;

/// Counts of a run.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    /// By server.
    pub nodes: Vec<NodeTally>,
}

impl Tally {
    /// Counts nothing yet.
    pub fn new(nodes: usize) -> Self {
        Self {
            nodes: vec![NodeTally::default(); nodes],
        }
    }

    /// Counts a note.
    pub fn count(&mut self, now: Micros, note: &Note) {
        let Some(node) = self.nodes.get_mut(note.node) else {
            return;
        };
        let minute = usize::try_from(now / MINUTE).unwrap_or(usize::MAX);
        if node.minutes.len() <= minute {
            node.minutes.resize(minute + 1, [0; What::COUNT]);
        }
        if let Some(counts) = node.minutes.get_mut(minute)
            && let Some(count) = counts.get_mut(note.what as usize)
        {
            *count += 1;
        }
        if note.what == What::Postponed {
            // Of equal waits the one with the fewest failures.
            let (wait, failures) = node.longest_wait;
            if note.a > wait || (note.a == wait && note.b < failures) {
                node.longest_wait = (note.a, note.b);
            }
        }
        if matches!(note.what, What::Unknown | What::No) {
            let reason = usize::try_from(note.a).unwrap_or(usize::MAX);
            if let Some(count) = node.reasons.get_mut(reason) {
                *count += 1;
            }
        }
    }

    /// How often something happened on a server, or on all, in minutes `from` up to `to`.
    pub fn between(&self, what: What, node: Option<usize>, from: usize, to: usize) -> u64 {
        let nodes = self.nodes.iter().enumerate();
        let nodes = nodes.filter(|(place, _)| node.is_none_or(|it| it == *place));
        let minutes = nodes.flat_map(|(_, it)| it.minutes.iter().take(to).skip(from));
        minutes
            .filter_map(|it| it.get(what as usize))
            .map(|it| u64::from(*it))
            .sum()
    }

    /// How often something happened on a server, or on all.
    pub fn total(&self, what: What, node: Option<usize>) -> u64 {
        self.between(what, node, 0, usize::MAX)
    }

    /// Answers of a server, or of all, that were not yes for a reason.
    pub fn reason(&self, why: Why, node: Option<usize>) -> u64 {
        let nodes = self.nodes.iter().enumerate();
        let nodes = nodes.filter(|(place, _)| node.is_none_or(|it| it == *place));
        nodes
            .filter_map(|(_, it)| it.reasons.get(why as usize))
            .sum()
    }

    /// The longest wait that an entry of a server, or of any, was given, in milliseconds, and how often the entry had failed.
    pub fn longest_wait(&self, node: Option<usize>) -> (u64, u64) {
        let nodes = self.nodes.iter().enumerate();
        let nodes = nodes.filter(|(place, _)| node.is_none_or(|it| it == *place));
        nodes
            .map(|(_, it)| it.longest_wait)
            .max()
            .unwrap_or_default()
    }

    /// Minutes that something was counted in.
    pub fn minutes(&self) -> usize {
        let lengths = self.nodes.iter().map(|it| it.minutes.len());
        lengths.max().unwrap_or(0)
    }

    /// The length of a server's queue at a time, as it was sampled.
    pub fn queue_at(&self, node: usize, at: Micros) -> Option<u32> {
        let place = usize::try_from(at / SAMPLE).ok()?;
        self.nodes.get(node)?.queue.get(place).copied()
    }
}
