//! The WALs found beside the logs: a row each, what their problems lead to, and a picture of the positions.

use crate::report::counts::node_name;
use crate::report::escape::{markdown_code, markdown_inline};
use crate::report::figures::thousands;
use crate::report::model::Report;
use crate::report::wal::summary::{Line, picture, place};

use super::page::Page;

/// Rows of the table.
const ROWS_MAX: usize = 40;

/// Problems told.
const PROBLEMS_MAX: usize = 20;

/// Writes the WALs, if there are any.
pub(super) fn write(report: &Report, page: &mut Page) {
    if report.wal.is_empty() {
        return;
    }
    page.section("Write-ahead logs");
    let header = [
        "Node",
        "Folder",
        "Layout",
        "Verdict",
        "Segments:",
        "Records:",
        "LSN",
        "Problems",
    ];
    let rows = report.wal.iter().take(ROWS_MAX).map(|row| {
        let line = Line::new(row, &report.wal);
        let segments = u64::try_from(row.segments.len()).unwrap_or(u64::MAX);
        vec![
            markdown_inline(&node_name(report, &row.run, &line.node)),
            markdown_inline(&row.path),
            markdown_inline(&row.layout),
            markdown_inline(&line.verdict),
            thousands(segments),
            thousands(row.records),
            markdown_inline(&line.positions),
            markdown_inline(&line.problems),
        ]
    });
    page.table(&header.map(str::to_owned), &rows.collect::<Vec<_>>());
    page.left_out(report.wal.len(), ROWS_MAX, "WALs");
    let problems = report
        .wal
        .iter()
        .flat_map(|row| row.problems.iter().map(move |it| (row, it)));
    let count = problems.clone().count();
    let items = problems.take(PROBLEMS_MAX).map(|(row, problem)| {
        let (place, kind) = (
            place(row, &report.wal, problem),
            markdown_inline(&problem.kind),
        );
        let (place, detail) = (markdown_inline(&place), markdown_inline(&problem.detail));
        format!(
            "{kind}: {place}: {detail}. {}",
            markdown_inline(&problem.consequence)
        )
    });
    page.list(&items.collect::<Vec<_>>());
    page.left_out(count, PROBLEMS_MAX, "problems of WALs");
    let unread = report.wal.iter().flat_map(|row| &row.unread);
    let unread = unread.take(PROBLEMS_MAX).map(|it| {
        let (path, detail) = (markdown_inline(&it.path), markdown_inline(&it.detail));
        format!("not read: {path}: {detail}")
    });
    page.list(&unread.collect::<Vec<_>>());
    let picture = picture(&report.wal);
    if !picture.is_empty() {
        page.block(&markdown_code(&picture.join("\n")));
    }
}
