//! Wrappers: what stands around a log's lines when it was collected, pasted or shipped. Unwrapping gives the log's own text.
//!
//! A wrapper is a [`Spec`]: it says whether a line is of it, and peels a line. Wrappers stand in each other, so a log has a
//! list of [`Layer`]s, outermost first. Some hold the logs of several nodes line by line; each of these logs is a stream of
//! its own, so that a record between whose lines another service wrote stays one record. All of them are read in one pass.
//!
//! What an escape hid (a newline in a JSON text, `#012` of syslog) is text of its record and never begins another one. And
//! whatever was taken off, a record is cited where it stands in the file.

mod ansi;
mod client;
mod compose;
mod container;
mod demux;
mod detect;
mod export;
mod grep;
mod indent;
mod journal;
mod json_logger;
mod kubectl;
mod labels;
mod lines;
mod reader;
mod reversal;
mod sorting;
mod stack;
mod stamp;
mod syslog;
mod table;
mod text;

pub use demux::{Demux, side_by_side};
pub use detect::{Claims, Detected, Unwrapped, detect, survey};
pub use export::{TableReader, WHOLE_BYTES_MAX};
pub use reader::{IsHead, Reading, StreamReader, holds};
pub use reversal::is_newest_first;

use std::sync::Arc;

use crate::time::Timestamp;
use json_logger::Roles;

/// A kind of wrapper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Wrapper {
    /// The JSON logger of `ClickHouse`.
    JsonLogger,
    /// Escape sequences of a terminal.
    Ansi,
    /// A stamp with a zone: GitHub Actions, `docker logs -t`, `kubectl logs --timestamps`.
    Stamp,
    /// `service-1  | ` of docker compose and of swarm.
    Compose,
    /// `[pod/name/container] ` of kubectl.
    Kubectl,
    /// `{app="name"} ` of Loki.
    Labels,
    /// The json-file of docker.
    DockerJson,
    /// What the runtimes of Kubernetes write.
    Cri,
    /// Syslog, and the short forms of `journalctl`.
    Syslog,
    /// The journal as JSON.
    JournalJson,
    /// The path before a line that grep found.
    GrepPath,
    /// The number before a line that grep found.
    GrepNumber,
    /// `[host] ` of a client that prints servers' logs.
    Client,
    /// A column with the time before the line, as dashboards have it.
    Table,
    /// The same blanks before every line.
    Indent,
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
    /// One line in so many must have it for it to be tried: what a wrapper holds may have lines without it.
    share: usize,
    /// Whether only some of a log's lines may be there.
    pub is_excerpt: bool,
    /// Whether a line, without its end, is wrapped in it.
    claims: fn(&[u8]) -> bool,
}

/// Every wrapper, in the order in which ties of detection are decided.
pub const WRAPPERS: &[Spec] = &[
    Spec {
        wrapper: Wrapper::JsonLogger,
        name: "json-logger",
        is_split: false,
        share: 5,
        is_excerpt: false,
        claims: json_logger::claims,
    },
    Spec {
        wrapper: Wrapper::Ansi,
        name: "terminal-colors",
        is_split: false,
        share: usize::MAX,
        is_excerpt: false,
        claims: ansi::claims,
    },
    Spec {
        wrapper: Wrapper::Stamp,
        name: "stamped-lines",
        is_split: false,
        share: 5,
        is_excerpt: false,
        claims: stamp::claims,
    },
    Spec {
        wrapper: Wrapper::Compose,
        name: "docker-compose",
        is_split: true,
        share: 5,
        is_excerpt: false,
        claims: compose::claims,
    },
    Spec {
        wrapper: Wrapper::Kubectl,
        name: "kubectl",
        is_split: true,
        share: 5,
        is_excerpt: false,
        claims: kubectl::claims,
    },
    Spec {
        wrapper: Wrapper::Labels,
        name: "loki-labels",
        is_split: true,
        share: 5,
        is_excerpt: true,
        claims: labels::claims,
    },
    Spec {
        wrapper: Wrapper::DockerJson,
        name: "docker-json-file",
        is_split: false,
        share: 5,
        is_excerpt: false,
        claims: container::claims_json,
    },
    Spec {
        wrapper: Wrapper::Cri,
        name: "cri",
        is_split: false,
        share: 5,
        is_excerpt: false,
        claims: container::claims_cri,
    },
    Spec {
        wrapper: Wrapper::Syslog,
        name: "syslog",
        is_split: true,
        share: 50,
        is_excerpt: false,
        claims: syslog::claims,
    },
    Spec {
        wrapper: Wrapper::JournalJson,
        name: "journal-json",
        is_split: true,
        share: 5,
        is_excerpt: false,
        claims: journal::claims,
    },
    Spec {
        wrapper: Wrapper::GrepPath,
        name: "grep-path",
        is_split: true,
        share: 5,
        is_excerpt: true,
        claims: grep::claims_path,
    },
    Spec {
        wrapper: Wrapper::GrepNumber,
        name: "grep-number",
        is_split: false,
        share: 5,
        is_excerpt: true,
        claims: grep::claims_number,
    },
    Spec {
        wrapper: Wrapper::Client,
        name: "client-logs",
        is_split: true,
        share: 50,
        is_excerpt: true,
        claims: client::claims,
    },
    Spec {
        wrapper: Wrapper::Table,
        name: "table",
        is_split: false,
        share: 5,
        is_excerpt: true,
        claims: table::claims,
    },
    Spec {
        wrapper: Wrapper::Indent,
        name: "indent",
        is_split: false,
        share: 1,
        is_excerpt: false,
        claims: indent::claims,
    },
];

impl Wrapper {
    /// What is registered of this wrapper.
    pub fn spec(self) -> &'static Spec {
        &WRAPPERS[self as usize]
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
    /// How many blanks are before every line.
    indent: usize,
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
    /// A further line of the message before.
    Inner(&'a [u8]),
    /// Nothing of any log: a rule of a table, a note of the collector.
    Frame,
    /// Lines are left out here.
    Gap,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrapper_stands_at_its_place_in_the_registry() {
        for spec in WRAPPERS {
            assert_eq!(spec.wrapper.spec().name, spec.name);
        }
    }
}
