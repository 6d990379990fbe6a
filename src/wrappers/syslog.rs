//! Lines of syslog, and of `journalctl`, which prints the same:
//!
//! ```text
//! Sep 02 04:27:35 tern-2 clickhouse-server[7630]: 2024.09.02 04:27:35.746976 [ 7725 ] {} <Error> ...#012#0120. f() @ 0x1
//! 2024-09-02T04:27:35.746976+00:00 tern-2 clickhouse-server[7630]: ...
//! <11>1 2024-09-02T04:27:35.746976Z tern-2 clickhouse-server 7630 - - ...
//! ```
//!
//! The stamps are of RFC 3164, of RFC 3339 (`-o short-iso`, and rsyslog's newer files) and of RFC 5424; a priority may stand
//! before each. A stamp without a zone and year says nothing that the record's own does not say better.
//!
//! rsyslog writes control characters as `#` and three octal digits: `#0120.` is a line's end and a `0`. Other writers break
//! the line, and `journalctl` indents what follows; such lines belong to the message before.

use super::stamp::read;
use super::{Key, Message, Peeled};
use crate::time::Timestamp;

const MONTHS: [&[u8]; 12] = [
    b"Jan ", b"Feb ", b"Mar ", b"Apr ", b"May ", b"Jun ", b"Jul ", b"Aug ", b"Sep ", b"Oct ",
    b"Nov ", b"Dec ",
];

/// A line taken apart.
struct Parts<'a> {
    time: Option<Timestamp>,
    host: &'a [u8],
    program: &'a [u8],
    text: &'a [u8],
}

/// Skips `<13>`.
fn without_priority(line: &[u8]) -> (&[u8], bool) {
    let digits = |text: &[u8]| text.iter().take_while(|b| b.is_ascii_digit()).count();
    let behind = line.strip_prefix(b"<").and_then(|text| {
        let length = digits(text);
        (1..=3)
            .contains(&length)
            .then(|| text[length..].strip_prefix(b">"))
            .flatten()
    });
    (behind.unwrap_or(line), behind.is_some())
}

/// Skips `Sep 02 04:27:35 ` or the same with a fraction.
fn after_old_stamp(line: &[u8]) -> Option<&[u8]> {
    let (month, rest) = line.split_at_checked(4)?;
    let (day, rest) = rest.split_at_checked(3)?;
    let (clock, rest) = rest.split_at_checked(8)?;
    let is_day = matches!(day, [b' ' | b'0'..=b'3', b'0'..=b'9', b' ']);
    let is_clock = clock.iter().enumerate().all(|(at, byte)| {
        if matches!(at, 2 | 5) {
            *byte == b':'
        } else {
            byte.is_ascii_digit()
        }
    });
    let is_fraction = |byte: &&u8| byte.is_ascii_digit() || **byte == b'.';
    let rest = &rest[rest.iter().take_while(is_fraction).count()..];
    let fits = MONTHS.contains(&month) && is_day && is_clock;
    rest.strip_prefix(b" ").filter(|_| fits)
}

/// The word at the start, and what follows the space behind it.
fn word(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = memchr::memchr(b' ', text)?;
    (end > 0).then(|| (&text[..end], &text[end + 1..]))
}

fn parts(line: &[u8]) -> Option<Parts<'_>> {
    let (line, has_priority) = without_priority(line);
    if let Some(line) = line.strip_prefix(b"1 ").filter(|_| has_priority) {
        return structured(line);
    }
    let (time, rest) = if let Some(rest) = after_old_stamp(line) {
        (None, rest)
    } else {
        let (time, rest) = read(line)?;
        (Some(time), rest.strip_prefix(b" ")?)
    };
    let (host, rest) = word(rest)?;
    let colon = memchr::memchr(b':', &rest[..rest.len().min(128)])?;
    let (tag, text) = (&rest[..colon], &rest[colon + 1..]);
    let program = &tag[..memchr::memchr(b'[', tag).unwrap_or(tag.len())];
    let fits = !program.is_empty() && !program.contains(&b' ') && !host.ends_with(b":");
    fits.then(|| Parts {
        time,
        host,
        program,
        text: text.strip_prefix(b" ").unwrap_or(text),
    })
}

