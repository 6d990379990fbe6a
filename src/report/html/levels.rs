//! Where positions in logs stood over time: a line per field of a signal, all nodes of an axis in one scale, so that who is
//! behind whom shows at a glance.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::report::axis::{Axis, View};
use crate::report::model::{PositionSeries, Report};
use crate::report::positions::Range;

use super::lanes::{HEIGHT, Lanes, WIDTH, push};
use super::markup::Markup;

/// A second, and the lowest and the highest position of its step.
pub(super) type Level = (i64, u64, u64);

/// Lines in one picture: as many as there are colors that can be told apart.
const LINES_MAX: usize = 6;

/// Half the length of the dash that a lone moment is drawn as.
const DASH: i64 = 6;

/// Units that are left free above and below.
const MARGIN: u64 = 2;

/// The scale that the positions of all nodes on an axis share.
pub(super) fn scale<'r>(series: impl Iterator<Item = &'r PositionSeries>) -> Option<Range> {
    let points = series.flat_map(|it| &it.points);
    points.fold(None, |range, (_, low, high)| match range {
        None => Some((*low, *high)),
        Some((from, to)) => Some((from.min(*low), to.max(*high))),
    })
}

/// Writes the positions of a node.
pub(super) fn write(
    report: &Report,
    axis: &Axis,
    scale: Option<Range>,
    lanes: &mut Lanes,
    (run, node, name): (&str, &str, &str),
    page: &mut Markup,
) {
    let own = |it: &&PositionSeries| it.run == run && it.node == node;
    let series: Vec<&PositionSeries> = report.timeline.positions.iter().filter(own).collect();
    let Some(scale) = scale.filter(|_| !series.is_empty()) else {
        return;
    };
    let shown = series.get(..LINES_MAX).unwrap_or(&series);
    page.el("div", &[("class", "row tall")], |page| {
        page.leaf("span", &[("class", "name")], "positions (LSN)");
        let lines: Vec<&[Level]> = shown.iter().map(|it| it.points.as_slice()).collect();
        let label = format!(
            "Positions on {name}, from {} below to {} above",
            scale.0, scale.1
        );
        lanes.draw_levels(page, axis, scale, &label, &lines);
        page.el("span", &[("class", "sum ends")], |page| {
            page.leaf("span", &[], &scale.1.to_string());
            page.leaf("span", &[], &scale.0.to_string());
        });
        page.el("p", &[("class", "legend more")], |page| {
            for (nth, series) in shown.iter().enumerate() {
                page.el("span", &[("class", "key")], |page| {
                    let class = format!("swatch v{}", nth + 1);
                    page.leaf("span", &[("class", &class)], "");
                    page.leaf(
                        "span",
                        &[("class", "what")],
                        &format!("{} {}", series.signal, series.field),
                    );
                    page.text(&format!(" {}", words(series)));
                });
            }
        });
        page.left_out(series.len() - shown.len(), "fields with positions");
    });
}

/// Where a line begins and ends, and how far it goes beyond.
fn words(series: &PositionSeries) -> String {
    let (Some(first), Some(last)) = (series.points.first(), series.points.last()) else {
        return String::new();
    };
    let (low, high) = scale(std::iter::once(series)).unwrap_or((first.1, last.2));
    if low == high {
        return format!("stays at {low}");
    }
    format!("{} → {}, within {low} .. {high}", first.1, last.2)
}

/// Levels in their places on an axis, in order.
pub(super) fn placed(axis: &Axis, levels: &[Level]) -> Vec<Level> {
    let mut placed: Vec<Level> = levels
        .iter()
        .map(|(at, low, high)| (axis.second(*at), *low, *high))
        .collect();
    placed.sort_unstable();
    placed
}

/// Levels in wider steps.
fn rejoin(levels: &[Level], step: i64) -> Vec<Level> {
    let mut joined: Vec<Level> = Vec::new();
    for (at, low, high) in levels {
        let at = at.div_euclid(step) * step;
        match joined.last_mut() {
            Some(last) if last.0 == at => *last = (at, last.1.min(*low), last.2.max(*high)),
            _ => joined.push((at, *low, *high)),
        }
    }
    joined
}

/// A line through the steps of a stretch; a step in which the position moved is as high as it moved.
pub(super) fn line(view: View, scale: Range, levels: &[Level]) -> String {
    let y = |position: u64| {
        let room = u128::from(HEIGHT - 2 * MARGIN);
        let above = u128::from(position.saturating_sub(scale.0)) * room;
        let length = u128::from(scale.1.saturating_sub(scale.0)).max(1);
        u128::from(HEIGHT - MARGIN) - above / length
    };
    let mut bars: BTreeMap<i64, Range> = BTreeMap::new();
    for (at, low, high) in levels {
        let bar = (at - view.from).div_euclid(view.bar);
        if (0..view.bars).contains(&bar) {
            let seen = bars.entry(bar).or_insert((*low, *high));
            *seen = (seen.0.min(*low), seen.1.max(*high));
        }
    }
    let mut d = String::new();
    for (bar, (low, high)) in &bars {
        let middle = (2 * bar + 1) * WIDTH / (2 * view.bars);
        let begins = if d.is_empty() { 'M' } else { 'L' };
        push(
            &mut d,
            format_args!("{begins}{middle} {}L{middle} {}", y(*low), y(*high)),
        );
    }
    if bars.len() == 1 {
        // A moment alone is too small to see.
        push(&mut d, format_args!("m-{DASH} 0h{}", 2 * DASH));
    }
    d
}

/// What the script needs to draw the lines again: the scale, and of each line by turns the distance to the step before, the
/// lowest position above the scale's, and how much higher the highest is.
pub(super) fn data(scale: Range, lines: &[Vec<Level>], step: i64) -> Value {
    let flat = |levels: &Vec<Level>| -> Value {
        let mut before = 0;
        let mut flat: Vec<Value> = Vec::new();
        for (at, low, high) in rejoin(levels, step) {
            flat.extend([json!(at - before), json!(low - scale.0), json!(high - low)]);
            before = at;
        }
        flat.into()
    };
    // As text: the script reckons distances alone, which a number of its own holds.
    json!({
        "low": scale.0.to_string(),
        "length": scale.1 - scale.0,
        "lines": lines.iter().map(flat).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_rises_from_the_lowest_position_to_the_highest() {
        let view = View {
            from: 0,
            bar: 1,
            bars: 10,
        };
        assert_eq!(
            line(view, (100, 200), &[(0, 100, 100), (5, 150, 200)]),
            "M50 22L50 22L550 12L550 2"
        );
        assert_eq!(line(view, (7, 7), &[(3, 7, 7)]), "M350 22L350 22m-6 0h12");
        assert_eq!(
            line(view, (0, 9), &[(10, 1, 1)]),
            "",
            "what lies outside is not drawn"
        );
    }

    #[test]
    fn wider_steps_keep_extremes() {
        let levels = [(0, 5, 6), (1, 3, 3), (61, 9, 12)];
        assert_eq!(rejoin(&levels, 60), [(0, 3, 6), (60, 9, 12)]);
        assert_eq!(
            data((3, 12), &[levels.to_vec()], 60).to_string(),
            r#"{"length":9,"lines":[[0,0,3,60,6,3]],"low":"3"}"#
        );
    }
}
