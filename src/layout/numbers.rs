//! What the numbers of segments and the file beside them say: which segments should be there, and which of their records count.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use crate::parsers::wal::{Extent, Format, SegmentName};
use crate::vocab::{Lsn, LsnRange};

use super::check::Judge;
use super::folder::{Folder, SegmentFile};
use super::model::{NoteKind, ProblemKind, Unread};

/// Bytes of a ledger; larger ones are not read.
const LEDGER_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// The file beside the segments that says which of their records count.
pub(super) struct Ledger {
    /// What it says of each segment that it names, in its order.
    extents: Vec<Extent>,
    /// Their places by the segments' numbers.
    places: BTreeMap<u64, usize>,
}

impl Ledger {
    /// Of several statements about one segment the first counts.
    fn new(all: Vec<Extent>) -> Self {
        let mut places = BTreeMap::new();
        let mut extents = Vec::new();
        for extent in all {
            if let Some(seq) = extent.name.seq
                && let Entry::Vacant(free) = places.entry(seq)
            {
                free.insert(extents.len());
                extents.push(extent);
            }
        }
        Self { extents, places }
    }

    /// Whether it names a segment.
    pub(super) fn names(&self, name: SegmentName) -> bool {
        name.seq.is_some_and(|seq| self.places.contains_key(&seq))
    }

    /// What it says of the segment with a number.
    fn of(&self, seq: u64) -> Option<&Extent> {
        self.extents.get(*self.places.get(&seq)?)
    }
}

/// What the ledger says, or why it says nothing.
pub(super) fn ledger(folder: &Folder) -> Result<Ledger, Option<Unread>> {
    let (Some(source), Format::Known(layout)) = (&folder.ledger, &folder.format) else {
        return Err(None);
    };
    let Some((file, read)) = layout.ledger else {
        return Err(None);
    };
    let extents = source.whole(LEDGER_BYTES_MAX).and_then(|bytes| {
        read(&bytes).ok_or_else(|| std::io::Error::other("it is not what it should be"))
    });
    extents.map(Ledger::new).map_err(|error| {
        Some(Unread {
            path: folder.path.join(file).display().to_string(),
            detail: error.to_string(),
        })
    })
}

