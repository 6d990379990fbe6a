//! Reading and compiling `rules.toml`: every name is checked, and every fault names file, line, column and a remedy.

use std::collections::BTreeMap;
use std::ops::Range;

use regex::bytes::Regex;

use super::condition::Condition;
use super::schema::{BalanceDecl, ConditionDecl, CountDecl, File, OneOrMany, RuleDecl, SignalDecl};
use super::{BalanceRule, Environment, Rule, RuleBase, Verdict};
use crate::parsers::{FORMATS, Format};
use crate::scan::{Families, Family};
use crate::signals::tally::{Counter, Window};
use crate::signals::{At, Class, Context, Derived, FIELDS_MAX, Field, FieldKind, LoggerPattern, Signal, SignalSet, TallyKind, Template};
use crate::time::SECOND;
use crate::vocab::Level;

/// The rule base that is shipped.
pub const BUILT_IN: &str = include_str!("../../rules.toml");

/// A fault of a rules file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}:{column}: {message}\n{excerpt}{hint}")]
pub struct LoadError {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// The line itself, with a caret below.
    pub excerpt: String,
    /// What to do; may be empty.
    pub hint: String,
}

/// A rules file as text.
#[derive(Debug, Clone, Copy)]
struct Origin<'t> {
    name: &'t str,
    text: &'t str,
}

impl Origin<'_> {
    fn fault(&self, span: Range<usize>, message: impl Into<String>, hint: impl Into<String>) -> LoadError {
        let start = span.start.min(self.text.len());
        let before = &self.text[..start];
        let line_at = before.rfind('\n').map_or(0, |at| at + 1);
        let line_text = self.text[line_at..].lines().next().unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = before[line_at..].chars().count() + 1;
        let width = span.len().min(line_text.len().saturating_sub(start - line_at)).max(1);
        let gutter = line.to_string();
        let excerpt = format!("{gutter} | {line_text}\n{:g$} | {:c$}{}\n", "", "", "^".repeat(width), g = gutter.len(), c = column - 1);
        let hint = hint.into();
        let hint = if hint.is_empty() { hint } else { format!("hint: {hint}") };
        LoadError { file: self.name.to_owned(), line, column, message: message.into(), excerpt, hint }
    }
}

/// Compiles the built-in base and the files given with `--rules`, each as name and text. A later declaration with the
/// same id replaces an earlier one.
pub fn load(extra: &[(String, String)]) -> Result<RuleBase, LoadError> {
    let mut origins = vec![Origin { name: "rules.toml (built in)", text: BUILT_IN }];
    origins.extend(extra.iter().map(|(name, text)| Origin { name, text }));
    let mut loader = Loader::default();
    for origin in &origins {
        loader.take(*origin)?;
    }
    loader.compile()
}

/// Declarations with the file they come from.
#[derive(Default)]
struct Loader<'t> {
    file: File,
    signal_origins: Vec<Origin<'t>>,
    rule_origins: Vec<Origin<'t>>,
    balance_origins: Vec<Origin<'t>>,
    environment_origin: Option<Origin<'t>>,
}

impl<'t> Loader<'t> {
    fn take(&mut self, origin: Origin<'t>) -> Result<(), LoadError> {
        let read: File = toml::from_str(origin.text).map_err(|error| {
            let span = error.span().unwrap_or(0..0);
            origin.fault(span, error.message().trim(), hint_for(error.message()))
        })?;
        for code in read.code {
            self.file.code.retain(|known| known.code != code.code);
            self.file.code.push(code);
        }
        for signal in read.signal {
            check_id(origin, &signal.id)?;
            put(&mut self.file.signal, &mut self.signal_origins, signal, origin, |s| s.id.get_ref());
        }
        for rule in read.rule {
            check_id(origin, &rule.id)?;
            put(&mut self.file.rule, &mut self.rule_origins, rule, origin, |r| r.id.get_ref());
        }
        for balance in read.balance {
            put(&mut self.file.balance, &mut self.balance_origins, balance, origin, |b| &b.name);
        }
        if read.environment.is_some() {
            self.file.environment = read.environment;
            self.environment_origin = Some(origin);
        }
        Ok(())
    }

