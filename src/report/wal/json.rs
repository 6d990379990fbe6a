//! The check as JSON: the `wal` part of `report.json`, alone in a document of the same schema.

use std::io::{self, Write};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::layout::{Comparison, Inspection, Problem, Segment, Unread, Wal};
use crate::vocab::{Lsn, LsnNotation, LsnRange};

/// The schema of the document; a full report has the same name and more in it.
const SCHEMA: &str = "casdiag.report/1";

/// What `wal-layout-check --format json` writes.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CheckDocument {
    /// `casdiag.report/1`.
    pub schema: &'static str,
    /// Who wrote it.
    pub tool: ToolRow,
    /// Whether everything that was recognized could be read whole.
    pub complete: bool,
    /// The worst verdict of all WALs; none where none was found.
    pub verdict: Option<&'static str>,
    /// The WALs.
    pub wal: Vec<WalRow>,
    /// What stood beside them and was not recognized.
    pub unknown: Vec<UnknownRow>,
    /// What could not be read.
    pub unread: Vec<UnreadRow>,
    /// The nodes of each log side by side.
    pub nodes: Vec<ComparisonRow>,
}

/// Name and version of the program.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ToolRow {
    /// `casdiag`.
    pub name: &'static str,
    /// Its version.
    pub version: &'static str,
}

/// A position in the system's own notation: a number, or text where the system writes hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum LsnValue {
    /// As a number.
    Number(u64),
    /// As the system writes it.
    Text(String),
}

impl LsnValue {
    /// The position as a number, where the system writes it as one.
    pub fn as_number(&self) -> Option<u64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Text(_) => None,
        }
    }

    /// The position, unless the text is none.
    pub(in crate::report) fn number(&self) -> Option<Lsn> {
        match self {
            Self::Number(number) => Some(Lsn(*number)),
            Self::Text(text) => Lsn::parse(text),
        }
    }
}

/// One WAL.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WalRow {
    /// The folder.
    pub path: String,
    /// The run: in a full report as of any input, of a check alone the folder that holds the nodes.
    pub run: String,
    /// The node, as far as the path tells.
    pub node: String,
    /// The layout's name.
    pub layout: String,
    /// Which cluster or log the segments say they belong to.
    pub identity: Option<String>,
    /// `clean`, `crash-residue` or `damaged`.
    pub verdict: String,
    /// Verified frames in all segments.
    pub records: u64,
    /// The position that a recovery ends at.
    pub end_lsn: Option<LsnValue>,
    /// The segments.
    pub segments: Vec<SegmentRow>,
    /// What is wrong.
    pub problems: Vec<ProblemRow>,
    /// What is legal and looks wrong.
    pub notes: Vec<NoteRow>,
    /// Ranges that a reader choosing by name finds, each in one segment, in the order of positions.
    pub found: Vec<FoundRow>,
    /// Ranges that stand only where no such reader looks.
    pub misfiled: Vec<FoundRow>,
    /// Ranges that are in no segment.
    pub missing: Vec<[LsnValue; 2]>,
    /// Ranges that the system finds in a snapshot instead.
    pub in_snapshot: Vec<[LsnValue; 2]>,
    /// What could not be read.
    pub unread: Vec<UnreadRow>,
}

/// Where a range of positions stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FoundRow {
    /// First and last position.
    pub range: [LsnValue; 2],
    /// The segment.
    pub segment: String,
}

/// One segment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SegmentRow {
    /// File name.
    pub file: String,
    /// The number in the name.
    pub name_seq: Option<u64>,
    /// The first position by the name.
    pub name_lsn: Option<LsnValue>,
    /// The last position by the name.
    pub name_last: Option<LsnValue>,
    /// Bytes of the file.
    pub size: u64,
    /// Verified frames of every sort.
    pub records: u64,
    /// Verified records of the log.
    pub entries: u64,
    /// The first record's position.
    pub first_lsn: Option<LsnValue>,
    /// The last record's position.
    pub last_lsn: Option<LsnValue>,
    /// The highest position.
    pub max_lsn: Option<LsnValue>,
    /// Where the last verified frame ends, in decompressed bytes.
    pub end_offset: u64,
    /// What stands behind it.
    pub tail: String,
    /// How many zero bytes that is.
    pub zero_tail_bytes: Option<u64>,
    /// The highest committed position it states.
    pub commit: Option<LsnValue>,
}

