//! Which wrappers stand around a file's logs: told from its first bytes, and where several logs share it, from all of it.
//!
//! A wrapper is believed if a share of the lines has it and more lines are of a known format without it than with it.

use std::io::Read;
use std::sync::Arc;

use super::json_logger::Roles;
use super::lines::LineReader;
use super::stack::{Bare, Place, Sink, Stack};
use super::{Key, Layer, Spec, WRAPPERS, Wrapper, ansi, indent};
use crate::record::{BOM, Lines, split_lines};

/// How deep wrappers may stand in each other.
const DEPTH_MAX: usize = 6;

/// How many logs of one file are told apart: each holds some memory. The lines of further ones are counted.
const STREAMS_MAX: usize = 256;

/// How much of each log is kept to tell its format, in bytes.
const SAMPLE_BYTES: usize = 32 << 10;

/// How many prefixes of lines are known by heart: each is compared with every line.
const PREFIXES_MAX: usize = 16;

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
    /// Lines of logs beyond the bound on how many are told apart.
    pub beyond: Lines,
}

/// Tells how many lines of a text are of a known format.
pub type Claims<'c> = &'c dyn Fn(&[u8]) -> usize;

impl Unwrapped {
    /// Whether it is a log of `ClickHouse` whatever its lines look like: what is in a message is not of the log's form.
    pub fn is_text_log(&self) -> bool {
        self.layers
            .last()
            .is_some_and(|layer| layer.wrapper == Wrapper::JsonLogger)
    }

    /// The names of its wrappers, outermost first.
    pub fn name(&self) -> String {
        let names = self.layers.iter().map(|layer| layer.wrapper.spec().name);
        names.collect::<Vec<_>>().join(", ")
    }

    /// Whether only some of its lines may be there.
    pub fn is_excerpt(&self) -> bool {
        self.layers
            .iter()
            .any(|layer| layer.wrapper.spec().is_excerpt)
    }

    /// The file it was in, where its wrapper names one.
    pub fn path(&self) -> Option<&[u8]> {
        let layer = self
            .layers
            .iter()
            .rev()
            .find(|layer| layer.wrapper == Wrapper::GrepPath)?;
        layer.key.as_ref().map(|key| key.part.as_slice())
    }

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
    let plain = sample.strip_prefix(BOM);
    let best = best(plain.unwrap_or(sample), 0, claims);
    let is_wrapped = plain.is_some() || best.logs.iter().any(|log| !log.layers.is_empty());
    if best.claimed == 0 || !is_wrapped {
        return Detected::default();
    }
    Detected {
        is_most: best.is_most,
        logs: best.logs,
        beyond: Lines::default(),
    }
}

/// Reads all of a file whose logs were told from its beginning, if others may follow further on.
pub fn survey(reader: Box<dyn Read + Send>, detected: Detected, claims: Claims<'_>) -> Detected {
    let is_split = |layer: &Layer| layer.wrapper.spec().is_split;
    let layers = detected.logs.first().map_or(&[][..], |log| &log.layers);
    let Some(split) = layers.iter().position(is_split) else {
        return detected;
    };
    let mut prefix = layers[..=split].to_vec();
    prefix[split].key = None;
    let mut stack = Stack::new(&prefix, false);
    let mut found = Samples::default();
    let mut lines = LineReader::new(reader, LINE_MAX);
    // What such a wrapper puts before a line tells the log, and nothing else of the line is asked for once the log is known.
    let by_prefix = split == 0
        && matches!(
            prefix[split].wrapper,
            Wrapper::Compose | Wrapper::Kubectl | Wrapper::GrepPath
        );
    let mut known: Vec<Vec<u8>> = Vec::new();
    while let Some(line) = lines.next() {
        if known.iter().any(|prefix| line.text.starts_with(prefix)) {
            continue;
        }
        found.rest = None;
        stack.push(line.text, line.at, &mut found);
        let rest = found
            .rest
            .filter(|_| by_prefix && known.len() < PREFIXES_MAX);
        let before = rest.and_then(|rest| line.text.len().checked_sub(rest));
        if let Some(prefix) = before.map(|before| &line.text[..before])
            && ends_prefix(prefix)
        {
            known.push(prefix.to_vec());
        }
    }
    stack.end(&mut found);
    let wrapper = prefix[split].wrapper;
    prefix.pop();
    let beyond = found.beyond;
    Detected {
        logs: found.told(&prefix, wrapper, 0, claims).1,
        is_most: detected.is_most,
        beyond,
    }
}

