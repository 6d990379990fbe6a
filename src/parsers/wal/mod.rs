//! Write-ahead log segments: how each known system names, frames and checksums them, and which layout a file has.
//!
//! A reader walks one segment from its first byte to its last good record and hands on every frame. It judges nothing: whether a tear
//! or a hole is legal depends on the segments around it, which `layout` knows.

mod bolt;
mod checksum;
mod declared;
mod described;
mod etcd;
mod form;
mod found;
mod fragments;
mod front;
mod kafka;
mod keeper;
mod listing;
mod nats;
mod owner;
mod postgresql;
mod prometheus;
mod raft_wal;
mod reference;
mod rocksdb;
mod salvage;
mod trace;
mod window;
mod zookeeper;

use std::io::Read;
use std::path::Path;

use crate::vocab::{Lsn, LsnNotation, Term};

pub use declared::{
    Algorithm, Chain, Covers, Declaration, EndMark, Endian, Field, FieldKind, Measure, NamePart,
    Number, Pinned, Role, Step,
};
pub use found::{Behind, Fault, FaultKind, Scan, Tail};
pub use listing::{Entry, Listing};
pub use owner::of_file as owner_of_file;
pub use window::{RECORD_BYTES_MAX, Window};

use found::{close, is_blank};

/// The layouts that are known without a description, in the order in which they are tried.
pub const LAYOUTS: &[Layout] = &[
    reference::LAYOUT,
    etcd::LAYOUT,
    zookeeper::LAYOUT,
    keeper::LAYOUT,
    postgresql::LAYOUT,
    raft_wal::LAYOUT,
    rocksdb::LAYOUT,
    prometheus::LAYOUT,
    nats::RAFT,
    nats::STREAM,
    kafka::LAYOUT,
];

/// One system's segments: what their names say, how to recognize them, how to read them.
pub struct Layout {
    /// The name in `--layout` and in reports.
    pub id: &'static str,
    /// Whose segments these are, for people.
    pub title: &'static str,
    /// What its files are called, for people.
    pub files: &'static str,
    /// What explains positions that are left out, for people.
    pub explains: &'static str,
    /// How the system writes a position.
    pub notation: LsnNotation,
    /// What a file name says; `None` if no segment is called that.
    pub name: fn(&str) -> Option<SegmentName>,
    /// What the head of any segment says about the names of all: how many bytes a segment has, where the names count them.
    pub spacing: fn(&[u8]) -> Option<u64>,
    /// What a name says once the spacing is known.
    pub spaced: fn(SegmentName, u64) -> SegmentName,
    /// The name of the segment with a number, where other names of the folder are like the given one.
    pub numbered: fn(u64, SegmentName) -> Option<String>,
    /// The name of the segment that would begin with a position, where that can be told.
    pub name_for: fn(Lsn) -> Option<String>,
    /// Whether the system itself leaves such a file beside its segments.
    pub is_leftover: fn(&str) -> bool,
    /// The position that a snapshot file of this name stands for.
    pub snapshot: fn(&str) -> Option<Lsn>,
    /// Whether a position is the same record on every server, so that they can be compared.
    pub is_replicated: bool,
    /// A file beside the segments that says which of their records count, and how to read it.
    pub ledger: Option<(&'static str, ReadLedger)>,
    /// How many folders at the end of a path are the log's own and not its server's, and what they call the log.
    pub log: fn(&Path) -> Option<(usize, String)>,
    /// Whether a folder's path says that it is, or is not, where the system keeps such segments; nothing where paths do not tell.
    pub is_home: fn(&Path) -> Option<bool>,
    /// The key of a segment's checksums, where it is made from the name of its log.
    pub key: fn(&str, SegmentName) -> Option<[u8; 32]>,
    /// Whether the first bytes of a file can be the beginning of a segment with records.
    pub sniff: fn(&[u8]) -> bool,
    /// Whether the name alone settles the layout, so that a folder of such names is this system's even if no content fits.
    pub is_name_enough: bool,
    read: ReadSegment,
}

impl Layout {
    /// A layout of which only the most usual things hold, to be said otherwise where they do not.
    const PLAIN: Self = Self {
        id: "",
        title: "",
        files: "",
        explains: "none",
        notation: LsnNotation::Decimal,
        name: |_| None,
        spacing: |_| None,
        spaced: |name, _| name,
        numbered: |_, _| None,
        name_for: |_| None,
        is_leftover: |_| false,
        snapshot: |_| None,
        is_replicated: true,
        ledger: None,
        log: |_| None,
        is_home: |_| None,
        key: |_, _| None,
        sniff: |_| false,
        is_name_enough: false,
        read: |_, _, _| Scan::new(),
    };
}

/// Reads a ledger; what is not one has nothing in it.
pub type ReadLedger = fn(&[u8]) -> Option<Vec<Extent>>;

/// What a ledger says of one segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// What its name says.
    pub name: SegmentName,
    /// The first position that counts.
    pub first: Lsn,
    /// The last one; none while the segment is written to.
    pub last: Option<Lsn>,
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

    /// The name of the segment with a number, where other names of the folder are like the given one.
    pub fn numbered(&self, number: u64, like: SegmentName) -> Option<String> {
        match self {
            Self::Known(layout) => (layout.numbered)(number, like),
            Self::Declared(_) => None,
        }
    }

    /// Whether a position is the same record on every server.
    pub fn is_replicated(&self) -> bool {
        match self {
            Self::Known(layout) => layout.is_replicated,
            Self::Declared(_) => true,
        }
    }

    /// How many folders at the end of a path are the log's own and not its server's.
    pub fn own_folders(&self, folder: &Path) -> usize {
        match self {
            Self::Known(layout) => (layout.log)(folder).map_or(0, |(count, _)| count),
            Self::Declared(_) => 0,
        }
    }

    /// The key of a segment's checksums, where it is made from the name of its log.
    pub fn key(&self, log: Option<&str>, name: SegmentName) -> Option<[u8; 32]> {
        match self {
            Self::Known(layout) => (layout.key)(log?, name),
            Self::Declared(_) => None,
        }
    }

    /// Whether a folder's path says that it is where the system keeps such segments.
    pub fn is_at_home(&self, folder: &Path) -> bool {
        match self {
            Self::Known(layout) => (layout.is_home)(folder) == Some(true),
            Self::Declared(_) => false,
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
    /// Bytes of a segment, where the name counts them.
    pub spacing: Option<u64>,
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
    /// The record that the segment before ended within.
    pub carry: Option<Carry>,
    /// The key of its checksums, where they have one.
    pub key: Option<[u8; 32]>,
    /// Whether the key is the one that the system uses, so that a segment which nothing in agrees with it is damaged.
    pub is_key_sure: bool,
}

/// A record that was begun in one segment and goes on in the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Carry {
    /// Its position.
    pub lsn: Lsn,
    /// The position behind it.
    pub next: Lsn,
    /// As many of its first bytes as were there.
    pub(crate) head: [u8; 24],
    /// Bytes of it that were there.
    pub(crate) there: u64,
    /// Bytes that have to follow.
    pub(crate) rest: u64,
    /// The checksum of those behind its first ones so far.
    pub(crate) sum: u32,
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
    /// A record that has no position of its own.
    Unplaced {
        /// What the system calls this sort of record.
        sort: &'static str,
    },
    /// Identity of the log.
    Metadata,
    /// The running checksum is handed on.
    Chain {
        /// The running checksum.
        value: u32,
    },
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
