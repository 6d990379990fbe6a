//! Lanes: rows of bars on a time axis. Drawn here for a page without a script; the counts behind them go to the
//! script, which draws them again for another stretch of time.

use std::fmt::Write as _;

use super::levels::{self, Level};
use super::markup::Markup;
use crate::report::axis::{Axis, View};
use crate::report::positions::Range;

/// The width of a lane in its own units; it is stretched to the page.
pub(super) const WIDTH: i64 = 1_000;

/// The height of a lane.
pub(super) const HEIGHT: u64 = 24;

/// Bytes of what the script gets.
const DATA_BYTES: usize = 180_000;

/// Shades of a strip.
const SHADES: u64 = 5;

/// What the script needs of all lanes.
#[derive(Default)]
pub(super) struct Lanes {
    lanes: Vec<Content>,
}

/// What a lane shows.
enum Content {
    /// Counts by step.
    Counts(Vec<(i64, u64)>),
    /// Lines in a scale of their own.
    Levels(Range, Vec<Vec<Level>>),
}

/// How a lane shows its counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// By height.
    Bars,
    /// By shade.
    Shades,
}

impl Lanes {
    /// Adds a lane and draws it.
    pub(super) fn draw(
        &mut self,
        page: &mut Markup,
        axis: &Axis,
        shape: Shape,
        label: &str,
        points: &[(i64, u64)],
    ) {
        let place = self.lanes.len().to_string();
        let points = axis.points(points);
        let kind = match shape {
            Shape::Bars => "bars",
            Shape::Shades => "shades",
        };
        let attributes = [
            ("class", kind),
            ("data-l", place.as_str()),
            ("viewBox", "0 0 1000 24"),
            ("preserveAspectRatio", "none"),
            ("role", "img"),
            ("aria-label", label),
        ];
        page.el("svg", &attributes, |page| {
            grid(page, axis, axis.focus);
            let counts = axis.focus.joined(&points);
            match shape {
                Shape::Bars => page.leaf("path", &[("class", "b"), ("d", &bars(&counts))], ""),
                Shape::Shades => {
                    for (at, d) in shades(&counts).iter().enumerate() {
                        let class = format!("q{}", at + 1);
                        page.leaf("path", &[("class", &class), ("d", d)], "");
                    }
                }
            }
        });
        self.lanes.push(Content::Counts(points));
    }

    /// Adds a lane of lines, at most as many as there are colors, all in one scale, and draws it.
    pub(super) fn draw_levels(
        &mut self,
        page: &mut Markup,
        axis: &Axis,
        scale: Range,
        label: &str,
        lines: &[&[Level]],
    ) {
        let place = self.lanes.len().to_string();
        let lines: Vec<Vec<Level>> = lines.iter().map(|it| levels::placed(axis, it)).collect();
        let attributes = [
            ("class", "levels"),
            ("data-l", place.as_str()),
            ("viewBox", "0 0 1000 24"),
            ("preserveAspectRatio", "none"),
            ("role", "img"),
            ("aria-label", label),
        ];
        page.el("svg", &attributes, |page| {
            grid(page, axis, axis.focus);
            for (nth, line) in lines.iter().enumerate() {
                let class = format!("v{}", nth + 1);
                let d = levels::line(axis.focus, scale, line);
                page.leaf("path", &[("class", &class), ("d", &d)], "");
            }
        });
        self.lanes.push(Content::Levels(scale, lines));
    }

    /// The lanes' counts for the script: of each the step and the count by turns, steps as distances. Steps are joined
    /// until the whole is short enough.
    pub(super) fn data(&self, axes: &[Axis]) -> String {
        let mut step = axes.iter().map(|it| it.step).max().unwrap_or(1);
        let longest = axes.iter().map(|it| it.whole.seconds()).max();
        loop {
            let data = self.in_steps(axes, step);
            // A step wider than all the time leaves one count a lane.
            if data.len() <= DATA_BYTES || step > 2 * longest.unwrap_or(0) {
                return data;
            }
            step *= 2;
        }
    }

