//! Findings as annotations of a GitHub workflow run: commands that the runner reads from a step's log.

use std::io::{self, Write};

use crate::report::Style;
use crate::report::diagnosis::known;
use crate::report::escape::{workflow_property, workflow_text};
use crate::report::figures::{counted, in_prose, length};
use crate::report::model::tests::TestGroup;
use crate::report::model::{Finding, Report};
use crate::report::testing::{self, own_file};
use crate::vocab::Severity;

/// Annotations of one level that GitHub shows per step; further ones are dropped without a word.
const SHOWN_MAX: usize = 10;

/// The levels, the worst first.
const LEVELS: [&str; 3] = ["error", "warning", "notice"];

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical | Severity::High => "error",
        Severity::Medium => "warning",
        Severity::Low | Severity::Info => "notice",
    }
}

/// Writes one annotation per finding, as many of each level as GitHub shows.
pub(super) fn write(report: &Report, _style: &Style, out: &mut dyn Write) -> io::Result<()> {
    for name in LEVELS {
        let findings = report.findings.iter();
        let findings = findings.filter(|it| level(it.severity) == name);
        let failing = report.tests.groups.iter();
        let failing = failing
            .filter(|it| level_of_tests(it) == name)
            .map(failing_tests);
        let of_runs = match name {
            "error" => failed_runs(report),
            "warning" => beside_tests(report),
            _ => Vec::new(),
        };
        let lines = of_runs.into_iter().chain(failing);
        let mut lines: Vec<String> = lines.chain(findings.map(annotation)).collect();
        if let Some(why) = testing::unjudged(report).filter(|_| name == "warning") {
            let text = format!("What is said is partial: {why}; see the inputs of the report.");
            lines.insert(
                0,
                command(name, &[("title", "casdiag: partial".to_owned())], &text),
            );
        }
        if lines.len() > SHOWN_MAX {
            let left = lines.len() - (SHOWN_MAX - 1);
            lines.truncate(SHOWN_MAX - 1);
            let text = format!(
                "{left} more of this level are in the report; GitHub shows {SHOWN_MAX} per step."
            );
            lines.push(command(
                name,
                &[("title", "casdiag: more".to_owned())],
                &text,
            ));
        }
        for line in lines {
            writeln!(out, "{line}")?;
        }
    }
    Ok(())
}

/// Runs of tests that say that they failed, though no listed test would explain it.
fn failed_runs(report: &Report) -> Vec<String> {
    let failed = testing::speakers(report).filter(|row| !row.faults.is_empty());
    let told = failed.map(|row| {
        let faults = row
            .faults
            .iter()
            .map(|it| format!("{} ({})", testing::fault_words(row, it), it.path));
        let faults: Vec<String> = faults.collect();
        let title = format!("{} failed and lists no test for it", row.run);
        let text = format!("{}\n{}", testing::run_words(row), faults.join("\n"));
        command("error", &[("title", title)], &text)
    });
    told.collect()
}

/// Runs that are not told to their end, what could not be read of their sources, and what happened to the machinery.
fn beside_tests(report: &Report) -> Vec<String> {
    let runs = testing::speakers(report).filter_map(|row| {
        let mut text: Vec<String> = testing::warnings(row).map(|it| it.text.clone()).collect();
        if row.complete && text.is_empty() {
            return None;
        }
        text.insert(0, testing::run_words(row));
        let title = if row.complete {
            format!("beware of what {} says", row.run)
        } else {
            format!("{} is not told to its end", row.run)
        };
        let properties = [("title", title)];
        Some(command("warning", &properties, &text.join("\n")))
    });
    let events = testing::telling_events(report).map(|event| {
        let properties = [("title", format!("beside the tests: {}", event.kind))];
        let text = format!(
            "{} ({}:{})",
            testing::event_words(event),
            event.path,
            event.line
        );
        command("warning", &properties, &text)
    });
    runs.chain(events).collect()
}

/// The level of a group of failing tests: collateral ones go with what they go back to.
fn level_of_tests(group: &TestGroup) -> &'static str {
    match group.role.as_str() {
        "collateral" => "warning",
        _ => "error",
    }
}

/// A group of failing tests, at its place in their code.
fn failing_tests(group: &TestGroup) -> String {
    let mut properties = Vec::new();
    if let Some(file) = group.file.as_ref().filter(|_| group.line > 0) {
        properties.push(("file", own_file(file).to_owned()));
        properties.push(("line", group.line.to_string()));
    }
    let leaves = counted(length(&group.leaves), "failing test", "failing tests");
    properties.push(("title", format!("{leaves} ({})", group.role)));
    let cause = group.cause.iter().map(|it| format!("goes back to {it}"));
    let mut text = vec![group.signature.clone()];
    text.extend(cause);
    text.push(group.why.clone());
    text.push(format!("for example {}", group.representative));
    text.extend(
        group
            .above
            .iter()
            .map(|it| format!("{} above says: {}", it.test, it.message)),
    );
    command(level_of_tests(group), &properties, &text.join("\n"))
}

fn annotation(finding: &Finding) -> String {
    let mut properties = Vec::new();
    if let Some(evidence) = finding.evidence.first() {
        properties.push(("file", evidence.path.clone()));
        // A segment of a WAL has no lines.
        if evidence.line > 0 {
            properties.push(("line", evidence.line.to_string()));
        }
    }
    let title = format!("{} ({})", finding.rule, finding.severity.word());
    properties.push(("title", title));
    let mut text = vec![finding.title.clone()];
    let mut facts = vec![format!("{}, {}", finding.id, finding.confidence.word())];
    if let (Some(first), Some(last)) = (&finding.window.first, &finding.window.last) {
        facts.push(format!("{} .. {}", in_prose(first), in_prose(last)));
    }
    facts.push(format!("reported by {}", finding.reported_by.join(", ")));
    if !finding.accused.is_empty() {
        facts.push(format!("accused: {}", finding.accused.join(", ")));
    }
    if !finding.caused_by.is_empty() {
        facts.push(format!("follows from {}", finding.caused_by.join(", ")));
    }
    text.push(facts.join("; "));
    let place = finding.fix_goes_in.iter();
    text.extend(place.map(|it| format!("a fix goes in: {it}")));
    text.extend(finding.known.iter().map(known));
    text.extend(finding.next_steps.first().map(|it| format!("next: {it}")));
    command(level(finding.severity), &properties, &text.join("\n"))
}

fn command(name: &str, properties: &[(&str, String)], text: &str) -> String {
    let properties: Vec<String> = properties
        .iter()
        .map(|(key, value)| format!("{key}={}", workflow_property(value)))
        .collect();
    format!("::{name} {}::{}", properties.join(","), workflow_text(text))
}
