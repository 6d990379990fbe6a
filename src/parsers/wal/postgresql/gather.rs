//! A record's bytes as they come from the pages, and their checksum.

use crate::parsers::wal::{Carry, little, low32};
use crate::vocab::Lsn;

use super::pages::ALIGN;

/// The fixed part of a record.
pub(super) const FIXED: usize = 24;
/// Content that is kept of a record, to be looked at.
const KEPT: usize = 64 * 1024;

/// The resource manager of records about the log itself.
const MANAGER_OF_LOG: u8 = 0;
/// The flags of a record that says that one before was given up.
const OVERWRITE: u8 = 0xd0;
/// The identifier of a record's own data, if they have less than 256 bytes.
const SHORT_DATA: u8 = 255;

/// Bytes of a page that are summed at most, to find a record in it behind one that is wrong.
const TRIED_MAX: usize = 1024 * 1024;

/// A record's bytes on their way: the fixed part, the checksum of what follows, and a part of that.
pub(super) struct Gather {
    pub(super) head: [u8; FIXED],
    there: u64,
    sum: u32,
    /// What follows the fixed part, as far as it is kept.
    pub(super) kept: Vec<u8>,
}

impl Gather {
    /// Nothing yet.
    pub(super) fn new() -> Self {
        Self {
            head: [0; FIXED],
            there: 0,
            sum: 0,
            kept: Vec::new(),
        }
    }

    /// A record whose first bytes stood in the segment before.
    pub(super) fn resumed(carry: &Carry) -> Self {
        Self {
            head: carry.head,
            there: carry.there,
            sum: carry.sum,
            kept: Vec::new(),
        }
    }

    /// Takes in the next bytes.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        let from = usize::try_from(self.there).unwrap_or(FIXED).min(FIXED);
        let (front, content) = bytes.split_at(bytes.len().min(FIXED - from));
        self.head[from..from + front.len()].copy_from_slice(front);
        self.sum = crc32c::crc32c_append(self.sum, content);
        let free = KEPT.saturating_sub(self.kept.len());
        self.kept
            .extend_from_slice(&content[..content.len().min(free)]);
        self.there += bytes.len() as u64;
    }

    /// What is wrong with the checksum: it covers what follows the fixed part, then that without the checksum itself.
    pub(super) fn fault(&self) -> Option<String> {
        let stored = low32(little(&self.head[20..24]));
        let computed = crc32c::crc32c_append(self.sum, &self.head[..20]);
        (stored != computed).then(|| format!("stored {stored:08x} computed {computed:08x}"))
    }

    /// Whether the record says that the one at a position was given up. A record's short data has an identifier and a length in front.
    pub(super) fn gives_up(&self, lsn: Lsn) -> bool {
        let is_one = self.head[17] == MANAGER_OF_LOG && self.head[16] & 0xf0 == OVERWRITE;
        let named = self.kept.get(2..10).map(little);
        is_one && (self.kept.first() != Some(&SHORT_DATA) || named == Some(lsn.0))
    }

    /// What the next segment has to know to go on.
    pub(super) fn carry(&self, lsn: Lsn, next: Lsn, rest: u64) -> Carry {
        Carry {
            lsn,
            next,
            head: self.head,
            there: self.there,
            rest,
            sum: self.sum,
        }
    }
}

/// What a resource manager is called.
pub(super) fn manager_name(manager: u8) -> &'static str {
    const NAMES: [&str; 22] = [
        "XLOG",
        "Transaction",
        "Storage",
        "CLOG",
        "Database",
        "Tablespace",
        "MultiXact",
        "RelMap",
        "Standby",
        "Heap2",
        "Heap",
        "Btree",
        "Hash",
        "Gin",
        "Gist",
        "Sequence",
        "SPGist",
        "BRIN",
        "CommitTs",
        "ReplicationOrigin",
        "Generic",
        "LogicalMessage",
    ];
    NAMES.get(usize::from(manager)).copied().unwrap_or("custom")
}

/// How far behind the position a verified record begins that the rest of a page holds whole: the one that names the
/// given one as the one before it, or any.
pub(super) fn within(page: &[u8], before: Option<Lsn>) -> Option<usize> {
    let mut budget = TRIED_MAX;
    (0..page.len()).step_by(ALIGN).find(|&at| {
        let length = page.get(at..at + FIXED).map_or(0, |it| little(&it[..4]));
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let bytes = page[at..].get(..length).filter(|_| length >= FIXED);
        bytes.is_some_and(|bytes| {
            let is_next = before.is_none_or(|lsn| little(&bytes[8..16]) == lsn.0);
            if !is_next || budget < length {
                return false;
            }
            budget -= length;
            let mut gather = Gather::new();
            gather.add(bytes);
            gather.fault().is_none()
        })
    })
}
