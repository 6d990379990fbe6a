//! Fields taken from another record of the same thread: the one before, or one that follows.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::FoldRules;
use super::count::count;
use crate::scan::Entry;
use crate::signals::tally::{Evidence, NodeTally};
use crate::signals::{Direction, Signal, SignalSet};
use crate::time::Timestamp;

/// How many threads' last records are remembered, and how many occurrences may wait.
const REMEMBERED_MAX: usize = 100_000;

/// Fields of an occurrence one after another, in the order in which they are remembered.
#[derive(Default)]
pub(super) struct Taken {
    bytes: Vec<u8>,
    ends: SmallVec<[u32; 4]>,
}

impl Taken {
    fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    fn push(&mut self, value: &[u8]) {
        self.bytes.extend_from_slice(value);
        let end = u32::try_from(self.bytes.len()).unwrap_or(u32::MAX);
        self.ends.push(end);
    }

    fn get(&self, at: usize) -> &[u8] {
        let end = |at: usize| self.ends.get(at).map_or(0, |end| *end as usize);
        let start = at.checked_sub(1).map_or(0, end);
        self.bytes.get(start..end(at)).unwrap_or_default()
    }
}

/// The stamp and the fields of an occurrence that others take from.
type Remembered = (Timestamp, Taken);

/// What is remembered while one log streams through.
pub(super) struct Contexts {
    /// By signal: whether others take from it before, and after, and which fields, each once.
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
            let fields = of_source.flat_map(|context| context.take.iter().map(|(from, _)| *from));
            fields.collect::<BTreeSet<_>>().into_iter().collect()
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

    /// Gives a signal the fields of the source before `entry` on its thread, if it is near enough; they lie in `taken`.
    pub(super) fn before<'t>(
        &self,
        signal: &Signal,
        entry: &Entry,
        taken: &'t mut Taken,
        values: &mut [&'t [u8]],
    ) {
        let context = signal.context.as_ref();
        let context = context.filter(|context| context.direction == Direction::Before);
        let Some((context, time)) = context.zip(entry.time) else {
            return;
        };
        let (_, _, fields) = &self.sources[context.signal];
        let source = u16::try_from(context.signal).unwrap_or(u16::MAX);
        let Some((at, remembered)) = self.before.get(&(source, entry.thread)) else {
            return;
        };
        if (time.0 - at.0).abs() > context.span {
            return;
        }
        taken.bytes.clone_from(&remembered.bytes);
        taken.ends.clone_from(&remembered.ends);
        let taken = &*taken;
        for &(from, to) in &context.take {
            let place = fields.iter().position(|field| *field == from);
            values[to] = place.map_or(b"", |place| taken.get(place));
        }
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
            let (at, kept) = remembered.or_insert_with(|| (time, Taken::default()));
            *at = time;
            kept.clear();
            for &field in fields {
                kept.push(values[field]);
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
