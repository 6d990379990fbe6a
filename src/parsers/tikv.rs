//! The unified log of `TiKV`, PD and `TiDB`:
//!
//! ```text
//! [2026/06/08 01:12:26.417 +00:00] [WARN] [raftlog_gc.rs:123] ["gc raft log with a large range"] [end_index=8830172] [region_id=70418]
//! ```
//!
//! The message begins behind the quote and reaches to the end of the line, so that the fields can be matched as they are
//! written: `gc raft log with a large range"] [end_index=8830172] [region_id=70418`.

use super::{Spec, head};
use crate::record::Record;
use crate::time::Timestamp;
use crate::vocab::Level;

/// The servers' log.
pub(super) static SPEC: Spec = Spec {
    writer: Some(store),
    ..Spec::log("tikv", is_head, parse)
};

fn is_head(line: &[u8]) -> bool {
    // `[2026/06/08 01:12:26.417 +00:00] [`
    line.first() == Some(&b'[')
        && head::is_dated(&line[1..], b'/')
        && line.get(20) == Some(&b'.')
        && line.get(31..34) == Some(b"] [")
        && memchr::memchr(b'\n', &line[..31]).is_none()
}

fn parse<'a>(line: &'a [u8], rest: &'a [u8]) -> Option<Record<'a>> {
    let time = Timestamp::read_zoned(line.get(1..)?);
    let (word, after) = head::bracketed(line.get(33..)?).unwrap_or((b"", &line[33..]));
    let (place, after) = head::bracketed(after.trim_ascii_start()).unwrap_or((b"", after));
    let text = after.trim_ascii_start();
    let text = text.strip_prefix(b"[").unwrap_or(text);
    let text = text.strip_prefix(b"\"").unwrap_or(text);
    let message = text.strip_suffix(b"]").unwrap_or(text);
    // Without fields the quote that ends the text is the last byte.
    let message = if memchr::memchr(b']', message).is_none() {
        message.strip_suffix(b"\"").unwrap_or(message)
    } else {
        message
    };
    let logger = memchr::memchr(b':', place).map_or(place, |at| &place[..at]);
    Some(Record {
        time: time.map(|(time, ..)| time),
        utc: time.is_some_and(|(_, utc, _)| utc),
        level: head::level(word).unwrap_or(Level::None),
        thread: thread(message),
        logger,
        ..Record::bare(message, rest)
    })
}

/// The store that a line says it is of: `store-2031`.
fn store(line: &[u8]) -> Option<String> {
    const KEY: &[u8] = b" [store_id=";
    let at = memchr::memmem::find(line, KEY)? + KEY.len();
    let id = line[at..].iter().take_while(|byte| byte.is_ascii_digit());
    let id: String = id.map(|byte| char::from(*byte)).collect();
    (!id.is_empty() && line.get(at + id.len()) == Some(&b']')).then(|| format!("store-{id}"))
}

/// The number in the last field, if that is the thread.
fn thread(message: &[u8]) -> u64 {
    const KEY: &[u8] = b"[thread_id=";
    let last = memchr::memrchr(b'[', message).map_or(&b""[..], |at| &message[at..]);
    last.strip_prefix(KEY).map_or(0, head::label)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parsers::Format;

    fn read(line: &str) -> Record<'_> {
        Format(&SPEC).parse(line.as_bytes()).unwrap()
    }

    #[test]
    fn a_line_gives_an_instant_a_level_a_source_a_thread_and_text() {
        let record = read(
            "[2026/06/08 09:12:26.417 +08:00] [WARN] [raftlog_gc.rs:123] [\"gc raft log with a large range\"] [end_index=8830172] [thread_id=16]\n",
        );
        let (utc, _) = Timestamp::read(b"2026-06-08 01:12:26.417").unwrap();
        assert_eq!((record.time, record.utc), (Some(utc), true));
        assert_eq!(
            (record.level, record.logger, record.thread),
            (Level::Warning, &b"raftlog_gc.rs"[..], 16)
        );
        assert_eq!(
            record.message,
            b"gc raft log with a large range\"] [end_index=8830172] [thread_id=16"
        );
    }

    #[test]
    fn a_text_without_fields_or_quotes_is_the_text() {
        let plain = read("[2026/06/08 01:12:26.417 +00:00] [INFO] [mod.rs:1] [stopped]");
        assert_eq!(
            (plain.level, plain.message),
            (Level::Information, &b"stopped"[..])
        );
        assert_eq!(
            read("[2026/06/08 01:12:26.417 +00:00] [INFO] [mod.rs:1] [\"all stopped\"]").message,
            b"all stopped"
        );
        assert!(!is_head(b"[2026/06/08 01:12:26.417 +00:00]"));
        assert!(!is_head(b"[7] 2024/10/11 06:18:20.512209 [WRN] RAFT a"));
    }
}
