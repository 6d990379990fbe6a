//! How often a signal was said over time, in a few characters: all nodes together, each row in a scale of its own.

use crate::report::axes::Axes;
use crate::report::model::Report;

/// Columns of a row at most, and the fewest that say anything.
const WIDTH_MAX: usize = 32;
const WIDTH_MIN: usize = 10;

/// From little to most; a step without a record is blank.
const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

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
    let words = axis.words(axis.focus);
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
        drawn(&counts)
    };
    let fits = words.chars().count() <= room;
    Some(Sparks {
        heading: if fits { words } else { "over time".to_owned() },
        rows: signals.iter().map(row).collect(),
    })
}

/// Counts as characters, the highest as high as a line.
fn drawn(counts: &[u64]) -> String {
    let most = u128::from(counts.iter().copied().max().unwrap_or(0).max(1));
    let height = |count: &u64| {
        if *count == 0 {
            return ' ';
        }
        let place = (u128::from(*count) * HEIGHTS.len() as u128).div_ceil(most) - 1;
        let place = usize::try_from(place).unwrap_or(0);
        HEIGHTS.get(place).copied().unwrap_or('█')
    };
    counts.iter().map(height).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_fills_its_line_and_one_record_shows() {
        assert_eq!(drawn(&[0, 1, 50, 100, 1_000_000]), " ▁▁▁█");
        assert_eq!(drawn(&[1, 2, 3, 4, 5, 6, 7, 8]), "▁▂▃▄▅▆▇█");
        assert_eq!(drawn(&[7, 0, 7]), "█ █");
        assert_eq!(drawn(&[]), "");
    }
}