/// One problem.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProblemRow {
    /// What sort.
    pub kind: String,
    /// `damage` or `crash-residue`.
    pub severity: String,
    /// The segment.
    pub segment: String,
    /// Where in it.
    pub offset: Option<u64>,
    /// The position it is about.
    pub lsn: Option<LsnValue>,
    /// The last position it is about.
    pub lsn_to: Option<LsnValue>,
    /// The position that was expected.
    pub expected: Option<LsnValue>,
    /// The segment that should hold it.
    pub belongs_in: Option<String>,
    /// What was seen.
    pub detail: String,
    /// What follows from it.
    pub consequence: String,
}

/// One note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NoteRow {
    /// What sort.
    pub kind: String,
    /// The file.
    pub segment: Option<String>,
    /// The position.
    pub lsn: Option<LsnValue>,
    /// Why it is legal.
    pub why: String,
}

/// A file that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnreadRow {
    /// Which.
    pub path: String,
    /// Why.
    pub detail: String,
}

/// A folder without a WAL of a known layout.
#[derive(Debug, Serialize, JsonSchema)]
pub struct UnknownRow {
    /// Where.
    pub path: String,
    /// How many files are in it.
    pub files: u64,
    /// One of them.
    pub example: String,
    /// What its names look like.
    pub resembles: Option<&'static str>,
}

/// The nodes of one log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ComparisonRow {
    /// The layout's name.
    pub layout: String,
    /// Which cluster or log.
    pub identity: Option<String>,
    /// What each node has.
    pub nodes: Vec<ReachRow>,
    /// Each failover that would not go well.
    pub stalls: Vec<StallRow>,
}

/// What one node has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReachRow {
    /// The node.
    pub node: String,
    /// Ranges found where names send a reader.
    pub found: Vec<[LsnValue; 2]>,
    /// Where a recovery ends.
    pub end: Option<LsnValue>,
    /// The highest position in any segment.
    pub tip: Option<LsnValue>,
    /// The lowest position from which on it can serve a standby to its tip.
    pub serves_from: Option<LsnValue>,
}

/// A failover that would not go well.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StallRow {
    /// The node that becomes primary.
    pub primary: String,
    /// The node that has to be caught up.
    pub standby: String,
    /// Where the standby is.
    pub at: LsnValue,
    /// The range it needs and does not get.
    pub lacks: [LsnValue; 2],
    /// The segment that holds the range all the same.
    pub held_by: Option<String>,
}

/// The WALs as rows, for a report that has more in it.
pub fn rows(wals: &[Wal]) -> Vec<WalRow> {
    wals.iter().map(wal_row).collect()
}

/// Nodes side by side as rows.
pub fn comparison_rows(comparisons: &[Comparison]) -> Vec<ComparisonRow> {
    comparisons.iter().map(comparison_row).collect()
}

pub(super) fn write(
    inspection: &Inspection,
    _is_strict: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let document = CheckDocument {
        schema: SCHEMA,
        tool: ToolRow {
            name: env!("CARGO_PKG_NAME"),
            version: env!("CARGO_PKG_VERSION"),
        },
        complete: inspection.is_complete(),
        verdict: (!inspection.wals.is_empty()).then(|| inspection.verdict().word()),
        wal: rows(&inspection.wals),
        unknown: inspection.unknown.iter().map(unknown_row).collect(),
        unread: inspection.unread.iter().map(unread_row).collect(),
        nodes: comparison_rows(&inspection.comparisons),
    };
    serde_json::to_writer_pretty(&mut *out, &document).map_err(io::Error::from)?;
    writeln!(out)
}

fn value(notation: LsnNotation, lsn: Lsn) -> LsnValue {
    match notation {
        LsnNotation::Decimal => LsnValue::Number(lsn.0),
        LsnNotation::Hex | LsnNotation::Halves => LsnValue::Text(notation.show(lsn).to_string()),
    }
}

