//! What can only be judged when all segments are known: which of the positions left out are nowhere, and which are misfiled.

use crate::vocab::{Lsn, LsnRange};

use super::check::Judge;
use super::holes::Hole;
use super::model::{ProblemKind, Severity};
use super::order::Side;
use super::rules::Naming;

/// Ranges of one hole that are named, and one more to tell that there are more.
const SHOWN_MAX: usize = 5;

impl Judge<'_> {
    /// Judges what was left out, now that all segments are known; returns the positions that are nowhere.
    pub(super) fn settle(&mut self) -> Vec<LsnRange> {
        let before_sides: Vec<LsnRange> = self.sides.iter().filter_map(Side::hole).collect();
        let holes = std::mem::take(&mut self.holes);
        let left_out = holes
            .iter()
            .map(|hole| hole.range)
            .chain(before_sides.iter().copied());
        let missing = self.nowhere(&LsnRange::join(left_out.collect()));
        for hole in &holes {
            self.hole(hole, &missing);
        }
        self.part_overruns();
        for n in 0..self.sides.len() {
            self.misfiled(n);
        }
        self.missing_ranges(&LsnRange::join(before_sides), &missing);
        self.overlong();
        let lost = std::mem::take(&mut self.lost);
        LsnRange::join(missing.into_iter().chain(lost).collect())
    }

    /// The parts of ranges that are in no segment at all. Ranges do not overlap, so each record is looked at once however many there are.
    fn nowhere(&self, ranges: &[LsnRange]) -> Vec<LsnRange> {
        let sides = LsnRange::join(self.sides.iter().map(|side| side.range).collect());
        let absent = ranges.iter().flat_map(|range| self.log.missing(*range));
        absent.flat_map(|range| range.without(&sides)).collect()
    }

    /// Reports positions left out inside a segment or between two, unless they stand elsewhere after all.
    fn hole(&mut self, hole: &Hole, missing: &[LsnRange]) {
        let near = missing.partition_point(|range| range.last < hole.range.first);
        let lost = missing[near..]
            .iter()
            .map_while(|range| range.common(hole.range));
        let lost: Vec<LsnRange> = lost.take(SHOWN_MAX).collect();
        let Some(first) = lost.first() else { return };
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
    }

    /// Tells what of an overrun stands in a second place from what does not.
    fn part_overruns(&mut self) {
        let sides = std::mem::take(&mut self.sides);
        for side in sides {
            if side.offset.is_some() {
                self.sides.push(side);
                continue;
            }
            let hidden = self.log.missing(side.range);
            let mut parts = side.range.without(&hidden);
            parts.extend(hidden);
            self.sides.extend(parts.into_iter().map(|range| Side {
                range,
                expected: range.first,
                ..side
            }));
        }
    }

    /// Reports misfiled records, or that they stand in a second place.
    fn misfiled(&mut self, n: usize) {
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
        let before = self.show(expected.before());
        let (kind, detail, belongs_in) = if is_hidden {
            let detail = format!("{shown} stand behind {before}");
            (
                ProblemKind::Misfiled,
                detail,
                self.format.name_for(range.first),
            )
        } else {
            let detail = format!("{shown} stand here too, behind {before}");
            (ProblemKind::Duplicate, detail, None)
        };
        let problem = self.damage(kind, segment, offset, detail);
        (problem.lsn, problem.lsn_to) = (Some(range.first), Some(range.last));
        (problem.expected, problem.belongs_in) = (Some(expected), belongs_in);
    }

    /// Reports what should stand in front of misfiled records and is nowhere, at the records that come next.
    fn missing_ranges(&mut self, holes: &[LsnRange], missing: &[LsnRange]) {
        let mut sides: Vec<(Lsn, usize, Option<u64>)> = self
            .sides
            .iter()
            .map(|side| (side.range.first, side.segment, side.offset))
            .collect();
        sides.sort_unstable();
        for hole in holes {
            let near = missing.partition_point(|range| range.last < hole.first);
            for lost in missing[near..]
                .iter()
                .map_while(|range| range.common(*hole))
            {
                let next = sides.partition_point(|(first, _, _)| *first <= lost.last);
                let Some(&(_, segment, offset)) = sides.get(next) else {
                    continue;
                };
                let detail = format!("{} in no segment", self.show_all(&[lost]));
                let problem = self.damage(ProblemKind::MissingRange, segment, offset, detail);
                (problem.lsn, problem.lsn_to) = (Some(lost.first), Some(lost.last));
            }
        }
    }

    /// Records that run on where the next segment's name begins, although that one holds none of them.
    fn overlong(&mut self) {
        if !matches!(self.rules.naming, Naming::First | Naming::Lowest) {
            return;
        }
        let is_lowest = self.rules.naming == Naming::Lowest;
        let mut found: Vec<(usize, LsnRange)> = Vec::new();
        // Of a segment that is damaged itself, the damage says enough.
        let mut damaged: Vec<usize> = self
            .problems
            .iter()
            .filter(|it| it.severity == Severity::Damage)
            .map(|it| it.segment)
            .collect();
        damaged.sort_unstable();
        for piece in self.log.pieces() {
            let Some(segment) = piece
                .segment
                .filter(|segment| damaged.binary_search(&(segment + 1)).is_err())
            else {
                continue;
            };
            let Some(next) = self
                .segments
                .get(segment + 1)
                .filter(|next| next.segment.entries == 0 || is_lowest)
                .and_then(|next| next.segment.name_lsn)
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
}