    fn compile(self) -> Result<RuleBase, LoadError> {
        let ids: Vec<&String> = self.file.signal.iter().map(|signal| signal.id.get_ref()).collect();
        let mut signals = Vec::new();
        for (declared, origin) in self.file.signal.iter().zip(&self.signal_origins) {
            signals.push(compile_signal(declared, *origin)?);
        }
        for (at, (declared, origin)) in self.file.signal.iter().zip(&self.signal_origins).enumerate() {
            if let Some(context) = compile_context(declared, *origin, &ids, &mut signals, at)? {
                signals[at].context = Some(context);
            }
        }
        let mut counters = Counters { signals: &signals, list: Vec::new() };
        let mut rules = Vec::new();
        for (at, (declared, origin)) in self.file.rule.iter().zip(&self.rule_origins).enumerate() {
            rules.push(compile_rule(at, declared, *origin, &mut counters, &self.file.rule)?);
        }
        let mut balances = Vec::new();
        for (at, (declared, origin)) in self.file.balance.iter().zip(&self.balance_origins).enumerate() {
            balances.push(compile_balance(at, declared, *origin, &mut counters)?);
        }
        let counters = counters.list;
        let environment = self.environment(&signals)?;
        let families = self.file.code.iter().flat_map(|code| {
            code.families.iter().map(|family| Family { code: code.code, id: family.id.clone(), contains: family.contains.clone() })
        });
        Ok(RuleBase {
            families: Families { all: families.collect() },
            code_names: self.file.code.iter().map(|code| (code.code, code.name.clone())).collect(),
            signals: SignalSet::new(signals),
            counters,
            rules,
            balances,
            environment,
            declared: self.file,
        })
    }

    fn environment(&self, signals: &[Signal]) -> Result<Environment, LoadError> {
        let (Some(declared), Some(origin)) = (&self.file.environment, self.environment_origin) else { return Ok(Environment::default()) };
        let start = signal_index(signals, &declared.start, origin)?;
        let zone = signal_index(signals, &declared.zone, origin)?;
        let field = |signal: u16, name: &toml::Spanned<String>| field_index(&signals[usize::from(signal)], name, origin);
        Ok(Environment {
            start: Some((start, field(start, &declared.version)?, field(start, &declared.build)?)),
            zone: Some((zone, field(zone, &declared.zone_field)?)),
        })
    }
}

/// Adds a declaration, or puts it in the place of the one with the same id.
fn put<'t, T>(list: &mut Vec<T>, origins: &mut Vec<Origin<'t>>, item: T, origin: Origin<'t>, id: impl Fn(&T) -> &String) {
    match list.iter().position(|known| id(known) == id(&item)) {
        Some(at) => {
            list[at] = item;
            origins[at] = origin;
        }
        None => {
            list.push(item);
            origins.push(origin);
        }
    }
}

fn hint_for(message: &str) -> &'static str {
    if message.starts_with("unknown field") || message.starts_with("unknown variant") {
        "check the spelling against the names listed"
    } else if message.contains("missing field") {
        "add the field to this table"
    } else {
        ""
    }
}

fn check_id(origin: Origin<'_>, id: &toml::Spanned<String>) -> Result<(), LoadError> {
    let text = id.get_ref();
    let kebab = !text.is_empty() && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    if kebab {
        return Ok(());
    }
    Err(origin.fault(id.span(), format!("the id {text:?} is not in kebab case"), "use lower-case letters, digits and hyphens"))
}

