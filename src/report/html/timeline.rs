//! The timeline: what marks each node's life, and how often each signal was said, on each axis.

use std::cmp::Reverse;

use crate::report::axis::{Axis, View};
use crate::report::counts::node_name;
use crate::report::figures::{counted, in_prose, names, thousands};
use crate::report::model::{Mark, PositionSeries, SignalRow};
use crate::report::positions::Range;
use crate::vocab::MarkKind;

use super::lanes::{Lanes, Shape, WIDTH, bars, percent, x};
use super::levels;
use super::markup::{Markup, anchor};
use super::sheet::Sheet;
use super::unplaced;
use super::verdict::NAMES_MAX;
use super::windows;

/// Nodes with lanes, and lanes of a node.
const NODES_MAX: usize = 12;
const LANES_MAX: usize = 12;

/// Bytes of all lanes.
const NODE_BYTES: usize = 240_000;

/// Marks of a node, and the bytes for them.
const MARKS_MAX: usize = 100;
const MARK_BYTES: usize = 20_000;

/// Axes drawn, and the nodes that each of them has at least.
const AXES_MAX: usize = 8;
const NODES_MIN: usize = 3;

/// Writes the timeline.
pub(super) fn write(sheet: &Sheet<'_>, lanes: &mut Lanes, page: &mut Markup) {
    let axes = sheet.axes.all();
    if axes.is_empty() {
        return;
    }
    page.section("timeline", "Timeline", |page| {
        intro(sheet, page);
        page.el("div", &[("class", "tl"), ("id", "tl")], |page| {
            tools(axes, page);
            let mut nodes: Vec<Vec<Node<'_>>> = axes.iter().map(|_| Vec::new()).collect();
            for node in all_nodes(sheet) {
                let place = sheet.axes.of_node(node.run, node.id);
                if let Some(own) = place.and_then(|it| nodes.get_mut(it)) {
                    own.push(node);
                }
            }
            let drawn = axes.len().min(AXES_MAX);
            for (at, nodes) in nodes.into_iter().enumerate().take(drawn) {
                let axis = On {
                    at,
                    axis: &axes[at],
                };
                one_axis(sheet, axis, lanes, nodes, drawn, page);
            }
            page.left_out(axes.len() - drawn, "stretches of time");
        });
        unplaced::list(sheet, page);
    });
}

/// An axis and its place among them.
#[derive(Clone, Copy)]
pub(super) struct On<'r> {
    pub(super) at: usize,
    pub(super) axis: &'r Axis,
}

impl On<'_> {
    /// An id of its own.
    fn id(self, name: &str) -> String {
        match self.at {
            0 => name.to_owned(),
            at => format!("{name}-{at}"),
        }
    }
}

/// An axis with what happened on it.
fn one_axis<'r>(
    sheet: &Sheet<'r>,
    on: On<'_>,
    lanes: &mut Lanes,
    mut nodes: Vec<Node<'r>>,
    drawn: usize,
    page: &mut Markup,
) {
    let axis = on.axis;
    let attributes = [("class", "clock"), ("data-x", &*on.at.to_string())];
    page.el("div", &attributes, |page| {
        if sheet.axes.only().is_none() {
            page.el("p", &[("class", "sub clock-of")], |page| {
                let runs = sheet.axes.runs(on.at);
                let what = if runs.len() == 1 { "Run" } else { "Runs" };
                page.text(&format!("{what} {}: ", names(&runs, NAMES_MAX)));
                shown(on, page);
                if !axis.is_dated {
                    page.text("The log writes no dates.");
                }
            });
        }
        overview(sheet, on, page);
        scale(axis, axis.focus, page);
        if axis.is_ambiguous() {
            let text = "The log writes no dates and runs on for days: marks and findings, of which only the time of day is known, have no place here.";
            page.leaf("p", &[("class", "sub")], text);
        }
        windows::write(sheet, on, page);
        for node in nodes.iter_mut().take(NODES_MAX) {
            node.find_rows(sheet);
        }
        let positions = sheet.report.timeline.positions.iter();
        let own = |it: &&PositionSeries| sheet.axes.of_node(&it.run, &it.node) == Some(on.at);
        let levels = levels::scale(positions.filter(own));
        let nodes_max = (NODES_MAX / drawn).max(NODES_MIN);
        let left = page.bounded(&nodes, nodes_max, NODE_BYTES / drawn, |page, node| {
            one_node(sheet, axis, levels, lanes, node, page);
        });
        page.left_out(left, "nodes");
    });
}

