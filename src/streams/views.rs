//! Exports of `system.text_log` beside a log: views of the same records, counted once.
//!
//! Of equal records as many count as the log or the one view with more of them holds. Records of the logs count when they are
//! read; those of a view wait until the logs are past them, and those of an excerpt until the logs have ended, so that a record
//! that both have is cited from the log.
//!
//! A record is known by its stamp, thread and level: no thread writes two at once, and a message may come out of an export
//! with other line ends or cut. Where an export has no fractions of a second, its text must be equal instead.

use std::collections::VecDeque;
use std::hash::Hasher;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHasher};

use super::{Fold, Scanned};
use crate::scan::Entry;
use crate::time::{SECOND, Timestamp};

/// How far the reading of the logs must be past a view's record before it counts: the err.log's own wait for 10 s of the
/// main log, and exports are written in batches.
const WAIT: i64 = 30 * SECOND;

/// How long a record is remembered after that.
const MEMORY: i64 = 2 * WAIT;

/// How many bytes a stamp has in a head.
const STAMP_BYTES: usize = 26;

type Key = (Timestamp, u64, u64);

/// How often a record was counted, and how often each source has it.
#[derive(Debug, Default)]
struct Known {
    counted: u32,
    in_main: u32,
    in_err: u32,
    /// Whether what was taken of the log has it, and waits for the log to end.
    is_awaited: bool,
    seen: Vec<((u32, usize), u32)>,
}

impl Known {
    /// How often a view may have it without one more: an excerpt may be taken from the log and its err.log.
    fn expected(&self, of: &Scanned) -> u32 {
        if of.source.is_collected {
            self.counted.max(self.in_main + self.in_err)
        } else {
            self.counted
        }
    }
}

/// A block of a view whose entries wait, in the order of their stamps: who searches several files has their records one
/// file after the other.
#[derive(Debug)]
struct Waiting {
    scanned: Arc<Scanned>,
    order: Vec<u32>,
    /// How many of them were counted.
    done: usize,
}

impl Waiting {
    fn new(scanned: &Arc<Scanned>) -> Self {
        let count = u32::try_from(scanned.scan.entries.len()).unwrap_or(u32::MAX);
        let mut order: Vec<u32> = (0..count).collect();
        order.sort_by_key(|at| scanned.scan.entries[*at as usize].time);
        Self {
            scanned: Arc::clone(scanned),
            order,
            done: 0,
        }
    }

    /// The next entry.
    fn next(&self) -> Option<&Entry> {
        let at = *self.order.get(self.done)?;
        self.scanned.scan.entries.get(at as usize)
    }
}

/// The state of matching a log with its views.
#[derive(Debug)]
pub struct Views {
    /// Whether some source names the second alone.
    coarse: bool,
    known: FxHashMap<Key, Known>,
    /// The keys in the order in which they came, for forgetting.
    order: VecDeque<Key>,
    /// Blocks of views that wait.
    waiting: Vec<Waiting>,
    /// How far the sources were read: the latest first stamp of a block.
    now: Option<Timestamp>,
}

impl Views {
    /// Starts; `coarse` says whether some source names the second alone.
    pub fn new(coarse: bool) -> Self {
        Self {
            coarse,
            known: FxHashMap::default(),
            order: VecDeque::new(),
            waiting: Vec::new(),
            now: None,
        }
    }

    fn key(&self, scanned: &Scanned, entry: &Entry) -> Key {
        let time = entry.time.unwrap_or(Timestamp(i64::MIN));
        if !self.coarse {
            return (time, entry.thread, entry.level.index() as u64);
        }
        let mut hasher = FxHasher::default();
        let text = entry.bytes.of(&scanned.block.bytes);
        hasher.write(text.get(STAMP_BYTES..).unwrap_or_default());
        let second = Timestamp(time.0 - time.0.rem_euclid(SECOND));
        (second, entry.thread, hasher.finish())
    }

    fn known(&mut self, key: Key) -> &mut Known {
        let order = &mut self.order;
        self.known.entry(key).or_insert_with(|| {
            order.push_back(key);
            Known::default()
        })
    }

    /// Notes that a record of the log was counted.
    pub(super) fn counted(&mut self, scanned: &Scanned, entry: &Entry) {
        let key = self.key(scanned, entry);
        let known = self.known(key);
        known.counted += 1;
        known.in_main += 1;
    }

    /// Notes that the err.log has a record.
    pub(super) fn in_err(&mut self, scanned: &Scanned, entry: &Entry) {
        let key = self.key(scanned, entry);
        self.known(key).in_err += 1;
    }

    /// Whether a record of another source is one more than was counted; it counts then.
    pub(super) fn is_more(&mut self, scanned: &Scanned, entry: &Entry) -> bool {
        let key = self.key(scanned, entry);
        let known = self.known(key);
        let source = (scanned.artifact, scanned.source.stream);
        let of_source = known.seen.iter().position(|(of, _)| *of == source);
        let at = of_source.unwrap_or_else(|| {
            known.seen.push((source, 0));
            known.seen.len() - 1
        });
        known.seen[at].1 += 1;
        let is_more = known.seen[at].1 > known.expected(scanned);
        known.counted += u32::from(is_more);
        is_more
    }

    /// Takes note of how far a source was read.
    pub(super) fn reach(&mut self, scanned: &Scanned) {
        self.now = self.now.max(scanned.scan.opened);
    }

    /// Takes the next block of a view.
    pub(super) fn view(&mut self, scanned: &Arc<Scanned>, fold: &mut Fold<'_>) {
        fold.view_block(scanned);
        self.waiting.push(Waiting::new(scanned));
        if scanned.source.is_held {
            for entry in &scanned.scan.entries {
                // Not in the order of forgetting: a late one would keep all before it.
                let key = self.key(scanned, entry);
                self.known.entry(key).or_default().is_awaited = true;
            }
        } else {
            self.reach(scanned);
        }
        self.settle(fold);
    }

    /// Counts what has waited long enough, and forgets what is past.
    pub(super) fn settle(&mut self, fold: &mut Fold<'_>) {
        let Some(now) = self.now else { return };
        for mut waiting in std::mem::take(&mut self.waiting) {
            // Where the clock was set back, the log has a record later than its stamp says, and all of it: what was taken may be cut.
            let is_held = waiting.scanned.source.is_held;
            let waits =
                |entry: &Entry| is_held || entry.time.is_some_and(|at| at.0 + WAIT >= now.0);
            while waiting.next().is_some_and(|entry| !waits(entry)) {
                self.count(&mut waiting, fold);
            }
            if waiting.next().is_some() {
                self.waiting.push(waiting);
            }
        }
        while let Some(key) = self.order.front().filter(|key| key.0.0 + MEMORY < now.0) {
            if self.known.get(key).is_none_or(|known| !known.is_awaited) {
                self.known.remove(key);
            }
            self.order.pop_front();
        }
    }

    /// All sources have ended: what still waits counts.
    pub(super) fn finish(mut self, fold: &mut Fold<'_>) {
        for mut waiting in std::mem::take(&mut self.waiting) {
            while waiting.next().is_some() {
                self.count(&mut waiting, fold);
            }
        }
    }

    /// Counts the next entry of a block if it is one more than was counted.
    fn count(&mut self, waiting: &mut Waiting, fold: &mut Fold<'_>) {
        if let Some(entry) = waiting.next()
            && self.is_more(&waiting.scanned, entry)
        {
            fold.single(&waiting.scanned, entry, false);
        }
        waiting.done += 1;
    }
}
