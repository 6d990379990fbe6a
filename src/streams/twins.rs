//! A main log and the err.log that repeats its worse records, matched so that each record counts once.
//!
//! Both are read side by side in the order of their stamps. A record of the one is the record of the other if stamp and
//! bytes are equal; of equal records as many count as the log with more of them holds. What finds no twin within
//! [`SLACK`] of both logs' progress counts on its own. A record that the end of its file tears is matched by its head.
//!
//! Where a clock was set back, one of the logs may be far past that place when the other comes to it: what found no twin is
//! remembered for a while, and is the twin of what comes then.
//!
//! A record that a query's open quotation may have printed, and that the err.log should hold and does not, is forged.
//!
//! The main log's records count at once, and cite the main log. The err.log's wait until the main log has passed them.

use std::collections::VecDeque;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{Fold, Source, Views};
use crate::intake::Block;
use crate::scan::{Entry, Scan};
use crate::time::{SECOND, Timestamp};

/// How far apart the two logs may write the same record. Records reorder by milliseconds (26 ms was the most seen).
const SLACK: i64 = 10 * SECOND;

/// How many records without a twin are remembered of each log, for where its clock was set back.
const PASSED_MAX: usize = 64 << 10;

/// A scanned block with its place.
#[derive(Debug)]
pub struct Scanned {
    /// The index of the artifact.
    pub artifact: u32,
    /// The log that it is of.
    pub source: Source,
    /// The bytes.
    pub block: Block,
    /// The number of the block's first line, from 1.
    pub first_line: u64,
    /// What was found.
    pub scan: Scan,
}

type Key = (Timestamp, u64);

/// Records that found no twin, the last ones of a log.
#[derive(Debug, Default)]
struct Passed {
    counts: FxHashMap<Key, u32>,
    order: VecDeque<Key>,
}

impl Passed {
    fn note(&mut self, key: Key) {
        *self.counts.entry(key).or_default() += 1;
        self.order.push_back(key);
        if self.order.len() > PASSED_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            take_one(&mut self.counts, oldest);
        }
    }
}

/// The state of matching one pair of logs.
#[derive(Debug, Default)]
pub struct Twins {
    /// Records of the main log that wait for their copy: how many of each, and in order for dropping.
    main: FxHashMap<Key, u32>,
    main_order: VecDeque<(Key, u64)>,
    /// Records of the err.log that wait for their original, and how many of each have found it.
    err: VecDeque<(Arc<Scanned>, usize)>,
    err_waiting: FxHashMap<Key, u32>,
    err_matched: FxHashMap<Key, u32>,
    /// Records of the main log that may be a query's text, until the err.log has passed them.
    doubtful: VecDeque<(Arc<Scanned>, usize)>,
    /// Of each log what the other one has passed without a twin.
    passed_main: Passed,
    passed_err: Passed,
    main_at: Option<Timestamp>,
    err_at: Option<Timestamp>,
    /// The first stamp of the err.log: what is older it cannot hold.
    err_from: Option<Timestamp>,
    torn_main: Option<(Arc<Scanned>, usize)>,
    torn_err: Option<(Arc<Scanned>, usize)>,
    has_err: bool,
    /// Other views of the same records.
    views: Option<Views>,
}

impl Twins {
    /// Starts; `has_err` says whether there is an err.log to match at all, `views` whether there are exports of the records.
    pub fn new(has_err: bool, views: Option<Views>) -> Self {
        Self {
            has_err,
            views,
            ..Self::default()
        }
    }

    /// Takes the next block of an export.
    pub fn view(&mut self, scanned: &Arc<Scanned>, fold: &mut Fold<'_>) {
        if let Some(views) = &mut self.views {
            views.view(scanned, fold);
        }
    }

    /// Notes a record of the main log that counts.
    fn counted(&mut self, scanned: &Scanned, entry: &Entry) {
        if let Some(views) = &mut self.views {
            views.counted(scanned, entry);
        }
    }

