//! Samples of the rule base, run through the same stages as any log.

use std::collections::BTreeSet;

use super::{Error, Plan, Progress, analyze_found};
use crate::intake::{Artifact, Found};
use crate::rules::{Finding, RuleBase, Sample, SampleKind};
use crate::signals::tally::NodeTally;

/// Runs a sample; what is wrong with the outcome, if anything.
pub fn try_sample(sample: &Sample, base: &RuleBase) -> Result<Option<String>, Error> {
    let files = sample.files.iter();
    let artifacts = files.map(|(path, text)| Artifact::in_memory(path, text.as_bytes()));
    let found = Found {
        artifacts: artifacts.collect(),
        refused: Vec::new(),
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
        SampleKind::Matches(fields) => match_fault(base, &sample.owner, fields, &tallies),
        SampleKind::MatchesNot => {
            let count = occurrences(base, &sample.owner, &tallies);
            (count > 0).then(|| format!("the signal occurs {count} times, and must not"))
        }
        SampleKind::Fires(_) if !follows(sample, findings) => {
            Some(format!("the finding must follow from {}", causes(sample)))
        }
        SampleKind::Fires(expected) => match severity {
            None => Some(format!(
                "the rule keeps silent, and must fire with {}",
                expected.word()
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
        return Some(format!("the signal occurs {count} times, and must once"));
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
