//! The logs in wrapped files: which there are, of which format, and where each belongs.

use std::collections::BTreeSet;
use std::io::Cursor;
use std::ops::Range;
use std::sync::Arc;

use crate::intake::{Artifact, Limits, Place, SAMPLE_BYTES};
use crate::parsers::{Format, Sample, claimed, sniff};
use crate::record::{ESCAPE, Lines, Start, offset_in, split_lines};
use crate::time::{MINUTE, Timestamp, Zone};
use crate::wrappers::{
    Layer, Reading, StreamReader, Unwrapped, Wrapper, detect, is_newest_first, survey,
};

/// One log of a wrapped file.
#[derive(Debug)]
pub(super) struct Wrapped {
    /// What stands around it.
    pub(super) layers: Vec<Layer>,
    /// Its format.
    pub(super) format: Format,
    /// The node that its wrapper or its own lines name.
    pub(super) node: Option<String>,
    /// Its wrappers, in words.
    pub(super) wrapper: String,
    /// Whether only some of its lines may be there.
    pub(super) is_excerpt: bool,
    /// Whether the newest line stands first.
    is_reversed: bool,
    /// What its wrapper tells of its clock.
    pub(super) clock: Clock,
    /// The file as it would lie if the log were not wrapped, where the wrapper names one.
    pub(super) file: Option<Artifact>,
    /// The path that the wrapper names.
    pub(super) path: Option<String>,
    /// The paths of all files whose lines are in its file, where a wrapper names them.
    paths: Arc<[Vec<u8>]>,
    /// What its log is called beside others of the file.
    name: String,
    /// Lines of its file that are of logs beyond the bound on their number: noted with the first one.
    pub(super) beyond: Lines,
    /// Which of its lines are not read, where its file holds no other log.
    pub(super) left_out: Option<LeftOut>,
    /// Where it belongs.
    pub(super) place: Option<Place>,
    /// Whether its records were found in another log.
    pub(super) is_taken: bool,
}

/// Lines whose records stand in other files too, and what is said of that.
#[derive(Debug)]
pub(super) struct LeftOut {
    pub(super) lines: Vec<Range<u64>>,
    pub(super) detail: String,
}

/// How many lines of a text, the sample or what stands in it, are of a known format, but for those whose heads are in colors: these
/// are to be taken off.
fn claims(text: &[u8], sample: &Sample<'_>) -> usize {
    let claimed = if std::ptr::eq(text, sample.bytes) {
        sample.claimed()
    } else {
        claimed(text, sample.declared)
    };
    claimed.map_or(0, |(lines, format)| {
        lines.saturating_sub(colored_heads(text, format))
    })
}

/// How many lines begin with a head in which a terminal's colors stand. No server writes them there, and `grep` and its like do in
/// those lines only that they found.
fn colored_heads(text: &[u8], format: Format) -> usize {
    if memchr::memchr(ESCAPE, text).is_none() {
        return 0;
    }
    let is_colored = |line: &&[u8]| {
        let Some(record) = format.parse(line) else {
            return false;
        };
        let head = if record.logger.is_empty() {
            record.message
        } else {
            record.logger
        };
        memchr::memchr(ESCAPE, &line[..offset_in(line, head)]).is_some()
    };
    split_lines(text).filter(is_colored).count()
}

/// Whether a file that begins like this holds wrapped logs.
pub(super) fn is_wrapped(sample: &Sample<'_>) -> bool {
    !detect(sample.bytes, &|text| claims(text, sample))
        .logs
        .is_empty()
}