    /// Whether a record that the err.log has is one more than was counted; of what the main log has, too, the answer is
    /// not asked.
    fn is_more(&mut self, scanned: &Scanned, entry: &Entry) -> bool {
        let views = self.views.as_mut();
        views.is_none_or(|views| views.is_more(scanned, entry))
    }

    /// Lets what waits in the views go on.
    fn pass_views(&mut self, scanned: &Scanned, fold: &mut Fold<'_>) {
        if let Some(views) = &mut self.views {
            views.reach(scanned);
            views.settle(fold);
        }
    }

    /// Takes the next block of the main log.
    pub fn main(&mut self, scanned: &Arc<Scanned>, fold: &mut Fold<'_>) {
        fold.block(scanned);
        if fold.nodes_in_lines() {
            for entry in &scanned.scan.entries {
                fold.single(scanned, entry, false);
            }
            return;
        }
        for (index, entry) in scanned.scan.entries.iter().enumerate() {
            self.counted(scanned, entry);
            if !self.has_err || !entry.level.may_be_in_err_log() {
                fold.entry(scanned, entry, false);
                continue;
            }
            if entry.torn {
                fold.withhold(scanned, entry);
                self.torn_main = Some((Arc::clone(scanned), index));
                continue;
            }
            if take_one(&mut self.passed_err.counts, key(entry)) {
                fold.withhold(scanned, entry);
                continue;
            }
            self.match_main(entry);
            if entry.in_open_query {
                fold.withhold(scanned, entry);
                self.doubtful.push_back((Arc::clone(scanned), index));
            } else {
                fold.entry(scanned, entry, false);
            }
        }
        self.main_at = scanned.scan.last_time.max(self.main_at);
        self.settle(fold);
        self.pass_views(scanned, fold);
    }

    /// Takes the next block of the err.log.
    pub fn err(&mut self, scanned: &Arc<Scanned>, fold: &mut Fold<'_>) {
        fold.err_block(scanned);
        if self.err_from.is_none() {
            self.err_from = scanned.scan.span.map(|(first, _)| first);
        }
        for (index, entry) in scanned.scan.entries.iter().enumerate() {
            if let Some(views) = &mut self.views {
                views.in_err(scanned, entry);
            }
            if !entry.level.may_be_in_err_log() {
                if self.is_more(scanned, entry) {
                    fold.single(scanned, entry, false);
                }
                continue;
            }
            self.settle_torn_main(scanned, entry);
            if entry.torn {
                self.torn_err = Some((Arc::clone(scanned), index));
                continue;
            }
            let key = key(entry);
            if take_one(&mut self.main, key) || take_one(&mut self.passed_main.counts, key) {
                self.is_more(scanned, entry);
                continue;
            }
            *self.err_waiting.entry(key).or_default() += 1;
            self.err.push_back((Arc::clone(scanned), index));
        }
        self.err_at = scanned.scan.last_time.max(self.err_at);
        self.settle(fold);
        self.pass_views(scanned, fold);
    }

    /// Both logs have ended: what still waits counts.
    pub fn finish(mut self, fold: &mut Fold<'_>) {
        while !self.doubtful.is_empty() {
            self.decide(fold);
        }
        self.main_at = None;
        for (scanned, index) in std::mem::take(&mut self.err) {
            self.settle_torn_main(&scanned, &scanned.scan.entries[index]);
            self.count_unless_matched(&scanned, index, fold);
        }
        if let Some((scanned, index)) = self.torn_main.take() {
            fold.single(&scanned, &scanned.scan.entries[index], false);
        }
        if let Some((scanned, index)) = self.torn_err.take()
            && !self
                .main_order
                .iter()
                .any(|(key, thread)| is_head_of(&scanned.scan.entries[index], *key, *thread))
        {
            fold.single(&scanned, &scanned.scan.entries[index], false);
        }
        if let Some(views) = self.views.take() {
            views.finish(fold);
        }
    }

