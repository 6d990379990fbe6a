//! From tallies to findings, incidents and balances.

use std::collections::{BTreeMap, BTreeSet};

use super::condition::Scene;
use super::coverage::{self, Coverage};
use super::finding::{Balance, Finding, Incident, Known, NotObservable, Subject};
use super::schema::{FieldRef, RuleDecl, Scope};
use super::{Rule, RuleBase, Verdict, observe, versions};
use crate::analysis::NodeFacts;
use crate::signals::tally::{Evidence, NodeTally};
use crate::time::Timestamp;

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
    /// Balances of the runs that have anything to balance.
    pub balances: Vec<Balance>,
    /// What no finding explains.
    pub coverage: Coverage,
}

impl RuleBase {
    /// Evaluates every rule over every run.
    pub fn conclude(&self, nodes: &[NodeFacts]) -> Conclusions {
        let mut runs: BTreeMap<&str, Vec<&NodeFacts>> = BTreeMap::new();
        for node in nodes {
            runs.entry(&node.tally.run).or_default().push(node);
        }
        let mut findings = Vec::new();
        let mut balances = Vec::new();
        for (run, nodes) in &runs {
            for rule in &self.rules {
                self.evaluate(rule, run, nodes, &mut findings);
            }
            balances.extend(self.balances.iter().filter_map(|rule| self.balance(rule, run, nodes)));
        }
        finish(&mut findings, runs.len());
        let by_id = |id: &str| self.rules.iter().find(|rule| self.declared.rule[rule.declared].id.get_ref() == id);
        let mut used: BTreeMap<String, BTreeSet<u16>> = BTreeMap::new();
        for finding in &findings {
            let counters = by_id(&finding.rule).map(|rule| rule.counts.as_slice()).unwrap_or_default();
            used.entry(finding.run.clone()).or_default().extend(counters.iter().map(|(_, counter)| self.counters[*counter].signal));
        }
        self.tie(&mut findings);
        let incidents = incidents(&findings);
        let coverage = coverage::of(self, nodes, &used);
        Conclusions { findings, incidents, balances, coverage }
    }

    fn evaluate(&self, rule: &Rule, run: &str, nodes: &[&NodeFacts], findings: &mut Vec<Finding>) {
        let declared = &self.declared.rule[rule.declared];
        let scenes: Vec<Vec<&NodeFacts>> = match declared.per {
            Scope::Run => vec![nodes.to_vec()],
            Scope::Node => nodes.iter().map(|node| vec![*node]).collect(),
        };
        for nodes in scenes {
            let tallies: Vec<&NodeTally> = nodes.iter().map(|node| &node.tally).collect();
            let scene = Scene { nodes: &tallies, counters: &self.counters, signals: &self.signals };
            if rule.when.holds(&scene) != Some(true) {
                continue;
            }
            let fits = |verdict: &&Verdict| verdict.when.as_ref().is_none_or(|when| when.holds(&scene) == Some(true));
            if let Some(verdict) = rule.verdicts.iter().find(fits) {
                findings.push(self.finding(rule, declared, verdict, run, &nodes, &scene));
            }
        }
    }

    fn finding(&self, rule: &Rule, declared: &RuleDecl, verdict: &Verdict, run: &str, facts: &[&NodeFacts], scene: &Scene<'_>) -> Finding {
        let counter = |name: &str| rule.counts.iter().find(|(known, _)| known == name).map(|(_, counter)| *counter);
        let counts: BTreeMap<String, u64> = rule.counts.iter().map(|(name, counter)| (name.clone(), scene.sum(*counter))).collect();
        let by_node = |node: &NodeTally| rule.counts.iter().map(|(name, c)| (name.clone(), node.counters[*c].all.count)).collect();
        let counts_by_node = scene.nodes.iter().map(|node| (node.node.clone(), by_node(node))).collect();
        let shares: BTreeMap<String, f64> = declared
            .shares
            .iter()
            .filter_map(|(name, share)| {
                let of: Option<Vec<usize>> = share.of.iter().map(|name| counter(name.get_ref())).collect();
                Some((name.clone(), scene.share(counter(share.count.get_ref())?, &of?)?))
            })
            .collect();
        let values = |field: &FieldRef| self.values(scene, counter(field.count.get_ref()), field.field.get_ref());
        let reported_by = self.reporters(rule, declared, scene);
        let mut accused: Vec<String> = Vec::new();
        for subject in declared.accused.iter().flat_map(values) {
            if !accused.contains(&subject.value) {
                accused.push(subject.value);
            }
        }
        let subjects = declared.subjects.iter().map(|(name, field)| {
            let mut all = values(field);
            all.truncate(SUBJECTS_MAX);
            (name.clone(), all)
        });
        let mut nodes: Vec<String> = reported_by.iter().chain(&accused).cloned().collect();
        nodes.sort();
        nodes.dedup();
        let words = Words { counts: &counts, shares: &shares, nodes: &nodes, reporters: &reported_by, accused: &accused };
        Finding {
            id: String::new(),
            rule: declared.id.get_ref().clone(),
            severity: verdict.severity,
            confidence: verdict.confidence,
            category: verdict.category.clone().unwrap_or_else(|| declared.category.clone()),
            title: words.fill(&verdict.title),
            run: run.to_owned(),
            window: window(rule, scene),
            evidence: evidence(rule, declared, scene),
            subjects: subjects.collect(),
            mechanism: declared.mechanism.trim().to_owned(),
            not_excluded: declared.not_excluded.iter().map(|text| words.fill(text)).collect(),
            not_this: declared.not_this.iter().map(|text| words.fill(text)).collect(),
            not_observable: self.not_observable(rule, scene),
            known: known(declared, facts),
            next_steps: declared.next_steps.clone(),
            caused_by: Vec::new(),
            runs: (0, 0),
            nodes,
            reported_by,
            accused,
            counts,
            counts_by_node,
            shares,
        }
    }

