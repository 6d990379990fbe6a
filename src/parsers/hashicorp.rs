//! The log of Consul, Vault, Nomad and whatever else logs through hclog, and of their older versions:
//!
//! ```text
//! 2022-11-15T22:41:23.546Z [WARN]  agent.server.raft: appendEntries rejected, sending older logs: peer=... next=123   hclog
//! {"@level":"warn","@message":"failed to contact","@module":"raft","@timestamp":"2022-11-15T22:41:23.546000Z","time":"5s"}
//!     2017/05/12 13:54:42 [WARN] raft: Heartbeat timeout from "" reached, starting election                             before
//! ```
//!
//! The message of the JSON form reaches to the line's end, with its fields as they are written.

use super::json::{message_to_end, pairs};
use super::{Spec, head};
use crate::record::Record;
use crate::time::Timestamp;
use crate::vocab::Level;

/// The agents' and servers' log.
pub(super) static SPEC: Spec = Spec::log("hashicorp", is_head, parse);

fn is_head(line: &[u8]) -> bool {
    match line.first() {
        Some(b'{') => is_json(line),
        Some(b'0'..=b'9' | b' ') => split(line).is_some(),
        _ => false,
    }
}

fn is_json(line: &[u8]) -> bool {
    const KEY: &[u8] = b"\"@level\":\"";
    line.starts_with(b"{\"@")
        && (line[1..].starts_with(KEY)
            || line[1..].starts_with(b"\"@caller\":\"")
                && memchr::memmem::find(head::first_line(&line[..line.len().min(256)]), KEY)
                    .is_some())
}

/// Where the stamp begins, and what follows it from the level's bracket on.
fn split(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let line = line.strip_prefix(b"    ").unwrap_or(line);
    let after = match line.get(10)? {
        // A longer fraction is that of a job's log, which may show such lines of another tool.
        b'T' if head::is_dated(line, b'-') && !line.get(23).is_some_and(u8::is_ascii_digit) => {
            // `2022-11-15T22:41:23.546Z`, `...-0700`
            head::up_to_blank(&line[19..])?.1
        }
        b' ' if head::is_dated(line, b'/') => line[19..].strip_prefix(b" ")?,
        _ => return None,
    };
    let [b'[', letter, ..] = after else {
        return None;
    };
    letter.is_ascii_uppercase().then_some((line, after))
}

fn parse<'a>(line: &'a [u8], rest: &'a [u8]) -> Option<Record<'a>> {
    if line.first() == Some(&b'{') {
        return parse_json(line, rest);
    }
    let (stamp, after) = split(line)?;
    let time = Timestamp::read_zoned(stamp);
    let (word, text) = head::bracketed(after).unwrap_or((b"", after));
    let (logger, message) = head::source(text.trim_ascii_start());
    Some(Record {
        time: time.map(|(time, ..)| time),
        utc: time.is_some_and(|(_, utc, _)| utc),
        level: head::level(word).unwrap_or(Level::None),
        logger,
        ..Record::bare(message, rest)
    })
}

fn parse_json<'a>(line: &'a [u8], rest: &'a [u8]) -> Option<Record<'a>> {
    if !is_json(line) {
        return None;
    }
    let mut record = Record::bare(line, rest);
    for (key, value) in pairs(line) {
        match key {
            b"@level" => record.level = head::level(value).unwrap_or(Level::None),
            b"@message" => record.message = message_to_end(line, value),
            b"@module" => record.logger = value,
            b"@timestamp" => {
                if let Some((time, utc, _)) = Timestamp::read_zoned(value) {
                    (record.time, record.utc) = (Some(time), utc);
                }
                // The keys are sorted: fields follow.
                break;
            }
            _ => {}
        }
    }
    Some(record)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parsers::Format;

    fn read(line: &str) -> Record<'_> {
        Format(&SPEC).parse(line.as_bytes()).unwrap()
    }

    #[test]
    fn every_form_gives_time_level_source_and_text() {
        let (utc, _) = Timestamp::read(b"2022-11-15 22:41:23.546").unwrap();
        let text = read(
            "2022-11-15T14:41:23.546-0800 [WARN]  agent.server.raft: rejected: next=7\n  | more\n",
        );
        assert_eq!(
            (text.time, text.utc, text.level),
            (Some(utc), true, Level::Warning)
        );
        assert_eq!(
            (text.logger, text.message),
            (&b"agent.server.raft"[..], &b"rejected: next=7"[..])
        );
        assert_eq!(text.rest, b"  | more\n");
        let json = read(
            r#"{"@level":"error","@message":"failed to contact","@module":"raft","@timestamp":"2022-11-15T22:41:23.546000Z","time":"5s"}"#,
        );
        assert_eq!(
            (json.time, json.utc, json.level),
            (Some(utc), true, Level::Error)
        );
        assert_eq!(json.logger, b"raft");
        assert!(json.message.starts_with(b"failed to contact\",\"@module\""));
        let old = read("    2017/05/12 13:54:42 [ERR] raft: Failed to take snapshot: x");
        assert_eq!((old.utc, old.level), (false, Level::Error));
        assert_eq!(
            (old.logger, old.message),
            (&b"raft"[..], &b"Failed to take snapshot: x"[..])
        );
    }

    #[test]
    fn other_lines_are_none() {
        for line in [
            "2022-11-15T22:41:23.546Z agent: text",
            "2022-11-15 22:41:23.546Z [WARN] a",
            "2017/05/12 13:54:42 raft: x",
            "    \tat x",
            "2022-11-15T22:41:23.546\n [WARN] a",
            "2017/05/12 13:54:42\n[WARN] a",
            "{\"@level\":1}",
        ] {
            assert!(!is_head(line.as_bytes()), "{line}");
        }
    }
}