/// Which stretch of an axis is shown.
fn shown(on: On<'_>, page: &mut Markup) {
    let axis = on.axis;
    page.leaf("b", &[("id", &on.id("tl-range"))], &axis.words(axis.focus));
    if axis.focus == axis.whole {
        page.text(", all there is. ");
    } else {
        page.text(&format!(
            ", where the findings are, of {}. ",
            axis.words(axis.whole)
        ));
    }
}

fn intro(sheet: &Sheet<'_>, page: &mut Markup) {
    let timeline = &sheet.report.timeline;
    page.el("p", &[("class", "sub")], |page| {
        if let Some(axis) = sheet.axes.only() {
            page.text("Shown: ");
            shown(On { at: 0, axis }, page);
        } else {
            page.text("Runs that lie far apart, or write no dates, have an axis each. ");
        }
        page.text("Times are those of the servers' clocks. A bar is as high as its count, ");
        page.text("each lane has a scale of its own. Counts are kept in steps of ");
        page.text(&format!(
            "{}.",
            counted(timeline.step_seconds, "second", "seconds")
        ));
        if timeline.unmarked > 0 {
            page.text(&format!(
                " {} worth a mark without one: without a time stamp (see below), or beyond the bound on marks.",
                counted(timeline.unmarked, "record is", "records are")
            ));
        }
    });
    legend(&timeline.marks, page);
}

fn legend(marks: &[Mark], page: &mut Markup) {
    page.el("p", &[("class", "legend")], |page| {
        let mut kinds: Vec<MarkKind> = marks.iter().map(|it| it.kind).collect();
        kinds.sort_unstable();
        kinds.dedup();
        for kind in kinds {
            page.el("span", &[("class", "key")], |page| {
                let class = format!("glyph {}", kind.word());
                page.leaf("span", &[("class", &class)], glyph(kind));
                page.text(kind.word());
            });
        }
        for (class, text) in [
            ("high", "counted by a finding of high severity or worse"),
            ("medium", "medium"),
            ("low", "low or info"),
            ("other", "by none"),
            ("good", "good news"),
        ] {
            page.el("span", &[("class", "key")], |page| {
                let class = format!("swatch {class}");
                page.leaf("span", &[("class", &class)], "");
                page.text(text);
            });
        }
    });
}

fn tools(axes: &[Axis], page: &mut Markup) {
    let label = "Timeline. Plus and minus zoom, arrows move, 0 shows the whole, f the findings.";
    let attributes = [
        ("class", "tools js"),
        ("role", "toolbar"),
        ("aria-label", label),
    ];
    page.el("div", &attributes, |page| {
        for (id, text, title) in [
            ("tl-in", "+", "Zoom in (+)"),
            ("tl-out", "−", "Zoom out (−)"),
            ("tl-left", "←", "Earlier (←)"),
            ("tl-right", "→", "Later (→)"),
            ("tl-whole", "Whole", "Show all (0)"),
            ("tl-focus", "Findings", "Show where the findings are (f)"),
        ] {
            if id == "tl-focus" && axes.iter().all(|it| it.focus == it.whole) {
                continue;
            }
            let attributes = [
                ("type", "button"),
                ("class", "tool"),
                ("id", id),
                ("title", title),
            ];
            page.leaf("button", &attributes, text);
        }
        page.leaf("span", &[("class", "hint")], "or drag over a lane");
    });
}

