//! What is known of the inputs before the scan, and what the scan adds.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::atomic::Ordering;

use rayon::prelude::*;

use super::copies::{Piece, Repeats, Side, copies};
use super::facts::ArtifactFacts;
use super::listings::ListedWals;
use super::places::places;
use super::seen::{HELD_BYTES, Seen, excerpts};
use super::sniffing::{Sniffed, fault, sniffed};
use super::tables;
use super::wal::Wals;
use super::wrapped::{Clock, Wrapped};
use super::{Plan, Progress};
use crate::analysis::{Analysis, InputFacts, InputFault, RefusedFacts};
use crate::intake::{Artifact, Encoding, Found, Place, Refused};
use crate::layout::{Wal, compare};
use crate::outcome::{self, Source as TestSource};
use crate::parsers::ci;
use crate::parsers::tables::{Form, Known};
use crate::rules::{NodeFacts, RuleBase, WalProblem};
use crate::scan::{GAP, ProblemKind};
use crate::signals::tally::NodeTally;
use crate::streams::{Log, Source, plan as plan_logs};

/// The artifacts, each looked at once.
pub(super) struct Looked {
    artifacts: Vec<Seen>,
    refused: Vec<Refused>,
    pub(super) wals: Wals,
}

/// What the scan found of one node.
#[derive(Debug)]
pub(super) struct NodeScan {
    pub(super) tally: NodeTally,
    /// Nodes that lines of its logs name.
    pub(super) others: Vec<NodeTally>,
    pub(super) artifacts: BTreeMap<usize, ArtifactFacts>,
}

/// What was read of all artifacts.
pub(super) struct Read {
    pub(super) nodes: Vec<NodeScan>,
    pub(super) wals: Vec<Wal>,
    pub(super) tests: Vec<TestSource>,
    pub(super) listed: ListedWals,
    /// How many lines of artifacts hold a listed signal's text.
    pub(super) found: Vec<(usize, u64)>,
}

/// Tells every artifact's format and place.
pub(super) fn look(found: Found, plan: &Plan, rules: &RuleBase) -> Looked {
    let mut sniffed: Vec<Sniffed> = found
        .artifacts
        .par_iter()
        .map(|artifact| sniffed(artifact, plan.for_tests, &rules.formats))
        .collect();
    let is_log = |at: usize| sniffed[at].format.is_some();
    let mut wals = Wals::among(&found.artifacts, is_log, &plan.layout);
    let is_segment = wals.is_segment(found.artifacts.len());
    let places = places(
        &found.artifacts,
        &mut wals,
        &is_segment,
        &mut sniffed,
        &plan.names,
        found.folder,
    );
    let mut artifacts: Vec<Seen> = Vec::new();
    let mut pieces: BTreeMap<Side, Vec<Piece>> = BTreeMap::new();
    let seen = found.artifacts.into_iter().zip(places).zip(is_segment);
    for (((artifact, place), is_segment), sniffed) in seen.zip(sniffed) {
        let Sniffed {
            format,
            form,
            node: _,
            logs,
            export,
            is_listing,
            encoding,
            start,
            unreadable,
            is_taken,
        } = sniffed;
        let (format, form, logs, export, unreadable) = if is_segment {
            (None, None, Vec::new(), None, None)
        } else {
            (format, form, logs, export, unreadable)
        };
        let is_small = encoding == Encoding::Plain && artifact.bytes <= HELD_BYTES;
        let seen = Seen {
            artifact,
            place,
            is_small,
            is_taken,
            format,
            logs,
            export,
            form,
            is_segment,
            is_listing: is_listing && !is_segment,
            skipped: unreadable,
        };
        if let Some((side, piece)) = seen.piece(artifacts.len(), encoding, start) {
            pieces.entry(side).or_default().push(piece);
        }
        artifacts.push(seen);
    }
    leave_out_copies(&mut artifacts, pieces);
    for (at, detail) in wals.unchecked() {
        let fault = InputFault::of(ProblemKind::UncheckedWal, detail);
        artifacts[at].skipped.get_or_insert(fault);
    }
    Looked {
        artifacts,
        refused: found.refused,
        wals,
    }
}

