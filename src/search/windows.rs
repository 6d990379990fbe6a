//! Which of many short texts stand where.

use super::LANES;
#[cfg(target_arch = "x86_64")]
use super::vectors::Vectors;

/// How many bytes a window has.
pub const WINDOW: usize = 4;

/// Up to a few dozen windows, found wherever they stand, overlapping ones included.
///
/// Each window is in one of eight buckets. Two look-ups of sixteen entries for each of its bytes, by the low and the high half,
/// tell in which buckets a byte may be; where all four bytes may be of one bucket, the bytes are looked up in a table.
#[derive(Debug)]
pub struct Windows {
    #[cfg(target_arch = "x86_64")]
    vectors: Vectors,
    /// By byte of a window and half of the byte: the buckets.
    low: [[u8; HALVES]; WINDOW],
    high: [[u8; HALVES]; WINDOW],
    /// Each window at its hash, and its number; [`EMPTY`] where there is none.
    slots: Vec<(u32, u16)>,
    multiplier: u32,
    shift: u32,
}

const HALVES: usize = 16;
const BUCKETS: usize = 8;
const EMPTY: u16 = u16::MAX;

/// How many windows are found before they are handed over: most texts hold one or none.
const FOUND_MAX: usize = 8;

/// A window found: where it begins, and its number.
type Found = (u32, u32);

impl Windows {
    /// How many windows are found well: with more, many places look like one.
    pub const MAX: usize = 64;

    /// Prepares windows, each another; `None` where the machine lacks the instructions, and where so many find no table.
    pub fn new(windows: &[[u8; WINDOW]]) -> Option<Self> {
        #[cfg(target_arch = "x86_64")]
        {
            let vectors = Vectors::get()?;
            let (low, high) = halves(&buckets(windows));
            let (slots, multiplier) = slots(windows)?;
            Some(Self {
                vectors,
                low,
                high,
                shift: u32::BITS - slots.len().ilog2(),
                slots,
                multiplier,
            })
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            let _ = windows;
            None
        }
    }

    /// Calls `found` with the number of a window and the place where it begins, for each place in the first `length` bytes of
    /// `text` at which one stands whole, in order. What stands behind them is looked at and not searched.
    #[inline]
    pub fn find(&self, text: &[u8], length: usize, mut found: impl FnMut(usize, usize)) {
        let mut these: [Found; FOUND_MAX] = [(0, 0); FOUND_MAX];
        let mut from = 0;
        while from + WINDOW <= length {
            let rest = &text[from..];
            let (count, searched) = if rest.len() < LANES {
                let mut padded = [0; LANES];
                padded[..rest.len()].copy_from_slice(rest);
                (self.search(&padded, length - from, &mut these), LANES)
            } else {
                let searched = rest.len() / LANES * LANES;
                (self.search(rest, length - from, &mut these), searched)
            };
            for &(at, number) in &these[..count] {
                found(number as usize, from + at as usize);
            }
            from += match these.last() {
                // What is found later begins later.
                Some((at, _)) if count == FOUND_MAX => *at as usize + 1,
                // A window may stand astride of the last whole vector.
                _ => searched - (WINDOW - 1),
            };
        }
    }

    /// The first windows that stand in the first `length` bytes of `text`, as far as whole vectors of it reach; how many they are.
    #[inline]
    fn search(&self, text: &[u8], length: usize, found: &mut [Found; FOUND_MAX]) -> usize {
        #[cfg(target_arch = "x86_64")]
        {
            self.vectors.run(Search {
                windows: self,
                text,
                length,
                found,
            })
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            let _ = (text, length, found);
            0
        }
    }

    /// The number of the window that begins at `start`, if one does.
    #[inline]
    fn number(&self, text: &[u8], start: usize) -> Option<u32> {
        let window = text.get(start..)?.first_chunk()?;
        let window = u32::from_le_bytes(*window);
        let slot = (window.wrapping_mul(self.multiplier) >> self.shift) as usize;
        let (known, number) = *self.slots.get(slot)?;
        (known == window && number != EMPTY).then_some(u32::from(number))
    }
}

/// Which halves of bytes fit a bucket: a bit for each, by place in a window.
#[derive(Debug, Clone, Copy, Default)]
struct Bucket {
    low: [u16; WINDOW],
    high: [u16; WINDOW],
}

