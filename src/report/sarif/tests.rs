//! Groups of failing tests as SARIF results: one result a group, in the tests' own code.

use serde_json::{Value, json};

use super::{message, place};
use crate::report::model::Report;
use crate::report::model::tests::{TestGroup, TestRun, TestSaying};
use crate::report::testing::{fail, fault_words, faults, own_file};

/// The id of the rule that every group is a result of.
const RULE: &str = "failing-tests";

/// The rule, if anything failed.
pub(super) fn descriptor(report: &Report) -> Option<Value> {
    fail(report).then(|| {
        json!({
            "id": RULE,
            "shortDescription": { "text": "Tests failed that were not expected to" },
            "fullDescription": { "text": "Failing tests with one signature: result, exception, assertion or message, and place in the tests' code." },
            "defaultConfiguration": { "level": "error" },
        })
    })
}

/// A result per group; `index` is the place of the rule.
pub(super) fn results(report: &Report, index: usize) -> Vec<Value> {
    let groups = report.tests.groups.iter().map(|group| result(group, index));
    groups
        .chain(faults(report).map(|(row, fault)| failed(row, fault, index)))
        .collect()
}

/// A run that says that it failed, though no listed test would explain it.
fn failed(row: &TestRun, fault: &TestSaying, index: usize) -> Value {
    json!({
        "ruleId": RULE,
        "ruleIndex": index,
        "level": "error",
        "message": message(&format!("{} says that it failed: {}", row.run, fault_words(row, fault))),
        "locations": [{ "physicalLocation": place(&fault.path, None) }],
        "partialFingerprints": { "signature/v1": format!("{} {}: {}", row.form, row.name, fault.says) },
        "properties": { "id": row.run },
    })
}

fn result(group: &TestGroup, index: usize) -> Value {
    let own = group.file.as_ref().filter(|_| group.line > 0);
    let place = match (own, group.leaves.first()) {
        (Some(file), _) => Some(place(
            own_file(file),
            Some(json!({ "startLine": group.line })),
        )),
        (None, Some(leaf)) => Some(place(
            &leaf.path,
            (leaf.source_line > 0).then(|| json!({ "startLine": leaf.source_line })),
        )),
        (None, None) => None,
    };
    let locations: Vec<Value> = place
        .into_iter()
        .map(|place| json!({ "physicalLocation": place }))
        .collect();
    let text = format!(
        "{} failing: {}. {}",
        group.leaves.len(),
        group.signature,
        group.why
    );
    let level = match group.role.as_str() {
        "collateral" => "warning",
        _ => "error",
    };
    json!({
        "ruleId": RULE,
        "ruleIndex": index,
        "level": level,
        "message": message(&text),
        "locations": locations,
        "partialFingerprints": { "signature/v1": group.signature },
        "properties": {
            "id": group.id,
            "role": group.role,
            "cause": group.cause,
            "leaves": group.leaves.iter().map(|leaf| &leaf.test).collect::<Vec<_>>(),
            "byFeature": group.by_feature,
        },
    })
}
