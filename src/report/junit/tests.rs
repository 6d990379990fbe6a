//! Failing tests of a report as cases: a suite per run of tests, so that a CI shows each with what it goes back to.

use super::{Case, Failure, Suite};
use crate::report::model::Report;
use crate::report::model::tests::{TestGroup, TestLeaf, TestRun};
use crate::report::testing as tests;

/// The suites of all runs of tests.
pub(super) fn suites(report: &Report) -> Vec<Suite> {
    tests::speakers(report)
        .map(|row| suite(report, row))
        .collect()
}

fn suite(report: &Report, row: &TestRun) -> Suite {
    let leaves = report
        .tests
        .groups
        .iter()
        .flat_map(|group| group.leaves.iter().map(move |leaf| (group, leaf)));
    let mut cases: Vec<Case> = leaves
        .filter(|(_, leaf)| leaf.run == row.run)
        .map(|(group, leaf)| case(group, leaf))
        .collect();
    cases.push(Case {
        class: "casdiag.tests".to_owned(),
        name: "told to the end".to_owned(),
        error: (!row.complete).then(|| {
            let warnings = tests::warnings(row).map(|it| it.text.clone());
            let why = row.incomplete.iter().cloned().chain(warnings);
            format!("incomplete: {}", why.collect::<Vec<_>>().join("; "))
        }),
        output: tests::totals(row),
        ..Case::default()
    });
    let faults = row.faults.iter().map(|fault| Failure {
        kind: "failed".to_owned(),
        message: tests::fault_words(row, fault),
        text: fault.path.clone(),
    });
    cases.push(Case {
        class: "casdiag.tests".to_owned(),
        name: "nothing failed but the tests that are listed".to_owned(),
        failures: faults.collect(),
        output: tests::warnings(row).map(|it| it.text.clone()).collect(),
        ..Case::default()
    });
    Suite {
        name: format!("{} {}", row.run, row.name),
        cases,
    }
}

fn case(group: &TestGroup, leaf: &TestLeaf) -> Case {
    let cause = group
        .cause
        .as_ref()
        .map_or_else(String::new, |cause| format!(", {cause}"));
    let place = format!("{}:{}", leaf.path, leaf.source_line);
    Case {
        class: leaf.feature.clone(),
        name: leaf.test.clone(),
        failures: vec![Failure {
            kind: group.role.clone(),
            message: group.signature.clone(),
            text: format!(
                "{} {}{cause}: {}\n{}\n{place}",
                group.id, group.role, group.why, leaf.message
            ),
        }],
        ..Case::default()
    }
}