impl Bucket {
    fn with(mut self, window: [u8; WINDOW]) -> Self {
        for (place, byte) in window.into_iter().enumerate() {
            self.low[place] |= 1 << (byte & 0x0f);
            self.high[place] |= 1 << (byte >> 4);
        }
        self
    }

    /// In how many of all places it fits, roughly: letters are common, and of the lower halves all are.
    fn rate(&self) -> f64 {
        const HIGH: [f64; HALVES] = [
            0.0, 0.0, 0.25, 0.2, 0.05, 0.05, 0.25, 0.2, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
        ];
        let share = |place: usize| {
            let high = (0..HALVES).filter(|half| self.high[place] >> half & 1 == 1);
            let high: f64 = high.map(|half| HIGH[half]).sum();
            high * f64::from(self.low[place].count_ones()) / 16.0
        };
        (0..WINDOW).map(share).product()
    }
}

/// Puts each window into the bucket in which it makes the fewest other bytes fit.
fn buckets(windows: &[[u8; WINDOW]]) -> [Bucket; BUCKETS] {
    let mut buckets = [(Bucket::default(), 0.0); BUCKETS];
    for window in windows {
        let costs = buckets.map(|(bucket, rate)| bucket.with(*window).rate() - rate);
        let cheapest = (0..BUCKETS).min_by(|&one, &other| costs[one].total_cmp(&costs[other]));
        let (bucket, rate) = &mut buckets[cheapest.unwrap_or(0)];
        *bucket = bucket.with(*window);
        *rate = bucket.rate();
    }
    buckets.map(|(bucket, _)| bucket)
}

/// By place in a window and half of a byte: a bit for each bucket.
type Halves = [[u8; HALVES]; WINDOW];

fn halves(buckets: &[Bucket; BUCKETS]) -> (Halves, Halves) {
    let of = |halves: fn(&Bucket) -> &[u16; WINDOW]| {
        let mut table = [[0; HALVES]; WINDOW];
        for (number, bucket) in buckets.iter().enumerate() {
            for (fits, entries) in halves(bucket).iter().zip(&mut table) {
                for (half, entry) in entries.iter_mut().enumerate() {
                    *entry |= u8::from(fits >> half & 1 == 1) << number;
                }
            }
        }
        table
    };
    (of(|bucket| &bucket.low), of(|bucket| &bucket.high))
}

/// A table in which each window has a slot of its own, and the multiplier by which it is found there; `None` if there is none
/// of a size that pays.
fn slots(windows: &[[u8; WINDOW]]) -> Option<(Vec<(u32, u16)>, u32)> {
    const BITS_MAX: u32 = 20;
    const TRIES: u32 = 32;
    // Knuth's multiplicative hash: the upper bits are well mixed.
    let mut multiplier: u32 = 0x9e37_79b1;
    let least = (windows.len() * 4).next_power_of_two().ilog2().max(1);
    for bits in least..=BITS_MAX {
        for _ in 0..TRIES {
            let mut slots = vec![(0, EMPTY); 1 << bits];
            let are_alone = (0..EMPTY).zip(windows).all(|(number, window)| {
                let window = u32::from_le_bytes(*window);
                let slot = window.wrapping_mul(multiplier) >> (u32::BITS - bits);
                let slot = &mut slots[slot as usize];
                let is_free = slot.1 == EMPTY;
                *slot = (window, number);
                is_free
            });
            if are_alone {
                return Some((slots, multiplier));
            }
            multiplier = multiplier.wrapping_mul(0x0019_660d) | 1;
        }
    }
    None
}

#[cfg(target_arch = "x86_64")]
struct Search<'s> {
    windows: &'s Windows,
    text: &'s [u8],
    length: usize,
    found: &'s mut [Found; FOUND_MAX],
}

