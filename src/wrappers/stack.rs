//! The wrappers around one log, peeled off line by line.

use super::json_logger::{Clock, peel as peel_json};
use super::{
    Key, Layer, Message, Peeled, Wrapper, ansi, client, compose, container, grep, indent, journal,
    kubectl, labels, stamp, syslog, table,
};
use crate::record::ESCAPE;
use crate::time::Timestamp;

/// A line of the file.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Place {
    /// Its number, from 1.
    pub(super) line: u64,
    /// Its first byte.
    pub(super) offset: u64,
}

/// A message with all wrappers taken off.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bare<'a> {
    pub(super) text: &'a [u8],
    pub(super) at: Place,
    pub(super) time: Option<Timestamp>,
    pub(super) is_record: bool,
    /// The log it is of, by the innermost wrapper that holds several.
    pub(super) key: Key<&'a [u8]>,
}

/// Takes what a stack gives.
pub(super) trait Sink {
    /// A message.
    fn message(&mut self, text: Bare<'_>);
    /// A further line of the message before.
    fn inner(&mut self, text: &[u8]);
    /// Lines are left out here.
    fn gap(&mut self) {}
    /// A line that is not of the wrapper.
    fn foreign(&mut self, at: Place);
}

/// The layers with what each remembers between lines.
#[derive(Debug)]
pub(super) struct Stack {
    layers: Vec<Peeler>,
    /// What a line of the log begins with, if that is all that has to be looked at of others.
    prefix: Vec<u8>,
}

#[derive(Debug)]
struct Peeler {
    layer: Layer,
    /// Where a decoded line is written.
    scratch: Vec<u8>,
    clock: Clock,
    /// The path of the line before.
    path: Vec<u8>,
    /// The paths of all files whose lines are here, where they are known.
    paths: grep::Paths,
    /// Pieces of a line whose end is to come, by output, and where the first of them stands.
    parts: [(Vec<u8>, Place); 2],
    /// Whether the last message was of the log that is meant.
    is_mine: bool,
}

impl Stack {
    /// `notes_foreign`: whether lines of no log have to be told from those of another one.
    pub(super) fn new(layers: &[Layer], notes_foreign: bool) -> Self {
        let peeler = |layer: &Layer| Peeler {
            layer: layer.clone(),
            scratch: Vec::new(),
            clock: Clock::default(),
            path: Vec::new(),
            paths: grep::Paths::default(),
            parts: Default::default(),
            is_mine: false,
        };
        Self {
            layers: layers.iter().map(peeler).collect(),
            prefix: layers
                .first()
                .filter(|_| !notes_foreign)
                .map(prefix)
                .unwrap_or_default(),
        }
    }

    /// Tells which files' lines are here.
    pub(super) fn know_paths(&mut self, paths: &[Vec<u8>]) {
        for peeler in &mut self.layers {
            if peeler.layer.wrapper == Wrapper::GrepPath {
                peeler.paths = grep::Paths::of(paths);
            }
        }
    }

    /// Takes what the wrappers around these gave.
    pub(super) fn pass(&mut self, text: Bare<'_>, out: &mut impl Sink) {
        feed(&mut self.layers, text, out);
    }

    /// Takes the next line, without its end.
    pub(super) fn push(&mut self, line: &[u8], at: Place, out: &mut impl Sink) {
        // A colored line, and what parts groups, have to be looked at.
        let is_other = line.first() == Some(&ESCAPE) || line == b"--";
        if !is_other && !line.starts_with(&self.prefix) {
            return;
        }
        let text = Bare {
            text: line,
            at,
            time: None,
            is_record: false,
            key: Key::default(),
        };
        feed(&mut self.layers, text, out);
    }

