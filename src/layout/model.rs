//! The common model of a WAL, whatever system wrote it: segments, what is wrong with them, what only looks wrong.

use serde::Deserialize;

use crate::vocab::{Lsn, LsnNotation, LsnRange, Term};

/// A checked WAL: one folder's segments of one layout.
#[derive(Debug, Clone)]
pub struct Wal {
    /// The folder, as it was given or found.
    pub path: String,
    /// The server it belongs to, as far as the path tells.
    pub node: String,
    /// The folder that holds the servers it was found with: servers of different runs are different.
    pub run: String,
    /// The layout's name.
    pub layout: String,
    /// How the system writes a position.
    pub notation: LsnNotation,
    /// Whether a position is the same record on every server.
    pub is_replicated: bool,
    /// Which cluster or log the segments say they belong to.
    pub identity: Option<String>,
    /// Verified frames in all segments.
    pub records: u64,
    /// The segments, in the order in which the system reads them.
    pub segments: Vec<Segment>,
    /// What is wrong, in the order of segments and offsets.
    pub problems: Vec<Problem>,
    /// What is legal and looks wrong, in the same order.
    pub notes: Vec<Note>,
    /// What could not be read, so that nothing is said about it.
    pub unread: Vec<Unread>,
    /// Positions that exist where the system looks for them.
    pub found: Vec<LsnRange>,
    /// The same by segment, with the segment's place in `segments`, in the order of positions.
    pub placed: Vec<(LsnRange, usize)>,
    /// Positions that exist in a segment where nobody looks for them, with that segment's place in `segments`.
    pub misfiled: Vec<(LsnRange, usize)>,
    /// Positions that should exist and do not.
    pub missing: Vec<LsnRange>,
    /// Stretches of one term, in order of position, as a reader of the whole log ends up with them.
    pub stretches: Vec<Stretch>,
    /// Positions that the system finds in a snapshot instead.
    pub in_snapshot: Vec<LsnRange>,
}

impl Wal {
    /// The worst that was found.
    pub fn verdict(&self) -> Verdict {
        self.problems
            .iter()
            .map(|problem| problem.severity.verdict())
            .max()
            .unwrap_or(Verdict::Clean)
    }

    /// The highest position in any segment.
    pub fn tip(&self) -> Option<Lsn> {
        self.segments
            .iter()
            .filter_map(|segment| segment.max_lsn)
            .max()
    }
}

/// The answer of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// A server has nothing to repair at its next start.
    Clean,
    /// An unfinished end that the server itself repairs without losing anything acknowledged.
    CrashResidue,
    /// Anything else.
    Damaged,
}

impl Verdict {
    /// The word in reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Clean => "clean",
            Self::CrashResidue => "crash-residue",
            Self::Damaged => "damaged",
        }
    }
}

/// A segment file and what one pass over it found.
#[derive(Debug, Clone)]
pub struct Segment {
    /// File name.
    pub file: String,
    /// The number in its name.
    pub name_seq: Option<u64>,
    /// The first position by its name.
    pub name_lsn: Option<Lsn>,
    /// The last position by its name.
    pub name_last: Option<Lsn>,
    /// Bytes of the file.
    pub size: u64,
    /// Verified frames of every sort.
    pub records: u64,
    /// Verified records of the log.
    pub entries: u64,
    /// The first record's position.
    pub first_lsn: Option<Lsn>,
    /// The last record's position.
    pub last_lsn: Option<Lsn>,
    /// The highest position.
    pub max_lsn: Option<Lsn>,
    /// Where the last verified frame ends.
    pub end_offset: u64,
    /// What stands behind it.
    pub tail: &'static str,
    /// How many zero bytes that is, if it is zero bytes.
    pub zero_tail_bytes: Option<u64>,
    /// The highest committed position it states.
    pub commit: Option<Lsn>,
}

/// Consecutive positions of one term.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stretch {
    /// Which.
    pub range: LsnRange,
    /// The term, where the layout has one.
    pub term: Option<Term>,
}

