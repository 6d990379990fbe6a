//! Write-ahead log segments: how each known system names, frames and checksums them, and which layout a file has.
//!
//! A reader walks one segment from its first byte to its last good record and hands on every frame. It judges nothing: whether a tear
//! or a hole is legal depends on the segments around it, which `layout` knows.

mod checksum;
mod declared;
mod described;
mod etcd;
mod form;
mod front;
mod keeper;
mod reference;
mod salvage;
mod trace;
mod window;
mod zookeeper;

use std::io::{self, Read};

use crate::vocab::{Lsn, LsnNotation, Term};

pub use declared::{
    Algorithm, Chain, Covers, Declaration, EndMark, Endian, Field, FieldKind, Measure, NamePart,
    Number, Pinned, Role, Step,
};
pub use window::{RECORD_BYTES_MAX, Window};

/// The layouts that are known without a description, in the order in which they are tried.
pub const LAYOUTS: &[Layout] = &[
    reference::LAYOUT,
    etcd::LAYOUT,
    zookeeper::LAYOUT,
    keeper::LAYOUT,
];

/// One system's segments: what their names say, how to recognize them, how to read them.
pub struct Layout {
    /// The name in `--layout` and in reports.
    pub id: &'static str,
    /// Whose segments these are, for people.
    pub title: &'static str,
    /// How the system writes a position.
    pub notation: LsnNotation,
    /// What a file name says; `None` if no segment is called that.
    pub name: fn(&str) -> Option<SegmentName>,
    /// The name of the segment that would begin with a position, where that can be told.
    pub name_for: fn(Lsn) -> Option<String>,
    /// Whether the system itself leaves such a file beside its segments.
    pub is_leftover: fn(&str) -> bool,
    /// The position that a snapshot file of this name stands for.
    pub snapshot: fn(&str) -> Option<Lsn>,
    /// Whether the first bytes of a file can be the beginning of a segment with records.
    pub sniff: fn(&[u8]) -> bool,
    /// Whether the name alone settles the layout, so that a folder of such names is this system's even if no content fits.
    pub is_name_enough: bool,
    read: ReadSegment,
}

