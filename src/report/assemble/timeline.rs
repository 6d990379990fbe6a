//! The time axis of the report: one step for all rates, wide enough that the whole stays readable.

use super::Context;
use crate::report::model::{
    Gap, Mark, PositionSeries, Series, Strip, StripRow, Timeline, Unplaced,
};
use crate::rules::{NodeFacts, StripRule};
use crate::signals::tally::{Extent, Rate, width};
use crate::time::{MINUTE, SECOND, Timestamp};
use crate::vocab::MarkKind;

/// Steps with a count over all rates.
const POINTS_MAX: usize = 50_000;

/// Marks in a report.
const MARKS_MAX: usize = 2_000;

/// Stretches without a record per node, the longest of them.
const GAPS_MAX: usize = 50;

impl Context<'_> {
    pub(super) fn timeline(&self) -> Timeline {
        let spans = self.analysis.nodes.iter().filter_map(|it| it.tally.span);
        let Some(first) = spans.map(|(first, _)| first).min() else {
            return Timeline {
                step_seconds: 1,
                ..Timeline::default()
            };
        };
        let grade = self.grade();
        let step = width(grade) * SECOND;
        // Steps begin at multiples of their width, and a start on the minute reads well.
        let unit = step.max(MINUTE);
        let axis = Axis {
            start: Timestamp(first.0.div_euclid(unit) * unit),
            grade,
        };
        let zone = self
            .analysis
            .nodes
            .first()
            .map(|facts| self.run_zone(&facts.tally.run))
            .unwrap_or_default();
        let (marks, unmarked) = self.marks();
        Timeline {
            start: Some(axis.start.iso(zone)),
            step_seconds: u64::try_from(width(grade)).unwrap_or(1),
            series: self.series(&axis),
            positions: self.positions(&axis),
            strips: self.strips(&axis),
            marks,
            unmarked,
            unplaced: self.unplaced(),
            gaps: self.analysis.nodes.iter().flat_map(gaps).collect(),
        }
    }

    /// The width that all rates can be shown in.
    fn grade(&self) -> usize {
        let mut grade = self.rates().map(Rate::grade).max().unwrap_or(0);
        loop {
            let steps = self.rates().map(|rate| {
                let mut rate = rate.clone();
                rate.coarsen(grade);
                rate.len()
            });
            let rates = self.rates().filter(|rate| !rate.is_empty()).count();
            // Below two steps each nothing is left to join.
            if steps.sum::<usize>() <= POINTS_MAX.max(2 * rates) {
                return grade;
            }
            grade += 1;
        }
    }

    fn rates(&self) -> impl Iterator<Item = &Rate> {
        self.analysis.nodes.iter().flat_map(|facts| {
            let signals = facts.tally.signals.iter().map(|signal| &signal.rate);
            let counters = facts.tally.counters.iter().map(|counter| &counter.rate);
            signals.chain(counters)
        })
    }

    fn series(&self, axis: &Axis) -> Vec<Series> {
        let mut series = Vec::new();
        for (index, signal) in self.base.signals.signals().iter().enumerate() {
            for facts in &self.analysis.nodes {
                let rate = &facts.tally.signals[index].rate;
                if !rate.is_empty() {
                    series.push(Series {
                        signal: signal.id.clone(),
                        run: facts.tally.run.clone(),
                        node: facts.tally.node.clone(),
                        points: axis.points(rate),
                    });
                }
            }
        }
        series
    }

    fn positions(&self, axis: &Axis) -> Vec<PositionSeries> {
        let mut series = Vec::new();
        for (index, signal) in self.base.signals.signals().iter().enumerate() {
            for facts in &self.analysis.nodes {
                let extents = &facts.tally.signals[index].positions;
                for (extent, &field) in extents.iter().zip(&signal.positions) {
                    if !extent.is_empty() {
                        series.push(PositionSeries {
                            signal: signal.id.clone(),
                            field: signal.fields[field].name.clone(),
                            run: facts.tally.run.clone(),
                            node: facts.tally.node.clone(),
                            points: axis.extents(extent),
                        });
                    }
                }
            }
        }
        series
    }

    /// Records worth a mark without a stamp, in the order of the inputs.
    fn unplaced(&self) -> Vec<Unplaced> {
        let mut found = Vec::new();
        for facts in &self.analysis.nodes {
            for (signal, tally) in self.base.signals.signals().iter().zip(&facts.tally.signals) {
                let Some(kind) = signal.mark else { continue };
                for one in &tally.unplaced {
                    let cited = self.evidence(&one.evidence);
                    let row = Unplaced {
                        run: facts.tally.run.clone(),
                        node: facts.tally.node.clone(),
                        kind,
                        text: signal.what.trim_end_matches('.').to_owned(),
                        path: cited.path,
                        line: cited.line,
                        said: cited.text,
                        not_before: one.after.map(|at| at.iso(facts.zone)),
                        not_after: one.before.map(|at| at.iso(facts.zone)),
                    };
                    found.push((one.evidence.at, row));
                }
            }
        }
        found.sort_by_key(|(at, _)| *at);
        found.truncate(MARKS_MAX);
        found.into_iter().map(|(_, row)| row).collect()
    }

    fn strips(&self, axis: &Axis) -> Vec<Strip> {
        let mut runs: Vec<&str> = Vec::new();
        for facts in &self.analysis.nodes {
            if !runs.contains(&facts.tally.run.as_str()) {
                runs.push(&facts.tally.run);
            }
        }
        let mut strips = Vec::new();
        for rule in &self.base.strips {
            for run in &runs {
                let rows = self.strip_rows(rule, run, axis);
                if !rows.is_empty() {
                    strips.push(Strip {
                        name: self.base.declared.strip[rule.declared]
                            .name
                            .get_ref()
                            .clone(),
                        run: (*run).to_owned(),
                        rows,
                    });
                }
            }
        }
        strips
    }

    fn strip_rows(&self, rule: &StripRule, run: &str, axis: &Axis) -> Vec<StripRow> {
        let declared = &self.base.declared.strip[rule.declared];
        let mut rows = Vec::new();
        for (row, &counter) in declared.rows.iter().zip(&rule.rows) {
            for facts in self.analysis.nodes.iter().filter(|it| it.tally.run == run) {
                let counted = &facts.tally.counters[counter];
                if counted.all.count > 0 {
                    let signal = row.count.signal.as_ref();
                    rows.push(StripRow {
                        what: row.what.clone(),
                        signal: signal.map_or_else(String::new, |it| it.get_ref().clone()),
                        tone: row.tone,
                        node: facts.tally.node.clone(),
                        count: counted.all.count,
                        points: axis.points(&counted.rate),
                    });
                }
            }
        }
        rows
    }

    /// Marks in the order of their stamps, and how many records that are worth one have none.
    fn marks(&self) -> (Vec<Mark>, u64) {
        let mut marks: Vec<(Timestamp, Mark)> = Vec::new();
        let mut worth = 0;
        for facts in &self.analysis.nodes {
            let mut push = |at: Timestamp, kind, text: &str| {
                let mark = Mark {
                    at: at.iso(facts.zone),
                    run: facts.tally.run.clone(),
                    node: facts.tally.node.clone(),
                    kind,
                    text: text.to_owned(),
                };
                marks.push((at, mark));
            };
            let start = self.base.environment.start_signal();
            worth += start.map_or(0, |it| facts.tally.signals[usize::from(it)].all.sound());
            for &at in &facts.starts {
                push(at, MarkKind::Start, "process start");
            }
            for (signal, tally) in self.base.signals.signals().iter().zip(&facts.tally.signals) {
                let Some(kind) = signal.mark else { continue };
                worth += tally.all.sound();
                for &at in &tally.marks {
                    push(at, kind, signal.what.trim_end_matches('.'));
                }
            }
        }
        marks.sort_by(|a, b| {
            (a.0, &a.1.run, &a.1.node, a.1.kind).cmp(&(b.0, &b.1.run, &b.1.node, b.1.kind))
        });
        marks.truncate(MARKS_MAX);
        let shown = u64::try_from(marks.len()).unwrap_or(u64::MAX);
        let marks = marks.into_iter().map(|(_, mark)| mark).collect();
        (marks, worth.saturating_sub(shown))
    }
}

