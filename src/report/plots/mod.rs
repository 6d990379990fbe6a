//! Pictures to paste elsewhere: the page's timeline and strips, and the segments of write-ahead logs, as files of their
//! own. They show the counts that the page shows, in its bars.

mod chart;
mod levels;
mod run;

use crate::report::axes::Axes;
use crate::report::axis::Axis;
use crate::report::counts::{has_several_runs, node_name};
use crate::report::escape::terminal;
use crate::report::figures::counted;
use crate::report::model::{Report, Series, Strip, StripRow};
use crate::report::positions;
use crate::report::tones::Tones;
use crate::vocab::{Severity, Tone};

pub use run::{RunLine, RunPanel, RunPicture};

use chart::{Bar, Chart, Hue, Lane, Panel, Scale};

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
        file: "plots/positions.svg",
        draw: levels::positions,
    },
    Plot {
        file: "plots/answers.svg",
        draw: answers,
    },
    Plot {
        file: "plots/wal.svg",
        draw: segments,
    },
];

/// How often each signal was said on each node, with the marks of the nodes.
fn rates(report: &Report) -> Option<String> {
    let axes = Axes::of(report);
    let said = report.timeline.series.iter();
    let mut keys: Vec<(&str, &str)> = said.map(|it| (it.run.as_str(), it.node.as_str())).collect();
    keys.sort_unstable();
    keys.dedup();
    let tones = Tones::of(report);
    let mut panels = Vec::new();
    for (run, node) in keys.into_iter().take(NODES_MAX) {
        let Some(axis) = axes.of_node(run, node).and_then(|it| axes.all().get(it)) else {
            continue;
        };
        let own = |it: &&Series| it.run == run && it.node == node;
        let mut series: Vec<&Series> = report.timeline.series.iter().filter(own).collect();
        let sum = |it: &Series| {
            let counts = it.points.iter().map(|(_, count)| u128::from(*count));
            counts.sum::<u128>()
        };
        series.sort_by_key(|it| {
            let severity = tones.severity(&it.signal);
            (std::cmp::Reverse((severity, sum(it))), it.signal.as_str())
        });
        let lanes = series
            .into_iter()
            .take(LANES_MAX)
            .map(|it| lane(axis, &it.signal, hue(&tones, &it.signal), &it.points));
        let marks = report.timeline.marks.iter();
        let marks = marks.filter(|it| it.node == node && (it.run == run || it.run.is_empty()));
        panels.push(Panel {
            title: titled(&axes, axis, &node_name(report, run, node)),
            scale: scale_of(axis),
            lanes: lanes.collect(),
            marks: marks
                .filter_map(|it| Some((axis.millis(&it.at)?, it.kind.word())))
                .collect(),
        });
    }
    let title = "Signals over time, each lane with its own scale";
    drawn(&axes, title, &panels)
}

/// Which answers were given when.
fn answers(report: &Report) -> Option<String> {
    let axes = Axes::of(report);
    let mut left = ROWS_MAX;
    let mut panels = Vec::new();
    for strip in &report.timeline.strips {
        for (at, axis) in axes.all().iter().enumerate() {
            let own = |it: &&StripRow| axes.of_node(&strip.run, &it.node) == Some(at);
            let rows = strip.rows.iter().filter(own).take(left);
            let lanes: Vec<Lane> = rows.map(|row| answer(report, axis, strip, row)).collect();
            left -= lanes.len();
            if !lanes.is_empty() {
                panels.push(Panel {
                    title: titled(&axes, axis, &strip_title(report, strip)),
                    scale: scale_of(axis),
                    lanes,
                    marks: Vec::new(),
                });
            }
        }
    }
    drawn(
        &axes,
        "Answers over time, each row with its own scale",
        &panels,
    )
}

fn answer(report: &Report, axis: &Axis, strip: &Strip, row: &StripRow) -> Lane {
    let node = node_name(report, &strip.run, &row.node);
    let label = format!("{} {node}", row.what.replace('`', ""));
    let color = match row.tone {
        Tone::Good => Hue::Good,
        Tone::Bad => Hue::High,
        Tone::Neutral => Hue::Neutral,
    };
    lane(axis, &label, color, &row.points)
}

/// A panel's title; it says the time where that differs from panel to panel.
fn titled(axes: &Axes, axis: &Axis, name: &str) -> String {
    if axes.only().is_some() {
        terminal(name)
    } else {
        terminal(&format!("{name}, {}", time(axis)))
    }
}

