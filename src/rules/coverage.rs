//! What no finding explains: every Error and Fatal record is either a finding's, or benign, or listed by template.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::ignore::{Ignored, Ledger};
use super::{NodeFacts, RuleBase};
use crate::signals::tally::{Evidence, NodeTally};
use crate::vocab::Level;

/// How many templates are listed.
const LISTED_MAX: usize = 200;

/// What is explained, and what is not.
#[derive(Debug, Default)]
pub struct Coverage {
    /// Error and Fatal records.
    pub error_records: u64,
    /// Those whose signals are a finding's, or benign.
    pub explained: u64,
    /// The others by template, most frequent first.
    pub unexplained: Vec<Unexplained>,
    /// Messages that may have changed, most frequent first.
    pub near_misses: Vec<NearMiss>,
    /// What was left out by request, in the order of declaration.
    pub ignored: Vec<Ignored>,
}

/// Unexplained records of one template.
#[derive(Debug, Clone)]
pub struct Unexplained {
    /// The template.
    pub template: String,
    /// Their level.
    pub level: Level,
    /// How many.
    pub count: u64,
    /// The first of them.
    pub example: Option<Evidence>,
}

/// Records that hold a signal's literal and do not fit it.
#[derive(Debug, Clone)]
pub struct NearMiss {
    /// The signal.
    pub signal: String,
    /// How many.
    pub count: u64,
    /// The first of them.
    pub example: Option<Evidence>,
}

/// Counts with the first example of each.
type Examples<K> = BTreeMap<K, (u64, Option<Evidence>)>;

/// A level, a template, and the texts that are looked for and that each of the records holds.
type Kind = (Level, String, Vec<u16>);

/// Works out the coverage, given the signals of the findings of each run.
pub(super) fn of(
    base: &RuleBase,
    nodes: &[NodeFacts],
    used: &BTreeMap<String, BTreeSet<u16>>,
    mut ledger: Ledger<'_>,
) -> Coverage {
    let mut coverage = Coverage::default();
    let mut templates: Examples<(Level, String)> = BTreeMap::new();
    let mut near: Examples<u16> = BTreeMap::new();
    let nothing = BTreeSet::new();
    for node in nodes {
        let used = used.get(&node.tally.run).unwrap_or(&nothing);
        let mut of_node: Examples<Kind> = BTreeMap::new();
        add_errors(base, &node.tally, used, &mut coverage, &mut of_node);
        let seen = (
            node.tally.node.as_str(),
            node.tally.span.map(|(_, last)| last),
        );
        of_node.retain(|(_, template, held), (count, _)| {
            let is_left_out = ledger.takes_records(template, held, *count, seen);
            coverage.explained += if is_left_out { *count } else { 0 };
            !is_left_out
        });
        for ((level, template, _), (count, example)) in of_node {
            add(&mut templates, (level, template), count, example);
        }
        for (index, signal) in (0u16..).zip(&node.tally.signals) {
            if signal.near_misses > 0 {
                add(
                    &mut near,
                    index,
                    signal.near_misses,
                    signal.near_miss.clone(),
                );
            }
        }
    }
    let listed = templates
        .into_iter()
        .map(|((level, template), (count, example))| Unexplained {
            template,
            level,
            count,
            example,
        });
    coverage.unexplained = listed.collect();
    // Stable: equal counts stay in the order of level and template.
    coverage.unexplained.sort_by_key(|one| Reverse(one.count));
    fold_tail(&mut coverage.unexplained);
    let misses = near.into_iter().map(|(index, (count, example))| NearMiss {
        signal: base.signals.signal(index).id.clone(),
        count,
        example,
    });
    coverage.near_misses = misses.collect();
    coverage
        .near_misses
        .sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.signal.cmp(&b.signal)));
    coverage.ignored = ledger.rows();
    coverage
}

/// Adds the Error and Fatal records of one node.
fn add_errors(
    base: &RuleBase,
    tally: &NodeTally,
    used: &BTreeSet<u16>,
    coverage: &mut Coverage,
    templates: &mut Examples<Kind>,
) {
    let explains = |signal: &u16| used.contains(signal) || base.signals.signal(*signal).benign;
    let template = |first: u16| {
        let signal = base.signals.signal(first);
        let template = signal.templates.first();
        template.map_or_else(|| signal.id.clone(), |it| it.source().to_owned())
    };
    let mut holding: BTreeMap<(Level, &[u16]), u64> = BTreeMap::new();
    for ((level, signals, held), (count, example)) in &tally.errors.holding {
        if let (Some(&first), false) = (signals.first(), signals.iter().any(explains)) {
            *holding.entry((*level, signals)).or_default() += count;
            let kind = (*level, template(first), held.clone());
            add(templates, kind, *count, Some(example.clone()));
        }
    }
    for ((level, signals), &count) in &tally.errors.by_signals {
        coverage.error_records += count;
        if signals.iter().any(explains) {
            coverage.explained += count;
        } else if let Some(&first) = signals.first() {
            let held = holding.get(&(*level, signals.as_slice())).copied();
            let rest = count - held.unwrap_or(0);
            if rest > 0 {
                let example = tally.signals[usize::from(first)].evidence.first().cloned();
                add(
                    templates,
                    (*level, template(first), Vec::new()),
                    rest,
                    example,
                );
            }
        }
    }
    for (kind, (count, example)) in &tally.errors.unmatched {
        coverage.error_records += count;
        add(templates, kind.clone(), *count, Some(example.clone()));
    }
    if tally.errors.beyond_cap > 0 {
        coverage.error_records += tally.errors.beyond_cap;
        let text = "(further templates, not kept apart)".to_owned();
        add(
            templates,
            (Level::Error, text, Vec::new()),
            tally.errors.beyond_cap,
            None,
        );
    }
}

fn add<K: Ord>(examples: &mut Examples<K>, key: K, count: u64, example: Option<Evidence>) {
    let entry = examples.entry(key).or_default();
    entry.0 += count;
    if entry.1.is_none() {
        entry.1 = example;
    }
}

/// Keeps the list bounded without losing a count.
fn fold_tail(list: &mut Vec<Unexplained>) {
    if list.len() > LISTED_MAX {
        let rest = list.split_off(LISTED_MAX);
        let template = format!("({} further templates)", rest.len());
        list.push(Unexplained {
            template,
            level: Level::Error,
            count: rest.iter().map(|one| one.count).sum(),
            example: None,
        });
    }
}
