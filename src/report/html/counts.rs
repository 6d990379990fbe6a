//! Counts: signal by node and code by node, with a small picture of when.

use crate::report::counts::{self, Cell, Grid, Row};
use crate::report::figures::{counted, thousands};

use super::findings::zero;
use super::lanes::bars;
use super::markup::Markup;
use super::sheet::Sheet;
use super::signals::anchor_of;

/// Nodes with a column of their own; the others are summed up.
const COLUMNS_MAX: usize = 10;

/// Rows of a table, and the bytes for them.
const ROWS_MAX: usize = 300;
const ROW_BYTES: usize = 160_000;
const CODE_BYTES: usize = 40_000;

/// Bars of a small picture.
const SPARKS: i64 = 40;

/// Writes the tables.
pub(super) fn write(sheet: &Sheet<'_>, page: &mut Markup) {
    let report = sheet.report;
    if report.records.total == 0 {
        return;
    }
    page.section("counts", "Counts", |page| {
        page.el("p", &[("class", "sub")], |page| {
            page.text("Each record once: what the err.log repeats is one record. ");
            if let Some(axis) = sheet.axes.only() {
                page.text(&format!("Small bars: {}. ", axis.words(axis.focus)));
            } else if !sheet.axes.all().is_empty() {
                page.text("Small bars: the stretch of time that the timeline shows of the run. ");
            }
            page.text("n/o: not observable, the node's log could not have shown it; such a total is a lower bound (≥), unless what runs there logs nothing of the kind. ");
            page.text(&levels(sheet));
        });
        let records = counts::records(report);
        let mut signals = counts::signals(report, true);
        signals.rows.splice(0..0, records.rows);
        table(sheet, "Signal", &signals, true, page);
        for (heading, rows) in [
            ("Code", &report.codes),
            ("Code further in", &report.codes_nested),
        ] {
            let grid = counts::codes(report, rows);
            if !grid.rows.is_empty() {
                table(sheet, heading, &grid, false, page);
            }
        }
    });
}

fn levels(sheet: &Sheet<'_>) -> String {
    let records = &sheet.report.records;
    let levels = records.by_level.iter();
    let levels: Vec<String> = levels
        .map(|(level, count)| format!("{} {level}", thousands(*count)))
        .collect();
    let mut text = format!(
        "Levels: {}. {} a record, {} to none.",
        levels.join(", "),
        counted(
            records.continuation_lines,
            "line continues",
            "lines continue"
        ),
        counted(records.unparsed_lines, "line belongs", "lines belong"),
    );
    let suspects: u64 = sheet.report.signals.iter().map(|it| it.suspect).sum();
    if suspects > 0 {
        let suspects = counted(suspects, "occurrence", "occurrences");
        text = format!("{text} {suspects} may be forged.");
    }
    text
}

fn table(sheet: &Sheet<'_>, what: &str, grid: &Grid, has_signals: bool, page: &mut Markup) {
    let grid = grid.narrowed(COLUMNS_MAX);
    let has_total = grid.columns.len() > 1;
    let mut left = 0;
    page.el("div", &[("class", "scroll")], |page| {
        page.el("table", &[("class", "grid sortable")], |page| {
            page.el("thead", &[], |page| {
                page.el("tr", &[], |page| {
                    page.leaf("th", &[("scope", "col")], what);
                    for column in &grid.columns {
                        page.leaf("th", &[("scope", "col"), ("class", "n")], column);
                    }
                    if has_total {
                        page.leaf("th", &[("scope", "col"), ("class", "n")], "total");
                    }
                });
            });
            let groups = groups(&grid.rows);
            let bytes_max = if has_signals { ROW_BYTES } else { CODE_BYTES };
            left = page.bounded(groups, ROWS_MAX, bytes_max, |page, rows| {
                let places = sheet.places(with_counts(&grid, rows));
                page.el("tbody", &[("class", "it"), ("data-n", &places)], |page| {
                    for row in rows {
                        one_row(sheet, &grid, row, has_signals, has_total, page);
                    }
                });
            });
        });
    });
    page.left_out(left, "rows");
}

/// Rows with those that split them.
fn groups(rows: &[Row]) -> Vec<&[Row]> {
    let mut groups = Vec::new();
    let mut begin = 0;
    for end in 1..=rows.len() {
        if rows.get(end).is_none_or(|row| !row.is_part) {
            groups.push(rows.get(begin..end).unwrap_or_default());
            begin = end;
        }
    }
    groups
}

/// The columns in which any of the rows counts.
fn with_counts<'g>(grid: &'g Grid, rows: &'g [Row]) -> impl Iterator<Item = &'g str> {
    let counts = |at: usize| {
        let is_some = |row: &Row| !matches!(row.cells.get(at), None | Some(Cell::Count(0)));
        rows.iter().any(is_some)
    };
    let columns = grid.columns.iter().enumerate();
    columns
        .filter(move |(at, _)| counts(*at))
        .map(|(_, name)| name.as_str())
}

fn one_row(
    sheet: &Sheet<'_>,
    grid: &Grid,
    row: &Row,
    has_signals: bool,
    has_total: bool,
    page: &mut Markup,
) {
    let class = if row.is_part { "part" } else { "" };
    let is_signal = has_signals && !row.is_part;
    page.el("tr", &[("class", class)], |page| {
        page.el("th", &[("scope", "row")], |page| {
            if is_signal && sheet.report.signals.iter().any(|it| it.signal == row.label) {
                page.link(&anchor_of(&row.label), &[], |page| page.text(&row.label));
            } else {
                page.text(&row.label);
            }
        });
        for (column, cell) in grid.columns.iter().zip(&row.cells) {
            let class = match cell {
                Cell::Count(count) => zero(*count),
                Cell::NotObservable | Cell::Foreign => "n unseen",
            };
            page.el("td", &[("class", class)], |page| {
                if is_signal {
                    spark(sheet, &row.label, column, page);
                }
                page.leaf("span", &[], &cell.text());
            });
        }
        if has_total {
            page.leaf("td", &[("class", "n total")], &row.total_text());
        }
    });
}

/// When a signal was said on a node, as small bars.
fn spark(sheet: &Sheet<'_>, signal: &str, node: &str, page: &mut Markup) {
    let (Some(axis), points) = (sheet.axis_of(signal, node), sheet.points(signal, node)) else {
        return;
    };
    if points.is_empty() {
        return;
    }
    let counts = axis
        .focus
        .in_bars(axis.step, SPARKS)
        .joined(&axis.points(points));
    let attributes = [
        ("class", "spark"),
        ("viewBox", "0 0 1000 24"),
        ("preserveAspectRatio", "none"),
        ("aria-hidden", "true"),
    ];
    page.el("svg", &attributes, |page| {
        page.leaf("path", &[("d", &bars(&counts))], "");
    });
}
