//! Counts: of signals by minute, of signals, of codes.

use std::collections::BTreeMap;

use super::{Cell, Row, Table, number, text};
use crate::report::model::{CodeRow, Report};
use crate::time::{SECOND, Timestamp, Zone};

pub(super) const COUNTS: Table = Table {
    name: "counts",
    columns: &[
        text("signal"),
        text("run"),
        text("node"),
        text("minute"),
        number("seconds"),
        number("count"),
    ],
    rows: counts,
};

pub(super) const SIGNALS: Table = Table {
    name: "signals",
    columns: &[
        text("signal"),
        text("run"),
        text("node"),
        number("count"),
        number("suspect"),
        text("first"),
        text("last"),
        number("peak_per_minute"),
        text("peak_at"),
        text("what"),
    ],
    rows: signals,
};

pub(super) const CODES: Table = Table {
    name: "codes",
    columns: &[
        number("code"),
        text("name"),
        text("family"),
        text("place"),
        text("run"),
        text("node"),
        number("count"),
        text("first"),
        text("last"),
    ],
    rows: codes,
};

/// A minute, or the step of the report's time axis where that is longer.
fn counts(report: &Report) -> Vec<Row> {
    const MINUTE_S: i64 = 60;
    let timeline = &report.timeline;
    let start = timeline.start.as_deref().and_then(read);
    let width = i64::try_from(timeline.step_seconds).unwrap_or(i64::MAX);
    let width = width.max(MINUTE_S);
    let mut rows = Vec::new();
    for series in &timeline.series {
        let mut minutes: BTreeMap<i64, u64> = BTreeMap::new();
        for (at, count) in &series.points {
            *minutes.entry(at.div_euclid(width) * width).or_default() += count;
        }
        for (at, count) in minutes {
            let minute = start.map(|(start, zone)| {
                let at = Timestamp(start.0.saturating_add(at.saturating_mul(SECOND)));
                at.iso(zone)
            });
            rows.push(vec![
                (&series.signal).into(),
                (&series.run).into(),
                (&series.node).into(),
                minute.into(),
                at.into(),
                count.into(),
            ]);
        }
    }
    rows
}

/// The start of the time axis: of a day, or of a clock without one.
fn read(start: &str) -> Option<(Timestamp, Zone)> {
    if let Some((at, _)) = Timestamp::read(start.as_bytes()) {
        return Some((at, Zone::Unknown));
    }
    let clock = start.strip_prefix('T')?;
    Timestamp::read_time_of_day(clock.as_bytes()).map(|at| (at, Zone::Dateless))
}

fn signals(report: &Report) -> Vec<Row> {
    let rows = report.signals.iter();
    rows.map(|it| {
        let peak = it.peak.as_ref();
        vec![
            (&it.signal).into(),
            (&it.run).into(),
            (&it.node).into(),
            it.count.into(),
            it.suspect.into(),
            it.first.as_ref().into(),
            it.last.as_ref().into(),
            peak.map(|peak| peak.per_minute).into(),
            peak.map(|peak| &peak.at).into(),
            (&it.what).into(),
        ]
    })
    .collect()
}

fn codes(report: &Report) -> Vec<Row> {
    let first = report.codes.iter().map(|it| code(it, "first"));
    let nested = report.codes_nested.iter().map(|it| code(it, "nested"));
    first.chain(nested).collect()
}

fn code(it: &CodeRow, place: &str) -> Row {
    vec![
        Cell::Number(i64::from(it.code)),
        it.name.as_ref().into(),
        it.family.as_ref().into(),
        place.into(),
        (&it.run).into(),
        (&it.node).into(),
        it.count.into(),
        it.first.as_ref().into(),
        it.last.as_ref().into(),
    ]
}
