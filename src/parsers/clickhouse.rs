//! The `ClickHouse` text log, all eras:
//!
//! ```text
//! 2026.08.21 09:47:56.948992 [ 60 ] {} <Error> ServerErrorHandler: Poco::Exception. Code: 1000, e.code() = 104, ...
//! ```
//!
//! A head is known by the fixed places of its stamp. Everything up to the next head belongs to the record. Builds before
//! 2018 have no `{query id}`. A `<...>` inside a message (a lambda's signature) is not a level: fields are read left to
//! right, and the first `<` after the braces is the level's.
#![expect(
    clippy::inline_always,
    reason = "a part of a head takes longer to hand over than to read"
)]

use super::{Spec, sample_lines};
use crate::record::{ESCAPE, Record, after_escape};
use crate::search::{WORD, first, is_between, places, short_number, word};
use crate::time::Timestamp;
use crate::vocab::Level;

/// The text log of servers and keepers.
pub(super) static SPEC: Spec = Spec {
    has_codes: true,
    sample_path: "node/clickhouse-server.log",
    stamp: Some(stamp),
    claims: Some(claims),
    ..Spec::log("clickhouse", is_head, parse)
};

/// `YYYY.MM.DD HH:MM:SS.uuuuuu`.
const STAMP_BYTES: usize = 26;

/// The shortest line that can be a head: a stamp, `[ 1 ]` and `<Test>`.
const HEAD_MIN: usize = STAMP_BYTES + " [ 1 ] <Test> ".len();

/// What each byte of a head's beginning may be at least and at most.
const LOWEST: &[u8; 30] = b"0000.00.00 00:00:00.000000 [ 0";
const HIGHEST: &[u8; 30] = b"9999.19.39 29:59:69.999999 [ 9";

/// Whether a line starts a record: a stamp in its fixed place, then ` [ ` and a number.
#[inline(always)]
pub(super) fn is_head(line: &[u8]) -> bool {
    let Some(head) = line.first_chunk::<30>() else {
        return false;
    };
    // Nearly every line that is no head differs here.
    if head[4] != b'.' || head[26] != b' ' || line.len() < HEAD_MIN {
        return false;
    }
    // The last sixteen bytes overlap the first.
    let start = is_between(word(head, 0), word(LOWEST, 0), word(HIGHEST, 0));
    start & is_between(word(head, 14), word(LOWEST, 14), word(HIGHEST, 14))
}

/// The stamp of a head.
fn stamp(line: &[u8]) -> Option<Timestamp> {
    Timestamp::read(line).map(|(at, _)| at)
}

/// Reads one record, known to begin with a head: the head's fields, the message on the head's line, and the rest.
#[inline(always)]
pub(super) fn parse<'a>(line: &'a [u8], rest: &'a [u8]) -> Option<Record<'a>> {
    let (stamp, after) = line.split_first_chunk::<STAMP_BYTES>()?;
    // A stamp that no calendar has leaves a record without a time.
    let time = Timestamp::of_head(stamp);
    let fields = head_fields(after).or_else(|| colored_fields(after));
    let (message, (thread, query_id, level, logger)) =
        fields.unwrap_or((after, (0, b"", Level::None, b"")));
    Some(Record {
        time,
        utc: false,
        node: b"",
        level,
        thread,
        query_id,
        logger,
        message,
        rest,
    })
}

type Bytes<'a> = &'a [u8];
type Fields<'a> = (u64, Bytes<'a>, Level, Bytes<'a>);

/// ` [ T ] {query id} <Level> logger: `, then the message.
#[inline(always)]
fn head_fields(input: Bytes<'_>) -> Option<(Bytes<'_>, Fields<'_>)> {
    let (input, thread) = thread(input)?;
    let (input, query_id) = query_id(input).unwrap_or((input, b""));
    let (input, level) = level(input)?;
    let (input, logger) = logger(input);
    Some((input, (thread, query_id, level, logger)))
}

/// How far into a line its level may stand, colors included.
const COLORED_MAX: usize = 512;

/// The fields of a head in which a terminal's colors stand: `grep` and its like mark what they found, in some lines only.
#[cold]
fn colored_fields(input: Bytes<'_>) -> Option<(Bytes<'_>, Fields<'_>)> {
    let head = &input[..input.len().min(COLORED_MAX)];
    memchr::memchr(ESCAPE, head)?;
    let (mut plain, mut places) = (Vec::new(), Vec::new());
    let mut rest = head;
    while let Some((&byte, after)) = rest.split_first() {
        if byte == ESCAPE {
            rest = after_escape(after);
            continue;
        }
        plain.push(byte);
        places.push(head.len() - rest.len());
        rest = after;
    }
    // What is left of the line where so much is left of it without colors.
    let colored = |rest: Bytes<'_>| {
        let place = places.get(plain.len() - rest.len());
        &input[place.copied().unwrap_or(head.len())..]
    };
    let (rest, thread) = thread(&plain)?;
    let id = query_id(colored(rest)).map_or(&b""[..], |(_, id)| id);
    let (rest, _) = query_id(rest).unwrap_or((rest, b""));
    let (rest, level) = level(rest)?;
    let (message, logger) = logger(colored(rest));
    Some((message, (thread, id, level, logger)))
}

