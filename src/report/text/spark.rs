//! How often a signal was said over time, in a few characters: all nodes together, each row in a scale of its own.

use crate::report::axes::Axes;
use crate::report::model::Report;
use crate::vocab::spark;

/// Columns of a row at most, and the fewest that say anything.
const WIDTH_MAX: usize = 32;
const WIDTH_MIN: usize = 10;

/// The heading, and a row for each signal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sparks {
    pub(super) heading: String,
    pub(super) rows: Vec<String>,
}

/// The rows of some signals over the stretch where the findings are, in so many columns; none where there is no room, or no time axis that all share.
pub(super) fn of(report: &Report, signals: &[&str], room: usize) -> Option<Sparks> {
    let axes = Axes::of(report);
    let axis = axes.only()?;
    // The stretch of the bars alone: the counts beside them are of all the logs.
    let words = format!("bars {}", axis.words(axis.focus));
    let width = room.min(WIDTH_MAX);
    if width < WIDTH_MIN {
        return None;
    }
    let view = axis
        .focus
        .in_bars(axis.step, i64::try_from(width).unwrap_or(1));
    if view.bars < 2 {
        return None;
    }
    let row = |signal: &&str| {
        let mut counts: Vec<u64> = Vec::new();
        for series in report
            .timeline
            .series
            .iter()
            .filter(|it| it.signal == *signal)
        {
            let joined = view.joined(&axis.points(&series.points));
            counts.resize(joined.len().max(counts.len()), 0);
            for (sum, count) in counts.iter_mut().zip(joined) {
                *sum = sum.saturating_add(count);
            }
        }
        spark(&counts)
    };
    let fits = words.chars().count() <= room;
    Some(Sparks {
        heading: if fits { words } else { "over time".to_owned() },
        rows: signals.iter().map(row).collect(),
    })
}