fn wal_row(wal: &Wal) -> WalRow {
    let value = |lsn| value(wal.notation, lsn);
    let range = |range: &LsnRange| [value(range.first), value(range.last)];
    let place = |(at, segment): &(LsnRange, usize)| FoundRow {
        range: range(at),
        segment: wal
            .segments
            .get(*segment)
            .map_or_else(String::new, |segment| segment.file.clone()),
    };
    WalRow {
        path: wal.path.clone(),
        run: wal.run.clone(),
        node: wal.node.clone(),
        layout: wal.layout.clone(),
        identity: wal.identity.clone(),
        verdict: wal.verdict().word().to_owned(),
        records: wal.records,
        end_lsn: wal.end().map(|end| value(wal.notation.end(end))),
        segments: wal
            .segments
            .iter()
            .map(|segment| segment_row(wal, segment))
            .collect(),
        problems: wal
            .problems
            .iter()
            .map(|problem| problem_row(wal, problem))
            .collect(),
        notes: wal
            .notes
            .iter()
            .map(|note| NoteRow {
                kind: note.kind.word().to_owned(),
                segment: note.segment.clone(),
                lsn: note.lsn.map(value),
                why: note.why.clone(),
            })
            .collect(),
        found: wal.placed.iter().map(place).collect(),
        misfiled: wal.misfiled.iter().map(place).collect(),
        missing: wal.missing.iter().map(range).collect(),
        in_snapshot: wal.in_snapshot.iter().map(range).collect(),
        unread: wal.unread.iter().map(unread_row).collect(),
    }
}

fn segment_row(wal: &Wal, segment: &Segment) -> SegmentRow {
    let value = |lsn: Option<Lsn>| lsn.map(|lsn| value(wal.notation, lsn));
    SegmentRow {
        file: segment.file.clone(),
        name_seq: segment.name_seq,
        name_lsn: value(segment.name_lsn),
        name_last: value(segment.name_last),
        size: segment.size,
        records: segment.records,
        entries: segment.entries,
        first_lsn: value(segment.first_lsn),
        last_lsn: value(segment.last_lsn),
        max_lsn: value(segment.max_lsn),
        end_offset: segment.end_offset,
        tail: segment.tail.to_owned(),
        zero_tail_bytes: segment.zero_tail_bytes,
        commit: value(segment.commit),
    }
}

fn problem_row(wal: &Wal, problem: &Problem) -> ProblemRow {
    let value = |lsn: Option<Lsn>| lsn.map(|lsn| value(wal.notation, lsn));
    ProblemRow {
        kind: problem.kind.word().to_owned(),
        severity: problem.severity.word().to_owned(),
        segment: super::file(wal, problem).to_owned(),
        offset: problem.offset,
        lsn: value(problem.lsn),
        lsn_to: value(problem.lsn_to),
        expected: value(problem.expected),
        belongs_in: problem.belongs_in.clone(),
        detail: problem.detail.clone(),
        consequence: problem.consequence.clone(),
    }
}

fn unread_row(unread: &Unread) -> UnreadRow {
    UnreadRow {
        path: unread.path.clone(),
        detail: unread.detail.clone(),
    }
}

fn unknown_row(unknown: &crate::layout::Unknown) -> UnknownRow {
    UnknownRow {
        path: unknown.path.clone(),
        files: unknown.files,
        example: unknown.example.clone(),
        resembles: unknown.resembles,
    }
}

fn comparison_row(comparison: &Comparison) -> ComparisonRow {
    let value = |lsn| value(comparison.notation, lsn);
    ComparisonRow {
        layout: comparison.layout.clone(),
        identity: comparison.identity.clone(),
        nodes: comparison
            .nodes
            .iter()
            .map(|node| ReachRow {
                node: node.node.clone(),
                found: node
                    .found
                    .iter()
                    .map(|range| [value(range.first), value(range.last)])
                    .collect(),
                end: node.end.map(|end| value(comparison.notation.end(end))),
                tip: node.tip.map(value),
                serves_from: node.serves_from.map(value),
            })
            .collect(),
        stalls: comparison
            .forecasts
            .iter()
            .map(|forecast| StallRow {
                primary: forecast.primary.clone(),
                standby: forecast.standby.clone(),
                at: value(forecast.at),
                lacks: [value(forecast.lacks.first), value(forecast.lacks.last)],
                held_by: forecast.held_by.clone(),
            })
            .collect(),
    }
}
