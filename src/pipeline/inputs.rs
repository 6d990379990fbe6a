//! What is known of the inputs before the scan, and what the scan adds.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io::Read;
use std::sync::atomic::Ordering;

use rayon::prelude::*;

use super::copies::{Piece, Side, copies};
use super::wal::Wals;
use super::{Plan, Progress};
use crate::analysis::{Analysis, InputFacts, InputFault, RefusedFacts, SEGMENT};
use crate::intake::{
    Artifact, Encoding, Found, Names, Place, Refused, Role, place_all, place_beside,
};
use crate::layout::{Choice, Wal, compare};
use crate::parsers::{Format, sniff};
use crate::rules::{NodeFacts, RuleBase, WalProblem};
use crate::scan::{GrepCounts, ProblemKind, Scan};
use crate::signals::tally::NodeTally;
use crate::streams::{Log, Source, plan as plan_logs};
use crate::time::Timestamp;

/// The artifacts, each looked at once.
pub(super) struct Looked {
    artifacts: Vec<Seen>,
    refused: Vec<Refused>,
    pub(super) wals: Wals,
}

struct Seen {
    artifact: Artifact,
    place: Place,
    format: Option<Format>,
    is_segment: bool,
    /// Why it is not read though it is there.
    skipped: Option<InputFault>,
}

/// What the scan found in one artifact.
#[derive(Debug, Default)]
pub(super) struct ArtifactFacts {
    pub(super) lines: u64,
    pub(super) error: Option<String>,
    records: u64,
    span: Option<(Timestamp, Timestamp)>,
    grep: GrepCounts,
    problems: Vec<InputFault>,
}

/// What the scan found of one node.
#[derive(Debug)]
pub(super) struct NodeScan {
    pub(super) tally: NodeTally,
    /// Nodes that lines of its logs name.
    pub(super) others: Vec<NodeTally>,
    pub(super) artifacts: BTreeMap<usize, ArtifactFacts>,
}

impl ArtifactFacts {
    /// Adds a block, in order.
    pub(super) fn add(&mut self, scan: &Scan) {
        if scan.unparsed_lines > 0 {
            self.note(ProblemKind::UnparsedLines, self.lines, scan.unparsed_lines);
        }
        for problem in &scan.problems {
            self.note(problem.kind, self.lines + problem.line, problem.count);
        }
        self.lines += scan.lines;
        self.records += scan.records;
        self.grep.add(scan.grep);
        if let Some((low, high)) = scan.span {
            self.span = Some(
                self.span
                    .map_or((low, high), |(a, b)| (a.min(low), b.max(high))),
            );
        }
    }

    /// Notes a fault whose first line, from 0, is `line`.
    fn note(&mut self, kind: ProblemKind, line: u64, count: u64) {
        match self
            .problems
            .iter_mut()
            .find(|problem| problem.kind == kind)
        {
            Some(problem) => problem.count += count,
            None => self.problems.push(InputFault {
                kind,
                line: Some(line + 1),
                count,
                detail: String::new(),
            }),
        }
    }
}

/// What the first bytes of an artifact tell.
struct Sniffed {
    format: Option<Format>,
    /// The node that its lines name, if they name one.
    node: Option<String>,
    encoding: Encoding,
    /// The first few bytes, to know the same piece packed and unpacked.
    start: Vec<u8>,
    unreadable: Option<InputFault>,
}

/// How many bytes tell whether two artifacts are the same piece.
const START_BYTES: usize = 512;

/// Endings of files that may quote a log.
const DOCUMENTS: &[&str] = &[
    "md", "markdown", "rst", "html", "htm", "json", "xml", "csv", "tsv", "yaml", "yml", "toml",
    "sql", "py", "sh", "rs", "cpp",
];

fn sniffed(artifact: &Artifact, rules: &RuleBase) -> Sniffed {
    match artifact.sample() {
        Ok((sample, encoding)) => {
            let format = sniff(&sample, &rules.formats)
                .filter(|_| !is_document(&artifact.path))
                .or_else(|| empty_log(artifact, &sample));
            Sniffed {
                format,
                node: format.and_then(|format| format.only_node(&sample)),
                encoding,
                unreadable: illegible(artifact, format),
                start: sample[..sample.len().min(START_BYTES)].to_vec(),
            }
        }
        Err(error) => Sniffed {
            format: None,
            node: None,
            encoding: Encoding::Plain,
            start: Vec::new(),
            unreadable: Some(fault(ProblemKind::Unreadable, &error)),
        },
    }
}

