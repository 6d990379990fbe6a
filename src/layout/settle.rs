//! What can only be judged when all segments are known: which of the positions left out are nowhere, and which are misfiled.

use crate::vocab::LsnRange;

use super::check::Judge;
use super::model::ProblemKind;
use super::order::Side;
use super::rules::Naming;

impl Judge<'_> {
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
}