/// The logs of a file if it is wrapped; `is_document` if only such a file is believed that is nothing else.
pub(super) fn logs(artifact: &Artifact, sample: &Sample<'_>, is_document: bool) -> Vec<Wrapped> {
    let claims = |text: &[u8]| claims(text, sample);
    let mut detected = detect(sample.bytes, &claims);
    if detected.logs.is_empty() || (is_document && !detected.is_most) {
        return Vec::new();
    }
    // The rest of the file may hold further logs.
    if sample.bytes.len() >= SAMPLE_BYTES
        && let Ok((reader, _)) = artifact.open()
    {
        detected = survey(reader, detected, &claims);
    }
    let paths: Arc<[Vec<u8>]> = detected
        .logs
        .iter()
        .filter_map(|log| log.path().map(<[u8]>::to_vec))
        .collect();
    let logs = detected.logs.into_iter();
    let logs = logs.filter_map(|log| wrapped(log, sample.declared));
    let mut logs: Vec<(Wrapped, Option<String>)> = logs.collect();
    let named: BTreeSet<String> = logs.iter().filter_map(|(_, path)| path.clone()).collect();
    let shared = shared_folder(&named);
    for (log, path) in &mut logs {
        log.paths = Arc::clone(&paths);
        log.file = path.as_ref().map(|path| beside(artifact, &path[shared..]));
        log.path.clone_from(path);
        log.look(sample.bytes);
    }
    if let Some((first, _)) = logs.first_mut() {
        first.beyond = detected.beyond;
    }
    logs.into_iter().map(|(log, _)| log).collect()
}

fn wrapped(log: Unwrapped, declared: &[Format]) -> Option<(Wrapped, Option<String>)> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let format = if log.is_text_log() {
        Format::CLICKHOUSE
    } else {
        sniff(&log.sample, declared).filter(|format| format.begins(&log.sample))?
    };
    let path = log.path().map(text);
    let key = log.key();
    let named = key
        .map(|key| text(&key.node))
        .filter(|node| !node.is_empty());
    let name = key
        .filter(|_| path.is_none())
        .map_or_else(String::new, |key| {
            format!("/{}/{}", text(&key.node), text(&key.part))
        });
    // What is pasted lies in a file that is called whatever its writer liked.
    let pasted = || log.is_excerpt() && path.is_none();
    let node = named
        .or_else(|| format.only_node(&log.sample))
        .or_else(|| pasted().then(|| format.only_writer(&log.sample)).flatten());
    let wrapped = Wrapped {
        wrapper: log.name(),
        is_excerpt: log.is_excerpt(),
        clock: if log.is_text_log() {
            Clock::Utc
        } else {
            Clock::Unknown
        },
        name,
        layers: log.layers,
        ..Wrapped::unwrapped(format, node)
    };
    Some((wrapped, path))
}

/// How many bytes of all these paths are folders that hold all of them.
fn shared_folder(paths: &BTreeSet<String>) -> usize {
    let (Some(first), Some(last)) = (paths.first(), paths.last()) else {
        return 0;
    };
    // What the first and the last in their order share, all share.
    let same = first
        .bytes()
        .zip(last.bytes())
        .take_while(|(a, b)| a == b)
        .count();
    first.as_bytes()[..same.min(first.len())]
        .iter()
        .rposition(|byte| *byte == b'/')
        .map_or(0, |at| at + 1)
}

/// A file that would lie beside an artifact, under a path that a line in it names.
fn beside(artifact: &Artifact, path: &str) -> Artifact {
    let under = |whole: &str| match whole.rsplit_once('/') {
        Some((folder, _)) => format!("{folder}/{path}"),
        None => path.to_owned(),
    };
    Artifact {
        relative: under(&artifact.relative),
        whole: under(&artifact.whole),
        ..artifact.clone()
    }
}

/// What a wrapper tells of the clock whose stamps its records have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Clock {
    /// Nothing.
    #[default]
    Unknown,
    /// The stamps are UTC, whatever the server's zone is.
    Utc,
    /// The wrapper's own stamps, which name their zone, are so far from the records'.
    Offset(Zone),
}

impl Clock {
    /// The zone of the stamps; `named`: by the user or the log.
    pub(super) fn zone(self, named: Zone) -> Zone {
        match self {
            Self::Utc => Zone::of_offset(0),
            Self::Offset(zone) if named == Zone::Unknown => zone,
            Self::Unknown | Self::Offset(_) => named,
        }
    }

    /// The clock of records whose stamps are so far ahead of those of their wrapper.
    fn of(ahead: &[i64]) -> Self {
        // Zones differ by quarters of an hour, and a record is wrapped within a minute.
        const QUARTER: i64 = 15 * MINUTE;
        let quarters = |by: &i64| (by + QUARTER / 2).div_euclid(QUARTER);
        let Some(first) = ahead.first().map(quarters) else {
            return Self::Unknown;
        };
        let is_near = |by: &i64| (by - first * QUARTER).abs() <= MINUTE;
        let zone = Zone::of_offset(first * 15);
        if ahead.len() >= PAIRS_MIN && ahead.iter().all(is_near) && zone != Zone::Unknown {
            Self::Offset(zone)
        } else {
            Self::Unknown
        }
    }
}