/// Says of every file that another one repeats that it is not read.
fn leave_out_copies(artifacts: &mut [Seen], pieces: BTreeMap<Side, Vec<Piece>>) {
    let begins = |path: &str| format!("{path} begins with all of it: it is not read a second time");
    let other = |path: &str| {
        format!("it is the table of {path} in another form and is not read a second time")
    };
    let exports = artifacts.iter().enumerate().filter_map(|(at, seen)| {
        let export = seen.export.as_ref()?;
        Some((at, seen.artifact.path.as_str(), export))
    });
    let exports = tables::copies(exports).into_iter().map(|it| (it, true));
    let opened = |at: usize| artifacts[at].artifact.open().ok().map(|(reader, _)| reader);
    let (copies, parts): (Vec<_>, Vec<_>) = copies(pieces, &opened)
        .into_iter()
        .partition(|(.., repeats)| *repeats == Repeats::All);
    let pieces = copies.into_iter().map(|(at, of, _)| ((at, of), false));
    let left: Vec<((usize, usize), bool)> = pieces.chain(exports).collect();
    for (part, ..) in parts {
        artifacts[part].is_taken = true;
    }
    for ((copy, whole), is_table) in left {
        let path = &artifacts[whole].artifact.path;
        let detail = if is_table { other(path) } else { begins(path) };
        artifacts[copy].skipped = Some(InputFault::of(ProblemKind::DuplicatePiece, detail));
    }
}

impl Looked {
    /// Stored bytes of what will be read.
    pub(super) fn bytes(&self) -> u64 {
        self.artifacts
            .iter()
            .filter(|seen| seen.is_read() || seen.is_segment || seen.form.is_some())
            .map(|seen| seen.artifact.bytes)
            .sum()
    }

    /// The logs to read.
    pub(super) fn logs(&self) -> Vec<Log> {
        let read = self
            .artifacts
            .iter()
            .enumerate()
            .filter(|(_, seen)| seen.is_read());
        plan_logs(read.flat_map(|(artifact, seen)| seen.sources(artifact)))
    }

    /// The artifacts with results of tests.
    pub(super) fn tests(&self) -> Vec<(usize, &'static ci::Spec)> {
        let seen = self.artifacts.iter().enumerate();
        seen.filter_map(|(at, seen)| Some((at, seen.form?)))
            .collect()
    }

    /// The artifacts whose text is known, read or not.
    pub(super) fn texts(&self) -> Vec<usize> {
        let is_text = |seen: &Seen| {
            let is_log = seen.format.is_some_and(|it| it.spec().head_bytes.is_none());
            is_log || seen.form.is_some() || seen.export.is_some()
        };
        let seen = self.artifacts.iter().enumerate();
        seen.filter(|(_, seen)| is_text(seen))
            .map(|(at, _)| at)
            .collect()
    }

    /// The artifacts that list folders with WALs.
    pub(super) fn listings(&self) -> Vec<(usize, &str, &Place)> {
        let seen = self.artifacts.iter().enumerate();
        seen.filter(|(_, seen)| seen.is_listing)
            .map(|(at, seen)| (at, seen.artifact.path.as_str(), &seen.place))
            .collect()
    }

    /// The nodes that logs are of, by run.
    pub(super) fn nodes(&self) -> BTreeSet<(&str, &str)> {
        let logs = self.artifacts.iter().filter(|seen| seen.is_read());
        let places = logs.flat_map(|seen| {
            let wrapped = seen.logs.iter().filter_map(|log| log.place.as_ref());
            std::iter::once(&seen.place).chain(wrapped)
        });
        places
            .map(|place| (place.run.as_str(), place.node.as_str()))
            .collect()
    }

    /// An artifact's path, the run that it lies in, and its stored bytes.
    pub(super) fn place_of(&self, artifact: usize) -> (String, String, u64) {
        let seen = &self.artifacts[artifact];
        (
            seen.artifact.path.clone(),
            seen.place.run.clone(),
            seen.artifact.bytes,
        )
    }

    /// Opens an artifact from its beginning.
    pub(super) fn open_tests(&self, artifact: usize) -> Result<Box<dyn io::Read + Send>, String> {
        let opened = self.artifacts[artifact].artifact.open();
        let (reader, _) = opened.map_err(|error| fault(ProblemKind::Unreadable, &error).detail)?;
        Ok(reader)
    }

    /// Opens an artifact; its stored bytes are added to the progress as they are read.
    pub(super) fn open(
        &self,
        source: Source,
        progress: &Progress,
    ) -> Result<Box<dyn io::Read + Send>, String> {
        let seen = &self.artifacts[source.artifact];
        // Of a file with several logs that are read one after another, each is a part of the progress.
        let parts = u64::try_from(seen.logs.len()).unwrap_or(1).max(1);
        let part = seen.artifact.bytes / parts;
        progress.done.fetch_add(part, Ordering::Relaxed);
        self.open_again(source)
    }

