//! Which wrappers stand around a file's logs: told from its first bytes, and where several logs share it, from all of it.
//!
//! A wrapper is believed if a share of the lines has it and more lines are of a known format without it than with it.

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::Arc;

use super::json_logger::Roles;
use super::reader::LineReader;
use super::stack::{Place, Sink, Stack, Text};
use super::{Key, Layer, Spec, WRAPPERS, Wrapper};

/// How deep wrappers may stand in each other.
const DEPTH_MAX: usize = 6;

/// One line in so many must have a wrapper for it to be tried: what a wrapper holds may have lines without it.
const SHARE: usize = 5;

/// How many logs of one file are told apart; the lines of further ones are counted as lines of none.
const STREAMS_MAX: usize = 256;

/// How much of each log is kept to tell its format, in bytes.
const SAMPLE_BYTES: usize = 32 << 10;

/// The longest line that is looked at where logs are only told apart.
const LINE_MAX: usize = 1 << 20;

/// One log of a wrapped file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unwrapped {
    /// What stands around it, outermost first; nothing where a file only begins with a byte order mark.
    pub layers: Vec<Layer>,
    /// Its beginning.
    pub sample: Vec<u8>,
}

/// The logs of a wrapped file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Detected {
    /// The logs, by key; none where the file is not wrapped.
    pub logs: Vec<Unwrapped>,
    /// Whether most lines are wrapped.
    pub is_most: bool,
}

/// Tells how many lines of a text are of a known format.
pub type Claims<'c> = &'c dyn Fn(&[u8]) -> usize;

impl Unwrapped {
    /// The key of its innermost wrapper that holds several logs.
    pub fn key(&self) -> Option<&Key<Vec<u8>>> {
        self.layers
            .iter()
            .rev()
            .find_map(|layer| layer.key.as_ref())
    }
}

/// Tells the wrappers from a file's first bytes.
pub fn detect(sample: &[u8], claims: Claims<'_>) -> Detected {
    let plain = sample.strip_prefix(b"\xef\xbb\xbf");
    let best = best(plain.unwrap_or(sample), 0, claims);
    let is_wrapped = plain.is_some() || best.logs.iter().any(|log| !log.layers.is_empty());
    if best.claimed == 0 || !is_wrapped {
        return Detected::default();
    }
    Detected {
        is_most: best.is_most,
        logs: best.logs,
    }
}

/// Reads all of a file whose `logs` were told from its beginning, if others may follow further on.
pub fn survey(
    reader: Box<dyn Read + Send>,
    logs: Vec<Unwrapped>,
    claims: Claims<'_>,
) -> Vec<Unwrapped> {
    let is_split = |layer: &Layer| layer.wrapper.spec().is_split;
    let Some(first) = logs.first() else {
        return logs;
    };
    let Some(split) = first.layers.iter().position(is_split) else {
        return logs;
    };
    let mut prefix = first.layers[..=split].to_vec();
    prefix[split].key = None;
    let mut stack = Stack::new(&prefix);
    let mut found = Samples::default();
    let mut lines = LineReader::new(reader, LINE_MAX);
    while let Some(line) = lines.next() {
        stack.push(line.text, line.at, &mut found);
    }
    stack.end(&mut found);
    prefix.pop();
    found
        .logs(&prefix, logs[0].layers[split].wrapper, 0, claims)
        .1
}

/// What was found of a text.
struct Best {
    claimed: usize,
    is_most: bool,
    logs: Vec<Unwrapped>,
}

fn best(sample: &[u8], depth: usize, claims: Claims<'_>) -> Best {
    let mut best = Best {
        claimed: claims(sample),
        is_most: true,
        logs: vec![Unwrapped {
            layers: Vec::new(),
            sample: sample.to_vec(),
        }],
    };
    if depth == DEPTH_MAX {
        return best;
    }
    let lines = || {
        let lines = sample.split(|&b| b == b'\n');
        let lines = lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        lines.filter(|line| !line.is_empty())
    };
    let count = lines().count();
    for spec in WRAPPERS {
        let wrapped = lines().filter(|line| (spec.claims)(line)).count();
        if wrapped == 0 || wrapped * SHARE < count {
            continue;
        }
        let Some(layer) = layer(spec, lines()) else {
            continue;
        };
        let mut stack = Stack::new(std::slice::from_ref(&layer));
        let mut found = Samples::default();
        for line in lines() {
            stack.push(line, Place::default(), &mut found);
        }
        let (claimed, logs) = if spec.is_split {
            found.logs(&[], spec.wrapper, depth + 1, claims)
        } else {
            found.only(&layer, depth + 1, claims)
        };
        if claimed > best.claimed {
            best = Best {
                claimed,
                is_most: wrapped * 2 >= count,
                logs,
            };
        }
    }
    best
}

/// A wrapper as these lines have it.
fn layer<'a>(spec: &Spec, lines: impl Iterator<Item = &'a [u8]>) -> Option<Layer> {
    let roles = match spec.wrapper {
        Wrapper::JsonLogger => Some(Arc::new(Roles::of(
            lines.filter(|it| it.starts_with(b"{")),
        )?)),
        Wrapper::Compose => None,
    };
    Some(Layer {
        wrapper: spec.wrapper,
        key: None,
        roles,
    })
}

/// The beginnings of the logs in a text.
#[derive(Default)]
struct Samples {
    samples: BTreeMap<Key<Vec<u8>>, Vec<u8>>,
    last: Option<Key<Vec<u8>>>,
}

impl Samples {
    /// Tells what stands in each log; `prefix` stands around all of them, and the innermost of it is `split` by key.
    fn logs(
        self,
        prefix: &[Layer],
        split: Wrapper,
        depth: usize,
        claims: Claims<'_>,
    ) -> (usize, Vec<Unwrapped>) {
        let mut total = 0;
        let mut logs = Vec::new();
        for (key, sample) in self.samples {
            let inner = best(&sample, depth, claims);
            total += inner.claimed;
            let layer = Layer {
                wrapper: split,
                key: Some(key),
                roles: None,
            };
            logs.extend(inner.logs.into_iter().map(|log| log.within(prefix, &layer)));
        }
        (total, logs)
    }

    /// Tells what stands in the only log.
    fn only(self, layer: &Layer, depth: usize, claims: Claims<'_>) -> (usize, Vec<Unwrapped>) {
        let sample = self.samples.into_values().next().unwrap_or_default();
        let inner = best(&sample, depth, claims);
        let logs = inner.logs.into_iter().map(|log| log.within(&[], layer));
        (inner.claimed, logs.collect())
    }
}

impl Unwrapped {
    fn within(mut self, prefix: &[Layer], layer: &Layer) -> Self {
        let outer = prefix.iter().chain([layer]).cloned();
        self.layers.splice(0..0, outer);
        self
    }
}

impl Sink for Samples {
    fn message(&mut self, text: Text<'_>) {
        let is_last = self.last.as_ref().is_some_and(|last| last.is(text.key));
        if !is_last {
            let key = text.key.to_owned();
            if self.samples.len() >= STREAMS_MAX && !self.samples.contains_key(&key) {
                self.last = None;
                return;
            }
            self.samples.entry(key.clone()).or_default();
            self.last = Some(key);
        }
        self.inner(text.text);
    }

    fn inner(&mut self, text: &[u8]) {
        let last = self.last.as_ref();
        let Some(sample) = last.and_then(|last| self.samples.get_mut(last)) else {
            return;
        };
        if sample.len() < SAMPLE_BYTES {
            sample.extend_from_slice(text);
            sample.push(b'\n');
        }
    }

    fn foreign(&mut self, _at: Place) {}
}
