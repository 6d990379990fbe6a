//! JSON objects of one line, walked where they stand: members are slices of the line, and only text that is asked for is
//! decoded.
//!
//! A line that is cut or broken gives the members before the fault, and [`Members::is_whole`] says so.

use crate::search::{WORD, first, places};

/// The value of a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Value<'a> {
    /// What stands between the quotation marks, escapes as written.
    Text(&'a [u8]),
    /// A number, a word, an object or a list, as written.
    Other(&'a [u8]),
}

impl<'a> Value<'a> {
    /// What is written, without quotation marks.
    pub(crate) fn bytes(self) -> &'a [u8] {
        let (Self::Text(bytes) | Self::Other(bytes)) = self;
        bytes
    }
}

/// The members of the object that a line is.
#[derive(Debug)]
pub(crate) struct Members<'a> {
    rest: &'a [u8],
    /// Whether the object ended with its brace and nothing behind it.
    is_whole: bool,
}

/// Those of the object that `line` begins with, as they are written; none if it begins no object.
pub(crate) fn pairs(line: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let members = Members::of(line).into_iter().flatten();
    members.map(|(key, value)| (key, value.bytes()))
}

impl<'a> Members<'a> {
    /// The members of `line`; `None` if it begins no object.
    pub(crate) fn of(line: &'a [u8]) -> Option<Self> {
        let rest = line.trim_ascii_start().strip_prefix(b"{")?;
        Some(Self {
            rest: rest.trim_ascii_start(),
            is_whole: false,
        })
    }

    /// Whether the object was read to its end.
    #[cfg(test)]
    pub(crate) fn is_whole(&self) -> bool {
        self.is_whole
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = (&'a [u8], Value<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(rest) = self.rest.strip_prefix(b"}") {
            self.is_whole = rest.trim_ascii_start().is_empty();
            self.rest = b"";
            return None;
        }
        let (key, rest) = key(self.rest)?;
        let rest = skip_spaces(rest).strip_prefix(b":")?;
        let rest = skip_spaces(rest);
        let (value, rest) = match rest.first()? {
            b'"' => match text(rest) {
                Some((value, rest)) => (Value::Text(value), rest),
                // A line that is cut inside a text: what is there of it.
                None => (Value::Text(&rest[1..]), &b""[..]),
            },
            _ => other(rest)?,
        };
        let rest = skip_spaces(rest);
        self.rest = rest.strip_prefix(b",").map_or(rest, skip_spaces);
        Some((key, value))
    }
}

#[inline]
fn skip_spaces(text: &[u8]) -> &[u8] {
    match text.first() {
        Some(b' ' | b'\t') => text.trim_ascii_start(),
        Some(_) | None => text,
    }
}

/// The text that is a member's name. Most names are too short for a search to pay that has to be called.
#[inline]
fn key(input: &[u8]) -> Option<(&[u8], &[u8])> {
    let Some([b'"', bytes @ ..]) = input.first_chunk::<{ 1 + WORD }>() else {
        return text(input);
    };
    let either = places(*bytes, b'"') | places(*bytes, b'\\');
    match first(either).map(|at| input[1..].split_at(at)) {
        Some((name, [b'"', rest @ ..])) => Some((name, rest)),
        _ => text(input),
    }
}

/// The text that begins with the quotation mark at the start, as written, and what follows it.
pub(crate) fn text(input: &[u8]) -> Option<(&[u8], &[u8])> {
    let input = input.strip_prefix(b"\"")?;
    let mut at = 0;
    loop {
        at += memchr::memchr2(b'"', b'\\', &input[at..])?;
        if input[at] == b'"' {
            return Some((&input[..at], &input[at + 1..]));
        }
        at += 2;
        if at > input.len() {
            return None;
        }
    }
}

/// A value that is no text, and what follows it.
pub(crate) fn other(input: &[u8]) -> Option<(Value<'_>, &[u8])> {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(byte) = input.get(at) {
        match byte {
            b'"' => {
                let (_, rest) = text(&input[at..])?;
                at = input.len() - rest.len();
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' | b',' if depth == 0 => break,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        at += 1;
    }
    (at > 0).then(|| (Value::Other(input[..at].trim_ascii()), &input[at..]))
}

/// Appends a text as it was before it was escaped. Half a pair of surrogates becomes U+FFFD; an escape that JSON does not
/// know stays as it is.
pub(crate) fn unescape(text: &[u8], out: &mut Vec<u8>) {
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        out.extend_from_slice(&rest[..at]);
        let escape = &rest[at + 1..];
        let plain = match escape.first() {
            Some(b'n') => b'\n',
            Some(b'/') => b'/',
            Some(b'"') => b'"',
            Some(b'\\') => b'\\',
            Some(b't') => b'\t',
            Some(b'r') => b'\r',
            Some(b'b') => 8,
            Some(b'f') => 12,
            Some(b'u') => {
                rest = unescape_unicode(&rest[at..], out);
                continue;
            }
            Some(_) | None => {
                out.push(b'\\');
                rest = escape;
                continue;
            }
        };
        out.push(plain);
        rest = &escape[1..];
    }
    out.extend_from_slice(rest);
}

