//! The time axis of a report: what it spans, where the findings lie on it, its ticks, and counts joined into bars.

use crate::report::model::Report;
use crate::time::{DAY, MINUTE, SECOND, Timestamp};
use crate::vocab::Severity;

/// Bars side by side.
const BARS_MAX: i64 = 200;

/// Steps around the findings at least.
const STEPS_MIN: i64 = 60;

/// Ticks of an axis at most.
const TICKS_MAX: i64 = 6;

/// Distances of ticks in seconds, as clocks and calendars are divided.
const TICKS: [i64; 21] = [
    1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200,
    86_400, 172_800, 604_800, 2_592_000,
];

/// The time axis.
#[derive(Debug, Clone, Copy)]
pub(super) struct Axis {
    /// Second 0, as the clocks showed it.
    pub(super) start: Timestamp,
    /// The width of a step in seconds.
    pub(super) step: i64,
    /// All that has a stamp.
    pub(super) whole: View,
    /// Where the findings are, if that is a small part of the whole.
    pub(super) focus: View,
    /// Whether the logs write dates.
    pub(super) is_dated: bool,
}

/// A stretch of the axis, divided into bars.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct View {
    /// Seconds from the axis' start.
    pub(super) from: i64,
    /// The width of a bar in seconds, a multiple of the step.
    pub(super) bar: i64,
    /// How many bars.
    pub(super) bars: i64,
}

impl Axis {
    /// The axis of a report; none where nothing has a stamp.
    pub(super) fn of(report: &Report) -> Option<Self> {
        let timeline = &report.timeline;
        let start_text = timeline.start.as_deref()?;
        let start = Timestamp::from_iso(start_text)?;
        let step = i64::try_from(timeline.step_seconds).ok()?.max(1);
        let second =
            |text: &String| Timestamp::from_iso(text).map(|at| (at.0 - start.0).div_euclid(SECOND));
        let inputs = report.inputs.iter().flat_map(|it| [&it.first, &it.last]);
        let points = timeline.series.iter().flat_map(|it| &it.points);
        let stamps = inputs.flatten().filter_map(second);
        let stamps = stamps.chain(points.map(|(at, _)| *at));
        let (low, high) = stamps.fold((i64::MAX, i64::MIN), |(low, high), at| {
            (low.min(at), high.max(at))
        });
        if low > high {
            return None;
        }
        let whole = View::over(low, high, step, BARS_MAX);
        let windows = |least: Severity| {
            let found = report
                .findings
                .iter()
                .filter(move |it| it.severity >= least);
            let ends = found.flat_map(|it| [&it.window.first, &it.window.last]);
            let stamps = ends.flatten().filter_map(second);
            stamps.fold((i64::MAX, i64::MIN), |(low, high), at| {
                (low.min(at), high.max(at))
            })
        };
        let (first, last) = [Severity::Medium, Severity::Info]
            .into_iter()
            .map(windows)
            .find(|(low, high)| low <= high)
            .unwrap_or((low, high));
        // A moment alone says little: at least a minute's worth of steps are around it.
        let margin = ((last - first) / 20).max((STEPS_MIN * step - (last - first)) / 2);
        let (from, to) = ((first - margin).max(low), (last + margin).min(high));
        let is_small = from <= to && (to - from) < (high - low) / 2;
        let focus = if is_small {
            View::over(from, to, step, BARS_MAX)
        } else {
            whole
        };
        Some(Self {
            start,
            step,
            whole,
            focus,
            is_dated: !start_text.starts_with('T'),
        })
    }

    /// The second of a stamp as the report writes it, with its fraction in thousandths.
    pub(super) fn millis(&self, stamp: &str) -> Option<i64> {
        Timestamp::from_iso(stamp).map(|at| (at.0 - self.start.0).div_euclid(SECOND / 1000))
    }

    /// Where a stretch has its ticks: seconds and labels.
    pub(super) fn ticks(&self, view: View) -> Vec<(i64, String)> {
        let distance = TICKS
            .into_iter()
            .find(|distance| view.seconds() / distance < TICKS_MAX)
            .unwrap_or(view.seconds() / TICKS_MAX + 1);
        let origin = self.start.0.div_euclid(SECOND);
        let first = (origin + view.from).div_euclid(distance) * distance - origin;
        let mut ticks = Vec::new();
        for nth in 0..=TICKS_MAX + 1 {
            let at = first + nth * distance;
            if at >= view.from && at <= view.to() {
                ticks.push((at, self.label(at, distance)));
            }
        }
        ticks
    }

