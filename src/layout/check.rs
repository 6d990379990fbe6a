//! The checker: every segment in order, every fault and every tail against what the system holds true.

use std::collections::BTreeMap;

use crate::parsers::wal::{FaultKind, Format};
use crate::vocab::{Lsn, LsnRange, Term, several};

use super::consequence;
use super::folder::{Folder, SegmentFile};
use super::holes::Hole;
use super::log::Log;
use super::model::{Note, NoteKind, Problem, ProblemKind, Severity, Stretch, Wal};
use super::numbers::{self, Ledger};
use super::order::Side;
use super::rules::{Naming, Rules};
use super::scan::{self, Item, Scanned};

/// Problems of one WAL that are listed.
const PROBLEMS_MAX: usize = 10_000;
/// Notes of one WAL that are listed.
const NOTES_MAX: usize = 10_000;
/// Files beside the segments that are named one by one.
const OTHERS_MAX: usize = 20;

/// Reads and judges one folder's WAL.
pub fn check(folder: &Folder) -> Wal {
    let (ledger, why) = match numbers::ledger(folder) {
        Ok(ledger) => (Some(ledger), None),
        Err(why) => (None, why),
    };
    // What the system removes before it reads anything is no part of the log.
    let names = |file: &&SegmentFile| ledger.as_ref().is_none_or(|it| it.names(file.name));
    let (mut counted, unnamed): (Vec<_>, Vec<_>) = folder.segments.iter().partition(names);
    // A file that names none of them is another log's.
    if counted.is_empty() {
        counted.clone_from(&unnamed);
    }
    let pass = scan::pass(folder, &counted);
    let identity = identity(&pass.segments).or_else(|| folder.log.clone());
    let mut unread = pass.unread;
    unread.extend(why);
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
        ledger,
        last_filled: last_filled(&pass.segments),
        is_sparse: false,
        left_out: None,
        unlisted: 0,
        problems: Vec::new(),
        notes: Vec::new(),
    };
    judge.others(&folder.others);
    judge.unnamed(&unnamed);
    for n in 0..pass.segments.len() {
        judge.segment(n);
    }
    judge.sparse();
    judge.extents();
    let missing = judge.settle();
    let mut wal = judge.wal(folder, missing);
    wal.unread = unread;
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
    /// What the file beside the segments says of them.
    pub(super) ledger: Option<Ledger>,
    /// The last segment with records of each term that names state.
    pub(super) last_filled: BTreeMap<Option<Term>, usize>,
    /// Whether numbers are left out that need not be there.
    pub(super) is_sparse: bool,
    /// The first positions left out inside the segment at hand where that is legal, and how many such places there are.
    pub(super) left_out: Option<(LsnRange, u64)>,
    /// Problems beyond the number that is listed.
    unlisted: u64,
    pub(super) problems: Vec<Problem>,
    pub(super) notes: Vec<Note>,
}

fn last_filled(segments: &[Scanned]) -> BTreeMap<Option<Term>, usize> {
    let all = segments.iter().enumerate();
    all.filter(|(_, scanned)| scanned.segment.entries > 0)
        .map(|(n, scanned)| (scanned.name.term, n))
        .collect()
}

/// The log that most segments say they belong to; of two with as many segments, the first by name.
fn identity(segments: &[Scanned]) -> Option<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for identity in segments
        .iter()
        .filter_map(|scanned| scanned.identity.as_deref())
    {
        *counts.entry(identity).or_default() += 1;
    }
    let most = counts.values().copied().max()?;
    counts
        .iter()
        .find(|&(_, &count)| count == most)
        .map(|(identity, _)| (*identity).to_owned())
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
                format!(
                    "and {}",
                    several(
                        more,
                        "more file that is no segment",
                        "more files that are no segments"
                    )
                ),
            );
        }
    }

    fn segment(&mut self, n: usize) {
        let scanned = &self.segments[n];
        self.missing_numbers(n);
        let is_foreign = self.is_foreign(n);
        for fault in &scanned.faults {
            let (at, detail) = (Some(fault.offset), fault.detail.clone());
            match fault.kind {
                FaultKind::Header => {
                    let problem = self.damage(ProblemKind::BadHeader, n, at, detail);
                    problem.lsn = scanned.segment.name_lsn;
                    self.loss = Some(self.problems.len().saturating_sub(1));
                }
                FaultKind::Identity => {
                    self.damage(ProblemKind::MetadataConflict, n, at, detail);
                }
                // A segment of another log goes on with another log's checksum.
                FaultKind::Chain if is_foreign => {}
                FaultKind::Chain => {
                    let lsn = self.log.next();
                    self.damage(ProblemKind::ChainBreak, n, at, detail).lsn = lsn;
                }
                FaultKind::Empty
                | FaultKind::HeaderTorn
                | FaultKind::Checksum
                | FaultKind::Corrupt
                | FaultKind::Torn
                | FaultKind::ZeroRun
                | FaultKind::Recycled
                | FaultKind::Misnamed
                | FaultKind::Unreadable => {}
            }
        }
        if is_foreign {
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
        self.jumps(n);
        if scanned.segment.entries == 0 {
            self.name_only(n);
        }
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

    /// A segment of another log is not this one's: what it holds counts for nothing here.
    fn is_foreign(&mut self, n: usize) -> bool {
        let scanned = &self.segments[n];
        let (Some(here), Some(log)) = (scanned.identity.as_deref(), self.identity) else {
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
        let (Some(header), Some(name)) = (scanned.header_lsn, scanned.segment.name_lsn) else {
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

    pub(super) fn problem(
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
                why: several(self.unlisted, "more problem is", "more problems are") + " not listed",
            });
        }
        let placed = self.placed();
        let found = LsnRange::join(placed.iter().map(|(range, _)| *range).collect());
        let misfiled = self.hidden(&found);
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
            is_replicated: self.format.is_replicated(),
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

    /// The positions that stand where nobody looks for them, with the segment.
    fn hidden(&self, found: &[LsnRange]) -> Vec<(LsnRange, usize)> {
        let sides = self.sides.iter().filter(|side| side.is_hidden);
        let pieces = self
            .log
            .pieces()
            .filter_map(|piece| Some((piece.range, piece.segment?)));
        let unfound = pieces.flat_map(|(range, segment)| {
            range
                .without(found)
                .into_iter()
                .map(move |range| (range, segment))
        });
        let mut hidden: Vec<_> = sides
            .map(|side| (side.range, side.segment))
            .chain(unfound)
            .collect();
        hidden.sort_unstable();
        hidden
    }

    /// The positions that a reader finds where the names send it, with the segment.
    fn placed(&self) -> Vec<(LsnRange, usize)> {
        let ranges = self.log.pieces().filter_map(|piece| {
            let segment = piece.segment?;
            if !matches!(self.rules.naming, Naming::First | Naming::Lowest) {
                return Some((piece.range, segment));
            }
            let name = self.segments[segment].segment.name_lsn?;
            let next = self
                .segments
                .get(segment + 1)
                .and_then(|scanned| scanned.segment.name_lsn);
            let last = next.map_or(piece.range.last, |next| piece.range.last.min(next.before()));
            Some((LsnRange::new(piece.range.first.max(name), last)?, segment))
        });
        ranges.collect()
    }
}
