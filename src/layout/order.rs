//! The order of positions: what continues, what rewrites, what was left out, and what stands where nobody looks for it.

use crate::vocab::{Lsn, LsnRange, Shown, Term};

use super::check::Judge;
use super::log::Piece;
use super::model::{NoteKind, Problem, ProblemKind};
use super::rules::{Naming, Positions, Rewrite, Snapshots};
use super::scan::{Item, Run};

/// Records in a segment where nobody looks for them.
pub(super) struct Side {
    pub(super) segment: usize,
    pub(super) range: LsnRange,
    pub(super) term: Option<Term>,
    next: Lsn,
    offset: u64,
    /// The position that was expected in their place.
    expected: Lsn,
    /// Whether no other segment has any of them.
    pub(super) is_hidden: bool,
}

/// Positions left out.
pub(super) struct Hole {
    kind: ProblemKind,
    segment: usize,
    offset: u64,
    range: LsnRange,
}

impl Judge<'_> {
    /// Takes in consecutive records of one term.
    pub(super) fn run(&mut self, n: usize, run: Run) {
        let is_first = self.is_first_of_segment(n, run);
        if is_first {
            self.first_of_segment(n, run);
        }
        self.past_name_end(n, run);
        if self.extends_side(n, run) {
            return;
        }
        let Some(expected) = self.log.next() else {
            self.begin(n, run);
            return;
        };
        if run.first == expected
            || run.first > expected && self.rules.positions == Positions::Rising
        {
            self.term_goes_back(n, run);
            self.append(n, run);
        } else if run.first > expected {
            self.leap(n, run, is_first, expected);
        } else {
            self.step_back(n, run, is_first, expected);
        }
        self.loss = None;
    }

    fn is_first_of_segment(&self, n: usize, run: Run) -> bool {
        let first = self.segments[n].items.iter().find_map(|item| match item {
            Item::Run(run) => Some(run.offset),
            Item::Snapshot { .. } => None,
        });
        first == Some(run.offset)
    }

    /// The first record of the whole log.
    fn begin(&mut self, n: usize, run: Run) {
        let counter = if self.rules.positions == Positions::Epochs {
            run.first.0 & 0xffff_ffff
        } else {
            run.first.0
        };
        if counter > self.rules.origin && self.loss.is_none() {
            let why = "the log does not begin at its beginning: older segments were purged or are not here".to_owned();
            self.note(
                NoteKind::HeadTruncated,
                Some(self.segments[n].segment.file.clone()),
                Some(run.first),
                why,
            );
        }
        self.append(n, run);
    }

    fn append(&mut self, n: usize, run: Run) {
        let range = LsnRange {
            first: run.first,
            last: run.last,
        };
        self.log.push(
            Piece {
                range,
                term: run.term,
                segment: Some(n),
            },
            run.next,
        );
    }

    /// The first record of a segment and the segment's name.
    fn first_of_segment(&mut self, n: usize, run: Run) {
        let Some(name) = self.segments[n].name.lsn.filter(|&name| name != run.first) else {
            return;
        };
        let show = |lsn| self.format.notation().show(lsn);
        let detail = format!(
            "the first record is {}, the name says {}",
            show(run.first),
            show(name)
        );
        let is_mismatch = match self.rules.naming {
            Naming::Nothing => false,
            // The name is the position that was planned. A record below it can rewrite an uncommitted tail, one above it can follow a
            // snapshot or what is missing before it, and the first file of all is called after 0 and begins at 1.
            Naming::FirstAsPlanned if run.first > name => {
                let follows_snapshot = self
                    .in_snapshot
                    .iter()
                    .any(|range| range.last.next() == run.first);
                self.log.next() == Some(run.first) && name.0 != 0 && !follows_snapshot
            }
            Naming::First | Naming::FirstAsPlanned => true,
        };
        if self.rules.naming == Naming::FirstAsPlanned
            && run.first < name
            && self.log.next().is_none_or(|next| run.first < next)
        {
            let file = self.segments[n].segment.file.clone();
            self.note(
                NoteKind::FirstLsnBelowName,
                Some(file),
                Some(run.first),
                format!("{detail}: it rewrites an uncommitted tail"),
            );
        } else if is_mismatch {
            self.mismatched = Some(n);
            let problem = self.damage(ProblemKind::NameMismatch, n, Some(run.offset), detail);
            (problem.lsn, problem.expected) = (Some(run.first), Some(name));
        }
    }

    fn past_name_end(&mut self, n: usize, run: Run) {
        let Some(end) = self.segments[n]
            .name
            .last
            .filter(|&end| run.first <= end && run.last > end)
        else {
            return;
        };
        let detail = format!(
            "the name ends at {}, the segment goes on to {}",
            self.show(end),
            self.show(run.last)
        );
        let problem = self.damage(ProblemKind::PastNameEnd, n, Some(run.offset), detail);
        (problem.lsn, problem.lsn_to, problem.expected) =
            (Some(end.next()), Some(run.last), Some(end));
    }

    /// Positions above the expected one.
    fn leap(&mut self, n: usize, run: Run, is_first: bool, expected: Lsn) {
        if self.rules.positions == Positions::Epochs && is_epoch_start(expected, run.first) {
            let why = format!("a new epoch begins behind {}", self.show(expected.before()));
            self.note(
                NoteKind::EpochChange,
                Some(self.segments[n].segment.file.clone()),
                Some(run.first),
                why,
            );
            self.append(n, run);
            return;
        }
        let Some(range) = LsnRange::new(expected, run.first.before()) else {
            return;
        };
        if is_first && self.is_bridged(n, run, range) {
            self.append(n, run);
            return;
        }
        if let Some(loss) = self.loss.filter(|_| is_first) {
            self.blame(loss, range);
            self.append(n, run);
            return;
        }
        if !is_first && self.is_misfiled(n, run) {
            let side = LsnRange {
                first: run.first,
                last: run.last,
            };
            self.side = Some(Side {
                segment: n,
                range: side,
                term: run.term,
                next: run.next,
                offset: run.offset,
                expected,
                is_hidden: true,
            });
            return;
        }
        let kind = if is_first {
            ProblemKind::Gap
        } else {
            ProblemKind::Jump
        };
        self.holes.push(Hole {
            kind,
            segment: n,
            offset: run.offset,
            range,
        });
        self.append(n, run);
    }

    /// Whether a snapshot file stands for the positions left out before a segment.
    fn is_bridged(&mut self, n: usize, run: Run, range: LsnRange) -> bool {
        let snapshot = self
            .snapshots
            .iter()
            .find(|(lsn, _)| match self.rules.snapshots {
                Snapshots::None | Snapshots::Records => false,
                Snapshots::Bridging => *lsn == range.last && lsn.next() >= range.first,
                Snapshots::Covering => *lsn >= range.last,
            });
        let Some((_, file)) = snapshot else {
            return false;
        };
        let why = format!(
            "{file} holds what is left out behind {}",
            self.show(range.first.before())
        );
        self.note(
            NoteKind::GapExplainedBySnapshot,
            Some(self.segments[n].segment.file.clone()),
            Some(run.first),
            why,
        );
        self.in_snapshot.push(range);
        true
    }

    /// Positions left out behind a fault are its consequence and no problem of their own.
    fn blame(&mut self, loss: usize, range: LsnRange) {
        let lost = self.format.notation().show_range(range);
        self.lost.push(range);
        let Some(problem) = self.problems.get_mut(loss) else {
            return;
        };
        problem.lsn_to = problem.lsn_to.max(Some(range.last));
        problem.detail = format!("{}; {lost} lost with it", problem.detail);
    }

    /// Whether a reader that chooses by name opens another segment for a run, or would if the run were where it belongs.
    fn is_misfiled(&self, n: usize, run: Run) -> bool {
        let is_past_end = self.segments[n]
            .name
            .last
            .is_some_and(|end| run.first > end);
        let next = self
            .segments
            .get(n + 1)
            .and_then(|scanned| scanned.name.lsn);
        is_past_end || next.map_or(self.rules.is_jump_misfiled, |next| run.first >= next)
    }

    /// Positions at or below the last one.
    fn step_back(&mut self, n: usize, run: Run, is_first: bool, expected: Lsn) {
        let range = LsnRange {
            first: run.first,
            last: run.last,
        };
        let Some(old) = self.log.at(run.first) else {
            self.fill(n, run, is_first, range);
            return;
        };
        let is_higher = run.term.zip(old.term).is_some_and(|(new, old)| new > old);
        let is_allowed = match self.rules.rewrite {
            Rewrite::Never => false,
            Rewrite::HigherTerm => is_higher,
            Rewrite::LastWins => true,
        };
        if is_allowed {
            self.rewrite(n, run, old, expected);
            return;
        }
        let is_lower = run.term.zip(old.term).is_some_and(|(new, old)| new < old);
        let kind = if is_lower {
            ProblemKind::Backward
        } else {
            ProblemKind::Duplicate
        };
        let before = old.segment.map_or("a snapshot".to_owned(), |segment| {
            self.segments[segment].segment.file.clone()
        });
        let detail = format!("{} is there already, in {before}", self.show(run.first));
        let last = run.last.min(expected.before());
        let is_same = |problem: &&mut Problem| {
            problem.kind == kind
                && problem.segment == n
                && problem.lsn_to.map(Lsn::next) == Some(run.first)
        };
        if let Some(problem) = self.problems.last_mut().filter(is_same) {
            problem.lsn_to = Some(last);
        } else {
            let problem = self.damage(kind, n, Some(run.offset), detail);
            (problem.lsn, problem.lsn_to, problem.expected) =
                (Some(run.first), Some(last), Some(expected));
        }
        if let Some(range) = LsnRange::new(expected, run.last) {
            self.log.push(
                Piece {
                    range,
                    term: run.term,
                    segment: Some(n),
                },
                run.next,
            );
        }
    }

    /// Positions that were left out before, or lie below the beginning.
    fn fill(&mut self, n: usize, run: Run, is_first: bool, range: LsnRange) {
        let is_placed = is_first
            && (self.rules.naming != Naming::First || self.segments[n].name.lsn == Some(run.first));
        let is_told = self.mismatched == Some(n);
        let expected = self.log.next();
        if !is_placed && !is_told {
            let detail = format!(
                "{} come behind {}",
                self.format.notation().show_range(range),
                self.show(expected.unwrap_or(run.first).before())
            );
            let belongs_in = self.format.name_for(run.first);
            let problem = self.damage(ProblemKind::Misfiled, n, Some(run.offset), detail);
            (
                problem.lsn,
                problem.lsn_to,
                problem.expected,
                problem.belongs_in,
            ) = (Some(run.first), Some(run.last), expected, belongs_in);
        }
        self.log.fill(Piece {
            range,
            term: run.term,
            segment: Some(n),
        });
    }

    fn rewrite(&mut self, n: usize, run: Run, old: Piece, expected: Lsn) {
        let term = |term: Option<Term>| term.map_or("?".to_owned(), |term| term.0.to_string());
        let range = LsnRange {
            first: run.first,
            last: expected.before().max(run.first),
        };
        let range = self.format.notation().show_range(range);
        let why = format!(
            "{range} of term {} are rewritten under term {}",
            term(old.term),
            term(run.term)
        );
        if let Some(commit) = run
            .committed
            .filter(|_| self.rules.snapshots == Snapshots::Records)
        {
            let detail = format!("{why} although {} was committed", self.show(commit));
            let problem = self.damage(ProblemKind::MetadataConflict, n, Some(run.offset), detail);
            (problem.lsn, problem.lsn_to) = (Some(run.first), Some(commit));
        } else {
            self.note(
                NoteKind::Rewrite,
                Some(self.segments[n].segment.file.clone()),
                Some(run.first),
                why,
            );
        }
        self.log.cut(run.first);
        self.append(n, run);
    }

    /// Terms never go down along a log.
    fn term_goes_back(&mut self, n: usize, run: Run) {
        let Some((before, here)) = self
            .log
            .last_term()
            .zip(run.term)
            .filter(|(before, here)| here < before)
        else {
            return;
        };
        let detail = format!(
            "{} has term {}, the record before it has term {}",
            self.show(run.first),
            here.0,
            before.0
        );
        let problem = self.damage(ProblemKind::Backward, n, Some(run.offset), detail);
        (problem.lsn, problem.expected) = (Some(run.first), Some(run.first));
    }

    /// Misfiled records go on, or end.
    fn extends_side(&mut self, n: usize, run: Run) -> bool {
        let Some(side) = self.side.as_mut().filter(|side| side.segment == n) else {
            return false;
        };
        let is_rewrite = self.rules.rewrite != Rewrite::Never
            && side.range.first <= run.first
            && run.first < side.next
            && run.term > side.term;
        if run.first == side.next || is_rewrite {
            side.range.last = run.last;
            side.next = run.next;
            side.term = run.term;
            return true;
        }
        self.close_side();
        false
    }

    pub(super) fn close_side(&mut self) {
        self.sides.extend(self.side.take());
    }

    /// The position that the end of a segment has to go on with, if its last records are misfiled.
    pub(super) fn side_next(&self, n: usize) -> Option<Lsn> {
        let last = self.segments[n].segment.last_lsn;
        self.sides
            .last()
            .filter(|side| side.segment == n && Some(side.range.last) == last)
            .map(|side| side.next)
    }

    /// A snapshot record: the log goes on behind the snapshot.
    pub(super) fn snapshot(&mut self, n: usize, lsn: Lsn, term: Term, offset: u64) {
        let Some(next) = self.log.next() else {
            self.log.push(
                Piece {
                    range: LsnRange {
                        first: lsn,
                        last: lsn,
                    },
                    term: Some(term),
                    segment: None,
                },
                lsn.next(),
            );
            return;
        };
        if lsn >= next {
            let why = format!(
                "a snapshot up to {} was installed behind {}",
                self.show(lsn),
                self.show(next.before())
            );
            self.note(
                NoteKind::JumpExplainedBySnapshot,
                Some(self.segments[n].segment.file.clone()),
                Some(lsn),
                why,
            );
            let range = LsnRange {
                first: next,
                last: lsn,
            };
            self.in_snapshot.push(range);
            self.log.push(
                Piece {
                    range,
                    term: Some(term),
                    segment: None,
                },
                lsn.next(),
            );
            return;
        }
        if let Some(there) = self
            .log
            .at(lsn)
            .and_then(|piece| piece.term)
            .filter(|&there| there != term)
        {
            let detail = format!(
                "the snapshot at {} has term {}, the record has term {}",
                self.show(lsn),
                term.0,
                there.0
            );
            self.damage(ProblemKind::MetadataConflict, n, Some(offset), detail)
                .lsn = Some(lsn);
        }
    }

    /// Judges what was left out, now that all segments are known; returns the positions that are nowhere.
    pub(super) fn settle(&mut self) -> Vec<LsnRange> {
        let mut missing = std::mem::take(&mut self.lost);
        let sides = LsnRange::join(self.sides.iter().map(|side| side.range).collect());
        for hole in std::mem::take(&mut self.holes) {
            let lost = self.nowhere(hole.range, &sides);
            let Some(first) = lost.first() else { continue };
            let lsn = hole.range.last.next();
            let detail = format!(
                "{} follows {}; {} in no segment",
                self.show(lsn),
                self.show(hole.range.first.before()),
                self.show_all(&lost)
            );
            let expected = first.first;
            let problem = self.damage(hole.kind, hole.segment, Some(hole.offset), detail);
            (problem.lsn, problem.expected) = (Some(lsn), Some(expected));
            missing.extend(lost);
        }
        for n in 0..self.sides.len() {
            self.misfiled(n, &sides, &mut missing);
        }
        self.overlong();
        LsnRange::join(missing)
    }

    /// Reports misfiled records, and what should stand in their place and is nowhere.
    fn misfiled(&mut self, n: usize, sides: &[LsnRange], missing: &mut Vec<LsnRange>) {
        let Side {
            segment,
            range,
            offset,
            expected,
            ..
        } = self.sides[n];
        let is_hidden = !self.log.missing(range).is_empty();
        self.sides[n].is_hidden = is_hidden;
        let shown = self.format.notation().show_range(range);
        if is_hidden {
            let belongs_in = self.format.name_for(range.first);
            let detail = format!("{shown} stand behind {}", self.show(expected.before()));
            let problem = self.damage(ProblemKind::Misfiled, segment, Some(offset), detail);
            (
                problem.lsn,
                problem.lsn_to,
                problem.expected,
                problem.belongs_in,
            ) = (
                Some(range.first),
                Some(range.last),
                Some(expected),
                belongs_in,
            );
        } else {
            let detail = format!(
                "{shown} stand here too, behind {}",
                self.show(expected.before())
            );
            let problem = self.damage(ProblemKind::Duplicate, segment, Some(offset), detail);
            (problem.lsn, problem.lsn_to, problem.expected) =
                (Some(range.first), Some(range.last), Some(expected));
        }
        let Some(hole) = LsnRange::new(expected, range.first.before()) else {
            return;
        };
        for lost in self.nowhere(hole, sides) {
            let detail = format!("{} in no segment", self.show_all(&[lost]));
            let problem = self.damage(ProblemKind::MissingRange, segment, Some(offset), detail);
            (problem.lsn, problem.lsn_to) = (Some(lost.first), Some(lost.last));
            missing.push(lost);
        }
    }

    /// Records that run on where the next segment's name begins, although that one holds none of them.
    fn overlong(&mut self) {
        if self.rules.naming != Naming::First {
            return;
        }
        let mut found: Vec<(usize, LsnRange)> = Vec::new();
        for piece in self.log.pieces() {
            let Some(segment) = piece.segment else {
                continue;
            };
            let Some(next) = self
                .segments
                .get(segment + 1)
                .filter(|next| next.segment.entries == 0)
                .and_then(|next| next.name.lsn)
            else {
                continue;
            };
            found.extend(
                LsnRange::new(piece.range.first.max(next), piece.range.last)
                    .map(|range| (segment, range)),
            );
        }
        for (segment, range) in found {
            let detail = format!(
                "{} stand in a segment that ends where the next one's name begins",
                self.format.notation().show_range(range)
            );
            let belongs_in = self
                .segments
                .get(segment + 1)
                .map(|next| next.segment.file.clone());
            let problem = self.damage(ProblemKind::Misfiled, segment, None, detail);
            (problem.lsn, problem.lsn_to, problem.belongs_in) =
                (Some(range.first), Some(range.last), belongs_in);
        }
    }

    /// The positions left out that are in no segment at all.
    fn nowhere(&self, range: LsnRange, sides: &[LsnRange]) -> Vec<LsnRange> {
        self.log
            .missing(range)
            .into_iter()
            .flat_map(|range| range.without(sides))
            .collect()
    }

    fn show(&self, lsn: Lsn) -> Shown {
        self.format.notation().show(lsn)
    }

    fn show_all(&self, ranges: &[LsnRange]) -> String {
        const NAMED_MAX: usize = 4;
        let named: Vec<String> = ranges
            .iter()
            .take(NAMED_MAX)
            .map(|range| self.format.notation().show_range(*range))
            .collect();
        let more = ranges.len().saturating_sub(NAMED_MAX);
        let is_one = ranges.len() == 1 && ranges.iter().all(|range| range.first == range.last);
        let more = if more > 0 {
            format!(" and {more} more ranges")
        } else {
            String::new()
        };
        format!(
            "{}{more} {}",
            named.join(", "),
            if is_one { "is" } else { "are" }
        )
    }
}

/// Whether a position is the first of an epoch above the one expected.
fn is_epoch_start(expected: Lsn, lsn: Lsn) -> bool {
    let epoch = |lsn: Lsn| lsn.0 >> 32;
    lsn.0 & 0xffff_ffff == 1 && epoch(lsn) > epoch(expected.before())
}