/// Reads `10s`, `500ms`, `2m`, `1h` as microseconds.
fn duration(origin: Origin<'_>, text: &toml::Spanned<String>) -> Result<i64, LoadError> {
    let value = text.get_ref();
    let digits = value.bytes().take_while(u8::is_ascii_digit).count();
    let number: Option<i64> = value[..digits].parse().ok();
    let unit = match &value[digits..] {
        "ms" => Some(SECOND / 1000),
        "s" => Some(SECOND),
        "m" => Some(60 * SECOND),
        "h" => Some(3600 * SECOND),
        _ => None,
    };
    number.zip(unit).and_then(|(n, unit)| n.checked_mul(unit)).ok_or_else(|| {
        origin.fault(text.span(), format!("{value:?} is not a duration"), "write a number and a unit: 500ms, 10s, 5m or 1h")
    })
}

fn compile_signal(declared: &SignalDecl, origin: Origin<'_>) -> Result<Signal, LoadError> {
    let format = match &declared.format {
        None => Format::ClickHouse,
        Some(name) => Format::from_name(name.get_ref()).ok_or_else(|| {
            let known: Vec<&str> = FORMATS.iter().map(|spec| spec.name).collect();
            origin.fault(name.span(), format!("unknown format {:?}", name.get_ref()), format!("expected one of {}", known.join(", ")))
        })?,
    };
    let mut fields: Vec<Field> = Vec::new();
    let mut templates = Vec::new();
    for source in &declared.templates {
        let compiled = Template::compile(source.get_ref(), |name, kind| field_of(&mut fields, name, kind));
        templates.push(compiled.map_err(|error| origin.fault(source.span(), error.to_string(), ""))?);
    }
    let mut derived = Vec::new();
    for one in &declared.derived {
        let from = fields.iter().position(|field| field.name == *one.from.get_ref());
        let from = from.ok_or_else(|| unknown_field(origin, &one.from, &fields, declared.id.get_ref()))?;
        let mut classes = Vec::new();
        for (value, pattern) in &one.classes {
            let pattern = Regex::new(pattern.get_ref()).map_err(|error| {
                origin.fault(pattern.span(), format!("this regular expression cannot be used: {error}"), "")
            })?;
            classes.push(Class { value: value.clone(), pattern });
        }
        let field = field_of(&mut fields, &one.field, FieldKind::Word);
        derived.push(Derived { from, field, classes, otherwise: one.otherwise.clone().unwrap_or_else(|| "other".to_owned()) });
    }
    if let Some(context) = &declared.context {
        for name in context.take.values() {
            field_of(&mut fields, name, FieldKind::Text);
        }
    }
    for (names, tally) in [(&declared.by, TallyKind::By), (&declared.top, TallyKind::Top)] {
        for name in names {
            let found = fields.iter().position(|field| field.name == *name.get_ref());
            let at = found.ok_or_else(|| unknown_field(origin, name, &fields, declared.id.get_ref()))?;
            fields[at].tally = tally;
        }
    }
    if fields.len() > FIELDS_MAX {
        let message = format!("the signal has {} fields, more than {FIELDS_MAX}", fields.len());
        return Err(origin.fault(declared.id.span(), message, "leave holes that nothing reads without a name: {:text}"));
    }
    let all_levels = (1 << Level::ALL.len()) - 1;
    let levels = declared.levels.iter().fold(0, |bits, level| bits | (1 << level.index()));
    let patterns = |names: &[String]| names.iter().cloned().map(LoggerPattern).collect();
    Ok(Signal {
        id: declared.id.get_ref().clone(),
        what: declared.what.clone(),
        format,
        levels: if declared.levels.is_empty() { all_levels } else { levels },
        loggers: patterns(&declared.loggers),
        not_loggers: patterns(&declared.not_loggers),
        codes: declared.codes.clone(),
        at: declared.at.unwrap_or(At::Anywhere),
        templates,
        deep: declared.deep,
        unless: declared.unless.clone(),
        fields,
        derived,
        context: None,
        benign: declared.benign,
    })
}

/// The index of a field, added if it is new.
fn field_of(fields: &mut Vec<Field>, name: &str, kind: FieldKind) -> usize {
    if let Some(at) = fields.iter().position(|field| field.name == name) {
        return at;
    }
    fields.push(Field { name: name.to_owned(), kind, tally: TallyKind::Not });
    fields.len() - 1
}

