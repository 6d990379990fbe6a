//! What one pass over a segment found: its frames counted, its end, what is wrong in its bytes.

use std::io;

use crate::vocab::Lsn;

use super::window::{self, Window};
use super::{Carry, Frame};

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
    /// The record that the segment ended within, where the layout lets records go on in the next one.
    pub carry: Option<Carry>,
    /// Whether it has more of the record that the segment before ended within, or says that it was given up.
    pub is_carry_told: bool,
    /// The position that follows the last record of the segments before, where only this one tells: where a record ends that was begun
    /// here in front of all others, or where the log goes on behind one that was given up.
    pub follows: Option<Lsn>,
    /// Whether a record agreed with the key of the segment's checksums, so that the key is the right one.
    pub is_key_good: bool,
    /// What is worth knowing and not wrong.
    pub remark: Option<&'static str>,
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
            carry: None,
            is_carry_told: false,
            follows: None,
            is_key_good: false,
            remark: None,
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

    /// Notes a header of a version that is not known: nothing behind it can be read.
    pub(super) fn unknown_version(&mut self, offset: u64, version: u64, known: u64) {
        self.tail = Tail::Bad;
        let detail =
            format!("version {version}, and only version {known} is known: nothing of it was read");
        self.fault(FaultKind::Header, offset, detail);
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
    /// What was there before the file was taken for this segment.
    Stale,
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
            Self::Stale => "stale",
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
    /// All of it was written for an earlier segment: the file was taken for a later one, and nothing was written to it yet.
    Recycled,
    /// All of it was written for a later segment than the name says.
    Misnamed,
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
            | Self::Recycled
            | Self::Misnamed
            | Self::Unreadable => true,
        }
    }
}

/// Verified records behind a fault: what could be saved by hand although the system will not read it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Behind {
    /// How many.
    pub records: u64,
    /// The first one's position and the last one's, where they have one.
    pub range: Option<(Lsn, Lsn)>,
    /// Where the first one begins.
    pub offset: u64,
}

/// Says whether a file has no bytes, or none but zeros, and notes it; `count` is the size of the layout's header.
pub(super) fn is_blank(window: &mut Window<'_>, count: usize, scan: &mut Scan) -> bool {
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
pub(super) fn close(scan: &mut Scan, window: &Window<'_>) {
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
