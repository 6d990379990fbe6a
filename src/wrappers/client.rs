//! The records of servers that `clickhouse-client --send_logs_level` prints, each with the server's name before it:
//!
//! ```text
//! [host] 2026.11.29 17:07:38.296829 [ 2044 ] {365133c9-...} <Debug> executeQuery: ...
//! [host] 2026.11.29 17:07:59.823110 {1222644e-...} [ 11 ] <Debug> executeQuery: ...
//! ```
//!
//! The second form is that of 18.16: it is put in the order of the server's own log.

use super::{Key, Message, Peeled};
use crate::time::Timestamp;

/// The longest name of a host, and what is believed of one.
const HOST_MAX: usize = 253;

/// `YYYY.MM.DD HH:MM:SS.uuuuuu`.
const STAMP_BYTES: usize = 26;

fn split(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let inner = line.strip_prefix(b"[")?;
    let end = memchr::memchr(b']', &inner[..inner.len().min(HOST_MAX)])?;
    let (host, text) = (&inner[..end], inner[end + 1..].strip_prefix(b" ")?);
    let is_host = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_' | b':');
    let is_stamped = text.get(4) == Some(&b'.') && Timestamp::read(text).is_some();
    (!host.is_empty() && host.iter().all(is_host) && is_stamped).then_some((host, text))
}

pub(super) fn claims(line: &[u8]) -> bool {
    split(line).is_some()
}

pub(super) fn peel<'a>(line: &'a [u8], out: &'a mut Vec<u8>) -> Peeled<'a> {
    let Some((node, text)) = split(line) else {
        // Its answer, or a further line of a record: they look alike.
        return Peeled::Inner(line);
    };
    let text = if in_order(text, out) {
        out.as_slice()
    } else {
        text
    };
    Peeled::Message(Message {
        key: Key { node, part: b"" },
        ..Message::of(text)
    })
}

/// Puts the thread before the query id; whether it stood behind it.
fn in_order(text: &[u8], out: &mut Vec<u8>) -> bool {
    let Some((stamp, rest)) = text.split_at_checked(STAMP_BYTES) else {
        return false;
    };
    let Some(id) = rest.strip_prefix(b" {") else {
        return false;
    };
    let Some(id_end) = memchr::memchr(b'}', id) else {
        return false;
    };
    let thread = &id[id_end + 1..];
    let Some(thread_end) = memchr::memchr(b']', thread).filter(|_| thread.starts_with(b" [ "))
    else {
        return false;
    };
    for part in [
        stamp,
        &thread[..=thread_end],
        b" {",
        &id[..=id_end],
        &thread[thread_end + 1..],
    ] {
        out.extend_from_slice(part);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_old_order_becomes_that_of_the_log() {
        let mut out = Vec::new();
        assert!(in_order(
            b"2026.11.29 17:07:59.823110 {a-b} [ 11 ] <Debug> x: y",
            &mut out
        ));
        assert_eq!(out, b"2026.11.29 17:07:59.823110 [ 11 ] {a-b} <Debug> x: y");
        assert!(!in_order(
            b"2026.11.29 17:07:59.823110 [ 11 ] {a-b} <Debug> x: y",
            &mut out
        ));
    }
}
