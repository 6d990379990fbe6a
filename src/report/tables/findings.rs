//! Findings, what they counted, the records that show them, and what none explains.

use super::{Cell, Row, Table, joined, number, text};
use crate::report::model::{Evidence, Report};

pub(super) const FINDINGS: Table = Table {
    name: "findings",
    columns: &[
        text("id"),
        text("rule"),
        text("severity"),
        text("confidence"),
        text("category"),
        text("fix_goes_in"),
        text("title"),
        text("run"),
        text("nodes"),
        text("reported_by"),
        text("accused"),
        text("first"),
        text("last"),
        text("caused_by"),
        text("incident"),
        text("known"),
        number("runs_with_it"),
        number("runs"),
    ],
    rows: findings,
};

pub(super) const FINDING_COUNTS: Table = Table {
    name: "finding_counts",
    columns: &[
        text("finding"),
        text("count_name"),
        text("node"),
        number("count"),
    ],
    rows: finding_counts,
};

pub(super) const EVIDENCE: Table = Table {
    name: "evidence",
    columns: &[
        text("of"),
        text("id"),
        text("path"),
        number("line"),
        number("offset"),
        text("text"),
    ],
    rows: evidence,
};

pub(super) const TEMPLATES: Table = Table {
    name: "templates",
    columns: &[
        text("template"),
        text("level"),
        number("count"),
        text("path"),
        number("line"),
    ],
    rows: templates,
};

pub(super) const NOT_OBSERVABLE: Table = Table {
    name: "not_observable",
    columns: &[
        text("signal"),
        text("run"),
        text("node"),
        text("why"),
        text("collect"),
    ],
    rows: not_observable,
};

fn findings(report: &Report) -> Vec<Row> {
    let rows = report.findings.iter();
    rows.map(|it| {
        let mut incidents = report.incidents.iter();
        let incident = incidents.find(|incident| incident.findings.contains(&it.id));
        let known: Vec<String> = it.known.iter().map(|it| it.reference.clone()).collect();
        vec![
            (&it.id).into(),
            (&it.rule).into(),
            it.severity.word().into(),
            it.confidence.word().into(),
            (&it.category).into(),
            it.fix_goes_in.as_ref().into(),
            (&it.title).into(),
            (&it.run).into(),
            joined(&it.nodes),
            joined(&it.reported_by),
            joined(&it.accused),
            it.window.first.as_ref().into(),
            it.window.last.as_ref().into(),
            joined(&it.caused_by),
            incident.map(|incident| &incident.id).into(),
            joined(&known),
            it.runs.k.into(),
            it.runs.n.into(),
        ]
    })
    .collect()
}

fn finding_counts(report: &Report) -> Vec<Row> {
    let mut rows = Vec::new();
    for it in &report.findings {
        let mut row = |name: &String, node: Cell, count: u64| {
            rows.push(vec![(&it.id).into(), name.into(), node, count.into()]);
        };
        for (name, count) in &it.counts {
            row(name, Cell::Empty, *count);
        }
        for (node, counts) in &it.counts_by_node {
            for (name, count) in counts {
                row(name, node.into(), *count);
            }
        }
    }
    rows
}

fn evidence(report: &Report) -> Vec<Row> {
    let findings = report.findings.iter();
    let findings =
        findings.flat_map(|it| it.evidence.iter().map(|one| cited("finding", &it.id, one)));
    let signals = report.signals.iter();
    let signals = signals.flat_map(|it| {
        it.evidence
            .iter()
            .map(|one| cited("signal", &it.signal, one))
    });
    let missed = report.coverage.near_misses.iter();
    let missed = missed.flat_map(|it| {
        it.example
            .iter()
            .map(|one| cited("near-miss", &it.signal, one))
    });
    findings.chain(signals).chain(missed).collect()
}

fn cited(of: &str, id: &String, one: &Evidence) -> Row {
    vec![
        of.into(),
        id.into(),
        (&one.path).into(),
        line(one),
        one.offset.into(),
        (&one.text).into(),
    ]
}

/// A segment of a WAL has no lines.
fn line(one: &Evidence) -> Cell {
    (one.line > 0).then_some(one.line).into()
}

fn templates(report: &Report) -> Vec<Row> {
    let rows = report.coverage.unexplained.iter();
    rows.map(|it| {
        let example = it.example.as_ref();
        vec![
            (&it.template).into(),
            it.level.class().key().into(),
            it.count.into(),
            example.map(|one| &one.path).into(),
            example.map_or(Cell::Empty, line),
        ]
    })
    .collect()
}

fn not_observable(report: &Report) -> Vec<Row> {
    let rows = report.not_observable.iter();
    rows.map(|it| {
        vec![
            (&it.signal).into(),
            (&it.run).into(),
            (&it.node).into(),
            (&it.why).into(),
            (&it.collect).into(),
        ]
    })
    .collect()
}
