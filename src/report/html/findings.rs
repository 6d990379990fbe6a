//! Findings, each in full: who, when, counts by node, mechanism, what it is not, what to do, the records that show it.

use serde_json::Value;

use crate::report::counts::has_several_runs;
use crate::report::figures::{denied, fraction, names, thousands};
use crate::report::model::{Applies, Finding};
use crate::report::worst;

use super::markup::{Markup, anchor};
use super::sheet::Sheet;
use super::verdict::{NAMES_MAX, badge, rank, whole_window};
use super::{evidence, signals};

/// Findings told, and the bytes for them.
const FINDINGS_MAX: usize = 60;
const FINDING_BYTES: usize = 300_000;

/// Items of a list in a finding, and records cited for it.
const ITEMS_MAX: usize = 12;
const CITED_MAX: usize = 16;
const CITED_BYTES: usize = 50_000;

/// Columns of a finding's counts.
const COLUMNS_MAX: usize = 10;

/// Writes the findings.
pub(super) fn write(sheet: &Sheet<'_>, page: &mut Markup) {
    let findings = &sheet.report.findings;
    if findings.is_empty() {
        return;
    }
    let first = worst(sheet.report).map(|it| it.id.as_str());
    page.section("findings", "Findings", |page| {
        let left = page.bounded(findings, FINDINGS_MAX, FINDING_BYTES, |page, finding| {
            one(sheet, finding, first == Some(&finding.id), page);
        });
        page.left_out(left, "findings");
    });
}

fn one(sheet: &Sheet<'_>, finding: &Finding, is_open: bool, page: &mut Markup) {
    let id = anchor(&finding.id);
    let all = sheet.names(finding, &finding.nodes);
    let places = sheet.places(all.iter().map(String::as_str));
    let rank = rank(finding.severity).to_string();
    let class = format!("finding it sev-{}", finding.severity.word());
    let mut attributes = vec![
        ("id", id.as_str()),
        ("class", class.as_str()),
        ("data-n", places.as_str()),
        ("data-s", rank.as_str()),
    ];
    if is_open {
        attributes.push(("open", ""));
    }
    page.el("details", &attributes, |page| {
        page.el("summary", &[], |page| {
            page.leaf("b", &[("class", "id")], &finding.id);
            badge(page, finding.severity);
            page.leaf("span", &[("class", "sure")], finding.confidence.word());
            page.prose_in("span", &[("class", "title")], &finding.title);
        });
        page.el("div", &[("class", "body")], |page| {
            facts(sheet, finding, page);
            counts(finding, page);
            page.el("div", &[("class", "two")], |page| {
                page.el("div", &[], |page| {
                    page.leaf("h4", &[], "How it comes about");
                    page.paragraphs(&finding.mechanism);
                    list("Next steps", &finding.next_steps, page);
                });
                page.el("div", &[], |page| {
                    let denials: Vec<String> =
                        finding.not_this.iter().map(|it| denied(it)).collect();
                    list("What this is not", &denials, page);
                    list("Not excluded", &finding.not_excluded, page);
                    list("Known issues", &known(finding), page);
                    list("Not observable here", &unseen(finding), page);
                });
            });
            cited(finding, page);
        });
    });
}

fn facts(sheet: &Sheet<'_>, finding: &Finding, page: &mut Markup) {
    let named = |nodes: &[String]| names(&sheet.names(finding, nodes), NAMES_MAX);
    page.el("dl", &[("class", "facts")], |page| {
        fact(page, "rule", |page| page.leaf("code", &[], &finding.rule));
        if !finding.category.is_empty() {
            fact(page, "category", |page| page.text(&finding.category));
        }
        if let Some(place) = &finding.fix_goes_in {
            fact(page, "a fix goes in", |page| page.text(place));
        }
        page.el("div", &[("class", "long")], |page| {
            page.leaf("dt", &[], "window");
            page.leaf("dd", &[], &whole_window(finding));
        });
        fact(page, "reported by", |page| {
            page.text(&named(&finding.reported_by));
        });
        if !finding.accused.is_empty() {
            fact(page, "accused", |page| page.text(&named(&finding.accused)));
        }
        if has_several_runs(sheet.report) {
            fact(page, "run", |page| {
                page.text(&format!(
                    "{}; found in {} of {} runs",
                    finding.run, finding.runs.k, finding.runs.n
                ));
            });
        }
        let followers = sheet.report.findings.iter();
        let followers = followers.filter(|it| it.caused_by.contains(&finding.id));
        let followers: Vec<String> = followers.map(|it| it.id.clone()).collect();
        for (what, ids) in [
            ("follows from", &finding.caused_by),
            ("leads to", &followers),
        ] {
            if !ids.is_empty() {
                fact(page, what, |page| {
                    for id in ids.iter().take(ITEMS_MAX) {
                        page.link(id, &[], |page| page.text(id));
                        page.text(" ");
                    }
                });
            }
        }
        for (name, share) in &finding.shares {
            fact(page, name, |page| page.text(&fraction(*share)));
        }
        for (name, value) in finding.subjects.iter().take(ITEMS_MAX) {
            let class = if value.is_array() { "wide" } else { "" };
            page.el("div", &[("class", class)], |page| {
                page.leaf("dt", &[], name);
                page.el("dd", &[], |page| subject(value, page));
            });
        }
    });
}

