//! One log record, borrowed from the block it stands in.

use crate::time::Timestamp;
use crate::vocab::Level;

/// One record: a head and the lines that continue it. Borrows everything; lives while its block is in memory.
#[derive(Debug, Clone, Copy)]
pub struct Record<'a> {
    /// When the server's clock says it happened; `None` for formats without stamps.
    pub time: Option<Timestamp>,
    /// Whether the stamp names its zone: `time` is then what a clock in UTC showed.
    pub utc: bool,
    /// The node that the line itself names; empty where the file's path does.
    pub node: &'a [u8],
    /// The level as printed, [`Level::None`] when the word is unknown.
    pub level: Level,
    /// The thread: an operating system id in current versions, a small number per process in 18.16.
    pub thread: u64,
    /// The query id; empty for background work.
    pub query_id: &'a [u8],
    /// The source, up to the first `": "`; may be empty.
    pub logger: &'a [u8],
    /// The message on the head's line, without the line's end.
    pub message: &'a [u8],
    /// The lines that continue the record, without the head's line; empty for most.
    pub rest: &'a [u8],
}

impl<'a> Record<'a> {
    /// A record of which only the text is known.
    pub fn bare(message: &'a [u8], rest: &'a [u8]) -> Self {
        Self {
            time: None,
            utc: false,
            node: b"",
            level: Level::None,
            thread: 0,
            query_id: b"",
            logger: b"",
            message,
            rest,
        }
    }

    /// Where its message begins in `bytes`, which it was parsed from.
    pub fn message_at(&self, bytes: &[u8]) -> usize {
        offset_in(bytes, self.message)
    }
}

/// Where `inner`, a part of `outer`, begins in it.
pub(crate) fn offset_in(outer: &[u8], inner: &[u8]) -> usize {
    inner
        .as_ptr()
        .addr()
        .saturating_sub(outer.as_ptr().addr())
        .min(outer.len())
}

/// What editors and shells of another system put before a text: a byte order mark.
pub(crate) const BOM: &[u8] = b"\xef\xbb\xbf";

/// What an escape sequence of a terminal begins with.
pub(crate) const ESCAPE: u8 = 0x1b;

/// What follows the escape sequence whose first byte stood before: `[`, parameters, and a letter.
pub(crate) fn after_escape(text: &[u8]) -> &[u8] {
    let Some(parameters) = text.strip_prefix(b"[") else {
        return text;
    };
    let is_parameter = |byte: &&u8| matches!(byte, b' '..=b'?');
    let length = parameters.iter().take_while(is_parameter).count();
    parameters.get(length + 1..).unwrap_or_default()
}

/// The lines of a text without their `\n`, as `split` has them: what follows the last end is one more.
pub(crate) fn split_lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let (line, after) = match memchr::memchr(b'\n', text) {
            Some(at) => (&text[..at], Some(&text[at + 1..])),
            None => (text, None),
        };
        rest = after;
        Some(line)
    })
}

/// Where a record stands: the citation of every number in every report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Locator {
    /// The index of the artifact in the report's `inputs`.
    pub artifact: u32,
    /// The line of the head, from 1.
    pub line: u64,
    /// The byte of the head in the unpacked artifact, from 0.
    pub offset: u64,
}

/// Where the records of a block stand, if the block is text that was taken out of a wrapper.
///
/// Its records are those listed, and no line of its text begins another one: a newline that a wrapper had escaped is no
/// line's end of the log.
#[derive(Debug, Default)]
pub struct Origin {
    /// The records, in order.
    pub starts: Vec<Start>,
    /// How many lines of the file were read for the block.
    pub lines: u64,
    /// Lines that the wrapper does not wrap.
    pub foreign: Lines,
    /// Lines that end in CR LF.
    pub cr_lf: Lines,
    /// Lines longer than what is kept whole.
    pub too_long: Lines,
    /// Rows of a table that have more or fewer cells than it has columns.
    pub ragged: Lines,
}

/// The beginning of a record in unwrapped text, or of lines that are of none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Start {
    /// Where it begins in the block.
    pub at: u32,
    /// Its line in the file, from 1.
    pub line: u64,
    /// That line's first byte in the unpacked file.
    pub offset: u64,
    /// When the wrapper says that it was written, in UTC.
    pub time: Option<Timestamp>,
    /// Whether a record begins; otherwise what is left of one whose beginning is not there.
    pub is_record: bool,
}

/// How many lines have something, and the first of them, from 1.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Lines {
    /// How many.
    pub count: u64,
    /// The first.
    pub first: u64,
}

impl Lines {
    /// Adds a line.
    pub fn note(&mut self, line: u64) {
        if self.count == 0 {
            self.first = line;
        }
        self.count += 1;
    }
}

impl Origin {
    /// The record in which a byte of the block lies, or the first one.
    pub fn start_of(&self, at: usize) -> Option<&Start> {
        let after = self.starts.partition_point(|start| start.at as usize <= at);
        self.starts.get(after.saturating_sub(1))
    }
}
