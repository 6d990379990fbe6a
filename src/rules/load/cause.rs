//! What a rule and its samples say of other rules, checked.

use toml::Spanned;

use super::origin::{LoadError, Origin};
use super::signal::nearest;
use crate::rules::schema::{CauseDecl, FactDecl, RuleDecl, StepDecl};
use crate::signals::{FieldKind, Signal};

/// Checks the names of other rules, and what ties a finding to another by position.
pub(super) fn check_causes(
    declared: &RuleDecl,
    origin: Origin<'_>,
    all: &[RuleDecl],
    signals: &[Signal],
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
        check_kinds(cause, declared, origin, signals)?;
    }
    check_ranges(declared, origin)
}

/// Checks the step that a rule's findings answer.
pub(super) fn check_step(
    declared: &RuleDecl,
    origin: Origin<'_>,
    steps: &[StepDecl],
) -> Result<(), LoadError> {
    let Some(name) = &declared.step else {
        return Ok(());
    };
    let known: Vec<&str> = steps.iter().map(|it| it.id.get_ref().as_str()).collect();
    if known.contains(&name.get_ref().as_str()) {
        return Ok(());
    }
    let message = format!("there is no step {:?}", name.get_ref());
    Err(origin.fault(name.span(), message, nearest(name.get_ref(), &known)))
}

/// A position that is a name ties nothing, and neither does a node that is a position.
fn check_kinds(
    cause: &CauseDecl,
    declared: &RuleDecl,
    origin: Origin<'_>,
    signals: &[Signal],
) -> Result<(), LoadError> {
    for (name, wants_position) in [(&cause.lsn, true), (&cause.node, false)] {
        let fact = declared.facts.get(name.get_ref());
        if fact.is_some_and(|fact| is_position(fact, declared, signals) != wants_position) {
            let (is, should) = if wants_position {
                (
                    "no position",
                    "a position: a field of kind int, or a problem's first or last",
                )
            } else {
                ("a position", "a node's name")
            };
            let message = format!("the fact {:?} is {is}", name.get_ref());
            let hint = format!("name a fact that is {should}");
            return Err(origin.fault(name.span(), message, hint));
        }
    }
    Ok(())
}

fn is_position(fact: &FactDecl, declared: &RuleDecl, signals: &[Signal]) -> bool {
    let value = fact.value.get_ref();
    if fact.wal.is_some() {
        return matches!(value.as_str(), "first" | "last");
    }
    let stall = fact.stall.as_ref();
    let stall = stall.and_then(|it| declared.stalls.get(it.get_ref()));
    let signal = stall.and_then(|it| {
        signals
            .iter()
            .find(|known| known.id == *it.signal.get_ref())
    });
    signal.is_some_and(|signal| {
        let field = signal.field(value);
        field.is_some_and(|at| signal.fields[at].kind == FieldKind::Int)
    })
}

/// A stretch of positions begins where it ends or before.
fn check_ranges(declared: &RuleDecl, origin: Origin<'_>) -> Result<(), LoadError> {
    for given in declared.sample.iter().flat_map(|it| &it.wal) {
        let last = given.last.as_ref();
        let backward = given
            .first
            .zip(last)
            .filter(|(first, last)| first > last.get_ref());
        let fault = match (backward, last) {
            (Some((first, last)), _) => {
                Some((last, format!("{} is before {first}", last.get_ref())))
            }
            (None, Some(last)) if given.first.is_none() => {
                Some((last, "a last position without a first one".to_owned()))
            }
            (None, _) => None,
        };
        if let Some((last, message)) = fault {
            let hint = "give first and last in this order, or first alone";
            return Err(origin.fault(last.span(), message, hint));
        }
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
