//! Wrappers: what stands around a log's lines when it was collected, pasted or shipped. Unwrapping gives the log's own text.
//!
//! A wrapper is a [`Spec`]: it says whether a line is of it, and peels a line. Wrappers stand in each other, so a log has a
//! list of [`Layer`]s, outermost first. Some hold the logs of several nodes line by line; each of these logs is a stream of
//! its own, read for itself, so that a record between whose lines another service wrote stays one record.
//!
//! What an escape hid (a newline in a JSON text, `#012` of syslog) is text of its record and never begins another one. And
//! whatever was taken off, a record is cited where it stands in the file.

mod compose;
mod detect;
mod json;
mod json_logger;
mod reader;
mod stack;

pub use detect::{Claims, Detected, Unwrapped, detect, survey};
pub use reader::{StreamReader, holds};

use std::sync::Arc;

use crate::time::Timestamp;
use json_logger::Roles;

/// A kind of wrapper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Wrapper {
    /// `service-1  | ` of docker compose and of swarm.
    Compose,
    /// The JSON logger of `ClickHouse`.
    JsonLogger,
}

/// What is registered of a wrapper.
#[derive(Debug)]
pub struct Spec {
    /// The wrapper.
    pub wrapper: Wrapper,
    /// Its name in reports.
    pub name: &'static str,
    /// Whether it holds several logs line by line, told apart by a key.
    pub is_split: bool,
    /// Whether a line, without its end, is wrapped in it.
    claims: fn(&[u8]) -> bool,
}

/// Every wrapper, in the order in which ties of detection are decided.
pub const WRAPPERS: &[Spec] = &[
    Spec {
        wrapper: Wrapper::Compose,
        name: "docker-compose",
        is_split: true,
        claims: compose::claims,
    },
    Spec {
        wrapper: Wrapper::JsonLogger,
        name: "json-logger",
        is_split: false,
        claims: json_logger::claims,
    },
];

impl Wrapper {
    /// What is registered of this wrapper.
    pub fn spec(self) -> &'static Spec {
        match self {
            Self::Compose => &WRAPPERS[0],
            Self::JsonLogger => &WRAPPERS[1],
        }
    }
}

/// A wrapper around a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layer {
    /// Which one.
    pub wrapper: Wrapper,
    /// Of several logs in it, the one that is meant.
    pub key: Option<Key<Vec<u8>>>,
    /// What the keys of a JSON logger mean.
    roles: Option<Arc<Roles>>,
}

/// What tells logs in one wrapper apart.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key<T> {
    /// The node.
    pub node: T,
    /// Which of the node's logs: a container, a program, a path.
    pub part: T,
}

impl Key<&[u8]> {
    fn to_owned(self) -> Key<Vec<u8>> {
        Key {
            node: self.node.to_vec(),
            part: self.part.to_vec(),
        }
    }
}

impl Key<Vec<u8>> {
    fn is(&self, other: Key<&[u8]>) -> bool {
        self.node == other.node && self.part == other.part
    }
}

/// What a line of a wrapper holds.
#[derive(Debug, Clone, Copy)]
enum Peeled<'a> {
    /// A message, or a piece of one.
    Message(Message<'a>),
    /// It is not of this wrapper.
    Foreign,
}

/// A message.
#[derive(Debug, Clone, Copy)]
struct Message<'a> {
    /// Of which log it is.
    key: Key<&'a [u8]>,
    /// Its text; a newline in it begins no record.
    text: &'a [u8],
    /// When the wrapper says that it was written.
    time: Option<Timestamp>,
    /// Whether more of its line follows.
    is_part: bool,
    /// Whether it is a record, whatever it looks like.
    is_record: bool,
    /// Which of two outputs it is from: their lines are pieced together apart.
    tag: usize,
}

impl<'a> Message<'a> {
    /// A whole line of the only log.
    fn of(text: &'a [u8]) -> Self {
        Self {
            key: Key::default(),
            text,
            time: None,
            is_part: false,
            is_record: false,
            tag: 0,
        }
    }
}
