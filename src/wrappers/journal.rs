//! Entries of the journal as `journalctl -o json` prints them, an object a line:
//!
//! ```text
//! {"__REALTIME_TIMESTAMP":"1725251255746976","_HOSTNAME":"tern-2","SYSLOG_IDENTIFIER":"clickhouse-server","MESSAGE":"..."}
//! ```
//!
//! A message with bytes that are no text is a list of numbers.

use super::{Key, Message, Peeled};
use crate::parsers::json::{Members, Value, unescape};
use crate::time::Timestamp;

#[derive(Default)]
struct Entry<'a> {
    time: Option<Timestamp>,
    host: &'a [u8],
    program: &'a [u8],
    message: Option<Value<'a>>,
}

fn entry(line: &[u8]) -> Option<Entry<'_>> {
    let mut entry = Entry::default();
    for (key, value) in Members::of(line)? {
        let (Value::Text(text) | Value::Other(text)) = value;
        match key {
            b"__REALTIME_TIMESTAMP" => entry.time = micros(text),
            b"_HOSTNAME" => entry.host = text,
            b"SYSLOG_IDENTIFIER" => entry.program = text,
            b"_COMM" if entry.program.is_empty() => entry.program = text,
            b"MESSAGE" => entry.message = entry.message.or(Some(value)),
            _ => {}
        }
    }
    entry.time.is_some().then_some(entry)
}

/// Microseconds since 1970.
fn micros(text: &[u8]) -> Option<Timestamp> {
    // Of 15 to 17 digits: later than 1973, and no overflow.
    let digits = (15..=17).contains(&text.len()) && text.iter().all(u8::is_ascii_digit);
    let sum = text.iter().fold(0_i64, |sum, digit| {
        sum * 10 + i64::from(digit.wrapping_sub(b'0') % 10)
    });
    digits.then_some(Timestamp(sum))
}

pub(super) fn claims(line: &[u8]) -> bool {
    entry(line).is_some()
}

pub(super) fn peel<'a>(line: &'a [u8], out: &'a mut Vec<u8>) -> Peeled<'a> {
    let Some(entry) = entry(line) else {
        return Peeled::Foreign;
    };
    match entry.message {
        Some(Value::Text(text)) => unescape(text, out),
        Some(Value::Other(list)) => bytes(list, out),
        None => return Peeled::Frame,
    }
    Peeled::Message(Message {
        key: Key {
            node: entry.host,
            part: entry.program,
        },
        time: entry.time,
        ..Message::of(out)
    })
}

/// Appends the bytes that a list of numbers names.
fn bytes(list: &[u8], out: &mut Vec<u8>) {
    let numbers = list.split(|byte| !byte.is_ascii_digit());
    let value = |digits: &[u8]| {
        let sum = digits
            .iter()
            .take(3)
            .fold(0_u16, |sum, digit| sum * 10 + u16::from(digit - b'0'));
        u8::try_from(sum).unwrap_or(b'?')
    };
    out.extend(numbers.filter(|digits| !digits.is_empty()).map(value));
}
