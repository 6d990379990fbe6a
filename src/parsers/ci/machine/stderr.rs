//! A server's standard error beside the results of tests: whether its process says that it ends.
//!
//! Signals of the rule base match the same lines for `analyze`; here only deaths are told, so that failures after one can be
//! called what they are.

use super::super::jobs::unstamp::plain;
use super::super::model::{Event, EventKind, MESSAGE_BYTES_MAX, bounded};
use super::super::{Line, LineReader, Reading};
use crate::parsers::stderr;

/// A report of a sanitizer has one such line.
const EVENTS_MAX: usize = 1000;

/// Beginnings and ends of lines with which a process says that it dies.
const DEATHS: &[&str] = &[
    "terminate called",
    "libc++abi: terminating",
    "Segmentation fault",
    "Aborted",
    "Killed",
    "Bus error",
    "Illegal instruction",
];

pub(crate) fn claims(sample: &[u8]) -> bool {
    stderr::claims(sample) > 0
}

pub(crate) fn reader() -> Box<dyn LineReader> {
    Box::new(Stderr::default())
}

#[derive(Debug, Default)]
struct Stderr {
    events: Vec<Event>,
}

impl LineReader for Stderr {
    fn line(&mut self, line: &Line<'_>) {
        let bytes = plain(line.bytes);
        let is_sanitizer =
            bytes.starts_with(b"==") && memchr::memmem::find(&bytes, b"==ERROR: ").is_some();
        let is_death = is_sanitizer
            || DEATHS
                .iter()
                .any(|start| bytes.starts_with(start.as_bytes()));
        if is_death && self.events.len() < EVENTS_MAX {
            self.events.push(Event {
                kind: EventKind::ServerDied,
                subject: String::new(),
                at: line.printed,
                text: bounded(&String::from_utf8_lossy(&bytes), MESSAGE_BYTES_MAX),
                place: line.place,
            });
        }
    }

    fn finish(self: Box<Self>) -> Reading {
        Reading {
            events: self.events,
            ..Reading::default()
        }
    }
}
