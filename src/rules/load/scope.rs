//! The conditions and references of one rule, compiled and checked against what it declares.

use toml::Spanned;

use super::origin::{LoadError, Origin, duration};
use super::rule::Counters;
use super::stall::bounds;
use crate::rules::arrivals::ArrivalTest;
use crate::rules::condition::{Condition, CountTest};
use crate::rules::schema::{ConditionDecl, RuleDecl};
use crate::rules::stalls::StallTest;
use crate::rules::times::TimeTest;
use crate::signals::tally::Window;

/// A rule while it is compiled.
pub(super) struct RuleScope<'r, 's> {
    pub(super) declared: &'r RuleDecl,
    pub(super) origin: Origin<'r>,
    pub(super) counts: &'r [(String, usize)],
    pub(super) stalls: &'r [(String, StallTest)],
    pub(super) arrivals: &'r [(String, ArrivalTest)],
    pub(super) counters: &'r mut Counters<'s>,
}

impl RuleScope<'_, '_> {
    pub(super) fn counter(&self, name: &Spanned<String>) -> Result<usize, LoadError> {
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

    /// The counter of something that has a time.
    fn stamped(&self, name: &Spanned<String>) -> Result<usize, LoadError> {
        let counter = self.counter(name)?;
        if self.counters.list[counter].signal.is_some() {
            return Ok(counter);
        }
        let message = format!("the problems that {:?} counts have no time", name.get_ref());
        let hint = "ask how many there are: at-least, at-most, on-nodes";
        Err(self.origin.fault(name.span(), message, hint))
    }

    /// Compiles a condition: one kind of test, with the bounds that belong to it.
    pub(super) fn condition(&mut self, declared: &ConditionDecl) -> Result<Condition, LoadError> {
        self.check_condition(declared)?;
        let mut list = |parts: &[ConditionDecl]| -> Result<Vec<Condition>, LoadError> {
            parts.iter().map(|part| self.condition(part)).collect()
        };
        let ConditionDecl {
            all,
            any,
            none,
            count,
            share,
            alone,
            arrived,
            observable,
            ..
        } = declared;
        if let Some(parts) = all {
            return Ok(Condition::All(list(parts)?));
        }
        if let Some(parts) = any {
            return Ok(Condition::Any(list(parts)?));
        }
        if let Some(parts) = none {
            return Ok(Condition::None(list(parts)?));
        }
        if let Some(name) = count {
            return self.count(declared, name);
        }
        if let Some(name) = share {
            return self.share(declared, name);
        }
        if let Some(names) = alone {
            let counters = names.iter().map(|name| self.stamped(name));
            let counters = counters.collect::<Result<_, _>>()?;
            return Ok(Condition::Count(CountTest::Alone { counters }));
        }
        if let Some(name) = arrived {
            return self.arrival(name).cloned().map(Condition::Arrived);
        }
        if let Some(name) = observable {
            return Ok(Condition::Count(CountTest::Observable {
                counter: self.counter(name)?,
            }));
        }
        self.time_test(declared).map(Condition::Time)
    }

    pub(super) fn not_one_kind(&self) -> LoadError {
        let message = format!(
            "a condition of the rule {} has none or several kinds",
            self.declared.id.get_ref()
        );
        let hint = "a condition is exactly one of all, any, none, count (with at-least or at-most), share (with of), stall, \
                    together, alone, sequence, silence (with then), arrived, observable";
        self.origin.fault(self.declared.id.span(), message, hint)
    }

    fn share(
        &self,
        declared: &ConditionDecl,
        name: &Spanned<String>,
    ) -> Result<Condition, LoadError> {
        let of = declared.of.as_deref().unwrap_or_default();
        let of: Result<Vec<usize>, LoadError> = of.iter().map(|name| self.counter(name)).collect();
        let (at_least, below) = (declared.share_at_least, declared.share_below);
        let (counter, of) = (self.counter(name)?, of?);
        if of.is_empty() || at_least.or(below).is_none() {
            let message = format!(
                "the condition on the share of {:?} is incomplete",
                name.get_ref()
            );
            return Err(self.origin.fault(
                name.span(),
                message,
                "give of, and share-at-least or share-below",
            ));
        }
        Ok(Condition::Share {
            counter,
            of,
            at_least,
            below,
        })
    }

    fn time_test(&mut self, declared: &ConditionDecl) -> Result<TimeTest, LoadError> {
        match declared {
            ConditionDecl {
                stall: Some(name), ..
            } => {
                let (repeats, lasting) = bounds(declared, self.origin)?;
                Ok(TimeTest::Stall(StallTest {
                    repeats,
                    lasting,
                    ..self.stall(name)?.clone()
                }))
            }
            ConditionDecl {
                together: Some(name),
                ..
            } => {
                let counter = self.stamped(name)?;
                Ok(TimeTest::Together {
                    counter: self.counters.timed(counter),
                    within: self.within(declared, name)?,
                })
            }
            ConditionDecl {
                sequence: Some(names),
                ..
            } => self.sequence(declared, names),
            ConditionDecl {
                silence: Some(lasting),
                then: Some(then),
                ..
            } => self.silence(declared, lasting, then),
            ConditionDecl { .. } => Err(self.not_one_kind()),
        }
    }

    pub(super) fn stall(&self, name: &Spanned<String>) -> Result<&StallTest, LoadError> {
        self.named(name, "stall", self.stalls)
    }

    pub(super) fn arrival(&self, name: &Spanned<String>) -> Result<&ArrivalTest, LoadError> {
        self.named(name, "arrival", self.arrivals)
    }

    /// What the rule calls so.
    fn named<'t, T>(
        &self,
        name: &Spanned<String>,
        what: &str,
        all: &'t [(String, T)],
    ) -> Result<&'t T, LoadError> {
        let found = all.iter().find(|(known, _)| known == name.get_ref());
        found.map(|(_, one)| one).ok_or_else(|| {
            let known: Vec<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
            let (rule, asked) = (self.declared.id.get_ref(), name.get_ref());
            let message = format!("the rule {rule} has no {what} {asked:?}");
            let hint = if known.is_empty() {
                format!("it has none: declare {what}s.{asked} = {{ ... }}")
            } else {
                format!("its {what}s are {}", known.join(", "))
            };
            self.origin.fault(name.span(), message, hint)
        })
    }

    /// The `within` that a condition needs.
    fn within(&self, declared: &ConditionDecl, name: &Spanned<String>) -> Result<i64, LoadError> {
        let missing = || {
            let message = format!("the condition on {:?} says no width", name.get_ref());
            self.origin.fault(
                name.span(),
                message,
                "give within, for example within = \"5s\"",
            )
        };
        duration(self.origin, declared.within.as_ref().ok_or_else(missing)?)
    }

    fn sequence(
        &mut self,
        declared: &ConditionDecl,
        names: &[Spanned<String>],
    ) -> Result<TimeTest, LoadError> {
        let Some(first) = names.first() else {
            let message = format!(
                "a sequence of the rule {} is empty",
                self.declared.id.get_ref()
            );
            return Err(self.origin.fault(
                self.declared.id.span(),
                message,
                "name the counts in order",
            ));
        };
        let within = self.within(declared, first)?;
        let skew = declared
            .skew
            .as_ref()
            .map(|text| duration(self.origin, text))
            .transpose()?;
        let mut counters = Vec::new();
        for name in names {
            let counter = self.stamped(name)?;
            counters.push(self.counters.timed(counter));
        }
        Ok(TimeTest::Sequence {
            counters,
            within,
            skew,
        })
    }

    fn silence(
        &mut self,
        declared: &ConditionDecl,
        lasting: &Spanned<String>,
        then: &Spanned<String>,
    ) -> Result<TimeTest, LoadError> {
        let written = lasting;
        let lasting = duration(self.origin, written)?;
        self.check_silence(lasting, written)?;
        let within = self.within(declared, then)?;
        let counter = self.stamped(then)?;
        let then = self.counters.timed(counter);
        let without = match &declared.without {
            Some(name) => {
                let counter = self.stamped(name)?;
                Some(self.counters.timed(counter))
            }
            None => None,
        };
        Ok(TimeTest::Silence {
            lasting,
            then,
            within,
            without,
        })
    }

    fn count(
        &mut self,
        declared: &ConditionDecl,
        name: &Spanned<String>,
    ) -> Result<Condition, LoadError> {
        let counter = self.counter(name)?;
        let at_least = |count| Condition::Count(CountTest::AtLeast { counter, count });
        match (declared.at_least, declared.at_most, &declared.within) {
            (Some(at_least), None, Some(within)) => {
                self.stamped(name)?;
                let window = Window {
                    at_least,
                    within: duration(self.origin, within)?,
                };
                let window = self.counters.window(counter, window);
                let nodes = declared.on_nodes.unwrap_or(1);
                Ok(Condition::Count(CountTest::Within {
                    counter,
                    window,
                    nodes,
                }))
            }
            (Some(count), None, None) => Ok(match declared.on_nodes {
                Some(nodes) => Condition::Count(CountTest::OnNodes {
                    counter,
                    count,
                    nodes,
                }),
                None => at_least(count),
            }),
            (None, Some(count), None) => Ok(Condition::AtMost { counter, count }),
            (Some(low), Some(count), None) => Ok(Condition::All(vec![
                at_least(low),
                Condition::AtMost { counter, count },
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
}
