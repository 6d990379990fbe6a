//! Positions left out: explained by a snapshot, a consequence of a fault, legal, misfiled further on, or to be judged at the end.

use crate::vocab::{Lsn, LsnRange, several};

use super::check::Judge;
use super::model::{NoteKind, ProblemKind};
use super::order::Side;
use super::rules::{Naming, Positions, Snapshots};
use super::scan::Run;

/// Positions left out.
pub(super) struct Hole {
    pub(super) kind: ProblemKind,
    pub(super) segment: usize,
    pub(super) offset: u64,
    pub(super) range: LsnRange,
}

impl Judge<'_> {
    /// Positions above the expected one.
    pub(super) fn leap(&mut self, n: usize, run: Run, is_first: bool, expected: Lsn) {
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
        if !is_first && self.rules.is_jump_legal {
            let (_, count) = self.left_out.get_or_insert((range, 0));
            *count += 1;
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
                offset: Some(run.offset),
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

    /// Notes positions left out before a segment where they need not be there, but the names say that they were written.
    pub(super) fn thinned(&mut self, n: usize, run: Run, expected: Lsn) {
        let Some(range) = LsnRange::new(expected, run.first.before())
            .filter(|_| self.rules.naming != Naming::Nothing)
        else {
            return;
        };
        let why = format!(
            "{} in no segment: what removes single records of a log leaves such holes; if nothing does so here, they are lost",
            self.show_all(&[range])
        );
        let file = self.segments[n].segment.file.clone();
        self.note(NoteKind::Info, Some(file), Some(range.first), why);
    }

    /// Notes positions left out inside a segment where that is legal.
    pub(super) fn jumps(&mut self, n: usize) {
        let Some((first, count)) = self.left_out.take() else {
            return;
        };
        let more = match count {
            1 => String::new(),
            count => {
                let places = several(count - 1, "more place", "more places");
                format!(", and so in {places}")
            }
        };
        let why = format!(
            "{} in no record{more}: numbers that were given away without a write to the log",
            self.show_all(&[first])
        );
        let file = self.segments[n].segment.file.clone();
        self.note(NoteKind::Info, Some(file), Some(first.first), why);
    }

    /// Whether a snapshot file stands for the positions left out before a segment.
    fn is_bridged(&mut self, n: usize, run: Run, range: LsnRange) -> bool {
        let Some(file) = self.bridge(range) else {
            return false;
        };
        let why = format!(
            "{file} holds what is left out behind {}",
            self.show(range.first.before())
        );
        let segment = self.segments[n].segment.file.clone();
        self.note(
            NoteKind::GapExplainedBySnapshot,
            Some(segment),
            Some(run.first),
            why,
        );
        self.in_snapshot.push(range);
        true
    }

    /// The snapshot file that stands for a range.
    fn bridge(&self, range: LsnRange) -> Option<&str> {
        let snapshot = self
            .snapshots
            .iter()
            .find(|(lsn, _)| match self.rules.snapshots {
                Snapshots::None | Snapshots::Records => false,
                Snapshots::Bridging => *lsn == range.last,
                Snapshots::Covering => *lsn >= range.last,
            });
        snapshot.map(|(_, file)| file.as_str())
    }

    /// Whether a position can be the next segment's first although the end of the one before it was lost.
    pub(super) fn goes_on_at(&self, lsn: Lsn) -> bool {
        let Some(expected) = self.log.next() else {
            return false;
        };
        let is_epoch = self.rules.positions == Positions::Epochs && is_epoch_start(expected, lsn);
        let left_out = LsnRange::new(expected, lsn.before());
        lsn == expected || is_epoch || left_out.is_some_and(|range| self.bridge(range).is_some())
    }

    /// Positions left out behind a fault are its consequence and no problem of their own.
    pub(super) fn blame(&mut self, loss: usize, range: LsnRange) {
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
            .segment
            .name_last
            .is_some_and(|end| run.first > end);
        let next = self
            .segments
            .get(n + 1)
            .and_then(|scanned| scanned.segment.name_lsn);
        is_past_end || next.map_or(self.rules.is_jump_misfiled, |next| run.first >= next)
    }
}

/// Whether a position is the first of an epoch above the one expected.
fn is_epoch_start(expected: Lsn, lsn: Lsn) -> bool {
    let epoch = |lsn: Lsn| lsn.0 >> 32;
    lsn.0 & 0xffff_ffff == 1 && epoch(lsn) > epoch(expected.before())
}
