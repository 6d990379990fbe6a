//! The prefix of docker compose and of swarm: the service and its number, padded to the longest, and a bar.
//!
//! ```text
//! clickhouse-1  | 2024.03.27 08:21:54.363420 [ 46 ] {} <Error> ...
//! keeper_1      | 2024.03.27 08:21:54.367005 [ 41 ] {} <Trace> ...
//! clickhouse-1  |
//! clickhouse-1 exited with code 137
//! ```
//!
//! A blank line of a stack trace keeps only its prefix. What compose itself says (`Attaching to ...`) has no bar.

use super::{Key, Message, Peeled};

/// The longest name of a service that is believed.
const NAME_MAX: usize = 128;

/// The name before the bar, and what stands behind it.
fn split(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let bar = memchr::memchr(b'|', &line[..line.len().min(NAME_MAX)])?;
    let name = line[..bar].trim_ascii_end();
    let is_name = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'@');
    let fits = !name.is_empty() && name.len() < bar && name.iter().all(is_name);
    let text = &line[bar + 1..];
    fits.then(|| (name, text.strip_prefix(b" ").unwrap_or(text)))
}

pub(super) fn claims(line: &[u8]) -> bool {
    split(line).is_some()
}

pub(super) fn peel(line: &[u8]) -> Peeled<'_> {
    match split(line) {
        Some((node, text)) => Peeled::Message(Message {
            key: Key { node, part: b"" },
            ..Message::of(text)
        }),
        None => Peeled::Foreign,
    }
}
