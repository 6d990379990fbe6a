//! What scanning a block gives: counts of all its records, and an entry for whatever is more than a count.

use super::{GrepCounts, Problem};
use crate::record::Record;
use crate::signals::Span;
use crate::time::{DAY, Timestamp};
use crate::vocab::Level;

/// What one block held.
#[derive(Debug, Default)]
pub struct Scan {
    /// Lines, a last one without an end included.
    pub lines: u64,
    /// Records, all of them.
    pub records: u64,
    /// Records by [`Level::index`], entries included.
    pub levels: [u64; Level::ALL.len()],
    /// Lines that continue a record.
    pub continuation_lines: u64,
    /// Lines before the first record of the block that belong to none.
    pub unparsed_lines: u64,
    /// The first of these, from 0.
    pub unparsed_line: u64,
    /// Smallest and largest stamp of records that are not suspect.
    pub span: Option<(Timestamp, Timestamp)>,
    /// The stamp of the first record that has one, as written.
    pub first_time: Option<Timestamp>,
    /// The stamp of the first record that is not suspect.
    pub opened: Option<Timestamp>,
    /// The stamp of the last record that is not suspect.
    pub last_time: Option<Timestamp>,
    /// Whether a stamp names its zone, and whether one does not.
    pub zones: (bool, bool),
    /// The first and the last stamp in the order of lines.
    pub stamps: Option<(Timestamp, Timestamp)>,
    /// The noteworthy records in order.
    pub entries: Vec<Entry>,
    /// What was found in them; entries point into it.
    pub occurrences: Vec<Occurrence>,
    /// The fields of all occurrences as spans of the block; occurrences point into it.
    pub spans: Vec<Span>,
    /// Codes mentioned further in; entries point into it.
    pub nested: Vec<u32>,
    /// What stands beside the entries with a signal that have no stamp, in order.
    pub neighbors: Vec<Neighbors>,
    /// Near misses: signal and entry.
    pub near_misses: Vec<(u16, u32)>,
    /// What is wrong with the bytes, with lines relative to the block.
    pub problems: Vec<Problem>,
    /// The version an exception names, if any does.
    pub version: Option<Span>,
    /// What a plain search for a signal's text finds.
    pub grep: GrepCounts,
    /// Stretches without a record of at least [`super::GAP`] between two of them.
    pub gaps: Vec<(Timestamp, Timestamp)>,
}

/// A record worth more than a count: worse than Information, or with a signal, or an exception, or suspect.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Its stamp.
    pub time: Option<Timestamp>,
    /// Its level.
    pub level: Level,
    /// Its thread.
    pub thread: u64,
    /// Its line in the block, from 0.
    pub line: u32,
    /// Its bytes in the block.
    pub bytes: Span,
    /// Its message on the head's line, in the block.
    pub message: Span,
    /// A hash of its bytes, where the log has a twin.
    pub hash: u64,
    /// Its exception's code and family.
    pub code: Option<(u32, Option<u16>)>,
    /// Its codes further in, in [`Scan::nested`].
    pub nested: (u32, u32),
    /// Its signals, in [`Scan::occurrences`].
    pub occurrences: (u32, u32),
    /// Whether the file ends inside it.
    pub torn: bool,
    /// Whether its stamp says that it may be forged.
    pub suspect: bool,
    /// Whether a query before has a quotation open, so that this record may be its text.
    pub in_open_query: bool,
    /// The node its line names, in the block; empty where the path does.
    pub node: Span,
    /// Its logger, in the block.
    pub logger: Span,
}

/// Between which stamps of its block a record without one stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Neighbors {
    /// Its line in the block, from 0.
    pub line: u32,
    /// The last stamp before it.
    pub after: Option<Timestamp>,
    /// The first stamp behind it.
    pub before: Option<Timestamp>,
}

/// A signal found in an entry.
#[derive(Debug, Clone, Copy)]
pub struct Occurrence {
    /// The index of the signal.
    pub signal: u16,
    /// Its fields, in [`Scan::spans`].
    pub fields: (u32, u32),
}

impl Scan {
    /// The fields of an occurrence as spans of the block, in the order of its signal's.
    #[inline]
    pub fn fields_of(&self, occurrence: &Occurrence) -> &[Span] {
        let (from, to) = occurrence.fields;
        self.spans
            .get(from as usize..to as usize)
            .unwrap_or_default()
    }

    /// Notes whether a record's stamp names its zone.
    pub(super) fn see_zone(&mut self, record: &Record<'_>) {
        if record.time.is_some() {
            self.zones.0 |= record.utc;
            self.zones.1 |= !record.utc;
        }
    }

    /// Moves every stamp by whole days: a log without dates goes on where the block before ended.
    pub fn postpone(&mut self, days: i64) {
        let by = |time: &mut Timestamp| time.0 += days * DAY;
        self.span
            .iter_mut()
            .for_each(|(low, high)| [low, high].into_iter().for_each(by));
        self.gaps
            .iter_mut()
            .for_each(|(from, to)| [from, to].into_iter().for_each(by));
        self.last_time.iter_mut().for_each(by);
        self.stamps
            .iter_mut()
            .for_each(|(first, last)| [first, last].into_iter().for_each(by));
        self.neighbors
            .iter_mut()
            .flat_map(|it| it.after.iter_mut().chain(&mut it.before))
            .for_each(by);
        self.entries
            .iter_mut()
            .filter_map(|entry| entry.time.as_mut())
            .for_each(by);
    }

    /// Widens the span by a stamp that is in no order with others.
    pub(super) fn widen(&mut self, time: Option<Timestamp>) {
        if let Some(time) = time {
            let (low, high) = self.span.unwrap_or((time, time));
            self.span = Some((low.min(time), high.max(time)));
        }
    }

    /// The signals of an entry.
    pub fn occurrences_of(&self, entry: &Entry) -> &[Occurrence] {
        let (from, to) = entry.occurrences;
        &self.occurrences[from as usize..to as usize]
    }

    /// The stamps beside an entry without one.
    pub fn neighbors_of(&self, entry: &Entry) -> (Option<Timestamp>, Option<Timestamp>) {
        let found = self
            .neighbors
            .binary_search_by_key(&entry.line, |it| it.line);
        let found = found.ok().and_then(|at| self.neighbors.get(at));
        found.map_or((None, None), |it| (it.after, it.before))
    }

    /// The further codes of an entry.
    pub fn nested_of(&self, entry: &Entry) -> &[u32] {
        let (from, to) = entry.nested;
        &self.nested[from as usize..to as usize]
    }
}
