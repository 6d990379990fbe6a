//! The log of Kafka, as its own log4j layout writes it:
//!
//! ```text
//! [2024-03-27 08:21:52,653] INFO [BrokerToControllerChannelManager broker=1 name=heartbeat] Client requested disconnect from node 1 (org.apache.kafka.clients.NetworkClient)
//! ```
//!
//! The source stands in brackets at the line's end. Stack traces are continuation lines.

use super::{Spec, head};
use crate::record::Record;
use crate::time::Timestamp;
use crate::vocab::Level;

/// The brokers' log.
pub(super) static SPEC: Spec = Spec::log("kafka", is_head, parse);

/// `[YYYY-MM-DD HH:MM:SS,mmm] `.
const STAMP_BYTES: usize = 26;

/// The levels of log4j.
const LEVELS: [&[u8]; 6] = [
    b"TRACE ", b"DEBUG ", b"INFO ", b"WARN ", b"ERROR ", b"FATAL ",
];

fn is_head(line: &[u8]) -> bool {
    line.first() == Some(&b'[')
        && line.get(20) == Some(&b',')
        && line.get(24..STAMP_BYTES) == Some(b"] ")
        && head::is_dated(&line[1..], b'-')
        && LEVELS
            .iter()
            .any(|level| line[STAMP_BYTES..].starts_with(level))
}

fn parse<'a>(line: &'a [u8], rest: &'a [u8]) -> Option<Record<'a>> {
    let time = Timestamp::read(line.get(1..)?).map(|(time, _)| time);
    let (word, text) = head::word(line.get(STAMP_BYTES..)?);
    let (message, logger) = source(text);
    Some(Record {
        time,
        level: head::level(word).unwrap_or(Level::None),
        logger,
        ..Record::bare(message, rest)
    })
}

/// The message, and the source in brackets behind it.
fn source(text: &[u8]) -> (&[u8], &[u8]) {
    let begin = || {
        let inner = text.strip_suffix(b")")?;
        let at = memchr::memrchr(b'(', inner)?;
        let name = &inner[at + 1..];
        let is_name = name
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || b"._$".contains(byte));
        (is_name && !name.is_empty()).then_some((at, name))
    };
    match begin() {
        Some((at, name)) => (text[..at].trim_ascii_end(), name),
        None => (text, b""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parsers::Format;

    #[test]
    fn the_source_stands_behind_the_message() {
        let line = b"[2024-03-27 08:21:52,653] WARN [Broker id=1] Disconnected (from node 1) (org.apache.kafka.clients.NetworkClient)\n\tat x\n";
        let record = Format(&SPEC).parse(line).unwrap();
        assert_eq!(record.level, Level::Warning);
        assert_eq!(record.logger, b"org.apache.kafka.clients.NetworkClient");
        assert_eq!(record.message, b"[Broker id=1] Disconnected (from node 1)");
        assert_eq!((record.rest, record.utc), (&b"\tat x\n"[..], false));
        let (expected, _) = Timestamp::read(b"2024-03-27 08:21:52.653").unwrap();
        assert_eq!(record.time, Some(expected));
    }

    #[test]
    fn a_line_without_a_level_or_of_another_shape_begins_no_record() {
        for line in [
            &b"[2024-03-27 08:21:52,653] something else"[..],
            b"[2024-03-27 08:21:52.653] INFO a",
            b"2024-03-27 08:21:52,653 INFO a",
            b"[2024-03-27 08:21:52,653",
        ] {
            assert!(!is_head(line));
        }
    }
}
