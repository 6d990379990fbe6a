//! One message of a run: its head by the order that the framework writes, or all of it with `serde_json`.

use std::borrow::Cow;

use serde::Deserialize;

use super::{flags, is_test_or_above, level};

/// What every line begins with.
pub(super) const START: &[u8] = b"{\"message_keyword\":\"";

/// What is read of a message that begins or ends a test, or says something of the run.
#[derive(Debug, Deserialize)]
#[expect(clippy::struct_field_names, reason = "as the framework writes them")]
pub(super) struct Message<'a> {
    #[serde(borrow)]
    pub(super) message_keyword: Cow<'a, str>,
    #[serde(default)]
    pub(super) message_num: u64,
    #[serde(default)]
    pub(super) message_time: f64,
    #[serde(default)]
    pub(super) message_rtime: f64,
    #[serde(borrow, default)]
    pub(super) test_type: Cow<'a, str>,
    pub(super) test_subtype: Option<String>,
    #[serde(borrow, default)]
    pub(super) test_id: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(super) test_name: Cow<'a, str>,
    #[serde(default)]
    pub(super) test_flags: u64,
    #[serde(default)]
    pub(super) test_cflags: u64,
    pub(super) result_type: Option<String>,
    pub(super) result_message: Option<String>,
    pub(super) result_reason: Option<String>,
    pub(super) attribute_name: Option<String>,
    pub(super) attribute_value: Option<serde_json::Value>,
    pub(super) framework_version: Option<String>,
    pub(super) protocol_version: Option<String>,
}

impl Message<'_> {
    /// The level that the test is counted at.
    pub(super) fn level(&self) -> &'static str {
        level(&self.test_type, self.test_subtype.as_deref())
    }

    /// Whether it has a flag, or inherits it.
    pub(super) fn has(&self, flag: u64) -> bool {
        (self.test_flags | self.test_cflags) & flag != 0
    }

    /// Whether it is of a test or of what holds tests, and not of a try.
    pub(super) fn is_test(&self) -> bool {
        is_test_or_above(&self.test_type) && !self.has(flags::RETRY)
    }
}

/// The head of a message, as the framework writes it.
pub(super) struct Head<'a> {
    pub(super) keyword: &'a [u8],
    pub(super) number: u64,
    pub(super) stream: &'a [u8],
    pub(super) time: &'a [u8],
    pub(super) id: &'a [u8],
    /// What follows the id.
    pub(super) rest: &'a [u8],
}

/// Takes the parts of a line one after another.
struct Taker<'a>(&'a [u8]);

impl<'a> Taker<'a> {
    fn skip(&mut self, text: &[u8]) -> Option<()> {
        self.0 = self.0.strip_prefix(text)?;
        Some(())
    }

    fn until(&mut self, byte: u8) -> Option<&'a [u8]> {
        let end = memchr::memchr(byte, self.0)?;
        let (taken, rest) = self.0.split_at(end);
        self.0 = &rest[1..];
        Some(taken)
    }
}

/// Reads a head; `None` where the fields are not in their usual order.
pub(super) fn head(line: &[u8]) -> Option<Head<'_>> {
    let mut line = Taker(line);
    line.skip(START)?;
    let keyword = line.until(b'"')?;
    line.skip(b",\"message_hash\":\"")?;
    line.until(b'"')?;
    line.skip(b",\"message_object\":")?;
    line.until(b',')?;
    line.skip(b"\"message_num\":")?;
    let number = line.until(b',')?;
    line.skip(b"\"message_stream\":")?;
    let stream = line.until(b',')?;
    line.skip(b"\"message_level\":")?;
    line.until(b',')?;
    line.skip(b"\"message_time\":")?;
    let time = line.until(b',')?;
    line.skip(b"\"message_rtime\":")?;
    line.until(b',')?;
    line.skip(b"\"test_type\":")?;
    line.until(b',')?;
    line.skip(b"\"test_subtype\":")?;
    line.until(b',')?;
    line.skip(b"\"test_id\":\"")?;
    let id = line.until(b'"')?;
    Some(Head {
        keyword,
        number: std::str::from_utf8(number).ok()?.parse().ok()?,
        stream,
        time,
        id,
        rest: line.0,
    })
}

/// The text of a message, where its head is known.
pub(super) fn message_text(rest: &[u8]) -> Option<String> {
    const KEY: &[u8] = b",\"message\":";
    let at = memchr::memmem::find(rest, KEY)?;
    let value = rest[at + KEY.len()..].strip_suffix(b"}")?;
    serde_json::from_slice(value).ok()
}
