//! A report as `JUnit`: a suite per run, a case per rule, so that a CI shows which rules fired at the level that counts.

use std::collections::BTreeSet;
use std::io::{self, Write};

use super::{Case, Failure, Suite, write_suites};
use crate::report::Style;
use crate::report::diagnosis::known;
use crate::report::figures::in_prose;
use crate::report::model::{Finding, Report, RuleRow};
use crate::report::testing::unrecognised;

/// Cited records per finding: the whole is in the other outputs.
const CITED_MAX: usize = 5;

/// Writes the rules of a report as cases.
pub(in crate::report) fn write(
    report: &Report,
    _style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let nodes = report.nodes.iter().map(|it| it.run.as_str());
    let found = report.findings.iter().map(|it| it.run.as_str());
    let runs: BTreeSet<&str> = nodes.chain(found).collect();
    let mut suites: Vec<Suite> = runs.into_iter().map(|run| suite(report, run)).collect();
    suites.extend(super::tests::suites(report));
    suites.extend(unread(report));
    write_suites("casdiag", &suites, out)
}

fn suite(report: &Report, run: &str) -> Suite {
    Suite {
        name: run.to_owned(),
        cases: report
            .rules
            .iter()
            .map(|rule| case(report, rule, run))
            .collect(),
    }
}

fn case(report: &Report, rule: &RuleRow, run: &str) -> Case {
    let findings = report.findings.iter();
    let findings = findings.filter(|it| it.rule == rule.id && it.run == run);
    let (failing, others): (Vec<&Finding>, Vec<&Finding>) =
        findings.partition(|it| report.fail_on.is_some_and(|least| it.severity >= least));
    let mut output: Vec<String> = others
        .into_iter()
        .map(|it| format!("{}: {}\n{}", it.severity.word(), it.title, text(it)))
        .collect();
    let unseen = report.not_observable.iter();
    let unseen = unseen.filter(|it| it.run == run && rule.signals.contains(&it.signal));
    output.extend(unseen.map(|it| {
        format!(
            "not observable on {}: {} ({}); collect {}",
            it.node, it.signal, it.why, it.collect
        )
    }));
    Case {
        class: format!("casdiag.{}", rule.category),
        name: rule.id.clone(),
        error: None,
        failures: failing.into_iter().map(failure).collect(),
        output,
    }
}

fn failure(finding: &Finding) -> Failure {
    Failure {
        kind: finding.severity.word().to_owned(),
        message: finding.title.clone(),
        text: text(finding),
    }
}

/// What a finding rests on, and what to do.
fn text(finding: &Finding) -> String {
    let mut lines = vec![format!(
        "{}, {}; reported by {}",
        finding.id,
        finding.confidence.word(),
        finding.reported_by.join(", ")
    )];
    if !finding.accused.is_empty() {
        lines.push(format!("accused: {}", finding.accused.join(", ")));
    }
    if let (Some(first), Some(last)) = (&finding.window.first, &finding.window.last) {
        lines.push(format!("{} .. {}", in_prose(first), in_prose(last)));
    }
    let place = finding.fix_goes_in.iter();
    lines.extend(place.map(|it| format!("a fix goes in: {it}")));
    let cited = finding.evidence.iter().take(CITED_MAX);
    lines.extend(cited.map(|it| format!("{}:{}  {}", it.path, it.line, it.text)));
    lines.extend(finding.known.iter().map(known));
    lines.extend(finding.next_steps.iter().map(|it| format!("next: {it}")));
    lines.join("\n")
}

/// What makes a verdict partial is an error of its own, so that a passing suite is never one that was not read.
fn unread(report: &Report) -> Option<Suite> {
    let faulty = report.inputs.iter().filter(|it| !it.problems.is_empty());
    let details = faulty.map(|input| {
        let kinds: Vec<&str> = input.problems.iter().map(|it| it.kind.as_str()).collect();
        format!("{}: {}", input.path, kinds.join(", "))
    });
    let case = |name: &str, error: String, output| Case {
        class: "casdiag.inputs".to_owned(),
        name: name.to_owned(),
        error: Some(error),
        output,
        ..Case::default()
    };
    let mut cases = Vec::new();
    if !report.complete {
        let error = "something recognised could not be read whole: the verdict is partial";
        cases.push(case("read whole", error.to_owned(), details.collect()));
    } else if let Some(why) = unrecognised(report) {
        cases.push(case("recognised", why, Vec::new()));
    }
    (!cases.is_empty()).then(|| Suite {
        name: "inputs".to_owned(),
        cases,
    })
}
