//! What is left: counts that must agree, records that nothing explains, and what could not have been seen.

use std::collections::BTreeMap;

use crate::report::counts::{has_several_runs, node_name};
use crate::report::diagnosis;
use crate::report::exported;
use crate::report::figures::{counted, difference, names, share, thousands};
use crate::report::model::{Balance, Coverage, NearMiss};

use super::evidence::place;
use super::markup::Markup;
use super::sheet::Sheet;

/// Items of each list, and the bytes for each.
const ITEMS_MAX: usize = 200;
const ITEM_BYTES: usize = 50_000;

/// Parts of a balance's side, explanations of a remainder, names in a row.
const PARTS_MAX: usize = 10;

/// Writes balances, coverage and what is not observable.
pub(super) fn write(sheet: &Sheet<'_>, page: &mut Markup) {
    if !sheet.report.balances.is_empty() {
        page.section("balances", "Balances", |page| {
            page.leaf(
                "p",
                &[("class", "sub")],
                "Two counts that must agree, what is left between them, and what could explain it.",
            );
            page.el("div", &[("class", "balances")], |page| {
                let balances = &sheet.report.balances;
                let left = page.bounded(balances, ITEMS_MAX, ITEM_BYTES, |page, it| {
                    balance(sheet, it, page);
                });
                page.left_out(left, "balances");
            });
        });
    }
    if sheet.report.records.total > 0 {
        page.section("unexplained", "Unexplained", |page| {
            coverage(&sheet.report.coverage, page);
        });
    }
    let ignored = &sheet.report.coverage.ignored;
    if !ignored.is_empty() {
        page.section("ignored", "Left out by request", |page| {
            page.el("ul", &[], |page| {
                let left = page.bounded(ignored, ITEMS_MAX, ITEM_BYTES, |page, it| {
                    page.leaf("li", &[("class", "it")], &diagnosis::ignored(it));
                });
                page.left_out(left, "entries");
            });
        });
    }
    unseen(sheet, page);
    let sentences = exported::sentences(sheet.report);
    if !sentences.is_empty() {
        page.section("counters", "Error counters", |page| {
            page.leaf(
                "p",
                &[("class", "sub")],
                "What the exported system.errors of each node counts. It counts throws, not records.",
            );
            page.el("ul", &[], |page| {
                let left = page.bounded(&sentences, ITEMS_MAX, ITEM_BYTES, |page, it| {
                    page.leaf("li", &[("class", "it")], it);
                });
                page.left_out(left, "nodes");
            });
        });
    }
}

fn balance(sheet: &Sheet<'_>, balance: &Balance, page: &mut Markup) {
    let is_even = balance.remainder == 0;
    let class = format!("balance it{}", if is_even { " even" } else { "" });
    page.el("div", &[("class", &class)], |page| {
        let run = if has_several_runs(sheet.report) {
            format!(" (run {})", balance.run)
        } else {
            String::new()
        };
        page.leaf("h3", &[], &format!("{}{run}", balance.name));
        page.el("table", &[("class", "sums")], |page| {
            page.el("tbody", &[], |page| {
                sum(
                    page,
                    "left",
                    &thousands(balance.left.count),
                    &balance.left.what,
                );
                for (at, side) in balance.right.iter().take(PARTS_MAX).enumerate() {
                    let class = if at == 0 { "first" } else { "" };
                    sum(
                        page,
                        class,
                        &format!("− {}", thousands(side.count)),
                        &side.what,
                    );
                }
                let verdict = if is_even { "it balances" } else { "remainder" };
                sum(page, "rest", &difference(balance.remainder), verdict);
            });
        });
        if !is_even && !balance.could_be.is_empty() {
            page.leaf("p", &[("class", "could")], "It could be:");
            page.el("ul", &[], |page| {
                for item in balance.could_be.iter().take(PARTS_MAX) {
                    page.prose_in("li", &[], item);
                }
            });
        }
    });
}

fn sum(page: &mut Markup, class: &str, count: &str, what: &str) {
    page.el("tr", &[("class", class)], |page| {
        page.leaf("td", &[("class", "n")], count);
        page.prose_in("td", &[], what);
    });
}