type ReadSegment = fn(&mut dyn Read, &Context, &mut dyn FnMut(&Frame<'_>)) -> Scan;

/// How many bytes of a file [`Layout::sniff`] wants to see.
pub const SNIFF_BYTES: usize = 4096;

/// The layout that a WAL is read with.
#[derive(Clone)]
pub enum Format {
    /// One of [`LAYOUTS`].
    Known(&'static Layout),
    /// One that the user described.
    Declared(Box<Declaration>),
}

impl Format {
    /// The layout's name.
    pub fn id(&self) -> &str {
        match self {
            Self::Known(layout) => layout.id,
            Self::Declared(declaration) => &declaration.name,
        }
    }

    /// How the system writes a position.
    pub fn notation(&self) -> LsnNotation {
        match self {
            Self::Known(layout) => layout.notation,
            Self::Declared(_) => LsnNotation::Decimal,
        }
    }

    /// What a file name says; `None` if no segment is called that.
    pub fn name(&self, file: &str) -> Option<SegmentName> {
        match self {
            Self::Known(layout) => (layout.name)(file),
            Self::Declared(declaration) => declaration.parse_name(file),
        }
    }

    /// The name of the segment that would begin with a position, where that can be told.
    pub fn name_for(&self, lsn: Lsn) -> Option<String> {
        match self {
            Self::Known(layout) => (layout.name_for)(lsn),
            Self::Declared(declaration) => declaration.name_for(lsn),
        }
    }

    /// The position that a snapshot file of this name stands for.
    pub fn snapshot(&self, file: &str) -> Option<Lsn> {
        match self {
            Self::Known(layout) => (layout.snapshot)(file),
            Self::Declared(_) => None,
        }
    }

    /// Reads one segment, handing on every frame that is whole and verified, in the order of the file.
    pub fn read(
        &self,
        reader: &mut dyn Read,
        context: &Context,
        frame: &mut dyn FnMut(&Frame<'_>),
    ) -> Scan {
        match self {
            Self::Known(layout) => (layout.read)(reader, context, frame),
            Self::Declared(declaration) => described::read(declaration, reader, context, frame),
        }
    }
}

/// What the name of a segment says about its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SegmentName {
    /// The number in a series of segments.
    pub seq: Option<u64>,
    /// The first position.
    pub lsn: Option<Lsn>,
    /// The last position, or the last one planned.
    pub last: Option<Lsn>,
    /// The term.
    pub term: Option<Term>,
    /// Whether the content is compressed.
    pub is_compressed: bool,
}

/// What the reader of one segment has to know from outside of it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Context {
    /// What the segment's name says.
    pub name: SegmentName,
    /// Size of the file when it was opened.
    pub size: u64,
    /// Whether it is the last segment of its log, the one that a crash can tear.
    pub is_last: bool,
    /// The running checksum at the end of the segment before, where the layout chains them and it is known.
    pub chain: Option<u64>,
}

/// One whole, verified frame of a segment.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'a> {
    /// Where it begins in the (decompressed) segment.
    pub offset: u64,
    /// Bytes up to the next frame, padding included.
    pub size: u64,
    /// What it is.
    pub body: Body,
    /// Its payload.
    pub payload: &'a [u8],
}

/// What a frame is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body {
    /// A record of the log.
    Entry {
        /// Its position.
        lsn: Lsn,
        /// The position that has to follow.
        next: Lsn,
        /// Its term, where the layout has one.
        term: Option<Term>,
        /// What the system calls this sort of record.
        sort: &'static str,
    },
    /// A snapshot was taken or installed: everything up to the position is in it.
    Snapshot {
        /// The last position in the snapshot.
        lsn: Lsn,
        /// The term of that position.
        term: Term,
    },
    /// What was committed when the frame was written.
    Commit {
        /// The last committed position.
        lsn: Lsn,
        /// The current term.
        term: Term,
    },
    /// Identity of the log.
    Metadata,
    /// The running checksum is handed on.
    Chain {
        /// The running checksum.
        value: u32,
    },
}

/// What one pass over a segment found.
#[derive(Debug, Clone)]
pub struct Scan {
    /// Verified frames, of every sort.
    pub frames: u64,
    /// Where the last of them ends.
    pub end_offset: u64,
    /// What stands behind them.
    pub tail: Tail,
    /// What is wrong, in the order of the file.
    pub faults: Vec<Fault>,
    /// Verified records behind the fault that ended the reading.
    pub behind: Option<Behind>,
    /// The running checksum at the end, where the layout has one and nothing broke it.
    pub chain: Option<u64>,
    /// The first position as the segment's own header states it.
    pub header_lsn: Option<Lsn>,
    /// Which log, cluster or member the segment says it belongs to.
    pub identity: Option<String>,
}

impl Scan {
    /// A scan that has seen nothing yet.
    pub(crate) fn new() -> Self {
        Self {
            frames: 0,
            end_offset: 0,
            tail: Tail::Exact,
            faults: Vec::new(),
            behind: None,
            chain: None,
            header_lsn: None,
            identity: None,
        }
    }

    /// The scan of a segment that could not be opened.
    pub fn unreadable(error: &io::Error) -> Self {
        let mut scan = Self::new();
        scan.tail = Tail::Bad;
        scan.fault(FaultKind::Unreadable, 0, error.to_string());
        scan
    }

    /// Notes what is wrong at an offset.
    pub(crate) fn fault(&mut self, kind: FaultKind, offset: u64, detail: String) {
        self.faults.push(Fault {
            kind,
            offset,
            detail,
        });
    }

    /// Counts a verified frame.
    pub(crate) fn count(&mut self, frame: &Frame<'_>) {
        self.frames += 1;
        self.end_offset = frame.offset + frame.size;
    }
}

/// What stands behind the last verified frame of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tail {
    /// Nothing.
    Exact,
    /// Zero bytes up to the end of the file.
    Zeros(u64),
    /// The end mark or zero bytes, then other bytes.
    DataAfterZeros {
        /// Zero bytes in front.
        zeros: u64,
        /// Where the other bytes begin.
        at: u64,
    },
    /// A frame that was begun and not finished.
    Torn,
    /// A frame that is whole and wrong.
    Bad,
    /// Nothing, and the compressed stream was not closed.
    OpenStream,
}