/// How many bytes of something of that name that begins like this are ever read.
pub(super) fn useful(name: &str, start: &[u8], choice: &Choice, rules: &RuleBase) -> u64 {
    if choice.names_segment(name.rsplit('/').next().unwrap_or_default()) {
        return u64::MAX;
    }
    sniff(start, &rules.formats).map_or(0, |format| format.spec().head_bytes.unwrap_or(u64::MAX))
}

/// Tells every artifact's format and place.
pub(super) fn look(found: Found, plan: &Plan, rules: &RuleBase) -> Looked {
    let sniffed: Vec<Sniffed> = found
        .artifacts
        .par_iter()
        .map(|artifact| sniffed(artifact, rules))
        .collect();
    let is_log = |at: usize| sniffed[at].format.is_some();
    let mut wals = Wals::among(&found.artifacts, is_log, &plan.layout);
    let is_segment = wals.is_segment(found.artifacts.len());
    let places = places(
        &found.artifacts,
        &mut wals,
        &is_segment,
        &sniffed,
        &plan.names,
    );
    let mut artifacts: Vec<Seen> = Vec::new();
    let mut pieces: BTreeMap<Side, Vec<Piece>> = BTreeMap::new();
    let seen = found.artifacts.into_iter().zip(places).zip(is_segment);
    for (((artifact, place), is_segment), sniffed) in seen.zip(sniffed) {
        let Sniffed {
            format,
            node: _,
            encoding,
            start,
            unreadable,
        } = sniffed;
        let (format, unreadable) = if is_segment {
            (None, None)
        } else {
            (format, unreadable)
        };
        if let Some(format) = format {
            let side = (place.run.clone(), place.node.clone(), format, place.role);
            pieces.entry(side).or_default().push(Piece {
                artifact: artifacts.len(),
                rotation: place.piece,
                encoding,
                bytes: artifact.bytes,
                start,
            });
        }
        artifacts.push(Seen {
            artifact,
            place,
            format,
            is_segment,
            skipped: unreadable,
        });
    }
    for (copy, whole) in copies(pieces) {
        let path = &artifacts[whole].artifact.path;
        let detail = format!("it begins like {path} and is not read a second time");
        artifacts[copy].skipped = Some(InputFault::of(ProblemKind::DuplicatePiece, detail));
    }
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

/// The place of every artifact: segments and files that are no logs are placed by the logs beside them, and name no run or
/// node of a log.
fn places(
    artifacts: &[Artifact],
    wals: &mut Wals,
    is_segment: &[bool],
    sniffed: &[Sniffed],
    names: &Names,
) -> Vec<Place> {
    let (logs, others): (Vec<usize>, Vec<usize>) = (0..artifacts.len())
        .filter(|&at| !is_segment[at])
        .partition(|&at| sniffed[at].format.is_some());
    let of = |some: &[usize]| some.iter().map(|&at| &artifacts[at]).collect::<Vec<_>>();
    let told: Vec<Option<&str>> = logs.iter().map(|&at| sniffed[at].node.as_deref()).collect();
    let placed = place_all(&of(&logs), &told, names);
    let beside: Vec<(&Artifact, &Place)> = of(&logs).into_iter().zip(&placed).collect();
    let mut places = wals.place(artifacts, &beside, names);
    let seen = place_beside(&of(&others), &beside, names);
    places.extend(others.into_iter().zip(seen).map(|(at, (run, node))| {
        let place = Place {
            run,
            node,
            log: String::new(),
            role: Role::Main,
            piece: None,
        };
        (at, place)
    }));
    places.extend(logs.into_iter().zip(placed));
    places.into_values().collect()
}

/// Whether a file quotes logs and is none: a ticket, a report, a table.
fn is_document(path: &str) -> bool {
    let (_, ending) = path.rsplit_once('.').unwrap_or_default();
    DOCUMENTS.iter().any(|it| ending.eq_ignore_ascii_case(it))
}

/// A file that is named like a server's log and does not begin like one.
fn illegible(artifact: &Artifact, format: Option<Format>) -> Option<InputFault> {
    let name = artifact.path.rsplit('/').next().unwrap_or_default();
    let is_named = name.starts_with("clickhouse-server") && name.contains(".log");
    (format.is_none() && is_named).then(|| {
        let detail = "named like a server's log, but no record begins in its first 64 KiB";
        InputFault::of(ProblemKind::Unreadable, detail.to_owned())
    })
}

/// A log's empty file is a log: an empty err.log says that nothing went wrong.
fn empty_log(artifact: &Artifact, sample: &[u8]) -> Option<Format> {
    let name = artifact.path.rsplit('/').next().unwrap_or_default();
    let is_log = name.to_ascii_lowercase().ends_with(".log") && name.contains("clickhouse");
    (sample.is_empty() && is_log).then_some(Format::CLICKHOUSE)
}

fn fault(kind: ProblemKind, error: &dyn std::error::Error) -> InputFault {
    let why = error
        .source()
        .map_or_else(String::new, |why| format!(": {why}"));
    InputFault::of(kind, format!("{error}{why}"))
}

impl Looked {
    /// Stored bytes of what will be read.
    pub(super) fn bytes(&self) -> u64 {
        self.artifacts
            .iter()
            .filter(|seen| seen.is_read() || seen.is_segment)
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
        plan_logs(read.filter_map(|(artifact, seen)| {
            Some((
                seen.place.clone(),
                Source {
                    artifact,
                    format: seen.format?,
                },
            ))
        }))
    }

    /// Opens an artifact; its stored bytes are added to the progress as they are read.
    pub(super) fn open(
        &self,
        artifact: usize,
        progress: &Progress,
    ) -> Result<Box<dyn Read + Send>, String> {
        let seen = &self.artifacts[artifact];
        progress
            .done
            .fetch_add(seen.artifact.bytes, Ordering::Relaxed);
        let (reader, _) = seen
            .artifact
            .open()
            .map_err(|error| fault(ProblemKind::Unreadable, &error).detail)?;
        let bound = seen.format.and_then(|format| format.spec().head_bytes);
        Ok(match bound {
            Some(bytes) => Box::new(reader.take(bytes)),
            None => reader,
        })
    }
}

impl Seen {
    fn is_read(&self) -> bool {
        self.format.is_some() && self.skipped.is_none()
    }
}

/// Puts the analysis together.
pub(super) fn assemble(
    looked: Looked,
    nodes: Vec<NodeScan>,
    wals: Vec<Wal>,
    sampled: &[(String, WalProblem)],
    plan: &Plan,
    rules: &RuleBase,
) -> Analysis {
    let mut facts: BTreeMap<usize, ArtifactFacts> = BTreeMap::new();
    let mut tallies: Vec<NodeTally> = Vec::new();
    for node in nodes {
        facts.extend(node.artifacts);
        tallies.push(node.tally);
        tallies.extend(node.others);
    }
    for unread in wals.iter().flat_map(|wal| &wal.unread) {
        if let Some(at) = looked.wals.artifact_at(&unread.path) {
            let fault = InputFault::of(ProblemKind::Unreadable, unread.detail.clone());
            facts.entry(at).or_default().problems.push(fault);
        }
    }
    let mut problems: NodeProblems = BTreeMap::new();
    for wal in &wals {
        let found = looked.wals.problems(wal);
        problems
            .entry((wal.run.clone(), wal.node.clone()))
            .or_default()
            .extend(found);
    }
    for (node, problem) in sampled {
        let node = (".".to_owned(), node.clone());
        problems.entry(node).or_default().push(problem.clone());
    }
    for (run, node) in problems.keys() {
        let mut tally = rules.tally(run, node);
        tally.seen.wal = true;
        tallies.push(tally);
    }
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
            let mut facts = rules.environment.facts(tally, plan.zone, &rules.signals);
            facts.wal = found.unwrap_or_default();
            rules.count_wal(&mut facts);
            facts
        })
        .collect();
    let conclusions = rules.conclude(&nodes, plan.profile.as_deref());
    Analysis {
        inputs,
        refused: looked.refused.into_iter().map(refused_facts).collect(),
        period: plan.period,
        nodes,
        conclusions,
        comparisons: compare(&wals),
        wals,
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

impl Seen {
    fn facts(self, found: ArtifactFacts) -> InputFacts {
        let mut problems = found.problems;
        problems.extend(self.skipped);
        if let Some(detail) = found.error {
            problems.push(InputFault {
                kind: ProblemKind::ReadError,
                line: Some(found.lines + 1),
                count: 1,
                detail,
            });
        }
        problems.sort_by_key(|problem| (problem.kind, problem.line));
        let counts_records = self
            .format
            .is_some_and(|format| format.spec().counts_records);
        InputFacts {
            path: self.artifact.path,
            format: match self.format {
                Some(format) => Some(format.spec().name),
                None => self.is_segment.then_some(SEGMENT),
            },
            counts_records,
            run: self.place.run,
            node: self.place.node,
            bytes: self.artifact.bytes,
            records: if counts_records { found.records } else { 0 },
            lines: found.lines,
            span: found.span,
            grep: found.grep,
            problems,
        }
    }
}
