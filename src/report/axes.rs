//! Which runs share a time axis: those whose clocks can be compared and that lie near each other. A log without dates
//! says nothing about the day, so each such run has an axis of its own.

use std::collections::BTreeMap;

use super::axis::{Axis, SECONDS_A_DAY, Stretch};
use crate::report::model::{Finding, Report};
use crate::time::{SECOND, Timestamp};
use crate::vocab::Severity;

/// How many times longer than what lies around it a pause may be on one axis: beyond that bars would be slivers.
const PAUSE_MAX: i64 = 9;

/// What a run is taken to last at least, in steps: it is shown with that much around it.
const STEPS_MIN: i64 = 60;

/// Whether dates are written, and the run.
type Key<'r> = (bool, &'r str);

/// The time axes of a report.
#[derive(Debug, Default)]
pub(super) struct Axes {
    all: Vec<Axis>,
    of_run: BTreeMap<(bool, String), usize>,
    /// Whether a node's stamps have dates, where it has any.
    dated: BTreeMap<(String, String), bool>,
    is_dated: bool,
}

impl Axes {
    /// The axes of a report, dated ones first, by time; none where nothing has a stamp.
    pub(super) fn of(report: &Report) -> Self {
        let timeline = &report.timeline;
        let Some(text) = timeline.start.as_deref() else {
            return Self::default();
        };
        let (Some(start), Ok(step)) = (
            Timestamp::from_iso(text),
            i64::try_from(timeline.step_seconds),
        ) else {
            return Self::default();
        };
        let mut axes = Self {
            is_dated: is_dated(text),
            dated: dated(report),
            ..Self::default()
        };
        let moments = axes.moments(report, start);
        let step = step.max(1);
        for keys in groups(&moments, step) {
            let mut all = Moments::default();
            for key in &keys {
                if let Some(own) = moments.get(key) {
                    all.join(own);
                }
            }
            let has_dates = keys.first().is_some_and(|key| key.0);
            let found = report
                .findings
                .iter()
                .filter(|it| keys.contains(&(window_is_dated(it, has_dates), it.run.as_str())));
            let base = Axis::bare(start, step, has_dates);
            let axis = if has_dates { base } else { all.turned(base) };
            let ends = all.ends(&axis);
            let windows: Vec<(Severity, i64, i64)> = found
                .filter_map(|it| {
                    let (first, last) = axis.window(&it.window)?;
                    Some((it.severity, first.div_euclid(1000), last.div_euclid(1000)))
                })
                .collect();
            for (has_dates, run) in keys {
                let at = axes.all.len();
                axes.of_run.insert((has_dates, run.to_owned()), at);
            }
            axes.all.push(axis.over(ends, &windows));
        }
        axes
    }

    /// All of them.
    pub(super) fn all(&self) -> &[Axis] {
        &self.all
    }

    /// The only one, if there is one.
    pub(super) fn only(&self) -> Option<&Axis> {
        match self.all.as_slice() {
            [one] => Some(one),
            _ => None,
        }
    }

    /// The place of the axis of a node's counts and marks.
    pub(super) fn of_node(&self, run: &str, node: &str) -> Option<usize> {
        let key = (run.to_owned(), node.to_owned());
        let has_dates = self.dated.get(&key).copied().unwrap_or(self.is_dated);
        self.find(has_dates, run)
    }

    /// The place of the axis of a stamp as a run writes it.
    pub(super) fn of_stamp(&self, run: &str, stamp: &str) -> Option<usize> {
        self.find(is_dated(stamp), run)
    }

    /// The runs of an axis.
    pub(super) fn runs(&self, at: usize) -> Vec<String> {
        let own = self.of_run.iter().filter(|(_, place)| **place == at);
        own.map(|((_, run), _)| run.clone()).collect()
    }

    fn find(&self, has_dates: bool, run: &str) -> Option<usize> {
        let found = self.of_run.get(&(has_dates, run.to_owned())).copied();
        // Earlier reports do not name the run of a mark.
        found.or_else(|| (run.is_empty() && self.all.len() == 1).then_some(0))
    }

    fn moments<'r>(&self, report: &'r Report, start: Timestamp) -> BTreeMap<Key<'r>, Moments> {
        let mut moments: BTreeMap<Key<'r>, Moments> = BTreeMap::new();
        let second =
            |text: &str| Timestamp::from_iso(text).map(|at| (at.0 - start.0).div_euclid(SECOND));
        for input in &report.inputs {
            let (Some(first), Some(last)) = (&input.first, &input.last) else {
                continue;
            };
            if let (Some(from), Some(to)) = (second(first), second(last)) {
                let own = moments.entry((is_dated(first), &input.run)).or_default();
                own.read.push((from, to));
            }
        }
        for series in &report.timeline.series {
            let key = (series.run.clone(), series.node.clone());
            let has_dates = self.dated.get(&key).copied().unwrap_or(self.is_dated);
            let own = moments.entry((has_dates, &series.run)).or_default();
            let points = series.points.iter().map(|(at, _)| *at);
            own.points.extend(points.clone());
            if let Some(ends) = ends_of(points) {
                let node = own.nodes.entry(series.node.clone()).or_insert(ends);
                *node = (node.0.min(ends.0), node.1.max(ends.1));
            }
        }
        moments
    }
}

