//! Records of one event that two nodes have, sampled so that both keep the same ones.

use std::collections::BTreeMap;
use std::hash::Hasher;

use rustc_hash::FxHasher;

use crate::time::Timestamp;

/// How many keys are kept per node and side: those with the smallest hashes, which are the same on every node.
const KEYS_MAX: usize = 1_024;

/// One side of a pair of records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairedSide {
    /// The signal of the side's records.
    pub signal: u16,
    /// The fields that both sides have.
    pub key: Vec<usize>,
    /// The field that names the other node, if this side has one.
    pub peer: Option<usize>,
}

/// The sampled records of a side on a node.
#[derive(Debug, Default)]
pub struct PairedSample {
    by_key: BTreeMap<u64, Paired>,
}

/// The records with one key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paired {
    /// The first stamp.
    pub first: Timestamp,
    /// How many there are.
    pub count: u64,
    /// The other node as they name it; nothing where they name none.
    pub peer: String,
    /// Whether they name several.
    pub is_torn: bool,
}

impl PairedSample {
    /// Adds a record.
    pub fn add(&mut self, side: &PairedSide, values: &[&[u8]], time: Timestamp) {
        let mut hasher = FxHasher::default();
        for &field in &side.key {
            hasher.write(values[field]);
            hasher.write_u8(0);
        }
        // A product spreads what the hash leaves together in its upper bits.
        let key = hasher
            .finish()
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(32);
        let peer = side.peer.map_or(&b""[..], |field| values[field]);
        if let Some(known) = self.by_key.get_mut(&key) {
            known.first = known.first.min(time);
            known.count += 1;
            known.is_torn |= known.peer.as_bytes() != peer;
            return;
        }
        let is_full = self.by_key.len() >= KEYS_MAX;
        if is_full
            && self
                .by_key
                .last_key_value()
                .is_some_and(|(last, _)| key > *last)
        {
            return;
        }
        let paired = Paired {
            first: time,
            count: 1,
            peer: String::from_utf8_lossy(peer).into_owned(),
            is_torn: false,
        };
        self.by_key.insert(key, paired);
        if is_full {
            self.by_key.pop_last();
        }
    }

    /// The sampled keys, in the order of their hashes.
    pub fn keys(&self) -> impl Iterator<Item = (u64, &Paired)> {
        self.by_key.iter().map(|(key, paired)| (*key, paired))
    }

    /// The records with a key.
    pub fn get(&self, key: u64) -> Option<&Paired> {
        self.by_key.get(&key)
    }

    /// Adds what was sampled of the same node in another log.
    pub(super) fn absorb(&mut self, other: Self) {
        for (key, theirs) in other.by_key {
            let Some(mine) = self.by_key.get_mut(&key) else {
                self.by_key.insert(key, theirs);
                continue;
            };
            mine.first = mine.first.min(theirs.first);
            mine.count += theirs.count;
            mine.is_torn |= theirs.is_torn || mine.peer != theirs.peer;
        }
        while self.by_key.len() > KEYS_MAX {
            self.by_key.pop_last();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_nodes_keep_the_same_keys_in_whatever_order_they_come() {
        let side = PairedSide {
            signal: 0,
            key: vec![0],
            peer: None,
        };
        let (mut up, mut down) = (PairedSample::default(), PairedSample::default());
        let names: Vec<String> = (0..5_000).map(|at| format!("all_{at}_{at}_0")).collect();
        for (at, name) in names.iter().enumerate() {
            up.add(
                &side,
                &[name.as_bytes()],
                Timestamp(i64::try_from(at).unwrap()),
            );
        }
        for name in names.iter().rev().chain(&names) {
            down.add(&side, &[name.as_bytes()], Timestamp(7));
        }
        let keys = |sample: &PairedSample| sample.keys().map(|(key, _)| key).collect::<Vec<_>>();
        assert_eq!(keys(&up).len(), KEYS_MAX);
        assert_eq!(keys(&up), keys(&down));
        assert!(down.keys().all(|(_, paired)| paired.count == 2));
    }
}