    /// A second of the axis as a clock shows it: with seconds, or a date, as far as `distance` needs it.
    fn label(&self, at: i64, distance: i64) -> String {
        let stamp = Timestamp(self.start.0 + at * SECOND);
        let text = stamp.short();
        let (date, time) = text.split_once(' ').unwrap_or((&text, ""));
        let on_midnight = stamp.0.rem_euclid(DAY) == 0;
        if self.is_dated && (distance * SECOND >= DAY || on_midnight) {
            date.get(5..).unwrap_or(date).to_owned()
        } else if distance * SECOND < MINUTE {
            time.to_owned()
        } else {
            time.get(..5).unwrap_or(time).to_owned()
        }
    }

    /// A stretch in words: `2026-09-01 23:28:16 .. 23:29:56`.
    pub(super) fn words(&self, view: View) -> String {
        let text = |at: i64| Timestamp(self.start.0 + at * SECOND).short();
        let (from, to) = (text(view.from), text(view.to()));
        let time = |text: &str| text.get(11..).unwrap_or_default().to_owned();
        if !self.is_dated {
            format!("{} .. {}", time(&from), time(&to))
        } else if from.get(..10) == to.get(..10) {
            format!("{from} .. {}", time(&to))
        } else {
            format!("{from} .. {to}")
        }
    }
}

impl View {
    /// The stretch from one second to another, both in it, in bars of whole steps.
    pub(super) fn over(from: i64, to: i64, step: i64, bars_max: i64) -> Self {
        let from = from.div_euclid(step) * step;
        let steps = (to - from).div_euclid(step) + 1;
        let bar = steps.div_euclid(bars_max) + i64::from(steps.rem_euclid(bars_max) > 0);
        let bar = bar.max(1) * step;
        let bars = (to - from).div_euclid(bar) + 1;
        Self { from, bar, bars }
    }

    /// The same stretch in fewer bars.
    pub(super) fn in_bars(self, step: i64, bars_max: i64) -> Self {
        Self::over(self.from, self.to() - 1, step, bars_max)
    }

    /// Its length in seconds.
    pub(super) fn seconds(self) -> i64 {
        self.bar * self.bars
    }

    /// The second behind it.
    pub(super) fn to(self) -> i64 {
        self.from + self.seconds()
    }

    /// Counts joined into bars; what lies outside is left out.
    pub(super) fn joined(self, points: &[(i64, u64)]) -> Vec<u64> {
        let mut bars = vec![0; usize::try_from(self.bars).unwrap_or(0)];
        for (at, count) in points {
            let bar = (at - self.from).div_euclid(self.bar);
            if let Some(sum) = usize::try_from(bar).ok().and_then(|bar| bars.get_mut(bar)) {
                *sum += count;
            }
        }
        bars
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_whole_steps_and_lose_nothing() {
        let view = View::over(7, 1_006, 5, 100);
        assert_eq!((view.from, view.bar, view.bars), (5, 15, 67));
        let points: Vec<(i64, u64)> = (1..=201).map(|n| (n * 5, 1)).collect();
        assert_eq!(view.joined(&points).iter().sum::<u64>(), 201);
        assert_eq!(View::over(3, 3, 1, 200).joined(&[(3, 9), (4, 1)]), [9]);
    }

    #[test]
    fn ticks_stand_on_the_clock() {
        let axis = Axis {
            start: Timestamp::from_iso("2026-09-01T23:28:00.000000").unwrap(),
            step: 1,
            whole: View::over(0, 0, 1, 1),
            focus: View::over(0, 0, 1, 1),
            is_dated: true,
        };
        let labels = |view| -> Vec<String> {
            axis.ticks(view)
                .into_iter()
                .map(|(_, label)| label)
                .collect()
        };
        assert_eq!(
            labels(View::over(17, 99, 1, 200)),
            ["23:28:30", "23:28:45", "23:29:00", "23:29:15", "23:29:30"].map(str::to_owned)
        );
        // Two days from 23:28 on: every 12 hours, midnights by their date.
        let days = View::over(0, 2 * 86_400, 60, 200);
        assert_eq!(
            labels(days),
            ["09-02", "12:00", "09-03", "12:00"].map(str::to_owned)
        );
        assert_eq!(
            axis.words(View::over(17, 98, 1, 200)),
            "2026-09-01 23:28:17 .. 23:29:39"
        );
    }
}
