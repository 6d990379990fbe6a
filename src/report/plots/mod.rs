//! Pictures to paste elsewhere: the page's timeline and strips, and the segments of write-ahead logs, as files of their
//! own. They show the counts that the page shows, in its bars.

mod chart;

use crate::report::axis::Axis;
use crate::report::counts::{has_several_runs, node_name};
use crate::report::escape::terminal;
use crate::report::figures::counted;
use crate::report::model::{Report, Series, Strip};
use crate::vocab::{Severity, Tone};

use chart::{Bar, Chart, Hue, Lane, Panel};

/// Nodes and lanes of a node in a picture, and rows of all strips.
const NODES_MAX: usize = 8;
const LANES_MAX: usize = 10;
const ROWS_MAX: usize = 60;

/// A picture.
#[derive(Debug, Clone, Copy)]
pub struct Plot {
    /// Its file in `--out`.
    pub file: &'static str,
    /// Draws it as SVG; none if the report has nothing to show in it.
    pub draw: fn(&Report) -> Option<String>,
}

/// Every picture.
pub const PLOTS: &[Plot] = &[
    Plot {
        file: "plots/rates.svg",
        draw: rates,
    },
    Plot {
        file: "plots/answers.svg",
        draw: answers,
    },
];

/// How often each signal was said on each node, with the marks of the nodes.
fn rates(report: &Report) -> Option<String> {
    let axis = Axis::of(report)?;
    let mut keys: Vec<(&str, &str)> = Vec::new();
    for series in &report.timeline.series {
        let key = (series.run.as_str(), series.node.as_str());
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys.sort_unstable();
    let mut panels = Vec::new();
    for (run, node) in keys.into_iter().take(NODES_MAX) {
        let own = |it: &&Series| it.run == run && it.node == node;
        let mut series: Vec<&Series> = report.timeline.series.iter().filter(own).collect();
        let sum = |it: &Series| it.points.iter().map(|(_, count)| *count).sum::<u64>();
        series.sort_by_key(|it| {
            let severity = severity(report, &it.signal);
            (std::cmp::Reverse((severity, sum(it))), it.signal.as_str())
        });
        let lanes = series.into_iter().take(LANES_MAX).map(|it| {
            lane(
                &axis,
                &it.signal,
                color_of(severity(report, &it.signal)),
                &it.points,
            )
        });
        let marks = report.timeline.marks.iter();
        let marks = marks.filter(|it| it.node == node && (it.run == run || it.run.is_empty()));
        panels.push(Panel {
            title: terminal(&node_name(report, run, node)),
            lanes: lanes.collect(),
            marks: marks
                .filter_map(|it| Some((axis.millis(&it.at)?, it.kind.word())))
                .collect(),
        });
    }
    let title = "Signals over time, each lane with its own scale";
    drawn(&axis, title, &panels)
}

/// Which answers were given when.
fn answers(report: &Report) -> Option<String> {
    let axis = Axis::of(report)?;
    let mut left = ROWS_MAX;
    let mut panels = Vec::new();
    for strip in &report.timeline.strips {
        let rows = strip.rows.iter().take(left);
        let lanes: Vec<Lane> = rows
            .map(|row| {
                let node = node_name(report, &strip.run, &row.node);
                let label = format!("{} {node}", row.what.replace('`', ""));
                let color = match row.tone {
                    Tone::Good => Hue::Good,
                    Tone::Bad => Hue::High,
                    Tone::Neutral => Hue::Neutral,
                };
                lane(&axis, &label, color, &row.points)
            })
            .collect();
        left -= lanes.len();
        if !lanes.is_empty() {
            panels.push(Panel {
                title: terminal(&strip_title(report, strip)),
                lanes,
                marks: Vec::new(),
            });
        }
    }
    drawn(
        &axis,
        "Answers over time, each row with its own scale",
        &panels,
    )
}

fn strip_title(report: &Report, strip: &Strip) -> String {
    if has_several_runs(report) {
        format!("{}, run {}", strip.name, strip.run)
    } else {
        strip.name.clone()
    }
}

/// How bad the worst finding is that counts a signal.
fn severity(report: &Report, signal: &str) -> Option<Severity> {
    let counts = |signals: &[String]| signals.iter().any(|it| it == signal);
    let found = report.findings.iter().filter(|it| counts(&it.signals));
    found.map(|it| it.severity).max()
}

fn color_of(severity: Option<Severity>) -> Hue {
    match severity {
        Some(Severity::Critical | Severity::High) => Hue::High,
        Some(Severity::Medium) => Hue::Medium,
        Some(Severity::Low | Severity::Info) => Hue::Low,
        None => Hue::Neutral,
    }
}

fn lane(axis: &Axis, label: &str, color: Hue, points: &[(i64, u64)]) -> Lane {
    let view = axis.focus;
    let counts = view.joined(points);
    let most = counts.iter().copied().max().unwrap_or(0);
    let mut bars = Vec::new();
    let mut from = view.from;
    for count in counts {
        if count > 0 {
            bars.push(Bar {
                from,
                to: from + view.bar,
                count,
            });
        }
        from += view.bar;
    }
    Lane {
        label: format!("{} (most: {most})", terminal(label)),
        color,
        most,
        bars,
    }
}

fn drawn(axis: &Axis, title: &str, panels: &[Panel]) -> Option<String> {
    let bar = u64::try_from(axis.focus.bar).unwrap_or(1);
    let chart = Chart {
        title: title.to_owned(),
        below: format!(
            "time by the servers' clocks, {}; a bar counts the records of {}",
            axis.words(axis.focus),
            counted(bar, "second", "seconds"),
        ),
        from: axis.focus.from,
        to: axis.focus.to(),
        ticks: axis.ticks(axis.focus),
    };
    chart.draw(panels)
}