/// Something wrong.
#[derive(Debug, Clone)]
pub struct Problem {
    /// What sort of wrong.
    pub kind: ProblemKind,
    /// Whether a crash explains it.
    pub severity: Severity,
    /// The segment it shows in, by its place in [`Wal::segments`].
    pub segment: usize,
    /// Where in it.
    pub offset: Option<u64>,
    /// The position it is about.
    pub lsn: Option<Lsn>,
    /// The last position it is about.
    pub lsn_to: Option<Lsn>,
    /// The position that was expected there.
    pub expected: Option<Lsn>,
    /// The segment that should hold it.
    pub belongs_in: Option<String>,
    /// What was seen.
    pub detail: String,
    /// What follows from it, for whom.
    pub consequence: String,
}

/// How a problem counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// The server repairs it and loses nothing acknowledged.
    CrashResidue,
    /// It does not.
    Damage,
}

impl Severity {
    /// The word in reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::CrashResidue => "crash-residue",
            Self::Damage => "damage",
        }
    }

    fn verdict(self) -> Verdict {
        match self {
            Self::CrashResidue => Verdict::CrashResidue,
            Self::Damage => Verdict::Damaged,
        }
    }
}

/// The sorts of problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProblemKind {
    /// Records stand in a segment where nobody looks for them.
    Misfiled,
    /// The first record is not the one in the segment's name.
    NameMismatch,
    /// Positions are left out inside a segment.
    Jump,
    /// Positions are left out between two segments.
    Gap,
    /// Positions are in no segment.
    MissingRange,
    /// The numbers of the segments have a hole.
    MissingSegment,
    /// A position exists twice.
    Duplicate,
    /// A position, or a term, goes back.
    Backward,
    /// A record's content is not what it was written as.
    Checksum,
    /// The running checksum does not go on from the segment before.
    ChainBreak,
    /// A record that cannot be one.
    CorruptRecord,
    /// An unfinished record at the end of the log.
    TornTail,
    /// An unfinished record in a segment that others follow.
    TornMiddle,
    /// A segment without bytes before others.
    EmptySegment,
    /// A last segment without bytes.
    EmptyLastSegment,
    /// A header that is not this layout's, or of an unknown version.
    BadHeader,
    /// Two statements about the log contradict each other.
    MetadataConflict,
    /// Records behind the last position in the segment's name.
    PastNameEnd,
    /// Zero bytes where the system leaves none.
    ZeroTail,
}

impl ProblemKind {
    /// All kinds, in the order of the documentation.
    pub const ALL: [Self; 19] = [
        Self::Misfiled,
        Self::NameMismatch,
        Self::Jump,
        Self::Gap,
        Self::MissingRange,
        Self::MissingSegment,
        Self::Duplicate,
        Self::Backward,
        Self::Checksum,
        Self::ChainBreak,
        Self::CorruptRecord,
        Self::TornTail,
        Self::TornMiddle,
        Self::EmptySegment,
        Self::EmptyLastSegment,
        Self::BadHeader,
        Self::MetadataConflict,
        Self::PastNameEnd,
        Self::ZeroTail,
    ];

    /// The word in reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Misfiled => "misfiled",
            Self::NameMismatch => "name-mismatch",
            Self::Jump => "jump",
            Self::Gap => "gap",
            Self::MissingRange => "missing-range",
            Self::MissingSegment => "missing-segment",
            Self::Duplicate => "duplicate",
            Self::Backward => "backward",
            Self::Checksum => "checksum",
            Self::ChainBreak => "chain-break",
            Self::CorruptRecord => "corrupt-record",
            Self::TornTail => "torn-tail",
            Self::TornMiddle => "torn-middle",
            Self::EmptySegment => "empty-segment",
            Self::EmptyLastSegment => "empty-last-segment",
            Self::BadHeader => "bad-header",
            Self::MetadataConflict => "metadata-conflict",
            Self::PastNameEnd => "past-name-end",
            Self::ZeroTail => "zero-tail",
        }
    }

    /// What the kind means, in one sentence.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Misfiled => {
                "Records stand only in a segment that a reader choosing by name does not open for them."
            }
            Self::NameMismatch => "The first record of a segment is not the one its name promises.",
            Self::Jump => "Positions are left out inside a segment.",
            Self::Gap => "Positions are left out between two segments.",
            Self::MissingRange => "Positions that have to exist are in no segment.",
            Self::MissingSegment => "The numbers of the segments have a hole.",
            Self::Duplicate => {
                "A position was written twice and nothing allows that; if one of the places is none that a reader by name opens, it is told there."
            }
            Self::Backward => "A position or a term goes back where it must not.",
            Self::Checksum => "A record's content is not what its checksum was made from.",
            Self::ChainBreak => "The running checksum does not go on from the segment before.",
            Self::CorruptRecord => "Bytes stand where a record should, and they cannot be one.",
            Self::TornTail => "The log ends inside a record.",
            Self::TornMiddle => "A segment ends inside a record although others follow.",
            Self::EmptySegment => "A segment has no content although others follow.",
            Self::EmptyLastSegment => "The last segment has no content.",
            Self::BadHeader => "A segment's header is damaged, foreign or of an unknown version.",
            Self::MetadataConflict => "Two statements about the log contradict each other.",
            Self::PastNameEnd => "A segment holds records behind the last position in its name.",
            Self::ZeroTail => "Zero bytes follow the last record, and the system never leaves any.",
        }
    }
}

