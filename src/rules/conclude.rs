//! From tallies to findings, incidents and balances.

use std::collections::{BTreeMap, BTreeSet};

use super::NodeFacts;
use super::arrivals::in_holes;
use super::clocks::{Skew, skews};
use super::condition::Scene;
use super::coverage::{self, Coverage};
use super::finding::{Again, Balance, Finding, Incident, Known, NotObservable, Subject};
use super::ground::Ground;
use super::ignore::Ledger;
use super::incidents::{finish, incidents, tie};
use super::schema::{Accuses, FieldRef, RuleDecl, Scope};
use super::words::Words;
use super::{Rule, RuleBase, Verdict, observe, times, unseen, versions};
use crate::profile::{Cost, Profile};
use crate::signals::tally::{EVIDENCE_MAX, Evidence, NodeTally};
use crate::time::{DAY, Timestamp, Zone};

/// How many values of a subject a finding names.
const SUBJECTS_MAX: usize = 10;
/// How many records a finding cites per count and node.
const EVIDENCE_PER_COUNT: usize = 2;

/// What the rules conclude.
#[derive(Debug, Default)]
pub struct Conclusions {
    /// Findings, worst first.
    pub findings: Vec<Finding>,
    /// Findings tied by cause.
    pub incidents: Vec<Incident>,
    /// What could not have been seen, of what occurred elsewhere or is always said.
    pub not_observable: Vec<NotObservable>,
    /// Balances of the runs that have anything to balance.
    pub balances: Vec<Balance>,
    /// How far clocks are apart.
    pub skews: Vec<Skew>,
    /// What no finding explains.
    pub coverage: Coverage,
}

impl RuleBase {
    /// Evaluates every rule over every run.
    pub fn conclude(&self, nodes: &[NodeFacts], profile: Option<&Profile>) -> Conclusions {
        let mut runs: BTreeMap<&str, Vec<&NodeFacts>> = BTreeMap::new();
        for node in nodes {
            runs.entry(&node.tally.run).or_default().push(node);
        }
        let mut findings = Vec::new();
        let mut used: BTreeMap<String, BTreeSet<u16>> = BTreeMap::new();
        let mut ledger = Ledger::new(self);
        let mut balances = Vec::new();
        let mut not_observable = Vec::new();
        for (run, nodes) in &runs {
            let first = findings.len();
            for (at, rule) in self.rules.iter().enumerate() {
                Cost::of(
                    profile.and_then(|profile| profile.rules.get(at)),
                    0,
                    || {
                        let before = findings.len();
                        self.evaluate(rule, run, nodes, &mut findings);
                        findings.len() > before
                    },
                    |found| *found,
                );
            }
            // What is left out by request is explained all the same.
            let used = used.entry((*run).to_owned()).or_default();
            used.extend(findings[first..].iter().flat_map(|it| self.signals_of(it)));
            let found: Vec<Finding> = findings.drain(first..).collect();
            let kept = found.into_iter();
            findings.extend(kept.filter(|it| !ledger.takes_finding(it, nodes)));
            let tallies: Vec<&NodeTally> = nodes.iter().map(|node| &node.tally).collect();
            not_observable.extend(self.not_observable(&self.told(&tallies), &tallies));
            not_observable.extend(in_holes(self, &tallies));
            balances.extend(
                self.balances
                    .iter()
                    .filter_map(|rule| self.balance(rule, run, nodes)),
            );
        }
        finish(&mut findings, runs.len());
        tie(self, &mut findings);
        let incidents = incidents(&findings);
        let coverage = coverage::of(self, nodes, &used, ledger);
        Conclusions {
            findings,
            incidents,
            not_observable,
            balances,
            skews: skews(self, nodes),
            coverage,
        }
    }

    /// The signals that the rule of a finding counts.
    fn signals_of(&self, finding: &Finding) -> BTreeSet<u16> {
        let rule = self.rule(&finding.rule);
        rule.map_or_else(BTreeSet::new, |(rule, _)| rule_signals(self, rule))
    }

