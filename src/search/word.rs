//! Several bytes looked at all at once: what is shorter than a search is worth a call.
//!
//! Every `x86_64` has instructions for it; elsewhere the compiler finds its own.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::__m128i;

#[cfg(target_arch = "x86_64")]
use pulp::{bytemuck, core_arch::x86::Sse2};

/// How many bytes are looked at all at once.
pub(crate) const WORD: usize = 16;

/// The bytes from `at` on, to be looked at all at once; zeros where there are fewer.
#[inline]
pub(crate) fn word<const W: usize, const N: usize>(bytes: &[u8; N], at: usize) -> [u8; W] {
    let word = bytes.get(at..).and_then(|rest| rest.first_chunk());
    word.copied().unwrap_or([0; W])
}

/// Whether each byte of `word` is between those of `lowest` and `highest`.
#[inline]
pub(crate) fn is_between(word: [u8; WORD], lowest: [u8; WORD], highest: [u8; WORD]) -> bool {
    #[cfg(target_arch = "x86_64")]
    if let Some(sse2) = Sse2::try_new() {
        let [word, lowest, highest]: [__m128i; 3] = [word, lowest, highest].map(bytemuck::cast);
        let within = sse2._mm_min_epu8(sse2._mm_max_epu8(word, lowest), highest);
        return sse2._mm_movemask_epi8(sse2._mm_cmpeq_epi8(within, word)) == 0xffff;
    }
    let bounds = lowest.iter().zip(&highest);
    let mut bytes = word.iter().zip(bounds);
    bytes.all(|(byte, (low, high))| (low..=high).contains(&byte))
}

/// At each place the number that the digits there and at the next place write.
#[inline]
pub(crate) fn pairs(digits: [u8; 8]) -> [u8; 8] {
    const DIGITS: u64 = 0x0f0f_0f0f_0f0f_0f0f;
    let digits = u64::from_le_bytes(digits);
    // At most 9 * 10 + 15 in a byte, so none carries; what stands at other bytes than digits is not looked at.
    ((digits & DIGITS).wrapping_mul(10) + ((digits >> 8) & DIGITS)).to_le_bytes()
}

/// The number that the digits at the start of `word` write, and how many they are; `None` for none and for eight.
#[inline]
pub(crate) fn short_number(word: [u8; 8]) -> Option<(u64, usize)> {
    const TOPS: u64 = u64::from_le_bytes([0x80; 8]);
    const TO_TOP: u64 = u64::from_le_bytes([0x80 - 10; 8]);
    let word = u64::from_le_bytes(word) ^ u64::from_le_bytes([b'0'; 8]);
    // What is no digit has its top bit set, or gets it; behind the first such byte others may seem to.
    let others = (word.wrapping_add(TO_TOP) | word) & TOPS;
    let bits = others.trailing_zeros() & !7;
    if bits == 0 || others == 0 {
        return None;
    }
    // Zeros take the places before the digits.
    let digits = word << (u64::BITS - bits);
    let pairs = (digits.wrapping_mul(10) + (digits >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs.wrapping_mul(100) + (pairs >> 16)) & 0x0000_ffff_0000_ffff;
    let number = fours.wrapping_mul(10_000) + (fours >> 32);
    Some((number & 0xffff_ffff, bits as usize / 8))
}

/// A bit for each byte of `word` that is `byte`, the lowest for the first.
#[inline]
pub(crate) fn places(word: [u8; WORD], byte: u8) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if let Some(sse2) = Sse2::try_new() {
        let same =
            sse2._mm_cmpeq_epi8(bytemuck::cast(word), sse2._mm_set1_epi8(byte.cast_signed()));
        return sse2._mm_movemask_epi8(same).cast_unsigned();
    }
    let bits = (0..).zip(word).map(|(at, it)| u32::from(it == byte) << at);
    bits.fold(0, |all, bit| all | bit)
}

/// The place of the first of [`places`].
#[inline]
pub(crate) fn first(places: u32) -> Option<usize> {
    (places != 0).then(|| places.trailing_zeros() as usize)
}

/// Whether `text` begins with `piece`. Most pieces are short, and what compares any length is a call: their ends are compared,
/// which overlap.
#[inline]
pub(crate) fn begins_with(text: &[u8], piece: &[u8]) -> bool {
    let Some(text) = text.get(..piece.len()) else {
        return false;
    };
    if piece.len() > 2 * WORD {
        return text == piece;
    }
    let by_words = ends_are_same::<WORD>(text, piece)
        .or_else(|| ends_are_same::<8>(text, piece))
        .or_else(|| ends_are_same::<4>(text, piece));
    by_words.unwrap_or_else(|| text.iter().eq(piece))
}

/// Whether two texts of one length, at most `2 * N`, are the same; `None` for shorter ones than `N`.
#[inline]
fn ends_are_same<const N: usize>(one: &[u8], other: &[u8]) -> Option<bool> {
    let first = one.first_chunk::<N>()? == other.first_chunk::<N>()?;
    let last = one.last_chunk::<N>()? == other.last_chunk::<N>()?;
    Some(first && last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn up_to_seven_digits_are_read_at_once() {
        let read = |text: &[u8; 8]| short_number(*text);
        assert_eq!(read(b"7 ] {} <"), Some((7, 1)));
        assert_eq!(read(b"1234567 "), Some((1_234_567, 7)));
        assert_eq!(read(b"0090 123"), Some((90, 4)));
        assert_eq!(read(b"42\xff\xff9999"), Some((42, 2)));
        assert_eq!((read(b"12345678"), read(b" 1234567")), (None, None));
    }

    #[test]
    fn a_text_begins_with_a_piece_of_any_length_if_no_byte_differs() {
        let text: Vec<u8> = (0..80).collect();
        for length in 0..=text.len() {
            let piece = &text[..length];
            assert!(begins_with(&text, piece) && begins_with(piece, piece));
            assert!(length == 0 || !begins_with(&piece[1..], piece));
            for at in 0..length {
                let mut other = piece.to_vec();
                other[at] ^= 0x80;
                assert!(!begins_with(&text, &other), "{at} of {length}");
            }
        }
    }

    #[test]
    fn the_first_byte_of_a_kind_is_found_wherever_it_stands() {
        for at in 0..WORD {
            let mut bytes = [b'#'; WORD];
            bytes[at] = b'"';
            // One that differs in its last bit alone, behind it.
            if let Some(next) = bytes.get_mut(at + 1) {
                *next = b'"' + 1;
            }
            assert_eq!(first(places(bytes, b'"')), Some(at));
        }
        assert_eq!(first(places([b'#'; WORD], b'"')), None);
        assert_eq!(places(*b"a..b............", b'.'), 0xfff6);
    }

    #[test]
    fn every_byte_must_be_between_its_bounds() {
        let (lowest, highest) = (*b"0000.00.00 00:00", *b"9999.19.39 29:59");
        let is_stamp = |word: &[u8; WORD]| is_between(*word, lowest, highest);
        assert!(is_stamp(b"2026.11.29 16:29"));
        for at in 0..WORD {
            for byte in [0, b'/', b':' + 1, 0x80, 0xb0, 0xff] {
                let mut word = *b"2026.11.29 16:29";
                word[at] = byte;
                assert!(!is_stamp(&word), "{byte} at {at}");
            }
        }
    }
}
