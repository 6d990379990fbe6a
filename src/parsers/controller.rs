//! The log of an HA controller: time of day without a date, the node in the line, no level but on some lines.
//!
//! ```text
//! 07:06:45,520 ctrl-2 HA repl: standby[0] lsn=323 < stream_ceiling_lsn=342 (committed_lsn=341) → stream WAL batches
//! ```
//!
//! What test harnesses and clients print between such lines, without a stamp, is read as records of their own:
//!
//! ```text
//! worker: xcecli failover: cluster not ready after 21 attempts (last status=-10013)
//! [xce-test-ha] FAIL: round 19: worker-resync job ...
//! ```

use super::{Absence, Spec, head, sample_lines};
use crate::record::Record;
use crate::time::Timestamp;
use crate::vocab::Level;

/// The controllers' log.
pub(super) static SPEC: Spec = Spec {
    nodes_in_lines: true,
    dateless: true,
    always_levels: false,
    has_codes: true,
    absence: Absence::OfFile("no ha-controller of it is here"),
    stamp: Some(stamp),
    claims: Some(claims),
    ..Spec::log("ha-controller", is_head, parse)
};

/// `HH:MM:SS,mmm ` at the start of a line.
const STAMP_BYTES: usize = 13;

fn is_head(line: &[u8]) -> bool {
    stamp(line).is_some() || is_harness(line)
}

/// The stamp of a line: the time of day, on the first day there is.
fn stamp(line: &[u8]) -> Option<Timestamp> {
    let spaced = line.get(12) == Some(&b' ');
    spaced.then(|| Timestamp::read_time_of_day(line)).flatten()
}

/// Lines of the controllers' client and test harness, which have no stamp.
fn is_harness(line: &[u8]) -> bool {
    line.starts_with(b"[xce-") || line.starts_with(b"worker: xcecli ")
}

fn parse<'a>(line: &'a [u8], rest: &'a [u8]) -> Option<Record<'a>> {
    let bare = Record::bare(line, rest);
    let Some(time) = stamp(line) else {
        return is_harness(line).then_some(bare);
    };
    let (node, body) = head::word(&line[STAMP_BYTES..]);
    let (first, after) = head::word(body);
    let (level, body) = level(first).map_or((Level::None, body), |level| (level, after));
    let (logger, message) = match memchr::memmem::find(body, b": ") {
        Some(at) => (&body[..at], &body[at + 2..]),
        None => (&b""[..], body),
    };
    Some(Record {
        time: Some(time),
        node,
        level,
        logger,
        message,
        ..bare
    })
}

/// A level's word, in brackets or with a colon or neither; in capitals, as text begins with small words.
fn level(word: &[u8]) -> Option<Level> {
    let inner = word
        .strip_prefix(b"[")
        .and_then(|w| w.strip_suffix(b"]"))
        .unwrap_or(word);
    let inner = inner.strip_suffix(b":").unwrap_or(inner);
    let is_upper = inner.iter().all(u8::is_ascii_uppercase);
    head::level(inner).filter(|_| is_upper)
}

/// Lines with such a stamp and a node's name after it, and lines of the harness.
fn claims(sample: &[u8]) -> usize {
    let claimed = |line: &&[u8]| {
        let named = line.get(STAMP_BYTES).is_some_and(u8::is_ascii_alphabetic);
        (named && stamp(line).is_some()) || is_harness(line)
    };
    sample_lines(sample).filter(claimed).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> (Option<i64>, String, Level, String, String) {
        let record = parse(line.as_bytes(), b"").unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (
            record.time.map(|t| t.0),
            text(record.node),
            record.level,
            text(record.logger),
            text(record.message),
        )
    }

    #[test]
    fn a_line_gives_time_of_day_node_source_and_text() {
        let (time, node, level, logger, message) = read(
            "07:06:45,520 ctrl-2 HA repl: standby[0] lsn=323 < stream_ceiling_lsn=342 → stream",
        );
        assert_eq!(time, Some(((7 * 60 + 6) * 60 + 45) * 1_000_000 + 520_000));
        assert_eq!(
            (node.as_str(), level, logger.as_str()),
            ("ctrl-2", Level::None, "HA repl")
        );
        assert_eq!(
            message,
            "standby[0] lsn=323 < stream_ceiling_lsn=342 → stream"
        );
    }

    #[test]
    fn a_level_is_read_where_there_is_one() {
        let (_, node, level, logger, _) =
            read("07:06:45,520 ctrl-2 WARN ha_stream_wal_to_standby: found NO entries");
        assert_eq!(
            (node.as_str(), level, logger.as_str()),
            ("ctrl-2", Level::Warning, "ha_stream_wal_to_standby")
        );
    }

    #[test]
    fn a_client_line_has_no_stamp_and_is_a_record() {
        let (time, _, level, logger, message) =
            read("worker: xcecli failover: cluster not ready after 21 attempts");
        assert_eq!((time, level, logger.as_str()), (None, Level::None, ""));
        assert_eq!(
            message,
            "worker: xcecli failover: cluster not ready after 21 attempts"
        );
        assert!(!is_head(b"... same pair every 3 s for >60 s"));
        assert!(!is_head(b"25:06:45,520 ctrl-2 x: y"));
    }
}
