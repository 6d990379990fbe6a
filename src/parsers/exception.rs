//! The exception inside a record's message, in every spelling:
//!
//! ```text
//! Code: 210. DB::Exception: TEXT. (NETWORK_ERROR) (version ...)              since 21.12
//! Code: 60, e.displayText() = DB::Exception: TEXT, e.what() = ...            before
//! Poco::Exception. Code: 1000, e.code() = 111, Connection refused            since 21.12
//! Poco::Exception. Code: 1000, e.code() = 111, e.displayText() = TEXT, ...   before
//! std::exception. Code: 1001, type: T, e.what() = TEXT
//! ```
//!
//! A code quoted by a query's text, or by an echo of what a queue entry failed with last, is not this record's.

use std::cell::LazyCell;
use std::sync::LazyLock;

use memchr::memmem::{self, Finder};

use super::quoted::IN_QUERY;
use crate::record::Record;
use crate::vocab::Level;

/// The exception a record is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exception {
    /// The error code.
    pub code: u32,
    /// Where `Code: ` begins in the message.
    pub at: usize,
    /// Where the exception's own text begins in the message.
    pub text_at: usize,
}

const WRAPPERS: &[&[u8]] = &[b"Poco::Exception. ", b"std::exception. "];
/// Searches made for every record, prepared once.
static CODE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(CODE_MARK));
/// What stands between a record's beginning and its exception when the exception is somebody else's: the last one that there
/// was.
static EXCEPTION: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("exception"));
const ECHOES: [&[u8]; 3] = [b"last_", b"last ", b"Last "];
const CODE_MARK: &[u8] = b"Code: ";

/// The exception that `record` is; `None` if it is none, or only quotes one.
#[inline]
pub fn of(record: &Record<'_>) -> Option<Exception> {
    // What is logged lower names exceptions in passing; only one that begins the message is its own.
    if record.level >= Level::Debug && !begins_with_code(record.message) {
        return None;
    }
    first(record)
}

/// The first exception of a message, if it is the record's own.
fn first(record: &Record<'_>) -> Option<Exception> {
    let message = record.message;
    let (at, code, after) = next_code(message, 0)?;
    let prefix = &message[..at];
    let direct = is_direct(prefix);
    let is_query_log = record.logger == b"executeQuery";
    let accepted = match record.level {
        _ if direct => true,
        _ if is_query_log || quotes(prefix) => false,
        Level::Fatal | Level::Critical | Level::Error | Level::Warning => true,
        Level::Notice | Level::Information => prefix.ends_with(b": "),
        Level::Debug | Level::Trace | Level::Test | Level::None => false,
    };
    accepted.then(|| Exception {
        code,
        at,
        text_at: text_start(message, after),
    })
}

/// Calls `each` once for every other code that a record with an exception mentions further in: remote errors, tries, causes.
///
/// `further` is what may hold one of the lines after the head's.
pub fn nested<'r>(
    record: &Record<'_>,
    outer: Exception,
    further: impl Iterator<Item = &'r [u8]>,
    mut each: impl FnMut(u32),
) {
    // What follows is the query's text, on this line and the next ones. Few records have further codes to tell by it.
    let quoted = LazyCell::new(|| IN_QUERY.find(record.message));
    let message = record.message;
    let mut seen = [outer.code; 8];
    let mut known = 1;
    let mut once = |code: u32| {
        if known < seen.len() && !seen[..known].contains(&code) {
            seen[known] = code;
            known += 1;
            each(code);
        }
    };
    let mut from = outer.text_at.min(message.len());
    while let Some((at, code, after)) = next_code(message, from) {
        if quoted.is_some_and(|quoted| quoted <= at) {
            return;
        }
        once(code);
        from = after;
    }
    for lines in further {
        // Asked once for all codes of these lines: a hostile record has very many.
        let query = LazyCell::new(|| IN_QUERY.find(lines));
        from = 0;
        while let Some((at, code, after)) = next_code(lines, from) {
            if quoted.is_some() || query.is_some_and(|query| query <= at) {
                return;
            }
            once(code);
            from = after;
        }
    }
}

/// The next `Code: N` followed by `.` or `,`: where it begins, the number, where the text after the digits begins.
fn next_code(text: &[u8], mut from: usize) -> Option<(usize, u32, usize)> {
    // As `Code: 1.` at least; most of what follows a record's head is an empty line.
    const SHORTEST: usize = CODE_MARK.len() + 2;
    while text.len() >= from + SHORTEST {
        let found = CODE.find(&text[from..])?;
        let at = from + found;
        let digits_at = at + CODE_MARK.len();
        let digits = text[digits_at..]
            .iter()
            .take_while(|b| b.is_ascii_digit())
            .count();
        let end = digits_at + digits;
        if (1..=9).contains(&digits) && matches!(text.get(end), Some(b'.' | b',')) {
            let code = text[digits_at..end]
                .iter()
                .fold(0, |n, b| n * 10 + u32::from(b - b'0'));
            return Some((at, code, end));
        }
        from = digits_at;
    }
    None
}

