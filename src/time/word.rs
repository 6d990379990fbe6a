//! Several bytes looked at all at once, in plain arithmetic: what is shorter than a search is worth a call.

/// How many bytes are looked at all at once.
pub(crate) const WORD: usize = 16;

/// The bytes from `at` on, to be looked at all at once; zeros where there are fewer.
#[inline]
pub(crate) fn word<const W: usize, const N: usize>(bytes: &[u8; N], at: usize) -> [u8; W] {
    let word = bytes.get(at..).and_then(|rest| rest.first_chunk());
    word.copied().unwrap_or([0; W])
}

/// Whether each byte of `word` is ASCII and between those of `lowest` and `highest`, which are.
#[inline]
pub(crate) fn is_between(word: [u8; WORD], lowest: [u8; WORD], highest: [u8; WORD]) -> bool {
    const TOPS: u128 = u128::from_le_bytes([0x80; WORD]);
    let word = u128::from_le_bytes(word);
    // With its top bit set no byte borrows from the next one; the bit is left where the byte is not the smaller.
    let reaches_lowest = (word | TOPS) - u128::from_le_bytes(lowest);
    let within_highest = (u128::from_le_bytes(highest) | TOPS) - (word & !TOPS);
    reaches_lowest & within_highest & !word & TOPS == TOPS
}

/// At each place the number that the digits there and at the next place write.
#[inline]
pub(super) fn pairs(digits: [u8; 8]) -> [u8; 8] {
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

/// A word of which every byte is `byte`.
pub(crate) const fn repeated(byte: u8) -> u128 {
    u128::from_le_bytes([byte; WORD])
}

/// The bits of a word that are set in bytes that are zero. Only the first is sure: behind a byte that is zero, one that is 1
/// seems to be.
#[inline]
pub(crate) fn zeros(word: u128) -> u128 {
    // A byte that is zero borrows from the next.
    word.wrapping_sub(repeated(1)) & !word & repeated(0x80)
}

/// The first byte of which [`zeros`] set a bit.
#[inline]
pub(crate) fn first(bits: u128) -> Option<usize> {
    (bits != 0).then(|| bits.trailing_zeros() as usize / 8)
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
    fn the_first_byte_of_a_kind_is_found_wherever_it_stands() {
        for at in 0..WORD {
            let mut bytes = [b'#'; WORD];
            bytes[at] = b'"';
            // One that differs in its last bit alone, behind it.
            if let Some(next) = bytes.get_mut(at + 1) {
                *next = b'"' + 1;
            }
            let differs = u128::from_le_bytes(bytes) ^ repeated(b'"');
            assert_eq!(first(zeros(differs)), Some(at));
        }
        let none = u128::from_le_bytes([b'#'; WORD]) ^ repeated(b'"');
        assert_eq!(first(zeros(none)), None);
    }
}
