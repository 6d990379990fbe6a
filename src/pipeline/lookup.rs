//! Whether a log has some records: in one that stands as it is read, they are found by their stamps, and little of it is read.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Seek, SeekFrom};
use std::ops::Bound::Included;
use std::ops::Range;
use std::sync::OnceLock;

use super::marks::{CHUNK, DISORDER, Marks, Stretch, first_stamp, narrowed, read_at};
use super::wrapped::Wrapped;
use crate::intake::{Artifact, BlockReader, Encoding, Limits, Window};
use crate::parsers::Format;
use crate::record::{ESCAPE, split_lines};
use crate::time::{MINUTE, Timestamp};
use crate::wrappers::StreamReader;

/// How many bytes of a log are read for each record that is looked for, all together: where its stamps are in no order, a time may be
/// anywhere.
const READ_EACH: u64 = 4 << 20;

/// How many unpacked bytes of a log are read that cannot be read from anywhere.
const STREAMED_MAX: usize = 128 << 20;

/// How far a clock may have been set back in such a log: an hour in autumn, and some.
const SET_BACK: i64 = 120 * MINUTE;

/// How large a log is read whole.
const SMALL: u64 = 256 << 10;

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
    /// The marks of a log that can be read from anywhere, once they are needed.
    pub(super) marks: &'a OnceLock<Marks>,
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
        let marks = self
            .marks
            .get_or_init(|| Marks::of(&mut window, self.format).unwrap_or_default());
        let mut left = READ_EACH.saturating_mul(wanted.len() as u64);
        for (at, it) in wanted.iter().enumerate() {
            if finds(&mut window, marks, self.format, it, &mut left)? {
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
                .is_some_and(|it| it.0 > last + SET_BACK);
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

/// What is left of a line that was cut, without the marks that tell so; what follows a color is another text than the log's.
pub(super) fn uncut(line: &[u8]) -> &[u8] {
    let colored = memchr::memchr(ESCAPE, line);
    let line = line[..colored.unwrap_or(line.len())].trim_ascii_end();
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

/// Whether a log has a record: where its time may be in it, and in no other part of it. `left` is how much may be read.
fn finds(
    window: &mut Window,
    marks: &Marks,
    format: Format,
    it: &Wanted,
    left: &mut u64,
) -> io::Result<bool> {
    for Stretch { bytes, is_ordered } in marks.stretches(it.time) {
        let past = is_ordered.then_some(it.time.0 + DISORDER);
        let from = if is_ordered {
            narrowed(window, format, bytes.clone(), it.time)?
        } else {
            bytes.start
        };
        let to = bytes.end.min(from.saturating_add(*left));
        let (is_there, read) = scans(window, format, from..to, &it.line, past)?;
        *left = left.saturating_sub(read);
        if is_there {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a line begins so in a part of a log, which is read up to the first record that is younger than `past`; and how much of it
/// was read.
fn scans(
    window: &mut Window,
    format: Format,
    bytes: Range<u64>,
    line: &[u8],
    past: Option<i64>,
) -> io::Result<(bool, u64)> {
    let (mut buffer, mut read) = (Vec::new(), 0);
    for at in bytes.step_by(CHUNK) {
        read += CHUNK as u64;
        // With the byte before it and all of a line that begins in it.
        let most = CHUNK + line.len() + 1;
        read_at(window, at.saturating_sub(1), most, &mut buffer)?;
        if stands_in(&buffer, line, at == 0) {
            return Ok((true, read));
        }
        let is_past = |past| first_stamp(&buffer, format).is_some_and(|it| it.0 > past);
        if past.is_some_and(is_past) {
            break;
        }
    }
    Ok((false, read))
}