fn is_dated(stamp: &str) -> bool {
    !stamp.starts_with('T')
}

fn window_is_dated(finding: &Finding, otherwise: bool) -> bool {
    finding.window.first.as_deref().map_or(otherwise, is_dated)
}

/// Whether the nodes' stamps have dates.
fn dated(report: &Report) -> BTreeMap<(String, String), bool> {
    let inputs = report.inputs.iter();
    let inputs = inputs.map(|it| (&it.run, &it.node, it.first.as_deref()));
    let signals = report.signals.iter();
    let signals = signals.map(|it| (&it.run, &it.node, it.first.as_deref()));
    let mut dated = BTreeMap::new();
    for (run, node, stamp) in inputs.chain(signals) {
        if let Some(stamp) = stamp {
            dated.insert((run.clone(), node.clone()), is_dated(stamp));
        }
    }
    dated
}

/// Which runs share an axis.
fn groups<'r>(moments: &BTreeMap<Key<'r>, Moments>, step: i64) -> Vec<Vec<Key<'r>>> {
    let mut dated: Vec<(Stretch, Key<'r>)> = Vec::new();
    let mut groups: Vec<Vec<Key<'r>>> = Vec::new();
    let mut dateless: Vec<Vec<Key<'r>>> = Vec::new();
    for (key, own) in moments {
        if !key.0 {
            dateless.push(vec![*key]);
        } else if let Some(ends) = own.plain_ends() {
            dated.push((ends, *key));
        }
    }
    dated.sort_unstable();
    // Up to where the runs of the last group reach, and how much of that time they fill.
    let (mut reach, mut filled) = (0, 0);
    for ((first, last), key) in dated {
        let length = (last - first).max(STEPS_MIN * step);
        match groups.last_mut() {
            Some(group) if first - reach <= PAUSE_MAX * (filled + length) => {
                group.push(key);
                filled += (last - reach.max(first)).max(0);
                reach = reach.max(last);
            }
            _ => {
                groups.push(vec![key]);
                (reach, filled) = (last, length);
            }
        }
    }
    groups.extend(dateless);
    groups
}

/// When something happened, in seconds of the report.
#[derive(Debug, Default)]
struct Moments {
    points: Vec<i64>,
    /// What the inputs span.
    read: Vec<Stretch>,
    /// What the points of each node span.
    nodes: BTreeMap<String, Stretch>,
}

impl Moments {
    fn join(&mut self, other: &Self) {
        self.points.extend(&other.points);
        self.read.extend(&other.read);
        self.nodes.extend(other.nodes.clone());
    }

    fn plain_ends(&self) -> Option<Stretch> {
        let read = self.read.iter().flat_map(|(first, last)| [*first, *last]);
        ends_of(self.points.iter().copied().chain(read))
    }

    /// The first and the last second on an axis.
    fn ends(&self, axis: &Axis) -> Stretch {
        let read = self.read.iter().flat_map(|(first, last)| [*first, *last]);
        let read = read.map(|at| axis.stamped(at));
        let points = self.points.iter().map(|at| axis.second(*at));
        ends_of(points.chain(read)).unwrap_or((0, 0))
    }

    /// The axis of logs without dates: a day that begins behind the longest time of day in which nothing is, so that
    /// what passes midnight stays in one piece. Where a node's records fill more than a day they keep their places.
    fn turned(&self, axis: Axis) -> Axis {
        let is_longer = |(first, last): &Stretch| last - first >= SECONDS_A_DAY;
        let low = self.points.iter().copied().min();
        if self.nodes.values().any(is_longer) {
            return axis.turned(low.unwrap_or(0), false);
        }
        let points = self.points.iter().map(|at| (*at, *at));
        let mut arcs: Vec<Stretch> = self
            .read
            .iter()
            .copied()
            .chain(points)
            .map(|(first, last)| {
                let from = first.rem_euclid(SECONDS_A_DAY);
                (from, from + (last - first).rem_euclid(SECONDS_A_DAY))
            })
            .collect();
        arcs.sort_unstable();
        let latest = arcs.iter().map(|(_, end)| *end).max().unwrap_or(0);
        let (mut reach, mut widest, mut begin) = (latest - SECONDS_A_DAY, 0, 0);
        for (from, end) in arcs {
            if from - reach > widest {
                (widest, begin) = (from - reach, from);
            }
            reach = reach.max(end);
        }
        axis.turned(begin, true)
    }
}

fn ends_of(seconds: impl Iterator<Item = i64>) -> Option<Stretch> {
    seconds.fold(None, |ends, at| match ends {
        None => Some((at, at)),
        Some((low, high)) => Some((at.min(low), at.max(high))),
    })
}
