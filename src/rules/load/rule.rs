//! Rules and balances compiled: counters, conditions, verdicts; every name checked.

use toml::Spanned;

use super::origin::{LoadError, Origin, duration};
use super::signal::{field_index, nearest, signal_index};
use crate::rules::condition::Condition;
use crate::rules::schema::{BalanceDecl, ConditionDecl, CountDecl, OneOrMany, RuleDecl};
use crate::rules::{BalanceRule, Rule, Verdict};
use crate::signals::tally::{Counter, Window};
use crate::signals::{Signal, TallyKind};

/// The counters of all rules; equal ones are shared.
pub(super) struct Counters<'s> {
    pub(super) signals: &'s [Signal],
    pub(super) list: Vec<Counter>,
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
        if let Some(at) = self
            .list
            .iter()
            .position(|known| known.signal == signal && known.filters == filters)
        {
            return Ok(at);
        }
        self.list.push(Counter {
            signal,
            filters,
            windows: Vec::new(),
        });
        Ok(self.list.len() - 1)
    }

    /// The index of a window of a counter.
    fn window(&mut self, counter: usize, window: Window) -> usize {
        let windows = &mut self.list[counter].windows;
        windows
            .iter()
            .position(|known| *known == window)
            .unwrap_or_else(|| {
                windows.push(window);
                windows.len() - 1
            })
    }
}

pub(super) fn compile_rule(
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
    let mut scope = RuleScope {
        declared,
        origin,
        counts: &counts,
        counters,
    };
    let when = scope.condition(&declared.when)?;
    let mut verdicts = Vec::new();
    for verdict in &declared.verdict {
        let when = verdict
            .when
            .as_ref()
            .map(|when| scope.condition(when))
            .transpose()?;
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
        let message = format!(
            "the rule {} has no verdict without a condition",
            declared.id.get_ref()
        );
        return Err(origin.fault(
            declared.id.span(),
            message,
            "end its verdicts with one that has no `when`, so that every case has one",
        ));
    }
    for cause in &declared.caused_by {
        if !all.iter().any(|rule| rule.id.get_ref() == cause.get_ref()) {
            let ids: Vec<&str> = all.iter().map(|rule| rule.id.get_ref().as_str()).collect();
            return Err(origin.fault(
                cause.span(),
                format!("there is no rule {:?}", cause.get_ref()),
                nearest(cause.get_ref(), &ids),
            ));
        }
    }
    Ok(Rule {
        declared: at,
        counts,
        when,
        verdicts,
    })
}

pub(super) fn compile_balance(
    at: usize,
    declared: &BalanceDecl,
    origin: Origin<'_>,
    counters: &mut Counters<'_>,
) -> Result<BalanceRule, LoadError> {
    let left = counters.add(&declared.left.count, origin)?;
    let right: Result<Vec<usize>, LoadError> = declared
        .right
        .iter()
        .map(|side| counters.add(&side.count, origin))
        .collect();
    Ok(BalanceRule {
        declared: at,
        left,
        right: right?,
    })
}

/// A rule while it is compiled.
struct RuleScope<'r, 's> {
    declared: &'r RuleDecl,
    origin: Origin<'r>,
    counts: &'r [(String, usize)],
    counters: &'r mut Counters<'s>,
}

impl RuleScope<'_, '_> {
    fn counter(&self, name: &Spanned<String>) -> Result<usize, LoadError> {
        let found = self
            .counts
            .iter()
            .find(|(known, _)| known == name.get_ref());
        found.map(|(_, counter)| *counter).ok_or_else(|| {
            let known: Vec<&str> = self.counts.iter().map(|(name, _)| name.as_str()).collect();
            let message = format!(
                "the rule {} has no count {:?}",
                self.declared.id.get_ref(),
                name.get_ref()
            );
            self.origin.fault(
                name.span(),
                message,
                format!("its counts are {}", known.join(", ")),
            )
        })
    }

