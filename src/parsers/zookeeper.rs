//! The log of `ZooKeeper`, as log4j and logback write it:
//!
//! ```text
//! 2026-11-29 16:20:33,996 [myid:2] - INFO  [QuorumPeer[myid=2](plain=127.0.0.1:2181):Follower@77] - FOLLOWING - LEADER ELECTION TOOK - 31 MS
//! ```
//!
//! `[myid:]` is missing in older versions and some packages. Stack traces are continuation lines.

use super::{Spec, head};
use crate::record::Record;
use crate::time::Timestamp;
use crate::vocab::Level;

/// The servers' log.
pub(super) static SPEC: Spec = Spec::log("zookeeper", is_head, parse);

/// `YYYY-MM-DD HH:MM:SS,mmm`.
const STAMP_BYTES: usize = 23;

fn is_head(line: &[u8]) -> bool {
    line.get(19) == Some(&b',')
        && head::is_dated(line, b'-')
        && line
            .get(STAMP_BYTES..)
            .is_some_and(|rest| rest.starts_with(b" [myid") || rest.starts_with(b" - "))
}

fn parse<'a>(line: &'a [u8], rest: &'a [u8]) -> Option<Record<'a>> {
    let time = Timestamp::read(line).map(|(time, _)| time);
    let after = line.get(STAMP_BYTES..)?.trim_ascii_start();
    let after = match head::bracketed(after) {
        Some((_, after)) => after.trim_ascii_start(),
        None => after,
    };
    let after = after.strip_prefix(b"-").unwrap_or(after).trim_ascii_start();
    let (word, after) = head::word(after);
    let (place, message) = place(after).unwrap_or((b"", after));
    let (thread, class) = match memchr::memrchr(b':', place) {
        Some(at) => (&place[..at], &place[at + 1..]),
        None => (place, &b""[..]),
    };
    let logger = memchr::memchr(b'@', class).map_or(class, |at| &class[..at]);
    Some(Record {
        time,
        level: head::level(word).unwrap_or(Level::None),
        thread: head::label(thread),
        logger,
        ..Record::bare(message, rest)
    })
}

/// `[thread:Class@line] - `, and the message after it; threads' names have brackets of their own.
fn place(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let inner = text.strip_prefix(b"[")?;
    let end = memchr::memmem::find(inner, b"] -")?;
    let message = &inner[end + 3..];
    Some((&inner[..end], message.strip_prefix(b" ").unwrap_or(message)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parsers::Format;

    fn read(line: &str) -> Record<'_> {
        Format(&SPEC).parse(line.as_bytes()).unwrap()
    }

    #[test]
    fn a_line_gives_time_level_class_and_text() {
        let record = read(
            "2026-11-29 16:20:33,996 [myid:2] - WARN  [QuorumPeer[myid=2](plain=[0:0:0:0:0:0:0:0]:2181)(secure=disabled):Follower@129] - Got zxid 0x1000000ee expected 0x1\r\n",
        );
        let (time, _) = Timestamp::read(b"2026-11-29 16:20:33.996").unwrap();
        assert_eq!((record.time, record.level), (Some(time), Level::Warning));
        assert_eq!(record.logger, b"Follower");
        assert_eq!(record.message, b"Got zxid 0x1000000ee expected 0x1");
    }

    #[test]
    fn older_lines_have_no_id_and_a_banner_is_empty() {
        let record = read(
            "2016-01-02 03:04:05,678 - ERROR [main:QuorumPeerMain@89] - Invalid config\n\tat a.b\n",
        );
        assert_eq!(
            (record.level, record.logger),
            (Level::Error, &b"QuorumPeerMain"[..])
        );
        assert_eq!(record.rest, b"\tat a.b\n");
        assert_eq!(
            read("2026-11-29 16:34:39,616 [myid:] - INFO  [main:ZookeeperBanner@42] - ").message,
            b""
        );
    }

    #[test]
    fn other_lines_are_none() {
        for line in [
            "EndOfStreamException: Unable to read additional data",
            "\tat java.base/java.lang.Thread.run(Thread.java:840)",
            "2026-11-29 16:20:33.996 [myid:] - INFO  [a:b@1] - c",
            "2026-11-29 16:20:33,996 INFO a",
        ] {
            assert!(!is_head(line.as_bytes()), "{line}");
        }
    }
}
