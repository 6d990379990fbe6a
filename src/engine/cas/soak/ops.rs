//! The operations of the soak harness: what operation `i` of a seed is, without the harness.

use super::driver::LEAD_S;
use crate::engine::sim::splitmix64;

/// Spreads the numbers of operations over the seed's bits, as the harness does.
const SPREAD: u64 = 0x9E37_79B1;

/// Operations that a second has room for at most, and a soak.
const OPS_A_SECOND: u64 = 100;
const OPS_MAX: u64 = 2_000_000;

/// What an operation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Adds rows.
    Insert,
    /// Changes the rows of a bucket.
    Update,
    /// Takes the rows of a bucket away.
    Delete,
    /// Merges what there is; no row changes.
    Optimize,
    /// Takes all rows away with their partition.
    DropPartition,
    /// Takes all rows away.
    Truncate,
}

impl Kind {
    /// The weights of the harness out of 100, in the order in which they add up.
    const WEIGHTS: [(Self, u64); 6] = [
        (Self::Insert, 70),
        (Self::Update, 12),
        (Self::Delete, 8),
        (Self::Optimize, 7),
        (Self::DropPartition, 2),
        (Self::Truncate, 1),
    ];

    /// Its name in the ledger and in `failure.json`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Insert => "insert",
            Self::Update => "update",
            Self::Delete => "delete",
            Self::Optimize => "optimize",
            Self::DropPartition => "drop_partition",
            Self::Truncate => "truncate",
        }
    }

    /// Whether it takes all rows away.
    pub fn is_cliff(self) -> bool {
        matches!(self, Self::DropPartition | Self::Truncate)
    }

    /// Whether it waits until no insert runs any more.
    pub fn is_barrier(self) -> bool {
        matches!(self, Self::Update | Self::Delete) || self.is_cliff()
    }
}

/// One operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Op {
    /// Its number, from 0.
    pub id: u64,
    /// What it does.
    pub kind: Kind,
    /// The replica that it is sent to: 0 or 1.
    pub target: usize,
    /// What the number of rows or the bucket is taken from, below 65536.
    pub param: u64,
}

impl Op {
    /// Operation `id` of `seed`.
    pub fn of(seed: u64, id: u64) -> Self {
        let r = splitmix64(seed ^ id.wrapping_mul(SPREAD));
        let mut rest = r % 100;
        let mut kind = Kind::Truncate;
        for (candidate, weight) in Kind::WEIGHTS {
            if rest < weight {
                kind = candidate;
                break;
            }
            rest -= weight;
        }
        Self {
            id,
            kind,
            target: usize::from((r >> 8) & 1 == 1),
            param: (r >> 16) & 0xFFFF,
        }
    }

    /// Whether the rows of an insert are gone by their TTL, so many seconds after the first operation: 5400 s after a
    /// stamp that follows the number of the operation. The harness counts from a minute before.
    pub fn is_expired(self, now_s: u64) -> bool {
        self.id % 7200 + 5400 <= now_s + LEAD_S
    }

    /// The rows of an insert.
    pub fn rows(self) -> u64 {
        1 + self.param % 200
    }

    /// The bucket of an update or a delete.
    pub fn bucket(self) -> u64 {
        self.param % 64
    }
}

/// The operations of a run after the harness has thinned out those that take all rows away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ledger {
    /// All operations in order.
    pub ops: Vec<Op>,
    /// How many of them take all rows away.
    pub cliffs: u64,
    /// The smallest distance of two such.
    pub min_gap: u64,
}

impl Ledger {
    /// `count` operations of `seed` with at most `max_cliffs` that take all rows away, a quarter of the run apart; the
    /// others of their kind become optimizes with the same target and parameter.
    pub fn of(seed: u64, count: u64, max_cliffs: u64) -> Self {
        let min_gap = (count / 4).max(1);
        let mut cliffs = 0;
        let mut last: Option<u64> = None;
        let thin = |id| {
            let mut op = Op::of(seed, id);
            if op.kind.is_cliff() {
                if cliffs < max_cliffs && last.is_none_or(|it| op.id - it >= min_gap) {
                    cliffs += 1;
                    last = Some(op.id);
                } else {
                    op.kind = Kind::Optimize;
                }
            }
            op
        };
        let ops = (0..count).map(thin).collect();
        Self {
            ops,
            cliffs,
            min_gap,
        }
    }

    /// More operations of `seed` than `seconds` have room for, with one update or delete in `min_ops` of them; the
    /// others of their kind become optimizes. Which of them run is up to the stage.
    pub fn by_stages(seed: u64, seconds: u64, min_ops: u64) -> Self {
        let mut last: Option<u64> = None;
        let thin = |id| {
            let mut op = Op::of(seed, id);
            if matches!(op.kind, Kind::Update | Kind::Delete) {
                if last.is_none_or(|it| op.id - it >= min_ops) {
                    last = Some(op.id);
                } else {
                    op.kind = Kind::Optimize;
                }
            }
            op
        };
        let count = seconds.saturating_mul(OPS_A_SECOND).min(OPS_MAX);
        let ops: Vec<Op> = (0..count).map(thin).collect();
        Self {
            cliffs: 0,
            min_gap: 0,
            ops,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// The values that the real harness has: its failure report names operation 102, the others were derived by hand.
    #[test]
    fn operations_are_those_of_the_harness() {
        for (id, target, param) in [
            (0, 0, 35074),
            (1, 1, 46520),
            (100, 0, 22265),
            (102, 0, 52792),
        ] {
            let op = Op::of(1, id);
            assert_eq!(
                (op.kind, op.target, op.param),
                (Kind::Insert, target, param)
            );
        }
        assert_eq!(Op::of(1, 102).rows(), 193);
    }

    #[test]
    fn the_mix_of_the_first_120_is_that_of_the_harness() {
        let mut mix = BTreeMap::new();
        for id in 0..120 {
            *mix.entry(Op::of(1, id).kind.word()).or_insert(0) += 1;
        }
        let expected = [
            ("delete", 11),
            ("insert", 89),
            ("optimize", 9),
            ("truncate", 1),
            ("update", 10),
        ];
        assert_eq!(mix, BTreeMap::from(expected));
        assert_eq!(Op::of(1, 67).kind, Kind::Truncate);
    }

    #[test]
    fn cliffs_are_capped_and_kept_apart() {
        let raw = (0..2000)
            .filter(|id| Op::of(1, *id).kind.is_cliff())
            .count();
        assert!(raw > 30, "{raw}");
        let ledger = Ledger::of(1, 2000, 2);
        let kept: Vec<&Op> = ledger.ops.iter().filter(|op| op.kind.is_cliff()).collect();
        assert_eq!((kept.len(), ledger.cliffs, ledger.min_gap), (2, 2, 500));
        assert!(kept[1].id - kept[0].id >= 500);
        for op in &ledger.ops {
            let raw = Op::of(1, op.id);
            assert_eq!((op.target, op.param), (raw.target, raw.param));
        }
    }
}