fn unknown_field(origin: Origin<'_>, name: &toml::Spanned<String>, fields: &[Field], signal: &str) -> LoadError {
    let known: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
    let hint = if known.is_empty() { "it has no fields".to_owned() } else { format!("its fields are {}", known.join(", ")) };
    origin.fault(name.span(), format!("the signal {signal} has no field {:?}", name.get_ref()), hint)
}

fn field_index(signal: &Signal, name: &toml::Spanned<String>, origin: Origin<'_>) -> Result<usize, LoadError> {
    signal.field(name.get_ref()).ok_or_else(|| unknown_field(origin, name, &signal.fields, &signal.id))
}

fn signal_index(signals: &[Signal], name: &toml::Spanned<String>, origin: Origin<'_>) -> Result<u16, LoadError> {
    let at = signals.iter().position(|signal| signal.id == *name.get_ref()).and_then(|at| u16::try_from(at).ok());
    at.ok_or_else(|| {
        let ids: Vec<&str> = signals.iter().map(|signal| signal.id.as_str()).collect();
        origin.fault(name.span(), format!("there is no signal {:?}", name.get_ref()), nearest(name.get_ref(), &ids))
    })
}

/// A hint with the names that begin alike, or all of them.
fn nearest(name: &str, known: &[&str]) -> String {
    let head: String = name.chars().take(3).collect();
    let alike: Vec<&str> = known.iter().copied().filter(|id| id.starts_with(&head)).collect();
    let listed = if alike.is_empty() { known } else { &alike };
    format!("expected one of {}", listed.join(", "))
}

fn compile_context(
    declared: &SignalDecl,
    origin: Origin<'_>,
    ids: &[&String],
    signals: &mut [Signal],
    at: usize,
) -> Result<Option<Context>, LoadError> {
    let Some(context) = &declared.context else { return Ok(None) };
    let other = ids.iter().position(|id| *id == context.signal.get_ref()).ok_or_else(|| {
        let known: Vec<&str> = ids.iter().map(|id| id.as_str()).collect();
        origin.fault(context.signal.span(), format!("there is no signal {:?}", context.signal.get_ref()), nearest(context.signal.get_ref(), &known))
    })?;
    let mut take = Vec::new();
    for (from, to) in &context.take {
        let fault = || {
            let known: Vec<&str> = signals[other].fields.iter().map(|field| field.name.as_str()).collect();
            let message = format!("the signal {} has no field {from:?}", context.signal.get_ref());
            origin.fault(context.signal.span(), message, format!("its fields are {}", known.join(", ")))
        };
        let from = signals[other].field(from).ok_or_else(fault)?;
        take.push((from, signals[at].field(to).unwrap_or_default()));
    }
    Ok(Some(Context { signal: other, direction: context.direction, span: duration(origin, &context.within)?, take }))
}

/// The counters of all rules; equal ones are shared.
struct Counters<'s> {
    signals: &'s [Signal],
    list: Vec<Counter>,
}

impl Counters<'_> {
    fn add(&mut self, declared: &CountDecl, origin: Origin<'_>) -> Result<usize, LoadError> {
        let signal = signal_index(self.signals, &declared.signal, origin)?;
        let mut filters = Vec::new();
        for (name, accepted) in &declared.filters {
            let field = field_index(&self.signals[usize::from(signal)], name, origin)?;
            let accepted = match accepted {
                OneOrMany::One(one) => vec![one.clone()],
                OneOrMany::Many(many) => many.clone(),
            };
            filters.push((field, accepted));
        }
        if let Some(at) = self.list.iter().position(|known| known.signal == signal && known.filters == filters) {
            return Ok(at);
        }
        self.list.push(Counter { signal, filters, windows: Vec::new() });
        Ok(self.list.len() - 1)
    }

    /// The index of a window of a counter.
    fn window(&mut self, counter: usize, window: Window) -> usize {
        let windows = &mut self.list[counter].windows;
        windows.iter().position(|known| *known == window).unwrap_or_else(|| {
            windows.push(window);
            windows.len() - 1
        })
    }
}