fn coverage(coverage: &Coverage, page: &mut Markup) {
    let text = if coverage.error_records == 0 {
        "There is no Error or Fatal record.".to_owned()
    } else {
        format!(
            "Findings and harmless signals explain {} of {} ({}).",
            thousands(coverage.explained),
            counted(
                coverage.error_records,
                "Error or Fatal record",
                "Error and Fatal records"
            ),
            share(coverage.explained, coverage.error_records),
        )
    };
    page.leaf("p", &[("class", "sub")], &text);
    if !coverage.unexplained.is_empty() {
        let mut left = 0;
        table(
            &["Count", "Level", "Message, what varies replaced", "First"],
            page,
            |page| {
                left = page.bounded(&coverage.unexplained, ITEMS_MAX, ITEM_BYTES, |page, it| {
                    page.el("tr", &[("class", "it")], |page| {
                        page.leaf("td", &[("class", "n")], &thousands(it.count));
                        page.leaf("td", &[], it.level.class().key());
                        page.el("td", &[], |page| {
                            page.leaf("code", &[("class", "log")], &it.template);
                        });
                        page.el("td", &[], |page| {
                            page.leaf("code", &[("class", "log")], &place(it.example.as_ref()));
                        });
                    });
                });
            },
        );
        page.left_out(left, "templates");
    }
    if !coverage.near_misses.is_empty() {
        page.leaf("h3", &[], "Near misses");
        page.leaf(
            "p",
            &[("class", "sub")],
            "These hold a signal's text and do not fit it; the message may have changed.",
        );
        let mut left = 0;
        table(
            &["Count", "Signal", "First of them", "Place"],
            page,
            |page| {
                left = page.bounded(&coverage.near_misses, ITEMS_MAX, ITEM_BYTES, |page, it| {
                    near(it, page);
                });
            },
        );
        page.left_out(left, "near misses");
    }
}

fn near(near: &NearMiss, page: &mut Markup) {
    page.el("tr", &[("class", "it")], |page| {
        page.leaf("td", &[("class", "n")], &thousands(near.count));
        page.el("td", &[], |page| page.leaf("code", &[], &near.signal));
        page.el("td", &[], |page| {
            let text = near.example.as_ref().map_or("", |it| &it.text);
            page.leaf("code", &[("class", "log")], text);
        });
        page.el("td", &[], |page| {
            page.leaf("code", &[("class", "log")], &place(near.example.as_ref()));
        });
    });
}

/// A table with a head and rows.
pub(super) fn table(header: &[&str], page: &mut Markup, rows: impl FnOnce(&mut Markup)) {
    page.el("div", &[("class", "scroll")], |page| {
        page.el("table", &[("class", "grid list")], |page| {
            page.el("thead", &[], |page| {
                page.el("tr", &[], |page| {
                    for name in header {
                        let class = if *name == "Count" { "n" } else { "" };
                        page.leaf("th", &[("scope", "col"), ("class", class)], name);
                    }
                });
            });
            page.el("tbody", &[], rows);
        });
    });
}

fn unseen(sheet: &Sheet<'_>, page: &mut Markup) {
    let mut nodes: BTreeMap<(&str, &str, &str), Vec<String>> = BTreeMap::new();
    for missed in &sheet.report.not_observable {
        let of_signal = nodes
            .entry((&missed.signal, &missed.why, &missed.collect))
            .or_default();
        let node = node_name(sheet.report, &missed.run, &missed.node);
        if !of_signal.contains(&node) {
            of_signal.push(node);
        }
    }
    if nodes.is_empty() {
        return;
    }
    page.section("unseen", "Not observable here", |page| {
        page.leaf(
            "p",
            &[("class", "sub")],
            "Where these are not counted, that says nothing: the logs here would not show them.",
        );
        let mut left = 0;
        table(&["Signal", "On", "Why", "Collect"], page, |page| {
            left = page.bounded(&nodes, ITEMS_MAX, ITEM_BYTES, |page, (key, nodes)| {
                let places = sheet.places(nodes.iter().map(String::as_str));
                page.el("tr", &[("class", "it"), ("data-n", &places)], |page| {
                    page.el("td", &[], |page| page.leaf("code", &[], key.0));
                    page.leaf("td", &[], &names(nodes, PARTS_MAX));
                    page.prose_in("td", &[], key.1);
                    page.prose_in("td", &[], key.2);
                });
            });
        });
        page.left_out(left, "signals");
    });
}
