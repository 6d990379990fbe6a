//! What the logs say: counts by node, and the records that show each finding.

use crate::report::counts::{self, Cell};
use crate::report::escape::{markdown_code, markdown_inline, markdown_span};
use crate::report::figures::{cited_at, counted, in_prose, thousands};
use crate::report::model::{Evidence, Report, SignalRow};

use super::page::Page;
use super::{FINDINGS_MAX, told};

/// Signals and codes in a table.
const ROWS_MAX: usize = 60;

/// Records cited for a finding.
const CITED_MAX: usize = 3;

/// Characters of a cited record.
const CITED_CHARS_MAX: usize = 600;

/// Writes the counts and the evidence.
pub(super) fn write(report: &Report, page: &mut Page) {
    if report.records.total == 0 && report.findings.is_empty() && !report.tests.runs.is_empty() {
        return;
    }
    page.section("Actual behavior");
    if report.records.total == 0 {
        page.block("There is no record to count.");
    } else {
        counts(report, page);
        codes(report, page);
        peaks(report, page);
    }
    for finding in told(report).iter().filter(|it| !it.evidence.is_empty()) {
        let all = finding.evidence.len();
        let of = if all > CITED_MAX {
            format!(" ({CITED_MAX} of {all} records)")
        } else {
            String::new()
        };
        page.part(&format!(
            "Evidence for {}{of}",
            markdown_inline(&finding.id)
        ));
        for evidence in finding.evidence.iter().take(CITED_MAX) {
            page.block(&cited(evidence));
        }
    }
    page.left_out(
        report.findings.len(),
        FINDINGS_MAX,
        "findings with evidence",
    );
}

/// A record under its place.
pub(super) fn cited(evidence: &Evidence) -> String {
    let place = markdown_span(&cited_at(evidence));
    let mut text: String = evidence.text.chars().take(CITED_CHARS_MAX).collect();
    let left = evidence
        .text
        .chars()
        .count()
        .saturating_sub(CITED_CHARS_MAX);
    if left > 0 {
        let left = counted(
            u64::try_from(left).unwrap_or(u64::MAX),
            "character",
            "characters",
        );
        text = format!("{text}… ({left} more)");
    }
    format!("{place}\n\n{}", markdown_code(&text))
}

fn counts(report: &Report, page: &mut Page) {
    let mut grid = counts::records(report);
    let mut signals = counts::signals(report, true);
    let all = signals.rows.len();
    signals.rows.truncate(ROWS_MAX);
    let codes = [&report.codes, &report.codes_nested].map(|it| counts::codes(report, it).rows);
    let has_unseen = signals
        .rows
        .iter()
        .chain(codes.iter().flatten())
        .flat_map(|row| &row.cells)
        .any(|cell| matches!(cell, Cell::NotObservable | Cell::Foreign));
    grid.rows.extend(signals.rows);
    page.block("Counts, each record once (a record that the err.log repeats is one):");
    page.grid("Signal", &grid);
    page.left_out(all, ROWS_MAX, "rows");
    if has_unseen {
        page.block("`n/o`: not observable, the log of that node could not have shown it (see below); such a total is a lower bound (≥), unless what runs there logs nothing of the kind.");
    }
    let mut remarks = Vec::new();
    let suspects: u64 = report.signals.iter().map(|it| it.suspect).sum();
    if suspects > 0 {
        remarks.push(format!(
            "{} of the occurrences may be forged",
            thousands(suspects)
        ));
    }
    if report.records.suspect > 0 {
        remarks.push(format!(
            "{} may be forged",
            counted(report.records.suspect, "record", "records")
        ));
    }
    let levels: Vec<String> = report
        .records
        .by_level
        .iter()
        .map(|(level, count)| format!("{} {}", thousands(*count), markdown_inline(level)))
        .collect();
    remarks.push(format!("By level: {}", levels.join(", ")));
    remarks.push(format!(
        "{} a record, {} to none",
        counted(
            report.records.continuation_lines,
            "line continues",
            "lines continue"
        ),
        counted(
            report.records.unparsed_lines,
            "line belongs",
            "lines belong"
        ),
    ));
    page.list(&remarks);
}

fn codes(report: &Report, page: &mut Page) {
    for (heading, rows) in [
        ("Code", &report.codes),
        ("Code further in", &report.codes_nested),
    ] {
        let mut grid = counts::codes(report, rows);
        let all = grid.rows.len();
        grid.rows.truncate(ROWS_MAX);
        if all > 0 {
            page.grid(heading, &grid);
            page.left_out(all, ROWS_MAX, "codes");
        }
    }
}

/// The busiest minute of each signal, over all nodes.
fn peaks(report: &Report, page: &mut Page) {
    let mut busiest: Vec<&SignalRow> = Vec::new();
    for row in report
        .signals
        .iter()
        .filter(|it| it.peak.as_ref().is_some_and(|it| it.per_minute > 1))
    {
        let rate = |it: &SignalRow| it.peak.as_ref().map_or(0, |peak| peak.per_minute);
        match busiest.iter_mut().find(|it| it.signal == row.signal) {
            Some(known) if rate(known) < rate(row) => *known = row,
            Some(_) => {}
            None => busiest.push(row),
        }
    }
    let mut items = Vec::new();
    for row in busiest.iter().take(ROWS_MAX) {
        if let Some(peak) = &row.peak {
            let node = counts::node_name(report, &row.run, &row.node);
            let (signal, node, at) = (
                markdown_inline(&row.signal),
                markdown_inline(&node),
                markdown_inline(in_prose(&peak.at)),
            );
            items.push(format!(
                "{signal}: {} in the minute from {at} on {node}",
                thousands(peak.per_minute)
            ));
        }
    }
    if !items.is_empty() {
        page.block("Busiest minutes:");
        page.list(&items);
    }
}