/// The axis that all points stand on.
struct Axis {
    start: Timestamp,
    grade: usize,
}

impl Axis {
    fn points(&self, rate: &Rate) -> Vec<(i64, u64)> {
        let mut rate = rate.clone();
        rate.coarsen(self.grade);
        let point = |(at, count): (Timestamp, u64)| ((at.0 - self.start.0) / SECOND, count);
        rate.points().map(point).collect()
    }

    fn extents(&self, extent: &Extent) -> Vec<(i64, u64, u64)> {
        let mut extent = extent.clone();
        extent.coarsen(self.grade);
        let points = extent.points();
        let placed = points.map(|(at, low, high)| ((at.0 - self.start.0) / SECOND, low, high));
        placed.collect()
    }
}

/// The longest stretches without a record, in order.
fn gaps(facts: &NodeFacts) -> Vec<Gap> {
    let mut longest = facts.tally.gaps.clone();
    longest.sort_by_key(|(first, last)| (first.0 - last.0, *first));
    longest.truncate(GAPS_MAX);
    longest.sort_unstable();
    let gap = |(first, last): &(Timestamp, Timestamp)| Gap {
        run: facts.tally.run.clone(),
        node: facts.tally.node.clone(),
        first: first.iso(facts.zone),
        last: last.iso(facts.zone),
    };
    longest.iter().map(gap).collect()
}
