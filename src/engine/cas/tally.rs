//! What is counted of a run: notes per server and 10 seconds, answers by reason, queues over time.

use super::ledger::Why;
use super::names::{Note, What};
use crate::engine::sim::{Micros, SECOND};

/// Counts of one server.
#[derive(Debug, Clone, Default)]
pub struct NodeTally {
    /// How often each thing happened, by step.
    steps: Vec<[u32; What::COUNT]>,
    /// Answers that were not yes, by reason.
    pub reasons: [u64; Why::ALL.len()],
    /// The length of its queue at the beginning of each step.
    pub queue: Vec<u32>,
    /// The longest wait that an entry was given, in milliseconds, and how often it had failed.
    pub longest_wait: (u64, u64),
}

/// Seconds of a step, the unit in which counts are kept.
pub const STEP_S: u64 = 10;

/// The distance of two samples of the queues: a step.
pub(super) const SAMPLE: Micros = STEP_S * SECOND;

/// Counts of a run.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    /// By server.
    pub nodes: Vec<NodeTally>,
    /// The most attempts that a change of the catalog took, made or not.
    pub most_attempts: u64,
}

impl Tally {
    /// Counts nothing yet.
    pub fn new(nodes: usize) -> Self {
        Self {
            nodes: vec![NodeTally::default(); nodes],
            most_attempts: 0,
        }
    }

    /// Counts a note.
    pub fn count(&mut self, now: Micros, note: &Note) {
        let Some(node) = self.nodes.get_mut(note.node) else {
            return;
        };
        let step = usize::try_from(now / SAMPLE).unwrap_or(usize::MAX);
        if node.steps.len() <= step {
            node.steps.resize(step + 1, [0; What::COUNT]);
        }
        if let Some(counts) = node.steps.get_mut(step)
            && let Some(count) = counts.get_mut(note.what as usize)
        {
            *count += 1;
        }
        if matches!(note.what, What::TableMade | What::TableNotMade) {
            self.most_attempts = self.most_attempts.max(note.a);
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

    /// How often something happened on a server, or on all, in steps `from` up to `to`.
    pub fn between(&self, what: What, node: Option<usize>, from: usize, to: usize) -> u64 {
        let nodes = self.nodes.iter().enumerate();
        let nodes = nodes.filter(|(place, _)| node.is_none_or(|it| it == *place));
        let steps = nodes.flat_map(|(_, it)| it.steps.iter().take(to).skip(from));
        steps
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

    /// Steps up to the last that something was counted in.
    pub fn steps(&self) -> usize {
        let lengths = self.nodes.iter().map(|it| it.steps.len());
        lengths.max().unwrap_or(0)
    }

    /// The length of a server's queue at a time, as it was sampled.
    pub fn queue_at(&self, node: usize, at: Micros) -> Option<u32> {
        let place = usize::try_from(at / SAMPLE).ok()?;
        self.nodes.get(node)?.queue.get(place).copied()
    }
}