fn compile_rule(
    at: usize,
    declared: &RuleDecl,
    origin: Origin<'_>,
    counters: &mut Counters<'_>,
    all: &[RuleDecl],
) -> Result<Rule, LoadError> {
    let mut counts = Vec::new();
    for (name, count) in &declared.counts {
        counts.push((name.clone(), counters.add(count, origin)?));
    }
    let mut scope = RuleScope { declared, origin, counts: &counts, counters };
    let when = scope.condition(&declared.when)?;
    let mut verdicts = Vec::new();
    for verdict in &declared.verdict {
        let when = verdict.when.as_ref().map(|when| scope.condition(when)).transpose()?;
        scope.check_words(&verdict.title)?;
        verdicts.push(Verdict {
            when,
            severity: verdict.severity,
            confidence: verdict.confidence,
            category: verdict.category.clone(),
            title: verdict.title.get_ref().clone(),
        });
    }
    scope.check_references()?;
    if verdicts.last().is_none_or(|verdict| verdict.when.is_some()) {
        let message = format!("the rule {} has no verdict without a condition", declared.id.get_ref());
        return Err(origin.fault(declared.id.span(), message, "end its verdicts with one that has no `when`, so that every case has one"));
    }
    for cause in &declared.caused_by {
        if !all.iter().any(|rule| rule.id.get_ref() == cause.get_ref()) {
            let ids: Vec<&str> = all.iter().map(|rule| rule.id.get_ref().as_str()).collect();
            return Err(origin.fault(cause.span(), format!("there is no rule {:?}", cause.get_ref()), nearest(cause.get_ref(), &ids)));
        }
    }
    Ok(Rule { declared: at, counts, when, verdicts })
}

fn compile_balance(at: usize, declared: &BalanceDecl, origin: Origin<'_>, counters: &mut Counters<'_>) -> Result<BalanceRule, LoadError> {
    let left = counters.add(&declared.left.count, origin)?;
    let right: Result<Vec<usize>, LoadError> = declared.right.iter().map(|side| counters.add(&side.count, origin)).collect();
    Ok(BalanceRule { declared: at, left, right: right? })
}

/// A rule while it is compiled.
struct RuleScope<'r, 's> {
    declared: &'r RuleDecl,
    origin: Origin<'r>,
    counts: &'r [(String, usize)],
    counters: &'r mut Counters<'s>,
}

impl RuleScope<'_, '_> {
    fn counter(&self, name: &toml::Spanned<String>) -> Result<usize, LoadError> {
        let found = self.counts.iter().find(|(known, _)| known == name.get_ref());
        found.map(|(_, counter)| *counter).ok_or_else(|| {
            let known: Vec<&str> = self.counts.iter().map(|(name, _)| name.as_str()).collect();
            let message = format!("the rule {} has no count {:?}", self.declared.id.get_ref(), name.get_ref());
            self.origin.fault(name.span(), message, format!("its counts are {}", known.join(", ")))
        })
    }