/// Whether a message is an exception from its first byte on.
#[inline]
fn begins_with_code(message: &[u8]) -> bool {
    // Nearly every message begins with another letter.
    if !matches!(message.first(), Some(b'C' | b'P' | b's')) {
        return false;
    }
    let wrapper = WRAPPERS
        .iter()
        .find_map(|wrapper| message.strip_prefix(*wrapper));
    wrapper.unwrap_or(message).starts_with(CODE_MARK)
}

fn is_direct(prefix: &[u8]) -> bool {
    prefix.is_empty() || WRAPPERS.contains(&prefix)
}

/// Whether what precedes a code says that the exception is quoted.
fn quotes(prefix: &[u8]) -> bool {
    let before = prefix.strip_suffix(b"Poco::Exception. ").unwrap_or(prefix);
    matches!(before.last(), Some(b'\'' | b'"' | b'`'))
        || EXCEPTION
            .find_iter(prefix)
            .any(|at| ECHOES.iter().any(|last| prefix[..at].ends_with(last)))
}

/// Skips `. DB::Exception: `, `, e.displayText() = DB::Exception: `, `, e.code() = 111, ` and `, type: T, e.what() = `.
fn text_start(message: &[u8], after_digits: usize) -> usize {
    const PLAIN: &[u8] = b"DB::Exception: ";
    let mut at = (after_digits + 2).min(message.len());
    if let Some(rest) = message[at..].strip_prefix(b"e.code() = ") {
        let digits = rest
            .iter()
            .take_while(|b| b.is_ascii_digit() || **b == b'-')
            .count();
        at = (message.len() - rest.len() + digits + 2).min(message.len());
    }
    // Nearly all exceptions of current servers.
    if message[at..].starts_with(PLAIN) {
        return at + PLAIN.len();
    }
    if message[at..].starts_with(b"e.displayText() = ") {
        at += b"e.displayText() = ".len();
    }
    if message[at..].starts_with(b"type: ") {
        let what = memmem::find(&message[at..], b"e.what() = ");
        return what.map_or(at, |found| at + found + b"e.what() = ".len());
    }
    let class = message[at..]
        .iter()
        .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b':' | b'_'))
        .count();
    let is_class =
        message[at..at + class].ends_with(b"Exception:") && message[at + class..].starts_with(b" ");
    if is_class { at + class + 1 } else { at }
}

/// Whether a line, its end included, is a stack frame as current servers print it: such a line holds no exception.
///
/// ```text
/// 7. DB::StorageReplicatedMergeTree::fetchPart(String const&) @ 0x000000000873df2d
/// ```
#[inline]
pub fn is_frame(line: &[u8]) -> bool {
    const ADDRESS: &[u8; 5] = b" @ 0x";
    // Sixteen digits and the line's end follow.
    let Some((_, end)) = line.split_last_chunk::<{ ADDRESS.len() + 17 }>() else {
        return false;
    };
    let numbered = |line: &[u8]| {
        matches!(
            line,
            [b'0'..=b'9', b'.', b' ', ..] | [b'0'..=b'9', b'0'..=b'9', b'.', b' ', ..]
        )
    };
    end.starts_with(ADDRESS) && numbered(line)
}

