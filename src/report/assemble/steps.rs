//! The findings in the order in which a diagnosis asks, and what was left out of them.

use crate::report::model::{Finding, IgnoredRow, Known, StepRow};
use crate::rules::{Ignored, RuleBase};

/// The steps of a base with the findings that answer them; none where there is no finding.
pub(super) fn steps(base: &RuleBase, findings: &[Finding]) -> Vec<StepRow> {
    if findings.is_empty() {
        return Vec::new();
    }
    let step_of = |finding: &Finding| {
        let (_, declared) = base.rule(&finding.rule)?;
        Some(declared.step.as_ref()?.get_ref())
    };
    let row = |step: &crate::rules::schema::StepDecl| {
        let id = step.id.get_ref();
        let answering = findings.iter().filter(|it| step_of(it) == Some(id));
        let mut known: Vec<Known> = Vec::new();
        for one in findings.iter().flat_map(|it| &it.known) {
            if step.known && !known.iter().any(|it| it.reference == one.reference) {
                known.push(one.clone());
            }
        }
        StepRow {
            step: id.clone(),
            asks: step.asks.clone(),
            findings: answering.map(|it| it.id.clone()).collect(),
            known,
        }
    };
    base.declared.step.iter().map(row).collect()
}

pub(super) fn ignored(one: &Ignored) -> IgnoredRow {
    IgnoredRow {
        id: one.id.clone(),
        rule: one.rule.clone(),
        count: one.count,
        expires: one.expires.clone(),
        expired: one.expired,
        because: one.reason.clone(),
        titles: one.what.clone(),
    }
}
