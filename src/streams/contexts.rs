//! Fields taken from another record of the same thread: the one before, or one that follows.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::FoldRules;
use super::count::{Said, count};
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

/// What others take from a signal.
struct Taking {
    /// Whether any takes from it before, and after.
    before: bool,
    after: bool,
    /// Which fields, each once.
    fields: Vec<usize>,
    /// The signals whose occurrences it ends.
    ends: Vec<u16>,
}

/// What is remembered while one log streams through.
pub(super) struct Contexts {
    /// By signal.
    sources: Vec<Taking>,
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
    pub(super) table: Vec<u8>,
    pub(super) is_again: bool,
}

impl Waiting {
    /// An occurrence on a thread, kept with what it is cited by.
    pub(super) fn new(said: &Said<'_>, thread: u64, evidence: Evidence) -> Self {
        Self {
            signal: said.signal,
            thread,
            time: said.time,
            values: said.values.iter().map(|value| value.to_vec()).collect(),
            evidence,
            suspect: said.suspect,
            table: said.table.to_vec(),
            is_again: said.is_again,
        }
    }

    /// Counts it as it is.
    pub(super) fn count(self, tally: &mut NodeTally, rules: &FoldRules<'_>) {
        let values: Vec<&[u8]> = self.values.iter().map(Vec::as_slice).collect();
        let said = Said {
            signal: self.signal,
            values: &values,
            time: self.time,
            suspect: self.suspect,
            weight_max: u64::MAX,
            table: &self.table,
            is_again: self.is_again,
        };
        count(tally, rules, &said, || self.evidence);
    }
}

impl Contexts {
    pub(super) fn new(signals: &SignalSet) -> Self {
        let contexts = || {
            let all = signals.signals().iter();
            all.filter_map(|signal| signal.context.as_ref())
        };
        let of = |signal: u16| {
            let from = || contexts().filter(move |it| it.signal == usize::from(signal));
            let fields = from().flat_map(|context| context.take.iter().map(|(from, _)| *from));
            let ended = contexts().filter(|it| it.ends.contains(&signal));
            let ended = ended.filter_map(|it| u16::try_from(it.signal).ok());
            Taking {
                before: from().any(|it| it.direction == Direction::Before),
                after: from().any(|it| it.direction == Direction::After),
                fields: fields.collect::<BTreeSet<_>>().into_iter().collect(),
                ends: ended.collect::<BTreeSet<_>>().into_iter().collect(),
            }
        };
        Self {
            sources: (0..).take(signals.signals().len()).map(of).collect(),
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
        let fields = &self.sources[context.signal].fields;
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

    /// Forgets what an occurrence ends, and remembers it if others take from it; gives back those that waited for it, or waited too long.
    pub(super) fn follow(
        &mut self,
        signals: &SignalSet,
        signal: u16,
        entry: &Entry,
        values: &[&[u8]],
    ) -> Vec<Waiting> {
        let Taking {
            before,
            after,
            fields,
            ends,
        } = &self.sources[usize::from(signal)];
        for ended in ends {
            self.before.remove(&(*ended, entry.thread));
        }
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