impl Judge<'_> {
    /// Numbered segments leave none out, unless the numbers come from a counter that others use too.
    pub(super) fn missing_numbers(&mut self, n: usize) {
        let name = |n: usize| self.segments.get(n).map(|scanned| scanned.name);
        let (Some(before), Some(here)) = (n.checked_sub(1).and_then(name), name(n)) else {
            return;
        };
        let (Some(last), Some(next)) = (before.seq, here.seq) else {
            return;
        };
        let is_other = self.rules.is_by_term && before.term != here.term;
        if next <= last.saturating_add(1) || is_other {
            return;
        }
        if self.rules.is_sparse {
            self.is_sparse = true;
            return;
        }
        // Where the number is a place, what is missing is a range of positions, and this problem tells it.
        let from = here
            .spacing
            .and_then(|spacing| spacing.checked_mul(last + 1));
        if from.is_some() && self.is_behind_end(n) {
            return;
        }
        let list = missing(last + 1, next - 1, |number| {
            self.format.numbered(number, here)
        });
        let segment = &self.segments[n].segment;
        let lsn = from.map(Lsn).or(segment.first_lsn).or(segment.name_lsn);
        let belongs_in = self.format.numbered(last + 1, here);
        let problem = self.damage(
            ProblemKind::MissingSegment,
            n,
            None,
            format!("{list}, and the segments before and behind are there"),
        );
        (problem.lsn, problem.belongs_in) = (lsn, belongs_in);
        if from.is_some() {
            self.loss = Some(self.problems.len() - 1);
        }
    }

    /// Whether no segment from here on has a record of the log.
    pub(super) fn is_behind_end(&self, n: usize) -> bool {
        let term = self.segments[n].name.term;
        self.last_filled.get(&term).is_none_or(|&last| last < n)
    }

    /// Whether a segment is the last one of the log, behind which nothing has to be.
    pub(super) fn is_last(&self, n: usize) -> bool {
        let is_end = n + 1 == self.segments.len();
        is_end || self.rules.is_made_ahead && self.is_behind_end(n + 1)
    }

    /// Notes once that numbers are left out where that says nothing.
    pub(super) fn sparse(&mut self) {
        if self.is_sparse {
            let why = "the numbers of the segments leave some out, as they do in a sound log of this system";
            self.note(NoteKind::NumberHole, None, None, why.to_owned());
        }
    }

    /// What the ledger says of the segments: which of them it knows, and which of their records count.
    pub(super) fn extents(&mut self) {
        let Some(ledger) = self.ledger.take() else {
            return;
        };
        let file = self.ledger_file();
        let places: BTreeMap<u64, usize> = self
            .segments
            .iter()
            .enumerate()
            .filter_map(|(n, scanned)| Some((scanned.name.seq?, n)))
            .collect();
        let told: BTreeSet<usize> = self.problems.iter().map(|it| it.segment).collect();
        for (n, extent) in ledger.extents.iter().enumerate() {
            match extent.name.seq.and_then(|seq| places.get(&seq)) {
                Some(&at) => self.extent(at, extent, n == 0, told.contains(&at), file),
                None => self.unfound(extent, file),
            }
        }
        self.ledger = Some(ledger);
    }

    /// Notes segments that the ledger does not name.
    pub(super) fn unnamed(&mut self, segments: &[&SegmentFile]) {
        let file = self.ledger_file();
        for segment in segments {
            let why = format!("{file} does not name it: the system removes it at its next start");
            self.note(NoteKind::Info, Some(segment.file.clone()), None, why);
        }
    }

    fn ledger_file(&self) -> &'static str {
        match self.format {
            Format::Known(layout) => layout.ledger.map_or("", |(file, _)| file),
            Format::Declared(_) => "",
        }
    }

    fn extent(&mut self, n: usize, extent: &Extent, is_first: bool, is_told: bool, file: &str) {
        let segment = &self.segments[n].segment;
        let (name, first, last) = (segment.file.clone(), segment.first_lsn, segment.max_lsn);
        if is_first && first.is_some_and(|first| first < extent.first) {
            let why = format!(
                "{file} says that the log begins at {}; what stands before it was given up",
                self.show(extent.first)
            );
            self.note(
                NoteKind::HeadTruncated,
                Some(name.clone()),
                Some(extent.first),
                why,
            );
        }
        let beyond = extent
            .last
            .zip(last)
            .and_then(|(end, last)| LsnRange::new(end.next(), last));
        if let Some(beyond) = beyond {
            let why = format!(
                "{file} says that the segment ends before them: {} were given up",
                self.format.notation().show_range(beyond)
            );
            self.note(
                NoteKind::RecordsBeyondMaxIndex,
                Some(name),
                Some(beyond.first),
                why,
            );
        }
        if let Some(end) = extent
            .last
            .filter(|&end| last.is_none_or(|last| last < end))
        {
            let from = last.map_or(extent.first, Lsn::next);
            if is_told || from > end {
                return;
            }
            let detail = format!(
                "{file} says that the segment ends at {}, and {} are not there",
                self.show(end),
                self.format.notation().show_range(LsnRange {
                    first: from,
                    last: end
                })
            );
            let problem = self.damage(ProblemKind::MetadataConflict, n, None, detail);
            (problem.lsn, problem.lsn_to) = (Some(from), Some(end));
        }
    }

    /// A segment that is not there although it has to be.
    fn unfound(&mut self, extent: &Extent, file: &str) {
        let base = extent.name.lsn.unwrap_or(extent.first);
        let behind = self
            .segments
            .partition_point(|scanned| scanned.name.seq <= extent.name.seq);
        let n = behind.min(self.segments.len().saturating_sub(1));
        let last = extent.last.map_or_else(String::new, |last| {
            format!(", with the positions up to {}", self.show(last))
        });
        let id = extent.name.seq.unwrap_or_default();
        let detail = format!(
            "{file} names a segment {id} that begins at {}{last}, and it is not there",
            self.show(base)
        );
        let problem = self.damage(ProblemKind::MissingSegment, n, None, detail);
        (problem.lsn, problem.lsn_to) = (Some(extent.first), extent.last);
        let lost = extent
            .last
            .and_then(|last| LsnRange::new(extent.first, last));
        self.lost.extend(lost);
    }

    /// Whether the ledger says that a segment's records from a position on do not count.
    pub(super) fn is_given_up(&self, n: Option<usize>, lsn: Lsn) -> bool {
        let seq = n
            .and_then(|n| self.segments.get(n))
            .and_then(|scanned| scanned.name.seq);
        let extent = self
            .ledger
            .as_ref()
            .and_then(|ledger| ledger.of(seq?))
            .and_then(|extent| extent.last);
        extent.is_some_and(|last| lsn > last)
    }
}

/// `000013 is missing`, `4 to 8 are missing`, by name where the numbers give one.
pub(super) fn missing(first: u64, last: u64, name: impl Fn(u64) -> Option<String>) -> String {
    let shown = |number| name(number).unwrap_or_else(|| format!("number {number}"));
    if first == last {
        return format!("{} is missing", shown(first));
    }
    let join = if last == first + 1 { "and" } else { "to" };
    match (name(first), name(last)) {
        (Some(first), Some(last)) => format!("{first} {join} {last} are missing"),
        _ => format!("numbers {first} {join} {last} are missing"),
    }
}
