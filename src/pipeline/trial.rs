//! Samples of the rule base, run through the same stages as any log.

use std::collections::BTreeSet;

use super::find::record_in;
use super::{Error, Plan, Progress, analyze_found};
use crate::analysis::Analysis;
use crate::intake::{Artifact, Found};
use crate::rules::schema::Scope;
use crate::rules::{self, Finding, RuleBase, Sample, SampleKind};
use crate::signals::Check;
use crate::signals::tally::NodeTally;

/// Runs a sample; what is wrong with the outcome, if anything.
pub fn try_sample(sample: &Sample, base: &RuleBase) -> Result<Option<String>, Error> {
    let files = sample.files.iter();
    let artifacts = files.map(|(path, text)| Artifact::in_memory(path, text.as_bytes()));
    let found = Found {
        artifacts: artifacts.collect(),
        ..Found::default()
    };
    let plan = Plan {
        threads: 1,
        ..Plan::default()
    };
    let analysis = analyze_found(&plan, found, &sample.wal, base, &Progress::default())?;
    let tallies: Vec<&NodeTally> = analysis.nodes.iter().map(|facts| &facts.tally).collect();
    let findings = &analysis.conclusions.findings;
    let severity = findings
        .iter()
        .filter(|finding| finding.rule == sample.owner)
        .map(|finding| finding.severity)
        .max();
    Ok(match &sample.kind {
        SampleKind::Matches(fields) => {
            let fault = match_fault(base, &sample.owner, fields, &tallies);
            let is_missed = fault.is_some() && occurrences(base, &sample.owner, &tallies) == 0;
            let why = is_missed.then(|| missed(sample, base)).flatten();
            fault.map(|fault| because(fault, why))
        }
        SampleKind::MatchesNot => {
            let count = occurrences(base, &sample.owner, &tallies);
            (count > 0).then(|| format!("the signal occurs {}, and must not", times(count)))
        }
        SampleKind::Fires(_) if !follows(sample, findings) => {
            Some(format!("the finding must follow from {}", causes(sample)))
        }
        SampleKind::Fires(expected) => match severity {
            None => Some(because(
                format!(
                    "the rule keeps silent, and must fire with {}",
                    expected.word()
                ),
                silent(sample, base, &analysis),
            )),
            Some(given) => (given != *expected).then(|| {
                format!(
                    "the rule fires with {}, and must with {}",
                    given.word(),
                    expected.word()
                )
            }),
        },
        SampleKind::Silent => severity
            .map(|given| format!("the rule fires with {}, and must keep silent", given.word())),
    })
}

/// A fault with its reason, if there is one.
fn because(fault: String, why: Option<String>) -> String {
    match why {
        Some(why) => format!("{fault}: {why}"),
        None => fault,
    }
}

fn times(count: u64) -> String {
    if count == 1 {
        "once".to_owned()
    } else {
        format!("{count} times")
    }
}

/// Why no record of a sample is its signal: the first check that fails, of the record that comes furthest.
fn missed(sample: &Sample, base: &RuleBase) -> Option<String> {
    let index = base.signals.index(&sample.owner)?;
    let mut traces: Vec<Vec<Check>> = Vec::new();
    for (path, text) in &sample.files {
        let artifact = Artifact::in_memory(path, text.as_bytes());
        for (line, _) in (1u64..).zip(text.lines()) {
            let Ok(record) = record_in(&artifact, line, base) else {
                continue;
            };
            traces.extend(
                record.with(|subject| rules::trace_signal(base, index, record.format, subject)),
            );
        }
    }
    let passed = |checks: &Vec<Check>| checks.iter().filter(|check| check.passed).count();
    // Of equal ones the first: a record's other lines give the same.
    let furthest = traces.iter().rev().max_by_key(|checks| passed(checks));
    let Some(checks) = furthest else {
        let formats = base.signals.signal(index).formats.iter();
        let names: Vec<&str> = formats.map(|format| format.spec().name).collect();
        return Some(format!(
            "its text is no record; the signal's format is {}",
            names.join(" or ")
        ));
    };
    let failed = checks.iter().find(|check| !check.passed)?;
    Some(format!("failed {}", failed.text))
}

/// Why a rule keeps silent over a sample: files that hold no record, or else the first condition that fails.
fn silent(sample: &Sample, base: &RuleBase, analysis: &Analysis) -> Option<String> {
    let (rule, declared) = base.rule(&sample.owner)?;
    let unread = analysis.inputs.iter().find(|input| {
        let is_log = input.format.is_some() && (input.records > 0 || input.table.is_some());
        !is_log
    });
    if let Some(input) = unread {
        return Some(format!("the text of {} is no record", input.path));
    }
    let first = analysis.nodes.first()?;
    let nodes = analysis.nodes.iter().filter(|node| match declared.per {
        Scope::Run => node.tally.run == first.tally.run,
        Scope::Node => node.tally.node == first.tally.node,
    });
    let why = rules::blame(base, rule, &nodes.collect::<Vec<_>>())?;
    Some(format!("failed {why}"))
}

fn causes(sample: &Sample) -> String {
    let rules = sample.follows_from.as_deref().unwrap_or_default();
    if rules.is_empty() {
        "no other".to_owned()
    } else {
        rules.join(", ")
    }
}

/// Whether the findings of the sample's rule are explained by those of the rules that it names, and by no others.
fn follows(sample: &Sample, findings: &[Finding]) -> bool {
    let Some(expected) = &sample.follows_from else {
        return true;
    };
    let rule_of = |id: &String| findings.iter().find(|it| it.id == *id).map(|it| &it.rule);
    let mut own = findings.iter().filter(|it| it.rule == sample.owner);
    own.all(|finding| {
        let causes: BTreeSet<&String> = finding.caused_by.iter().filter_map(rule_of).collect();
        causes == expected.iter().collect()
    })
}

fn occurrences(base: &RuleBase, signal: &str, tallies: &[&NodeTally]) -> u64 {
    let index = base.signals.index(signal).map(usize::from);
    index.map_or(0, |index| {
        tallies
            .iter()
            .map(|tally| tally.signals[index].all.count)
            .sum()
    })
}

fn match_fault(
    base: &RuleBase,
    id: &str,
    fields: &std::collections::BTreeMap<String, String>,
    tallies: &[&NodeTally],
) -> Option<String> {
    let count = occurrences(base, id, tallies);
    if count != 1 {
        return Some(format!("the signal occurs {}, and must once", times(count)));
    }
    let index = base.signals.index(id)?;
    let signal = base.signals.signal(index);
    for (name, expected) in fields {
        let Some(field) = signal.field(name) else {
            return Some(format!("the signal has no field {name:?}"));
        };
        let found = tallies
            .iter()
            .find_map(|tally| tally.signals[usize::from(index)].first.get(field));
        if found != Some(expected) {
            return Some(format!(
                "the field {name} is {:?}, and must be {expected:?}",
                found.map_or("", String::as_str)
            ));
        }
    }
    None
}
