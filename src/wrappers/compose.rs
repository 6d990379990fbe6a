//! The prefix of docker compose and of swarm: the service and its number, padded to the longest, and a bar.
//!
//! ```text
//! clickhouse-1  | 2024.03.27 08:21:54.363420 [ 46 ] {} <Error> ...
//! keeper_1      | 2024.03.27 08:21:54.367005 [ 41 ] {} <Trace> ...
//! <color>keeper_1      |<color> ...
//! clickhouse-1  |
//! clickhouse-1 exited with code 137
//! ```
//!
//! A blank line of a stack trace keeps only its prefix. What compose itself says (`Attaching to ...`) has no bar; that a
//! service ended, and how, is read as that service's.

use super::{Key, Message, Peeled};

/// The longest name of a service that is believed.
const NAME_MAX: usize = 128;

/// The name before the bar, and what stands behind it. The first version colors the name and the bar.
fn split(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let start = without_color(line);
    let bar = memchr::memchr(b'|', &start[..start.len().min(NAME_MAX)])?;
    let name = start[..bar].trim_ascii_end();
    let fits = !name.is_empty() && name.len() < bar && name.iter().copied().all(is_name);
    let text = &start[bar + 1..];
    // Without a color before the name, one behind the bar is the line's own.
    let text = if start.len() < line.len() {
        without_color(text)
    } else {
        text
    };
    fits.then(|| (name, text.strip_prefix(b" ").unwrap_or(text)))
}

/// What follows the color at the start, if one is there.
fn without_color(text: &[u8]) -> &[u8] {
    let Some(color) = text.strip_prefix(b"\x1b[") else {
        return text;
    };
    let digits = color
        .iter()
        .take_while(|byte| byte.is_ascii_digit() || **byte == b';')
        .count();
    color[digits..].strip_prefix(b"m").unwrap_or(text)
}

/// The service whose end compose tells.
fn ended(line: &[u8]) -> Option<&[u8]> {
    let end = memchr::memmem::find(line, EXITED).filter(|at| (1..NAME_MAX).contains(at))?;
    let code = &line[end + EXITED.len()..];
    let is_code = !code.is_empty() && code.len() < 4 && code.iter().all(u8::is_ascii_digit);
    let name = &line[..end];
    (is_code && name.iter().copied().all(is_name)).then_some(name)
}

const EXITED: &[u8] = b" exited with code ";

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'@')
}

pub(super) fn claims(line: &[u8]) -> bool {
    split(line).is_some() || ended(line).is_some()
}

pub(super) fn peel(line: &[u8]) -> Peeled<'_> {
    match split(line) {
        Some((node, text)) => Peeled::Message(Message {
            key: Key { node, part: b"" },
            ..Message::of(text)
        }),
        // Not a line of the service: a log of its own beside it.
        None => match ended(line) {
            Some(node) => Peeled::Message(Message {
                key: Key { node, part: b"end" },
                ..Message::of(line)
            }),
            None => Peeled::Foreign,
        },
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
    fn a_service_and_its_line_are_told_apart() {
        let of = |node: &str, part: &str, text: &str| {
            Some((node.to_owned(), part.to_owned(), text.to_owned()))
        };
        assert_eq!(read("ch-1      | a | b"), of("ch-1", "", "a | b"));
        assert_eq!(read("ch_1 | x"), of("ch_1", "", "x"));
        assert_eq!(read("ch-1  |"), of("ch-1", "", ""));
        assert_eq!(read("\x1b[36mch_1 |\x1b[0m x"), of("ch_1", "", "x"));
        assert_eq!(read("ch-1 | \x1b[1mx"), of("ch-1", "", "\x1b[1mx"));
        assert_eq!(read("ch-1  |   indented"), of("ch-1", "", "  indented"));
        assert_eq!(read("ch.1.abc@host    | x"), of("ch.1.abc@host", "", "x"));
        assert_eq!(
            read("ch-1 exited with code 137"),
            of("ch-1", "end", "ch-1 exited with code 137")
        );
        for line in [
            "Attaching to ch-1",
            "| a | b |",
            "a b | c",
            "ch-1|x",
            "ch-1 exited with code x",
            "",
        ] {
            assert_eq!(read(line), None, "{line}");
        }
    }
}
