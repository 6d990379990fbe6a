//! Rules and balances compiled: counters, conditions, verdicts; every name checked.

use toml::Spanned;

use super::accept::{check_accepted, compared};
use super::arrival::compile_arrivals;
use super::awaited::check_reads;
use super::cause::{check_causes, check_step};
use super::origin::{LoadError, Origin, duration};
use super::scope::RuleScope;
use super::signal::{field_index, signal_index};
use super::stall::compile_stalls;
use crate::rules::conclude::reporting;
use crate::rules::schema::{
    BalanceDecl, CountDecl, File, RuleDecl, StallDecl, StripDecl, WalCountDecl,
};
use crate::rules::{BalanceRule, Rule, StripRule, Verdict};
use crate::signals::tally::{ArrivalWatch, Counter, StallWatch, Window};
use crate::signals::{FieldKind, Signal};
use crate::time::SECOND;

/// The longest pause between two repetitions of a stall, where a rule says none.
const PAUSE: i64 = 60 * SECOND;

/// The counters of all rules; equal ones are shared.
pub(super) struct Counters<'s> {
    pub(super) signals: &'s [Signal],
    pub(super) list: Vec<Counter>,
    pub(super) wal: Vec<(usize, WalCountDecl)>,
    pub(super) stalls: Vec<StallWatch>,
    pub(super) arrivals: Vec<ArrivalWatch>,
}

/// A counter of all that a signal is, or of something that is no record.
fn bare(signal: Option<u16>) -> Counter {
    Counter {
        signal,
        filters: Vec::new(),
        below: None,
        not_after: Vec::new(),
        windows: Vec::new(),
        values: Vec::new(),
        timed: false,
        rated: false,
        sum: None,
        is_absence_open: false,
        per_query: false,
    }
}

