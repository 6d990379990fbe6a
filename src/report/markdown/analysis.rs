//! How it comes about, what it is not, and which books do not balance.

use crate::report::escape::{markdown_inline, markdown_line, markdown_prose};
use crate::report::figures::{denied, difference, names, thousands};
use crate::report::model::{Balance, BalanceSide, Report};

use super::page::Page;
use super::told;

/// Balances in the table.
const BALANCES_MAX: usize = 20;

/// Writes the analysis.
pub(super) fn write(report: &Report, page: &mut Page) {
    if !report.findings.is_empty() {
        root_cause(report, page);
        not_excluded(report, page);
    }
    balances(report, page);
}

fn root_cause(report: &Report, page: &mut Page) {
    page.section("Root cause analysis");
    let mut told_before: Vec<&str> = Vec::new();
    for finding in told(report) {
        let id = markdown_inline(&finding.id);
        let cause = if finding.caused_by.is_empty() {
            String::new()
        } else {
            format!(
                ", follows from {}",
                markdown_inline(&names(&finding.caused_by, usize::MAX))
            )
        };
        let mechanism = if finding.mechanism.trim().is_empty() {
            "the rule names no mechanism.".to_owned()
        } else if told_before.contains(&finding.mechanism.as_str()) {
            "the same mechanism as above.".to_owned()
        } else {
            markdown_prose(&finding.mechanism)
        };
        told_before.push(&finding.mechanism);
        page.block(&format!(
            "**{id}** ({}{cause}): {mechanism}",
            finding.confidence.word()
        ));
    }
}

fn not_excluded(report: &Report, page: &mut Page) {
    page.section("What it is not, and what is not excluded");
    let mut items = Vec::new();
    for finding in told(report) {
        let id = markdown_inline(&finding.id);
        items.extend(
            finding
                .not_this
                .iter()
                .map(|it| format!("{id} is {}", markdown_line(&denied(it)))),
        );
        items.extend(
            finding
                .not_excluded
                .iter()
                .map(|it| format!("{id}, not excluded: {}", markdown_line(it))),
        );
    }
    if items.is_empty() {
        items.push("The rules name no alternative.".to_owned());
    }
    page.list(&items);
}

fn balances(report: &Report, page: &mut Page) {
    if report.balances.is_empty() {
        return;
    }
    page.section("Balances");
    let has_runs = report.balances.iter().any(|it| {
        report
            .balances
            .first()
            .is_some_and(|first| first.run != it.run)
    });
    let name = |it: &Balance| {
        markdown_inline(&if has_runs {
            format!("{}: {}", it.run, it.name)
        } else {
            it.name.clone()
        })
    };
    let side = |it: &BalanceSide| format!("{} {}", thousands(it.count), markdown_inline(&it.what));
    let rows: Vec<Vec<String>> = report
        .balances
        .iter()
        .take(BALANCES_MAX)
        .map(|it| {
            let right: Vec<String> = it.right.iter().map(side).collect();
            vec![
                name(it),
                side(&it.left),
                right.join(" + "),
                difference(it.remainder),
            ]
        })
        .collect();
    page.table(
        &["Balance", "This", "should be that", "Remainder:"].map(str::to_owned),
        &rows,
    );
    page.left_out(report.balances.len(), BALANCES_MAX, "balances");
    let open = report
        .balances
        .iter()
        .take(BALANCES_MAX)
        .filter(|it| it.remainder != 0);
    let could_be: Vec<String> = open
        .flat_map(|it| it.could_be.iter().map(move |cause| (it, cause)))
        .map(|(it, cause)| format!("{}: {}", name(it), markdown_line(cause)))
        .collect();
    if !could_be.is_empty() {
        page.block("What could explain a remainder:");
        page.list(&could_be);
    }
}