    /// Takes the err.log's copy of a record of the main log out, or waits for it.
    fn match_main(&mut self, entry: &Entry) {
        let key = key(entry);
        if self.torn_err.as_ref().is_some_and(|(scanned, index)| {
            is_head_of(&scanned.scan.entries[*index], key, entry.thread)
        }) {
            self.torn_err = None;
            return;
        }
        if take_one(&mut self.err_waiting, key) {
            *self.err_matched.entry(key).or_default() += 1;
            return;
        }
        *self.main.entry(key).or_default() += 1;
        self.main_order.push_back((key, entry.thread));
    }

    /// A record of the err.log that begins with the main log's torn one is that record, whole.
    fn settle_torn_main(&mut self, scanned: &Scanned, entry: &Entry) {
        let same = self.torn_main.as_ref().is_some_and(|(torn, index)| {
            let torn_entry = &torn.scan.entries[*index];
            let text = torn_entry.bytes.of(&torn.block.bytes);
            torn_entry.time == entry.time && entry.bytes.of(&scanned.block.bytes).starts_with(text)
        });
        if same {
            self.torn_main = None;
        }
    }

    /// Counts and drops what the other log has passed.
    fn settle(&mut self, fold: &mut Fold<'_>) {
        while let (Some(main_at), Some((scanned, index))) = (self.main_at, self.err.front()) {
            let waits = scanned.scan.entries[*index]
                .time
                .is_some_and(|time| time.0 + SLACK >= main_at.0);
            if waits {
                break;
            }
            if let Some((scanned, index)) = self.err.pop_front()
                && self.count_unless_matched(&scanned, index, fold)
            {
                self.passed_err.note(key(&scanned.scan.entries[index]));
            }
        }
        while let (Some(err_at), Some((scanned, index))) = (self.err_at, self.doubtful.front()) {
            let time = scanned.scan.entries[*index].time;
            if time.is_some_and(|time| time.0 + SLACK >= err_at.0) {
                break;
            }
            self.decide(fold);
        }
        while let (Some(err_at), Some((key, _))) = (self.err_at, self.main_order.front()) {
            if key.0.0 + SLACK >= err_at.0 {
                break;
            }
            let key = *key;
            if take_one(&mut self.main, key) {
                self.passed_main.note(key);
            }
            self.main_order.pop_front();
        }
    }

    /// Counts the first doubtful record: as it is if the err.log holds it or begins after it, else as forged.
    fn decide(&mut self, fold: &mut Fold<'_>) {
        let Some((scanned, index)) = self.doubtful.pop_front() else {
            return;
        };
        let entry = &scanned.scan.entries[index];
        let begins = self.err_from.zip(entry.time);
        // An err.log without a record says that there was nothing to repeat.
        let covered = begins.is_none_or(|(from, at)| from.0 - SLACK <= at.0);
        let waits = self.main.contains_key(&key(entry));
        fold.single(&scanned, entry, covered && waits);
    }

    /// Counts a record of the err.log unless the main log has it; whether it has not.
    fn count_unless_matched(
        &mut self,
        scanned: &Arc<Scanned>,
        index: usize,
        fold: &mut Fold<'_>,
    ) -> bool {
        let entry = &scanned.scan.entries[index];
        let key = key(entry);
        if take_one(&mut self.err_matched, key) {
            self.is_more(scanned, entry);
            return false;
        }
        take_one(&mut self.err_waiting, key);
        fold.lacks(entry.time);
        if self.is_more(scanned, entry) {
            fold.single(scanned, entry, false);
        }
        true
    }
}

fn key(entry: &Entry) -> Key {
    (entry.time.unwrap_or(Timestamp(i64::MIN)), entry.hash)
}

/// Whether a torn record has the stamp and thread of another.
fn is_head_of(torn: &Entry, key: Key, thread: u64) -> bool {
    torn.time == Some(key.0) && torn.thread == thread
}

/// Takes one of `key` out; whether there was one.
fn take_one(counts: &mut FxHashMap<Key, u32>, key: Key) -> bool {
    let Some(count) = counts.get_mut(&key) else {
        return false;
    };
    *count -= 1;
    if *count == 0 {
        counts.remove(&key);
    }
    true
}
