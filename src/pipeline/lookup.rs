//! Whether a log has some records: in one that stands as it is read, they are found by their stamps, and little of it is read.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Bound::Included;

use super::wrapped::Wrapped;
use crate::intake::{Artifact, BlockReader, Encoding, Limits, Window};
use crate::parsers::Format;
use crate::record::split_lines;
use crate::time::{SECOND, Timestamp};
use crate::wrappers::StreamReader;

/// How far lines may stand from where their stamps belong, as several threads write them.
const DISORDER: i64 = SECOND;

/// How many bytes around a stamp are read.
const AROUND_MAX: u64 = 16 << 20;

/// How many unpacked bytes of a log are read that cannot be read from anywhere.
const STREAMED_MAX: usize = 128 << 20;

/// How large a log is read whole.
const SMALL: u64 = 256 << 10;

/// How much is read at once where a stamp is looked for, and where a line is.
const STEP: usize = 8 << 10;
const CHUNK: usize = 32 << 10;

/// A record that is looked for: its stamp and its first line, or as much of that as somebody left of it.
pub(super) struct Wanted {
    pub(super) time: Timestamp,
    pub(super) line: Vec<u8>,
    /// The line of its file that it begins at, from 1.
    pub(super) at: u64,
}

/// Looks for records in a log.
pub(super) struct Lookup<'a> {
    pub(super) artifact: &'a Artifact,
    pub(super) wrapped: Option<&'a Wrapped>,
    pub(super) format: Format,
    pub(super) encoding: Encoding,
}

impl Lookup<'_> {
    /// Whether it can be read from anywhere.
    pub(super) fn is_seekable(&self) -> bool {
        self.encoding == Encoding::Plain && self.wrapped.is_none()
    }

    /// How many bytes its text has, where they are stored as they are read.
    pub(super) fn stored_text(&self) -> Option<u64> {
        self.is_seekable().then_some(self.artifact.bytes)
    }

    /// How many bytes its text has, as far as that is read: at least `enough` if it has as many.
    pub(super) fn text_bytes(&self, enough: u64) -> u64 {
        if let Some(bytes) = self.stored_text() {
            return bytes;
        }
        let enough = enough.min(STREAMED_MAX as u64);
        let (mut bytes, mut buffer) = (0, Vec::new());
        let Some(mut blocks) = self.blocks() else {
            return bytes;
        };
        while bytes < enough
            && let Some(block) = blocks.next(buffer)
        {
            bytes += block.len() as u64;
            buffer = block;
        }
        bytes
    }

    /// Which of the records stand in it.
    pub(super) fn holds(&self, wanted: &[&Wanted]) -> io::Result<BTreeSet<usize>> {
        let seekable = self.artifact.window().filter(|_| self.is_seekable());
        let Some(window) = seekable else {
            return Ok(self.streams(wanted));
        };
        let mut window = window?;
        let mut found = BTreeSet::new();
        if window.seek(SeekFrom::End(0))? <= SMALL {
            let mut text = Vec::new();
            read_at(&mut window, 0, usize::MAX, &mut text)?;
            let held = wanted.iter().enumerate();
            let held = held.filter(|(_, it)| stands_in(&text, &it.line, true));
            found.extend(held.map(|(at, _)| at));
            return Ok(found);
        }
        for (at, it) in wanted.iter().enumerate() {
            if finds(&mut window, self.format, it)? {
                found.insert(at);
            }
        }
        Ok(found)
    }

    /// It from its beginning; `None` if it cannot be opened.
    fn blocks(&self) -> Option<Blocks> {
        let (reader, _) = self.artifact.open().ok()?;
        let format = self.format;
        let limits = Limits::default();
        Some(if let Some(log) = self.wrapped {
            let reading = log.reading(false);
            Blocks::Wrapped(Box::new(StreamReader::new(reader, reading, limits)))
        } else {
            let is_head = move |line: &[u8]| format.is_head(line);
            Blocks::Plain(Box::new(BlockReader::new(reader, is_head, limits)))
        })
    }

    /// The same, of a log that is read from its beginning.
    fn streams(&self, wanted: &[&Wanted]) -> BTreeSet<usize> {
        let Some(mut blocks) = self.blocks() else {
            return BTreeSet::new();
        };
        let mut lines_of: BTreeMap<&[u8], Vec<usize>> = BTreeMap::new();
        for (at, it) in wanted.iter().enumerate() {
            lines_of.entry(&it.line).or_default().push(at);
        }
        let shortest = lines_of.keys().map(|line| line.len()).min().unwrap_or(0);
        let mut found = BTreeSet::new();
        let (mut read, mut buffer) = (0, Vec::new());
        let last = wanted.iter().map(|it| it.time.0).max().unwrap_or(i64::MIN);
        while read < STREAMED_MAX && found.len() < wanted.len() {
            let Some(block) = blocks.next(buffer) else {
                break;
            };
            for line in split_lines(&block).map(bare) {
                // Those that it begins with are the last ones before it.
                let alike = &line[..line.len().min(shortest)];
                let alike = lines_of.range::<[u8], _>((Included(alike), Included(line)));
                let held = alike.filter(|(wanted, _)| line.starts_with(wanted));
                found.extend(held.flat_map(|(_, places)| places));
            }
            read += block.len();
            let is_past = self
                .format
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

/// A line without the end that other systems give it.
pub(super) fn bare(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// What is left of a line that was cut, without the marks that tell so.
pub(super) fn uncut(line: &[u8]) -> &[u8] {
    let line = line.trim_ascii_end();
    let marks = [&b"..."[..], "…".as_bytes()];
    let mut before = marks.iter().filter_map(|mark| line.strip_suffix(*mark));
    before.next().map_or(line, <[u8]>::trim_ascii_end)
}

/// Whether a line of a text, which begins where a line does or not, begins with `line`.
fn stands_in(text: &[u8], line: &[u8], begins: bool) -> bool {
    memchr::memmem::find_iter(text, line).any(|at| {
        let before = at.checked_sub(1).map(|before| text[before]);
        before.map_or(begins, |byte| byte == b'\n')
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
        // With the byte before it and all of a line that begins in it.
        let most = CHUNK + wanted.line.len() + 1;
        read_at(window, at.saturating_sub(1), most, &mut buffer)?;
        if stands_in(&buffer, &wanted.line, at == 0) {
            return Ok(true);
        }
        if first_stamp(&buffer, format).is_some_and(|it| it.0 > wanted.time.0 + DISORDER) {
            return Ok(false);
        }
        at += CHUNK as u64;
    }
    Ok(false)
}
