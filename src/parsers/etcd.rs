//! The log of etcd, in the four forms that it has had:
//!
//! ```text
//! 2015-08-19 07:02:55.942018 I | raft: c4d81f07be92a6e3 became leader at term 4                                  capnslog
//! raft2026/11/29 16:03:07 INFO: found conflict at index 416 [existing term: 3, conflicting term: 4]         raft's own
//! 2026-11-29T16:03:07.123Z\tinfo\tetcdserver/raft.go:77\tsegmented wal file\t{"path":"x"}                     zap, console
//! {"level":"info","ts":"2026-11-29T16:03:07.123Z","logger":"raft","caller":"etcdserver/zap_raft.go:77","msg":"became"}  zap, JSON
//! ```
//!
//! The first two stand in one file. The source is the package in each form, so that a signal fits all of them; the message
//! of zap reaches to the line's end, with its fields as they are written.

use super::json::{message_to_end, pairs};
use super::{Spec, head};
use crate::record::Record;
use crate::time::{SECOND, Timestamp};
use crate::vocab::Level;

/// The servers' log.
pub(super) static SPEC: Spec = Spec::log("etcd", is_head, parse);

/// `YYYY-MM-DD HH:MM:SS.uuuuuu`.
const STAMP_BYTES: usize = 26;

/// How far into a line of JSON its stamp may stand.
const JSON_HEAD_BYTES: usize = 64;

fn is_head(line: &[u8]) -> bool {
    match line.first() {
        Some(b'{') => is_json(line),
        Some(b'r') => is_own(line),
        Some(b'0'..=b'9') => is_capnslog(line) || console(line).is_some(),
        _ => false,
    }
}

/// `2015-08-19 07:02:55.942018 I | `
fn is_capnslog(line: &[u8]) -> bool {
    matches!(line.get(26..30), Some([b' ', letter, b' ', b'|']) if head::level_letter(*letter).is_some())
        && line[19] == b'.'
        && head::is_dated(line, b'-')
}

/// `raft2026/11/29 16:03:07 INFO: `
fn is_own(line: &[u8]) -> bool {
    line.starts_with(b"raft2") && head::is_dated(&line[4..], b'/') && line.get(23) == Some(&b' ')
}

fn is_json(line: &[u8]) -> bool {
    let Some(rest) = line.strip_prefix(b"{\"level\":\"") else {
        return false;
    };
    // Nearly always right behind the level.
    let level = rest.iter().take(8).take_while(|it| it.is_ascii_lowercase());
    if rest[level.count()..].starts_with(b"\",\"ts\":") {
        return true;
    }
    let beginning = head::first_line(&line[..line.len().min(JSON_HEAD_BYTES)]);
    memchr::memmem::find(beginning, b"\"ts\":").is_some()
}

/// The stamp, whether it names its zone, the level, and what follows: separated by tabs.
fn console(line: &[u8]) -> Option<(Timestamp, bool, Level, &[u8])> {
    if line.get(10) != Some(&b'T') {
        return None;
    }
    let (time, utc, length) = Timestamp::read_zoned(line)?;
    let rest = line[length..].strip_prefix(b"\t")?;
    let end = memchr::memchr(b'\t', rest)?;
    Some((time, utc, head::level(&rest[..end])?, &rest[end + 1..]))
}

fn parse<'a>(line: &'a [u8], rest: &'a [u8]) -> Option<Record<'a>> {
    match line.first()? {
        b'{' => parse_json(line, rest),
        b'r' => Some(parse_own(line, rest)),
        _ if is_capnslog(line) => Some(parse_capnslog(line, rest)),
        _ => parse_console(line, rest),
    }
}

fn parse_capnslog<'a>(line: &'a [u8], rest: &'a [u8]) -> Record<'a> {
    let text = line.get(STAMP_BYTES + 4..).unwrap_or_default();
    let (logger, message) = head::source(text.strip_prefix(b" ").unwrap_or(text));
    Record {
        time: Timestamp::read(line).map(|(time, _)| time),
        level: head::level_letter(line[27]).unwrap_or(Level::None),
        logger,
        ..Record::bare(message, rest)
    }
}

fn parse_own<'a>(line: &'a [u8], rest: &'a [u8]) -> Record<'a> {
    let text = line.get(24..).unwrap_or_default();
    let (word, message) = head::source(text);
    Record {
        time: Timestamp::read(&line[4..]).map(|(time, _)| time),
        level: head::level(word).unwrap_or(Level::None),
        logger: &line[..4],
        ..Record::bare(message, rest)
    }
}

fn parse_console<'a>(line: &'a [u8], rest: &'a [u8]) -> Option<Record<'a>> {
    let (time, utc, level, after) = console(line)?;
    let split =
        |text: &'a [u8]| memchr::memchr(b'\t', text).map(|at| (&text[..at], &text[at + 1..]));
    let (first, after) = split(after).unwrap_or((b"", after));
    // The logger's name, if it has one, stands before the caller.
    let (logger, message) = match split(after) {
        Some((second, text)) if !is_caller(first) && is_caller(second) => (first, text),
        _ => (package(first), after),
    };
    Some(Record {
        time: Some(time),
        utc,
        level,
        logger,
        ..Record::bare(message, rest)
    })
}