    fn condition(&mut self, declared: &ConditionDecl) -> Result<Condition, LoadError> {
        let mut list = |parts: &[ConditionDecl]| -> Result<Vec<Condition>, LoadError> { parts.iter().map(|part| self.condition(part)).collect() };
        match declared {
            ConditionDecl { all: Some(parts), .. } => Ok(Condition::All(list(parts)?)),
            ConditionDecl { any: Some(parts), .. } => Ok(Condition::Any(list(parts)?)),
            ConditionDecl { none: Some(parts), .. } => Ok(Condition::None(list(parts)?)),
            ConditionDecl { count: Some(name), .. } => self.count(declared, name),
            ConditionDecl { share: Some(name), of: Some(of), .. } => {
                let of: Result<Vec<usize>, LoadError> = of.iter().map(|name| self.counter(name)).collect();
                let (at_least, below) = (declared.share_at_least, declared.share_below);
                Ok(Condition::Share { counter: self.counter(name)?, of: of?, at_least, below })
            }
            ConditionDecl { observable: Some(name), .. } => Ok(Condition::Observable { counter: self.counter(name)? }),
            ConditionDecl { .. } => {
                let message = format!("a condition of the rule {} is empty or incomplete", self.declared.id.get_ref());
                let hint = "a condition has one of all, any, none, count (with at-least or at-most), share (with of), observable";
                Err(self.origin.fault(self.declared.id.span(), message, hint))
            }
        }
    }

    fn count(&mut self, declared: &ConditionDecl, name: &toml::Spanned<String>) -> Result<Condition, LoadError> {
        let counter = self.counter(name)?;
        match (declared.at_least, declared.at_most, &declared.within) {
            (Some(at_least), None, Some(within)) => {
                let window = Window { at_least, within: duration(self.origin, within)? };
                let nodes = declared.on_nodes.unwrap_or(1);
                Ok(Condition::Within { counter, window: self.counters.window(counter, window), nodes })
            }
            (Some(count), None, None) => Ok(match declared.on_nodes {
                Some(nodes) => Condition::OnNodes { counter, count, nodes },
                None => Condition::AtLeast { counter, count },
            }),
            (None, Some(count), None) => Ok(Condition::AtMost { counter, count }),
            (Some(at_least), Some(at_most), None) => {
                Ok(Condition::All(vec![Condition::AtLeast { counter, count: at_least }, Condition::AtMost { counter, count: at_most }]))
            }
            (None, _, _) | (Some(_), Some(_), Some(_)) => {
                let message = format!("the condition on {:?} has no usable bound", name.get_ref());
                Err(self.origin.fault(name.span(), message, "give at-least, with or without within, or at-most"))
            }
        }
    }

    /// Checks the names between braces of a title.
    fn check_words(&self, title: &toml::Spanned<String>) -> Result<(), LoadError> {
        for part in title.get_ref().split('{').skip(1) {
            let name = part.split('}').next().unwrap_or_default();
            let known = matches!(name, "nodes" | "reporters" | "accused")
                || self.counts.iter().any(|(count, _)| count == name)
                || self.declared.shares.contains_key(name);
            if !known {
                let counts: Vec<&str> = self.counts.iter().map(|(name, _)| name.as_str()).chain(self.declared.shares.keys().map(String::as_str)).collect();
                let hint = format!("expected nodes, reporters, accused, or one of {}", counts.join(", "));
                return Err(self.origin.fault(title.span(), format!("the title names {name:?}, which the rule does not count"), hint));
            }
        }
        Ok(())
    }

    fn check_references(&self) -> Result<(), LoadError> {
        let lists = self.declared.reported_by.iter().chain(&self.declared.evidence);
        let shares = self.declared.shares.values().flat_map(|share| std::iter::once(&share.count).chain(&share.of));
        for name in lists.chain(shares) {
            self.counter(name)?;
        }
        for field in self.declared.accused.iter().chain(self.declared.subjects.values()) {
            let counter = self.counter(&field.count)?;
            let signal = &self.counters.signals[usize::from(self.counters.list[counter].signal)];
            let at = field_index(signal, &field.field, self.origin)?;
            if signal.fields[at].tally == TallyKind::Not {
                let message = format!("the field {:?} of {} is not counted", field.field.get_ref(), signal.id);
                return Err(self.origin.fault(field.field.span(), message, "list it in the signal's `by` or `top`"));
            }
        }
        Ok(())
    }
}

/// The declared prose by signal id, for those who print it.
pub(super) fn by_id(file: &File) -> BTreeMap<&str, &SignalDecl> {
    file.signal.iter().map(|signal| (signal.id.get_ref().as_str(), signal)).collect()
}
