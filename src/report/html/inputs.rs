//! What was read: the nodes with their processes, and every input with the time that it spans.

use crate::report::axis::{Axis, View};
use crate::report::clocks;
use crate::report::counts::node_name;
use crate::report::figures::{counted, in_prose, span, thousands};
use crate::report::model::{Environment, Gap, Input};

use super::lanes::WIDTH;
use super::markup::Markup;
use super::remainder::table;
use super::sheet::Sheet;
use super::timeline::ticks;

/// Inputs and nodes listed, and the bytes for each list.
const INPUTS_MAX: usize = 400;
const INPUT_BYTES: usize = 100_000;
const NODE_BYTES: usize = 40_000;

/// Starts of a process and problems of an input.
const STARTS_MAX: usize = 3;
const CLOCKS_MAX: usize = 12;
const PROBLEMS_MAX: usize = 5;

/// Writes the nodes and the inputs.
pub(super) fn write(sheet: &Sheet<'_>, page: &mut Markup) {
    let report = sheet.report;
    if report.inputs.is_empty() {
        return;
    }
    page.section("inputs", "Inputs", |page| {
        let known = |it: &&Environment| {
            it.version.is_some()
                || it.log_level.is_some()
                || it.zone.is_some()
                || !it.starts.is_empty()
        };
        let nodes: Vec<&Environment> = report.environment.iter().filter(known).collect();
        if !nodes.is_empty() {
            let mut left = 0;
            table(
                &["Node", "Version", "Log level", "Zone", "Process starts"],
                page,
                |page| {
                    left = page.bounded(nodes, INPUTS_MAX, NODE_BYTES, |page, it| {
                        node(sheet, it, page);
                    });
                },
            );
            page.left_out(left, "nodes");
        }
        let clocks = clocks::sentences(report);
        for sentence in clocks.iter().take(CLOCKS_MAX) {
            page.leaf("p", &[("class", "sub")], sentence);
        }
        page.left_out(clocks.len().saturating_sub(CLOCKS_MAX), "pairs of clocks");
        if !sheet.axes.all().is_empty() {
            page.el("p", &[("class", "sub")], |page| {
                page.text(&sheet.axes.only().map_or_else(
                    || "Each span on all the time of its run's axis".to_owned(),
                    |axis| format!("Spans on {}", axis.words(axis.whole)),
                ));
                page.text(
                    "; light stretches: 5 s and more in which the node's main log has no record.",
                );
            });
        }
        files(sheet, page);
    });
}

fn node(sheet: &Sheet<'_>, node: &Environment, page: &mut Markup) {
    let place = sheet.place(&node.run, &node.node);
    page.el("tr", &[("class", "it"), ("data-n", &place)], |page| {
        page.leaf("td", &[], &node_name(sheet.report, &node.run, &node.node));
        page.el("td", &[], |page| {
            page.leaf("span", &[], node.version.as_deref().unwrap_or("unknown"));
            if let Some(build) = &node.build {
                page.leaf("code", &[("class", "log dim")], build);
            }
        });
        page.leaf(
            "td",
            &[],
            node.log_level.map_or("unknown", |it| it.class().key()),
        );
        page.leaf("td", &[], node.zone.as_deref().unwrap_or("not said"));
        let starts = node.starts.iter().take(STARTS_MAX);
        let mut starts: Vec<String> = starts.map(|it| in_prose(it).to_owned()).collect();
        let left = node.starts.len() - starts.len();
        if left > 0 {
            starts.push(format!("and {left} more"));
        }
        let starts = if starts.is_empty() {
            "none seen".to_owned()
        } else {
            starts.join(", ")
        };
        page.leaf("td", &[], &starts);
    });
}

fn files(sheet: &Sheet<'_>, page: &mut Markup) {
    let mut left = 0;
    page.el("div", &[("class", "scroll")], |page| {
        page.el("table", &[("class", "grid list files")], |page| {
            page.el("thead", &[], |page| {
                page.el("tr", &[], |page| {
                    for (name, class) in [
                        ("Input", ""),
                        ("Node", ""),
                        ("Records", "n"),
                        ("Bytes", "n"),
                    ] {
                        page.leaf("th", &[("scope", "col"), ("class", class)], name);
                    }
                    page.el("th", &[("scope", "col"), ("class", "axis")], |page| {
                        if let Some(axis) = sheet.axes.only() {
                            ticks(axis, axis.whole, page);
                        }
                    });
                });
            });
            page.el("tbody", &[], |page| {
                let inputs = &sheet.report.inputs;
                left = page.bounded(inputs, INPUTS_MAX, INPUT_BYTES, |page, it| {
                    file(sheet, it, page);
                });
            });
        });
    });
    page.left_out(left, "inputs");
}

