//! A stamp with a zone before each line: GitHub Actions, `docker logs -t`, `kubectl logs --timestamps`.
//!
//! ```text
//! 2026-03-14T23:18:02.0001237Z 2026.03.14 23:18:02.000003 [ 7 ] {} <Error> ...
//! job name<TAB>step name<TAB>2026-03-14T23:18:02.0001237Z ...
//! ```
//!
//! The second form is what `gh run view --log` prints.

use super::{Message, Peeled};
use crate::time::{MINUTE, Timestamp};

/// Reads `2026-03-14T23:18:02.0001237Z` or the same with `+02:00` or `+0200`: the instant in UTC, and what follows.
pub(super) fn read(text: &[u8]) -> Option<(Timestamp, &[u8])> {
    if text.get(10) != Some(&b'T') {
        return None;
    }
    let (local, length) = Timestamp::read(text)?;
    let rest = text.get(length..)?;
    if let Some(rest) = rest.strip_prefix(b"Z") {
        return Some((local, rest));
    }
    let (sign, digits) = match rest.split_first()? {
        (b'+', digits) => (1, digits),
        (b'-', digits) => (-1, digits),
        _ => return None,
    };
    let two = |at: usize| {
        let pair = digits.get(at..at + 2)?;
        let all = pair.iter().all(u8::is_ascii_digit);
        all.then(|| i64::from(pair[0] - b'0') * 10 + i64::from(pair[1] - b'0'))
    };
    let colon = usize::from(digits.get(2) == Some(&b':'));
    let offset = sign * (two(0)? * 60 + two(2 + colon)?) * MINUTE;
    Some((Timestamp(local.0 - offset), &digits[4 + colon..]))
}

/// The stamp and the text behind it.
fn split(line: &[u8]) -> Option<(Timestamp, &[u8])> {
    let (time, rest) = if let Some(found) = read(line) {
        found
    } else {
        let mut tabs = memchr::memchr_iter(b'\t', line);
        let (_, second) = (tabs.next()?, tabs.next()?);
        let behind = &line[second + 1..];
        read(behind.strip_prefix(b"\xef\xbb\xbf").unwrap_or(behind))?
    };
    match rest.split_first() {
        Some((b' ', text)) => Some((time, text)),
        None => Some((time, rest)),
        Some(_) => None,
    }
}

pub(super) fn claims(line: &[u8]) -> bool {
    split(line).is_some()
}

pub(super) fn peel(line: &[u8]) -> Peeled<'_> {
    match split(line) {
        Some((time, text)) => Peeled::Message(Message {
            time: Some(time),
            ..Message::of(text)
        }),
        None => Peeled::Foreign,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_is_read_in_utc_whatever_its_zone() {
        let utc = |text: &str| read(text.as_bytes()).map(|(time, rest)| (time.0, rest.len()));
        let expected = Timestamp::read(b"2026-03-14 23:18:02").unwrap().0.0;
        assert_eq!(utc("2026-03-14T23:18:02Z x"), Some((expected, 2)));
        assert_eq!(utc("2026-03-15T01:18:02+02:00"), Some((expected, 0)));
        assert_eq!(
            utc("2026-03-14T17:48:02.000000000-0530 "),
            Some((expected, 1))
        );
        for text in [
            "2026-03-14T23:18:02",
            "2026-03-14 23:18:02Z",
            "2026-03-14T23:18:02+2",
            "",
        ] {
            assert_eq!(utc(text), None, "{text}");
        }
    }
}
