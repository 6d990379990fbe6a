//! The labels that Loki keeps a line under, as `logcli` prints them before it:
//!
//! ```text
//! 2026-03-14T23:18:02Z {app="clickhouse", level="error", pod="ch-0"}       2026.03.14 23:18:02.000003 [ 7 ] {} <Error> ...
//! 2026-03-14T23:18:02Z {}                                                  0. DB::f() @ 0x1
//! ```
//!
//! They are padded to the longest. Those that all lines share may be left out, and some, such as a level, tell lines of one
//! log apart: only what says where a line was written is believed to tell logs apart.

use super::{Key, Message, Peeled};

/// The longest labels that are believed.
const LABELS_MAX: usize = 2048;

/// Labels that name the node, the surest first.
const NODES: &[&[u8]] = &[
    b"pod",
    b"host",
    b"hostname",
    b"instance",
    b"node_name",
    b"nodename",
];

/// Labels that name a log of a node, the surest first.
const PARTS: &[&[u8]] = &[
    b"container",
    b"container_name",
    b"filename",
    b"unit",
    b"app",
];

/// The labels of a line, and the line behind them.
fn split(line: &[u8]) -> Option<(Labels<'_>, &[u8])> {
    let mut rest = line.strip_prefix(b"{")?;
    let mut labels = Labels::default();
    while rest.first() != Some(&b'}') {
        let (name, value, behind) = label(rest)?;
        labels.take(name, value);
        let next = behind.strip_prefix(b", ").or(behind.strip_prefix(b","));
        rest = next.unwrap_or(behind);
        let is_long = line.len() - rest.len() > LABELS_MAX;
        if is_long || next.is_none() && rest.first() != Some(&b'}') {
            return None;
        }
    }
    let text = &rest[1..];
    let is_apart = text.first().is_none_or(|byte| *byte == b' ');
    is_apart.then(|| (labels, text.trim_ascii_start()))
}

/// `name="value"` at the start of a text, and what follows it.
fn label(text: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
    let length = text.iter().take_while(is_name).count();
    let (name, rest) = text.split_at(length);
    let value = rest.strip_prefix(b"=\"")?;
    let end = memchr::memchr2_iter(b'"', b'\n', value).find(|&at| !is_escaped(value, at))?;
    let is_label = length > 0 && value[end] == b'"';
    is_label.then(|| (name, &value[..end], &value[end + 1..]))
}

/// Whether an odd number of backslashes stands before a place.
fn is_escaped(text: &[u8], at: usize) -> bool {
    let before = text[..at].iter().rev();
    before.take_while(|byte| **byte == b'\\').count() % 2 == 1
}

/// What the labels of a line tell of its log: how sure each is, and what it says.
#[derive(Debug, Clone, Copy, Default)]
struct Labels<'a> {
    node: Option<(usize, &'a [u8])>,
    part: Option<(usize, &'a [u8])>,
}

impl<'a> Labels<'a> {
    fn take(&mut self, name: &[u8], value: &'a [u8]) {
        for (known, names) in [(&mut self.node, NODES), (&mut self.part, PARTS)] {
            let sure = names.iter().position(|it| *it == name);
            if let Some(sure) = sure
                && known.is_none_or(|(before, _)| sure < before)
            {
                *known = Some((sure, value));
            }
        }
    }

    fn key(self) -> Key<&'a [u8]> {
        let value = |it: Option<(usize, &'a [u8])>| it.map_or(&b""[..], |(_, value)| value);
        Key {
            node: value(self.node),
            part: value(self.part),
        }
    }
}

pub(super) fn claims(line: &[u8]) -> bool {
    split(line).is_some()
}

pub(super) fn peel(line: &[u8]) -> Peeled<'_> {
    match split(line) {
        Some((labels, text)) => Peeled::Message(Message {
            key: labels.key(),
            ..Message::of(text)
        }),
        None => Peeled::Foreign,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Option<(String, String, String)> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        match peel(line.as_bytes()) {
            Peeled::Message(it) => Some((text(it.key.node), text(it.key.part), text(it.text))),
            Peeled::Inner(_) | Peeled::Frame | Peeled::Gap | Peeled::Foreign => None,
        }
    }

    #[test]
    fn a_node_and_its_log_are_told_by_labels_of_places_alone() {
        let of = |node: &str, part: &str, text: &str| {
            Some((node.to_owned(), part.to_owned(), text.to_owned()))
        };
        assert_eq!(read("{app=\"ch\"} a {b}"), of("", "ch", "a {b}"));
        assert_eq!(
            read(
                "{app=\"ch\", container=\"server\", host=\"h\", level=\"error\", pod=\"ch-0\"}   x"
            ),
            of("ch-0", "server", "x")
        );
        assert_eq!(read("{a=\"\\\"}\",b=\"\\\\\"} x"), of("", "", "x"));
        assert_eq!(read("{}      x"), of("", "", "x"));
        assert_eq!(read("{pod=\"a\"}"), of("a", "", ""));
        for line in [
            "{\"app\":\"ch\"} x",
            "{app=ch} x",
            "{q-0} <Error> x",
            "{app=\"ch\"}x",
            "{app=\"ch\" pod=\"a\"} x",
            "{app=\"ch",
            "{=\"ch\"} x",
            "",
        ] {
            assert_eq!(read(line), None, "{line}");
        }
    }
}
