//! The positions of a log as one line per node: segments as bars, holes and misfiled ranges marked.
//!
//! Positions that no node has and nobody misses, such as those between two epochs, take no room.

use std::io::{self, Write};

use crate::layout::Wal;
use crate::vocab::{Lsn, LsnNotation, LsnRange};

use crate::report::escape::terminal;

/// Columns of a line.
const WIDTH: usize = 64;
/// The share of the line that one hole can take, so that a hole of millions does not push the records out of the picture.
const HOLE_SHARE: u64 = 8;

/// Parts of one position's room that can be told apart.
const UNIT: u128 = 1 << 16;

const BARS: [char; 2] = ['█', '▒'];
const MISFILED: char = '!';
const MISSING: char = '.';
const SNAPSHOT: char = '~';

/// Draws the nodes over one axis.
pub(super) fn write(wals: &[&Wal], out: &mut dyn Write) -> io::Result<()> {
    let Some(axis) = Axis::of(wals) else {
        return Ok(());
    };
    let notation = wals
        .first()
        .map_or(LsnNotation::Decimal, |wal| wal.notation);
    let name = wals
        .iter()
        .map(|wal| terminal(&wal.node).chars().count())
        .max()
        .unwrap_or(0);
    for wal in wals {
        let line: String = axis.line(wal).into_iter().collect();
        writeln!(out, "  {:name$} |{line}|", terminal(&wal.node))?;
    }
    let (first, last) = (
        notation.show(axis.first).to_string(),
        notation.show(axis.last).to_string(),
    );
    let between = WIDTH.saturating_sub(first.len() + last.len());
    writeln!(out, "  {:name$}  {first}{:between$}{last}", "", "")?;
    let mut legend = vec![format!("{} {} segments in turn", BARS[0], BARS[1])];
    let any = |test: &dyn Fn(&Wal) -> bool| wals.iter().any(|wal| test(wal));
    if any(&|wal| !wal.misfiled.is_empty()) {
        legend.push(format!("{MISFILED} misfiled"));
    }
    if any(&|wal| !wal.missing.is_empty()) {
        legend.push(format!("{MISSING} missing"));
    }
    if any(&|wal| !wal.in_snapshot.is_empty()) {
        legend.push(format!("{SNAPSHOT} in a snapshot"));
    }
    writeln!(out, "  {:name$}  {}", "", legend.join("   "))?;
    writeln!(out)
}

/// The positions that the line stands for, and where each is on it.
struct Axis {
    first: Lsn,
    last: Lsn,
    /// Ranges with the room before them and their own, in units that add up to `total`.
    parts: Vec<(LsnRange, u64, u64)>,
    total: u64,
}

impl Axis {
    fn of(wals: &[&Wal]) -> Option<Self> {
        let held = LsnRange::join(
            wals.iter()
                .flat_map(|wal| {
                    wal.found
                        .iter()
                        .copied()
                        .chain(wal.misfiled.iter().map(|(range, _)| *range))
                })
                .collect(),
        );
        let absent = LsnRange::join(
            wals.iter()
                .flat_map(|wal| wal.missing.iter().chain(&wal.in_snapshot).copied())
                .collect(),
        );
        let records: u64 = held
            .iter()
            .map(|range| range.count())
            .fold(0, u64::saturating_add);
        let hole = (records / HOLE_SHARE).max(1);
        let mut ranges: Vec<(LsnRange, u64)> =
            held.iter().map(|range| (*range, range.count())).collect();
        for range in absent {
            ranges.extend(
                range
                    .without(&held)
                    .into_iter()
                    .map(|range| (range, range.count().min(hole))),
            );
        }
        ranges.sort_unstable();
        let (first, last) = (ranges.first()?.0.first, ranges.last()?.0.last);
        let mut total = 0_u64;
        let parts = ranges.into_iter().map(|(range, room)| {
            let part = (range, total, room);
            total = total.saturating_add(room);
            part
        });
        let parts = parts.collect();
        Some(Self {
            first,
            last,
            parts,
            total,
        })
    }

    fn line(&self, wal: &Wal) -> Vec<char> {
        let mut line = vec![' '; WIDTH];
        for (range, segment) in &wal.placed {
            self.mark(&mut line, *range, BARS[segment % 2]);
        }
        for (ranges, mark) in [(&wal.in_snapshot, SNAPSHOT), (&wal.missing, MISSING)] {
            for range in ranges {
                self.mark(&mut line, *range, mark);
            }
        }
        for (range, _) in &wal.misfiled {
            self.mark(&mut line, *range, MISFILED);
        }
        line
    }

    fn mark(&self, line: &mut [char], range: LsnRange, mark: char) {
        let (Some(from), Some(to)) = (self.room(range.first), self.room(range.last)) else {
            return;
        };
        let from = self.column(from.0);
        let to = self.column(to.1).max(from + 1);
        for cell in line.iter_mut().take(to).skip(from) {
            *cell = mark;
        }
    }

    /// Where the room of a position begins and ends.
    fn room(&self, lsn: Lsn) -> Option<(u128, u128)> {
        let n = self.parts.partition_point(|(range, _, _)| range.last < lsn);
        let (range, before, room) = self
            .parts
            .get(n)
            .filter(|(range, _, _)| range.first <= lsn)?;
        let count = u128::from(range.count());
        let inside = u128::from(lsn.0 - range.first.0);
        // Units are split so that a hole's many positions can share few of them.
        let at =
            |inside: u128| u128::from(*before) * UNIT + inside * u128::from(*room) * UNIT / count;
        Some((at(inside), at(inside + 1)))
    }

    fn column(&self, at: u128) -> usize {
        let column = at * WIDTH as u128 / (u128::from(self.total.max(1)) * UNIT);
        usize::try_from(column).map_or(WIDTH, |column| column.min(WIDTH))
    }
}