/// All counts over all the time, with the stretch that is shown below.
fn overview(sheet: &Sheet<'_>, on: On<'_>, page: &mut Markup) {
    let axis = on.axis;
    let mut counts: Vec<u64> = vec![0; usize::try_from(axis.whole.bars).unwrap_or(0)];
    for series in &sheet.report.timeline.series {
        if sheet.axes.of_node(&series.run, &series.node) != Some(on.at) {
            continue;
        }
        let joined = axis.whole.joined(&axis.points(&series.points));
        for (sum, count) in counts.iter_mut().zip(joined) {
            *sum = sum.saturating_add(count);
        }
    }
    let mut class = "row over".to_owned();
    if axis.focus == axis.whole {
        class.push_str(" js");
    }
    page.el("div", &[("class", &class)], |page| {
        page.leaf("span", &[("class", "name")], "all signals, all the time");
        let attributes = [
            ("class", "overall"),
            ("viewBox", "0 0 1000 24"),
            ("preserveAspectRatio", "none"),
            ("role", "img"),
            ("aria-label", "All signals over all the time"),
        ];
        page.el("svg", &attributes, |page| {
            page.leaf("path", &[("class", "b"), ("d", &bars(&counts))], "");
            let (from, to) = (
                x(axis.whole, axis.focus.from),
                x(axis.whole, axis.focus.to()),
            );
            let (left, width) = (from.max(0), (to.min(WIDTH) - from.max(0)).max(2));
            let attributes = [
                ("class", "shown"),
                ("x", &*left.to_string()),
                ("y", "0"),
                ("width", &*width.to_string()),
                ("height", "24"),
            ];
            page.leaf("rect", &attributes, "");
        });
        page.leaf("span", &[("class", "sum")], "");
    });
}

/// The ticks with their labels.
pub(super) fn scale(axis: &Axis, view: View, page: &mut Markup) {
    page.el("div", &[("class", "row scale")], |page| {
        page.leaf("span", &[("class", "name")], "");
        ticks(axis, view, page);
        page.leaf("span", &[("class", "sum")], "");
    });
}

/// The labels of the ticks alone.
pub(super) fn ticks(axis: &Axis, view: View, page: &mut Markup) {
    page.el(
        "svg",
        &[("class", "ticks"), ("aria-hidden", "true")],
        |page| {
            for (nth, (at, label)) in axis.ticks(view).into_iter().enumerate() {
                let (place, _) = percent(view, at * 1000);
                let place_in_units = x(view, at);
                let anchor = if place_in_units < 60 {
                    "first"
                } else if place_in_units > 940 {
                    "last"
                } else {
                    "inner"
                };
                let class = format!("{anchor}{}", if nth % 2 == 1 { " odd" } else { "" });
                let attributes = [
                    ("x", place.as_str()),
                    ("y", "13"),
                    ("class", class.as_str()),
                ];
                page.leaf("text", &attributes, &label);
            }
        },
    );
}

/// A node of the timeline.
struct Node<'r> {
    run: &'r str,
    id: &'r str,
    name: String,
    rows: Vec<&'r SignalRow>,
}

/// The nodes that have anything on the axis, in the order of the report.
fn all_nodes<'r>(sheet: &Sheet<'r>) -> Vec<Node<'r>> {
    let report = sheet.report;
    let mut nodes: Vec<Node<'r>> = Vec::new();
    let said = report.timeline.series.iter().map(|it| (&it.run, &it.node));
    let marked = report.timeline.marks.iter().map(|it| (&it.run, &it.node));
    let between = report
        .timeline
        .unplaced
        .iter()
        .filter(|it| it.not_after.is_some());
    let between = between.map(|it| (&it.run, &it.node));
    let mut keys: Vec<(&String, &String)> = said.chain(marked).chain(between).collect();
    keys.sort_unstable();
    keys.dedup();
    for (run, id) in keys {
        nodes.push(Node {
            run,
            id,
            name: node_name(report, run, id),
            rows: Vec::new(),
        });
    }
    nodes
}

impl<'r> Node<'r> {
    /// Finds the signals that have anything on the axis, those of the worst findings first.
    fn find_rows(&mut self, sheet: &Sheet<'r>) {
        let own = |it: &&SignalRow| it.run == self.run && it.node == self.id;
        let has_points = |it: &&SignalRow| !sheet.points(&it.signal, &self.name).is_empty();
        let rows = sheet.report.signals.iter().filter(own).filter(has_points);
        let mut rows: Vec<&SignalRow> = rows.collect();
        rows.sort_by_key(|it| {
            let severity = sheet.tones.severity(&it.signal);
            (Reverse((severity, it.count)), it.signal.as_str())
        });
        self.rows = rows;
    }
}