    fn condition(&mut self, declared: &ConditionDecl) -> Result<Condition, LoadError> {
        let mut list = |parts: &[ConditionDecl]| -> Result<Vec<Condition>, LoadError> {
            parts.iter().map(|part| self.condition(part)).collect()
        };
        match declared {
            ConditionDecl {
                all: Some(parts), ..
            } => Ok(Condition::All(list(parts)?)),
            ConditionDecl {
                any: Some(parts), ..
            } => Ok(Condition::Any(list(parts)?)),
            ConditionDecl {
                none: Some(parts), ..
            } => Ok(Condition::None(list(parts)?)),
            ConditionDecl {
                count: Some(name), ..
            } => self.count(declared, name),
            ConditionDecl {
                share: Some(name),
                of: Some(of),
                ..
            } => {
                let of: Result<Vec<usize>, LoadError> =
                    of.iter().map(|name| self.counter(name)).collect();
                let (at_least, below) = (declared.share_at_least, declared.share_below);
                Ok(Condition::Share {
                    counter: self.counter(name)?,
                    of: of?,
                    at_least,
                    below,
                })
            }
            ConditionDecl {
                observable: Some(name),
                ..
            } => Ok(Condition::Observable {
                counter: self.counter(name)?,
            }),
            ConditionDecl { .. } => {
                let message = format!(
                    "a condition of the rule {} is empty or incomplete",
                    self.declared.id.get_ref()
                );
                let hint = "a condition has one of all, any, none, count (with at-least or at-most), share (with of), observable";
                Err(self.origin.fault(self.declared.id.span(), message, hint))
            }
        }
    }

    fn count(
        &mut self,
        declared: &ConditionDecl,
        name: &Spanned<String>,
    ) -> Result<Condition, LoadError> {
        let counter = self.counter(name)?;
        match (declared.at_least, declared.at_most, &declared.within) {
            (Some(at_least), None, Some(within)) => {
                let window = Window {
                    at_least,
                    within: duration(self.origin, within)?,
                };
                let nodes = declared.on_nodes.unwrap_or(1);
                Ok(Condition::Within {
                    counter,
                    window: self.counters.window(counter, window),
                    nodes,
                })
            }
            (Some(count), None, None) => Ok(match declared.on_nodes {
                Some(nodes) => Condition::OnNodes {
                    counter,
                    count,
                    nodes,
                },
                None => Condition::AtLeast { counter, count },
            }),
            (None, Some(count), None) => Ok(Condition::AtMost { counter, count }),
            (Some(at_least), Some(at_most), None) => Ok(Condition::All(vec![
                Condition::AtLeast {
                    counter,
                    count: at_least,
                },
                Condition::AtMost {
                    counter,
                    count: at_most,
                },
            ])),
            (None, _, _) | (Some(_), Some(_), Some(_)) => {
                let message = format!("the condition on {:?} has no usable bound", name.get_ref());
                Err(self.origin.fault(
                    name.span(),
                    message,
                    "give at-least, with or without within, or at-most",
                ))
            }
        }
    }

    /// Checks the names between braces of a title.
    fn check_words(&self, title: &Spanned<String>) -> Result<(), LoadError> {
        for part in title.get_ref().split('{').skip(1) {
            let name = part.split(['}', '|']).next().unwrap_or_default();
            let known = matches!(name, "nodes" | "reporters" | "accused")
                || self.counts.iter().any(|(count, _)| count == name)
                || self.declared.shares.contains_key(name);
            if !known {
                let counts: Vec<&str> = self
                    .counts
                    .iter()
                    .map(|(name, _)| name.as_str())
                    .chain(self.declared.shares.keys().map(String::as_str))
                    .collect();
                let hint = format!(
                    "expected nodes, reporters, accused, or one of {}",
                    counts.join(", ")
                );
                return Err(self.origin.fault(
                    title.span(),
                    format!("the title names {name:?}, which the rule does not count"),
                    hint,
                ));
            }
        }
        Ok(())
    }

    fn check_references(&self) -> Result<(), LoadError> {
        let lists = self
            .declared
            .reported_by
            .iter()
            .chain(&self.declared.evidence);
        let shares = self
            .declared
            .shares
            .values()
            .flat_map(|share| std::iter::once(&share.count).chain(&share.of));
        for name in lists.chain(shares) {
            self.counter(name)?;
        }
        for field in self
            .declared
            .accused
            .iter()
            .chain(self.declared.subjects.values())
        {
            let counter = self.counter(&field.count)?;
            let signal = &self.counters.signals[usize::from(self.counters.list[counter].signal)];
            let at = field_index(signal, &field.field, self.origin)?;
            if signal.fields[at].tally == TallyKind::Not {
                let message = format!(
                    "the field {:?} of {} is not counted",
                    field.field.get_ref(),
                    signal.id
                );
                return Err(self.origin.fault(
                    field.field.span(),
                    message,
                    "list it in the signal's `by` or `top`",
                ));
            }
        }
        Ok(())
    }
}
