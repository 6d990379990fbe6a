//! How much an input may unpack to: logs come from strangers, and a few kilobytes can unpack to a disk full.

use std::io;

/// Bounds on what is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// How many archives may lie inside each other, and how often one file may be packed.
    pub nesting: usize,
    /// How many members all archives may have together.
    pub members: usize,
    /// How many bytes one packed file may unpack to, and all archives together in the temporary file.
    pub unpacked: u64,
    /// How many times its packed size a file may unpack to.
    pub ratio: u64,
}

impl Default for Bounds {
    fn default() -> Self {
        // 8: a run's zip, a job's zip, a tar, its packing and a packed piece are five.
        // 100,000: a member costs about a kilobyte here and in the report; the largest artifact seen has a few thousand.
        // 64 GiB: a folder of 40 GB is the largest handed over so far, and most disks have room for it.
        // 500: deflate ends at 1032, logs of one record repeated reach 200, usual logs 10 to 30.
        Self {
            nesting: 8,
            members: 100_000,
            unpacked: 64 << 30,
            ratio: 500,
        }
    }
}

/// What may unpack at any ratio: it harms nobody, and short texts that repeat themselves pack well.
pub(super) const RATIO_FREE: u64 = 8 << 20;

impl Bounds {
    /// Why `packed` bytes may not unpack to `unpacked` bytes, if they may not.
    pub(super) fn exceeded(self, packed: u64, unpacked: u64) -> Option<Exceeded> {
        if unpacked > self.unpacked {
            let most = self.unpacked;
            return Some(Exceeded(format!(
                "unpacks to more than {most} bytes; --max-unpacked sets the bound"
            )));
        }
        let times = unpacked / packed.max(1);
        (unpacked > RATIO_FREE && times >= self.ratio).then(|| {
            let most = self.ratio;
            Exceeded(format!(
                "unpacks to {most} times its size or more; --max-ratio sets the bound"
            ))
        })
    }
}

/// A bound that an input exceeds.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Exceeded(pub(super) String);

impl From<Exceeded> for io::Error {
    fn from(exceeded: Exceeded) -> Self {
        Self::other(exceeded)
    }
}

/// Whether reading stopped at a bound, not at a fault.
pub(super) fn is_exceeded(error: &io::Error) -> bool {
    error
        .get_ref()
        .is_some_and(<dyn std::error::Error + Send + Sync>::is::<Exceeded>)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ratio_counts_only_past_what_is_free() {
        let bounds = Bounds::default();
        assert!(bounds.exceeded(1, RATIO_FREE).is_none());
        assert!(bounds.exceeded(1, RATIO_FREE + 1).is_some());
        assert!(bounds.exceeded(1 << 20, 499 << 20).is_none());
        assert!(bounds.exceeded(1 << 20, 500 << 20).is_some());
        assert!(bounds.exceeded(64 << 30, (64 << 30) + 1).is_some());
    }
}