/// The digits up to a space; a number wraps beyond 64 bits: it is a label, not a quantity.
#[inline(always)]
fn thread(input: Bytes<'_>) -> Option<(Bytes<'_>, u64)> {
    let mut input = input.strip_prefix(b" [ ")?;
    // Nearly every number has fewer than eight digits.
    if let Some((number, digits)) = input.first_chunk().copied().and_then(short_number) {
        return Some((input[digits..].strip_prefix(b" ] ")?, number));
    }
    let mut number: u64 = 0;
    while let [digit @ b'0'..=b'9', rest @ ..] = input {
        number = number
            .wrapping_mul(10)
            .wrapping_add(u64::from(digit - b'0'));
        input = rest;
    }
    Some((input.strip_prefix(b" ] ")?, number))
}

#[inline(always)]
fn query_id(input: Bytes<'_>) -> Option<(Bytes<'_>, Bytes<'_>)> {
    let input = input.strip_prefix(b"{")?;
    if let [b'}', b' ', after @ ..] = input {
        return Some((after, b""));
    }
    // Mostly a UUID.
    if let Some((id, [b'}', b' ', after @ ..])) = input.split_first_chunk::<36>()
        && id.iter().fold(0, |any, &byte| any | u8::from(byte == b'}')) == 0
    {
        return Some((after, id));
    }
    let id = &input[..memchr::memchr(b'}', input)?];
    Some((input[id.len()..].strip_prefix(b"} ")?, id))
}

/// The level; [`Level::None`] for a word that no version prints.
#[inline(always)]
fn level(input: Bytes<'_>) -> Option<(Bytes<'_>, Level)> {
    // Nearly every record's.
    if let Some((word, rest)) = input.split_first_chunk::<8>() {
        const TRACE: u64 = u64::from_le_bytes(*b"<Trace> ");
        const DEBUG: u64 = u64::from_le_bytes(*b"<Debug> ");
        const ERROR: u64 = u64::from_le_bytes(*b"<Error> ");
        match u64::from_le_bytes(*word) {
            TRACE => return Some((rest, Level::Trace)),
            DEBUG => return Some((rest, Level::Debug)),
            ERROR => return Some((rest, Level::Error)),
            _ => {}
        }
    }
    let input = input.strip_prefix(b"<")?;
    let letters = input.iter().take_while(|b| b.is_ascii_alphabetic()).count();
    let (word, input) = input.split_at(letters);
    let input = input.strip_prefix(b">").filter(|_| letters > 0)?;
    let level = Level::from_head(word).unwrap_or(Level::None);
    Some((input.strip_prefix(b" ").unwrap_or(input), level))
}

/// The source up to the first `": "`; a line that ends in `:` has an empty message.
#[inline(always)]
fn logger(input: Bytes<'_>) -> (Bytes<'_>, Bytes<'_>) {
    match colon(input) {
        Some(at) => (&input[at + 2..], &input[..at]),
        None => match input.strip_suffix(b":") {
            Some(source) => (&input[input.len()..], source),
            None => (input, b""),
        },
    }
}

/// Where the first `": "` begins. Most names are too short for a search to pay that has to be called.
#[inline]
fn colon(input: Bytes<'_>) -> Option<usize> {
    for from in [0, WORD] {
        let bytes = input.get(from..)?.first_chunk::<{ WORD + 1 }>();
        let Some(bytes) = bytes else { break };
        let here = places(word(bytes, 0), b':') & places(word(bytes, 1), b' ');
        if let Some(at) = first(here) {
            return Some(from + at);
        }
    }
    let from = if input.len() > 2 * WORD { 2 * WORD } else { 0 };
    memchr::memchr_iter(b':', &input[from..])
        .map(|at| from + at)
        .find(|at| input.get(at + 1) == Some(&b' '))
}

