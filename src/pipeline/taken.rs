//! Which files were taken from a log that is here, told by their records and not by their names.
//!
//! A record's line, with its stamp and thread, stands in one log. So a few lines of a file are looked for in the logs of its folder,
//! of those above and of those below. What is found there is of that log's node, and a view of it: should the log lack some of its
//! records, they count all the same. In a log that stands as it is read, a line is found by its stamp, and little of it is read.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read, Seek, SeekFrom};

use rayon::prelude::*;

use super::seen::HELD_BYTES;
use super::sniffing::Sniffed;
use super::wrapped::Wrapped;
use crate::intake::{
    Artifact, BlockReader, Encoding, Limits, Names, Place, Role, Window, split_name,
};
use crate::parsers::Format;
use crate::record::split_lines;
use crate::time::{SECOND, Timestamp};
use crate::wrappers::StreamReader;

/// A log among the inputs: its artifact, and which of its logs where they are wrapped.
pub(super) type LogAt = (usize, Option<usize>);

/// How many records of a file are looked for.
const WANTED_MAX: usize = 16;

/// In how many logs, and of how many files: a folder may hold any number of either.
const LOGS_MAX: usize = 64;
const FILES_MAX: usize = 1_024;

/// How far lines may stand from where their stamps belong, as several threads write them.
const DISORDER: i64 = SECOND;

/// How many bytes around a stamp are read.
const AROUND_MAX: u64 = 16 << 20;

/// How many unpacked bytes of a log are read that cannot be read from anywhere.
const STREAMED_MAX: usize = 128 << 20;

/// How much is read at once where a stamp is looked for, and where a line is.
const STEP: usize = 8 << 10;
const CHUNK: usize = 128 << 10;

/// A record that is looked for: its stamp and its first line.
struct Wanted {
    time: Timestamp,
    line: Vec<u8>,
}

/// Some evidence on how a file may have come to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// It is not called like a log, or only some lines of a log are there.
    Excerpt,
    /// It is called like a log that no server writes.
    Named,
    /// It is a log.
    Log,
}

/// One log of one input.
struct Candidate<'a> {
    at: LogAt,
    artifact: &'a Artifact,
    wrapped: Option<&'a Wrapped>,
    format: Format,
    encoding: Encoding,
    kind: Kind,
    folder: &'a str,
    stem: &'a str,
    role: Role,
}

/// The logs from which files were taken, by what was taken.
pub(super) fn taken(
    artifacts: &[Artifact],
    is_segment: &[bool],
    sniffed: &[Sniffed],
    names: &Names,
) -> BTreeMap<LogAt, LogAt> {
    let mut logs: Vec<Candidate<'_>> = Vec::new();
    for (at, artifact) in artifacts
        .iter()
        .enumerate()
        .filter(|(at, _)| !is_segment[*at])
    {
        logs.extend(candidates(at, artifact, &sniffed[at]));
    }
    let files = logs.iter().filter(|it| it.kind != Kind::Log);
    let files: Vec<&Candidate<'_>> = files
        .filter(|it| names.node_of(it.artifact).is_none())
        .take(FILES_MAX)
        .collect();
    let found = files
        .par_iter()
        .filter_map(|file| Some((file.at, file.source(&logs)?)));
    found.collect()
}

