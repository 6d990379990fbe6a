//! When the findings hold: a bar each, on the axis of their run.

use crate::report::axis::{Axis, View};
use crate::report::figures::window;

use super::lanes::percent;
use super::markup::Markup;
use super::sheet::Sheet;
use super::timeline::On;
use super::verdict::rank;

/// Findings with a row of their own.
const WINDOWS_MAX: usize = 12;

/// Writes the findings that hold on an axis.
pub(super) fn write(sheet: &Sheet<'_>, on: On<'_>, page: &mut Markup) {
    let axis = on.axis;
    let findings = &sheet.report.findings;
    let placed: Vec<_> = findings
        .iter()
        .filter_map(|it| {
            let place = sheet.axes.of_stamp(&it.run, it.window.first.as_deref()?);
            let (first, last) = axis.window(&it.window)?;
            (place == Some(on.at)).then_some((it, first, last))
        })
        .collect();
    if placed.is_empty() {
        return;
    }
    let all = placed.len();
    page.el("div", &[("class", "group")], |page| {
        page.leaf("h3", &[], "Findings");
        for (finding, first, last) in placed.into_iter().take(WINDOWS_MAX) {
            let names = sheet.names(finding, &finding.nodes);
            let places = sheet.places(names.iter().map(String::as_str));
            let rank = rank(finding.severity).to_string();
            let attributes = [
                ("class", "row it"),
                ("data-n", places.as_str()),
                ("data-s", rank.as_str()),
            ];
            page.el("div", &attributes, |page| {
                page.link(&finding.id, &[("class", "name")], |page| {
                    page.leaf("b", &[], &finding.id);
                    page.text(" ");
                    page.text(&finding.rule);
                });
                let label = window(&finding.window).unwrap_or_default();
                page.el(
                    "svg",
                    &[("class", "span"), ("role", "img"), ("aria-label", &label)],
                    |page| {
                        span(axis, finding.severity.word(), first, last, page);
                    },
                );
                page.leaf("span", &[("class", "sum")], finding.severity.word());
            });
        }
        page.left_out(all.saturating_sub(WINDOWS_MAX), "findings");
    });
}

/// A stretch as a bar, never narrower than can be seen.
pub(super) fn span(axis: &Axis, class: &str, first: i64, last: i64, page: &mut Markup) {
    let view = axis.focus;
    let (begin, end) = (view.from * 1000, view.to() * 1000);
    let from = first.max(begin).min(end);
    // Never narrower than can be seen: a moment has a window too.
    let least = view.seconds() * 4;
    let to = last.max(begin).min(end).max(from + least);
    let (left, _) = percent(view, from);
    let (length, _) = percent(View { from: 0, ..view }, to - from);
    let is_shown = last >= begin && first <= end;
    let (first, last) = (first.to_string(), last.to_string());
    let attributes = [
        ("class", class),
        ("x", left.as_str()),
        ("y", "7"),
        ("width", length.as_str()),
        ("height", "10"),
        ("visibility", if is_shown { "visible" } else { "hidden" }),
        ("data-a", first.as_str()),
        ("data-b", last.as_str()),
    ];
    page.leaf("rect", &attributes, "");
}
