//! What a process knows of its log while it runs: the next position, the open segment, and whether it has recovered.

use super::disk::{Disk, Recovered};
use super::names::Entry;
use super::setup::{Assumptions, Recovery};

/// The number in the header of every segment.
pub(super) const LOG_ID: u64 = 0x0003_4000_1920;

/// The log of a process.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Persist {
    /// The position that is written next; 1 before recovery.
    pub(super) current: u64,
    /// The segment that is open for append, by its name.
    pub(super) open: Option<u64>,
    /// Whether recovery has set the position.
    pub(super) is_recovered: bool,
}

impl Default for Persist {
    fn default() -> Self {
        Self {
            current: 1,
            open: None,
            is_recovered: false,
        }
    }
}

impl Persist {
    /// Writes an entry; one that is there already is skipped. The segment that it went to.
    ///
    /// Nothing here asks whether the process has recovered: that is for whoever calls it.
    pub(super) fn write(&mut self, disk: &mut Disk, entry: Entry, limit: u64) -> Option<u64> {
        if entry.lsn < self.current {
            return None;
        }
        let is_full = |first: &u64| {
            let records = disk.segments.get(first).map_or(0, |it| it.records);
            limit > 0 && records >= limit
        };
        let open = self.open.filter(|first| !is_full(first));
        let first = open.unwrap_or_else(|| {
            disk.create(self.current, LOG_ID);
            self.current
        });
        self.open = Some(first);
        disk.append(first, entry);
        self.current = entry.lsn + 1;
        Some(first)
    }

    /// Finds the end of the log. A segment that is open stays open.
    pub(super) fn recover(&mut self, disk: &mut Disk, assumptions: &Assumptions) -> Recovered {
        disk.repair();
        // What a compaction left open is closed now.
        disk.purge(self.open);
        let recovered = disk.recoverable(assumptions.recovery == Recovery::Positions);
        self.current = recovered.last + 1;
        self.is_recovered = true;
        if self.open.is_some_and(|it| !disk.segments.contains_key(&it)) {
            self.open = None;
        }
        recovered
    }

    /// Removes everything from a position on.
    pub(super) fn truncate(&mut self, disk: &mut Disk, from: u64) {
        disk.truncate(from);
        self.current = self.current.min(from);
        if self.open.is_some_and(|it| !disk.segments.contains_key(&it)) {
            self.open = None;
        }
    }
}
