//! Colors and other escape sequences of a terminal, which no server writes on purpose into a file.

use super::{Message, Peeled};

const ESCAPE: u8 = 0x1b;

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

pub(super) fn peel<'a>(line: &'a [u8], out: &'a mut Vec<u8>) -> Peeled<'a> {
    let mut rest = line;
    while let Some(at) = memchr::memchr(ESCAPE, rest) {
        out.extend_from_slice(&rest[..at]);
        rest = after_sequence(&rest[at + 1..]);
    }
    if rest.len() == line.len() {
        return Peeled::Message(Message::of(line));
    }
    out.extend_from_slice(rest);
    Peeled::Message(Message::of(out))
}

/// What follows the sequence whose escape byte stood before: `[`, parameters, and a letter.
fn after_sequence(text: &[u8]) -> &[u8] {
    let Some(parameters) = text.strip_prefix(b"[") else {
        return text;
    };
    let is_parameter = |byte: &&u8| matches!(byte, b' '..=b'?');
    let length = parameters.iter().take_while(is_parameter).count();
    parameters.get(length + 1..).unwrap_or_default()
}
