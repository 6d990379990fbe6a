//! What no finding explains: every Error and Fatal record is either a finding's, or benign, or listed by template.

use std::collections::{BTreeMap, BTreeSet};

use super::RuleBase;
use crate::analysis::NodeFacts;
use crate::signals::tally::Evidence;
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

/// Works out the coverage, given the signals of the findings of each run.
pub(super) fn of(base: &RuleBase, nodes: &[NodeFacts], used: &BTreeMap<String, BTreeSet<u16>>) -> Coverage {
    let mut coverage = Coverage::default();
    let mut templates: BTreeMap<(Level, String), (u64, Option<Evidence>)> = BTreeMap::new();
    let mut near: BTreeMap<u16, (u64, Option<Evidence>)> = BTreeMap::new();
    for node in nodes {
        let tally = &node.tally;
        let nothing = BTreeSet::new();
        let used = used.get(&tally.run).unwrap_or(&nothing);
        for ((level, signals), &count) in &tally.errors.by_signals {
            coverage.error_records += count;
            if signals.iter().any(|signal| used.contains(signal) || base.signals.signal(*signal).benign) {
                coverage.explained += count;
                continue;
            }
            let Some(&first) = signals.first() else { continue };
            let signal = base.signals.signal(first);
            let text = signal.templates.first().map_or_else(|| signal.id.clone(), |template| template.source().to_owned());
            let example = tally.signals[usize::from(first)].evidence.first().cloned();
            add(templates.entry((*level, text)).or_default(), count, example);
        }
        for ((level, template), (count, example)) in &tally.errors.unmatched {
            coverage.error_records += count;
            add(templates.entry((*level, template.clone())).or_default(), *count, Some(example.clone()));
        }
        if tally.errors.beyond_cap > 0 {
            coverage.error_records += tally.errors.beyond_cap;
            let text = "(further templates, not kept apart)".to_owned();
            add(templates.entry((Level::Error, text)).or_default(), tally.errors.beyond_cap, None);
        }
        for (index, signal) in (0u16..).zip(&tally.signals) {
            if signal.near_misses > 0 {
                add(near.entry(index).or_default(), signal.near_misses, signal.near_miss.clone());
            }
        }
    }
    let listed = templates.into_iter().map(|((level, template), (count, example))| Unexplained { template, level, count, example });
    coverage.unexplained = listed.collect();
    coverage.unexplained.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| (a.level, &a.template).cmp(&(b.level, &b.template))));
    fold_tail(&mut coverage.unexplained);
    let misses = near.into_iter().map(|(index, (count, example))| NearMiss { signal: base.signals.signal(index).id.clone(), count, example });
    coverage.near_misses = misses.collect();
    coverage.near_misses.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.signal.cmp(&b.signal)));
    coverage
}

fn add(entry: &mut (u64, Option<Evidence>), count: u64, example: Option<Evidence>) {
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
        list.push(Unexplained { template, level: Level::Error, count: rest.iter().map(|one| one.count).sum(), example: None });
    }
}
