//! What all sections of the page look up: the names of nodes, the rates by signal and node, the time axis.

use std::collections::BTreeMap;

use crate::report::axis::Axis;
use crate::report::counts::node_name;
use crate::report::model::{Finding, Report, Series};
use crate::vocab::{Severity, Tone};

/// A report made ready for the page.
pub(super) struct Sheet<'r> {
    pub(super) report: &'r Report,
    pub(super) axis: Option<Axis>,
    /// Every node that counts or concludes anything, by the name that tables have for it.
    pub(super) nodes: Vec<String>,
    series: BTreeMap<(&'r str, String), &'r Series>,
    severities: BTreeMap<&'r str, Severity>,
}

impl<'r> Sheet<'r> {
    pub(super) fn of(report: &'r Report) -> Self {
        let mut nodes: Vec<String> = Vec::new();
        let mut seen = std::collections::BTreeSet::new();
        let environment = report.environment.iter().map(|it| (&it.run, &it.node));
        let counted = report.signals.iter().map(|it| (&it.run, &it.node));
        let read = report.inputs.iter().map(|it| (&it.run, &it.node));
        for (run, node) in environment.chain(counted).chain(read) {
            let name = node_name(report, run, node);
            if seen.insert(name.clone()) {
                nodes.push(name);
            }
        }
        let series = report.timeline.series.iter();
        let mut severities: BTreeMap<&str, Severity> = BTreeMap::new();
        for finding in &report.findings {
            for signal in &finding.signals {
                let worst = severities.entry(signal).or_insert(finding.severity);
                *worst = (*worst).max(finding.severity);
            }
        }
        Self {
            report,
            axis: Axis::of(report),
            nodes,
            series: series
                .map(|it| {
                    (
                        (it.signal.as_str(), node_name(report, &it.run, &it.node)),
                        it,
                    )
                })
                .collect(),
            severities,
        }
    }

    /// The places in `nodes` of some names, for the filter.
    pub(super) fn places<'n>(&self, names: impl Iterator<Item = &'n str>) -> String {
        let places: Vec<String> = names
            .filter_map(|name| self.nodes.iter().position(|it| it == name))
            .map(|at| at.to_string())
            .collect();
        places.join(" ")
    }

    /// The same of a node of a run.
    pub(super) fn place(&self, run: &str, node: &str) -> String {
        let name = node_name(self.report, run, node);
        self.places([name.as_str()].into_iter())
    }

    /// The names of a finding's nodes as tables have them.
    pub(super) fn names(&self, finding: &Finding, nodes: &[String]) -> Vec<String> {
        let named = |node: &String| {
            let name = node_name(self.report, &finding.run, node);
            if self.nodes.contains(&name) {
                name
            } else {
                node.clone()
            }
        };
        nodes.iter().map(named).collect()
    }

    /// The counts over time of a signal on a node; empty where nothing has a stamp.
    pub(super) fn points(&self, signal: &str, node: &str) -> &'r [(i64, u64)] {
        let found = self.series.get(&(signal, node.to_owned()));
        found.map_or(&[], |it| &it.points)
    }

    /// How bad the worst finding is that counts a signal.
    pub(super) fn severity(&self, signal: &str) -> Option<Severity> {
        self.severities.get(signal).copied()
    }

    /// Whether an occurrence of a signal is good news, as far as a strip says so.
    pub(super) fn is_good(&self, signal: &str) -> bool {
        let rows = self.report.timeline.strips.iter().flat_map(|it| &it.rows);
        let mut own = rows.filter(|it| it.signal == signal).peekable();
        own.peek().is_some() && own.all(|it| it.tone == Tone::Good)
    }

    /// A finding by its id.
    pub(super) fn finding(&self, id: &str) -> Option<&'r Finding> {
        self.report.findings.iter().find(|it| it.id == id)
    }
}
