//! Pieces of heads that several formats share: words, brackets, levels, labels of threads, the shape of a stamp.

use crate::search::{WORD, first, is_between, places, short_number, word as chunk};
use crate::time::Timestamp;
use crate::vocab::Level;

/// The line that a text begins with: what decides whether it is a head must stand on it.
pub(super) fn first_line(text: &[u8]) -> &[u8] {
    memchr::memchr(b'\n', text).map_or(text, |end| &text[..end])
}

/// The first word, and what follows the blanks after it.
pub(super) fn word(text: &[u8]) -> (&[u8], &[u8]) {
    match memchr::memchr(b' ', text) {
        Some(at) => (&text[..at], text[at + 1..].trim_ascii_start()),
        None => (text, b""),
    }
}

/// What stands before the first blank, if there is one in the few bytes that a fraction or a zone may have, and what follows
/// it: no line is searched for its end, only what may stand in a stamp is looked at.
#[inline]
pub(super) fn up_to_blank(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = match text.first_chunk::<WORD>() {
        Some(bytes) => first(places(*bytes, b' ') | places(*bytes, b'\n')),
        None => text.iter().position(|byte| matches!(byte, b' ' | b'\n')),
    }?;
    (text[at] == b' ').then(|| (&text[..at], &text[at + 1..]))
}

/// What stands in `[...]` at the start of a text, and what follows it.
pub(super) fn bracketed(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let inner = text.strip_prefix(b"[")?;
    let end = memchr::memchr(b']', inner)?;
    Some((&inner[..end], &inner[end + 1..]))
}

/// The source before the first `": "`, if no blank stands in it, and the message behind.
pub(super) fn source(text: &[u8]) -> (&[u8], &[u8]) {
    match memchr::memchr2(b':', b' ', text) {
        Some(at) if text[at..].starts_with(b": ") => (&text[..at], &text[at + 2..]),
        _ => (b"", text),
    }
}

/// The number that begins a text, and what follows it. It wraps beyond 64 bits.
#[inline]
pub(super) fn number(text: &[u8]) -> Option<(u64, &[u8])> {
    if let Some((value, digits)) = text.first_chunk().copied().and_then(short_number) {
        return Some((value, &text[digits..]));
    }
    let digits = text.iter().take_while(|b| b.is_ascii_digit()).count();
    let value = text[..digits].iter().fold(0_u64, |value, digit| {
        value.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'))
    });
    (digits > 0).then_some((value, &text[digits..]))
}

/// A number that stands for a thread's name: the number in it if it is one, else a hash.
pub(super) fn label(name: &[u8]) -> u64 {
    match number(name) {
        Some((value, b"")) => value,
        // FNV-1a: equal names give equal numbers, whatever the machine.
        _ => name.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        }),
    }
}

/// The level that a word names in any of the spellings that loggers use, upper or lower case.
pub(super) fn level(word: &[u8]) -> Option<Level> {
    const LONGEST: usize = "information".len();
    let mut lower = [0; LONGEST];
    let lower = lower.get_mut(..word.len())?;
    lower.copy_from_slice(word);
    lower.make_ascii_lowercase();
    Some(match &*lower {
        b"info" | b"inf" | b"information" => Level::Information,
        b"debug" | b"dbg" => Level::Debug,
        b"trace" | b"trc" => Level::Trace,
        b"warn" | b"wrn" | b"warning" => Level::Warning,
        b"error" | b"err" => Level::Error,
        b"notice" => Level::Notice,
        b"fatal" | b"ftl" | b"panic" => Level::Fatal,
        b"critical" | b"dpanic" => Level::Critical,
        b"test" => Level::Test,
        _ => return None,
    })
}

/// The level that one letter stands for.
pub(super) fn level_letter(letter: u8) -> Option<Level> {
    Some(match letter {
        b'I' => Level::Information,
        b'W' => Level::Warning,
        b'E' => Level::Error,
        b'D' => Level::Debug,
        b'N' => Level::Notice,
        b'F' => Level::Fatal,
        b'C' => Level::Critical,
        b'T' => Level::Trace,
        _ => return None,
    })
}

