//! Positions in logs over time.

use super::{Cell, Row, Table, number, text};
use crate::report::model::Report;

pub(super) const POSITIONS: Table = Table {
    name: "positions",
    columns: &[
        text("signal"),
        text("field"),
        text("run"),
        text("node"),
        number("seconds"),
        text("lowest"),
        text("highest"),
    ],
    rows: positions,
};

fn positions(report: &Report) -> Vec<Row> {
    let rows = report.timeline.positions.iter().flat_map(|series| {
        let points = series.points.iter();
        points.map(|(at, low, high)| {
            vec![
                (&series.signal).into(),
                (&series.field).into(),
                (&series.run).into(),
                (&series.node).into(),
                (*at).into(),
                // Positions use all of 64 bits without a sign.
                Cell::Text(low.to_string()),
                Cell::Text(high.to_string()),
            ]
        })
    });
    rows.collect()
}
