//! The check as part of a full report: a row a WAL, a line a problem, words that every output shares.

use super::json::{LsnValue, ProblemRow, WalRow};
use super::picture::{Strip, lines};

/// Nodes drawn over one axis.
const DRAWN_MAX: usize = 8;

/// A WAL in words, none of them inert yet.
pub(in crate::report) struct Line {
    /// The node's name.
    pub(in crate::report) node: String,
    /// What the check says, and where a recovery ends.
    pub(in crate::report) verdict: String,
    /// The first and the last position by segment, in order.
    pub(in crate::report) positions: String,
    /// How many problems of each kind.
    pub(in crate::report) problems: String,
}

impl Line {
    /// Words one of the report's WALs.
    pub(in crate::report) fn new(row: &WalRow, rows: &[WalRow]) -> Self {
        let verdict = match row.verdict.as_str() {
            "clean" if !row.unread.is_empty() => "nothing wrong in what could be read",
            word => word,
        };
        let ends = row.end_lsn.as_ref();
        let ends = ends.map_or_else(String::new, |lsn| format!(", ends at {}", shown(lsn)));
        let first = row.segments.iter().find_map(|it| it.first_lsn.as_ref());
        let last = row.segments.iter().filter_map(|it| it.max_lsn.as_ref());
        let last = last.max_by_key(|it| it.number());
        let positions = match (first, last) {
            (Some(first), Some(last)) => format!("{}..{}", shown(first), shown(last)),
            _ => "none".to_owned(),
        };
        let mut kinds: Vec<(&str, usize)> = Vec::new();
        for problem in &row.problems {
            match kinds.iter_mut().find(|(kind, _)| *kind == problem.kind) {
                Some((_, count)) => *count += 1,
                None => kinds.push((&problem.kind, 1)),
            }
        }
        let kinds: Vec<String> = kinds
            .into_iter()
            .map(|(kind, count)| format!("{count} {kind}"))
            .collect();
        Self {
            node: label(row, rows),
            verdict: format!("{verdict}{ends}"),
            positions,
            problems: if kinds.is_empty() {
                "none".to_owned()
            } else {
                kinds.join(", ")
            },
        }
    }
}

/// The node, and where it has several WALs as much of the folder as tells them apart.
fn label(row: &WalRow, rows: &[WalRow]) -> String {
    let others: Vec<Vec<&str>> = rows
        .iter()
        .filter(|it| it.run == row.run && it.node == row.node && it.path != row.path)
        .map(|it| it.path.rsplit('/').collect())
        .collect();
    if others.is_empty() {
        return row.node.clone();
    }
    let own: Vec<&str> = row.path.rsplit('/').collect();
    let is_enough = |count: &usize| {
        let is_other = |other: &Vec<&str>| other.get(..*count) != own.get(..*count);
        others.iter().all(is_other)
    };
    let count = (1..own.len()).find(is_enough).unwrap_or(own.len());
    let mut folder = own[..count].to_vec();
    folder.reverse();
    format!("{} ({})", row.node, folder.join("/"))
}

/// Where a problem is: node, segment, offset and positions.
pub(in crate::report) fn place(row: &WalRow, rows: &[WalRow], problem: &ProblemRow) -> String {
    let offset = problem.offset.map(|offset| format!("offset {offset}"));
    let positions = problem.lsn.as_ref().map(|first| match &problem.lsn_to {
        Some(last) if last != first => format!("LSN {}..{}", shown(first), shown(last)),
        Some(_) | None => format!("LSN {}", shown(first)),
    });
    let parts = [
        Some(label(row, rows)),
        Some(problem.segment.clone()),
        offset,
        positions,
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// The positions of the WALs that share a run and a layout with the first that has a problem. Without one there is nothing to see.
pub(in crate::report) fn picture(rows: &[WalRow]) -> Vec<String> {
    let Some(worst) = rows.iter().find(|row| !row.problems.is_empty()) else {
        return Vec::new();
    };
    let beside = rows
        .iter()
        .filter(|row| row.run == worst.run && row.layout == worst.layout);
    let drawn = beside.clone().take(DRAWN_MAX);
    let strip = |row| {
        let mut strip = Strip::from(row);
        strip.node = label(row, rows);
        strip
    };
    let mut strips: Vec<Strip> = drawn.map(strip).collect();
    if beside.take(DRAWN_MAX).all(|row| row.path != worst.path) {
        strips = vec![worst.into()];
    }
    lines(&strips)
}

fn shown(lsn: &LsnValue) -> String {
    match lsn {
        LsnValue::Number(number) => number.to_string(),
        LsnValue::Text(text) => text.clone(),
    }
}
