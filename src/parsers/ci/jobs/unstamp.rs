//! What wrappers put into lines: stamps of job logs and of `ts`, names of job and step, colors. Readers of text see the text.

use std::borrow::Cow;

use super::super::Line;
use super::super::model::Moment;
use super::super::moments::iso;

/// A line of a job log: when it was printed, and its text.
///
/// `2026-03-14T23:18:02.0001237Z text`, where `gh run view` puts `job<TAB>step<TAB>` before it.
pub(crate) fn job_line(bytes: &[u8]) -> Option<Stamped<'_>> {
    if let Some((at, text)) = stamp(bytes) {
        return Some(Stamped {
            at,
            text,
            columns: None,
        });
    }
    let first = memchr::memchr(b'\t', bytes)?;
    let second = first + 1 + memchr::memchr(b'\t', &bytes[first + 1..])?;
    let rest = &bytes[second + 1..];
    let rest = rest.strip_prefix(b"\xef\xbb\xbf").unwrap_or(rest);
    let (at, text) = stamp(rest)?;
    let columns = Some((&bytes[..first], &bytes[first + 1..second]));
    Some(Stamped { at, text, columns })
}

/// A line of a job log in its parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamped<'a> {
    pub(crate) at: Moment,
    pub(crate) text: &'a [u8],
    /// The job and the step, where they stand before the stamp.
    pub(crate) columns: Option<(&'a [u8], &'a [u8])>,
}

/// `2026-03-14T23:18:02.0001237Z ` and what follows; the space may be lost where nothing does.
fn stamp(bytes: &[u8]) -> Option<(Moment, &[u8])> {
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    if bytes.get(10) != Some(&b'T') || !is_digit(0) {
        return None;
    }
    let (at, length) = iso(bytes)?;
    if bytes.get(length - 1) != Some(&b'Z') {
        return None;
    }
    match bytes.get(length) {
        None => Some((at, b"")),
        Some(b' ') => Some((at, &bytes[length + 1..])),
        Some(_) => None,
    }
}

/// Takes off the stamp that `ts '%Y-%m-%d %H:%M:%S'` puts before a line.
pub(crate) fn without_ts<'a>(line: &Line<'a>) -> Line<'a> {
    let bytes = line.bytes;
    if bytes.get(10) != Some(&b' ') || bytes.get(4) != Some(&b'-') {
        return *line;
    }
    match iso(bytes) {
        Some((at, length)) if matches!(bytes.get(length), None | Some(b' ')) => Line {
            bytes: bytes.get(length + 1..).unwrap_or_default(),
            printed: line.printed.or(Some(at)),
            ..*line
        },
        _ => *line,
    }
}

/// A text without the escape sequences of terminals.
pub(crate) fn plain(bytes: &[u8]) -> Cow<'_, [u8]> {
    let Some(first) = memchr::memchr(0x1b, bytes) else {
        return Cow::Borrowed(bytes);
    };
    let mut out = bytes[..first].to_vec();
    let mut rest = &bytes[first..];
    while let Some((&byte, after)) = rest.split_first() {
        if byte != 0x1b {
            let end = memchr::memchr(0x1b, rest).unwrap_or(rest.len());
            out.extend_from_slice(&rest[..end]);
            rest = &rest[end..];
            continue;
        }
        rest = match after.split_first() {
            // Parameters and intermediates, then a final byte.
            Some((b'[', inner)) => {
                let end = inner.iter().position(|b| !(0x20..0x40).contains(b));
                end.map_or(&[][..], |end| &inner[end + 1..])
            }
            // A title or a link, up to a bell or another escape.
            Some((b']', inner)) => match memchr::memchr2(0x07, 0x1b, inner) {
                Some(end) if inner[end] == 0x07 => &inner[end + 1..],
                Some(end) => inner[end + 1..]
                    .strip_prefix(b"\\")
                    .unwrap_or(&inner[end..]),
                None => &[],
            },
            Some((_, inner)) => inner,
            None => &[],
        };
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stamp_and_the_columns_are_taken_off() {
        let line = job_line(b"2026-03-14T23:18:02.0001237Z ##[error]x").unwrap();
        assert_eq!(
            (line.at.at.short().as_str(), line.text),
            ("2026-03-14 23:18:02", &b"##[error]x"[..])
        );
        let line =
            job_line(b"job / a\tRun b\t\xef\xbb\xbf2026-03-14T23:18:02.0001237Z  x").unwrap();
        assert_eq!(
            (line.columns, line.text),
            (Some((&b"job / a"[..], &b"Run b"[..])), &b" x"[..])
        );
        assert_eq!(
            job_line(b"2026-03-14T23:18:02.0001237Z").map(|it| it.text.len()),
            Some(0)
        );
        assert_eq!(job_line(b"2026-03-14T23:18:02 x"), None);
        assert_eq!(job_line(b"2026-03-14 23:18:02.1Z x"), None);
    }

    #[test]
    fn colors_and_links_are_taken_out() {
        assert_eq!(plain(b"\x1b[31mFAILED\x1b[0m a").as_ref(), b"FAILED a");
        assert_eq!(
            plain(b"\x1b]8;;http://x\x07link\x1b]8;;\x1b\\ b").as_ref(),
            b"link b"
        );
        assert_eq!(plain(b"a\x1b").as_ref(), b"a");
        assert_eq!(plain(b"a\x1b[31").as_ref(), b"a");
    }
}
