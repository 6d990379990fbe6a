//! The findings of a report as SARIF results, and the rule base as their rules.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::{Log, at_byte, message, place, tests, unread};
use crate::report::Style;
use crate::report::escape::{markdown_inline, markdown_line, markdown_prose};
use crate::report::model::{Evidence, Finding, Report, RuleRow};
use crate::vocab::Severity;

/// Writes the findings as SARIF.
pub(in crate::report) fn write(
    report: &Report,
    _style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let faults = report.inputs.iter().flat_map(|input| {
        let problems = input.problems.iter();
        problems.map(|it| {
            let text = format!("{}: {}", it.kind, it.detail);
            unread(&input.path, "warning", &text)
        })
    });
    let mut rules: Vec<Value> = report.rules.iter().map(descriptor).collect();
    let findings = report.findings.iter().map(|it| result(it, report));
    let failing = tests::results(report, rules.len());
    rules.extend(tests::descriptor(report));
    Log {
        rules,
        results: findings.chain(failing).collect(),
        notifications: faults.collect(),
        complete: report.complete,
    }
    .write(out)
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical | Severity::High => "error",
        Severity::Medium => "warning",
        Severity::Low | Severity::Info => "note",
    }
}

/// A rule with what a reader of one alert needs: how the fault comes about, and what to do.
fn descriptor(rule: &RuleRow) -> Value {
    let mut plain = vec![rule.mechanism.trim().to_owned()];
    let mut markdown = vec![markdown_prose(&rule.mechanism)];
    for (head, texts) in [
        ("Not this", &rule.not_this),
        ("Next steps", &rule.next_steps),
    ] {
        if !texts.is_empty() {
            let items = texts.iter().map(|text| format!("- {text}"));
            plain.push(format!("{head}:\n{}", items.collect::<Vec<_>>().join("\n")));
            let items = texts
                .iter()
                .map(|text| format!("- {}", markdown_line(text)));
            let items = items.collect::<Vec<_>>().join("\n");
            markdown.push(format!("**{head}**\n\n{items}"));
        }
    }
    if let Some(place) = &rule.fix_goes_in {
        plain.push(format!("A fix goes in: {place}."));
        markdown.push(format!("A fix goes in: {}.", markdown_inline(place)));
    }
    for known in &rule.known {
        let fixed = known.fixed_in.as_ref();
        let fixed = fixed.map_or_else(String::new, |it| format!(", fixed in {it}"));
        let text = format!("{}{fixed}", known.reference);
        plain.push(format!("Known as {text}."));
        markdown.push(format!("Known as {}.", markdown_inline(&text)));
    }
    let (plain, markdown) = (plain.join("\n\n"), markdown.join("\n\n"));
    json!({
        "id": rule.id,
        "shortDescription": { "text": rule.title },
        "fullDescription": { "text": rule.mechanism.trim() },
        "help": { "text": plain, "markdown": markdown },
        "defaultConfiguration": { "level": level(rule.severity) },
        "properties": { "tags": [rule.category], "severity": rule.severity },
    })
}

fn result(finding: &Finding, report: &Report) -> Value {
    let index = report.rules.iter().position(|it| it.id == finding.rule);
    let mut evidence = finding.evidence.iter().map(physical);
    // A result without a place is not shown by those who read SARIF: then it is of the log of who reports it.
    let first = evidence.next().or_else(|| {
        let of = |node: &String| {
            let mut inputs = report.inputs.iter();
            inputs.find(|it| it.run == finding.run && it.node == *node)
        };
        let input = finding
            .reported_by
            .iter()
            .chain(&finding.nodes)
            .find_map(of);
        input.map(|input| place(&input.path, None))
    });
    let locations: Vec<Value> = first
        .into_iter()
        .map(|place| json!({ "physicalLocation": place }))
        .collect();
    let related: Vec<Value> = evidence
        .zip(1_u32..)
        .map(|(place, id)| json!({ "id": id, "physicalLocation": place }))
        .collect();
    let mut result = json!({
        "ruleId": finding.rule,
        "level": level(finding.severity),
        "message": message(&finding.title),
        "locations": locations,
        "relatedLocations": related,
        "partialFingerprints": {
            "ruleRunNodes/v1": format!("{}:{}:{}", finding.rule, finding.run, finding.nodes.join(",")),
        },
        "properties": properties(finding),
    });
    if let (Some(index), Some(result)) = (index, result.as_object_mut()) {
        result.insert("ruleIndex".to_owned(), json!(index));
    }
    result
}

fn properties(finding: &Finding) -> Value {
    json!({
        "id": finding.id,
        "severity": finding.severity,
        "confidence": finding.confidence,
        "category": finding.category,
        "fixGoesIn": finding.fix_goes_in,
        "run": finding.run,
        "runs": finding.runs,
        "nodes": finding.nodes,
        "reportedBy": finding.reported_by,
        "accused": finding.accused,
        "window": finding.window,
        "counts": finding.counts,
        "causedBy": finding.caused_by,
        "known": finding.known,
        "notExcluded": finding.not_excluded,
        "notObservable": finding.not_observable,
    })
}

/// A cited record; a segment of a WAL has bytes and no lines.
fn physical(evidence: &Evidence) -> Value {
    let region = if evidence.line > 0 {
        json!({ "startLine": evidence.line, "snippet": { "text": evidence.text } })
    } else {
        at_byte(evidence.offset)
    };
    place(&evidence.path, Some(region))
}
