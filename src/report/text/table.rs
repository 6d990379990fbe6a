//! The counts table, signal by node, as wide as the terminal allows.

use std::collections::BTreeSet;

use comfy_table::{Cell as TableCell, CellAlignment, Table, presets};

use crate::report::counts::{self, Grid, Row};
use crate::report::escape::terminal;
use crate::report::model::Report;
use crate::report::width;

use super::page::{Page, Paint};
use super::spark::{self, Sparks};

/// Columns for a label.
const LABEL_WIDTH: usize = 32;

/// Blank columns between two.
const PADDING: usize = 2;

/// Writes records and signals by node.
pub(super) fn counts(report: &Report, page: &mut Page) {
    if page.room().signals == 0 {
        page.leave_out(1, "table of counts", "tables of counts");
        return;
    }
    if report.records.total == 0 {
        return;
    }
    let signals = counts::signals(report, false);
    let mut grid = counts::records(report);
    let left = signals.rows.len().saturating_sub(page.room().signals);
    grid.rows
        .extend(most_telling(report, signals.rows, page.room().signals));
    page.gap();
    let shown = fitted(&grid, page.width());
    let room = page.width().saturating_sub(drawn_width(&shown) + PADDING);
    let labels: Vec<&str> = shown.rows.iter().map(|it| it.label.as_str()).collect();
    let sparks = spark::of(report, &labels, room);
    draw(&shown, sparks.as_ref(), page);
    page.leave_out(left, "signal", "signals");
    let summed_up = (grid.columns.len() + 1).saturating_sub(shown.columns.len());
    page.leave_out(if summed_up > 1 { summed_up } else { 0 }, "node", "nodes");
}

/// The signals that findings count, then the most frequent, in the order of the report.
fn most_telling(report: &Report, rows: Vec<Row>, rows_max: usize) -> Vec<Row> {
    let grounds: BTreeSet<&str> = report
        .findings
        .iter()
        .flat_map(|it| &it.signals)
        .map(String::as_str)
        .collect();
    let in_finding = |row: &Row| grounds.contains(row.label.as_str());
    let mut by_weight: Vec<(usize, Row)> = rows.into_iter().enumerate().collect();
    by_weight.sort_by_key(|(at, row)| (!in_finding(row), std::cmp::Reverse(row.total), *at));
    by_weight.truncate(rows_max);
    by_weight.sort_by_key(|(at, _)| *at);
    by_weight.into_iter().map(|(_, row)| row).collect()
}

/// The grid with as many columns as fit.
fn fitted(grid: &Grid, width: usize) -> Grid {
    let most = grid.columns.len().min(width / (PADDING + 1)).max(1);
    let narrower = (1..=most)
        .rev()
        .map(|columns_max| grid.narrowed(columns_max));
    narrower
        .into_iter()
        .find(|it| drawn_width(it) <= width)
        .unwrap_or_else(|| grid.narrowed(1))
}

fn drawn_width(grid: &Grid) -> usize {
    table(grid, None)
        .lines()
        .map(|line| width::columns(line.trim_end()))
        .max()
        .unwrap_or(0)
}

fn draw(grid: &Grid, sparks: Option<&Sparks>, page: &mut Page) {
    for (at, line) in table(grid, sparks).lines().enumerate() {
        let painted = if at == 0 { line.len() } else { 0 };
        page.painted_line(&line, painted, Paint::Bold);
    }
}

fn table(grid: &Grid, sparks: Option<&Sparks>) -> Table {
    let with_total = grid.columns.len() > 1;
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let right = |text: String| TableCell::new(text).set_alignment(CellAlignment::Right);
    let mut header = vec![TableCell::new("records and signals")];
    header.extend(
        grid.columns
            .iter()
            .map(|it| right(width::cut_start(&terminal(it), LABEL_WIDTH))),
    );
    if with_total {
        header.push(right("total".to_owned()));
    }
    header.extend(sparks.map(|it| TableCell::new(&it.heading)));
    table.set_header(header);
    for (at, row) in grid.rows.iter().enumerate() {
        let mut cells = vec![TableCell::new(width::cut(
            &terminal(&row.label),
            LABEL_WIDTH,
        ))];
        cells.extend(row.cells.iter().map(|cell| right(cell.text())));
        if with_total {
            cells.push(right(row.total_text()));
        }
        cells.extend(sparks.and_then(|it| it.rows.get(at)).map(TableCell::new));
        table.add_row(cells);
    }
    for (at, column) in table.column_iter_mut().enumerate() {
        let left = if at == 0 {
            0
        } else {
            u16::try_from(PADDING).unwrap_or(0)
        };
        column.set_padding((left, 0));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::counts::Cell;

    fn grid(nodes: usize) -> Grid {
        let columns: Vec<String> = (0..nodes).map(|it| format!("node-{it}")).collect();
        let cells = (0..nodes).map(|it| Cell::Count(1000 * it as u64)).collect();
        let row = Row {
            label: "records".to_owned(),
            cells,
            total: 0,
            is_partial: false,
            is_part: false,
        };
        Grid {
            columns,
            rows: vec![row],
        }
    }

    #[test]
    fn columns_that_do_not_fit_are_summed_up() {
        assert_eq!(fitted(&grid(3), 80).columns, ["node-0", "node-1", "node-2"]);
        let narrow = fitted(&grid(40), 55);
        assert_eq!(narrow.columns, ["node-38", "node-39", "38 others"]);
        // 0 + 1 + ... + 37, in thousands.
        assert_eq!(
            narrow.rows[0].cells,
            [
                Cell::Count(38_000),
                Cell::Count(39_000),
                Cell::Count(703_000)
            ]
        );
    }
}
