//! Records that are worth a mark and have no stamp: drawn as the stretch between the stamps beside them where both are
//! known, and listed in the order of their logs. No time is made up for them.

use crate::report::axis::Axis;
use crate::report::figures::{counted, in_prose};
use crate::report::model::{Report, Unplaced};

use super::markup::Markup;
use super::sheet::Sheet;
use super::timeline::glyph;
use super::windows::span;

/// Records listed, and the bytes for them.
const LISTED_MAX: usize = 100;
const LISTED_BYTES: usize = 40_000;

/// Stretches of a node.
const STRETCHES_MAX: usize = 60;

/// Writes the stretches of a node in which its records without a stamp lie.
pub(super) fn between(
    report: &Report,
    axis: &Axis,
    (run, node, name): (&str, &str, &str),
    page: &mut Markup,
) {
    let own = report.timeline.unplaced.iter();
    let own = own.filter(|it| it.run == run && it.node == node);
    let stretches = own.filter_map(|it| {
        let (first, last) = axis.span(it.not_before.as_deref()?, it.not_after.as_deref()?)?;
        Some((it, first, last))
    });
    let stretches: Vec<(&Unplaced, i64, i64)> = stretches.collect();
    if stretches.is_empty() {
        return;
    }
    page.el("div", &[("class", "row")], |page| {
        page.leaf("span", &[("class", "name")], "marks without a stamp");
        let label = format!("Between which stamps records of {name} without one stand");
        let attributes = [("class", "span"), ("role", "img"), ("aria-label", &*label)];
        page.el("svg", &attributes, |page| {
            for (one, first, last) in stretches.iter().take(STRETCHES_MAX) {
                span(
                    axis,
                    &format!("between {}", one.kind.word()),
                    *first,
                    *last,
                    page,
                );
            }
        });
        let count = u64::try_from(stretches.len()).unwrap_or(u64::MAX);
        page.leaf("span", &[("class", "sum")], &count.to_string());
        page.left_out(stretches.len().saturating_sub(STRETCHES_MAX), "stretches");
    });
}

/// Lists all of them.
pub(super) fn list(sheet: &Sheet<'_>, page: &mut Markup) {
    let unplaced = &sheet.report.timeline.unplaced;
    if unplaced.is_empty() {
        return;
    }
    let count = u64::try_from(unplaced.len()).unwrap_or(u64::MAX);
    page.el("details", &[("class", "unplaced"), ("open", "")], |page| {
        let text = format!(
            "Not placed: {} worth a mark without a stamp, in the order of the logs",
            counted(count, "record", "records")
        );
        page.leaf("summary", &[], &text);
        page.el("ul", &[("class", "plain")], |page| {
            let left = page.bounded(unplaced, LISTED_MAX, LISTED_BYTES, |page, it| {
                row(sheet, it, page);
            });
            page.left_out(left, "records");
        });
    });
}

fn row(sheet: &Sheet<'_>, one: &Unplaced, page: &mut Markup) {
    let place = sheet.place(&one.run, &one.node);
    page.el("li", &[("class", "it"), ("data-n", &place)], |page| {
        let class = format!("glyph {}", one.kind.word());
        page.leaf("span", &[("class", &class)], glyph(one.kind));
        page.leaf("b", &[], one.kind.word());
        page.text(&format!(": {}. ", one.text));
        page.leaf("span", &[("class", "dim")], &when(one));
        page.el("div", &[("class", "cited")], |page| {
            page.leaf(
                "code",
                &[("class", "dim")],
                &format!("{}:{}", one.path, one.line),
            );
            page.text(" ");
            page.leaf("code", &[("class", "log")], &one.said);
        });
    });
}

/// What is known of its time.
fn when(one: &Unplaced) -> String {
    let before = one.not_before.as_deref().map(in_prose);
    let after = one.not_after.as_deref().map(in_prose);
    match (before, after) {
        (Some(first), Some(last)) => format!("Between {first} and {last}."),
        (Some(first), None) => format!("After {first}."),
        (None, Some(last)) => format!("Before {last}."),
        (None, None) => "Its log has no stamp before or behind it.".to_owned(),
    }
}
