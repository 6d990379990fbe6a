//! Fields taken from another record of the same thread: the one before, or one that follows.

use rustc_hash::FxHashMap;

use super::FoldRules;
use super::count::count;
use crate::scan::Entry;
use crate::signals::tally::{Evidence, NodeTally};
use crate::signals::{Direction, Signal, SignalSet};
use crate::time::Timestamp;

/// How many threads' last records are remembered, and how many occurrences may wait.
const REMEMBERED_MAX: usize = 100_000;

/// The stamp and the fields of an occurrence that others take from.
type Remembered = (Timestamp, Vec<Vec<u8>>);

/// What is remembered while one log streams through.
pub(super) struct Contexts {
    /// By signal: whether others take from it before, and after, and which fields.
    sources: Vec<(bool, bool, Vec<usize>)>,
    /// The last occurrence of each source on each thread.
    before: FxHashMap<(u16, u64), Remembered>,
    /// Occurrences that wait for a source that follows on their thread.
    after: Vec<Waiting>,
}

/// An occurrence that waits for its context.
pub(super) struct Waiting {
    pub(super) signal: u16,
    pub(super) thread: u64,
    pub(super) time: Option<Timestamp>,
    pub(super) values: Vec<Vec<u8>>,
    pub(super) evidence: Evidence,
    pub(super) suspect: bool,
}

impl Waiting {
    /// Counts it as it is.
    pub(super) fn count(self, tally: &mut NodeTally, rules: &FoldRules<'_>) {
        let values: Vec<&[u8]> = self.values.iter().map(Vec::as_slice).collect();
        count(
            tally,
            rules,
            self.signal,
            &values,
            self.time,
            self.suspect,
            u64::MAX,
            || self.evidence,
        );
    }
}

impl Contexts {
    pub(super) fn new(signals: &SignalSet) -> Self {
        let takes = |source: usize, direction| {
            let contexts = signals
                .signals()
                .iter()
                .filter_map(|signal| signal.context.as_ref());
            contexts
                .into_iter()
                .any(|context| context.signal == source && context.direction == direction)
        };
        let fields = |source: usize| -> Vec<usize> {
            let contexts = signals
                .signals()
                .iter()
                .filter_map(|signal| signal.context.as_ref());
            let of_source = contexts.filter(|context| context.signal == source);
            of_source
                .flat_map(|context| context.take.iter().map(|(from, _)| *from))
                .collect()
        };
        let of = |source| {
            (
                takes(source, Direction::Before),
                takes(source, Direction::After),
                fields(source),
            )
        };
        let sources = (0..signals.signals().len()).map(of).collect();
        Self {
            sources,
            before: FxHashMap::default(),
            after: Vec::new(),
        }
    }

    /// Whether occurrences of a signal wait for what follows.
    pub(super) fn waits(signal: &Signal) -> bool {
        signal
            .context
            .as_ref()
            .is_some_and(|context| context.direction == Direction::After)
    }

    /// Lets an occurrence wait.
    pub(super) fn wait(&mut self, waiting: Waiting) {
        self.after.push(waiting);
    }

    /// The fields of the source before `entry` on its thread, if it is near enough.
    pub(super) fn before(&self, signal: &Signal, entry: &Entry) -> Option<Vec<Vec<u8>>> {
        let context = signal
            .context
            .as_ref()
            .filter(|context| context.direction == Direction::Before)?;
        let source = u16::try_from(context.signal).ok()?;
        let (time, values) = self.before.get(&(source, entry.thread))?;
        let near = entry
            .time
            .is_some_and(|at| (at.0 - time.0).abs() <= context.span);
        near.then(|| values.clone())
    }

    /// Remembers an occurrence if others take from it; gives back those that waited for it, or waited too long.
    pub(super) fn follow(
        &mut self,
        signals: &SignalSet,
        signal: u16,
        entry: &Entry,
        values: &[&[u8]],
    ) -> Vec<Waiting> {
        let (before, after, fields) = &self.sources[usize::from(signal)];
        let Some(time) = entry.time.filter(|_| *before || *after) else {
            return Vec::new();
        };
        if *before {
            if self.before.len() >= REMEMBERED_MAX {
                self.before.clear();
            }
            // The memory of the thread's last occurrence is used again.
            let remembered = self.before.entry((signal, entry.thread));
            let (at, kept) = remembered.or_insert_with(|| (time, vec![Vec::new(); values.len()]));
            *at = time;
            for &field in fields {
                kept[field].clear();
                kept[field].extend_from_slice(values[field]);
            }
        }
        if !*after {
            return Vec::new();
        }
        let mut ready = Vec::new();
        for mut one in std::mem::take(&mut self.after) {
            let context = signals.signal(one.signal).context.as_ref();
            let Some(context) = context else { continue };
            let late = one.time.is_some_and(|at| time.0 - at.0 > context.span);
            let fits = context.signal == usize::from(signal) && one.thread == entry.thread;
            if fits && !late {
                for &(from, to) in &context.take {
                    one.values[to] = values[from].to_vec();
                }
            }
            if fits || late || self.after.len() >= REMEMBERED_MAX {
                ready.push(one);
            } else {
                self.after.push(one);
            }
        }
        ready
    }

    /// The log has ended: what still waits.
    pub(super) fn finish(&mut self) -> Vec<Waiting> {
        std::mem::take(&mut self.after)
    }
}