    fn in_steps(&self, axes: &[Axis], step: i64) -> String {
        let flat = self.lanes.iter().map(|content| match content {
            Content::Counts(points) => flat(points, step).into(),
            Content::Levels(scale, lines) => levels::data(*scale, lines, step),
        });
        let view = |view: View| [view.from, view.to()];
        let axes = axes.iter().map(|axis| {
            serde_json::json!({
                "start": axis.start.0.div_euclid(crate::time::SECOND),
                "dated": axis.is_dated,
                "ends": [axis.ends.0, axis.ends.1],
                "whole": view(axis.whole),
                "focus": view(axis.focus),
            })
        });
        let data = serde_json::json!({
            "step": step,
            "axes": axes.collect::<Vec<_>>(),
            "lanes": flat.collect::<Vec<serde_json::Value>>(),
        });
        data.to_string()
    }
}

/// Steps and counts by turns, steps as distances.
fn flat(points: &[(i64, u64)], step: i64) -> Vec<i64> {
    let mut before = 0;
    let mut flat: Vec<i64> = Vec::with_capacity(points.len() * 2);
    for (at, count) in rejoin(points, step) {
        flat.push(at - before);
        flat.push(i64::try_from(count).unwrap_or(i64::MAX));
        before = at;
    }
    flat
}

/// Points in wider steps.
fn rejoin(points: &[(i64, u64)], step: i64) -> Vec<(i64, u64)> {
    let mut joined: Vec<(i64, u64)> = Vec::new();
    for (at, count) in points {
        let at = at.div_euclid(step) * step;
        match joined.last_mut() {
            Some((same, sum)) if *same == at => *sum = sum.saturating_add(*count),
            _ => joined.push((at, *count)),
        }
    }
    joined
}

/// The lines of the ticks.
pub(super) fn grid(page: &mut Markup, axis: &Axis, view: View) {
    let mut d = String::new();
    for (at, _) in axis.ticks(view) {
        push(&mut d, format_args!("M{} 0V{HEIGHT}", x(view, at)));
    }
    page.leaf("path", &[("class", "g"), ("d", &d)], "");
}

/// Bars as high as their counts, the highest as high as the lane.
pub(super) fn bars(counts: &[u64]) -> String {
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    let mut d = String::new();
    for (at, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        let (left, right) = ends(at, counts.len());
        // No count is so small that it does not show.
        let height = (u128::from(*count) * u128::from(HEIGHT - 2) / u128::from(most)).max(2);
        push(
            &mut d,
            format_args!("M{left} {HEIGHT}v-{height}h{}v{height}z", right - left),
        );
    }
    d
}

/// Full bars by shade, the darkest for the highest counts.
fn shades(counts: &[u64]) -> Vec<String> {
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    let mut shades = vec![String::new(); usize::try_from(SHADES).unwrap_or(1)];
    for (at, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        let (left, right) = ends(at, counts.len());
        let shade = (u128::from(*count) * u128::from(SHADES)).div_ceil(u128::from(most)) - 1;
        if let Some(d) = usize::try_from(shade)
            .ok()
            .and_then(|it| shades.get_mut(it))
        {
            push(
                d,
                format_args!("M{left} 1h{}v22h-{}z", right - left, right - left),
            );
        }
    }
    shades
}

/// Where a bar begins and ends. Neighbors touch; a hair of a gap shows where bars are wide.
fn ends(at: usize, of: usize) -> (i64, i64) {
    let end = |at: usize| {
        let (at, of) = (at as i128, of.max(1) as i128);
        i64::try_from(at * i128::from(WIDTH) / of).unwrap_or(WIDTH)
    };
    let (left, right) = (end(at), end(at + 1));
    let gap = i64::from(right - left > 8);
    (left, (right - gap).max(left + 1))
}

/// A second in units of a lane.
pub(super) fn x(view: View, at: i64) -> i64 {
    (at - view.from).saturating_mul(WIDTH) / view.seconds().max(1)
}

/// A moment in percent of a lane's width with two decimals, and whether it lies in it.
pub(super) fn percent(view: View, millis: i64) -> (String, bool) {
    let from = i128::from(view.from) * 1000;
    let length = i128::from(view.seconds().max(1)) * 1000;
    let hundredths = (i128::from(millis) - from) * 10_000 / length;
    (
        hundredths_text(hundredths),
        (0..=10_000).contains(&hundredths),
    )
}

fn hundredths_text(hundredths: i128) -> String {
    let sign = if hundredths < 0 { "-" } else { "" };
    let size = hundredths.unsigned_abs();
    format!("{sign}{}.{:02}%", size / 100, size % 100)
}

pub(super) fn push(d: &mut String, text: std::fmt::Arguments<'_>) {
    let written = d.write_fmt(text);
    debug_assert!(written.is_ok(), "writing into a String cannot fail");
}
