//! What is known of the inputs before the scan, and what the scan adds.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io::Read;
use std::sync::atomic::Ordering;

use rayon::prelude::*;

use super::{Plan, Progress};
use crate::analysis::{Analysis, InputFacts, InputFault, RefusedFacts};
use crate::intake::{Artifact, Encoding, Found, Place, Refused, Role, Rotation, place_all};
use crate::parsers::{Format, sniff};
use crate::rules::{NodeFacts, RuleBase};
use crate::scan::{GrepCounts, ProblemKind, Scan};
use crate::signals::tally::NodeTally;
use crate::streams::{Log, Source, plan as plan_logs};
use crate::time::Timestamp;

/// The artifacts, each looked at once.
pub(super) struct Looked {
    artifacts: Vec<Seen>,
    refused: Vec<Refused>,
}

struct Seen {
    artifact: Artifact,
    place: Place,
    format: Option<Format>,
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

fn sniffed(artifact: &Artifact) -> Sniffed {
    match artifact.sample() {
        Ok((sample, encoding)) => {
            let format = sniff(&sample)
                .filter(|_| !is_document(&artifact.path))
                .or_else(|| empty_log(artifact, &sample));
            Sniffed {
                format,
                encoding,
                unreadable: illegible(artifact, format),
                start: sample[..sample.len().min(START_BYTES)].to_vec(),
            }
        }
        Err(error) => Sniffed {
            format: None,
            encoding: Encoding::Plain,
            start: Vec::new(),
            unreadable: Some(fault(ProblemKind::Unreadable, &error)),
        },
    }
}

/// How many bytes of something that begins like this are ever read.
pub(super) fn useful(start: &[u8]) -> u64 {
    sniff(start).map_or(0, |format| format.spec().head_bytes.unwrap_or(u64::MAX))
}

/// Tells every artifact's format and place.
pub(super) fn look(found: Found, plan: &Plan) -> Looked {
    let sniffed: Vec<Sniffed> = found.artifacts.par_iter().map(sniffed).collect();
    let places = place_all(&found.artifacts, &plan.names);
    let mut artifacts: Vec<Seen> = Vec::new();
    let mut pieces: BTreeMap<Side, Vec<Piece>> = BTreeMap::new();
    for ((artifact, place), sniffed) in found.artifacts.into_iter().zip(places).zip(sniffed) {
        let Sniffed {
            format,
            encoding,
            start,
            unreadable,
        } = sniffed;
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
            skipped: unreadable,
        });
    }
    leave_copies(&mut artifacts, pieces);
    Looked {
        artifacts,
        refused: found.refused,
    }
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
    (format.is_none() && is_named).then(|| InputFault {
        kind: ProblemKind::Unreadable,
        line: None,
        count: 1,
        detail: "named like a server's log, but no record begins in its first 64 KiB".to_owned(),
    })
}

/// A log's empty file is a log: an empty err.log says that nothing went wrong.
fn empty_log(artifact: &Artifact, sample: &[u8]) -> Option<Format> {
    let name = artifact.path.rsplit('/').next().unwrap_or_default();
    let is_log = name.to_ascii_lowercase().ends_with(".log") && name.contains("clickhouse");
    (sample.is_empty() && is_log).then_some(Format::ClickHouse)
}

/// The files of one log of which one may repeat another: those that stand side by side in the same role.
type Side = (String, String, Format, Role);

/// An artifact that holds a piece of a log.
struct Piece {
    artifact: usize,
    rotation: Option<Rotation>,
    encoding: Encoding,
    bytes: u64,
    start: Vec<u8>,
}

impl Piece {
    /// Whether both begin with the same record. Only stamped records tell that: two starts of a server may print the
    /// same on its standard error.
    fn repeats(&self, other: &Self, format: Format) -> bool {
        let shorter = self.start.len().min(other.start.len());
        let is_told = format.spec().counts_records || self.rotation == other.rotation;
        is_told
            && self.start[..shorter].contains(&b'\n')
            && self.start[..shorter] == other.start[..shorter]
    }

    /// Which of two equal beginnings has the whole piece. Of one piece the plain file: a server that dies while it packs
    /// leaves both, the packed one incomplete. Otherwise the older one, which is no longer written, or the longer one.
    fn wholeness(&self, other: &Self) -> (bool, bool, u64) {
        let same = self.rotation == other.rotation;
        (
            same && self.encoding == Encoding::Plain,
            !same && self.rotation.is_some_and(|it| it != Rotation::Aside),
            if self.encoding == other.encoding {
                self.bytes
            } else {
                0
            },
        )
    }
}

/// The same piece twice, packed and plain, or collected while it was rotated, or set aside: one of them is read.
fn leave_copies(artifacts: &mut [Seen], pieces: BTreeMap<Side, Vec<Piece>>) {
    for ((_, _, format, _), mut pieces) in pieces {
        // What begins alike stands beside each other, and the rest is not compared.
        pieces.sort_by(|a, b| a.start.cmp(&b.start));
        let mut kept: Option<Piece> = None;
        for piece in pieces {
            let Some(other) = kept.take() else {
                kept = Some(piece);
                continue;
            };
            if !piece.repeats(&other, format) {
                kept = Some(piece);
                continue;
            }
            let is_better = piece.wholeness(&other) > other.wholeness(&piece);
            let (whole, copy) = if is_better {
                (piece, other)
            } else {
                (other, piece)
            };
            let path = &artifacts[whole.artifact].artifact.path;
            let detail = format!("it begins like {path} and is not read a second time");
            artifacts[copy.artifact].skipped = Some(InputFault {
                kind: ProblemKind::DuplicatePiece,
                line: None,
                count: 1,
                detail,
            });
            kept = Some(whole);
        }
    }
}

fn fault(kind: ProblemKind, error: &dyn std::error::Error) -> InputFault {
    let why = error
        .source()
        .map_or_else(String::new, |why| format!(": {why}"));
    InputFault {
        kind,
        line: None,
        count: 1,
        detail: format!("{error}{why}"),
    }
}

impl Looked {
    /// Stored bytes of what will be read.
    pub(super) fn bytes(&self) -> u64 {
        self.artifacts
            .iter()
            .filter(|seen| seen.is_read())
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
    let inputs = looked
        .artifacts
        .into_iter()
        .enumerate()
        .map(|(index, seen)| seen.facts(facts.remove(&index).unwrap_or_default()));
    let inputs: Vec<InputFacts> = inputs.collect();
    let nodes: Vec<NodeFacts> = joined(tallies)
        .into_iter()
        .map(|tally| rules.environment.facts(tally, plan.zone, &rules.signals))
        .collect();
    let conclusions = rules.conclude(&nodes, plan.profile.as_deref());
    Analysis {
        inputs,
        refused: looked.refused.into_iter().map(refused_facts).collect(),
        period: plan.period,
        nodes,
        conclusions,
    }
}

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
            format: self.format.map(|format| format.spec().name),
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