    /// The nodes whose records are the ground of a finding.
    fn reporters(&self, rule: &Rule, declared: &RuleDecl, scene: &Scene<'_>) -> Vec<String> {
        let wanted = |name: &str| declared.reported_by.is_empty() || declared.reported_by.iter().any(|given| given.get_ref() == name);
        let counters: Vec<usize> = rule.counts.iter().filter(|(name, _)| wanted(name)).map(|(_, counter)| *counter).collect();
        let reports = |node: &&&NodeTally| counters.iter().any(|&counter| node.counters[counter].all.count > 0);
        scene.nodes.iter().filter(reports).map(|node| node.node.clone()).collect()
    }

    /// The values of a field over all nodes, most frequent first.
    fn values(&self, scene: &Scene<'_>, counter: Option<usize>, field: &str) -> Vec<Subject> {
        let Some(counter) = counter else { return Vec::new() };
        let index = self.counters[counter].signal;
        let Some(field) = self.signals.signal(index).field(field) else { return Vec::new() };
        let mut sums: BTreeMap<String, u64> = BTreeMap::new();
        for node in scene.nodes {
            for (value, count) in node.signals[usize::from(index)].values[field].ranked() {
                *sums.entry(value).or_default() += count;
            }
        }
        let mut values: Vec<Subject> = sums.into_iter().map(|(value, count)| Subject { value, count }).collect();
        values.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.value.cmp(&b.value)));
        values
    }

    fn not_observable(&self, rule: &Rule, scene: &Scene<'_>) -> Vec<NotObservable> {
        let mut missing = BTreeSet::new();
        for (_, counter) in &rule.counts {
            let signal = self.signals.signal(self.counters[*counter].signal);
            for node in scene.nodes {
                if let Some(why) = observe::obstacle(signal, node) {
                    let declared = self.declared.signal.iter().find(|declared| declared.id.get_ref() == &signal.id);
                    let collect = declared.and_then(|declared| declared.collect.clone());
                    let collect = collect.unwrap_or_else(|| "the node's main log at its full level, with its rotated pieces".to_owned());
                    missing.insert(NotObservable { signal: signal.id.clone(), node: node.node.clone(), why, collect });
                }
            }
        }
        missing.into_iter().collect()
    }

    fn balance(&self, rule: &super::BalanceRule, run: &str, nodes: &[&NodeFacts]) -> Option<Balance> {
        let declared = &self.declared.balance[rule.declared];
        let sum = |counter: usize| -> u64 { nodes.iter().map(|node| node.tally.counters[counter].all.count).sum() };
        let left = (declared.left.what.clone(), sum(rule.left));
        let right: Vec<(String, u64)> = declared.right.iter().zip(&rule.right).map(|(side, &counter)| (side.what.clone(), sum(counter))).collect();
        let anything = left.1 > 0 || right.iter().any(|(_, count)| *count > 0);
        anything.then(|| Balance { name: declared.name.clone(), run: run.to_owned(), left, right, could_be: declared.could_be.clone() })
    }

    /// Ties findings to those that explain them: declared, of the same run, begun no later than they end.
    fn tie(&self, findings: &mut [Finding]) {
        let heads: Vec<(String, String, String, Option<(Timestamp, Timestamp)>)> =
            findings.iter().map(|f| (f.id.clone(), f.rule.clone(), f.run.clone(), f.window)).collect();
        for finding in findings {
            let Some((_, declared)) = self.rule(&finding.rule) else { continue };
            let causes = heads.iter().filter(|(id, rule, run, window)| {
                let before = window.zip(finding.window).is_none_or(|(cause, effect)| cause.0 <= effect.1);
                let names = declared.caused_by.iter().any(|cause| cause.get_ref() == rule);
                names && before && *run == finding.run && *id != finding.id
            });
            finding.caused_by = causes.map(|(id, ..)| id.clone()).collect();
        }
    }
}

