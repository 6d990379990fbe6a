//! The order of positions: what continues, what rewrites, what was left out, and what stands where nobody looks for it.

use crate::vocab::{Lsn, LsnRange, Shown, Term, several};

use super::check::Judge;
use super::holes::Hole;
use super::log::Piece;
use super::model::{NoteKind, ProblemKind};
use super::rules::{Naming, Positions, Rewrite};
use super::scan::{Item, Run};

/// Records in a segment where nobody looks for them.
pub(super) struct Side {
    pub(super) segment: usize,
    pub(super) range: LsnRange,
    pub(super) term: Option<Term>,
    pub(super) next: Lsn,
    /// Where they begin, if that is where a run of records does.
    pub(super) offset: Option<u64>,
    /// The position that was expected in their place.
    pub(super) expected: Lsn,
    /// Whether no other segment has any of them.
    pub(super) is_hidden: bool,
}

impl Side {
    /// The positions that should stand between the records in front and these.
    pub(super) fn hole(&self) -> Option<LsnRange> {
        LsnRange::new(self.expected, self.range.first.before())
    }
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
            if is_first && run.first > expected {
                self.thinned(n, run, expected);
            }
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
        self.head(n, run.first);
        self.append(n, run);
    }

    /// Notes that a log does not begin at its beginning.
    fn head(&mut self, n: usize, first: Lsn) {
        let is_epochs = self.rules.positions == Positions::Epochs;
        let counter = if is_epochs {
            first.0 & 0xffff_ffff
        } else {
            first.0
        };
        if counter > self.rules.origin {
            let why = "the log does not begin at its beginning: older segments were purged or are not here";
            let file = self.segments[n].segment.file.clone();
            self.note(
                NoteKind::HeadTruncated,
                Some(file),
                Some(first),
                why.to_owned(),
            );
        }
    }

    /// A segment without records: its name alone says where the log has got to.
    pub(super) fn name_only(&mut self, n: usize) {
        let Some(name) = self.segments[n].segment.name_lsn else {
            return;
        };
        let name = name.max(Lsn(self.rules.origin));
        let Some(expected) = self.log.next() else {
            if self.rules.naming != Naming::Nothing {
                self.head(n, name);
                self.log.expect(name);
            }
            return;
        };
        let Some(range) = LsnRange::new(expected, name.before()).filter(|_| expected < name) else {
            return;
        };
        if self.rules.naming != Naming::First || self.goes_on_at(name) {
            return;
        }
        match self.loss.take() {
            Some(loss) => self.blame(loss, range),
            None => self.holes.push(Hole {
                kind: ProblemKind::Gap,
                segment: n,
                offset: 0,
                range,
            }),
        }
        self.log.expect(name);
    }

    pub(super) fn append(&mut self, n: usize, run: Run) {
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
        let Some(name) = self.segments[n]
            .segment
            .name_lsn
            .filter(|&name| name != run.first)
        else {
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
            Naming::Lowest => run.first < name,
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
            .segment
            .name_last
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

    /// Terms never go down along a log, and a timeline that begins where the one before ends is worth a note.
    fn term_goes_back(&mut self, n: usize, run: Run) {
        if let Some((before, here)) = self
            .log
            .last_term()
            .zip(run.term)
            .filter(|(before, here)| self.rules.is_by_term && here > before)
        {
            let why = format!("timeline {} goes on behind timeline {}", here.0, before.0);
            let file = self.segments[n].segment.file.clone();
            self.note(NoteKind::TimelineSwitch, Some(file), Some(run.first), why);
        }
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
            // In a log without its head, a member's own snapshot stands below the first record that is left. What was between them
            // was purged: its terms are not known, but not below the snapshot's.
            let name = self.segments[n].segment.name_lsn.unwrap_or(lsn);
            let last = lsn.max(name.before());
            let range = LsnRange { first: lsn, last };
            if lsn.0 > 0 {
                self.in_snapshot.push(LsnRange {
                    first: lsn,
                    last: lsn,
                });
            }
            self.log.push(
                Piece {
                    range,
                    term: Some(term),
                    segment: None,
                },
                last.next(),
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
        // Of what is in a snapshot or was purged, single terms are not known.
        if let Some(there) = self
            .log
            .at(lsn)
            .filter(|piece| piece.segment.is_some())
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

    pub(super) fn show(&self, lsn: Lsn) -> Shown {
        self.format.notation().show(lsn)
    }

    pub(super) fn show_all(&self, ranges: &[LsnRange]) -> String {
        const NAMED_MAX: usize = 4;
        let named: Vec<String> = ranges
            .iter()
            .take(NAMED_MAX)
            .map(|range| self.format.notation().show_range(*range))
            .collect();
        let more = ranges.len().saturating_sub(NAMED_MAX);
        let is_one = ranges.len() == 1 && ranges.iter().all(|range| range.first == range.last);
        let more = if more > 0 {
            format!(" and {}", several(more, "more range", "more ranges"))
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