/// The logs in an artifact whose records can be told from others.
fn candidates<'a>(
    at: usize,
    artifact: &'a Artifact,
    sniffed: &'a Sniffed,
) -> impl Iterator<Item = Candidate<'a>> {
    let (folder, file) = artifact
        .whole
        .rsplit_once('/')
        .unwrap_or(("", &artifact.whole));
    let (stem, role, piece) = split_name(file);
    let is_called_log = file.to_ascii_lowercase().contains(".log");
    let candidate = move |stream: Option<usize>, wrapped: Option<&'a Wrapped>, format: Format| {
        let spec = format.spec();
        let is_told = spec.counts_records && !spec.dateless && !spec.nodes_in_lines;
        let is_plain = wrapped.is_none_or(|log| log.layers.is_empty());
        let kind = match wrapped {
            Some(log) if log.is_excerpt => Kind::Excerpt,
            _ if is_plain && !is_called_log => Kind::Excerpt,
            _ if is_plain
                && role == Role::Main
                && piece.is_none()
                && !Place::is_usual_name(stem) =>
            {
                Kind::Named
            }
            _ => Kind::Log,
        };
        is_told.then_some(Candidate {
            at: (at, stream),
            artifact,
            wrapped,
            format,
            encoding: sniffed.encoding,
            kind,
            folder,
            stem,
            role,
        })
    };
    let plain = sniffed
        .format
        .filter(|_| sniffed.logs.is_empty() && sniffed.export.is_none());
    let plain = plain.and_then(|format| candidate(None, None, format));
    let wrapped = sniffed.logs.iter().enumerate();
    let wrapped = wrapped.filter_map(move |(log, it)| candidate(Some(log), Some(it), it.format));
    plain.into_iter().chain(wrapped)
}

