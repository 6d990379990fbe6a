//! Logs whose newest line stands first, as dashboards and `journalctl -r` show them: turned before they are read.

use super::Key;
use super::stack::{Bare, Place};
use crate::time::Timestamp;

/// How much is turned at once, in bytes: what a person exports newest first is far smaller. Of a larger log each stretch of
/// so many bytes is turned for itself.
const TURNED_MAX: usize = 256 << 20;

/// The messages of a log in the order in which they stand.
#[derive(Debug)]
pub(super) struct Reversal {
    /// Whether a line that begins no record belongs to the one before it.
    joins: bool,
    text: Vec<u8>,
    messages: Vec<Turned>,
}

#[derive(Debug, Clone, Copy)]
struct Turned {
    from: usize,
    at: Place,
    time: Option<Timestamp>,
    is_record: bool,
}

impl Reversal {
    pub(super) fn new(joins: bool) -> Self {
        Self {
            joins,
            text: Vec::new(),
            messages: Vec::new(),
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.text.len() >= TURNED_MAX
    }

    pub(super) fn message(&mut self, message: Bare<'_>, begins: bool) {
        if self.joins && !begins && !self.messages.is_empty() {
            return self.inner(message.text);
        }
        self.messages.push(Turned {
            from: self.text.len(),
            at: message.at,
            time: message.time,
            is_record: message.is_record,
        });
        self.inner(message.text);
    }

    pub(super) fn inner(&mut self, text: &[u8]) {
        self.text.extend_from_slice(text);
        self.text.push(b'\n');
    }

    /// Gives the messages, the last one first, and begins anew.
    pub(super) fn newest_last(&mut self, mut give: impl FnMut(Bare<'_>)) {
        let mut end = self.text.len();
        for turned in self.messages.iter().rev() {
            let text = &self.text[turned.from..end];
            end = turned.from;
            give(Bare {
                text: text.strip_suffix(b"\n").unwrap_or(text),
                at: turned.at,
                time: turned.time,
                is_record: turned.is_record,
                key: Key::default(),
            });
        }
        self.text.clear();
        self.messages.clear();
    }
}

/// Whether these stamps, in the order in which they stand, are those of a log whose newest line stands first.
pub fn is_newest_first(stamps: &[Timestamp]) -> bool {
    let moved = stamps.windows(2).filter(|pair| pair[0] != pair[1]);
    let (mut back, mut all) = (0, 0);
    for pair in moved {
        all += 1;
        back += usize::from(pair[1] < pair[0]);
    }
    // Threads and writes reorder records of a log that is in order, and far fewer than these.
    back >= 3 && back * 10 >= all * 9
}
