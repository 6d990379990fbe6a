//! Positions in logs over time: a lane per field of a signal and node, its bars as high as the highest position, all lanes
//! of an axis in one scale.

use crate::report::axes::Axes;
use crate::report::axis::Axis;
use crate::report::counts::node_name;
use crate::report::escape::terminal;
use crate::report::model::{PositionSeries, Report};
use crate::report::positions::Range;

use super::chart::{Bar, Hue, Lane, Panel};
use super::{LANES_MAX, NODES_MAX, drawn, scale_of, titled};

/// Where positions stood on each node.
pub(super) fn positions(report: &Report) -> Option<String> {
    let axes = Axes::of(report);
    let all = &report.timeline.positions;
    let mut keys: Vec<(&str, &str)> = all
        .iter()
        .map(|it| (it.run.as_str(), it.node.as_str()))
        .collect();
    keys.sort_unstable();
    keys.dedup();
    let mut panels = Vec::new();
    for (run, node) in keys.into_iter().take(NODES_MAX) {
        let place = axes.of_node(run, node);
        let Some(axis) = place.and_then(|it| axes.all().get(it)) else {
            continue;
        };
        let shared = all
            .iter()
            .filter(|it| axes.of_node(&it.run, &it.node) == place);
        let Some(scale) = scale(shared) else {
            continue;
        };
        let own = all.iter().filter(|it| it.run == run && it.node == node);
        panels.push(Panel {
            title: titled(&axes, axis, &node_name(report, run, node)),
            scale: scale_of(axis),
            lanes: own
                .take(LANES_MAX)
                .map(|it| lane(axis, scale, it))
                .collect(),
            marks: Vec::new(),
        });
    }
    drawn(
        &axes,
        "Positions over time (LSN), all lanes in one scale",
        &panels,
    )
}

fn scale<'r>(series: impl Iterator<Item = &'r PositionSeries>) -> Option<Range> {
    let points = series.flat_map(|it| &it.points);
    points.fold(None, |range, (_, low, high)| match range {
        None => Some((*low, *high)),
        Some((from, to)) => Some((from.min(*low), to.max(*high))),
    })
}

fn lane(axis: &Axis, scale: Range, series: &PositionSeries) -> Lane {
    let view = axis.focus;
    let mut bars: Vec<Bar> = Vec::new();
    let mut ends: Option<Range> = None;
    let mut placed: Vec<(i64, u64, u64)> = series.points.clone();
    for point in &mut placed {
        point.0 = axis.second(point.0);
    }
    placed.sort_unstable();
    for (at, low, high) in placed {
        ends = Some(ends.map_or((low, high), |(from, to)| (from.min(low), to.max(high))));
        if at < view.from || at >= view.to() {
            continue;
        }
        let from = view.from + (at - view.from).div_euclid(view.bar) * view.bar;
        // The lowest position of all shows as well.
        let count = (high - scale.0).saturating_add(1);
        match bars.last_mut() {
            Some(bar) if bar.from == from => bar.count = bar.count.max(count),
            _ => bars.push(Bar {
                from,
                to: from + view.bar,
                count,
            }),
        }
    }
    let (low, high) = ends.unwrap_or(scale);
    Lane {
        label: terminal(&format!(
            "{} {} ({low} .. {high})",
            series.signal, series.field
        )),
        color: Hue::Low,
        most: (scale.1 - scale.0).saturating_add(1),
        bars,
    }
}