fn file(sheet: &Sheet<'_>, input: &Input, page: &mut Markup) {
    let place = sheet.place(&input.run, &input.node);
    page.el("tr", &[("class", "it"), ("data-n", &place)], |page| {
        page.el("td", &[], |page| {
            page.leaf("code", &[("class", "log")], &input.path);
            page.leaf("span", &[("class", "dim")], &input.kind());
            if !input.problems.is_empty() {
                problems(input, page);
            }
        });
        let node = node_name(sheet.report, &input.run, &input.node);
        page.leaf("td", &[("class", "node"), ("data-what", "node")], &node);
        let number = |page: &mut Markup, what: &str, count: u64| {
            let attributes = [("class", "n"), ("data-what", what)];
            page.leaf("td", &attributes, &thousands(count));
        };
        number(page, "records", input.records);
        number(page, "bytes", input.bytes);
        page.el("td", &[("class", "axis")], |page| {
            let text = span(input.first.as_deref(), input.last.as_deref());
            let text = text.unwrap_or_else(|| "no time stamp".to_owned());
            let first = input.first.as_deref();
            let place = first.and_then(|it| sheet.axes.of_stamp(&input.run, it));
            if let Some(axis) = sheet.axis_at(place) {
                stretch(sheet, axis, input, &text, page);
            }
            page.leaf("span", &[("class", "dim when")], &text);
        });
    });
}

fn problems(input: &Input, page: &mut Markup) {
    page.el("ul", &[("class", "problems")], |page| {
        for problem in input.problems.iter().take(PROBLEMS_MAX) {
            let line = problem
                .line
                .map_or_else(String::new, |it| format!(" (first in line {it})"));
            page.leaf(
                "li",
                &[],
                &format!("{}: {}{line}", problem.kind, problem.detail),
            );
        }
    });
    page.left_out(
        input.problems.len().saturating_sub(PROBLEMS_MAX),
        "problems",
    );
}

/// The time that an input spans, with the stretches in which its node said nothing.
fn stretch(sheet: &Sheet<'_>, axis: &Axis, input: &Input, label: &str, page: &mut Markup) {
    let (Some(first), Some(last)) = (&input.first, &input.last) else {
        return;
    };
    let Some((first, last)) = axis.span(first, last) else {
        return;
    };
    let own = |it: &&Gap| it.run == input.run && it.node == input.node;
    let gaps = sheet.report.timeline.gaps.iter().filter(own);
    let gaps: Vec<(i64, i64)> = gaps
        .filter_map(|it| axis.span(&it.first, &it.last))
        .filter(|(from, to)| *from >= first && *to <= last)
        .collect();
    let gap_count = u64::try_from(gaps.len()).unwrap_or(u64::MAX);
    let label = format!("{label}; {}", counted(gap_count, "gap", "gaps"));
    let attributes = [
        ("class", "stretch"),
        ("viewBox", "0 0 1000 24"),
        ("preserveAspectRatio", "none"),
        ("role", "img"),
        ("aria-label", label.as_str()),
    ];
    page.el("svg", &attributes, |page| {
        bar(axis.whole, "read", first, last, page);
        for (from, to) in gaps {
            bar(axis.whole, "gap", from, to, page);
        }
    });
}

fn bar(view: View, class: &str, from: i64, to: i64, page: &mut Markup) {
    let x = |millis: i64| {
        let length = i128::from(view.seconds().max(1)) * 1000;
        let at = i128::from(millis) - i128::from(view.from) * 1000;
        i64::try_from(at * i128::from(WIDTH) / length).unwrap_or(0)
    };
    let (left, right) = (x(from), x(to));
    let attributes = [
        ("class", class),
        ("x", &*left.to_string()),
        ("y", "8"),
        ("width", &*(right - left).max(2).to_string()),
        ("height", "8"),
    ];
    page.leaf("rect", &attributes, "");
}
