//! Colors and other escape sequences of a terminal, which no server writes on purpose into a file.

use super::{Claims, Message, Peeled};
use crate::record::{ESCAPE, after_escape};

pub(super) fn claims(line: &[u8]) -> bool {
    memchr::memmem::find(line, b"\x1b[").is_some()
}

/// What `grep --color` puts behind every color, and one in how many lines must have it.
const GREP: &[u8] = b"m\x1b[K";
const GREP_SHARE: usize = 100;

/// Whether most of so many lines are colored, or as many as `grep` may have found among lines of context: a log may quote some.
pub(super) fn is_on_most<'l>(lines: impl Iterator<Item = &'l [u8]>, count: usize) -> bool {
    let (mut colored, mut found) = (0, 0);
    for line in lines.filter(|line| claims(line)) {
        colored += 1;
        found += usize::from(memchr::memmem::find(line, GREP).is_some());
    }
    colored * 2 >= count || found * GREP_SHARE >= count.max(1)
}

/// Whether more of these lines are of a known format without their colors.
pub(super) fn hides<'l>(lines: impl Iterator<Item = &'l [u8]>, claims: Claims<'_>) -> bool {
    let (mut colored, mut plain, mut scratch) = (Vec::new(), Vec::new(), Vec::new());
    for line in lines.filter(|line| self::claims(line)) {
        colored.extend_from_slice(line);
        colored.push(b'\n');
        scratch.clear();
        if let Peeled::Message(message) = peel(line, &mut scratch) {
            plain.extend_from_slice(message.text);
            plain.push(b'\n');
        }
    }
    claims(&plain) > claims(&colored)
}

pub(super) fn peel<'a>(line: &'a [u8], out: &'a mut Vec<u8>) -> Peeled<'a> {
    let mut rest = line;
    while let Some(at) = memchr::memchr(ESCAPE, rest) {
        out.extend_from_slice(&rest[..at]);
        rest = after_escape(&rest[at + 1..]);
    }
    if rest.len() == line.len() {
        return Peeled::Message(Message::of(line));
    }
    out.extend_from_slice(rest);
    Peeled::Message(Message::of(out))
}
