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

use std::sync::Arc;

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

/// The paths of all files whose lines are in one output: a path may look like anything, and its end like a text.
#[derive(Debug, Clone, Default)]
pub(super) struct Paths {
    all: Arc<[Vec<u8>]>,
    /// Whether one of them is the beginning of another one.
    is_nested: bool,
}

impl Paths {
    pub(super) fn of(paths: &[Vec<u8>]) -> Self {
        let mut sorted = paths.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        Self {
            is_nested: sorted.windows(2).any(|pair| pair[1].starts_with(&pair[0])),
            all: sorted.into(),
        }
    }

    /// Of these and the path that is most likely, the one that a line begins with; the latter if none does.
    pub(super) fn of_line<'p>(&'p self, line: &[u8], likely: &'p [u8]) -> &'p [u8] {
        if self.all.is_empty() || !self.is_nested && begins_with(line, likely) {
            return likely;
        }
        let fitting = self.all.iter().filter(|path| begins_with(line, path));
        // Of two the longer one: the other is the beginning of its name.
        fitting
            .max_by_key(|path| path.len())
            .map_or(likely, Vec::as_slice)
    }
}

/// Whether a line begins with a path and what stands behind one.
fn begins_with(line: &[u8], path: &[u8]) -> bool {
    let behind = line.strip_prefix(path).and_then(<[u8]>::first);
    !path.is_empty() && matches!(behind, Some(b':' | b'-'))
}

/// `likely` is the file whose line it probably is.
pub(super) fn peel_path<'a>(line: &'a [u8], likely: &[u8]) -> Peeled<'a> {
    if line == b"--" {
        return Peeled::Gap;
    }
    let length = if begins_with(line, likely) {
        likely.len()
    } else {
        match path(line) {
            Some(path) => path.len(),
            None => return Peeled::Foreign,
        }
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