impl<'a> Candidate<'a> {
    /// The log that this was taken from.
    fn source(&self, logs: &[Candidate<'a>]) -> Option<LogAt> {
        let mut beside: Vec<&Candidate<'_>> =
            logs.iter().filter(|log| self.may_be_of(log)).collect();
        if beside.is_empty() {
            return None;
        }
        let wanted = self.wanted();
        if wanted.is_empty() {
            return None;
        }
        // The nearest folder first, and in it what a server wrote.
        beside.sort_by_key(|log| (self.distance(log), log.kind != Kind::Log, log.role, log.at));
        beside.truncate(LOGS_MAX);
        let mut groups: BTreeMap<(&str, &str), (BTreeSet<usize>, usize, LogAt)> = BTreeMap::new();
        let mut order: Vec<(&str, &str)> = Vec::new();
        for log in beside {
            let hits = log
                .holds(&wanted, self.kind == Kind::Named)
                .unwrap_or_default();
            if hits.is_empty() {
                continue;
            }
            let key = (log.folder, log.stem);
            let (all, most, best) = groups.entry(key).or_insert_with(|| {
                order.push(key);
                (BTreeSet::new(), 0, log.at)
            });
            if hits.len() > *most {
                (*most, *best) = (hits.len(), log.at);
            }
            all.extend(hits);
        }
        let together: BTreeSet<usize> =
            groups.values().flat_map(|(all, ..)| all).copied().collect();
        let of_one = order
            .iter()
            .map(|key| &groups[key])
            .find(|(all, ..)| *all == together);
        // What two logs share between them is of neither. A file that is called like a log has to be of one altogether.
        let (all, _, best) = of_one?;
        (self.kind == Kind::Excerpt || all.len() == wanted.len()).then_some(*best)
    }

    /// Whether a log may be the one that this was taken from, as far as both can be told without reading.
    fn may_be_of(&self, log: &Candidate<'_>) -> bool {
        let is_other = log.at.0 != self.at.0 && log.format == self.format;
        let bytes = (log.artifact.bytes, self.artifact.bytes);
        let is_larger = match (self.kind, log.kind) {
            (Kind::Excerpt, Kind::Excerpt) => (bytes.0, log.at) > (bytes.1, self.at),
            (Kind::Excerpt, _) => true,
            (_, Kind::Excerpt) => false,
            _ => bytes.0 > bytes.1,
        };
        let is_whole = log.wrapped.is_none_or(|it| !it.is_excerpt);
        is_other && is_larger && is_whole && (self.is_near(log) || self.names(log))
    }

    /// Whether one of the folders is the other or lies below it.
    fn is_near(&self, log: &Candidate<'_>) -> bool {
        is_within(self.folder, log.folder) || is_within(log.folder, self.folder)
    }

    /// Whether its lines name a file that is called like the log's.
    fn names(&self, log: &Candidate<'_>) -> bool {
        let file = |path: &'a str| path.rsplit('/').next().unwrap_or_default();
        let named = self.wrapped.and_then(|it| it.path.as_deref());
        let of_log = log.artifact.whole.rsplit('/').next();
        named.map(file).is_some_and(|named| Some(named) == of_log)
    }

    /// How many folders lie between both.
    fn distance(&self, log: &Candidate<'_>) -> usize {
        let depth = |folder: &str| {
            memchr::memchr_iter(b'/', folder.as_bytes()).count() + usize::from(!folder.is_empty())
        };
        let (own, other) = (depth(self.folder), depth(log.folder));
        if self.is_near(log) {
            own.abs_diff(other)
        } else {
            own + other + 1
        }
    }

    /// Some of its records, the first and the last among them.
    fn wanted(&self) -> Vec<Wanted> {
        let mut text = Vec::new();
        let Ok((reader, _)) = self.artifact.open() else {
            return Vec::new();
        };
        // What was read before a fault is there.
        drop(reader.take(HELD_BYTES).read_to_end(&mut text));
        let all: Vec<(Timestamp, Vec<u8>)> = match self.wrapped {
            Some(log) => log.heads(text),
            None => split_lines(whole_lines(&text))
                .filter(|line| self.format.is_head(line))
                .filter_map(|line| Some((self.format.stamp(line)?, bare(line).to_vec())))
                .collect(),
        };
        let count = all.len();
        let some = |at: usize| count <= WANTED_MAX || is_picked(at, count);
        let all = all.into_iter().enumerate().filter(|(at, _)| some(*at));
        all.map(|(_, (time, line))| Wanted { time, line }).collect()
    }

    /// Which of the records stand in this log; if `all` must, none where the first one does not.
    fn holds(&self, wanted: &[Wanted], all: bool) -> io::Result<BTreeSet<usize>> {
        let seekable = self
            .artifact
            .window()
            .filter(|_| self.encoding == Encoding::Plain && self.wrapped.is_none());
        let Some(window) = seekable else {
            return Ok(self.streams(wanted));
        };
        let mut window = window?;
        let mut found = BTreeSet::new();
        for (at, it) in wanted.iter().enumerate() {
            if finds(&mut window, self.format, it)? {
                found.insert(at);
            } else if all {
                break;
            }
        }
        Ok(found)
    }

    /// The same, of a log that is read from its beginning.
    fn streams(&self, wanted: &[Wanted]) -> BTreeSet<usize> {
        let Ok((reader, _)) = self.artifact.open() else {
            return BTreeSet::new();
        };
        let format = self.format;
        let mut blocks = if let Some(log) = self.wrapped {
            let reading = log.reading(false);
            Blocks::Wrapped(Box::new(StreamReader::new(
                reader,
                reading,
                Limits::default(),
            )))
        } else {
            let is_head = move |line: &[u8]| format.is_head(line);
            Blocks::Plain(Box::new(BlockReader::new(
                reader,
                is_head,
                Limits::default(),
            )))
        };
        let mut found = BTreeSet::new();
        let (mut read, mut buffer) = (0, Vec::new());
        let last = wanted.iter().map(|it| it.time.0).max().unwrap_or(i64::MIN);
        while read < STREAMED_MAX && found.len() < wanted.len() {
            let Some(block) = blocks.next(buffer) else {
                break;
            };
            let missing = wanted.iter().enumerate();
            let missing = missing.filter(|(_, it)| stands_in(&block, &it.line, (true, true)));
            found.extend(missing.map(|(at, _)| at).collect::<Vec<_>>());
            read += block.len();
            let is_past = format
                .stamp(&block)
                .is_some_and(|it| it.0 > last + DISORDER);
            if is_past && self.wrapped.is_none_or(Wrapped::is_in_order) {
                break;
            }
            buffer = block;
        }
        found
    }
}

/// A log's text from its beginning.
enum Blocks {
    Plain(Box<BlockReader>),
    Wrapped(Box<StreamReader>),
}

impl Blocks {
    fn next(&mut self, buffer: Vec<u8>) -> Option<Vec<u8>> {
        let block = match self {
            Self::Plain(reader) => reader.next(buffer),
            Self::Wrapped(reader) => reader.next(buffer),
        };
        block.map(|block| block.bytes)
    }
}

/// Whether a folder is another one or lies in it.
fn is_within(folder: &str, above: &str) -> bool {
    let rest = folder.strip_prefix(above);
    above.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether one of so many records is among those that are looked for: they are spread over all of them.
fn is_picked(at: usize, count: usize) -> bool {
    let step = |number: usize| number * (count - 1) / (WANTED_MAX - 1);
    let near = at * (WANTED_MAX - 1) / (count - 1);
    step(near) == at || step(near + 1) == at
}

/// A text up to its last line end, or all of it if it has one line.
fn whole_lines(text: &[u8]) -> &[u8] {
    memchr::memrchr(b'\n', text).map_or(text, |end| &text[..end])
}

fn bare(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Whether a line stands in a text, which begins and ends where lines do, or not.
fn stands_in(text: &[u8], line: &[u8], (begins, ends): (bool, bool)) -> bool {
    memchr::memmem::find_iter(text, line).any(|at| {
        let before = at.checked_sub(1).map(|before| text[before]);
        let behind = text.get(at + line.len());
        before.map_or(begins, |byte| byte == b'\n')
            && behind.map_or(ends, |byte| matches!(byte, b'\n' | b'\r'))
    })
}

/// Reads up to so many bytes from a place on.
fn read_at(window: &mut Window, at: u64, most: usize, buffer: &mut Vec<u8>) -> io::Result<()> {
    window.seek(SeekFrom::Start(at))?;
    buffer.clear();
    let most = u64::try_from(most).unwrap_or(u64::MAX);
    window.take(most).read_to_end(buffer).map(drop)
}

/// The stamp of the first record that begins in a text behind its first line end.
fn first_stamp(text: &[u8], format: Format) -> Option<Timestamp> {
    let (_, rest) = text.split_at(memchr::memchr(b'\n', text)? + 1);
    let mut lines = split_lines(rest).filter(|line| format.is_head(line));
    lines.find_map(|line| format.stamp(line))
}

/// Whether a log, whose records stand in the order of their stamps but for a little, has a record.
fn finds(window: &mut Window, format: Format, wanted: &Wanted) -> io::Result<bool> {
    let mut buffer = Vec::new();
    let end = window.seek(SeekFrom::End(0))?;
    let (mut from, mut to) = (0, end);
    // All before `from` is older than what is looked for.
    while to - from > CHUNK as u64 {
        let middle = from + (to - from) / 2;
        let mut stamp = None;
        for most in [STEP, CHUNK, 16 * CHUNK] {
            read_at(window, middle, most, &mut buffer)?;
            stamp = first_stamp(&buffer, format);
            if stamp.is_some() {
                break;
            }
        }
        match stamp {
            Some(stamp) if stamp.0 < wanted.time.0 - DISORDER => from = middle,
            _ => to = middle,
        }
    }
    let mut at = from;
    while at < end && at - from < AROUND_MAX {
        // With the byte before it and the one behind a line that begins in it.
        let most = CHUNK + wanted.line.len() + 2;
        read_at(window, at.saturating_sub(1), most, &mut buffer)?;
        if stands_in(&buffer, &wanted.line, (at == 0, buffer.len() < most)) {
            return Ok(true);
        }
        if first_stamp(&buffer, format).is_some_and(|it| it.0 > wanted.time.0 + DISORDER) {
            return Ok(false);
        }
        at += CHUNK as u64;
    }
    Ok(false)
}
