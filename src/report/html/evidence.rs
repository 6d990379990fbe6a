//! A cited record under its place, with the lines beside it.

use crate::report::model::Evidence;

use super::markup::Markup;

/// Writes a record with its place, as an item of a list.
pub(super) fn write(evidence: &Evidence, page: &mut Markup) {
    page.el("li", &[("class", "cited it")], |page| {
        let place = place(Some(evidence));
        page.el("p", &[("class", "place")], |page| {
            page.leaf("code", &[], &place);
            page.leaf(
                "span",
                &[("class", "offset")],
                &format!("byte {}", evidence.offset),
            );
            let button = [
                ("type", "button"),
                ("class", "copy js"),
                ("title", "Copy the place"),
            ];
            page.leaf("button", &button, "Copy");
        });
        page.el("div", &[("class", "lines"), ("dir", "ltr")], |page| {
            let before = u64::try_from(evidence.before.len()).unwrap_or(0);
            let first = evidence.line.saturating_sub(before);
            let beside = |page: &mut Markup, line: u64, text: &str| {
                page.el("div", &[("class", "beside")], |page| {
                    page.leaf("i", &[], &line.to_string());
                    page.leaf("code", &[], text);
                });
            };
            for (line, text) in (first..).zip(&evidence.before) {
                beside(page, line, text);
            }
            page.el("div", &[("class", "head")], |page| {
                let line = evidence.line;
                let line = if line == 0 {
                    String::new()
                } else {
                    line.to_string()
                };
                page.leaf("i", &[], &line);
                page.leaf("code", &[], &evidence.text);
            });
            for (line, text) in (evidence.line.saturating_add(1)..).zip(&evidence.after) {
                beside(page, line, text);
            }
        });
    });
}

/// The place of a record: its file, and its line where there are lines.
pub(super) fn place(evidence: Option<&Evidence>) -> String {
    evidence.map_or_else(String::new, |it| match it.line {
        // A WAL has no lines; the byte says where.
        0 => it.path.clone(),
        line => format!("{}:{line}", it.path),
    })
}
