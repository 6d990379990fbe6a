//! The WALs found beside the logs: a row each, the worst first where there are many, and what their problems lead to.

use std::cmp::Reverse;

use comfy_table::{Cell, CellAlignment, Table, presets};

use crate::report::counts::node_name;
use crate::report::escape::terminal;
use crate::report::figures::thousands;
use crate::report::model::Report;
use crate::report::wal::WalRow;
use crate::report::wal::summary::{Line, picture, place};
use crate::report::width;

use super::page::{Page, Paint};

/// Columns for a name.
const NAME_WIDTH: usize = 32;

/// Writes the WALs, if there are any.
pub(super) fn write(report: &Report, page: &mut Page) {
    if report.wal.is_empty() {
        return;
    }
    page.gap();
    let shown = worst(&report.wal, page.room().wals);
    for (at, line) in table(report, &shown).lines().enumerate() {
        let painted = if at == 0 { line.len() } else { 0 };
        page.painted_line(&line, painted, Paint::Bold);
    }
    page.leave_out(report.wal.len() - shown.len(), "WAL", "WALs");
    let problems = report
        .wal
        .iter()
        .flat_map(|row| row.problems.iter().map(move |it| (row, it)));
    let count = problems.clone().count();
    for (row, problem) in problems.take(page.room().wal_problems) {
        let text = format!(
            "{}: {}: {}",
            problem.kind,
            place(row, &report.wal, problem),
            problem.consequence
        );
        page.wrapped(&terminal(&text), 2, page.room().title_lines + 1);
    }
    page.leave_out(
        count.saturating_sub(page.room().wal_problems),
        "problem of WALs",
        "problems of WALs",
    );
    if page.room().draws {
        for line in picture(&report.wal) {
            page.line(&format!("  {line}"));
        }
    }
}

/// The rows to show, in their order: where not all fit, those with most problems.
fn worst(rows: &[WalRow], most: usize) -> Vec<&WalRow> {
    let mut ranked: Vec<(usize, &WalRow)> = rows.iter().enumerate().collect();
    ranked.sort_by_key(|(at, row)| (Reverse(row.problems.len()), Reverse(row.unread.len()), *at));
    ranked.truncate(most);
    ranked.sort_by_key(|(at, _)| *at);
    ranked.into_iter().map(|(_, row)| row).collect()
}

fn table(report: &Report, rows: &[&WalRow]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let right = |text: &str| Cell::new(text).set_alignment(CellAlignment::Right);
    let name = |text: &str| Cell::new(width::cut(&terminal(text), NAME_WIDTH));
    table.set_header(vec![
        Cell::new("write-ahead logs"),
        Cell::new("layout"),
        Cell::new("verdict"),
        right("segments"),
        right("records"),
        right("LSN"),
        Cell::new("problems"),
    ]);
    for row in rows {
        let line = Line::new(row, &report.wal);
        let segments = u64::try_from(row.segments.len()).unwrap_or(u64::MAX);
        table.add_row(vec![
            name(&node_name(report, &row.run, &line.node)),
            name(&row.layout),
            name(&line.verdict),
            right(&thousands(segments)),
            right(&thousands(row.records)),
            right(&terminal(&line.positions)),
            name(&line.problems),
        ]);
    }
    for (at, column) in table.column_iter_mut().enumerate() {
        column.set_padding((if at == 0 { 0 } else { 2 }, 0));
    }
    table
}