/// How many records must agree on how far their clock is from their wrapper's.
const PAIRS_MIN: usize = 3;

/// A file without wrappers whose newest record stands first.
pub(super) fn turned(format: Format, sample: &[u8]) -> Option<Wrapped> {
    let mut log = Wrapped::unwrapped(format, format.only_node(sample));
    log.look(sample);
    log.is_reversed.then_some(log)
}

impl Wrapped {
    /// The only log of a file, with nothing around its lines.
    pub(super) fn unwrapped(format: Format, node: Option<String>) -> Self {
        Self {
            layers: Vec::new(),
            format,
            node,
            wrapper: String::new(),
            is_excerpt: false,
            is_reversed: false,
            clock: Clock::Unknown,
            file: None,
            path: None,
            paths: Arc::default(),
            beyond: Lines::default(),
            left_out: None,
            name: String::new(),
            place: None,
            is_taken: false,
        }
    }

    /// Whether nothing is around its lines but what a terminal shows them with, or blanks.
    pub(super) fn is_bare(&self) -> bool {
        let mut around = self.layers.iter();
        around.all(|layer| matches!(layer.wrapper, Wrapper::Ansi | Wrapper::Indent))
    }

    /// Whether its wrapper or its lines name a node, or the file that it was in.
    pub(super) fn names_a_node(&self) -> bool {
        self.node.is_some() || self.path.is_some()
    }

    /// Whether the oldest line stands first.
    pub(super) fn is_in_order(&self) -> bool {
        !self.is_reversed
    }

    /// How it is read.
    pub(super) fn reading(&self, notes_foreign: bool) -> Reading<'_> {
        let format = self.format;
        Reading {
            layers: &self.layers,
            is_head: Box::new(move |line| format.is_head(line)),
            is_reversed: self.is_reversed,
            paths: &self.paths,
            left_out: self.left_out.as_ref().map_or(&[][..], |it| &it.lines),
            notes_foreign,
        }
    }

    /// Tells its order and its clock from the first bytes of its file.
    fn look(&mut self, sample: &[u8]) {
        let (mut stamps, mut ahead): (Vec<Timestamp>, Vec<i64>) = (Vec::new(), Vec::new());
        self.records(sample.to_vec(), |stamp, _, start| {
            stamps.push(stamp);
            ahead.extend(start.time.map(|utc| stamp.0 - utc.0));
        });
        self.is_reversed = is_newest_first(&stamps);
        if self.clock == Clock::Unknown {
            self.clock = Clock::of(&ahead);
        }
    }

    /// The stamps and the first lines of the records in the first bytes of its file, and at which line of that each begins.
    pub(super) fn heads(&self, sample: Vec<u8>) -> Vec<(Timestamp, Vec<u8>, u64)> {
        let mut heads = Vec::new();
        self.records(sample, |stamp, text, start| {
            let line = split_lines(text).next().unwrap_or_default();
            heads.push((stamp, line.to_vec(), start.line));
        });
        heads
    }

    /// Gives the stamp and the text from its head on of each record in the first bytes of its file, and where it begins.
    fn records(&self, sample: Vec<u8>, mut give: impl FnMut(Timestamp, &[u8], &Start)) {
        let file = Box::new(Cursor::new(sample));
        let mut reader = StreamReader::new(file, self.reading(false), Limits::default());
        while let Some(block) = reader.next(Vec::new()) {
            let starts = block
                .origin
                .as_deref()
                .map_or(&[][..], |origin| &origin.starts);
            for start in starts.iter().filter(|start| start.is_record) {
                let text = &block.bytes[start.at as usize..];
                if let Some(stamp) = self.format.stamp(text) {
                    give(stamp, text, start);
                }
            }
        }
    }

    /// Puts it in its place: logs that share a file do not join.
    pub(super) fn put(&mut self, mut place: Place) {
        place.log.push_str(&self.name);
        self.place = Some(place);
    }
}
