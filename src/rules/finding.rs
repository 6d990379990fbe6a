//! What the rules conclude, before any output gives it a form.

use std::collections::BTreeMap;

use super::schema::RuleDecl;
use super::wal::Ranges;
use crate::signals::tally::Evidence;
use crate::time::Timestamp;
use crate::vocab::{Confidence, EngineModel, Healing, Severity};

/// How a finding can be run again in the reference engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Again {
    /// The model.
    pub model: EngineModel,
    /// By the name of a count of the rule: the signal that it counts.
    pub counts: BTreeMap<String, String>,
    /// By the name under which the model asks for it: the signal that it reads, and by field the value that it counts.
    pub reads: BTreeMap<String, (String, BTreeMap<String, String>)>,
    /// The names of the counts whose records report it.
    pub grounds: Vec<String>,
}

impl Again {
    /// How the findings of a rule can, if it says so.
    pub(super) fn of(declared: &RuleDecl) -> Option<Self> {
        let counted = declared.counts.iter().filter_map(|(name, count)| {
            let signal = count.signal.as_ref()?.get_ref().clone();
            Some((name.clone(), signal))
        });
        let reads = declared.replay_reads.iter().map(|(name, read)| {
            let filters = read.filters.iter();
            let filters = filters.map(|(field, value)| (field.get_ref().clone(), value.clone()));
            let signal = read.signal.get_ref().clone();
            (name.clone(), (signal, filters.collect()))
        });
        let grounds = declared.reported_by.iter().map(|it| it.get_ref().clone());
        declared.replay.map(|model| Self {
            model,
            counts: counted.collect(),
            reads: reads.collect(),
            grounds: grounds.collect(),
        })
    }
}

/// A conclusion about one run, or one node of it.
#[derive(Debug, Clone)]
pub struct Finding {
    /// `F1`, `F2`, ... in the order of [`super::Conclusions::findings`].
    pub id: String,
    /// The rule's id.
    pub rule: String,
    /// How bad.
    pub severity: Severity,
    /// How sure.
    pub confidence: Confidence,
    /// What kind of fault.
    pub category: String,
    /// Where a fix goes, if the rule says.
    pub fix_goes_in: Option<String>,
    /// How it can be run again.
    pub replay: Option<Again>,
    /// One sentence with the numbers.
    pub title: String,
    /// The run.
    pub run: String,
    /// Everyone involved.
    pub nodes: Vec<String>,
    /// Whose records say so.
    pub reported_by: Vec<String>,
    /// Whom they name, most often first.
    pub accused: Vec<String>,
    /// From the first to the last occurrence.
    pub window: Option<(Timestamp, Timestamp)>,
    /// The stamps of the occurrences that it is about, where they are kept.
    pub(super) moments: Vec<Timestamp>,
    /// The named counts over all nodes.
    pub counts: BTreeMap<String, u64>,
    /// The named counts by node.
    pub counts_by_node: BTreeMap<String, BTreeMap<String, u64>>,
    /// The named shares.
    pub shares: BTreeMap<String, f64>,
    /// What it is about, most frequent first.
    pub subjects: BTreeMap<String, Vec<Subject>>,
    /// Single values: positions, names, measures.
    pub facts: BTreeMap<String, String>,
    /// Whether what failed to come at first came in the end, if its rule asks.
    pub healing: Option<Healing>,
    /// The positions that problems of WALs withhold, by the count that counts them.
    pub(super) wal: Ranges,
    /// The node of each record, and the record.
    pub evidence: Vec<(String, Evidence)>,
    /// How it comes about.
    pub mechanism: String,
    /// What the evidence does not rule out.
    pub not_excluded: Vec<String>,
    /// What it is not.
    pub not_this: Vec<String>,
    /// What could not have been seen.
    pub not_observable: Vec<NotObservable>,
    /// The signals it counts.
    pub signals: Vec<String>,
    /// The indices of those whose records report it: its grounds, and nothing that it is compared with.
    pub grounds: Vec<u16>,
    /// Issues that know it.
    pub known: Vec<Known>,
    /// What to do next.
    pub next_steps: Vec<String>,
    /// The ids of the findings that explain it.
    pub caused_by: Vec<String>,
    /// In how many of all runs the rule fired.
    pub runs: (u64, u64),
}

/// A value that a finding is about, and how often it occurs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// The value.
    pub value: String,
    /// How often.
    pub count: u64,
}

/// A signal that could not have been seen on a node.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct NotObservable {
    /// The signal.
    pub signal: String,
    /// The run.
    pub run: String,
    /// The node.
    pub node: String,
    /// Why not.
    pub why: String,
    /// What to collect.
    pub collect: String,
}

/// An issue that knows a finding; `applies` is `None` where the versions do not say.
#[derive(Debug, Clone)]
pub struct Known {
    /// The issue.
    pub reference: String,
    /// The first version without the fault.
    pub fixed_in: Option<String>,
    /// Whether a version here has the fault.
    pub applies: Option<bool>,
}

/// Findings tied by cause.
#[derive(Debug, Clone)]
pub struct Incident {
    /// `I1`, `I2`, ...
    pub id: String,
    /// The finding the others follow from.
    pub root: String,
    /// All of them, root first.
    pub findings: Vec<String>,
    /// A sentence for the chain.
    pub summary: String,
}

/// Two counts that must agree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Balance {
    /// What is balanced.
    pub name: String,
    /// The run.
    pub run: String,
    /// One side: what, and how many.
    pub left: (String, u64),
    /// The other side's parts.
    pub right: Vec<(String, u64)>,
    /// What could explain a remainder.
    pub could_be: Vec<String>,
}

impl Balance {
    /// Left less right.
    pub fn remainder(&self) -> i64 {
        let right: u64 = self.right.iter().map(|(_, count)| count).sum();
        i64::try_from(self.left.1).unwrap_or(i64::MAX) - i64::try_from(right).unwrap_or(i64::MAX)
    }
}