#[cfg(target_arch = "x86_64")]
impl pulp::NullaryFnOnce for Search<'_> {
    /// How many were found in the whole vectors of the text.
    type Output = usize;

    #[expect(clippy::inline_always, reason = "as in `vectors`")]
    #[inline(always)]
    fn call(self) -> usize {
        let vectors = self.windows.vectors;
        let [low0, low1, low2, low3] = &self.windows.low;
        let [high0, high1, high2, high3] = &self.windows.high;
        let (low0, high0) = (vectors.twice(low0), vectors.twice(high0));
        let (low1, high1) = (vectors.twice(low1), vectors.twice(high1));
        let (low2, high2) = (vectors.twice(low2), vectors.twice(high2));
        let (low3, high3) = (vectors.twice(low3), vectors.twice(high3));
        let half = vectors.all(0x0f);
        let none = vectors.all(0);
        // Of the vector before: the buckets of which a window's first bytes may stand there. None before the text.
        let (mut before0, mut before1, mut before2) = (none, none, none);
        let mut count = 0;
        let mut at = 0;
        for bytes in self.text.as_chunks().0 {
            if at >= self.length {
                break;
            }
            let bytes = vectors.load(bytes);
            let low = vectors.and(bytes, half);
            let high = vectors.and(vectors.shifted(bytes), half);
            let first = vectors.and(vectors.look_up(low0, low), vectors.look_up(high0, high));
            let second = vectors.and(vectors.look_up(low1, low), vectors.look_up(high1, high));
            let third = vectors.and(vectors.look_up(low2, low), vectors.look_up(high2, high));
            let fourth = vectors.and(vectors.look_up(low3, low), vectors.look_up(high3, high));
            // The first bytes of a window stand before its last one.
            let fits = vectors.and(
                vectors.and(
                    vectors.moved::<13>(before0, first),
                    vectors.moved::<14>(before1, second),
                ),
                vectors.and(vectors.moved::<15>(before2, third), fourth),
            );
            (before0, before1, before2) = (first, second, third);
            // Nothing is called here: that would cost all that is at hand.
            let mut ends = !vectors.same(fits, none);
            while ends != 0 {
                let end = at + ends.trailing_zeros() as usize;
                ends &= ends - 1;
                if end >= self.length {
                    return count;
                }
                let start = end.wrapping_sub(WINDOW - 1);
                if let Some(number) = self.windows.number(self.text, start)
                    && let Some(next) = self.found.get_mut(count)
                {
                    *next = (u32::try_from(start).unwrap_or(u32::MAX), number);
                    count += 1;
                    if count == FOUND_MAX {
                        return count;
                    }
                }
            }
            at += LANES;
        }
        count
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    fn found(windows: &[[u8; WINDOW]], text: &[u8], length: usize) -> Option<Vec<(usize, usize)>> {
        let mut places = Vec::new();
        Windows::new(windows)?.find(text, length, |number, at| places.push((at, number)));
        Some(places)
    }

    fn expected(windows: &[[u8; WINDOW]], text: &[u8], length: usize) -> Vec<(usize, usize)> {
        let stands = |at: usize| {
            let number = windows.iter().position(|it| *it == text[at..at + WINDOW]);
            number.map(|number| (at, number))
        };
        (0..(length + 1).saturating_sub(WINDOW))
            .filter_map(stands)
            .collect()
    }

    #[test]
    fn every_window_is_found_at_every_place_and_none_behind_the_length() {
        // Bytes of a small alphabet: windows stand often, overlap, and nearly stand nearly everywhere.
        let mut seed = 1_u32;
        let mut next = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            seed >> 24
        };
        for count in [1, 2, 8, 9, 40, 64, 200] {
            let mut windows: Vec<[u8; WINDOW]> = Vec::new();
            while windows.len() < count {
                let window = [(); WINDOW].map(|()| b"abcde\x00\xffz"[next() as usize % 8]);
                if !windows.contains(&window) {
                    windows.push(window);
                }
            }
            let text: Vec<u8> = (0..3000)
                .map(|_| b"abcde\x00\xffz"[next() as usize % 8])
                .collect();
            for length in (0..100).chain([255, 256, 257, 299, 300, 1023, 1024, 1025, 1500, 3000]) {
                let Some(found) = found(&windows, &text, length) else {
                    return;
                };
                assert_eq!(found, expected(&windows, &text, length), "{count} {length}");
                let cut = Windows::new(&windows).map(|it| {
                    let mut places = Vec::new();
                    it.find(&text[..length], length, |number, at| {
                        places.push((at, number));
                    });
                    places
                });
                assert_eq!(
                    cut,
                    Some(expected(&windows, &text, length)),
                    "{count} {length}"
                );
            }
        }
    }
}