impl Counters<'_> {
    fn add(
        &mut self,
        declared: &CountDecl,
        owner: &Spanned<String>,
        origin: Origin<'_>,
    ) -> Result<usize, LoadError> {
        let (name, wal) = (declared.signal.as_ref(), declared.wal.as_ref());
        let signal = name
            .map(|name| signal_index(self.signals, name, origin))
            .transpose()?;
        let (Some(signal), None) = (signal, wal) else {
            return self.add_wal(declared, owner, origin);
        };
        let mut filters = Vec::new();
        for (name, accepted) in &declared.filters {
            let field = field_index(&self.signals[usize::from(signal)], name, origin)?;
            check_accepted(&self.signals[usize::from(signal)], field, accepted, origin)?;
            filters.push((field, accepted.get_ref().texts().to_vec()));
        }
        let sum = declared.sum.as_ref();
        let sum = sum
            .map(|name| field_index(&self.signals[usize::from(signal)], name, origin))
            .transpose()?;
        let below = declared.below.as_ref();
        let below = below
            .map(|fields| compared(&self.signals[usize::from(signal)], fields, origin))
            .transpose()?;
        let causes = declared.not_after.iter();
        let causes = causes.map(|name| signal_index(self.signals, name, origin));
        let causes = causes.collect::<Result<Vec<u16>, LoadError>>()?.into_iter();
        let not_after: Vec<usize> = causes
            .map(|cause| {
                let at = self.shared(bare(Some(cause)));
                self.timed(at)
            })
            .collect();
        let is_timed = !not_after.is_empty();
        let at = self.shared(Counter {
            filters,
            below,
            sum,
            per_query: declared.per_query,
            not_after,
            timed: is_timed,
            ..bare(Some(signal))
        });
        Ok(at)
    }

    /// The counter that counts the same, or this one.
    fn shared(&mut self, counter: Counter) -> usize {
        let is_same = |known: &Counter| {
            let (signal, filters) = (known.signal, &known.filters);
            let is_alike = (signal, filters) == (counter.signal, &counter.filters);
            let counted = (known.sum, known.below, known.per_query, &known.not_after);
            is_alike
                && counted
                    == (
                        counter.sum,
                        counter.below,
                        counter.per_query,
                        &counter.not_after,
                    )
        };
        let known = self.list.iter().position(is_same);
        known.unwrap_or_else(|| self.push(counter))
    }

    fn push(&mut self, counter: Counter) -> usize {
        self.list.push(counter);
        self.list.len() - 1
    }

    /// A count without a signal counts problems of WALs.
    fn add_wal(
        &mut self,
        declared: &CountDecl,
        owner: &Spanned<String>,
        origin: Origin<'_>,
    ) -> Result<usize, LoadError> {
        let is_whole = declared.sum.is_none() && declared.below.is_none();
        let is_bare = is_whole && declared.filters.is_empty() && declared.not_after.is_empty();
        let (None, Some(wal), true) = (&declared.signal, &declared.wal, is_bare) else {
            let message = format!(
                "a count of {} is of nothing or of two things",
                owner.get_ref()
            );
            let hint =
                "a count has a signal, with or without where, or it has wal = { problems = [...] }";
            return Err(origin.fault(owner.span(), message, hint));
        };
        if let Some((at, _)) = self.wal.iter().find(|(_, known)| known == wal) {
            return Ok(*at);
        }
        let at = self.push(Counter {
            // A listing is there by chance, and what it leaves out may be there.
            is_absence_open: wal.listed,
            ..bare(None)
        });
        self.wal.push((at, wal.clone()));
        Ok(at)
    }

    pub(super) fn stall(
        &mut self,
        declared: &StallDecl,
        origin: Origin<'_>,
    ) -> Result<usize, LoadError> {
        let signal = signal_index(self.signals, &declared.signal, origin)?;
        let field =
            |name: &Spanned<String>| field_index(&self.signals[usize::from(signal)], name, origin);
        let below = declared.below.as_ref();
        let below = below
            .map(|fields| compared(&self.signals[usize::from(signal)], fields, origin))
            .transpose()?;
        let pause = declared
            .pause
            .as_ref()
            .map(|pause| duration(origin, pause))
            .transpose()?;
        let falls = declared.falls.as_ref().map(field).transpose()?;
        if declared.still.is_empty() && falls.is_none() {
            let message = "a stall needs fields that stay, or one that falls";
            return Err(origin.fault(declared.signal.span(), message, "add `still` or `falls`"));
        }
        let key: Vec<usize> = declared.key.iter().map(field).collect::<Result<_, _>>()?;
        let mut watch = StallWatch {
            signal,
            of_table: key.iter().any(|&at| self.is_part(signal, at)),
            key,
            still: declared.still.iter().map(field).collect::<Result<_, _>>()?,
            below,
            falls,
            pause: pause.unwrap_or(PAUSE),
            kept: Vec::new(),
        };
        let kept = watch.still.iter().chain(&watch.falls).copied();
        let kept: Vec<usize> = kept.collect();
        // What rules look at makes no other stall.
        let same = |known: &StallWatch| {
            let known = StallWatch {
                kept: Vec::new(),
                ..known.clone()
            };
            known == watch
        };
        let known = self.stalls.iter().position(same);
        for field in kept {
            watch.keep(field);
        }
        Ok(known.unwrap_or_else(|| {
            self.stalls.push(watch);
            self.stalls.len() - 1
        }))
    }

    /// Whether a field of a signal holds a part, read from its record or taken from another one.
    pub(super) fn is_part(&self, signal: u16, field: usize) -> bool {
        let signal = &self.signals[usize::from(signal)];
        let is = |signal: &Signal, at: usize| signal.fields[at].kind == FieldKind::Part;
        let context = signal.context.as_ref();
        is(signal, field)
            || context.is_some_and(|context| {
                let mut taken = context.take.iter();
                taken.any(|&(from, to)| to == field && is(&self.signals[context.signal], from))
            })
    }

    /// A counter whose stamps are kept.
    pub(super) fn timed(&mut self, counter: usize) -> usize {
        self.list[counter].timed = true;
        counter
    }

    /// The index of a window of a counter.
    pub(super) fn window(&mut self, counter: usize, window: Window) -> usize {
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
    all: &File,
) -> Result<Rule, LoadError> {
    let mut counts = Vec::new();
    for (name, count) in &declared.counts {
        counts.push((name.clone(), counters.add(count, &declared.id, origin)?));
    }
    let arrivals = compile_arrivals(declared, origin, counters)?;
    let stalls = compile_stalls(declared, &arrivals, origin, counters)?;
    let mut scope = RuleScope {
        declared,
        origin,
        counts: &counts,
        stalls: &stalls,
        arrivals: &arrivals,
        counters,
    };
    let when = scope.condition(&declared.when)?;
    let outcome = declared.outcome.as_ref();
    if let Some(outcome) = outcome {
        scope.check_words(outcome)?;
    }
    let outcome = outcome.map_or("", |it| it.get_ref());
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
            accuses: verdict.accuses.unwrap_or(declared.accuses),
            title: format!("{}{outcome}", verdict.title.get_ref()),
        });
    }
    for text in declared.not_excluded.iter().chain(&declared.not_this) {
        scope.check_words(text)?;
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
    check_causes(declared, origin, &all.rule, counters.signals)?;
    check_step(declared, origin, &all.step)?;
    check_reads(&declared.replay_reads, origin, counters.signals)?;
    Ok(Rule {
        declared: at,
        counts,
        stalls,
        arrivals,
        when,
        verdicts,
    })
}

/// Keeps the stamps of what each record of a rule may follow from by itself, and those of its own.
pub(super) fn keep_moments(declared: &[RuleDecl], rules: &[Rule], counters: &mut Counters<'_>) {
    for (rule, own) in rules.iter().zip(declared).filter(|it| it.1.after_first) {
        let is_cause =
            |id: &Spanned<String>| own.caused_by.iter().any(|it| it.get_ref() == id.get_ref());
        let causes = rules.iter().zip(declared).filter(|it| is_cause(&it.1.id));
        for (rule, declared) in causes.chain([(rule, own)]) {
            for counter in reporting(rule, declared) {
                counters.timed(counter);
            }
        }
    }
}

pub(super) fn compile_balance(
    at: usize,
    declared: &BalanceDecl,
    origin: Origin<'_>,
    counters: &mut Counters<'_>,
) -> Result<BalanceRule, LoadError> {
    let left = counters.add(&declared.left.count, &declared.name, origin)?;
    let right: Result<Vec<usize>, LoadError> = declared
        .right
        .iter()
        .map(|side| counters.add(&side.count, &declared.name, origin))
        .collect();
    Ok(BalanceRule {
        declared: at,
        left,
        right: right?,
    })
}

pub(super) fn compile_strip(
    at: usize,
    declared: &StripDecl,
    origin: Origin<'_>,
    counters: &mut Counters<'_>,
) -> Result<StripRule, LoadError> {
    let mut rows = Vec::with_capacity(declared.rows.len());
    for row in &declared.rows {
        let counter = counters.add(&row.count, &declared.name, origin)?;
        counters.list[counter].rated = true;
        rows.push(counter);
    }
    Ok(StripRule { declared: at, rows })
}