/// The stretch of time and what a bar is.
fn time(axis: &Axis) -> String {
    let bar = u64::try_from(axis.focus.bar).unwrap_or(1);
    format!(
        "{}; a bar stands for {}",
        axis.words(axis.focus),
        counted(bar, "second", "seconds"),
    )
}

fn scale_of(axis: &Axis) -> Scale {
    Scale {
        from: axis.focus.from,
        to: axis.focus.to(),
        ticks: axis.ticks(axis.focus),
    }
}

fn strip_title(report: &Report, strip: &Strip) -> String {
    if has_several_runs(report) {
        format!("{}, run {}", strip.name, strip.run)
    } else {
        strip.name.clone()
    }
}

/// The color of a signal: good news, or the worst finding that counts it.
fn hue(tones: &Tones<'_>, signal: &str) -> Hue {
    match tones.severity(signal) {
        _ if tones.is_good(signal) => Hue::Good,
        Some(Severity::Critical | Severity::High) => Hue::High,
        Some(Severity::Medium) => Hue::Medium,
        Some(Severity::Low | Severity::Info) => Hue::Low,
        None => Hue::Neutral,
    }
}

fn lane(axis: &Axis, label: &str, color: Hue, points: &[(i64, u64)]) -> Lane {
    let view = axis.focus;
    let counts = view.joined(&axis.points(points));
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

fn drawn(axes: &Axes, title: &str, panels: &[Panel]) -> Option<String> {
    let below = "time by the servers' clocks";
    let chart = Chart {
        title: title.to_owned(),
        below: axes.only().map_or_else(
            || below.to_owned(),
            |axis| format!("{below}, {}", time(axis)),
        ),
    };
    chart.draw(panels)
}

/// Which positions each segment of each write-ahead log holds.
fn segments(report: &Report) -> Option<String> {
    let wals = positions::wals(report);
    let wholes = wals.iter().filter_map(positions::whole);
    let (low, high) = wholes.fold((u64::MAX, 0), |(low, high), (from, to)| {
        (low.min(from), high.max(to))
    });
    if low > high {
        return None;
    }
    // Positions as distances from the lowest one, so that they fit an axis.
    let at = |position: u64| i64::try_from(position - low).unwrap_or(i64::MAX - 1);
    let bar = |(from, to): positions::Range| Bar {
        from: at(from),
        to: at(to) + 1,
        count: 1,
    };
    let to = at(high) + 1;
    let distance = (to / 6).max(1);
    let ticks = (0..=6).map(|nth| nth * distance).filter(|it| *it < to);
    let label = |it: i64| (u128::from(low) + u128::from(it.unsigned_abs())).to_string();
    let scale = Scale {
        from: 0,
        to,
        ticks: ticks.map(|it| (it, label(it))).collect(),
    };
    let mut left = ROWS_MAX;
    let mut panels = Vec::new();
    for wal in wals.iter().take(NODES_MAX) {
        let lanes = segment_lanes(wal, left, &bar);
        left = left.saturating_sub(lanes.len());
        let path = positions::text(wal, "path");
        panels.push(Panel {
            title: terminal(&format!("{path}: {}", positions::text(wal, "verdict"))),
            scale: scale.clone(),
            lanes,
            marks: Vec::new(),
        });
    }
    let chart = Chart {
        title: "Write-ahead logs: the positions that each segment holds".to_owned(),
        below: "position in the log (LSN); the first of each bar is the segment's first record"
            .to_owned(),
    };
    chart.draw(&panels)
}

/// The segments of a WAL, and what none of them holds.
fn segment_lanes(
    wal: &serde_json::Value,
    lanes_max: usize,
    bar: &dyn Fn(positions::Range) -> Bar,
) -> Vec<Lane> {
    let problems = positions::list(wal, "problems");
    let mut lanes = Vec::new();
    for segment in positions::list(wal, "segments").iter().take(lanes_max) {
        let file = positions::text(segment, "file");
        let is_hurt = problems.iter().any(|it| {
            positions::text(it, "segment") == file && positions::text(it, "severity") == "damage"
        });
        lanes.push(Lane {
            label: terminal(&file),
            color: if is_hurt { Hue::High } else { Hue::Low },
            most: 1,
            bars: positions::held(segment).map(bar).into_iter().collect(),
        });
    }
    let missing = positions::missing(wal);
    if !missing.is_empty() {
        lanes.push(Lane {
            label: "in no segment".to_owned(),
            color: Hue::Medium,
            most: 1,
            bars: missing.into_iter().map(bar).collect(),
        });
    }
    lanes
}
