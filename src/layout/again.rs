//! Positions at or below the last one: written again as the system allows, twice by mistake, or late in a place of their own.

use crate::vocab::{Lsn, LsnRange, Term};

use super::check::Judge;
use super::log::Piece;
use super::model::{NoteKind, Problem, ProblemKind};
use super::order::Side;
use super::rules::{Naming, Rewrite, Snapshots};
use super::scan::Run;

impl Judge<'_> {
    /// Positions at or below the last one.
    pub(super) fn step_back(&mut self, n: usize, run: Run, is_first: bool, expected: Lsn) {
        let range = LsnRange {
            first: run.first,
            last: run.last,
        };
        // Only a name told of the positions above; they were written in a segment that was purged.
        if self.rules.rewrite != Rewrite::Never && self.log.pieces().next().is_none() {
            self.append(n, run);
            return;
        }
        let Some(old) = self.log.at(run.first).or_else(|| self.purged(run)) else {
            self.fill(n, run, is_first, range);
            return;
        };
        let is_higher = run.term.zip(old.term).is_some_and(|(new, old)| new > old);
        let is_allowed = match self.rules.rewrite {
            Rewrite::Never => false,
            Rewrite::HigherTerm => is_higher,
            Rewrite::LastWins => true,
        };
        if is_allowed || self.is_given_up(old.segment, run.first) {
            self.rewrite(n, run, old, expected);
            return;
        }
        if self.repeats(n, run, old) {
            self.log.cut(run.first);
            self.append(n, run);
            return;
        }
        if is_first && self.overruns(n, run) {
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

    /// Whether the first run of a segment stands where a reader looks for it, and segments before run on over it: what they have of it
    /// and above is then taken aside, and the log goes on with the run.
    fn overruns(&mut self, n: usize, run: Run) -> bool {
        let is_placed =
            self.segments[n]
                .segment
                .name_lsn
                .is_some_and(|name| match self.rules.naming {
                    Naming::First => name == run.first,
                    Naming::Lowest => name <= run.first,
                    Naming::FirstAsPlanned | Naming::Nothing => false,
                });
        let above = self.log.pieces().rev();
        let above: Vec<Piece> = above
            .take_while(|piece| piece.range.last >= run.first)
            .copied()
            .collect();
        let is_before = |piece: &Piece| piece.segment.is_some_and(|segment| segment < n);
        if !is_placed || !above.iter().all(is_before) {
            return false;
        }
        let mut sides: Vec<Side> = Vec::new();
        for piece in above.into_iter().rev() {
            let (first, last) = (piece.range.first.max(run.first), piece.range.last);
            match sides.last_mut() {
                Some(side) if piece.segment == Some(side.segment) && side.next == first => {
                    (side.range.last, side.next) = (last, last.next());
                }
                _ => sides.extend(piece.segment.map(|segment| Side {
                    segment,
                    range: LsnRange { first, last },
                    term: piece.term,
                    next: last.next(),
                    offset: None,
                    expected: first,
                    is_hidden: true,
                })),
            }
        }
        self.sides.extend(sides);
        self.log.cut(run.first);
        self.append(n, run);
        true
    }

    /// Whether a run is the part of a segment that a new reign took over with it from the one before.
    fn repeats(&self, n: usize, run: Run, old: Piece) -> bool {
        let term = |n: usize| self.segments[n].name.term;
        let before = old.segment.and_then(term);
        self.rules.is_by_term && run.term == old.term && before < term(n)
    }

    /// The first known piece for a run below it that overrules it: what the run rewrites was purged with an older segment.
    fn purged(&self, run: Run) -> Option<Piece> {
        let first = self.log.pieces().next().copied()?;
        let is_overruling = self.rules.rewrite == Rewrite::HigherTerm && run.term > first.term;
        (is_overruling && run.first < first.range.first).then_some(first)
    }

    /// Positions that were left out before, or lie below the beginning.
    fn fill(&mut self, n: usize, run: Run, is_first: bool, range: LsnRange) {
        let is_placed = is_first
            && (!matches!(self.rules.naming, Naming::First | Naming::Lowest)
                || self.segments[n].segment.name_lsn == Some(run.first));
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
                if self.rules.is_by_term {
                    NoteKind::TimelineSwitch
                } else {
                    NoteKind::Rewrite
                },
                Some(self.segments[n].segment.file.clone()),
                Some(run.first),
                why,
            );
        }
        self.log.cut(run.first);
        self.append(n, run);
    }
}
