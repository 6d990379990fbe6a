//! The blanks before every line of a text that was copied out of an issue or a chat.

use super::{Message, Peeled};

pub(super) fn claims(line: &[u8]) -> bool {
    matches!(line.first(), Some(b' ' | b'\t'))
}

/// How many blanks all of these lines begin with, the same ones.
pub(super) fn shared<'l>(lines: impl Iterator<Item = &'l [u8]>) -> usize {
    let mut lines = lines.filter(|line| !line.trim_ascii().is_empty());
    let first = lines.next().unwrap_or_default();
    let blanks = first.iter().take_while(|byte| claims(&[**byte])).count();
    lines.fold(blanks, |most, line| {
        let same = first[..most].iter().zip(line);
        same.take_while(|(a, b)| a == b).count()
    })
}

pub(super) fn peel(line: &[u8], indent: usize) -> Peeled<'_> {
    let (blanks, text) = line.split_at(indent.min(line.len()));
    if blanks.trim_ascii().is_empty() {
        Peeled::Message(Message::of(text))
    } else {
        Peeled::Foreign
    }
}
