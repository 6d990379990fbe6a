//! The checker: every segment in order, every fault and every tail against what the system holds true.

use std::collections::BTreeMap;

use crate::parsers::wal::{Fault, FaultKind, Format, Tail};
use crate::vocab::{Lsn, LsnRange};

use super::consequence;
use super::folder::Folder;
use super::log::Log;
use super::model::{Note, NoteKind, Problem, ProblemKind, Severity, Stretch, Wal};
use super::order::{Hole, Side};
use super::rules::{Naming, Residue, Rules, Where};
use super::scan::{self, Item, Scanned};

/// Problems of one WAL that are listed.
const PROBLEMS_MAX: usize = 10_000;
/// Notes of one WAL that are listed.
const NOTES_MAX: usize = 10_000;
/// Files beside the segments that are named one by one.
const OTHERS_MAX: usize = 20;

/// Reads and judges one folder's WAL.
pub fn check(folder: &Folder) -> Wal {
    let pass = scan::pass(folder);
    let identity = identity(&pass.segments);
    let mut judge = Judge {
        rules: &folder.rules,
        format: &folder.format,
        snapshots: &folder.snapshots,
        segments: &pass.segments,
        identity: identity.as_deref(),
        log: Log::default(),
        side: None,
        sides: Vec::new(),
        holes: Vec::new(),
        in_snapshot: Vec::new(),
        lost: Vec::new(),
        loss: None,
        mismatched: None,
        unlisted: 0,
        problems: Vec::new(),
        notes: Vec::new(),
    };
    judge.others(&folder.others);
    for n in 0..pass.segments.len() {
        judge.segment(n);
    }
    let missing = judge.settle();
    let mut wal = judge.wal(folder, missing);
    wal.unread = pass.unread;
    wal.identity = identity;
    wal.segments = pass
        .segments
        .into_iter()
        .map(|scanned| scanned.segment)
        .collect();
    for problem in &mut wal.problems {
        problem.consequence = consequence::of(problem, &wal.layout, wal.notation, &wal.segments);
    }
    wal
}

/// Everything known while the segments are gone through.
pub(super) struct Judge<'a> {
    pub(super) rules: &'a Rules,
    pub(super) format: &'a Format,
    pub(super) snapshots: &'a [(Lsn, String)],
    pub(super) segments: &'a [Scanned],
    /// Which log most segments say they belong to.
    pub(super) identity: Option<&'a str>,
    pub(super) log: Log,
    /// Misfiled records that may go on.
    pub(super) side: Option<Side>,
    pub(super) sides: Vec<Side>,
    /// Positions left out, to be judged when all segments are known.
    pub(super) holes: Vec<Hole>,
    pub(super) in_snapshot: Vec<LsnRange>,
    /// Positions lost to a fault.
    pub(super) lost: Vec<LsnRange>,
    /// The problem that explains positions left out before the next segment.
    pub(super) loss: Option<usize>,
    /// The last segment that does not begin with its name's position.
    pub(super) mismatched: Option<usize>,
    /// Problems beyond the number that is listed.
    unlisted: u64,
    pub(super) problems: Vec<Problem>,
    pub(super) notes: Vec<Note>,
}

/// The log that most segments say they belong to; of two with as many segments, the first by name.
fn identity(segments: &[Scanned]) -> Option<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for identity in segments
        .iter()
        .filter_map(|scanned| scanned.scan.identity.as_deref())
    {
        *counts.entry(identity).or_default() += 1;
    }
    let most = counts.values().copied().max()?;
    counts
        .iter()
        .find(|&(_, &count)| count == most)
        .map(|(identity, _)| (*identity).to_owned())
}

/// The end of a segment that is not in order.
struct End {
    kind: ProblemKind,
    /// What it is called where it is legal.
    note: NoteKind,
    residue: Residue,
    offset: u64,
    detail: String,
}

