//! The log of `NuRaft` where it runs in a server of its own:
//!
//! ```text
//! I230808 00:14:22.026821 312 [nuraft_w_0] src/handle_vote.cxx:134  request_prevote()  [PRE-VOTE INIT] my id 1
//! ```
//!
//! A record of several lines has the head before each of them, and a `+` before the text of the further ones.
//!
//! Inside `ClickHouse` Keeper it logs through the server, with the source `RaftInstance`.

use super::{Spec, head};
use crate::record::Record;
use crate::time::Timestamp;
use crate::vocab::Level;

/// Its log.
pub(super) static SPEC: Spec = Spec::log("nuraft", is_head, parse);

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
    let (_, rest) = head::bracketed(rest.strip_prefix(b" ")?)?;
    let (place, after) = head::word(rest.strip_prefix(b" ")?);
    let file = &place[..memchr::memchr(b':', place)?];
    // The function's name stands before the text.
    let message = match memchr::memchr(b' ', after) {
        Some(at) if after[..at].ends_with(b"()") => &after[at + 1..],
        _ => after,
    };
    // The head is repeated before each further line of a record.
    if message.first() == Some(&b'+') {
        return None;
    }
    Some(Head {
        level,
        time,
        thread,
        file,
        message: message.trim_ascii_start(),
    })
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

    #[test]
    fn a_line_gives_level_time_thread_file_and_text() {
        let line = b"W230808 00:14:22.026821 312 [nuraft_w_0] src/handle_vote.cxx:134  request_prevote()  [PRE-VOTE INIT] my id 1";
        let record = Format(&SPEC).parse(line).unwrap();
        let (time, _) = Timestamp::read(b"2023-08-08 00:14:22.026821").unwrap();
        assert_eq!(
            (record.time, record.level, record.thread),
            (Some(time), Level::Warning, 312)
        );
        assert_eq!(record.logger, b"src/handle_vote.cxx");
        assert_eq!(record.message, b"[PRE-VOTE INIT] my id 1");
        assert!(!is_head(
            b"I230808 00:14:22.026821 312 [nuraft_w_0] src/handle_vote.cxx:398  handle_prevote_req() +last idx: 7"
        ));
        assert!(!is_head(
            b"I230808 00:14:22.026821 312 server/node.go:464 [n1] text"
        ));
    }
}
