//! What a rule and its samples say of other rules, checked.

use toml::Spanned;

use super::origin::{LoadError, Origin};
use super::signal::nearest;
use crate::rules::schema::{CauseDecl, RuleDecl};

/// Checks the names of other rules, and what ties a finding to another by position.
pub(super) fn check_causes(
    declared: &RuleDecl,
    origin: Origin<'_>,
    all: &[RuleDecl],
) -> Result<(), LoadError> {
    let named = declared
        .caused_by
        .iter()
        .chain(&declared.caused_elsewhere_by);
    let sampled = declared
        .sample
        .iter()
        .flat_map(|it| it.follows_from.iter().flatten());
    for name in named.chain(sampled) {
        rule(name, origin, all)?;
    }
    for cause in &declared.cause {
        check_cause(cause, declared, origin, all)?;
    }
    Ok(())
}

fn rule<'a>(
    name: &Spanned<String>,
    origin: Origin<'_>,
    all: &'a [RuleDecl],
) -> Result<&'a RuleDecl, LoadError> {
    let found = all.iter().find(|rule| rule.id.get_ref() == name.get_ref());
    found.ok_or_else(|| {
        let ids: Vec<&str> = all.iter().map(|rule| rule.id.get_ref().as_str()).collect();
        let message = format!("there is no rule {:?}", name.get_ref());
        origin.fault(name.span(), message, nearest(name.get_ref(), &ids))
    })
}

fn check_cause(
    cause: &CauseDecl,
    declared: &RuleDecl,
    origin: Origin<'_>,
    all: &[RuleDecl],
) -> Result<(), LoadError> {
    let other = rule(&cause.rule, origin, all)?;
    let counts = other.counts.iter().filter(|(_, count)| count.wal.is_some());
    let counts: Vec<&str> = counts.map(|(name, _)| name.as_str()).collect();
    let facts: Vec<&str> = declared.facts.keys().map(String::as_str).collect();
    for (name, known, what) in [
        (
            &cause.wal,
            &counts,
            "count of problems of WALs of the rule that is the cause",
        ),
        (&cause.lsn, &facts, "fact of this rule"),
        (&cause.node, &facts, "fact of this rule"),
    ] {
        if !known.contains(&name.get_ref().as_str()) {
            let message = format!("{:?} is no {what}", name.get_ref());
            return Err(origin.fault(name.span(), message, nearest(name.get_ref(), known)));
        }
    }
    Ok(())
}
