//! Faults of a rule base that still loads: what has no sample, no prose, no use.

use super::RuleBase;
use super::schema::{FailureDecl, RuleDecl, RuleSampleDecl};

/// A fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Whose: a signal's or a rule's id.
    pub owner: String,
    /// What is missing or wrong.
    pub what: String,
}

/// Lists the faults, in the order of declaration.
pub fn lint(base: &RuleBase) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut fault = |owner: &str, what: String| {
        faults.push(Fault {
            owner: owner.to_owned(),
            what,
        });
    };
    for signal in &base.declared.signal {
        let id = signal.id.get_ref();
        let compiled = base.signals.signals().iter().find(|known| known.id == *id);
        let is_text = compiled.is_some_and(|signal| {
            let mut formats = signal.formats.iter();
            formats.all(|format| format.spec().head_bytes.is_none())
        });
        let needs_text = is_text && (!signal.templates.is_empty() || signal.table.is_some());
        if signal.samples.is_empty() && needs_text {
            fault(id, "has no positive sample".to_owned());
        }
        if signal.not.is_empty() && needs_text {
            fault(id, "has no negative sample".to_owned());
        }
        let (templates, samples) = (signal.templates.len(), signal.samples.len());
        // Where there is none at all, that is said already.
        if is_text && (1..templates).contains(&samples) {
            let word = if samples == 1 { "sample" } else { "samples" };
            fault(
                id,
                format!("has {templates} templates and only {samples} positive {word}"),
            );
        }
        if !signal.what.ends_with('.') {
            fault(id, "its `what` is no sentence".to_owned());
        }
        let used = base
            .counters
            .iter()
            .filter_map(|counter| counter.signal)
            .any(|signal| base.signals.signal(signal).id == *id);
        let is_context = base.signals.signals().iter().any(|other| {
            other
                .context
                .as_ref()
                .is_some_and(|context| base.signals.signals()[context.signal].id == *id)
        });
        if !used && !is_context && !is_read(base, id) && !signal.benign && signal.mark.is_none() {
            fault(
                id,
                "is read by no rule, balance, strip, context, arrival or the environment, is not marked and not benign"
                    .to_owned(),
            );
        }
    }
    for rule in &base.declared.rule {
        lint_rule(rule, &mut fault);
    }
    for failure in &base.declared.failure {
        lint_failure(base, failure, &mut fault);
    }
    faults
}

/// Whether a signal tells of arrivals, or of the environment.
fn is_read(base: &RuleBase, id: &str) -> bool {
    let rules = base.declared.rule.iter();
    let mut arrivals = rules.flat_map(|it| it.arrivals.values());
    let is_arrival = arrivals.any(|it| it.signals().any(|signal| signal.get_ref() == id));
    let environment = base.declared.environment.iter();
    let mut told = environment.flat_map(|it| [&it.start, &it.zone].into_iter().chain(&it.keeper));
    is_arrival || told.any(|signal| signal.get_ref() == id)
}

/// Lists the faults of a kind of failing test.
fn lint_failure(base: &RuleBase, kind: &FailureDecl, fault: &mut impl FnMut(&str, String)) {
    let id = kind.id.get_ref();
    // The class of an exception may stand before what it says.
    let of = |sample: &str| {
        let class = sample
            .split(": ")
            .next()
            .filter(|class| !class.contains(' '));
        base.failure(class, sample).map(|found| found.id.get_ref())
    };
    if kind.samples.is_empty() || kind.not.is_empty() {
        fault(id, "has no positive or no negative sample".to_owned());
    }
    if !kind.what.ends_with('.') {
        fault(id, "its `what` is no sentence".to_owned());
    }
    for sample in &kind.samples {
        if of(sample) != Some(id) {
            fault(
                id,
                format!("does not fit its sample {sample:?}, or another kind before it does"),
            );
        }
    }
    for sample in &kind.not {
        if of(sample) == Some(id) {
            fault(id, format!("fits {sample:?}, which it must not"));
        }
    }
}

/// A count, or how often a stall was said, with a word behind it that is right for several only.
fn bare_plural<'t>(text: &'t str, rule: &RuleDecl) -> Option<&'t str> {
    let mut rest = text;
    while let Some(start) = rest.find('{') {
        let (name, tail) = rest[start + 1..].split_once('}')?;
        let fact = rule.facts.get(name).map(|it| it.value.get_ref().as_str());
        let counts = rule.counts.contains_key(name) || fact == Some("repeats");
        let after = tail.strip_prefix(' ').unwrap_or_default();
        let end = after
            .find(|c: char| !c.is_alphabetic())
            .unwrap_or(after.len());
        let word = &after[..end];
        let is_plural = word.len() > 3 && word.ends_with('s') && !word.ends_with("ss");
        if counts && is_plural {
            let length = name.len() + 3 + word.len();
            return rest.get(start..start + length);
        }
        rest = tail;
    }
    None
}

/// Lists the faults of a rule.
fn lint_rule(rule: &RuleDecl, fault: &mut impl FnMut(&str, String)) {
    let id = rule.id.get_ref();
    if !rule.sample.iter().any(|sample| sample.fires.is_some()) {
        fault(id, "has no sample in which it fires".to_owned());
    }
    if !rule.sample.iter().any(|sample| sample.fires.is_none()) {
        fault(id, "has no sample in which it keeps silent".to_owned());
    }
    for cause in &rule.cause {
        let is_tied = |sample: &RuleSampleDecl| {
            let mut rules = sample.follows_from.iter().flatten();
            rules.any(|rule| rule.get_ref() == cause.rule.get_ref())
        };
        let samples = |tied: bool| {
            rule.sample
                .iter()
                .any(|it| is_tied(it) == tied && !it.wal.is_empty())
        };
        if !(samples(true) && samples(false)) {
            let name = cause.rule.get_ref();
            fault(
                id,
                format!(
                    "has no sample that follows from {name}, or none beside its problem that does not"
                ),
            );
        }
    }
    let titles = rule.verdict.iter().map(|it| &it.title);
    let titles = titles.chain(&rule.outcome);
    for text in titles.chain(&rule.not_excluded).chain(&rule.not_this) {
        if let Some(words) = bare_plural(text.get_ref(), rule) {
            fault(
                id,
                format!("says {words:?} also of one: write {{name|one|many}}"),
            );
        }
    }
    for text in &rule.not_this {
        if !text.get_ref().starts_with("not ") {
            let text = text.get_ref();
            fault(
                id,
                format!("says in not-this {text:?}, which does not begin with not"),
            );
        }
    }
    if rule.mechanism.trim().is_empty() {
        fault(id, "does not say how it comes about".to_owned());
    }
    if rule.next_steps.is_empty() {
        fault(id, "names no next step".to_owned());
    }
}
