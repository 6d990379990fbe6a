//! What became of the tests: sources of one run compared, failing leaves grouped, groups tied to what the servers logged.
//!
//! Nothing here reads a file. A tie is made through what both sides name: parts in whose partitions rows are missing, tables,
//! error codes, the death of a server. Where neither side names anything, the cause is unknown, and that is said.

mod cause;
mod clocks;
mod code;
mod deaths;
mod faults;
mod groups;
mod partition;
mod runs;
mod settle;
mod signature;
mod when;

use std::collections::BTreeMap;

pub use cause::{How, Tie};
pub use clocks::NodeClock;
pub use faults::Fault;
pub use groups::{Group, Role};
pub use runs::{Disagreement, JoinedRun};
pub use signature::Signature;

use crate::parsers::ci::{Event, Leaf, Reading, TestRun};
use crate::rules::{Conclusions, NodeFacts, RuleBase};

/// A file of test results.
#[derive(Debug)]
pub struct Source {
    /// The index of its artifact among the inputs.
    pub artifact: usize,
    /// Its path.
    pub path: String,
    /// The run that its place belongs to.
    pub run: String,
    /// What its reader found.
    pub reading: Reading,
}

/// All tests that the inputs tell of.
#[derive(Debug, Default)]
pub struct Tests {
    /// What each source says, in the order of the inputs.
    pub rows: Vec<Row>,
    /// Runs of tests, each with the rows that tell of it.
    pub runs: Vec<JoinedRun>,
    /// Failing leaves that are one failure, the largest first.
    pub groups: Vec<Group>,
    /// What sources beside the tests tell: the path, and the event.
    pub events: Vec<(String, Event)>,
    /// How the clocks of nodes were compared with those of tests.
    pub clocks: Vec<NodeClock>,
    /// The finding that most failing leaves are tied to.
    pub primary: Option<String>,
}

/// What one source says of one run.
#[derive(Debug)]
pub struct Row {
    /// The index of the artifact.
    pub artifact: usize,
    /// Its path.
    pub path: String,
    /// The run that its place belongs to.
    pub place: String,
    /// What it says.
    pub run: TestRun,
}

impl Tests {
    /// The row that speaks for a run.
    pub fn speaker(&self, run: &JoinedRun) -> Option<&Row> {
        self.rows.get(*run.rows.first()?)
    }

    /// A leaf of a row.
    pub fn leaf(&self, (row, leaf): (usize, usize)) -> Option<&Leaf> {
        self.rows.get(row)?.run.leaves.get(leaf)
    }
}

/// Compares, groups and ties.
pub fn conclude(
    sources: Vec<Source>,
    nodes: &[NodeFacts],
    conclusions: &Conclusions,
    base: &RuleBase,
) -> Tests {
    let mut rows = Vec::new();
    let mut events = Vec::new();
    for source in sources {
        let (artifact, path, place) = (source.artifact, source.path, source.run);
        events.extend(
            source
                .reading
                .events
                .into_iter()
                .map(|event| (path.clone(), event)),
        );
        for mut run in source.reading.runs {
            for (name, value) in &source.reading.attributes {
                run.attributes
                    .entry(name.clone())
                    .or_insert_with(|| value.clone());
            }
            rows.push(Row {
                artifact,
                path: path.clone(),
                place: place.clone(),
                run,
            });
        }
    }
    let runs = runs::joined(&rows);
    let speakers: Vec<usize> = runs
        .iter()
        .filter_map(|run| run.rows.first().copied())
        .collect();
    let clocks = clocks::clocks(nodes, speakers.iter().map(|at| &rows[*at]));
    let mut groups = groups::grouped(&rows, &speakers);
    let deaths = deaths::deaths(nodes, base);
    let scene = cause::Scene {
        rows: &rows,
        nodes,
        conclusions,
        base,
        clocks: &clocks,
        deaths: &deaths,
        events: &events,
        is_one_run: nodes
            .windows(2)
            .all(|pair| pair[0].tally.run == pair[1].tally.run),
    };
    let primary = cause::tie(&scene, &mut groups);
    Tests {
        rows,
        runs,
        groups,
        events,
        clocks,
        primary,
    }
}

/// The tables that failing leaves name, for which records are to be watched.
pub fn tables(sources: &[Source]) -> Vec<&str> {
    let leaves = sources
        .iter()
        .flat_map(|source| &source.reading.runs)
        .flat_map(|run| &run.leaves);
    leaves
        .flat_map(|leaf| &leaf.mentions.tables)
        .map(String::as_str)
        .collect()
}

/// Counts by some name.
fn tallied<T: Ord>(names: impl Iterator<Item = T>) -> BTreeMap<T, u64> {
    let mut counts = BTreeMap::new();
    for name in names {
        *counts.entry(name).or_default() += 1;
    }
    counts
}