/// Whether nothing longer than this prefix is another log's: it ends where the wrapper's own mark does.
fn ends_prefix(prefix: &[u8]) -> bool {
    matches!(prefix.last(), Some(b' ' | b'|' | b']' | b':'))
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
        let lines = split_lines(sample);
        let lines = lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        lines.filter(|line| !line.is_empty())
    };
    let count = lines().count();
    for spec in WRAPPERS {
        let wrapped = lines().filter(|line| (spec.claims)(line)).count();
        if wrapped == 0 || wrapped.saturating_mul(spec.share) < count {
            continue;
        }
        let Some(layer) = Layer::of(spec, lines()) else {
            continue;
        };
        let mut stack = Stack::new(std::slice::from_ref(&layer), false);
        let mut found = Samples::default();
        for line in lines() {
            stack.push(line, Place::default(), &mut found);
        }
        stack.end(&mut found);
        let (claimed, logs) = if spec.is_split {
            found.told(&[], spec.wrapper, depth + 1, claims)
        } else {
            found.only(&layer, depth + 1, claims)
        };
        // A head may be one with its colors, and its level is not; formats claim indented heads, too.
        let is_colored = || ansi::is_on_most(lines(), count) || ansi::hides(lines(), claims);
        let is_plainer = || {
            spec.wrapper == Wrapper::Ansi && is_colored()
                || spec.wrapper == Wrapper::Indent && layer.indent > 0
        };
        if claimed > best.claimed || claimed > 0 && is_plainer() {
            best = Best {
                claimed,
                is_most: wrapped * 2 >= count,
                logs,
            };
        }
    }
    best
}

impl Layer {
    /// A wrapper as these lines have it; `None` if they do not tell how it is to be read.
    pub fn of<'a>(spec: &Spec, lines: impl Iterator<Item = &'a [u8]>) -> Option<Self> {
        let (mut roles, mut indent) = (None, 0);
        if spec.wrapper == Wrapper::JsonLogger {
            let objects = lines.filter(|line| line.starts_with(b"{"));
            roles = Some(Arc::new(Roles::of(objects)?));
        } else if spec.wrapper == Wrapper::Indent {
            indent = indent::shared(lines);
        }
        Some(Self {
            wrapper: spec.wrapper,
            key: None,
            roles,
            indent,
        })
    }
}

/// The beginnings of the logs in a text.
#[derive(Default)]
struct Samples {
    logs: Vec<(Key<Vec<u8>>, Vec<u8>)>,
    beyond: Lines,
    /// Where the log of the last line is.
    last: usize,
    /// How long the text of this line is, if it is of a log of which enough is kept.
    rest: Option<usize>,
}

impl Samples {
    /// Tells what stands in each log; `prefix` stands around all of them, and the innermost of it is `split` by key.
    fn told(
        self,
        prefix: &[Layer],
        split: Wrapper,
        depth: usize,
        claims: Claims<'_>,
    ) -> (usize, Vec<Unwrapped>) {
        let mut total = 0;
        let mut logs = Vec::new();
        let mut samples = self.logs;
        samples.sort_unstable();
        for (key, sample) in samples {
            let inner = best(&sample, depth, claims);
            total += inner.claimed;
            let layer = Layer {
                wrapper: split,
                key: Some(key),
                roles: None,
                indent: 0,
            };
            logs.extend(inner.logs.into_iter().map(|log| log.within(prefix, &layer)));
        }
        (total, logs)
    }

    /// Tells what stands in the only log.
    fn only(self, layer: &Layer, depth: usize, claims: Claims<'_>) -> (usize, Vec<Unwrapped>) {
        let sample = self
            .logs
            .into_iter()
            .next()
            .map(|(_, sample)| sample)
            .unwrap_or_default();
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
    fn message(&mut self, text: Bare<'_>) {
        let is_last = self
            .logs
            .get(self.last)
            .is_some_and(|(key, _)| key.is(text.key));
        if !is_last {
            // There are few, and a line of another one is the rule where services take turns.
            let known = self.logs.iter().position(|(key, _)| key.is(text.key));
            self.last = known.unwrap_or(self.logs.len());
            if known.is_none() && self.logs.len() < STREAMS_MAX {
                self.logs.push((text.key.to_owned(), Vec::new()));
            } else if known.is_none() {
                self.beyond.note(text.at.line);
            }
        }
        let kept = self
            .logs
            .get(self.last)
            .map_or(0, |(_, sample)| sample.len());
        self.rest = (kept >= SAMPLE_BYTES && !text.text.is_empty()).then_some(text.text.len());
        self.inner(text.text);
    }

    fn inner(&mut self, text: &[u8]) {
        let Some((_, sample)) = self.logs.get_mut(self.last) else {
            return;
        };
        if sample.len() < SAMPLE_BYTES {
            sample.extend_from_slice(text);
            sample.push(b'\n');
        }
    }

    fn foreign(&mut self, _at: Place) {}
}
