//! How far a text is made of certain bytes.

#[cfg(target_arch = "x86_64")]
use super::{LANES, vectors::Vectors};

/// A set of ASCII bytes, with all others or with none of them.
#[derive(Debug, Clone, Copy)]
pub struct ByteSet {
    holds: [bool; 256],
    /// By lower half of a byte: a bit for each upper half with which it is in the set.
    rows: [u8; HALVES],
    /// By upper half of a byte: its bit, and all bits where the byte is in the set by that alone.
    bits: [u8; HALVES],
    alone: [u8; HALVES],
}

const HALVES: usize = 16;

impl ByteSet {
    /// The set of the ASCII bytes that are `true` here, with all other bytes where the first of them is.
    pub const fn new(mut holds: [bool; 256]) -> Self {
        let (mut rows, mut bits, mut alone) = ([0; HALVES], [0; HALVES], [0; HALVES]);
        let mut byte = 0;
        while byte < 256 {
            let (low, high) = (byte % HALVES, byte / HALVES);
            if byte < 128 {
                bits[high] = 1 << high;
                if holds[byte] {
                    rows[low] |= 1 << high;
                }
            } else {
                holds[byte] = holds[128];
                alone[high] = if holds[byte] { 0xff } else { 0 };
            }
            byte += 1;
        }
        Self {
            holds,
            rows,
            bits,
            alone,
        }
    }

    /// Whether a byte is in the set.
    #[inline]
    pub const fn holds(&self, byte: u8) -> bool {
        self.holds[byte as usize]
    }

    /// How many of the first bytes of `text` are in the set.
    #[inline]
    pub fn span(&self, text: &[u8]) -> usize {
        let from = self.span_of_vectors(text);
        let rest = text[from..].iter().position(|&byte| !self.holds(byte));
        rest.map_or(text.len(), |rest| from + rest)
    }
}

#[cfg(target_arch = "x86_64")]
impl ByteSet {
    /// The same up to the last whole vector; 0 where the machine lacks the instructions.
    #[inline]
    fn span_of_vectors(&self, text: &[u8]) -> usize {
        let vectors = Vectors::get().filter(|_| text.len() >= LANES);
        let set = self;
        vectors.map_or(0, |vectors| vectors.run(Spanning { vectors, set, text }))
    }
}

#[cfg(not(target_arch = "x86_64"))]
impl ByteSet {
    fn span_of_vectors(&self, _text: &[u8]) -> usize {
        0
    }
}

#[cfg(target_arch = "x86_64")]
struct Spanning<'a> {
    vectors: Vectors,
    set: &'a ByteSet,
    text: &'a [u8],
}

#[cfg(target_arch = "x86_64")]
impl pulp::NullaryFnOnce for Spanning<'_> {
    /// How many of the first bytes are in the set: up to the first that is not, or to the last whole vector.
    type Output = usize;

    #[expect(clippy::inline_always, reason = "as in `vectors`")]
    #[inline(always)]
    fn call(self) -> usize {
        let vectors = self.vectors;
        let rows = vectors.twice(&self.set.rows);
        let bits = vectors.twice(&self.set.bits);
        let alone = vectors.twice(&self.set.alone);
        let half = vectors.all(0x0f);
        let none = vectors.all(0);
        let mut from = 0;
        for bytes in self.text.as_chunks().0 {
            let bytes = vectors.load(bytes);
            let low = vectors.and(bytes, half);
            let high = vectors.and(vectors.shifted(bytes), half);
            let by_both = vectors.and(vectors.look_up(rows, low), vectors.look_up(bits, high));
            let held = vectors.or(by_both, vectors.look_up(alone, high));
            let others = vectors.same(held, none);
            if others != 0 {
                return from + others.trailing_zeros() as usize;
            }
            from += LANES;
        }
        from
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn set(with_others: bool) -> ByteSet {
        let mut holds = [false; 256];
        let mut byte = 0;
        while byte < 256 {
            holds[byte] = if byte < 128 {
                byte % 3 == 1 || byte == 0
            } else {
                with_others
            };
            byte += 1;
        }
        ByteSet::new(holds)
    }

    #[test]
    fn a_text_reaches_to_the_first_byte_that_is_not_in_the_set() {
        for set in [set(true), set(false)] {
            for last in 0..=u8::MAX {
                for length in [0, 1, 3, 31, 32, 33, 63, 64, 65, 200] {
                    let mut text: Vec<u8> = b"\x01\x04\x00\x7c"
                        .iter()
                        .copied()
                        .cycle()
                        .take(length)
                        .collect();
                    text.push(last);
                    text.extend([1; 40]);
                    let is_held = if last < 128 {
                        last % 3 == 1 || last == 0
                    } else {
                        set.holds(0x80)
                    };
                    let expected = if is_held { text.len() } else { length };
                    assert_eq!(set.span(&text), expected, "{last} after {length}");
                }
            }
        }
    }
}