/// Whether a text begins with the shape of `YYYY-MM-DD HH:MM:SS`, with this separator in the date.
#[inline]
pub(super) fn is_dated(text: &[u8], separator: u8) -> bool {
    let Some(head) = text.first_chunk::<19>() else {
        return false;
    };
    head[4] == separator
        && head[7] == separator
        && matches!(head[10], b' ' | b'T')
        && is_between(chunk(head, 0), *b"0000-00-00 00:00", *b"9999/19/39T29:59")
        && is_between(chunk(head, 3), *b"0-00-00 00:00:00", *b"9/19/39T29:59:69")
}

/// `LYYMMDD HH:MM:SS.uuuuuu `, the head of several systems: the level's letter, the stamp, and what follows.
pub(super) fn short_dated(line: &[u8]) -> Option<(Level, Option<Timestamp>, &[u8])> {
    let head = line.first_chunk::<24>()?;
    let level = level_letter(head[0])?;
    let fits = head[7] == b' '
        && head[1..7].iter().all(u8::is_ascii_digit)
        && is_between(chunk(head, 8), *b"00:00:00.000000 ", *b"29:59:69.999999 ");
    if !fits {
        return None;
    }
    // Two digits of a year: these systems are younger than 2000.
    let mut whole = *b"20YY-MM-DD HH:MM:SS.uuuuuu";
    whole[2..4].copy_from_slice(&head[1..3]);
    whole[5..7].copy_from_slice(&head[3..5]);
    whole[8..10].copy_from_slice(&head[5..7]);
    whole[11..26].copy_from_slice(&head[8..23]);
    let time = Timestamp::read(&whole).map(|(time, _)| time);
    Some((level, time, &line[24..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shape_of_a_stamp_is_seen_without_reading_it() {
        assert!(is_dated(b"2026-11-29 16:20:33,996", b'-'));
        assert!(is_dated(b"2026/11/29 16:20:33", b'/'));
        assert!(!is_dated(b"2026/11/29 16:20:33", b'-'));
        assert!(!is_dated(b"2026-11-29 16:20:3", b'-'));
        assert!(!is_dated(b"2026-11-29 16.20:33", b'-'));
        assert!(!is_dated(b"2026-11-29816:20:33", b'-'));
        assert!(!is_dated(b"20x6-11-29 16:20:33", b'-'));
    }

    #[test]
    fn what_a_stamp_may_have_ends_at_a_blank_of_its_own_line() {
        let up_to = |text: &'static str| {
            let (before, after) = up_to_blank(text.as_bytes())?;
            Some((
                str::from_utf8(before).unwrap(),
                str::from_utf8(after).unwrap(),
            ))
        };
        assert_eq!(up_to(".512Z [x]"), Some((".512Z", "[x]")));
        assert_eq!(up_to(" [x]"), Some(("", "[x]")));
        let long = ".512209+02:00 [WRN] a text";
        assert_eq!(up_to(long), Some((".512209+02:00", "[WRN] a text")));
        for none in [
            "",
            ".512\n [WRN]",
            ".512209\n [WRN] a text behind it",
            ".1234567890123456 a",
        ] {
            assert_eq!(up_to(none), None, "{none}");
        }
    }

    #[test]
    fn a_number_of_any_length_is_read_and_wraps() {
        let of =
            |text: &'static str| number(text.as_bytes()).map(|(value, rest)| (value, rest.len()));
        assert_eq!(of("7] and more text"), Some((7, 15)));
        assert_eq!(of("7"), Some((7, 0)));
        assert_eq!(of("12345678 and more"), Some((12_345_678, 9)));
        assert_eq!(of("18446744073709551617."), Some((1, 1)));
        assert_eq!((of("x7 and more text"), of("")), (None, None));
    }

    #[test]
    fn a_thread_is_its_number_or_a_hash_of_its_name() {
        assert_eq!(label(b"312"), 312);
        assert_ne!(label(b"nuraft_w_0"), label(b"nuraft_w_1"));
    }

    #[test]
    fn a_short_stamp_is_of_this_century() {
        let (level, time, rest) = short_dated(b"W230808 00:14:22.026821 312 x").unwrap();
        let (expected, _) = Timestamp::read(b"2023-08-08 00:14:22.026821").unwrap();
        assert_eq!(
            (level, time, rest),
            (Level::Warning, Some(expected), &b"312 x"[..])
        );
        assert!(short_dated(b"W230808 00:14:22.02682 312 x").is_none());
        assert!(short_dated(b"X230808 00:14:22.026821 312 x").is_none());
    }
}
