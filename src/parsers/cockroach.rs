//! The log of `CockroachDB`, both of its text formats:
//!
//! ```text
//! I210116 21:49:17.073282 14 server/node.go:464 ⋮ [n1] 23 started with engine type pebble         crdb-v1
//! I210116 21:49:17.083093 14 1@cli/start.go:690 ⋮ [n1] 23  node startup completed:                crdb-v2
//! I210116 21:49:17.083093 14 1@cli/start.go:690 ⋮ [n1] 23 +a further line of the same record
//! ```
//!
//! The second format repeats the head before each further line and marks that by `+`, `|` or `!`. Stamps are UTC unless
//! the server is told otherwise, which its lines do not say.

use super::{Spec, head};
use crate::record::Record;
use crate::time::Timestamp;
use crate::vocab::Level;

/// The servers' log.
pub(super) static SPEC: Spec = Spec::log("cockroachdb", is_head, parse);

/// What marks text that may be kept when a log is redacted.
const REDACTABLE: &[u8] = "⋮".as_bytes();

fn is_head(line: &[u8]) -> bool {
    split(line).is_some()
}

struct Head<'a> {
    level: Level,
    time: Option<Timestamp>,
    thread: u64,
    file: &'a [u8],
    message: &'a [u8],
}

fn split(line: &[u8]) -> Option<Head<'_>> {
    let (level, time, rest) = head::short_dated(head::first_line(line))?;
    let (thread, rest) = head::number(rest)?;
    let (place, rest) = head::word(rest.strip_prefix(b" ")?);
    let place = match memchr::memchr(b'@', place) {
        Some(at) => &place[at + 1..],
        None => place,
    };
    let colon = memchr::memrchr(b':', place)?;
    let is_place = place[..colon].ends_with(b".go") && head::number(&place[colon + 1..]).is_some();
    let rest = rest
        .strip_prefix(REDACTABLE)
        .unwrap_or(rest)
        .trim_ascii_start();
    let message = match tagged(rest) {
        Some(text) => match text.first() {
            Some(b'+' | b'|' | b'!') => return None,
            _ => text.strip_prefix(b" ").unwrap_or(text),
        },
        None => rest,
    };
    is_place.then_some(Head {
        level,
        time,
        thread,
        file: &place[..colon],
        message,
    })
}

/// What follows `[tags] counter `, if they are there.
fn tagged(text: &[u8]) -> Option<&[u8]> {
    let (_, rest) = head::bracketed(text)?;
    let (_, rest) = head::number(rest.strip_prefix(b" ")?.trim_ascii_start())?;
    Some(rest.strip_prefix(b" ").unwrap_or(rest))
}

fn parse<'a>(line: &'a [u8], rest: &'a [u8]) -> Option<Record<'a>> {
    let head = split(line)?;
    Some(Record {
        time: head.time,
        level: head.level,
        thread: head.thread,
        logger: head.file,
        ..Record::bare(head.message, rest)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parsers::Format;

    fn read(line: &str) -> Record<'_> {
        Format(&SPEC).parse(line.as_bytes()).unwrap()
    }

    #[test]
    fn both_formats_give_level_time_thread_file_and_text() {
        let (time, _) = Timestamp::read(b"2021-01-16 21:49:17.073282").unwrap();
        let first =
            read("E210116 21:49:17.073282 14 server/node.go:464 ⋮ [n1,s2] 23 started with engine");
        assert_eq!(
            (first.time, first.level, first.thread),
            (Some(time), Level::Error, 14)
        );
        assert_eq!(
            (first.logger, first.message),
            (&b"server/node.go"[..], &b"started with engine"[..])
        );
        let second =
            read("I210116 21:49:17.073282 14 1@cli/start.go:690 ⋮ [-] 23  node startup completed:");
        assert_eq!(
            (second.logger, second.message),
            (&b"cli/start.go"[..], &b"node startup completed:"[..])
        );
        let bare = read("W170623 10:11:12.123456 1 cli/start.go:345  starting cockroach node");
        assert_eq!(
            (bare.level, bare.message),
            (Level::Warning, &b"starting cockroach node"[..])
        );
    }

    #[test]
    fn a_repeated_head_continues_its_record() {
        for mark in ['+', '|', '!'] {
            let line =
                format!("I210116 21:49:17.083093 14 1@cli/start.go:690 ⋮ [n1] 23 {mark}more");
            assert!(!is_head(line.as_bytes()), "{line}");
        }
        assert!(!is_head(
            b"I230808 00:14:22.026821 312 [nuraft_w_0] src/handle_vote.cxx:134  f()  text"
        ));
    }
}
