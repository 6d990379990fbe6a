//! The folds of one node's logs, one after another, step by step in the order of reading.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::facts::ArtifactFacts;
use super::inputs::NodeScan;
use crate::intake::Role;
use crate::signals::tally::NodeTally;
use crate::streams::{Fold, FoldRules, Log, Scanned, Source, Twins, Views};
use crate::time::{DAY, Timestamp};

/// A step after its scan.
pub(super) enum Done {
    /// A block of a log's side.
    Block(Role, Arc<Scanned>),
    /// An artifact ended; why, if before its end.
    Ended {
        /// The artifact.
        artifact: usize,
        /// The reason.
        error: Option<String>,
    },
    /// Both sides of the log have ended.
    LogEnded,
}

/// The folds of one node.
pub(super) struct Folding<'e> {
    rules: &'e FoldRules<'e>,
    /// The logs to come: a piece of each, whether there is an err.log to match, and whether there are views, of full seconds.
    logs: VecDeque<(Source, bool, Option<bool>)>,
    fold: Option<(Fold<'e>, Twins)>,
    tally: NodeTally,
    others: Vec<NodeTally>,
    artifacts: BTreeMap<usize, ArtifactFacts>,
    /// Days passed in a log without dates, and its last stamp.
    days: i64,
    last: Option<Timestamp>,
}

impl<'e> Folding<'e> {
    pub(super) fn new(rules: &'e FoldRules<'e>, tally: NodeTally, logs: &[Log]) -> Self {
        let of = |log: &Log| {
            let mut sources = log.main.pieces.iter().chain(&log.err.pieces);
            let mut exports = log.views.iter().chain(&log.main.pieces);
            let coarse = exports.any(|source| source.coarse);
            let views = (!log.views.is_empty()).then_some(coarse);
            sources
                .next()
                .map(|source| (*source, log.has_twins(), views))
        };
        let logs = logs.iter().filter_map(of).collect();
        let (others, artifacts) = (Vec::new(), BTreeMap::new());
        Self {
            rules,
            logs,
            fold: None,
            tally,
            others,
            artifacts,
            days: 0,
            last: None,
        }
    }

    /// Folds one step; gives back a block's memory if nothing points into it any more.
    pub(super) fn take(&mut self, done: Done) -> Option<Vec<u8>> {
        match done {
            Done::Block(role, mut scanned) => {
                self.place(&mut scanned);
                let (fold, twins) = self.open()?;
                match role {
                    Role::Main => twins.main(&scanned, fold),
                    Role::Err => twins.err(&scanned, fold),
                    Role::View => twins.view(&scanned, fold),
                }
                Arc::into_inner(scanned).map(|scanned| scanned.block.bytes)
            }
            Done::Ended { artifact, error } => {
                let facts = self.artifacts.entry(artifact).or_default();
                facts.error = error.or(facts.error.take());
                None
            }
            Done::LogEnded => {
                self.open()?;
                let (mut fold, twins) = self.fold.take()?;
                twins.finish(&mut fold);
                let (tally, others) = fold.finish();
                self.tally = tally;
                self.others.extend(others);
                self.logs.pop_front();
                (self.days, self.last) = (0, None);
                None
            }
        }
    }

    /// The fold of the log being read.
    fn open(&mut self) -> Option<&mut (Fold<'e>, Twins)> {
        if self.fold.is_none() {
            let &(source, twins, views) = self.logs.front()?;
            let tally = std::mem::take(&mut self.tally);
            self.fold = Some((
                Fold::new(self.rules, tally, source),
                Twins::new(twins, views.map(Views::new)),
            ));
        }
        self.fold.as_mut()
    }

    /// Gives a block its lines and, in a log without dates, its day; gives its artifact its totals.
    fn place(&mut self, scanned: &mut Arc<Scanned>) {
        let counts = self
            .logs
            .front()
            .is_some_and(|(source, ..)| source.format.spec().counts_records);
        let facts = self.artifacts.entry(scanned.artifact as usize).or_default();
        if let Some(scanned) = Arc::get_mut(scanned) {
            // The lines of unwrapped text are numbered as they stand in the file.
            let is_plain = scanned.block.origin.is_none();
            scanned.first_line = if is_plain { facts.lines + 1 } else { 1 };
            if let Some(first) = scanned.scan.first_time {
                let dated = first.0 + self.days * DAY;
                self.days += i64::from(self.last.is_some_and(|last| dated < last.0 - DAY / 2));
                scanned.scan.postpone(self.days);
                self.last = scanned.scan.last_time.or(self.last);
            }
        }
        facts.add(&scanned.scan, scanned.first_line - 1, counts);
    }

    pub(super) fn finish(mut self) -> NodeScan {
        if let Some((fold, _)) = self.fold.take() {
            self.tally = fold.finish().0;
        }
        NodeScan {
            tally: self.tally,
            others: self.others,
            artifacts: self.artifacts,
        }
    }
}
