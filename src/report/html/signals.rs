//! The records behind the counts: of each signal what it means, its busiest minute, its values, its first records.

use crate::report::counts::node_name;
use crate::report::figures::{counted, in_prose, span, thousands};
use crate::report::model::SignalRow;

use super::evidence;
use super::markup::{Markup, anchor};
use super::sheet::Sheet;

/// Signals told, and the bytes for them.
const SIGNALS_MAX: usize = 250;
const SIGNAL_BYTES: usize = 160_000;

/// Nodes of a signal, values of a field, records of a signal.
const NODES_MAX: usize = 12;
const VALUES_MAX: usize = 10;
const CITED_MAX: usize = 6;

/// The name that a signal is linked by.
pub(super) fn anchor_of(signal: &str) -> String {
    format!("s-{}", anchor(signal))
}

/// Writes the signals that occurred.
pub(super) fn write(sheet: &Sheet<'_>, page: &mut Markup) {
    let mut names: Vec<&str> = Vec::new();
    for row in &sheet.report.signals {
        if names.last() != Some(&row.signal.as_str()) {
            names.push(&row.signal);
        }
    }
    if names.is_empty() {
        return;
    }
    page.section("signals", "Records behind the counts", |page| {
        page.el("p", &[("class", "sub")], |page| {
            page.prose("The first few of each signal. `casdiag lines SIGNAL PATH...` lists all of them, and says what a plain grep would have counted.");
        });
        let left = page.bounded(names, SIGNALS_MAX, SIGNAL_BYTES, |page, name| one(sheet, name, page));
        page.left_out(left, "signals");
    });
}

fn one(sheet: &Sheet<'_>, name: &str, page: &mut Markup) {
    let own = |it: &&SignalRow| it.signal == name;
    let rows: Vec<&SignalRow> = sheet.report.signals.iter().filter(own).collect();
    let total: u64 = rows.iter().map(|it| it.count).sum();
    let nodes: Vec<String> = rows
        .iter()
        .filter(|it| it.count > 0)
        .map(|it| node_name(sheet.report, &it.run, &it.node))
        .collect();
    let places = sheet.places(nodes.iter().map(String::as_str));
    let id = anchor_of(name);
    let attributes = [
        ("class", "signal it"),
        ("id", id.as_str()),
        ("data-n", places.as_str()),
    ];
    page.el("details", &attributes, |page| {
        page.el("summary", &[], |page| {
            page.leaf("code", &[], name);
            page.leaf("span", &[("class", "n")], &thousands(total));
            if let Some(row) = rows.first() {
                page.prose_in("span", &[("class", "title")], &row.what);
            }
        });
        page.el("div", &[("class", "body")], |page| {
            page.el("dl", &[("class", "facts")], |page| {
                for row in rows.iter().filter(|it| it.count > 0).take(NODES_MAX) {
                    on_node(sheet, row, page);
                }
            });
            page.left_out(nodes.len().saturating_sub(NODES_MAX), "nodes");
            if total == 0 {
                page.leaf(
                    "p",
                    &[("class", "sub")],
                    "None, where the logs would have shown it.",
                );
            }
            let cited = rows.iter().flat_map(|it| &it.evidence);
            let mut left = 0;
            page.el("ol", &[("class", "evidence")], |page| {
                left = page.bounded(cited, CITED_MAX, SIGNAL_BYTES, |page, it| {
                    evidence::write(it, page);
                });
            });
            page.left_out(left, "records");
        });
    });
}

fn on_node(sheet: &Sheet<'_>, row: &SignalRow, page: &mut Markup) {
    page.el("div", &[("class", "wide")], |page| {
        page.leaf("dt", &[], &node_name(sheet.report, &row.run, &row.node));
        page.el("dd", &[], |page| {
            page.leaf("b", &[], &thousands(row.count));
            if let Some(span) = span(row.first.as_deref(), row.last.as_deref()) {
                page.text(&format!(", {span}"));
            }
            if let Some(peak) = row.peak.as_ref().filter(|it| it.per_minute > 1) {
                page.text(&format!(
                    "; busiest minute {}: {}",
                    in_prose(&peak.at),
                    thousands(peak.per_minute)
                ));
            }
            if row.suspect > 0 {
                page.text(&format!("; {} may be forged", thousands(row.suspect)));
            }
        });
        for (field, values) in &row.by {
            let values: Vec<(&String, u64)> = values.iter().map(|(it, n)| (it, *n)).collect();
            field_values(field, &values, values.len(), page);
        }
        for (field, values) in &row.top {
            let distinct = row.distinct.get(field).copied().unwrap_or(0);
            let all = usize::try_from(distinct).unwrap_or(usize::MAX);
            let values: Vec<(&String, u64)> = values.iter().map(|(it, n)| (it, *n)).collect();
            field_values(field, &values, all.max(values.len()), page);
        }
    });
}

fn field_values(field: &str, values: &[(&String, u64)], all: usize, page: &mut Markup) {
    if values.is_empty() {
        return;
    }
    page.el("dd", &[("class", "values")], |page| {
        page.leaf("span", &[("class", "field")], field);
        for (value, count) in values.iter().take(VALUES_MAX) {
            page.el("span", &[("class", "value")], |page| {
                page.leaf("code", &[], value);
                page.text(&format!(" × {}", thousands(*count)));
            });
        }
        let left = all - values.len().min(VALUES_MAX);
        if left > 0 {
            let left = u64::try_from(left).unwrap_or(u64::MAX);
            let text = format!("and {}", counted(left, "more value", "more values"));
            page.leaf("span", &[("class", "value")], &text);
        }
    });
}