    /// Opens an artifact that the progress counts already.
    pub(super) fn open_again(&self, source: Source) -> Result<Box<dyn io::Read + Send>, String> {
        let reader = self.open_tests(source.artifact)?;
        let format = self.artifacts[source.artifact].format;
        let bound = format.and_then(|format| format.spec().head_bytes);
        Ok(match bound {
            Some(bytes) => Box::new(io::Read::take(reader, bytes)),
            None => reader,
        })
    }
}

impl Looked {
    /// An artifact and the logs in it, if they are wrapped.
    pub(super) fn logs_in(&self, artifact: usize) -> (&Artifact, &[Wrapped]) {
        let seen = &self.artifacts[artifact];
        (&seen.artifact, &seen.logs)
    }

    /// How a log is wrapped; `None` if it is not.
    pub(super) fn wrapped(&self, source: Source) -> Option<&Wrapped> {
        self.artifacts[source.artifact].logs.get(source.stream)
    }

    /// What wrappers tell of the clock of a node's logs, if it is the same of all.
    fn clock(&self, tally: &NodeTally) -> Clock {
        let logs = self.artifacts.iter().filter(|seen| seen.is_read());
        let told = logs.flat_map(|seen| {
            let plain = (seen.format.is_some() && seen.logs.is_empty())
                .then_some((&seen.place, Clock::Unknown));
            let wrapped = seen
                .logs
                .iter()
                .filter_map(|log| Some((log.place.as_ref()?, log.clock)));
            plain.into_iter().chain(wrapped)
        });
        let mut told = told
            .filter(|(place, _)| place.run == tally.run && place.node == tally.node)
            .map(|(_, clock)| clock);
        let first = told.next().unwrap_or_default();
        if told.all(|clock| clock == first) {
            first
        } else {
            Clock::Unknown
        }
    }
}

impl Looked {
    /// The form and the table of an export; `None` if it is none, or nobody knows the table.
    pub(super) fn export(&self, source: Source) -> Option<(Form, &'static Known)> {
        let export = self.artifacts[source.artifact].export.as_ref()?;
        Some((export.form, export.table?))
    }
}

impl Looked {
    /// Notes what reading WALs and tests and joining logs showed of single inputs.
    fn note_faults(
        &self,
        facts: &mut BTreeMap<usize, ArtifactFacts>,
        wals: &[Wal],
        tests: &[TestSource],
    ) {
        for unread in wals.iter().flat_map(|wal| &wal.unread) {
            if let Some(at) = self.wals.artifact_at(&unread.path) {
                let fault = InputFault::of(ProblemKind::Unreadable, unread.detail.clone());
                facts.entry(at).or_default().problems.push(fault);
            }
        }
        for source in tests {
            let facts = facts.entry(source.artifact).or_default();
            facts.lines = facts.lines.max(source.reading.lines);
            facts.error.clone_from(&source.reading.error);
            facts.is_mute = source.reading.runs.is_empty() && source.reading.events.is_empty();
        }
        for (excerpt, detail) in excerpts(&self.artifacts, &self.logs()) {
            let fault = InputFault::of(ProblemKind::FurtherView, detail);
            facts.entry(excerpt).or_default().problems.push(fault);
        }
    }

    /// The problems of the WALs of each node: those that checks found, and those that are told. `of_node` hears of each node,
    /// and whether a WAL of it was checked.
    fn wal_problems(
        &self,
        wals: &[Wal],
        told: impl Iterator<Item = ((String, String), WalProblem)>,
        mut of_node: impl FnMut(&str, &str, bool),
    ) -> NodeProblems {
        let mut problems: NodeProblems = BTreeMap::new();
        for wal in wals {
            let node = (wal.run.clone(), wal.node.clone());
            let found = self.wals.problems(wal);
            problems.entry(node).or_default().extend(found);
        }
        let (listed, told): (Vec<_>, Vec<_>) = told.partition(|(_, problem)| problem.listed);
        for (node, problem) in told {
            problems.entry(node).or_default().push(problem);
        }
        for (run, node) in problems.keys() {
            of_node(run, node, true);
        }
        for (node, problem) in listed {
            if !problems.contains_key(&node) {
                of_node(&node.0, &node.1, false);
            }
            problems.entry(node).or_default().push(problem);
        }
        problems
    }
}