fn one_node(
    sheet: &Sheet<'_>,
    axis: &Axis,
    scale: Option<Range>,
    lanes: &mut Lanes,
    node: &Node<'_>,
    page: &mut Markup,
) {
    let place = sheet.place(node.run, node.id);
    page.el(
        "div",
        &[
            ("class", "group it"),
            ("data-n", &place),
            ("data-whole", ""),
        ],
        |page| {
            page.leaf("h3", &[], &node.name);
            marks(sheet, axis, node, page);
            unplaced::between(sheet.report, axis, (node.run, node.id, &node.name), page);
            let names = (node.run, node.id, node.name.as_str());
            levels::write(sheet.report, axis, scale, lanes, names, page);
            for row in node.rows.iter().take(LANES_MAX) {
                let color = if sheet.tones.is_good(&row.signal) {
                    "good"
                } else {
                    sheet
                        .tones
                        .severity(&row.signal)
                        .map_or("none", |it| it.word())
                };
                let class = format!("row it lane {color}");
                page.el("div", &[("class", &class), ("title", &row.what)], |page| {
                    let to = format!("s-{}", anchor(&row.signal));
                    page.link(&to, &[("class", "name")], |page| page.text(&row.signal));
                    let label = format!("{} on {}: {}", row.signal, node.name, row.count);
                    let points = sheet.points(&row.signal, &node.name);
                    lanes.draw(page, axis, Shape::Bars, &label, points);
                    page.leaf("span", &[("class", "sum")], &thousands(row.count));
                });
            }
            page.left_out(
                node.rows.len().saturating_sub(LANES_MAX),
                "signals on this node",
            );
        },
    );
}

/// The marks of a node in a row.
fn marks(sheet: &Sheet<'_>, axis: &Axis, node: &Node<'_>, page: &mut Markup) {
    let own = |it: &&Mark| it.node == node.id && (it.run == node.run || it.run.is_empty());
    let marks: Vec<&Mark> = sheet.report.timeline.marks.iter().filter(own).collect();
    if !marks.is_empty() {
        page.el("div", &[("class", "row")], |page| {
            page.leaf("span", &[("class", "name")], "marks");
            let label = format!("Marks of {}", node.name);
            let mut left = 0;
            page.el(
                "svg",
                &[("class", "marks"), ("role", "img"), ("aria-label", &label)],
                |page| {
                    // Of very many an even choice: the first of them would all stand at one end.
                    let stride = marks.len().div_ceil(MARKS_MAX).max(1);
                    let chosen = marks.iter().step_by(stride);
                    left = marks.len() - chosen.len();
                    left += page.bounded(chosen, MARKS_MAX, MARK_BYTES, |page, it| {
                        mark(axis, it, page);
                    });
                },
            );
            let sum = thousands(u64::try_from(marks.len()).unwrap_or(u64::MAX));
            page.leaf("span", &[("class", "sum")], &sum);
            page.left_out(left, "marks");
        });
    }
}

fn mark(axis: &Axis, mark: &Mark, page: &mut Markup) {
    let Some(at) = axis.millis(&mark.at) else {
        return;
    };
    let (place, is_shown) = percent(axis.focus, at);
    let class = format!(
        "mk {}{}",
        mark.kind.word(),
        if is_shown { "" } else { " out" }
    );
    let attributes = [("class", class.as_str()), ("data-at", &*at.to_string())];
    page.el("g", &attributes, |page| {
        page.leaf(
            "title",
            &[],
            &format!("{} {}", in_prose(&mark.at), mark.text),
        );
        page.leaf("circle", &[("cx", &place), ("cy", "12"), ("r", "8")], "");
        page.leaf("text", &[("x", &place), ("y", "15.5")], glyph(mark.kind));
    });
}

/// One letter for a kind of mark.
pub(super) fn glyph(kind: MarkKind) -> &'static str {
    match kind {
        MarkKind::Start => "S",
        MarkKind::Restart => "R",
        MarkKind::Stop => "T",
        MarkKind::Crash => "X",
        MarkKind::Fault => "F",
        MarkKind::Election => "E",
        MarkKind::Checkpoint => "C",
    }
}
