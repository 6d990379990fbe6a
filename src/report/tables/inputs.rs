//! What was read, what is wrong with it, and what is wrong with the WALs.

use super::{Cell, Row, Table, number, text};
use crate::report::model::Report;
use crate::report::wal::LsnValue;

pub(super) const INPUTS: Table = Table {
    name: "inputs",
    columns: &[
        text("path"),
        text("format"),
        text("run"),
        text("node"),
        number("bytes"),
        number("records"),
        text("first"),
        text("last"),
        text("zone"),
        number("problems"),
    ],
    rows: inputs,
};

pub(super) const INPUT_PROBLEMS: Table = Table {
    name: "input_problems",
    columns: &[text("path"), text("kind"), number("line"), text("detail")],
    rows: input_problems,
};

pub(super) const WAL_PROBLEMS: Table = Table {
    name: "wal_problems",
    columns: &[
        text("path"),
        text("layout"),
        text("run"),
        text("node"),
        text("segment"),
        text("kind"),
        text("severity"),
        number("offset"),
        text("lsn"),
        text("lsn_to"),
        text("expected"),
        text("detail"),
        text("consequence"),
    ],
    rows: wal_problems,
};

fn inputs(report: &Report) -> Vec<Row> {
    let rows = report.inputs.iter();
    rows.map(|it| {
        vec![
            (&it.path).into(),
            (&it.format).into(),
            (&it.run).into(),
            (&it.node).into(),
            it.bytes.into(),
            it.records.into(),
            it.first.as_ref().into(),
            it.last.as_ref().into(),
            it.zone.as_ref().into(),
            u64::try_from(it.problems.len()).unwrap_or(u64::MAX).into(),
        ]
    })
    .collect()
}

fn input_problems(report: &Report) -> Vec<Row> {
    let rows = report.inputs.iter().flat_map(|input| {
        let problems = input.problems.iter();
        problems.map(|it| {
            vec![
                (&input.path).into(),
                (&it.kind).into(),
                it.line.into(),
                (&it.detail).into(),
            ]
        })
    });
    rows.collect()
}

fn wal_problems(report: &Report) -> Vec<Row> {
    let rows = report.wal.iter().flat_map(|wal| {
        let problems = wal.problems.iter();
        problems.map(|it| {
            vec![
                (&wal.path).into(),
                (&wal.layout).into(),
                (&wal.run).into(),
                (&wal.node).into(),
                (&it.segment).into(),
                (&it.kind).into(),
                (&it.severity).into(),
                it.offset.into(),
                position(it.lsn.as_ref()),
                position(it.lsn_to.as_ref()),
                position(it.expected.as_ref()),
                (&it.detail).into(),
                (&it.consequence).into(),
            ]
        })
    });
    rows.collect()
}

/// As the system writes it: some write hexadecimal.
fn position(lsn: Option<&LsnValue>) -> Cell {
    match lsn {
        Some(LsnValue::Number(number)) => Cell::Text(number.to_string()),
        Some(LsnValue::Text(text)) => text.into(),
        None => Cell::Empty,
    }
}