/// What is known of a node, by its clock and with the problems of its WALs.
fn node_facts(
    tally: NodeTally,
    clock: Clock,
    found: Option<Vec<WalProblem>>,
    plan: &Plan,
    rules: &RuleBase,
) -> NodeFacts {
    let mut facts = rules.environment.facts(tally, plan.zone, &rules.signals);
    facts.zone = clock.zone(facts.zone);
    // An hour that summer takes away is no silence.
    let zone = facts.zone;
    facts
        .tally
        .gaps
        .retain(|&(from, to)| zone.elapsed(from, to) >= GAP);
    facts.wal = found.unwrap_or_default();
    rules.count_wal(&mut facts);
    rules.leave_explained(&mut facts);
    facts
}

/// Puts the analysis together.
pub(super) fn assemble(
    looked: Looked,
    read: Read,
    sampled: &[(String, WalProblem)],
    plan: &Plan,
    rules: &RuleBase,
) -> Analysis {
    let Read {
        nodes,
        wals,
        tests,
        listed,
        found,
    } = read;
    let mut facts: BTreeMap<usize, ArtifactFacts> = BTreeMap::new();
    let mut tallies: Vec<NodeTally> = Vec::new();
    for node in nodes {
        for (at, found) in node.artifacts {
            facts.entry(at).or_default().absorb(found);
        }
        tallies.push(node.tally);
        tallies.extend(node.others);
    }
    looked.note_faults(&mut facts, &wals, &tests);
    for (at, lines) in found {
        facts.entry(at).or_default().found = lines;
    }
    for (at, lines) in listed.lines {
        facts.entry(at).or_default().lines = lines;
    }
    for (at, fault) in listed.faults {
        facts.entry(at).or_default().problems.push(fault);
    }
    let sampled = sampled.iter().map(|(node, problem)| {
        let node = (".".to_owned(), node.clone());
        (node, problem.clone())
    });
    let told = listed.problems.into_iter().chain(sampled);
    let mut problems = looked.wal_problems(&wals, told, |run, node, is_checked| {
        let mut tally = rules.tally(run, node);
        tally.seen.wal = is_checked;
        tallies.push(tally);
    });
    let clock = |tally: &NodeTally| {
        let node = (tally.run.clone(), tally.node.clone());
        (node, looked.clock(tally))
    };
    let mut clocks: BTreeMap<(String, String), Clock> = tallies.iter().map(clock).collect();
    let inputs = looked
        .artifacts
        .into_iter()
        .enumerate()
        .map(|(index, seen)| seen.facts(facts.remove(&index).unwrap_or_default()));
    let inputs: Vec<InputFacts> = inputs.collect();
    let nodes: Vec<NodeFacts> = joined(tallies)
        .into_iter()
        .map(|tally| {
            let found = problems.remove(&(tally.run.clone(), tally.node.clone()));
            let clock = clocks.remove(&(tally.run.clone(), tally.node.clone()));
            node_facts(tally, clock.unwrap_or_default(), found, plan, rules)
        })
        .collect();
    let conclusions = rules.conclude(&nodes, plan.profile.as_deref());
    let tests = outcome::conclude(tests, &nodes, &conclusions, rules);
    Analysis {
        inputs,
        refused: looked.refused.into_iter().map(refused_facts).collect(),
        period: plan.period,
        nodes,
        conclusions,
        comparisons: compare(&wals),
        wals,
        tests,
    }
}

/// What is wrong with the WALs of each run and node.
type NodeProblems = BTreeMap<(String, String), Vec<WalProblem>>;

fn refused_facts(refused: Refused) -> RefusedFacts {
    RefusedFacts {
        path: refused.path,
        why: refused.why,
        partial: refused.partial,
    }
}

/// One tally per node of a run, in order; a tally that nothing was counted in is left out beside another.
fn joined(tallies: Vec<NodeTally>) -> Vec<NodeTally> {
    let mut nodes: BTreeMap<(String, String), NodeTally> = BTreeMap::new();
    for tally in tallies {
        match nodes.entry((tally.run.clone(), tally.node.clone())) {
            Entry::Vacant(place) => drop(place.insert(tally)),
            Entry::Occupied(mut known) => known.get_mut().absorb(tally),
        }
    }
    nodes.into_values().collect()
}
