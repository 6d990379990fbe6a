//! The prefix of `kubectl logs --prefix`: the pod and the container.
//!
//! ```text
//! [pod/chi-main-0-0-0/clickhouse] 2024.03.27 08:21:54.363420 [ 46 ] {} <Error> ...
//! ```

use super::{Key, Message, Peeled};

/// The longest names that are believed: 253 bytes for a pod, 63 for a container.
const PREFIX_MAX: usize = 330;

fn split(line: &[u8]) -> Option<(Key<&[u8]>, &[u8])> {
    let names = line.strip_prefix(b"[pod/")?;
    let end = memchr::memchr(b']', &names[..names.len().min(PREFIX_MAX)])?;
    let slash = memchr::memchr(b'/', &names[..end])?;
    let (node, part) = (&names[..slash], &names[slash + 1..end]);
    let is_name = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.');
    let text = &names[end + 1..];
    let fits = !node.is_empty() && node.iter().chain(part).all(is_name);
    fits.then(|| (Key { node, part }, text.strip_prefix(b" ").unwrap_or(text)))
}

pub(super) fn claims(line: &[u8]) -> bool {
    split(line).is_some()
}

pub(super) fn peel(line: &[u8]) -> Peeled<'_> {
    match split(line) {
        Some((key, text)) => Peeled::Message(Message {
            key,
            ..Message::of(text)
        }),
        None => Peeled::Foreign,
    }
}
