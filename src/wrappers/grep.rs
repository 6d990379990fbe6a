//! What `grep` and `zgrep` print before a line: its file, its number, or both.
//!
//! ```text
//! ch1/clickhouse-server.log:69:2024.03.27 08:21:54.363420 [ 46 ] {} <Error> ...
//! ch1/clickhouse-server.log-70-0. DB::f() @ 0x1
//! --
//! ```
//!
//! Path and number are two wrappers, the one in the other. Lines of context have a `-` where lines that were found have a
//! `:`. Between two groups stands `--`, and what follows it does not continue the record before it.

use super::{Key, Message, Peeled};

/// The longest path that is believed.
const PATH_MAX: usize = 512;

/// Paths begin in the alphabet, or like `./`, `../` and `/`, have no blanks, and a dot or a slash somewhere.
fn is_path(text: &[u8]) -> bool {
    let is_byte = |byte: &u8| {
        byte.is_ascii_graphic()
            && !matches!(byte, b'[' | b']' | b'{' | b'}' | b'"' | b'\'' | b'<' | b'>')
    };
    let begins = text
        .first()
        .is_some_and(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'.' | b'/' | b'_'));
    let is_deep = text.iter().any(|byte| matches!(byte, b'/' | b'.'));
    begins && is_deep && text.iter().all(is_byte)
}

/// The path before the first colon.
fn path(line: &[u8]) -> Option<&[u8]> {
    let colon = memchr::memchr(b':', &line[..line.len().min(PATH_MAX)])?;
    Some(&line[..colon]).filter(|path| is_path(path))
}

pub(super) fn claims_path(line: &[u8]) -> bool {
    path(line).is_some()
}

/// `known` is the file whose lines are meant, or the one of the line before.
pub(super) fn peel_path<'a>(line: &'a [u8], known: Option<&[u8]>) -> Peeled<'a> {
    if line == b"--" {
        return Peeled::Gap;
    }
    let is_known = |path: &&[u8]| {
        let behind = line.strip_prefix(*path).and_then(<[u8]>::first);
        !path.is_empty() && matches!(behind, Some(b':' | b'-'))
    };
    let length = match known.filter(is_known) {
        Some(known) => known.len(),
        None => match path(line) {
            Some(path) => path.len(),
            None => return Peeled::Foreign,
        },
    };
    let key = Key {
        node: &b""[..],
        part: &line[..length],
    };
    Peeled::Message(Message {
        key,
        ..Message::of(&line[length + 1..])
    })
}

/// How many digits the number at the start has, and whether a line of it was found or is context.
fn number(line: &[u8]) -> Option<(usize, u8)> {
    let digits = line
        .iter()
        .take(12)
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let behind = *line.get(digits)?;
    (digits > 0 && matches!(behind, b':' | b'-')).then_some((digits, behind))
}

pub(super) fn claims_number(line: &[u8]) -> bool {
    number(line).is_some()
}

pub(super) fn peel_number(line: &[u8]) -> Peeled<'_> {
    match number(line) {
        Some((digits, _)) => Peeled::Message(Message::of(&line[digits + 1..])),
        None if line == b"--" => Peeled::Gap,
        None => Peeled::Foreign,
    }
}
