//! What container runtimes write of a container's output, a line of it each:
//!
//! ```text
//! {"log":"2024.03.27 08:21:54.363420 [ 46 ] {} <Error> ...\n","stream":"stderr","time":"2024-03-27T08:21:54.363999Z"}
//! 2024-03-27T08:21:54.363999123Z stderr F 2024.03.27 08:21:54.363420 [ 46 ] {} <Error> ...
//! ```
//!
//! The first is docker's json-file, the second CRI. Both cut long lines: docker leaves the line's end out of all but the
//! last piece, CRI says `P` for a piece and `F` for the last one. Pieces of the two outputs may alternate.

use super::stamp::read;
use super::{Message, Peeled};
use crate::parsers::json::{Members, Value, unescape};

/// Which of two outputs a stream's name is.
fn tag(stream: &[u8]) -> usize {
    usize::from(stream == b"stderr")
}

pub(super) fn claims_json(line: &[u8]) -> bool {
    line.starts_with(b"{\"log\":\"")
        || matches!(members(line), Some((_, stream, _)) if !stream.is_empty())
}

/// The text, the stream and the time of a line.
fn members(line: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let (mut log, mut stream, mut time) = (None, &b""[..], &b""[..]);
    for (key, value) in Members::of(line)? {
        match (key, value) {
            (b"log", Value::Text(text)) => log = log.or(Some(text)),
            (b"stream", Value::Text(text)) => stream = text,
            (b"time", Value::Text(text)) => time = text,
            _ => {}
        }
    }
    Some((log?, stream, time))
}

pub(super) fn peel_json<'a>(line: &'a [u8], out: &'a mut Vec<u8>) -> Peeled<'a> {
    let Some((log, stream, time)) = members(line) else {
        return Peeled::Foreign;
    };
    unescape(log, out);
    let (text, is_part) = match out.strip_suffix(b"\n") {
        Some(text) => (text.strip_suffix(b"\r").unwrap_or(text), false),
        None => (out.as_slice(), true),
    };
    Peeled::Message(Message {
        time: read(time).map(|(time, _)| time),
        is_part,
        tag: tag(stream),
        ..Message::of(text)
    })
}

pub(super) fn claims_cri(line: &[u8]) -> bool {
    matches!(peel_cri(line), Peeled::Message(_))
}

pub(super) fn peel_cri(line: &[u8]) -> Peeled<'_> {
    let Some((time, rest)) = read(line) else {
        return Peeled::Foreign;
    };
    let (stream, rest) = match rest {
        [b' ', b's', b't', b'd', b'o', b'u', b't', b' ', rest @ ..] => (&b"stdout"[..], rest),
        [b' ', b's', b't', b'd', b'e', b'r', b'r', b' ', rest @ ..] => (&b"stderr"[..], rest),
        _ => return Peeled::Foreign,
    };
    // Tags beyond the first are separated by colons.
    let end = memchr::memchr(b' ', rest).unwrap_or(rest.len());
    let is_part = match rest[..end].first() {
        Some(b'P') => true,
        Some(b'F') => false,
        Some(_) | None => return Peeled::Foreign,
    };
    Peeled::Message(Message {
        time: Some(time),
        is_part,
        tag: tag(stream),
        ..Message::of(rest.get(end + 1..).unwrap_or_default())
    })
}