/// The symbol of a stack frame's line, in any of the four spellings; `None` if the line is no frame.
///
/// ```text
/// 7. DB::StorageReplicatedMergeTree::fetchPart(String const&) @ 0x000000000873df2d
/// 2. DB::Merger::merge() @ 0xe3a9e in /usr/bin/clickhouse
/// 3. src/Storages/X.cpp:12: DB::X::run() @ 0x00000000001a6ce3
/// 0. /lib/x86_64-linux-gnu/libc.so.6(abort+0x85f16) [0x7fa128aa3f16]
/// ```
pub fn frame_symbol(line: &[u8]) -> Option<&[u8]> {
    let digits = line.iter().take_while(|b| b.is_ascii_digit()).count();
    let symbol = line[digits..].strip_prefix(b". ").filter(|_| digits > 0)?;
    let end = memmem::find(symbol, b" @ 0x").or_else(|| memmem::rfind(symbol, b" [0x"))?;
    Some(&symbol[..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parsers::Format;

    fn code_and_text(line: &str) -> Option<(u32, String)> {
        let record = Format::CLICKHOUSE.parse(line.as_bytes()).unwrap();
        of(&record).map(|e| {
            (
                e.code,
                String::from_utf8_lossy(&record.message[e.text_at..]).into_owned(),
            )
        })
    }

    fn rest<'r>(record: &Record<'r>) -> impl Iterator<Item = &'r [u8]> {
        std::iter::once(record.rest)
    }

    fn at(level: &str, logger_and_message: &str) -> String {
        format!("2026.08.21 09:47:56.948992 [ 60 ] {{}} <{level}> {logger_and_message}")
    }

    #[test]
    fn every_spelling_gives_its_code_and_its_text() {
        for (message, code, text) in [
            (
                "q: Code: 210. DB::NetException: Connection reset",
                210,
                "Connection reset",
            ),
            (
                "t: void f()::g: Code: 60, e.displayText() = DB::Exception: No table, e.what() = x",
                60,
                "No table, e.what() = x",
            ),
            (
                "t: Poco::Exception. Code: 1000, e.code() = 111, e.displayText() = Refused, e.what() = y",
                1000,
                "Refused, e.what() = y",
            ),
            (
                "t: Poco::Exception. Code: 1000, e.code() = 0, Timeout (version 26)",
                1000,
                "Timeout (version 26)",
            ),
            (
                "t: std::exception. Code: 1001, type: std::bad_cast, e.what() = bad",
                1001,
                "bad",
            ),
            (
                "t: Connection failed at try №1, reason: Code: 209. DB::NetException: Timeout",
                209,
                "Timeout",
            ),
        ] {
            assert_eq!(
                code_and_text(&at("Error", message)),
                Some((code, text.to_owned())),
                "{message}"
            );
        }
    }

    #[test]
    fn a_quoted_code_is_not_the_records() {
        for (level, message) in [
            (
                "Debug",
                "executeQuery: (from 1.2.3.4:5) SELECT 'Code: 210. DB::Exception: x' (stage: Complete)",
            ),
            (
                "Debug",
                "t (ReplicatedMergeTreeQueue): entry failed, last_exception: Code: 210. DB::Exception: x",
            ),
            (
                "Warning",
                "t (Q): num_tries 7, last exception: Code: 210. DB::Exception: x",
            ),
            ("Fatal", "BaseDaemon: forged, Code: 210')"),
        ] {
            assert_eq!(code_and_text(&at(level, message)), None, "{message}");
        }
    }

    #[test]
    fn nested_codes_are_told_once_each_and_not_from_the_query() {
        let text = at(
            "Error",
            "TCPHandler: Code: 279. DB::Exception: All tries failed. Log: \n\nCode: 210. a\nCode: 209. b\nCode: 209. c\n",
        );
        let record = Format::CLICKHOUSE.parse(text.as_bytes()).unwrap();
        let mut codes = Vec::new();
        nested(&record, of(&record).unwrap(), rest(&record), |code| {
            codes.push(code);
        });
        assert_eq!(codes, [210, 209]);
        let text = at(
            "Error",
            "executeQuery: Code: 6. DB::Exception: No (in query: SELECT 'Code: 210. x')",
        );
        let record = Format::CLICKHOUSE.parse(text.as_bytes()).unwrap();
        nested(&record, of(&record).unwrap(), rest(&record), |code| {
            panic!("{code} is the query's")
        });
    }

    #[test]
    fn frames_of_all_eras_give_their_symbol() {
        assert_eq!(
            frame_symbol(b"7. DB::f(int) @ 0x00000873df2d"),
            Some(&b"DB::f(int)"[..])
        );
        assert_eq!(
            frame_symbol(b"2. clone @ 0xad36cce in /usr/bin/clickhouse"),
            Some(&b"clone"[..])
        );
        assert_eq!(
            frame_symbol(b"0. /lib/libc.so.6(abort+0x8) [0x7fa1]"),
            Some(&b"/lib/libc.so.6(abort+0x8)"[..])
        );
        assert_eq!(frame_symbol(b"7. of 9 things"), None);
    }

    #[test]
    fn codes_further_in_stand_before_a_query_and_in_no_stack_frame() {
        let frame = b"3. DB::f(Code: 5.) @ 0x000000000873df2d\n";
        assert!(is_frame(frame) && is_frame(b"12. f @ 0x000000000873df2d\n"));
        for other in [
            &b"3. Code: 210. DB::Exception: x\n"[..],
            b"f @ 0x000000000873df2d\n",
            b"123. f @ 0x000000000873df2d\n",
            b"3. f @ 0x0873df2d\n",
            b"\n",
            b"",
        ] {
            assert!(!is_frame(other));
        }
        let nested_in = |message: &str, further: &str| {
            let line = at("Error", message);
            let record = Format::CLICKHOUSE.parse(line.as_bytes()).unwrap();
            let further = std::iter::once(further.as_bytes());
            let mut codes = Vec::new();
            nested(&record, of(&record).unwrap(), further, |code| {
                codes.push(code);
            });
            codes
        };
        let outer = "q: Code: 1. DB::Exception: a: Code: 2. b";
        assert_eq!(nested_in(outer, "Code: 3, Code: 2."), [2, 3]);
        let query = format!("{outer} (in query: SELECT 'Code: 4.'");
        assert_eq!(nested_in(&query, "Code: 5."), [2]);
        assert_eq!(nested_in("q: Code: 1. x (in query: y", "Code: 5."), [0; 0]);
    }
}