/// The rest of a line of RFC 5424 behind its version.
fn structured(line: &[u8]) -> Option<Parts<'_>> {
    let (stamp, rest) = word(line)?;
    let (host, rest) = word(rest)?;
    let (program, rest) = word(rest)?;
    let (_process, rest) = word(rest)?;
    let (_message_id, rest) = word(rest)?;
    let mut text = rest;
    if let Some(rest) = text.strip_prefix(b"-") {
        text = rest;
    } else {
        while text.starts_with(b"[") {
            text = &text[memchr::memchr(b']', text)? + 1..];
        }
    }
    let text = text.strip_prefix(b" ").unwrap_or(text);
    Some(Parts {
        time: read(stamp).map(|(time, _)| time),
        host,
        program,
        text: text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text),
    })
}

pub(super) fn claims(line: &[u8]) -> bool {
    parts(line).is_some()
}

pub(super) fn peel<'a>(line: &'a [u8], out: &'a mut Vec<u8>) -> Peeled<'a> {
    let Some(parts) = parts(line) else {
        // `-- Boot ... --`, `-- Journal begins at ... --`.
        if line.starts_with(b"-- ") {
            return Peeled::Frame;
        }
        return Peeled::Inner(line.trim_ascii_start());
    };
    Peeled::Message(Message {
        key: Key {
            node: parts.host,
            part: parts.program,
        },
        time: parts.time,
        ..Message::of(unescaped(parts.text, out))
    })
}

/// A text with the control characters that rsyslog wrote as `#` and three octal digits.
fn unescaped<'a>(text: &'a [u8], out: &'a mut Vec<u8>) -> &'a [u8] {
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'#', rest) {
        let control = match rest.get(at + 1..at + 4) {
            Some([b'0', tens @ b'0'..=b'3', ones @ b'0'..=b'7']) => {
                Some((tens - b'0') * 8 + (ones - b'0'))
            }
            Some(_) | None => None,
        };
        let (plain, behind) = rest.split_at(at + 1);
        if let Some(byte) = control {
            out.extend_from_slice(&plain[..at]);
            out.push(byte);
            rest = &behind[3..];
        } else {
            out.extend_from_slice(plain);
            rest = behind;
        }
    }
    if rest.len() == text.len() {
        return text;
    }
    out.extend_from_slice(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_line(line: &str) -> Option<(String, String, String)> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        parts(line.as_bytes()).map(|it| (text(it.host), text(it.program), text(it.text)))
    }

    #[test]
    fn host_program_and_text_are_read_from_every_form() {
        for line in [
            "Sep 02 04:27:35 h p[7]: a: b",
            "Sep  2 04:27:35.746976 h p[7]: a: b",
            "<11>Sep 02 04:27:35 h p: a: b",
            "2024-09-02T04:27:35.746976+00:00 h p[7]: a: b",
            "2024-09-02T04:27:35+0200 h p[7]: a: b",
            "<11>1 2024-09-02T04:27:35.746976Z h p 7 - - a: b",
            "<11>1 2024-09-02T04:27:35.746976Z h p 7 - [x y=\"1\"][z] a: b",
        ] {
            let expected = Some(("h".to_owned(), "p".to_owned(), "a: b".to_owned()));
            assert_eq!(read_line(line), expected, "{line}");
        }
        for line in [
            "Sep 02 04:27:35 h",
            "Sep 42 04:27:35 h p: x",
            "2024.09.02 04:27:35.7 [ 1 ] {} <a> b: c",
            "",
        ] {
            assert_eq!(read_line(line), None, "{line}");
        }
    }

    #[test]
    fn an_octal_escape_has_three_digits() {
        let mut out = Vec::new();
        assert_eq!(
            unescaped(b"a#0120. f#01210. g#011#x#9#12", &mut out),
            b"a\n0. f\n10. g\t#x#9#12"
        );
    }
}