impl Tail {
    /// The word in reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Zeros(_) => "zero-fill",
            Self::DataAfterZeros { .. } => "data-after-zeros",
            Self::Torn => "torn",
            Self::Bad => "bad",
            Self::OpenStream => "unterminated-zstd-frame",
        }
    }
}

/// Something wrong in a segment's own bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// What sort of wrong.
    pub kind: FaultKind,
    /// The frame at fault.
    pub offset: u64,
    /// What was seen, for people.
    pub detail: String,
}

/// The sorts of wrong that a reader can see within one segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// The file has no bytes, or none but zeros.
    Empty,
    /// The header is not one of this layout, or of a version that it does not have.
    Header,
    /// The header ends with the file.
    HeaderTorn,
    /// The segment names two logs as its own.
    Identity,
    /// The segment does not go on with the checksum that the one before ended with.
    Chain,
    /// A frame is whole and its checksum is not its content's.
    Checksum,
    /// A frame cannot be one: an impossible length, type or encoding.
    Corrupt,
    /// A frame was begun and not finished.
    Torn,
    /// Zero bytes where the system never leaves any.
    ZeroRun,
    /// The input could not be read on.
    Unreadable,
}

impl FaultKind {
    /// Whether no frame behind it was handed on.
    pub fn ends_segment(self) -> bool {
        match self {
            Self::Chain | Self::Header | Self::Identity => false,
            Self::Empty
            | Self::HeaderTorn
            | Self::Checksum
            | Self::Corrupt
            | Self::Torn
            | Self::ZeroRun
            | Self::Unreadable => true,
        }
    }
}

/// Verified records behind a fault: what could be saved by hand although the system will not read it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Behind {
    /// How many.
    pub records: u64,
    /// The first one's position.
    pub first: Lsn,
    /// The last one's position.
    pub last: Lsn,
    /// Where the first one begins.
    pub offset: u64,
}

/// The unsigned number in up to eight bytes; bytes beyond the eighth are ignored.
pub(crate) fn little(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .take(8)
        .rev()
        .fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// As [`little`], most significant byte first.
pub(crate) fn big(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .take(8)
        .fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// The low half of a checksum or length field.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the fields read here are 32 bits wide"
)]
pub(crate) fn low32(number: u64) -> u32 {
    number as u32
}

/// Says whether a file has no bytes, or none but zeros, and notes it; `count` is the size of the layout's header.
pub(crate) fn is_blank(window: &mut Window<'_>, count: usize, scan: &mut Scan) -> bool {
    let head = window.peek(count);
    if head.is_empty() {
        scan.fault(FaultKind::Empty, 0, "0 bytes".to_owned());
        return true;
    }
    if !window::is_zero(head) {
        return false;
    }
    let zeros = window.zeros();
    match zeros.data_at {
        None => {
            scan.tail = Tail::Zeros(zeros.count);
            scan.fault(
                FaultKind::Empty,
                0,
                format!("{} bytes, all zero", zeros.count),
            );
        }
        Some(at) => {
            scan.tail = Tail::DataAfterZeros {
                zeros: zeros.count,
                at,
            };
            scan.fault(
                FaultKind::Header,
                0,
                format!("zero bytes where the header should be, data from offset {at} on"),
            );
        }
    }
    true
}

/// Ends a scan: an input that could not be read on is not one that ended.
pub(crate) fn close(scan: &mut Scan, window: &Window<'_>) {
    if scan.frames == 0
        && scan
            .faults
            .iter()
            .any(|fault| fault.kind == FaultKind::Header)
    {
        scan.faults.retain(|fault| fault.kind == FaultKind::Header);
    }
    if let Some(error) = window.failure() {
        scan.faults.retain(|fault| !fault.kind.ends_segment());
        scan.tail = Tail::Bad;
        scan.fault(FaultKind::Unreadable, window.offset(), error.to_string());
    }
}