    fn evaluate(&self, rule: &Rule, run: &str, nodes: &[&NodeFacts], findings: &mut Vec<Finding>) {
        let declared = &self.declared.rule[rule.declared];
        let scenes: Vec<Vec<&NodeFacts>> = match declared.per {
            Scope::Run => contemporaries(nodes),
            Scope::Node => nodes.iter().map(|node| vec![*node]).collect(),
        };
        for nodes in scenes {
            let tallies: Vec<&NodeTally> = nodes.iter().map(|node| &node.tally).collect();
            let scene = Scene {
                nodes: &tallies,
                counters: &self.counters,
                signals: &self.signals,
            };
            if rule.when.holds(&scene) != Some(true) {
                continue;
            }
            let fits = |verdict: &&Verdict| {
                verdict
                    .when
                    .as_ref()
                    .is_none_or(|when| when.holds(&scene) == Some(true))
            };
            if let Some(verdict) = rule.verdicts.iter().find(fits) {
                let ground = Ground {
                    rule,
                    declared,
                    facts: &nodes,
                    scene,
                    base: self,
                };
                findings.push(self.finding(&ground, verdict, run));
            }
        }
    }

    fn finding(&self, ground: &Ground<'_>, verdict: &Verdict, run: &str) -> Finding {
        let Ground {
            rule,
            declared,
            facts,
            scene,
            ..
        } = ground;
        let counts = ground.counts();
        let shares = ground.shares();
        let facts_found = ground.facts();
        let values = |field: &FieldRef, max| ground.values(field, max);
        let reported_by = reporters(rule, declared, scene);
        let named = declared
            .accused
            .iter()
            .flat_map(|field| values(field, usize::MAX));
        let accused = accused(verdict, named, &reported_by);
        let subjects = declared.subjects.iter();
        let subjects = subjects.map(|(name, field)| (name.clone(), values(field, SUBJECTS_MAX)));
        let nodes = involved(&reported_by, &accused);
        let missed = ground.missed(verdict);
        let words = Words {
            counts: &counts,
            shares: &shares,
            facts: &facts_found,
            nodes: &nodes,
            reporters: &reported_by,
            accused: &accused,
            unseen: &unseen::nodes(&missed),
        };
        let signals = rule_signals(self, rule);
        let category = verdict.category.as_ref().unwrap_or(&declared.category);
        Finding {
            id: String::new(),
            rule: declared.id.get_ref().clone(),
            severity: verdict.severity,
            confidence: verdict.confidence,
            category: category.clone(),
            fix_goes_in: declared.fix_goes_in.clone(),
            replay: Again::of(declared),
            title: words.fill(&verdict.title),
            run: run.to_owned(),
            window: window(rule, declared, scene),
            moments: moments(rule, declared, scene),
            evidence: healed(evidence(rule, declared, scene), ground),
            subjects: subjects.collect(),
            mechanism: declared.mechanism.trim().to_owned(),
            not_excluded: words.fill_all(&declared.not_excluded),
            not_this: words.fill_all(&declared.not_this),
            not_observable: [self.not_observable(&signals, scene.nodes), missed].concat(),
            signals: signals
                .iter()
                .map(|&at| self.signals.signal(at).id.clone())
                .collect(),
            grounds: self.grounds(rule, declared),
            known: known(declared, facts),
            next_steps: declared.next_steps.clone(),
            caused_by: Vec::new(),
            runs: (0, 0),
            facts: facts_found.clone(),
            healing: ground.healing(),
            wal: ground.wal_ranges(),
            counts_by_node: ground.counts_by_node(),
            nodes,
            reported_by,
            accused,
            counts,
            shares,
        }
    }

    /// The signals whose records report a rule's findings.
    fn grounds(&self, rule: &Rule, declared: &RuleDecl) -> Vec<u16> {
        let reporting = reporting(rule, declared).into_iter();
        let signals = reporting.filter_map(|counter| self.counters[counter].signal);
        let distinct: BTreeSet<u16> = signals.collect();
        distinct.into_iter().collect()
    }

    /// The signals that could not have been seen on a node.
    fn not_observable(&self, signals: &BTreeSet<u16>, nodes: &[&NodeTally]) -> Vec<NotObservable> {
        let mut missing = BTreeSet::new();
        for &index in signals {
            let signal = self.signals.signal(index);
            let declared = &self.declared.signal[usize::from(index)];
            for node in nodes.iter().filter(|node| observe::concerns(signal, node)) {
                if let Some(why) = observe::obstacle(&self.signals, index, node) {
                    let collect = declared
                        .collect
                        .clone()
                        .unwrap_or_else(|| observe::COLLECT.to_owned());
                    let (run, node) = (node.run.clone(), node.node.clone());
                    missing.insert(NotObservable {
                        signal: signal.id.clone(),
                        run,
                        node,
                        why,
                        collect,
                    });
                }
            }
        }
        missing.into_iter().collect()
    }

