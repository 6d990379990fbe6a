//! Every number that the page shows is one of `report.json`.

use std::collections::BTreeMap;

use casdiag::replay::{Replayed, replay};
use casdiag::report::model::Report;
use serde_json::Value;

use super::{Element, Parsed, page, samples};

/// A count as the page writes it.
fn grouped(count: u64) -> String {
    let digits: Vec<char> = count.to_string().chars().rev().collect();
    let groups: Vec<String> = digits.chunks(3).map(|it| it.iter().collect()).collect();
    groups.join(",").chars().rev().collect()
}

/// The rows of all tables in a section: what each cell says.
fn rows(parsed: &Parsed, section: &str) -> Vec<Vec<String>> {
    let place = parsed.place(section);
    let mut rows = Vec::new();
    for (at, element) in parsed.elements.iter().enumerate() {
        if element.name == "tr" && element.parents.contains(&place) {
            let cells = parsed
                .inside(at)
                .filter(|it| matches!(it.name.as_str(), "th" | "td"));
            rows.push(cells.map(|it| it.text.trim().to_owned()).collect());
        }
    }
    rows
}

#[test]
fn the_counts_table_has_the_counts_of_the_report() {
    for report in samples() {
        let parsed = Parsed::of(&page(&report));
        let rows = rows(&parsed, "counts");
        let columns = &rows[0];
        let mut seen = 0;
        for row in &report.signals {
            let line = rows.iter().find(|it| it[0] == row.signal).unwrap();
            let column = columns.iter().position(|it| *it == row.node).unwrap();
            assert_eq!(
                line[column],
                grouped(row.count),
                "{} on {}",
                row.signal,
                row.node
            );
            let all = report.signals.iter().filter(|it| it.signal == row.signal);
            let total: u64 = all.map(|it| it.count).sum();
            let shown = line.last().unwrap().trim_start_matches("≥ ");
            assert_eq!(shown, grouped(total), "{}", row.signal);
            seen += 1;
        }
        assert!(seen > 5);
        for code in &report.codes {
            let family = code
                .family
                .as_ref()
                .map_or_else(String::new, |it| format!(", {it}"));
            let label = format!(
                "{} {}{family}",
                code.code,
                code.name.as_deref().unwrap_or("")
            );
            let line = rows.iter().find(|it| it[0] == label).unwrap();
            let head = rows.iter().find(|it| it[0] == "Code").unwrap();
            let column = head.iter().position(|it| *it == code.node).unwrap();
            assert_eq!(line[column], grouped(code.count), "{label}");
        }
        let records = rows.iter().find(|it| it[0] == "records").unwrap();
        assert_eq!(records.last().unwrap(), &grouped(report.records.total));
    }
}

#[test]
fn the_verdict_and_its_figures_are_those_of_the_report() {
    for report in samples() {
        let parsed = Parsed::of(&page(&report));
        let heading = parsed.named("h1").next().unwrap().text.trim().to_owned();
        let worst = report.findings.iter().map(|it| it.severity).max().unwrap();
        let found = report
            .findings
            .iter()
            .find(|it| it.severity == worst)
            .unwrap();
        assert_eq!(heading, found.title.replace('`', ""));
        let figures: Vec<&str> = parsed
            .named("dd")
            .filter(|it| it.has_class("figure"))
            .map(|it| it.text.trim())
            .collect();
        let count = |length: usize| grouped(length.try_into().unwrap());
        assert_eq!(
            figures[..4],
            [
                count(report.findings.len()),
                grouped(report.records.total),
                count(report.records.by_node.len()),
                count(report.inputs.len()),
            ]
        );
    }
}

