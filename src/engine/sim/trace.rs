//! What a run did, as one number: two runs with the same hash did the same.

/// A running hash over everything that happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Trace {
    hash: u64,
    entries: u64,
}

impl Default for Trace {
    fn default() -> Self {
        Self {
            hash: 0x243F_6A88_85A3_08D3,
            entries: 0,
        }
    }
}

impl Trace {
    /// Adds one happening, given as words.
    pub fn add(&mut self, words: &[u64]) {
        for word in words {
            let mixed = (self.hash ^ word).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
            self.hash = mixed.rotate_left(29) ^ (mixed >> 32);
        }
        self.entries += 1;
    }

    /// The hash over all of them, which depends on their order.
    pub fn hash(self) -> u64 {
        super::random::splitmix64(self.hash ^ self.entries)
    }

    /// How many were added.
    pub fn entries(self) -> u64 {
        self.entries
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_every_word_count() {
        let of = |all: &[&[u64]]| {
            let mut trace = Trace::default();
            for words in all {
                trace.add(words);
            }
            trace.hash()
        };
        let all = [
            of(&[]),
            of(&[&[1, 2]]),
            of(&[&[2, 1]]),
            of(&[&[1], &[2]]),
            of(&[&[1, 2, 0]]),
            of(&[&[1, 3]]),
        ];
        for (place, one) in all.iter().enumerate() {
            assert!(!all[place + 1..].contains(one), "{place}");
        }
        assert_eq!(of(&[&[1, 2]]), all[1]);
    }
}