impl Judge<'_> {
    fn others(&mut self, others: &[String]) {
        let is_leftover = |file: &str| match self.format {
            Format::Known(layout) => (layout.is_leftover)(file),
            Format::Declared(_) => false,
        };
        for file in others.iter().take(OTHERS_MAX) {
            let why = if is_leftover(file) {
                "the system itself leaves such files here"
            } else {
                "not called as a segment is"
            };
            self.note(
                NoteKind::IgnoredFile,
                Some(file.clone()),
                None,
                why.to_owned(),
            );
        }
        if let Some(more) = others
            .len()
            .checked_sub(OTHERS_MAX)
            .filter(|&more| more > 0)
        {
            self.note(
                NoteKind::IgnoredFile,
                None,
                None,
                format!("and {more} more files that are no segments"),
            );
        }
    }

    fn segment(&mut self, n: usize) {
        let scanned = &self.segments[n];
        self.missing_numbers(n);
        for fault in &scanned.scan.faults {
            match fault.kind {
                FaultKind::Header => {
                    self.damage(
                        ProblemKind::BadHeader,
                        n,
                        Some(fault.offset),
                        fault.detail.clone(),
                    )
                    .lsn = scanned.name.lsn;
                    self.loss = Some(self.problems.len().saturating_sub(1));
                }
                FaultKind::Identity => {
                    self.damage(
                        ProblemKind::MetadataConflict,
                        n,
                        Some(fault.offset),
                        fault.detail.clone(),
                    );
                }
                FaultKind::Chain => {
                    let lsn = self.log.next();
                    self.damage(
                        ProblemKind::ChainBreak,
                        n,
                        Some(fault.offset),
                        fault.detail.clone(),
                    )
                    .lsn = lsn;
                }
                FaultKind::Empty
                | FaultKind::HeaderTorn
                | FaultKind::Checksum
                | FaultKind::Corrupt
                | FaultKind::Torn
                | FaultKind::ZeroRun
                | FaultKind::Unreadable => {}
            }
        }
        if self.is_foreign(n) {
            return;
        }
        self.header(n);
        for item in &scanned.items {
            match item {
                Item::Run(run) => self.run(n, *run),
                Item::Snapshot { lsn, term, offset } => self.snapshot(n, *lsn, *term, *offset),
            }
        }
        self.close_side();
        if let Some(ahead) = &scanned.ahead {
            let show = |lsn| self.format.notation().show(lsn);
            let detail = format!(
                "a state record commits {}, the log before it ends at {}",
                show(ahead.commit),
                show(ahead.last)
            );
            let problem = self.damage(ProblemKind::MetadataConflict, n, Some(ahead.offset), detail);
            (problem.lsn, problem.lsn_to) = (Some(ahead.last.next()), Some(ahead.commit));
        }
        self.ends(n);
    }

    /// Numbered segments leave none out.
    fn missing_numbers(&mut self, n: usize) {
        let seq = |n: usize| self.segments.get(n).and_then(|scanned| scanned.name.seq);
        let (Some(before), Some(here)) = (n.checked_sub(1).and_then(seq), seq(n)) else {
            return;
        };
        if here <= before + 1 {
            return;
        }
        let list = if here == before + 2 {
            format!("number {}", before + 1)
        } else {
            format!("numbers {} to {}", before + 1, here - 1)
        };
        let lsn = self.segments[n]
            .segment
            .first_lsn
            .or(self.segments[n].segment.name_lsn);
        self.damage(
            ProblemKind::MissingSegment,
            n,
            None,
            format!("no segment has {list}, which stood before this one"),
        )
        .lsn = lsn;
    }

    /// A segment of another log is not this one's: what it holds counts for nothing here.
    fn is_foreign(&mut self, n: usize) -> bool {
        let scanned = &self.segments[n];
        let (Some(here), Some(log)) = (scanned.scan.identity.as_deref(), self.identity) else {
            return false;
        };
        if here == log {
            return false;
        }
        let (from, to) = (scanned.segment.first_lsn, scanned.segment.last_lsn);
        let problem = self.damage(
            ProblemKind::MetadataConflict,
            n,
            Some(0),
            format!("the segment is of {here}, the others are of {log}"),
        );
        (problem.lsn, problem.lsn_to) = (from, to);
        self.loss = Some(self.problems.len() - 1);
        true
    }

    /// The header's own first position: judged only where it is not the name's wrong, which the first record tells.
    fn header(&mut self, n: usize) {
        let scanned = &self.segments[n];
        let (Some(header), Some(name)) = (scanned.scan.header_lsn, scanned.name.lsn) else {
            return;
        };
        let first = scanned.segment.first_lsn;
        if header != name && first.is_none_or(|first| first != header) {
            let show = |lsn| self.format.notation().show(lsn);
            let detail = format!(
                "the header says that the segment begins at {}, its name says {}",
                show(header),
                show(name)
            );
            self.damage(ProblemKind::BadHeader, n, Some(0), detail).lsn = Some(header);
        }
    }

    /// What stands behind the last good record of a segment.
    fn ends(&mut self, n: usize) {
        let scanned = &self.segments[n];
        let is_last = n + 1 == self.segments.len();
        if scanned.is_growing {
            let why = format!(
                "its size changed while it was read; checked up to offset {}",
                scanned.segment.size
            );
            self.note(
                NoteKind::Info,
                Some(scanned.segment.file.clone()),
                None,
                why,
            );
        }
        match scanned
            .scan
            .faults
            .iter()
            .find(|fault| fault.kind.ends_segment())
        {
            Some(fault) => self.fault(n, fault, is_last),
            None => self.tail(n, is_last),
        }
        if scanned.segment.entries == 0 && scanned.segment.records > 0 {
            self.note(
                NoteKind::NoRecords,
                Some(scanned.segment.file.clone()),
                None,
                "it has a header and no records of the log".to_owned(),
            );
        }
        let is_short = scanned
            .segment
            .max_lsn
            .zip(scanned.name.last)
            .is_some_and(|(max, last)| max < last);
        if is_short && !is_last && self.continues(n) {
            let why =
                "it was closed early, or not renamed when it was closed; the next one goes on"
                    .to_owned();
            self.note(
                NoteKind::ShortOfNameEnd,
                Some(scanned.segment.file.clone()),
                scanned.segment.max_lsn,
                why,
            );
        }
    }

    fn fault(&mut self, n: usize, fault: &Fault, is_last: bool) {
        let torn = self.is_legal(self.rules.torn_tail, n, is_last);
        let residue = |is_legal, legal| if is_legal { legal } else { Residue::Damage };
        let (kind, residue) = match fault.kind {
            FaultKind::Torn if is_last => (ProblemKind::TornTail, residue(torn, Residue::Crash)),
            FaultKind::Torn => (ProblemKind::TornMiddle, residue(torn, Residue::Legal)),
            FaultKind::Checksum => (
                ProblemKind::Checksum,
                residue(
                    self.rules.is_bad_record_torn && torn && !is_last,
                    Residue::Legal,
                ),
            ),
            FaultKind::Corrupt => (
                ProblemKind::CorruptRecord,
                residue(
                    self.rules.is_bad_record_torn && torn && !is_last,
                    Residue::Legal,
                ),
            ),
            FaultKind::ZeroRun if is_last => (
                ProblemKind::ZeroTail,
                residue(self.rules.torn_tail != Where::Never, Residue::Crash),
            ),
            FaultKind::ZeroRun => (ProblemKind::ZeroTail, residue(torn, Residue::Legal)),
            FaultKind::HeaderTorn if is_last && self.rules.torn_header == Residue::Crash => {
                (ProblemKind::TornTail, Residue::Crash)
            }
            FaultKind::HeaderTorn => (ProblemKind::BadHeader, Residue::Damage),
            FaultKind::Empty if is_last => (ProblemKind::EmptyLastSegment, self.rules.empty_last),
            FaultKind::Empty => (ProblemKind::EmptySegment, Residue::Damage),
            FaultKind::Unreadable => {
                self.loss = Some(usize::MAX);
                return;
            }
            FaultKind::Header | FaultKind::Identity | FaultKind::Chain => return,
        };
        let note = if fault.kind == FaultKind::Empty {
            NoteKind::EmptySegment
        } else {
            NoteKind::TornTailOfClosedSegment
        };
        self.report(
            n,
            End {
                kind,
                note,
                residue,
                offset: fault.offset,
                detail: fault.detail.clone(),
            },
        );
    }

    fn tail(&mut self, n: usize, is_last: bool) {
        let scanned = &self.segments[n];
        let offset = scanned.scan.end_offset;
        match scanned.scan.tail {
            Tail::Exact | Tail::Torn | Tail::Bad | Tail::OpenStream => {}
            // A reader goes on with the next file at the first zero length, so a tail that was not cut off costs nothing.
            Tail::Zeros(count) if self.rules.is_tail_cut && !is_last => {
                let why = format!(
                    "a closed segment keeps {count} zero bytes that are cut off when it is closed in order"
                );
                self.note(
                    NoteKind::Info,
                    Some(scanned.segment.file.clone()),
                    None,
                    why,
                );
            }
            Tail::Zeros(_) if self.is_legal(self.rules.zero_tail, n, is_last) => {}
            Tail::Zeros(count) => {
                let residue = if is_last && self.rules.torn_tail != Where::Never {
                    Residue::Crash
                } else {
                    Residue::Damage
                };
                let detail = format!("{count} zero bytes follow the last record");
                self.report(
                    n,
                    End {
                        kind: ProblemKind::ZeroTail,
                        note: NoteKind::Info,
                        residue,
                        offset,
                        detail,
                    },
                );
            }
            Tail::DataAfterZeros { zeros, at } => {
                let detail = format!(
                    "after {zeros} zero bytes, which end the segment, other bytes stand from offset {at} on"
                );
                let residue = match (scanned.scan.behind, is_last) {
                    (None, true) => self.rules.data_after_zeros,
                    (None, false) if self.rules.data_after_zeros == Residue::Legal => {
                        Residue::Legal
                    }
                    (None, false) | (Some(_), _) => Residue::Damage,
                };
                let kind = if residue == Residue::Crash {
                    ProblemKind::TornTail
                } else {
                    ProblemKind::CorruptRecord
                };
                self.report(
                    n,
                    End {
                        kind,
                        note: NoteKind::DataAfterZeros,
                        residue,
                        offset,
                        detail,
                    },
                );
            }
        }
    }

    /// Writes down the end of a segment as what it is: a note, residue or damage.
    fn report(&mut self, n: usize, end: End) {
        let lsn = self
            .side_next(n)
            .or(self.log.next())
            .or(self.segments[n].name.lsn);
        let severity = match end.residue {
            Residue::Damage => Severity::Damage,
            Residue::Crash => Severity::CrashResidue,
            Residue::Legal => {
                let file = self.segments[n].segment.file.clone();
                self.note(
                    end.note,
                    Some(file),
                    lsn,
                    format!("{} (offset {})", end.detail, end.offset),
                );
                return;
            }
        };
        let behind = self.segments[n].scan.behind;
        let detail = match behind {
            Some(behind) => {
                let range = LsnRange {
                    first: behind.first.min(behind.last),
                    last: behind.last.max(behind.first),
                };
                let range = self.format.notation().show_range(range);
                format!(
                    "{}; behind it {} intact records, {range}, from offset {}",
                    end.detail, behind.records, behind.offset
                )
            }
            None => end.detail,
        };
        let problem = self.problem(end.kind, severity, n, Some(end.offset), detail);
        problem.lsn = lsn;
        problem.lsn_to = behind
            .map(|behind| behind.last)
            .filter(|&last| Some(last) > lsn);
        self.loss = Some(self.problems.len().saturating_sub(1));
    }

    fn is_legal(&self, rule: Where, n: usize, is_last: bool) -> bool {
        match rule {
            Where::Never => false,
            Where::Last => is_last,
            Where::IfNextContinues => is_last || self.continues(n),
            Where::Always => true,
        }
    }

    /// Whether the next segment goes on right behind what the log has so far.
    fn continues(&self, n: usize) -> bool {
        let Some(next) = self.segments.get(n + 1) else {
            return false;
        };
        let first = next.segment.first_lsn.or(next.name.lsn);
        first.is_some() && first == self.log.next()
    }

    /// Adds damage and returns it for the positions to be filled in.
    pub(super) fn damage(
        &mut self,
        kind: ProblemKind,
        n: usize,
        offset: Option<u64>,
        detail: String,
    ) -> &mut Problem {
        self.problem(kind, Severity::Damage, n, offset, detail)
    }

    fn problem(
        &mut self,
        kind: ProblemKind,
        severity: Severity,
        segment: usize,
        offset: Option<u64>,
        detail: String,
    ) -> &mut Problem {
        // A hostile log can have a problem a record. Past the limit the last one is written over, and the report says how many are not
        // listed; damage among the listed ones keeps the verdict.
        if self.problems.len() == PROBLEMS_MAX {
            self.problems.pop();
            self.unlisted += 1;
        }
        let at = self.problems.len();
        self.problems.push(Problem {
            kind,
            severity,
            segment,
            offset,
            lsn: None,
            lsn_to: None,
            expected: None,
            belongs_in: None,
            detail,
            consequence: String::new(),
        });
        &mut self.problems[at]
    }

    pub(super) fn note(
        &mut self,
        kind: NoteKind,
        segment: Option<String>,
        lsn: Option<Lsn>,
        why: String,
    ) {
        if self.notes.len() < NOTES_MAX {
            self.notes.push(Note {
                kind,
                segment,
                lsn,
                why,
            });
        }
    }

    /// The finished model, without what only the caller has.
    fn wal(mut self, folder: &Folder, missing: Vec<LsnRange>) -> Wal {
        self.problems
            .sort_by_key(|problem| (problem.segment, problem.offset, problem.kind));
        if self.unlisted > 0 {
            self.notes.push(Note {
                kind: NoteKind::Info,
                segment: None,
                lsn: None,
                why: format!("{} more problems are not listed", self.unlisted),
            });
        }
        let placed = self.placed();
        let found = LsnRange::join(placed.iter().map(|(range, _)| *range).collect());
        let mut misfiled: Vec<(LsnRange, usize)> = self
            .sides
            .iter()
            .filter(|side| side.is_hidden)
            .map(|side| (side.range, side.segment))
            .collect();
        misfiled.extend(
            self.log
                .pieces()
                .filter_map(|piece| Some((piece.range, piece.segment?)))
                .flat_map(|(range, segment)| {
                    range
                        .without(&found)
                        .into_iter()
                        .map(move |range| (range, segment))
                }),
        );
        misfiled.sort_unstable();
        let mut stretches: Vec<Stretch> = self
            .log
            .pieces()
            .map(|piece| Stretch {
                range: piece.range,
                term: piece.term,
            })
            .collect();
        stretches.extend(
            self.sides
                .iter()
                .filter(|side| side.is_hidden)
                .map(|side| Stretch {
                    range: side.range,
                    term: side.term,
                }),
        );
        stretches.sort_by_key(|stretch| stretch.range);
        let notation = self.format.notation();
        Wal {
            path: folder.path.display().to_string(),
            node: folder.node.clone(),
            run: folder.run.clone(),
            layout: self.format.id().to_owned(),
            notation,
            identity: None,
            records: self
                .segments
                .iter()
                .map(|scanned| scanned.segment.records)
                .sum(),
            segments: Vec::new(),
            found,
            placed,
            misfiled,
            missing,
            stretches,
            in_snapshot: LsnRange::join(self.in_snapshot),
            problems: self.problems,
            notes: self.notes,
            unread: Vec::new(),
        }
    }

    /// The positions that a reader finds where the names send it, with the segment.
    fn placed(&self) -> Vec<(LsnRange, usize)> {
        let ranges = self.log.pieces().filter_map(|piece| {
            let segment = piece.segment?;
            if self.rules.naming != Naming::First {
                return Some((piece.range, segment));
            }
            let name = self.segments[segment].name.lsn?;
            let next = self
                .segments
                .get(segment + 1)
                .and_then(|scanned| scanned.name.lsn);
            let last = next.map_or(piece.range.last, |next| piece.range.last.min(next.before()));
            Some((LsnRange::new(piece.range.first.max(name), last)?, segment))
        });
        ranges.collect()
    }
}
