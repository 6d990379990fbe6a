//! A record against the signals that a rule counts: the checks, and which of its counts take it.

use super::{Rule, RuleBase};
use crate::parsers::Format;
use crate::signals::tally::{Counter, is_below};
use crate::signals::{Check, Signal, Subject};

/// A signal that the rule counts, the checks of the record against it, and which of the rule's counts take it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Traced {
    /// The signal's id.
    pub signal: String,
    /// The checks, up to the first that fails.
    pub checks: Vec<Check>,
    /// The counts and stalls of the signal; none where a check failed.
    pub counts: Vec<Taken>,
}

/// Whether a count takes a record that is its signal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    /// The count's name.
    pub count: String,
    /// Whether its `where` and its `below` hold; `None` where that takes another record to tell.
    pub holds: Option<bool>,
    /// What they ask, and what the record has; empty where they ask nothing.
    pub text: String,
}

impl Traced {
    /// Whether the record counts: it is the signal, and some count takes it.
    pub fn counts(&self) -> bool {
        let is_signal = self.checks.iter().all(|check| check.passed);
        let is_left_out = !self.counts.is_empty();
        is_signal && !(is_left_out && self.counts.iter().all(|it| it.holds == Some(false)))
    }
}

/// Checks a record against every signal that a rule counts.
pub fn trace_record(
    base: &RuleBase,
    rule: &Rule,
    format: Format,
    subject: Subject<'_, '_>,
) -> Vec<Traced> {
    let counts = rule
        .counts
        .iter()
        .filter_map(|(_, counter)| base.counters[*counter].signal);
    let stalls = rule.stalls.iter();
    let stalls = stalls.map(|(_, test)| base.stalls[test.stall].signal);
    let mut signals: Vec<u16> = counts.chain(stalls).collect();
    signals.sort_unstable();
    signals.dedup();
    let trace = |&index: &u16| {
        let signal = base.signals.signal(index);
        let checks = trace_signal(base, index, format, subject);
        let values = checks
            .iter()
            .all(|check| check.passed)
            .then(|| signal.values(format, subject))
            .flatten();
        Traced {
            signal: signal.id.clone(),
            checks,
            counts: values.map_or_else(Vec::new, |values| taken(base, rule, index, &values)),
        }
    };
    signals.iter().map(trace).collect()
}

/// Checks a record against a signal.
pub fn trace_signal(
    base: &RuleBase,
    index: u16,
    format: Format,
    subject: Subject<'_, '_>,
) -> Vec<Check> {
    let signal = base.signals.signal(index);
    if signal.formats.contains(&format) {
        return signal.trace(format, subject);
    }
    let names = signal.formats.iter().map(|format| format.spec().name);
    let names: Vec<&str> = names.collect();
    let text = format!(
        "the file's format is {}: it is {}",
        names.join(" or "),
        format.spec().name
    );
    vec![Check {
        passed: false,
        text,
    }]
}

/// Which of a rule's counts and stalls of a signal take a record with these values.
fn taken(base: &RuleBase, rule: &Rule, index: u16, values: &[String]) -> Vec<Taken> {
    let signal = base.signals.signal(index);
    let counts = rule.counts.iter();
    let counts = counts.filter(|(_, counter)| base.counters[*counter].signal == Some(index));
    let counts = counts.map(|(name, counter)| {
        let Counter {
            filters,
            below,
            not_after,
            ..
        } = &base.counters[*counter];
        let mut asked = Vec::new();
        let mut holds = Some(true);
        for (field, accepted) in filters {
            let (name, value) = (&signal.fields[*field].name, &values[*field]);
            let wanted = match accepted.join(" or ") {
                nothing if nothing.is_empty() => "empty".to_owned(),
                values => values,
            };
            if signal.is_taken(*field) {
                asked.push(format!("{name} is {wanted}: another record tells it"));
                holds = holds.filter(|holds| !holds);
                continue;
            }
            asked.push(format!("{name} is {wanted}: the record's is {value:?}"));
            if !accepted.contains(value) {
                holds = Some(false);
            }
        }
        if let Some(fields) = *below {
            let (text, is_less) = compared(signal, fields, values);
            asked.push(text);
            holds = match is_less {
                Some(true) => holds,
                Some(false) => Some(false),
                None => holds.filter(|holds| !holds),
            };
        }
        if !not_after.is_empty() {
            let causes = not_after.iter().filter_map(|at| base.counters[*at].signal);
            let causes: Vec<&str> = causes.map(|at| &*base.signals.signal(at).id).collect();
            asked.push(format!(
                "nothing of {} explains it: other records tell it",
                causes.join(" or ")
            ));
            holds = holds.filter(|holds| !holds);
        }
        Taken {
            count: name.clone(),
            holds,
            text: asked.join(", "),
        }
    });
    let stalls = rule.stalls.iter();
    let stalls = stalls.filter(|(_, test)| base.stalls[test.stall].signal == index);
    let stalls = stalls.map(|(name, _)| Taken {
        count: name.clone(),
        holds: Some(true),
        text: String::new(),
    });
    counts.chain(stalls).collect()
}

/// What a count asks of two fields, and whether it holds; `None` where another record tells one of them.
fn compared(
    signal: &Signal,
    (low, high): (usize, usize),
    values: &[String],
) -> (String, Option<bool>) {
    let name = |field: usize| &signal.fields[field].name;
    let asked = format!("{} is below {}", name(low), name(high));
    if signal.is_taken(low) || signal.is_taken(high) {
        return (format!("{asked}: another record tells it"), None);
    }
    let (a, b) = (&values[low], &values[high]);
    let text = format!("{asked}: the record's are {a:?} and {b:?}");
    (text, Some(is_below(a, b)))
}
