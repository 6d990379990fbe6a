//! The positions of a log as one line per node: segments as bars, holes and misfiled ranges marked.
//!
//! Positions that no node has and nobody misses, such as those between two epochs, take no room.

use std::collections::BTreeMap;

use crate::layout::Wal;
use crate::report::escape::terminal;
use crate::vocab::{Lsn, LsnNotation, LsnRange};

use super::json::{LsnValue, WalRow};

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

/// What is drawn of one node.
pub(in crate::report) struct Strip {
    /// The node's name, with the log's where it has several.
    pub(super) node: String,
    notation: LsnNotation,
    /// Ranges that a reader finds, with the segment's number.
    placed: Vec<(LsnRange, usize)>,
    misfiled: Vec<LsnRange>,
    missing: Vec<LsnRange>,
    in_snapshot: Vec<LsnRange>,
}

impl From<&Wal> for Strip {
    fn from(wal: &Wal) -> Self {
        Self {
            node: wal.node.clone(),
            notation: wal.notation,
            placed: wal.placed.clone(),
            misfiled: wal.misfiled.iter().map(|(range, _)| *range).collect(),
            missing: wal.missing.clone(),
            in_snapshot: wal.in_snapshot.clone(),
        }
    }
}

impl From<&WalRow> for Strip {
    fn from(row: &WalRow) -> Self {
        let segments = row.segments.iter().enumerate();
        let numbers: BTreeMap<&str, usize> =
            segments.map(|(n, it)| (it.file.as_str(), n)).collect();
        let number = |file: &str| numbers.get(file).copied().unwrap_or(0);
        let ranges = |all: &[[LsnValue; 2]]| all.iter().filter_map(range).collect();
        let found = row.found.iter();
        let shown = row.segments.iter().find_map(|it| it.first_lsn.as_ref());
        let notation = match shown {
            Some(LsnValue::Text(text)) if text.contains('/') => LsnNotation::Halves,
            Some(LsnValue::Text(_)) => LsnNotation::Hex,
            Some(LsnValue::Number(_)) | None => LsnNotation::Decimal,
        };
        Self {
            node: row.node.clone(),
            notation,
            placed: found
                .filter_map(|it| Some((range(&it.range)?, number(&it.segment))))
                .collect(),
            misfiled: row
                .misfiled
                .iter()
                .filter_map(|it| range(&it.range))
                .collect(),
            missing: ranges(&row.missing),
            in_snapshot: ranges(&row.in_snapshot),
        }
    }
}

fn range([first, last]: &[LsnValue; 2]) -> Option<LsnRange> {
    LsnRange::new(first.number()?, last.number()?)
}

/// Draws the nodes over one axis: a line each, the axis, and what the marks mean. Nothing where there is no position.
pub(in crate::report) fn lines(strips: &[Strip]) -> Vec<String> {
    let Some(axis) = Axis::of(strips) else {
        return Vec::new();
    };
    let notation = strips
        .first()
        .map_or(LsnNotation::Decimal, |strip| strip.notation);
    let name = strips
        .iter()
        .map(|strip| terminal(&strip.node).chars().count())
        .max()
        .unwrap_or(0);
    let line = |strip: &Strip| {
        let line: String = axis.line(strip).into_iter().collect();
        format!("{:name$} |{line}|", terminal(&strip.node))
    };
    let mut lines: Vec<String> = strips.iter().map(line).collect();
    let (first, last) = (
        notation.show(axis.first).to_string(),
        notation.show(axis.last).to_string(),
    );
    let between = WIDTH.saturating_sub(first.len() + last.len());
    lines.push(format!("{:name$}  {first}{:between$}{last}", "", ""));
    let mut legend = vec![format!("{} {} segments in turn", BARS[0], BARS[1])];
    let any = |test: &dyn Fn(&Strip) -> bool| strips.iter().any(test);
    if any(&|strip| !strip.misfiled.is_empty()) {
        legend.push(format!("{MISFILED} misfiled"));
    }
    if any(&|strip| !strip.missing.is_empty()) {
        legend.push(format!("{MISSING} missing"));
    }
    if any(&|strip| !strip.in_snapshot.is_empty()) {
        legend.push(format!("{SNAPSHOT} in a snapshot"));
    }
    lines.push(format!("{:name$}  {}", "", legend.join("   ")));
    lines
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
    fn of(strips: &[Strip]) -> Option<Self> {
        let held = LsnRange::join(
            strips
                .iter()
                .flat_map(|strip| {
                    let placed = strip.placed.iter().map(|(range, _)| *range);
                    placed.chain(strip.misfiled.iter().copied())
                })
                .collect(),
        );
        let absent = LsnRange::join(
            strips
                .iter()
                .flat_map(|strip| strip.missing.iter().chain(&strip.in_snapshot).copied())
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

    fn line(&self, strip: &Strip) -> Vec<char> {
        let mut line = vec![' '; WIDTH];
        for (range, segment) in &strip.placed {
            self.mark(&mut line, *range, BARS[segment % 2]);
        }
        for (ranges, mark) in [(&strip.in_snapshot, SNAPSHOT), (&strip.missing, MISSING)] {
            for range in ranges {
                self.mark(&mut line, *range, mark);
            }
        }
        for range in &strip.misfiled {
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