fn fact(page: &mut Markup, what: &str, value: impl FnOnce(&mut Markup)) {
    page.el("div", &[], |page| {
        page.leaf("dt", &[], what);
        page.el("dd", &[], value);
    });
}

/// A subject: text as it is, values with their counts, the first few of a list.
fn subject(value: &Value, page: &mut Markup) {
    let Value::Array(items) = value else {
        page.leaf("code", &[], &plain(value));
        return;
    };
    if items.is_empty() {
        page.text("none");
    }
    for item in items.iter().take(NAMES_MAX) {
        if let Value::Array(pair) = item
            && let [text, count] = pair.as_slice()
        {
            page.el("span", &[("class", "value")], |page| {
                page.leaf("code", &[], &plain(text));
                page.text(&format!(" × {}", plain(count)));
            });
        } else {
            page.leaf("code", &[("class", "value")], &plain(item));
        }
    }
    let left = items.len().saturating_sub(NAMES_MAX);
    if left > 0 {
        page.leaf("span", &[("class", "value")], &format!("and {left} more"));
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            value.to_string()
        }
    }
}

/// The rule's counts, those that are not nought anywhere with a column per node.
fn counts(finding: &Finding, page: &mut Markup) {
    if finding.counts.is_empty() {
        return;
    }
    let has_any =
        |counts: &std::collections::BTreeMap<String, u64>| counts.values().any(|it| *it > 0);
    let with_counts = finding.counts_by_node.iter().filter(|(_, it)| has_any(it));
    let columns: Vec<_> = with_counts.take(COLUMNS_MAX).collect();
    let left = finding
        .counts_by_node
        .iter()
        .filter(|(_, it)| has_any(it))
        .count()
        - columns.len();
    page.el("div", &[("class", "scroll fit")], |page| {
        page.el("table", &[("class", "grid small")], |page| {
            page.el("thead", &[], |page| {
                page.el("tr", &[], |page| {
                    page.leaf("th", &[("scope", "col")], "count of the rule");
                    for (node, _) in &columns {
                        page.leaf("th", &[("scope", "col"), ("class", "n")], node);
                    }
                    page.leaf("th", &[("scope", "col"), ("class", "n")], "total");
                });
            });
            page.el("tbody", &[], |page| {
                for (name, total) in finding.counts.iter().take(4 * ITEMS_MAX) {
                    page.el("tr", &[], |page| {
                        page.leaf("th", &[("scope", "row")], name);
                        for (_, counts) in &columns {
                            let count = counts.get(name).copied().unwrap_or(0);
                            page.leaf("td", &[("class", zero(count))], &thousands(count));
                        }
                        page.leaf("td", &[("class", zero(*total))], &thousands(*total));
                    });
                }
            });
        });
    });
    page.left_out(left, "nodes with counts");
}

/// The class of a number: a nought is there to be read, not to be seen.
pub(super) fn zero(count: u64) -> &'static str {
    if count == 0 { "n zero" } else { "n" }
}

fn list(heading: &str, items: &[String], page: &mut Markup) {
    if items.is_empty() {
        return;
    }
    page.leaf("h4", &[], heading);
    page.el("ul", &[], |page| {
        for item in items.iter().take(ITEMS_MAX) {
            page.prose_in("li", &[], item);
        }
    });
    page.left_out(items.len().saturating_sub(ITEMS_MAX), "items");
}

fn known(finding: &Finding) -> Vec<String> {
    let one = |known: &crate::report::model::Known| {
        let fixed = known.fixed_in.as_deref().map_or_else(
            || "no fixed version known".to_owned(),
            |it| format!("fixed in {it}"),
        );
        let applies = match known.applies {
            Applies::Yes => "a version here is older than the fix",
            Applies::No => "every version here has the fix, so this is something else or a relapse",
            Applies::Unknown => "the versions here do not say whether it applies",
        };
        format!("{}: {fixed}; {applies}", known.reference)
    };
    finding.known.iter().map(one).collect()
}

fn unseen(finding: &Finding) -> Vec<String> {
    let one = |missed: &crate::report::model::NotObservable| {
        let why = missed.why.trim_end_matches('.');
        format!(
            "{} on {}: {why}. Collect: {}",
            missed.signal, missed.node, missed.collect
        )
    };
    finding.not_observable.iter().map(one).collect()
}

fn cited(finding: &Finding, page: &mut Markup) {
    if finding.evidence.is_empty() {
        return;
    }
    page.leaf("h4", &[], "Evidence");
    let mut left = 0;
    page.el("ol", &[("class", "evidence")], |page| {
        left = page.bounded(&finding.evidence, CITED_MAX, CITED_BYTES, |page, it| {
            evidence::write(it, page);
        });
    });
    page.left_out(left, "records");
    if finding.signals.is_empty() {
        return;
    }
    page.el("p", &[("class", "sub")], |page| {
        page.text("All records of its signals: ");
        for signal in finding.signals.iter().take(ITEMS_MAX) {
            page.link(&signals::anchor_of(signal), &[("class", "value")], |page| {
                page.text(signal);
            });
        }
    });
}
