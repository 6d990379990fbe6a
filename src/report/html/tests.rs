//! Tests: the verdict on them, runs with their totals, groups with what ties them and their leaves folded below.

use crate::report::figures::{counted, length, thousands};
use crate::report::model::Report;
use crate::report::model::tests::{TestGroup, TestRun};
use crate::report::testing as tests;

use super::markup::Markup;
use super::remainder::table;
use super::sheet::Sheet;

/// Runs and groups, and the bytes for all of them.
const RUNS_MAX: usize = 40;
const RUN_BYTES: usize = 60_000;
const GROUPS_MAX: usize = 60;
const GROUP_BYTES: usize = 300_000;

/// Leaves, areas and other items of one.
const ITEMS_MAX: usize = 40;

/// Writes the tests and what happened beside them, if there is any of it.
pub(super) fn write(sheet: &Sheet<'_>, page: &mut Markup) {
    let report = sheet.report;
    let events: Vec<String> = tests::telling_events(report)
        .map(tests::event_words)
        .collect();
    let none = || (!events.is_empty()).then(|| "no run of tests is told".to_owned());
    let Some(verdict) = tests::verdict(report).or_else(none) else {
        return;
    };
    page.section("tests", "Tests", |page| {
        page.leaf("h3", &[], &verdict);
        let rows: Vec<&TestRun> = tests::speakers(report).collect();
        let left = page.bounded(&rows, RUNS_MAX, RUN_BYTES, |page, row| run(row, page));
        page.left_out(left, "runs of tests");
        disagreements(report, page);
        items(
            "Beside the tests",
            &events.iter().map(String::as_str).collect::<Vec<_>>(),
            page,
        );
        let left = page.bounded(
            &report.tests.groups,
            GROUPS_MAX,
            GROUP_BYTES,
            |page, one| group(one, page),
        );
        page.left_out(left, "groups of failing tests");
    });
}

fn run(row: &TestRun, page: &mut Markup) {
    page.el("div", &[("class", "it")], |page| {
        page.leaf("p", &[], &tests::run_words(row));
        page.leaf("p", &[("class", "sub")], &tests::totals(row).join("; "));
        if let Some(why) = tests::counted_differently(row) {
            page.leaf("p", &[("class", "sub")], &why);
        }
        for fault in row.faults.iter().take(ITEMS_MAX) {
            page.el("p", &[], |page| {
                let says = tests::fault_words(row, fault);
                page.text(&format!("It says that it failed: {says}, in "));
                page.leaf("code", &[], &fault.path);
            });
        }
        let warnings = tests::warnings(row).map(|it| it.text.clone());
        for text in tests::retries(row)
            .into_iter()
            .chain(warnings)
            .take(ITEMS_MAX)
        {
            page.leaf("p", &[("class", "sub")], &text);
        }
        page.el("p", &[("class", "sub")], |page| {
            page.leaf("code", &[], &row.source);
        });
        let running: Vec<&str> = row
            .running
            .iter()
            .filter(|test| test.innermost)
            .map(|test| test.test.as_str())
            .collect();
        items("Still running", &running, page);
        let known: Vec<String> = row
            .known
            .iter()
            .map(|known| format!("{} {}", known.result, known.test))
            .collect();
        items(
            "Known",
            &known.iter().map(String::as_str).collect::<Vec<_>>(),
            page,
        );
    });
}

/// A folded list; nothing if it is empty.
fn items(name: &str, texts: &[&str], page: &mut Markup) {
    if texts.is_empty() {
        return;
    }
    page.el("details", &[], |page| {
        page.leaf("summary", &[], &format!("{name}: {}", texts.len()));
        page.el("ul", &[], |page| {
            for text in texts.iter().take(ITEMS_MAX) {
                page.leaf("li", &[], text);
            }
        });
        page.left_out(texts.len().saturating_sub(ITEMS_MAX), "of them");
    });
}

fn disagreements(report: &Report, page: &mut Markup) {
    let all = &report.tests.disagreements;
    if all.is_empty() {
        return;
    }
    table(
        &["Sources of one run disagree on", "One says", "Another says"],
        page,
        |page| {
            for one in all.iter().take(ITEMS_MAX) {
                page.el("tr", &[("class", "it")], |page| {
                    page.leaf("td", &[], &format!("{} {}", one.run, one.what));
                    for saying in [&one.left, &one.right] {
                        page.el("td", &[], |page| {
                            page.text(&format!("{} in ", saying.says));
                            page.leaf("code", &[], &saying.path);
                        });
                    }
                });
            }
        },
    );
    page.left_out(all.len().saturating_sub(ITEMS_MAX), "disagreements");
}

fn group(group: &TestGroup, page: &mut Markup) {
    page.el("div", &[("class", "it"), ("id", &group.id)], |page| {
        page.el("h3", &[], |page| {
            page.text(&format!("{} {}: ", group.id, group.role));
            page.text(&counted(length(&group.leaves), "leaf", "leaves"));
            if let Some(cause) = &group.cause {
                page.text(" ");
                page.link(cause, &[("class", "ref")], |page| page.text(cause));
            }
        });
        page.el("p", &[], |page| {
            page.leaf("code", &[("class", "log")], &group.signature);
        });
        page.leaf("p", &[("class", "sub")], &group.why);
        if let Some(above) = &group.above {
            page.el("p", &[("class", "sub")], |page| {
                page.text(&format!("{} above says: ", above.test));
                page.leaf("code", &[("class", "log")], &above.message);
            });
        }
        if let Some(tries) = tests::tries(group) {
            page.leaf("p", &[("class", "sub")], &tries);
        }
        let mut areas: Vec<(&String, &u64)> = group.by_area.iter().collect();
        areas.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
        let areas: Vec<String> = areas
            .iter()
            .map(|(area, count)| format!("{} {area}", thousands(**count)))
            .collect();
        items(
            "By feature",
            &areas.iter().map(String::as_str).collect::<Vec<_>>(),
            page,
        );
        let leaves = group.leaves.iter();
        let leaves: Vec<String> = leaves
            .map(|leaf| format!("{} ({}:{})", leaf.test, leaf.path, leaf.source_line))
            .collect();
        items(
            "Leaves",
            &leaves.iter().map(String::as_str).collect::<Vec<_>>(),
            page,
        );
    });
}