#[test]
fn every_finding_is_told_with_its_counts_and_its_evidence() {
    for report in samples() {
        let parsed = Parsed::of(&page(&report));
        for finding in &report.findings {
            let place = parsed.place(&finding.id);
            let cells: Vec<&Element> = parsed
                .inside(place)
                .filter(|it| matches!(it.name.as_str(), "th" | "td"))
                .collect();
            for (name, count) in &finding.counts {
                let at = cells.iter().position(|it| it.text == *name).unwrap();
                let row = cells[at].parents.last().unwrap();
                let total = cells
                    .iter()
                    .rfind(|it| it.parents.last() == Some(row))
                    .unwrap();
                assert_eq!(total.text, grouped(*count), "{}: {name}", finding.id);
            }
            for evidence in &finding.evidence {
                // A WAL has no lines.
                let cited = match evidence.line {
                    0 => evidence.path.clone(),
                    line => format!("{}:{line}", evidence.path),
                };
                let mut inside = parsed.inside(place);
                assert!(
                    inside.any(|it| it.has_class("cited") && it.text.contains(&cited)),
                    "{}: {cited}",
                    finding.id
                );
            }
        }
        for balance in &report.balances {
            let section = &parsed.elements[parsed.place("balances")].text;
            let sign = if balance.remainder < 0 { "-" } else { "" };
            let rest = format!("{sign}{}", grouped(balance.remainder.unsigned_abs()));
            assert!(section.contains(&balance.name) && section.contains(&rest));
        }
    }
}

/// What the script draws of each lane, with the text beside it.
fn lanes(report: &Report) -> Vec<(String, u64, String)> {
    let parsed = Parsed::of(&page(report));
    let data: Value = serde_json::from_str(&parsed.elements[parsed.place("data")].text).unwrap();
    let mut lanes = Vec::new();
    for element in parsed
        .elements
        .iter()
        // Positions are no counts.
        .filter(|it| it.attribute("data-l").is_some() && !it.has_class("levels"))
    {
        let place: usize = element.attribute("data-l").unwrap().parse().unwrap();
        let flat = data["lanes"][place].as_array().unwrap();
        let sum = flat
            .iter()
            .skip(1)
            .step_by(2)
            .map(|it| it.as_u64().unwrap())
            .sum();
        let row = *element.parents.last().unwrap();
        let beside = parsed.inside(row).find(|it| it.has_class("sum")).unwrap();
        let label = element.attribute("aria-label").unwrap().to_owned();
        lanes.push((label, sum, beside.text.trim().to_owned()));
    }
    lanes
}

#[test]
fn lanes_are_drawn_from_all_that_is_counted() {
    for report in samples() {
        let lanes = lanes(&report);
        assert!(lanes.len() > 8);
        for (label, sum, beside) in &lanes {
            // Each record of the samples that a lane counts has a stamp, and none is suspect.
            assert_eq!(beside, &grouped(*sum), "{label}");
        }
        let counted: BTreeMap<String, u64> = report
            .signals
            .iter()
            .map(|it| {
                (
                    format!("{} on {}: {}", it.signal, it.node, it.count),
                    it.count,
                )
            })
            .collect();
        let known = lanes
            .iter()
            .filter(|(label, sum, _)| counted.get(label) == Some(sum));
        assert!(known.count() > 4);
    }
}

#[test]
fn what_was_run_again_has_its_table() {
    let mut report = samples().pop().unwrap();
    report.replays = replay(&report).iter().map(Replayed::value).collect();
    let parsed = Parsed::of(&page(&report));
    let rows = rows(&parsed, "replays");
    // Report 003: the standby stays at 323, the primary streams from 340 up to 342, and commits stand at 341.
    // The run was made from where the standby stays and what is committed, so it predicts only the stream.
    for (position, predicted) in [("323", ""), ("340", "340"), ("342", "342"), ("341", "")] {
        let same = |it: &&Vec<String>| it.len() == 6 && it[2] == position && it[3] == predicted;
        assert!(rows.iter().any(|it| same(&it)), "{position}: {rows:#?}");
    }
    // As the report has it, and each fix.
    let fixes = rows.iter().filter(|it| {
        it.get(1)
            .is_some_and(|it| it == "cures" || it == "does not")
    });
    assert_eq!(fixes.count(), 6);
    // Without a replay there is no section.
    let plain = page(&samples().pop().unwrap());
    assert!(!plain.contains("<section id=\"replays\">"));
}
