//! What all sections of the page look up: the names of nodes, the rates by signal and node, the time axes.

use std::collections::{BTreeMap, BTreeSet};

use crate::report::axes::Axes;
use crate::report::axis::Axis;
use crate::report::counts::node_name;
use crate::report::model::{Finding, Report, Series};
use crate::report::tones::Tones;

/// Nodes by which a thing can be filtered.
const PLACES_MAX: usize = 100;

/// A report made ready for the page.
pub(super) struct Sheet<'r> {
    pub(super) report: &'r Report,
    pub(super) axes: Axes,
    /// Every node that counts or concludes anything, by the name that tables have for it.
    pub(super) nodes: Vec<String>,
    pub(super) tones: Tones<'r>,
    places: BTreeMap<String, usize>,
    series: BTreeMap<(&'r str, String), &'r Series>,
}

impl<'r> Sheet<'r> {
    pub(super) fn of(report: &'r Report) -> Self {
        let mut nodes: Vec<String> = Vec::new();
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        let environment = report.environment.iter().map(|it| (&it.run, &it.node));
        let counted = report.signals.iter().map(|it| (&it.run, &it.node));
        let read = report.inputs.iter().map(|it| (&it.run, &it.node));
        for (run, node) in environment.chain(counted).chain(read) {
            let name = node_name(report, run, node);
            if !places.contains_key(&name) {
                places.insert(name.clone(), nodes.len());
                nodes.push(name);
            }
        }
        let series = report.timeline.series.iter();
        Self {
            report,
            axes: Axes::of(report),
            nodes,
            tones: Tones::of(report),
            places,
            series: series
                .map(|it| {
                    (
                        (it.signal.as_str(), node_name(report, &it.run, &it.node)),
                        it,
                    )
                })
                .collect(),
        }
    }

    /// The places in `nodes` of some names, for the filter; of very many none, so that no filter hides them.
    pub(super) fn places<'n>(&self, names: impl Iterator<Item = &'n str>) -> String {
        let places: BTreeSet<usize> = names
            .filter_map(|it| self.places.get(it).copied())
            .collect();
        if places.len() > PLACES_MAX {
            return String::new();
        }
        let places: Vec<String> = places.iter().map(ToString::to_string).collect();
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
            if self.places.contains_key(&name) {
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

    /// The axis of a signal's counts on a node.
    pub(super) fn axis_of(&self, signal: &str, node: &str) -> Option<&Axis> {
        let series = self.series.get(&(signal, node.to_owned()))?;
        self.axis_at(self.axes.of_node(&series.run, &series.node))
    }

    /// An axis by its place.
    pub(super) fn axis_at(&self, place: Option<usize>) -> Option<&Axis> {
        self.axes.all().get(place?)
    }
}