/// Whether a word is a file and a line: `raft/raft.go:1382`.
fn is_caller(word: &[u8]) -> bool {
    memchr::memmem::find(word, b".go:").is_some()
}

/// The package of a caller: what stands before the file's name.
fn package(caller: &[u8]) -> &[u8] {
    memchr::memrchr(b'/', caller).map_or(caller, |at| &caller[..at])
}

fn parse_json<'a>(line: &'a [u8], rest: &'a [u8]) -> Option<Record<'a>> {
    if !is_json(line) {
        return None;
    }
    let mut record = Record::bare(line, rest);
    for (key, value) in pairs(line) {
        match key {
            b"level" => record.level = head::level(value).unwrap_or(Level::None),
            b"ts" => {
                if let Some((time, utc)) = instant(value) {
                    (record.time, record.utc) = (Some(time), utc);
                }
            }
            b"logger" => record.logger = value,
            b"caller" if record.logger.is_empty() => record.logger = package(value),
            b"msg" => {
                record.message = message_to_end(line, value);
                break;
            }
            _ => {}
        }
    }
    Some(record)
}

/// A stamp, or seconds since 1970 with a fraction.
fn instant(value: &[u8]) -> Option<(Timestamp, bool)> {
    if let Some((time, utc, _)) = Timestamp::read_zoned(value) {
        return Some((time, utc));
    }
    let (seconds, fraction) = head::number(value)?;
    let micros = Timestamp::read_fraction(fraction);
    let seconds = i64::try_from(seconds).ok()?.checked_mul(SECOND)?;
    Some((Timestamp(seconds.checked_add(micros)?), true))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parsers::Format;

    fn read(line: &str) -> (String, Level, String, String) {
        let record = Format(&SPEC).parse(line.as_bytes()).unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let time = record.time.map_or_else(String::new, Timestamp::short);
        let zone = if record.utc { "Z" } else { "" };
        (
            time + zone,
            record.level,
            text(record.logger),
            text(record.message),
        )
    }

    fn wanted(
        time: &str,
        level: Level,
        logger: &str,
        message: &str,
    ) -> (String, Level, String, String) {
        (
            time.to_owned(),
            level,
            logger.to_owned(),
            message.to_owned(),
        )
    }

    #[test]
    fn every_form_gives_time_level_package_and_text() {
        assert_eq!(
            read("2015-08-19 07:02:55.942018 W | raft: c4d81f07be92a6e3 became leader at term 4"),
            wanted(
                "2015-08-19 07:02:55",
                Level::Warning,
                "raft",
                "c4d81f07be92a6e3 became leader at term 4"
            )
        );
        assert_eq!(
            read("raft2026/11/29 16:03:07 INFO: found conflict at index 416 [existing term: 3]\n"),
            wanted(
                "2026-11-29 16:03:07",
                Level::Information,
                "raft",
                "found conflict at index 416 [existing term: 3]"
            )
        );
        assert_eq!(
            read(
                "2026-11-29T17:03:07.123+0100\tWARN\twal/wal.go:805\tslow fdatasync\t{\"took\":\"1s\"}"
            ),
            wanted(
                "2026-11-29 16:03:07Z",
                Level::Warning,
                "wal",
                "slow fdatasync\t{\"took\":\"1s\"}"
            )
        );
        assert_eq!(
            read(
                "2026-11-29T16:03:07.123Z\tinfo\traft\tetcdserver/zap_raft.go:77\t8211 became leader"
            ),
            wanted(
                "2026-11-29 16:03:07Z",
                Level::Information,
                "raft",
                "8211 became leader"
            )
        );
        assert_eq!(
            read(
                r#"{"level":"warn","ts":"2026-11-29T16:03:07.123Z","caller":"wal/wal.go:805","msg":"slow fdatasync","took":"1.5s"}"#
            ),
            wanted(
                "2026-11-29 16:03:07Z",
                Level::Warning,
                "wal",
                r#"slow fdatasync","took":"1.5s""#
            )
        );
        assert_eq!(
            read(
                r#"{"level":"info","ts":1795968187.5,"logger":"raft","caller":"etcdserver/zap_raft.go:77","msg":"8211 became leader"}"#
            ),
            wanted(
                "2026-11-29 16:03:07Z",
                Level::Information,
                "raft",
                "8211 became leader"
            )
        );
    }

    #[test]
    fn other_lines_are_none() {
        for line in [
            "340211",
            "2015-08-19 07:02:55.942018 X | raft: a",
            "2015-08-19 07:02:55.942018 I - raft: a",
            "raft: 2026/11/29 16:03:07 INFO: a",
            "{\"level\":\"info\",\"time\":1}",
            "{\"date_time\":\"1\"}",
        ] {
            assert!(!is_head(line.as_bytes()), "{line}");
        }
    }
}
