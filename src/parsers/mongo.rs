//! The log of `MongoDB`, as text up to 4.2 and as JSON since:
//!
//! ```text
//! 2019-01-02T15:04:05.123+0000 I  NETWORK  [listener] connection accepted from 10.0.0.7:40012 #3 (2 connections now open)
//! {"t":{"$date":"2024-05-06T07:08:09.123+00:00"},"s":"W",  "c":"REPL",     "id":21764,   "ctx":"BackgroundSync","msg":"a","attr":{}}
//! ```
//!
//! The message of the JSON form reaches to the line's end, with its attributes as they are written.

use super::json::{message_to_end, pairs};
use super::{Spec, head};
use crate::record::Record;
use crate::time::Timestamp;
use crate::vocab::Level;

/// The servers' log.
pub(super) static SPEC: Spec = Spec::log("mongodb", is_head, parse);

/// What a line of JSON begins with.
const JSON: &[u8] = b"{\"t\":{\"$date\":\"";

fn is_head(line: &[u8]) -> bool {
    match line.first() {
        Some(b'{') => line.starts_with(JSON),
        Some(b'0'..=b'9') => split(line).is_some(),
        _ => false,
    }
}

/// The stamp, whether it names its zone, the severity, and what follows.
fn split(line: &[u8]) -> Option<(Timestamp, bool, &[u8], &[u8])> {
    if line.get(10) != Some(&b'T') || !head::is_dated(line, b'-') {
        return None;
    }
    let line = head::first_line(line);
    let (time, utc, length) = Timestamp::read_zoned(line)?;
    let (severity, rest) = head::word(line[length..].strip_prefix(b" ")?);
    let is_told = level(severity).is_some() && names_component(rest);
    is_told.then_some((time, utc, severity, rest))
}

/// Whether a text begins with a component in capitals, or the dash of none, and a context in brackets: without both, any stamped
/// line with a letter before its text would be a head, as the `E   AssertionError: ...` of pytest in the log of a job.
fn names_component(text: &[u8]) -> bool {
    let (component, after) = head::word(text);
    let is_capital = |byte: &u8| byte.is_ascii_uppercase() || matches!(byte, b'_' | b'-');
    !component.is_empty() && component.iter().all(is_capital) && head::bracketed(after).is_some()
}

/// The level of `F`, `E`, `W`, `I`, `D` and `D1` to `D5`.
fn level(severity: &[u8]) -> Option<Level> {
    match severity {
        [letter @ (b'F' | b'E' | b'W' | b'I' | b'D')] => head::level_letter(*letter),
        [b'D', b'1'] => Some(Level::Debug),
        [b'D', b'2'..=b'5'] => Some(Level::Trace),
        _ => None,
    }
}

fn parse<'a>(line: &'a [u8], rest: &'a [u8]) -> Option<Record<'a>> {
    if line.first() == Some(&b'{') {
        return parse_json(line, rest);
    }
    let (time, utc, severity, after) = split(line)?;
    let (component, after) = head::word(after);
    let (context, message) = head::bracketed(after).unwrap_or((b"", after));
    Some(Record {
        time: Some(time),
        utc,
        level: level(severity).unwrap_or(Level::None),
        thread: head::label(context),
        logger: component,
        ..Record::bare(message.strip_prefix(b" ").unwrap_or(message), rest)
    })
}

fn parse_json<'a>(line: &'a [u8], rest: &'a [u8]) -> Option<Record<'a>> {
    let stamp = line.strip_prefix(JSON)?;
    let time = Timestamp::read_zoned(stamp);
    let mut record = Record {
        time: time.map(|(time, ..)| time),
        utc: time.is_some_and(|(_, utc, _)| utc),
        ..Record::bare(line, rest)
    };
    for (key, value) in pairs(line) {
        match key {
            b"s" => record.level = level(value).unwrap_or(Level::None),
            b"c" => record.logger = value,
            b"ctx" => record.thread = head::label(value),
            b"msg" => {
                record.message = message_to_end(line, value);
                break;
            }
            _ => {}
        }
    }
    Some(record)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parsers::Format;

    fn read(line: &str) -> Record<'_> {
        Format(&SPEC).parse(line.as_bytes()).unwrap()
    }

    #[test]
    fn both_forms_give_an_instant_a_level_a_component_and_text() {
        let (utc, _) = Timestamp::read(b"2019-01-02 14:04:05.123").unwrap();
        let text = read(
            "2019-01-02T15:04:05.123+0100 I  NETWORK  [listener] connection accepted from 10.0.0.7:40012",
        );
        assert_eq!(
            (text.time, text.utc, text.level),
            (Some(utc), true, Level::Information)
        );
        assert_eq!(
            (text.logger, text.message),
            (
                &b"NETWORK"[..],
                &b"connection accepted from 10.0.0.7:40012"[..]
            )
        );
        let json = read(
            r#"{"t":{"$date":"2019-01-02T14:04:05.123+00:00"},"s":"D2",  "c":"REPL",     "id":21764,   "ctx":"conn12","msg":"behind","attr":{"by":7}}"#,
        );
        assert_eq!(
            (json.time, json.utc, json.level),
            (Some(utc), true, Level::Trace)
        );
        assert_eq!(
            (json.logger, json.message),
            (&b"REPL"[..], &br#"behind","attr":{"by":7}"#[..])
        );
        assert_eq!(json.thread, head::label(b"conn12"));
    }

    #[test]
    fn a_component_may_be_missing_and_other_lines_are_none() {
        assert_eq!(
            read("2019-01-02T15:04:05.123+0100 E -        [conn1] Assertion: 28").message,
            b"Assertion: 28"
        );
        for line in [
            "2019-01-02T15:04:05.123+0100 X NETWORK [a] b",
            "2019-01-02T15:04:05.123+0100 I NETWORK b",
            "2026-03-01T10:01:13.1234567Z E       AssertionError: assert 0 == 2",
            "2026-03-01T10:01:13.1234567Z E       KeyError: [1]",
            "2026-03-01T10:01:13.1234567Z E       [1] != [2]",
            "2019-01-02 15:04:05.123+0100 I NETWORK [a] b",
            "{\"t\":1}",
        ] {
            assert!(!is_head(line.as_bytes()), "{line}");
        }
    }
}