    /// The signals whose absence is worth a word in a run: those that occurred in it, and those that are always said.
    fn told(&self, nodes: &[&NodeTally]) -> BTreeSet<u16> {
        let told = |index: &u16| {
            let at = usize::from(*index);
            self.declared.signal[at].always
                || nodes.iter().any(|node| node.signals[at].all.count > 0)
        };
        (0u16..)
            .take(self.signals.signals().len())
            .filter(told)
            .collect()
    }

    fn balance(
        &self,
        rule: &super::BalanceRule,
        run: &str,
        nodes: &[&NodeFacts],
    ) -> Option<Balance> {
        let declared = &self.declared.balance[rule.declared];
        let sum = |counter: usize| -> u64 {
            nodes
                .iter()
                .map(|node| node.tally.counters[counter].all.count)
                .sum()
        };
        let left = (declared.left.what.clone(), sum(rule.left));
        let right: Vec<(String, u64)> = declared
            .right
            .iter()
            .zip(&rule.right)
            .map(|(side, &counter)| (side.what.clone(), sum(counter)))
            .collect();
        let anything = left.1 > 0 || right.iter().any(|(_, count)| *count > 0);
        anything.then(|| Balance {
            name: declared.name.get_ref().clone(),
            run: run.to_owned(),
            left,
            right,
            could_be: declared.could_be.clone(),
        })
    }
}

/// The counters whose records report a finding: those that the rule names, or all.
pub(super) fn reporting(rule: &Rule, declared: &RuleDecl) -> Vec<usize> {
    let names = &declared.reported_by;
    let wanted = |name: &str| names.is_empty() || names.iter().any(|given| given.get_ref() == name);
    let counts = rule.counts.iter().filter(|(name, _)| wanted(name));
    counts.map(|(_, counter)| *counter).collect()
}

/// The nodes whose records are the ground of a finding.
fn reporters(rule: &Rule, declared: &RuleDecl, scene: &Scene<'_>) -> Vec<String> {
    let counters = reporting(rule, declared);
    let reports = |node: &&&NodeTally| counters.iter().any(|&at| node.counters[at].all.count > 0);
    scene
        .nodes
        .iter()
        .filter(reports)
        .map(|node| node.node.clone())
        .collect()
}

/// Everyone that a finding is about, each once, by name.
fn involved(reporters: &[String], accused: &[String]) -> Vec<String> {
    let nodes: BTreeSet<&String> = reporters.iter().chain(accused).collect();
    nodes.into_iter().cloned().collect()
}

/// Whom a verdict accuses: those named in the records, or whoever reports.
fn accused(
    verdict: &Verdict,
    named: impl Iterator<Item = Subject>,
    reporters: &[String],
) -> Vec<String> {
    match verdict.accuses {
        Accuses::Named => distinct(named),
        Accuses::Reporters => reporters.to_vec(),
        Accuses::Nobody => Vec::new(),
    }
}

/// The values of subjects, each once, in order.
fn distinct(subjects: impl Iterator<Item = Subject>) -> Vec<String> {
    let mut values: Vec<String> = Vec::new();
    for subject in subjects {
        if !values.contains(&subject.value) {
            values.push(subject.value);
        }
    }
    values
}

/// The signals that a rule counts.
fn rule_signals(base: &RuleBase, rule: &Rule) -> BTreeSet<u16> {
    let counts = rule
        .counts
        .iter()
        .filter_map(|(_, counter)| base.counters[*counter].signal);
    let stalls = rule
        .stalls
        .iter()
        .map(|(_, test)| base.stalls[test.stall].signal);
    counts.chain(stalls).collect()
}

/// How far apart the logs of two nodes must be to be of no one time: what lies together in a folder may be of several years.
const APART: i64 = DAY;

/// Nodes whose logs are of one time, each in its place. One without stamps, or with times of day alone, is with the earliest.
fn contemporaries<'n>(nodes: &[&'n NodeFacts]) -> Vec<Vec<&'n NodeFacts>> {
    let span = |node: &NodeFacts| node.tally.span.filter(|_| node.zone != Zone::Dateless);
    let mut spans: Vec<(Timestamp, Timestamp)> =
        nodes.iter().filter_map(|node| span(node)).collect();
    spans.sort_unstable();
    let mut ends: Vec<Timestamp> = Vec::new();
    for (first, last) in spans {
        match ends.last_mut() {
            Some(end) if first.0 - end.0 <= APART => *end = last.max(*end),
            Some(_) | None => ends.push(last),
        }
    }
    let of = |node: &NodeFacts| {
        span(node).map_or(0, |(_, last)| ends.partition_point(|end| *end < last))
    };
    let groups = (0..ends.len().max(1)).map(|at| {
        let mine = nodes.iter().filter(|node| of(node) == at);
        mine.copied().collect()
    });
    groups.collect()
}

