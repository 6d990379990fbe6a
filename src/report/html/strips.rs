//! Strips: answers side by side over time, each row a count on a node, darker where there were more.

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
    let strips = &sheet.report.timeline.strips;
    let Some(axis) = &sheet.axis else { return };
    if strips.is_empty() {
        return;
    }
    page.section("strips", "Answers over time", |page| {
        page.leaf(
            "p",
            &[("class", "sub")],
            "The same stretch of time as above. The darker a step, the more were counted in it; each row has a scale of its own.",
        );
        let left = page.bounded(strips, STRIPS_MAX, STRIP_BYTES, |page, strip| {
            let run = if has_several_runs(sheet.report) {
                format!(", run {}", strip.run)
            } else {
                String::new()
            };
            page.el("div", &[("class", "tl strip")], |page| {
                page.leaf("h3", &[], &format!("{}{run}", strip.name));
                scale(axis, axis.focus, page);
                for row in strip.rows.iter().take(ROWS_MAX) {
                    one_row(sheet, strip, row, lanes, page);
                }
                page.left_out(strip.rows.len().saturating_sub(ROWS_MAX), "rows");
            });
        });
        page.left_out(left, "strips");
    });
}

fn one_row(sheet: &Sheet<'_>, strip: &Strip, row: &StripRow, lanes: &mut Lanes, page: &mut Markup) {
    let Some(axis) = &sheet.axis else { return };
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
