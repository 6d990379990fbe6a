//! The time axis of a report: what it spans, where the findings lie on it, its ticks, and counts joined into bars.

use crate::report::model::FindingWindow;
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

/// Seconds in a day.
pub(super) const SECONDS_A_DAY: i64 = DAY / SECOND;

/// Seconds of a stretch whose ticks name the year.
const SECONDS_A_YEAR: i64 = 365 * SECONDS_A_DAY;

/// A first and a last second.
pub(super) type Stretch = (i64, i64);

/// A time axis.
#[derive(Debug, Clone, Copy)]
pub(super) struct Axis {
    /// Second 0, as the clocks showed it.
    pub(super) start: Timestamp,
    /// The width of a step in seconds.
    pub(super) step: i64,
    /// The first and the last second that anything has.
    pub(super) ends: Stretch,
    /// All that has a stamp, in bars.
    pub(super) whole: View,
    /// Where the findings are, if that is a small part of the whole.
    pub(super) focus: View,
    /// Whether the logs write dates.
    pub(super) is_dated: bool,
    /// Where the day begins that times without a date belong to.
    day: i64,
    /// Whether counts are moved into that day too.
    is_folded: bool,
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
    /// An axis that shows nothing yet.
    pub(super) fn bare(start: Timestamp, step: i64, is_dated: bool) -> Self {
        let nothing = View::over(0, 0, step, 1);
        Self {
            start,
            step,
            ends: (0, 0),
            whole: nothing,
            focus: nothing,
            is_dated,
            day: 0,
            is_folded: false,
        }
    }

    /// The axis with the day that times without a date belong to.
    pub(super) fn turned(self, day: i64, is_folded: bool) -> Self {
        Self {
            day,
            is_folded,
            ..self
        }
    }

    /// The axis over all there is, with the windows of findings in seconds.
    pub(super) fn over(self, ends: Stretch, windows: &[(Severity, i64, i64)]) -> Self {
        let (low, high) = ends;
        let step = self.step;
        let whole = View::over(low, high, step, BARS_MAX);
        let of = |least: Severity| {
            let found = windows.iter().filter(move |it| it.0 >= least);
            found.fold((i64::MAX, i64::MIN), |(low, high), it| {
                (low.min(it.1), high.max(it.2))
            })
        };
        let (first, last) = [Severity::Medium, Severity::Info]
            .into_iter()
            .map(of)
            .find(|(low, high)| low <= high)
            .unwrap_or(ends);
        // A moment alone says little: at least a minute's worth of steps are around it.
        let margin = ((last - first) / 20).max((STEPS_MIN * step - (last - first)) / 2);
        let (from, to) = ((first - margin).max(low), (last + margin).min(high));
        let is_small = from <= to && (to - from) < (high - low) / 2;
        let focus = if is_small {
            View::over(from, to, step, BARS_MAX)
        } else {
            whole
        };
        Self {
            ends,
            whole,
            focus,
            ..self
        }
    }

    /// The place of a second that was counted.
    pub(super) fn second(&self, at: i64) -> i64 {
        if self.is_folded { self.stamped(at) } else { at }
    }

    /// The place of a second that was read from a stamp.
    pub(super) fn stamped(&self, at: i64) -> i64 {
        if self.is_dated {
            at
        } else {
            self.day + (at - self.day).rem_euclid(SECONDS_A_DAY)
        }
    }

    /// Counts in their places, in order.
    pub(super) fn points(&self, points: &[(i64, u64)]) -> Vec<(i64, u64)> {
        let mut placed: Vec<(i64, u64)> = points
            .iter()
            .map(|(at, count)| (self.second(*at), *count))
            .collect();
        placed.sort_unstable();
        placed
    }

    /// Whether times of day do not tell which day they are of.
    pub(super) fn is_ambiguous(&self) -> bool {
        !self.is_dated && !self.is_folded
    }

    /// The place of a stamp as the report writes it, in thousandths of a second; none where the day is not known.
    pub(super) fn millis(&self, stamp: &str) -> Option<i64> {
        if self.is_ambiguous() {
            return None;
        }
        let at = (Timestamp::from_iso(stamp)?.0 - self.start.0).div_euclid(SECOND / 1000);
        Some(self.stamped(at.div_euclid(1000)) * 1000 + at.rem_euclid(1000))
    }

    /// The ends of a window in thousandths of a second. Without dates the last is the next such time behind the first.
    pub(super) fn window(&self, window: &FindingWindow) -> Option<Stretch> {
        self.span(window.first.as_deref()?, window.last.as_deref()?)
    }

    /// The same of two stamps.
    pub(super) fn span(&self, first: &str, last: &str) -> Option<Stretch> {
        let (first, last) = (self.millis(first)?, self.millis(last)?);
        let is_next_day = last < first && !self.is_dated;
        let days = if is_next_day { SECONDS_A_DAY * 1000 } else { 0 };
        Some((first, last + days))
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
                ticks.push((at, self.label(at, distance, view.seconds())));
            }
        }
        ticks
    }

    /// A second of the axis as a clock shows it: with seconds, or a date, as far as `distance` needs it, and the year as
    /// far as the length of the whole does.
    fn label(&self, at: i64, distance: i64, length: i64) -> String {
        let stamp = Timestamp(self.start.0 + at * SECOND);
        let text = stamp.short();
        let (date, time) = text.split_once(' ').unwrap_or((&text, ""));
        let on_midnight = stamp.0.rem_euclid(DAY) == 0;
        if self.is_dated && (distance * SECOND >= DAY || on_midnight) {
            let from = if length > SECONDS_A_YEAR { 0 } else { 5 };
            date.get(from..).unwrap_or(date).to_owned()
        } else if distance * SECOND < MINUTE {
            time.to_owned()
        } else {
            time.get(..5).unwrap_or(time).to_owned()
        }
    }

    /// A stretch in words: `2026-09-01 23:28:16 .. 23:29:56`. The last bar may reach beyond the last record, the words
    /// do not.
    pub(super) fn words(&self, view: View) -> String {
        let text = |at: i64| Timestamp(self.start.0 + at * SECOND).short();
        let first = view.from.max(self.ends.0);
        let last = view.to().min(self.ends.1);
        let (from, to) = (text(first), text(last));
        let time = |text: &str| text.get(11..).unwrap_or_default().to_owned();
        if !self.is_dated {
            let later = self.midnights(first, last);
            format!("{} .. {}{later}", time(&from), time(&to))
        } else if from.get(..10) == to.get(..10) {
            format!("{from} .. {}", time(&to))
        } else {
            format!("{from} .. {to}")
        }
    }

    /// How many days apart two times without a date are, where they alone do not say it.
    fn midnights(&self, first: i64, last: i64) -> String {
        let day = |at: i64| (self.start.0 + at * SECOND).div_euclid(DAY);
        match day(last) - day(first) {
            _ if last - first < SECONDS_A_DAY => String::new(),
            1 => ", 1 day later".to_owned(),
            days => format!(", {days} days later"),
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
        let mut bars: Vec<u64> = vec![0; usize::try_from(self.bars).unwrap_or(0)];
        for (at, count) in points {
            let bar = (at - self.from).div_euclid(self.bar);
            if let Some(sum) = usize::try_from(bar).ok().and_then(|bar| bars.get_mut(bar)) {
                *sum = sum.saturating_add(*count);
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
        let start = Timestamp::from_iso("2026-09-01T23:28:00.000000").unwrap();
        let axis = Axis::bare(start, 1, true).over((0, 3 * 86_400), &[]);
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