    /// The input has ended: what still waits for its end.
    pub(super) fn end(&mut self, out: &mut impl Sink) {
        for depth in 0..self.layers.len() {
            let (above, below) = self.layers.split_at_mut(depth + 1);
            let Some(peeler) = above.last_mut() else {
                continue;
            };
            for (part, at) in &mut peeler.parts {
                if part.is_empty() {
                    continue;
                }
                let text = Bare {
                    text: part,
                    at: *at,
                    time: None,
                    is_record: false,
                    key: Key::default(),
                };
                feed(below, text, out);
                part.clear();
            }
        }
    }
}

/// What every line begins with that a wrapper marks as one log's.
fn prefix(layer: &Layer) -> Vec<u8> {
    let Some(key) = &layer.key else {
        return Vec::new();
    };
    // A wrapper's further lines of a message have no prefix, so only those without any are in question.
    if layer.wrapper == Wrapper::Compose {
        key.node.clone()
    } else if layer.wrapper == Wrapper::Kubectl {
        [b"[pod/", key.node.as_slice()].concat()
    } else if layer.wrapper == Wrapper::GrepPath {
        key.part.clone()
    } else {
        Vec::new()
    }
}

/// A line that is in pieces is not kept beyond this; what follows is a line of its own.
const PARTS_MAX: usize = 64 << 20;

fn feed(layers: &mut [Peeler], input: Bare<'_>, out: &mut impl Sink) {
    let Some((peeler, below)) = layers.split_first_mut() else {
        return out.message(input);
    };
    let Peeler {
        layer,
        scratch,
        clock,
        path,
        paths,
        parts,
        is_mine,
    } = peeler;
    scratch.clear();
    let meant = layer.key.as_ref().map(|key| key.part.as_slice());
    let likely = paths.of_line(input.text, meant.unwrap_or(path));
    let message = match peel(layer, clock, likely, input.text, scratch) {
        Peeled::Message(message) => message,
        Peeled::Inner(text) => {
            if *is_mine {
                out.inner(text);
            }
            return;
        }
        Peeled::Frame => return,
        Peeled::Gap => return out.gap(),
        Peeled::Foreign => return out.foreign(input.at),
    };
    *is_mine = layer.key.as_ref().is_none_or(|key| key.is(message.key));
    if !*is_mine {
        return;
    }
    let is_split = layer.wrapper.spec().is_split;
    if layer.wrapper == Wrapper::GrepPath && layer.key.is_none() && *path != message.key.part {
        path.clear();
        path.extend_from_slice(message.key.part);
    }
    let mut text = Bare {
        text: message.text,
        at: input.at,
        time: message.time.or(input.time),
        is_record: message.is_record,
        key: if is_split { message.key } else { input.key },
    };
    let (part, part_at) = &mut parts[message.tag.min(1)];
    if message.is_part || !part.is_empty() {
        if part.is_empty() {
            *part_at = input.at;
        }
        part.extend_from_slice(message.text);
        if message.is_part && part.len() < PARTS_MAX {
            return;
        }
        (text.text, text.at) = (part.as_slice(), *part_at);
        feed(below, text, out);
        part.clear();
        return;
    }
    feed(below, text, out);
}

fn peel<'a>(
    layer: &Layer,
    clock: &mut Clock,
    path: &[u8],
    line: &'a [u8],
    scratch: &'a mut Vec<u8>,
) -> Peeled<'a> {
    match layer.wrapper {
        Wrapper::Ansi => ansi::peel(line, scratch),
        Wrapper::Stamp => stamp::peel(line),
        Wrapper::Compose => compose::peel(line),
        Wrapper::Kubectl => kubectl::peel(line),
        Wrapper::Labels => labels::peel(line),
        Wrapper::DockerJson => container::peel_json(line, scratch),
        Wrapper::Cri => container::peel_cri(line),
        Wrapper::Syslog => syslog::peel(line, scratch),
        Wrapper::JournalJson => journal::peel(line, scratch),
        Wrapper::GrepPath => grep::peel_path(line, path),
        Wrapper::GrepNumber => grep::peel_number(line),
        Wrapper::Client => client::peel(line, scratch),
        Wrapper::Table => table::peel(line, scratch),
        Wrapper::Indent => indent::peel(line, layer.indent),
        Wrapper::JsonLogger => match &layer.roles {
            Some(roles) => peel_json(roles, clock, line, scratch),
            None => Peeled::Message(Message::of(line)),
        },
    }
}