/// When it was: the stalls that made the rule fire, or else the counts whose records report it and the silence before.
fn window(rule: &Rule, declared: &RuleDecl, scene: &Scene<'_>) -> Option<(Timestamp, Timestamp)> {
    let join = |a: (Timestamp, Timestamp), b: (Timestamp, Timestamp)| (a.0.min(b.0), a.1.max(b.1));
    let stalls = rule.when.stalls();
    let stalled = stalls
        .iter()
        .flat_map(|test| test.each(scene.nodes))
        .map(|stall| stall.span);
    let counters = reporting(rule, declared);
    let counted = scene.nodes.iter().flat_map(|node| {
        counters.iter().filter_map(|&counter| {
            let tally = &node.counters[counter];
            let (first, last) = tally.all.span?;
            let second = tally.evidence.get(1).and_then(|record| record.time);
            let begins = second.filter(|_| declared.after_first).unwrap_or(first);
            Some((begins, last))
        })
    });
    let silent = scene
        .nodes
        .iter()
        .filter_map(|node| rule.when.silence(node));
    stalled
        .reduce(join)
        .or_else(|| counted.chain(silent).reduce(join))
}

/// The stamps of the records that report a finding, as far as they are kept.
fn moments(rule: &Rule, declared: &RuleDecl, scene: &Scene<'_>) -> Vec<Timestamp> {
    let counters = reporting(rule, declared);
    times::moments(scene.nodes, &counters, declared.after_first)
}

/// The records that show a finding: of the counts that the rule names for it, in that order; else of all.
fn evidence(rule: &Rule, declared: &RuleDecl, scene: &Scene<'_>) -> Vec<(String, Evidence)> {
    let of = |name: &str| rule.counts.iter().find(|(known, _)| known == name);
    let named: Vec<&(String, usize)> = if declared.evidence.is_empty() {
        rule.counts.iter().collect()
    } else {
        declared
            .evidence
            .iter()
            .filter_map(|name| of(name.get_ref()))
            .collect()
    };
    let window = window(rule, declared, scene).filter(|_| !rule.when.stalls().is_empty());
    // What precedes a stall does not show it; where only the first few of many were kept, they must do.
    let precedes = |one: &Evidence| {
        let times = window.zip(one.time);
        times.is_some_and(|((from, _), at)| at < from)
    };
    let shown = |kept: &[Evidence]| match kept.iter().position(|one| !precedes(one)) {
        None if kept.len() == EVIDENCE_MAX => 0,
        first => first.unwrap_or(kept.len()),
    };
    let mut cited: Vec<(String, Evidence)> = Vec::new();
    for (_, counter) in named {
        for node in scene.nodes {
            let kept = &node.counters[*counter].evidence;
            for one in kept.iter().skip(shown(kept)).take(EVIDENCE_PER_COUNT) {
                if !cited.iter().any(|(_, known)| known.at == one.at) {
                    cited.push((node.node.clone(), one.clone()));
                }
            }
        }
    }
    cited
}

/// The records that show that it healed stand behind the first that shows what did: the first ones are shown where few are.
fn healed(mut cited: Vec<(String, Evidence)>, ground: &Ground<'_>) -> Vec<(String, Evidence)> {
    let behind = cited.len().min(1);
    cited.splice(behind..behind, ground.healed());
    cited
}

fn known(declared: &RuleDecl, facts: &[&NodeFacts]) -> Vec<Known> {
    let applies = |fixed: &str| -> Option<bool> {
        let orders: Vec<_> = facts
            .iter()
            .flat_map(|node| &node.versions)
            .filter_map(|version| versions::compare(version, fixed))
            .collect();
        (!orders.is_empty()).then(|| orders.iter().any(|order| order.is_lt()))
    };
    let issues = declared.known.iter();
    issues
        .map(|known| Known {
            reference: known.reference.clone(),
            fixed_in: known.fixed_in.clone(),
            applies: known.fixed_in.as_deref().and_then(applies),
        })
        .collect()
}