/// Sorts, numbers, and says in how many runs each rule fired.
fn finish(findings: &mut [Finding], runs: usize) {
    findings.sort_by(|a, b| {
        let worst = (b.severity, b.confidence).cmp(&(a.severity, a.confidence));
        worst.then_with(|| (a.window.map(|w| w.0), &a.rule, &a.run, &a.nodes).cmp(&(b.window.map(|w| w.0), &b.rule, &b.run, &b.nodes)))
    });
    let mut fired: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for finding in findings.iter() {
        fired.entry(finding.rule.clone()).or_default().insert(finding.run.clone());
    }
    for (number, finding) in findings.iter_mut().enumerate() {
        finding.id = format!("F{}", number + 1);
        let k = fired.get(&finding.rule).map_or(0, BTreeSet::len);
        finding.runs = (u64::try_from(k).unwrap_or(0), u64::try_from(runs).unwrap_or(0));
    }
}

/// Findings that share a cause, directly or through others, are one incident.
fn incidents(findings: &[Finding]) -> Vec<Incident> {
    let position = |id: &str| findings.iter().position(|finding| finding.id == id);
    let mut group: Vec<usize> = (0..findings.len()).collect();
    for (index, finding) in findings.iter().enumerate() {
        for cause in finding.caused_by.iter().filter_map(|id| position(id)) {
            let (from, to) = (group[index].max(group[cause]), group[index].min(group[cause]));
            group.iter_mut().filter(|g| **g == from).for_each(|g| *g = to);
        }
    }
    let mut incidents: Vec<Incident> = Vec::new();
    for first in 0..findings.len() {
        let members: Vec<&Finding> = findings.iter().zip(&group).filter(|(_, g)| **g == first).map(|(f, _)| f).collect();
        let Some(root) = members.iter().find(|f| f.caused_by.is_empty()).or(members.first()) else { continue };
        let others: Vec<&&Finding> = members.iter().filter(|f| f.id != root.id).collect();
        let summary = if others.is_empty() {
            root.title.clone()
        } else {
            let follows: Vec<String> = others.iter().map(|f| format!("{} ({})", f.title, f.id)).collect();
            format!("{} ({}); what follows from it: {}", root.title, root.id, follows.join("; "))
        };
        let ids = std::iter::once(root.id.clone()).chain(others.iter().map(|f| f.id.clone())).collect();
        incidents.push(Incident { id: format!("I{}", incidents.len() + 1), root: root.id.clone(), findings: ids, summary });
    }
    incidents
}

fn window(rule: &Rule, scene: &Scene<'_>) -> Option<(Timestamp, Timestamp)> {
    let spans = rule.counts.iter().flat_map(|(_, counter)| scene.nodes.iter().filter_map(|node| node.counters[*counter].all.span));
    spans.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
}

fn evidence(rule: &Rule, declared: &RuleDecl, scene: &Scene<'_>) -> Vec<(String, Evidence)> {
    let wanted = |name: &str| declared.evidence.is_empty() || declared.evidence.iter().any(|given| given.get_ref() == name);
    let mut cited: Vec<(String, Evidence)> = Vec::new();
    for (_, counter) in rule.counts.iter().filter(|(name, _)| wanted(name)) {
        for node in scene.nodes {
            for one in node.counters[*counter].evidence.iter().take(EVIDENCE_PER_COUNT) {
                if !cited.iter().any(|(_, known)| known.at == one.at) {
                    cited.push((node.node.clone(), one.clone()));
                }
            }
        }
    }
    cited
}

fn known(declared: &RuleDecl, facts: &[&NodeFacts]) -> Vec<Known> {
    let applies = |fixed: &str| -> Option<bool> {
        let orders: Vec<_> = facts.iter().flat_map(|node| &node.versions).filter_map(|version| versions::compare(version, fixed)).collect();
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

/// What a title may name.
struct Words<'a> {
    counts: &'a BTreeMap<String, u64>,
    shares: &'a BTreeMap<String, f64>,
    nodes: &'a [String],
    reporters: &'a [String],
    accused: &'a [String],
}

impl Words<'_> {
    /// Replaces every `{name}`.
    fn fill(&self, template: &str) -> String {
        let mut out = String::new();
        let mut rest = template;
        while let Some((before, tail)) = rest.split_once('{') {
            let Some((name, after)) = tail.split_once('}') else { break };
            out.push_str(before);
            out.push_str(&self.word(name));
            rest = after;
        }
        out.push_str(rest);
        out
    }

    fn word(&self, name: &str) -> String {
        match name {
            "nodes" => list(self.nodes),
            "reporters" => list(self.reporters),
            "accused" => list(self.accused),
            _ => match (self.counts.get(name), self.shares.get(name)) {
                (Some(count), _) => thousands(*count),
                (None, Some(share)) => format!("{:.1} %", share * 100.0),
                (None, None) => "n/o".to_owned(),
            },
        }
    }
}

fn list(names: &[String]) -> String {
    match names {
        [] => "nobody".to_owned(),
        [one] => one.clone(),
        [head @ .., last] => format!("{} and {last}", head.join(", ")),
    }
}

/// A count with a comma between groups of three digits.
fn thousands(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
