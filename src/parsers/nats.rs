//! The log of a NATS server:
//!
//! ```text
//! [7] 2024/10/11 06:18:20.512209 [WRN] RAFT [Q7kTzWbe - _meta_] Falling behind in health check, commit 41230 != applied 41102
//! ```
//!
//! The first number is the process, not a level. Records of the consensus begin with `RAFT`: that is their source.

use super::{Spec, head};
use crate::record::Record;
use crate::time::Timestamp;
use crate::vocab::Level;

/// The servers' log.
pub(super) static SPEC: Spec = Spec::log("nats", is_head, parse);

fn is_head(line: &[u8]) -> bool {
    line.first() == Some(&b'[') && split(line).is_some()
}

struct Head<'a> {
    process: u64,
    /// The text from the stamp on.
    stamp: &'a [u8],
    level: &'a [u8],
    message: &'a [u8],
}

fn split(line: &[u8]) -> Option<Head<'_>> {
    let (process, rest) = head::number(line.strip_prefix(b"[")?)?;
    let stamp = rest.strip_prefix(b"] ")?;
    if !head::is_dated(stamp, b'/') {
        return None;
    }
    let (_, rest) = head::up_to_blank(&stamp[19..])?;
    let [b'[', level @ .., b']'] = rest.first_chunk::<5>()? else {
        return None;
    };
    let message = &rest[5..];
    level.iter().all(u8::is_ascii_alphabetic).then_some(Head {
        process,
        stamp,
        level,
        message: message.strip_prefix(b" ").unwrap_or(message),
    })
}

fn parse<'a>(line: &'a [u8], rest: &'a [u8]) -> Option<Record<'a>> {
    let read = split(line)?;
    let (logger, message) = match read.message.strip_prefix(b"RAFT ") {
        Some(inner) if inner.starts_with(b"[") => (&read.message[..4], inner),
        _ => (&b""[..], read.message),
    };
    Some(Record {
        time: Timestamp::read(read.stamp).map(|(time, _)| time),
        level: head::level(read.level).unwrap_or(Level::None),
        thread: read.process,
        logger,
        ..Record::bare(message, rest)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parsers::Format;

    #[test]
    fn a_line_gives_process_time_level_source_and_text() {
        let record = Format(&SPEC)
            .parse(b"[7] 2024/10/11 06:18:20.512209 [WRN] RAFT [Q7kTzWbe - _meta_] Falling behind")
            .unwrap();
        let (time, _) = Timestamp::read(b"2024-10-11 06:18:20.512209").unwrap();
        assert_eq!(
            (record.time, record.thread, record.level),
            (Some(time), 7, Level::Warning)
        );
        assert_eq!(record.logger, b"RAFT");
        assert_eq!(record.message, b"[Q7kTzWbe - _meta_] Falling behind");
        let whole = Format(&SPEC)
            .parse(b"[1] 2024/10/11 06:18:20 [INF] Server is ready\n")
            .unwrap();
        assert_eq!(
            (whole.logger, whole.message),
            (&b""[..], &b"Server is ready"[..])
        );
    }

    #[test]
    fn other_lines_are_none() {
        for line in [
            "[7] text",
            "[x] 2024/10/11 06:18:20.512209 [WRN] a",
            "[7] 2024/10/11 06:18:20.512209 WRN a",
            "[7] 2024/10/11 06:18:20",
            "[7] 2024/10/11 06:18:20\n [WRN] a",
            "[7] 2024/10/11 06:18:20 [W\nN] a",
        ] {
            assert!(!is_head(line.as_bytes()), "{line}");
        }
    }
}
