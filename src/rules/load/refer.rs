//! What a rule names outside its conditions: counts, fields, facts.

use toml::Spanned;

use super::origin::LoadError;
use super::scope::RuleScope;
use super::signal::field_index;
use crate::rules::arrivals::ARRIVAL_MEASURES;
use crate::rules::schema::FactDecl;
use crate::rules::{SILENCE_MEASURES, STALL_MEASURES, WAL_MEASURES};
use crate::signals::TallyKind;

impl RuleScope<'_, '_> {
    pub(super) fn check_references(&mut self) -> Result<(), LoadError> {
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
        for (name, fact) in &self.declared.facts {
            self.check_source(name, fact)?;
            match &fact.count {
                Some(count) => self.check_field(count, &fact.value)?,
                None => self.check_fact(fact)?,
            }
        }
        let fields = self.declared.accused.iter();
        for field in fields.chain(self.declared.subjects.values()) {
            self.check_field(&field.count, &field.field)?;
        }
        Ok(())
    }

    /// A field that is counted: one of the signal's, or a measure of the problems.
    fn check_field(
        &mut self,
        count: &Spanned<String>,
        field: &Spanned<String>,
    ) -> Result<(), LoadError> {
        let counter = self.counter(count)?;
        let Some(signal) = self.counters.list[counter].signal else {
            return self.check_measure(field, "a problem of a WAL", WAL_MEASURES);
        };
        let signal = &self.counters.signals[usize::from(signal)];
        let at = field_index(signal, field, self.origin)?;
        if signal.fields[at].tally == TallyKind::Not {
            let message = format!(
                "the field {:?} of {} is not counted",
                field.get_ref(),
                signal.id
            );
            return Err(self.origin.fault(
                field.span(),
                message,
                "list it in the signal's `by` or `top`",
            ));
        }
        let counter = &mut self.counters.list[counter];
        if counter.selects() && !counter.values.contains(&at) {
            counter.values.push(at);
        }
        Ok(())
    }

    /// A fact is of one thing.
    fn check_source(&self, name: &str, fact: &FactDecl) -> Result<(), LoadError> {
        let sources = [
            ("stall", &fact.stall),
            ("arrival", &fact.arrival),
            ("wal", &fact.wal),
            ("count", &fact.count),
        ];
        let given = sources
            .iter()
            .filter_map(|(key, it)| Some((*key, it.as_ref()?)));
        let given: Vec<(&str, &Spanned<String>)> = given.collect();
        let [(first, _), (second, at), ..] = given[..] else {
            return Ok(());
        };
        let message =
            format!("the fact {name:?} has {first} and {second}, which exclude each other");
        let hint = format!("leave out {first} or {second}, or make it two facts");
        Err(self.origin.fault(at.span(), message, hint))
    }

    /// A fact names a stall, and a field of its signal or a measure of the stall; or a measure of a problem or a silence.
    fn check_fact(&self, fact: &FactDecl) -> Result<(), LoadError> {
        if let Some(count) = &fact.wal {
            let counter = self.counter(count)?;
            if self.counters.list[counter].signal.is_some() || fact.stall.is_some() {
                let message = format!("{:?} counts no problems of WALs alone", count.get_ref());
                let hint = "a fact is of a stall, or of a count with wal = { problems = [...] }";
                return Err(self.origin.fault(count.span(), message, hint));
            }
            return self.check_measure(&fact.value, "a problem of a WAL", WAL_MEASURES);
        }
        if let Some(parts) = &fact.arrival {
            self.arrival(parts)?;
            return self.check_measure(&fact.value, "an arrival", ARRIVAL_MEASURES);
        }
        let Some(stall) = &fact.stall else {
            return self.check_measure(&fact.value, "a silence", SILENCE_MEASURES);
        };
        let stall = self.stall(stall)?;
        if STALL_MEASURES.contains(&fact.value.get_ref().as_str()) {
            return Ok(());
        }
        let signal = self.counters.stalls[stall.stall].signal;
        let signal = &self.counters.signals[usize::from(signal)];
        field_index(signal, &fact.value, self.origin).map(drop)
    }

    fn check_measure(
        &self,
        value: &Spanned<String>,
        what: &str,
        known: &[&str],
    ) -> Result<(), LoadError> {
        if known.contains(&value.get_ref().as_str()) {
            return Ok(());
        }
        let message = format!("{what} has no {:?}", value.get_ref());
        let hint = format!("it has {}", known.join(", "));
        Err(self.origin.fault(value.span(), message, hint))
    }
}
