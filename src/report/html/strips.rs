//! Strips: answers side by side over time, each row a count on a node, darker where there were more.

use std::collections::BTreeMap;

use crate::report::axis::Axis;
use crate::report::counts::{has_several_runs, node_name};
use crate::report::figures::thousands;
use crate::report::model::{Strip, StripRow};

use super::lanes::{Lanes, Shape};
use super::markup::Markup;
use super::sheet::Sheet;
use super::timeline::scale;

/// Strips, rows of a strip, and the bytes for all of them.
const STRIPS_MAX: usize = 6;
const ROWS_MAX: usize = 40;
const STRIP_BYTES: usize = 100_000;

/// Writes the strips.
pub(super) fn write(sheet: &Sheet<'_>, lanes: &mut Lanes, page: &mut Markup) {
    let mut placed: Vec<(usize, &Strip, Vec<&StripRow>)> = Vec::new();
    for strip in &sheet.report.timeline.strips {
        let mut by_axis: BTreeMap<usize, Vec<&StripRow>> = BTreeMap::new();
        for row in &strip.rows {
            if let Some(at) = sheet.axes.of_node(&strip.run, &row.node) {
                by_axis.entry(at).or_default().push(row);
            }
        }
        placed.extend(by_axis.into_iter().map(|(at, rows)| (at, strip, rows)));
    }
    if placed.is_empty() {
        return;
    }
    page.section("strips", "Answers over time", |page| {
        page.leaf(
            "p",
            &[("class", "sub")],
            "The stretches of time are those shown above. The darker a step, the more were counted in it; each row has a scale of its own.",
        );
        let left = page.bounded(placed, STRIPS_MAX, STRIP_BYTES, |page, (at, strip, rows)| {
            let Some(axis) = sheet.axis_at(Some(at)) else { return };
            let run = if has_several_runs(sheet.report) {
                format!(", run {}", strip.run)
            } else {
                String::new()
            };
            let attributes = [("class", "tl strip"), ("data-x", &*at.to_string())];
            page.el("div", &attributes, |page| {
                page.leaf("h3", &[], &format!("{}{run}", strip.name));
                scale(axis, axis.focus, page);
                for row in rows.iter().take(ROWS_MAX) {
                    one_row(sheet, axis, strip, row, lanes, page);
                }
                page.left_out(rows.len().saturating_sub(ROWS_MAX), "rows");
            });
        });
        page.left_out(left, "strips");
    });
}

fn one_row(
    sheet: &Sheet<'_>,
    axis: &Axis,
    strip: &Strip,
    row: &StripRow,
    lanes: &mut Lanes,
    page: &mut Markup,
) {
    let place = sheet.place(&strip.run, &row.node);
    let class = format!("row it shade {}", row.tone.word());
    page.el("div", &[("class", &class), ("data-n", &place)], |page| {
        let node = node_name(sheet.report, &strip.run, &row.node);
        page.el("span", &[("class", "name")], |page| {
            page.prose(&row.what);
            page.leaf("span", &[("class", "on")], &node);
        });
        let label = format!("{} on {node}: {}", row.what, row.count);
        lanes.draw(page, axis, Shape::Shades, &label, &row.points);
        page.leaf("span", &[("class", "sum")], &thousands(row.count));
    });
}
