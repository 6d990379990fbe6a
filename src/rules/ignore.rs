//! What somebody decided to leave out of the findings, why, and until when.
//!
//! An entry expires by the stamps of the logs and by no clock: the same logs give the same report on any day.

use super::finding::Finding;
use super::schema::IgnoreDecl;
use super::{NodeFacts, RuleBase};
use crate::time::{DAY, Timestamp};

/// How many titles or templates an entry names.
const NAMED_MAX: usize = 10;

/// A compiled entry.
#[derive(Debug)]
pub struct IgnoreRule {
    /// The index of its declaration.
    pub declared: usize,
    /// The index of its text among those that are looked for.
    pub text: Option<u16>,
    /// The beginning of the day from which on it ignores nothing.
    pub until: Timestamp,
}

/// What an entry left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ignored {
    /// The entry.
    pub id: String,
    /// The rule it names, if it names one.
    pub rule: Option<String>,
    /// Why.
    pub reason: String,
    /// Until which day, as written.
    pub expires: String,
    /// Findings, or records, that it left out.
    pub count: u64,
    /// Those that it would have left out, had it not expired by their time, or had they one.
    pub expired: u64,
    /// Titles of findings, or templates of records, that it left out.
    pub what: Vec<String>,
}

/// The entries of a base while they are applied.
pub(super) struct Ledger<'b> {
    base: &'b RuleBase,
    rows: Vec<Ignored>,
}

impl<'b> Ledger<'b> {
    pub(super) fn new(base: &'b RuleBase) -> Self {
        let rows = base.declared.ignore.iter().map(|declared| Ignored {
            id: declared.id.get_ref().clone(),
            rule: declared.rule.as_ref().map(|rule| rule.get_ref().clone()),
            reason: declared.reason.get_ref().trim().to_owned(),
            expires: declared.expires.get_ref().clone(),
            count: 0,
            expired: 0,
            what: Vec::new(),
        });
        Self {
            base,
            rows: rows.collect(),
        }
    }

    /// Whether a finding is left out; one without a time is as old as the logs of its run.
    pub(super) fn takes_finding(&mut self, finding: &Finding, nodes: &[&NodeFacts]) -> bool {
        let run = nodes.iter().filter_map(|node| node.tally.span);
        let last = finding.window.map(|(_, last)| last);
        let last = last.or_else(|| run.map(|(_, last)| last).max());
        let fits = |_: &IgnoreRule, declared: &IgnoreDecl| {
            let rule = declared.rule.as_ref().map(toml::Spanned::get_ref);
            // What nobody reports, no node alone reports.
            let reported_by = &finding.reported_by;
            let only =
                |node: &String| !reported_by.is_empty() && reported_by.iter().all(|it| it == node);
            rule == Some(&finding.rule) && declared.node.as_ref().is_none_or(only)
        };
        self.takes(fits, last, 1, &finding.title)
    }

    /// Whether unexplained records of a node are left out, given their template and the texts that each of them holds.
    pub(super) fn takes_records(
        &mut self,
        template: &str,
        held: &[u16],
        count: u64,
        (node, last): (&str, Option<Timestamp>),
    ) -> bool {
        let fits = |entry: &IgnoreRule, declared: &IgnoreDecl| {
            let holds = entry.text.is_some_and(|text| held.contains(&text));
            // A template says of all its records what it says.
            let text = declared.text.as_ref().map(toml::Spanned::get_ref);
            let holds = holds || text.is_some_and(|text| template.contains(text));
            holds && declared.node.as_ref().is_none_or(|it| it == node)
        };
        self.takes(fits, last, count, template)
    }

    fn takes(
        &mut self,
        fits: impl Fn(&IgnoreRule, &IgnoreDecl) -> bool,
        last: Option<Timestamp>,
        count: u64,
        what: &str,
    ) -> bool {
        for (entry, row) in self.base.ignores.iter().zip(&mut self.rows) {
            if !fits(entry, &self.base.declared.ignore[entry.declared]) {
                continue;
            }
            // A time of day has no date to be before another.
            if last.is_some_and(|last| last.0 >= DAY && last < entry.until) {
                row.count += count;
                if row.what.len() < NAMED_MAX && row.what.iter().all(|known| known != what) {
                    row.what.push(what.to_owned());
                }
                return true;
            }
            row.expired += count;
        }
        false
    }

    /// What the entries did that did anything.
    pub(super) fn rows(self) -> Vec<Ignored> {
        let mut rows = self.rows;
        rows.retain(|row| row.count > 0 || row.expired > 0);
        rows
    }
}
