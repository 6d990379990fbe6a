//! Records of one event that two nodes have, sampled so that both keep the same ones.

use std::borrow::Cow;
use std::hash::Hasher;

use rustc_hash::{FxHashMap, FxHasher};

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
    by_key: FxHashMap<u64, Paired>,
    /// The largest key that may still be among the smallest, once there are enough: most keys lie above it.
    largest: Option<u64>,
    /// The other nodes as records name them: few for many keys.
    peers: Vec<Box<[u8]>>,
}

/// The records with one key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paired {
    /// The first stamp.
    pub first: Timestamp,
    /// How many there are.
    pub count: u32,
    /// The other node by its place among the sample's.
    peer: u16,
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
        if self.largest.is_some_and(|largest| key > largest) {
            return;
        }
        let peer = side.peer.map_or(&b""[..], |field| values[field]);
        if let Some(known) = self.by_key.get_mut(&key) {
            known.first = known.first.min(time);
            known.count = known.count.saturating_add(1);
            known.is_torn |= self.peers[usize::from(known.peer)][..] != *peer;
            return;
        }
        // Among more peers than numbers none can be told.
        let place = place_of(peer, &mut self.peers);
        let paired = Paired {
            first: time,
            count: 1,
            peer: place.unwrap_or(0),
            is_torn: place.is_none(),
        };
        self.by_key.insert(key, paired);
        // Not for each key beyond the bound: to find the smallest costs as much as to keep as many again.
        if self.by_key.len() >= 2 * KEYS_MAX {
            self.bound();
        }
    }

    /// Lets go of all keys but the smallest.
    pub fn bound(&mut self) {
        if self.by_key.len() <= KEYS_MAX {
            return;
        }
        let mut keys: Vec<u64> = self.by_key.keys().copied().collect();
        let (_, &mut largest, _) = keys.select_nth_unstable(KEYS_MAX - 1);
        self.by_key.retain(|key, _| *key <= largest);
        self.largest = Some(largest);
    }

    /// The sampled keys, in the order of their hashes.
    pub fn keys(&self) -> impl Iterator<Item = (u64, &Paired)> {
        let mut keys: Vec<(u64, &Paired)> = self.by_key.iter().map(|(k, it)| (*k, it)).collect();
        keys.sort_unstable_by_key(|(key, _)| *key);
        keys.into_iter()
    }

    /// The other node as sampled records name it; nothing where they name none.
    pub fn peer(&self, paired: &Paired) -> Cow<'_, str> {
        let peer = self.peers.get(usize::from(paired.peer));
        String::from_utf8_lossy(peer.map_or(&b""[..], |peer| peer))
    }

    /// The records with a key.
    pub fn get(&self, key: u64) -> Option<&Paired> {
        self.by_key.get(&key)
    }

    /// Adds what was sampled of the same node in another log.
    #[expect(
        clippy::iter_over_hash_type,
        reason = "which keys are kept does not depend on the order"
    )]
    pub(super) fn absorb(&mut self, other: Self) {
        let places = other
            .peers
            .iter()
            .map(|peer| place_of(peer, &mut self.peers));
        let places: Vec<Option<u16>> = places.collect();
        for (key, mut theirs) in other.by_key {
            let place = places[usize::from(theirs.peer)];
            theirs.peer = place.unwrap_or(0);
            theirs.is_torn |= place.is_none();
            let Some(mine) = self.by_key.get_mut(&key) else {
                self.by_key.insert(key, theirs);
                continue;
            };
            mine.first = mine.first.min(theirs.first);
            mine.count = mine.count.saturating_add(theirs.count);
            mine.is_torn |= theirs.is_torn || mine.peer != theirs.peer;
        }
        // What one of the two let go of was counted by the other alone.
        self.largest = self.largest.into_iter().chain(other.largest).min();
        if let Some(largest) = self.largest {
            self.by_key.retain(|key, _| *key <= largest);
        }
        self.bound();
    }
}

/// The place of a peer among those known, to which it is added.
fn place_of(peer: &[u8], peers: &mut Vec<Box<[u8]>>) -> Option<u16> {
    let known = peers.iter().position(|known| **known == *peer);
    let place = u16::try_from(known.unwrap_or(peers.len())).ok()?;
    if known.is_none() {
        peers.push(peer.into());
    }
    Some(place)
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
        up.bound();
        down.bound();
        let keys = |sample: &PairedSample| sample.keys().map(|(key, _)| key).collect::<Vec<_>>();
        assert_eq!(keys(&up).len(), KEYS_MAX);
        assert_eq!(keys(&up), keys(&down));
        assert!(down.keys().all(|(_, paired)| paired.count == 2));
    }

    #[test]
    fn what_two_logs_of_a_node_keep_is_counted_in_both() {
        let side = PairedSide {
            signal: 0,
            key: vec![0],
            peer: None,
        };
        let sample = |names: std::ops::Range<usize>| {
            let mut sample = PairedSample::default();
            for at in names {
                sample.add(
                    &side,
                    &[format!("all_{at}_{at}_0").as_bytes()],
                    Timestamp(7),
                );
            }
            sample.bound();
            sample
        };
        // All of the first are in the second, which keeps a smaller share of its keys.
        let mut both = sample(0..2_500);
        let firsts: Vec<u64> = both.keys().map(|(key, _)| key).collect();
        both.absorb(sample(0..5_000));
        let kept: Vec<&Paired> = firsts.iter().filter_map(|key| both.get(*key)).collect();
        assert!(kept.iter().all(|paired| paired.count == 2));
        assert!(kept.len() > KEYS_MAX / 4);
    }
}