/// Something legal that looks wrong.
#[derive(Debug, Clone)]
pub struct Note {
    /// What sort.
    pub kind: NoteKind,
    /// The file it is about.
    pub segment: Option<String>,
    /// The position it is about.
    pub lsn: Option<Lsn>,
    /// Why it is legal.
    pub why: String,
}

/// The sorts of note.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NoteKind {
    /// A file that is no segment.
    IgnoredFile,
    /// Positions written again as the system allows it.
    Rewrite,
    /// A segment begins below its name because of a rewrite.
    FirstLsnBelowName,
    /// A snapshot record stands for the positions left out.
    JumpExplainedBySnapshot,
    /// A snapshot file stands for the positions left out.
    GapExplainedBySnapshot,
    /// A new epoch begins.
    EpochChange,
    /// The log does not begin at its beginning: older segments were purged.
    HeadTruncated,
    /// An unfinished record in a segment whose successor goes on with it.
    TornTailOfClosedSegment,
    /// A segment ends before the last position in its name.
    ShortOfNameEnd,
    /// A segment without content, where that is legal.
    EmptySegment,
    /// A segment without records of the log.
    NoRecords,
    /// Bytes behind the end mark.
    DataAfterZeros,
    /// Records that the file beside the segments no longer counts.
    RecordsBeyondMaxIndex,
    /// The numbers of the segments leave some out, and need not have them.
    NumberHole,
    /// A segment that was used before and has nothing of the log yet.
    RecycledSegment,
    /// A segment that was made ahead and never written to.
    ZeroSegment,
    /// What was in the file before stands behind the end of the log.
    StalePage,
    /// A new timeline begins.
    TimelineSwitch,
    /// Something worth knowing.
    Info,
}

impl NoteKind {
    /// The word in reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::IgnoredFile => "ignored-file",
            Self::Rewrite => "rewrite",
            Self::FirstLsnBelowName => "first-lsn-below-name",
            Self::JumpExplainedBySnapshot => "jump-explained-by-snapshot",
            Self::GapExplainedBySnapshot => "gap-explained-by-snapshot",
            Self::EpochChange => "epoch-change",
            Self::HeadTruncated => "head-truncated",
            Self::TornTailOfClosedSegment => "torn-tail-of-closed-segment",
            Self::ShortOfNameEnd => "short-of-name-end",
            Self::EmptySegment => "empty-segment",
            Self::NoRecords => "no-records",
            Self::DataAfterZeros => "data-after-zeros",
            Self::RecordsBeyondMaxIndex => "records-beyond-max-index",
            Self::NumberHole => "number-hole",
            Self::RecycledSegment => "recycled-segment",
            Self::ZeroSegment => "zero-segment",
            Self::StalePage => "stale-page",
            Self::TimelineSwitch => "timeline-switch",
            Self::Info => "info",
        }
    }
}

/// A file that could not be read, or not whole.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unread {
    /// Which.
    pub path: String,
    /// Why.
    pub detail: String,
}
