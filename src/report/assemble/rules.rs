//! The rules that were asked, as rows of the report.

use crate::report::model::{Reference, RuleRow};
use crate::rules::RuleBase;
use crate::rules::schema::RuleDecl;
use crate::vocab::Severity;

/// The rules of a base, in the order of declaration.
pub(super) fn rules(base: &RuleBase) -> Vec<RuleRow> {
    base.declared.rule.iter().map(row).collect()
}

fn row(rule: &RuleDecl) -> RuleRow {
    let counted = rule.counts.values().filter_map(|it| it.signal.as_ref());
    let mut signals: Vec<String> = counted.map(|it| it.get_ref().clone()).collect();
    signals.sort();
    signals.dedup();
    let severities = rule.verdict.iter().map(|it| it.severity);
    RuleRow {
        id: rule.id.get_ref().clone(),
        title: rule.title.clone(),
        category: rule.category.clone(),
        fix_goes_in: rule.fix_goes_in.clone(),
        severity: severities.max().unwrap_or(Severity::Info),
        mechanism: rule.mechanism.trim().to_owned(),
        not_this: rule
            .not_this
            .iter()
            .map(|text| text.get_ref().clone())
            .collect(),
        next_steps: rule.next_steps.clone(),
        signals,
        known: rule
            .known
            .iter()
            .map(|it| Reference {
                reference: it.reference.clone(),
                fixed_in: it.fixed_in.clone(),
            })
            .collect(),
    }
}