/// How many heads a sample holds.
fn claims(sample: &[u8]) -> usize {
    sample_lines(sample)
        .filter(|line| is_head(line.trim_ascii_start()))
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parsers::Format;

    fn read(line: &str) -> Record<'_> {
        Format::CLICKHOUSE.parse(line.as_bytes()).unwrap()
    }

    #[test]
    fn the_fields_of_a_head_are_read_left_to_right() {
        let record = read(
            "2026.11.29 16:29:56.593522 [ 6 ] {q-1} <Error> shop.orders (StorageReplicatedMergeTree): \
             DB::queueTask()::<lambda(LogEntryPtr&)>: Code: 1\nnext\n",
        );
        assert_eq!(
            (record.thread, record.level, record.query_id),
            (6, Level::Error, &b"q-1"[..])
        );
        assert_eq!(record.logger, b"shop.orders (StorageReplicatedMergeTree)");
        assert_eq!(
            record.message,
            b"DB::queueTask()::<lambda(LogEntryPtr&)>: Code: 1"
        );
        assert_eq!(record.rest, b"next\n");
    }

    #[test]
    fn a_logger_ends_at_the_first_colon_before_a_space_wherever_that_is() {
        for length in 0..50 {
            let logger = "a:b ".chars().cycle().take(length).collect::<String>() + "::x";
            let line = at_debug(&format!("{logger}: the message: more"));
            let record = read(&line);
            assert_eq!(record.logger, logger.as_bytes());
            assert_eq!(record.message, b"the message: more");
        }
        let whole = at_debug("no end of a logger:in this line of some length");
        assert_eq!(read(&whole).logger, b"");
        let ended = at_debug("logger with a line that ends:");
        assert_eq!(read(&ended).logger, b"logger with a line that ends");
        assert_eq!(read(&ended).message, b"");
    }

    fn at_debug(rest: &str) -> String {
        format!("2026.11.29 16:29:56.593522 [ 6 ] {{}} <Debug> {rest}")
    }

    #[test]
    fn a_query_id_ends_at_the_first_brace() {
        let uuid = "12345678-1234-1234-1234-123456789abc";
        for (id, expected) in [
            (uuid, uuid),
            ("a} <Debug> x: {45678-1234-1234-123456789", "a"),
        ] {
            let line = format!("2026.11.29 16:29:56.593522 [ 12345678 ] {{{id}}} <Debug> x: y");
            let record = read(&line);
            assert_eq!(record.query_id, expected.as_bytes());
            assert_eq!(record.thread, 12_345_678);
        }
    }

    #[test]
    fn an_empty_logger_and_a_missing_query_id_are_heads() {
        let start = read(
            "2021.02.22 11:03:42.296618 [ 47215 ] {} <Information> : Starting ClickHouse 21.2.3.15",
        );
        assert_eq!(
            (start.logger, start.message),
            (&b""[..], &b"Starting ClickHouse 21.2.3.15"[..])
        );
        let old = read("2017.02.22 11:03:42.296618 [ 7 ] <Warning> Application: hello\r\n");
        assert_eq!(
            (old.level, old.query_id, old.message),
            (Level::Warning, &b""[..], &b"hello"[..])
        );
    }

    #[test]
    fn an_unknown_level_is_kept_as_none() {
        assert_eq!(
            read("2021.02.22 11:03:42.296618 [ 7 ] {} <Loud> Application: hello").level,
            Level::None
        );
    }

    #[test]
    fn colors_in_a_head_hide_nothing_of_it() {
        let line =
            "2021.02.22 11:03:42.296618 [ 712345678 ] {q-1} <Error> a.b (c): the message: more";
        for found in [
            "Error",
            "rro",
            "12345678 ]",
            "{q",
            "> a",
            "<Error> a.b (c): t",
            "the",
            "}",
        ] {
            for (on, off) in [
                ("\x1b[01;31m\x1b[K", "\x1b[m\x1b[K"),
                ("\x1b[0m\x1b[1m\x1b[31m", "\x1b[0m"),
            ] {
                let colored = line.replace(found, &format!("{on}{found}{off}"));
                let record = read(&colored);
                assert_eq!(
                    (record.thread, record.level),
                    (712_345_678, Level::Error),
                    "{found}"
                );
                assert!(record.message.ends_with(b"message: more"), "{found}");
            }
        }
        let record = read("2021.02.22 11:03:42.296618 [ 7 ] {q-1} <\x1b[31mError\x1b[0m> a: b");
        assert_eq!(
            (record.query_id, record.logger, record.message),
            (&b"q-1"[..], &b"a"[..], &b"b"[..])
        );
    }

    #[test]
    fn lines_that_only_look_like_a_head_are_not_one() {
        for line in [
            "2021.02.22 11:03:42.296618 [ x ] {} <Error> a: b",
            "2021.02.22 11:03:42 hello and so on, more text here",
            "Code: 210.",
        ] {
            assert!(!is_head(line.as_bytes()), "{line}");
        }
    }
}