/// Appends the character of the `\uXXXX` at the start; gives what follows it.
fn unescape_unicode<'a>(text: &'a [u8], out: &mut Vec<u8>) -> &'a [u8] {
    let unit = |text: &[u8]| -> Option<u32> {
        let digits = text.strip_prefix(b"\\u")?.get(..4)?;
        let digits = std::str::from_utf8(digits).ok()?;
        let all_hex = digits.bytes().all(|b| b.is_ascii_hexdigit());
        u32::from_str_radix(digits, 16).ok().filter(|_| all_hex)
    };
    let Some(first) = unit(text) else {
        out.extend_from_slice(&text[..2]);
        return &text[2..];
    };
    let (code, length) = match (first, text.get(6..).and_then(unit)) {
        (0xd800..=0xdbff, Some(second @ 0xdc00..=0xdfff)) => {
            (0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00), 12)
        }
        _ => (first, 6),
    };
    let character = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
    out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    &text[length..]
}

/// The message of an object's line: from the text on to the line's end, so that the fields after it can be matched as
/// they are written; the text alone if nothing follows it.
pub(crate) fn message_to_end<'a>(line: &'a [u8], text: &'a [u8]) -> &'a [u8] {
    let start = crate::record::offset_in(line, text);
    let end = line.len() - usize::from(line.ends_with(b"}"));
    let whole = line.get(start..end).unwrap_or(text);
    if whole.len() == text.len() + 1 {
        text
    } else {
        whole
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(line: &str) -> (Vec<(&str, Value<'_>)>, bool) {
        let mut members = Members::of(line.as_bytes()).unwrap();
        let mut all = Vec::new();
        for (key, value) in members.by_ref() {
            all.push((std::str::from_utf8(key).unwrap(), value));
        }
        (all, members.is_whole())
    }

    #[test]
    fn members_are_slices_and_nested_values_are_passed_over() {
        let line = r#"{"a":"x\"y","b": -1.5 ,"c":{"d":["}",{}]},"e":null}"#;
        let expected = vec![
            ("a", Value::Text(br#"x\"y"#)),
            ("b", Value::Other(b"-1.5")),
            ("c", Value::Other(br#"{"d":["}",{}]}"#)),
            ("e", Value::Other(b"null")),
        ];
        assert_eq!(members(line), (expected, true));
        assert_eq!(members("{}"), (vec![], true));
    }

    #[test]
    fn a_name_of_any_length_and_with_escapes_is_taken_whole() {
        for length in 0..40 {
            for name in ["x".repeat(length), format!("{}\\\"y", "x".repeat(length))] {
                let line = format!("{{\"{name}\":1,\"b\":2}}");
                let expected = vec![
                    (name.as_str(), Value::Other(b"1")),
                    ("b", Value::Other(b"2")),
                ];
                assert_eq!(members(&line), (expected, true), "{line}");
            }
        }
    }

    #[test]
    fn a_cut_line_gives_what_is_there_and_is_not_whole() {
        assert_eq!(members(r#"{"a":"x","b":"yz"#).0.len(), 2);
        for broken in [
            r#"{"a":"x"#,
            r#"{"a"#,
            r#"{"a":"#,
            r#"{"a":"x\"#,
            r#"{"a":1"#,
            "{",
            "{,}",
        ] {
            assert!(!members(broken).1, "{broken}");
        }
    }

    #[test]
    fn nesting_of_any_depth_costs_no_stack() {
        let deep = format!(
            "{{\"a\":{}1{},\"b\":2}}",
            "[".repeat(100_000),
            "]".repeat(100_000)
        );
        assert_eq!(members(&deep).0.len(), 2);
    }

    #[test]
    fn escapes_become_what_they_stand_for_and_halves_of_pairs_a_replacement() {
        for (text, expected) in [
            (r"a\/b\\c\nd\te", "a/b\\c\nd\te"),
            (r"\u0041\u00e9\u20ac", "Aé€"),
            (r"\ud83d\ude00", "😀"),
            (r"\ud83d!", "\u{fffd}!"),
            (r"\ude00\ud83d", "\u{fffd}\u{fffd}"),
            (r"\ud83d\u0041", "\u{fffd}A"),
            (r"\u00", r"\u00"),
            (r"\u+041", r"\u+041"),
            (r"\q", r"\q"),
            ("\\", "\\"),
        ] {
            let mut out = Vec::new();
            unescape(text.as_bytes(), &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn a_message_reaches_to_the_end_of_the_fields() {
        let of = |line: &'static str| {
            let line = line.as_bytes();
            let mut members = Members::of(line).unwrap();
            let text = members.find(|(key, _)| *key == b"msg").unwrap().1.bytes();
            String::from_utf8_lossy(message_to_end(line, text)).into_owned()
        };
        assert_eq!(of(r#"{"level":"info","msg":"it is so"}"#), "it is so");
        assert_eq!(of(r#"{"msg":"slow","took":"1s"}"#), r#"slow","took":"1s""#);
    }
}
