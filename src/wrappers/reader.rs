//! One log of a wrapped file as blocks of its own text, each with the places of its records in the file.

use std::io::{self, Read};

use super::Layer;
use super::reversal::Reversal;
use super::stack::{Bare, Place, Sink, Stack};
use crate::intake::{Block, Limits};
use crate::record::{Origin, Start};
use crate::time::Timestamp;

/// How many bytes of the file are read at once.
const GULP: usize = 256 << 10;

/// What an editor of another system puts before a text.
const BOM: &[u8] = b"\xef\xbb\xbf";

/// Reads one log of a wrapped file.
pub struct StreamReader {
    lines: LineReader,
    stack: Stack,
    text: Unwrapping,
    limits: Limits,
    continues: bool,
    offset: u64,
    ended: bool,
}

/// The lines of a file.
pub(super) struct LineReader {
    reader: Box<dyn Read + Send>,
    /// `buffer[from..filled]` is read and not yet handed out.
    buffer: Vec<u8>,
    from: usize,
    filled: usize,
    /// The line and the byte of the file at which `from` stands.
    at: Place,
    line_max: usize,
    ended: bool,
    error: Option<io::Error>,
}

/// A line of the file.
pub(super) struct Line<'a> {
    /// Its bytes without its end.
    pub(super) text: &'a [u8],
    pub(super) at: Place,
    /// Whether it ended in CR LF.
    cr_lf: bool,
    /// Whether it has an end.
    is_ended: bool,
    /// Whether it is only the beginning of a line, or the rest of one.
    is_cut: bool,
}

/// Tells whether a line starts a record.
pub type IsHead = Box<dyn Fn(&[u8]) -> bool + Send>;

/// How one log of a file is read.
pub struct Reading<'l> {
    /// What stands around it.
    pub layers: &'l [Layer],
    /// Whether a line of it starts a record.
    pub is_head: IsHead,
    /// Whether the newest line stands first.
    pub is_reversed: bool,
    /// Whether lines of no log are noted here, or with another log of the file.
    pub notes_foreign: bool,
}

/// The text unwrapped and not yet handed out.
struct Unwrapping {
    is_head: IsHead,
    /// Whether lines that are of no log are noted here.
    notes_foreign: bool,
    text: Vec<u8>,
    origin: Origin,
    /// Whether lines were left out and no record has begun since.
    is_torn: bool,
    /// What is collected where the newest line stands first.
    reversal: Option<Reversal>,
}

impl LineReader {
    pub(super) fn new(reader: Box<dyn Read + Send>, line_max: usize) -> Self {
        Self {
            reader,
            buffer: Vec::new(),
            from: 0,
            filled: 0,
            at: Place { line: 1, offset: 0 },
            line_max: line_max.max(BOM.len()),
            ended: false,
            error: None,
        }
    }

    /// The next line; `None` at the end.
    pub(super) fn next(&mut self) -> Option<Line<'_>> {
        if self.at.offset == 0 && self.from == 0 {
            while self.filled < BOM.len() && !self.ended {
                self.fill();
            }
            if self.buffer[..self.filled].starts_with(BOM) {
                (self.from, self.at.offset) = (BOM.len(), 3);
            }
        }
        let mut searched = self.from;
        let (end, is_ended, is_cut) = loop {
            if let Some(at) = memchr::memchr(b'\n', &self.buffer[searched..self.filled]) {
                break (searched + at, true, false);
            }
            if self.ended {
                if self.from == self.filled {
                    return None;
                }
                break (self.filled, false, false);
            }
            if self.filled - self.from >= self.line_max {
                break (self.filled, false, true);
            }
            searched = self.filled - self.from;
            self.fill();
        };
        let (from, at) = (self.from, self.at);
        let past = end + usize::from(is_ended);
        self.at.offset += u64::try_from(past - from).unwrap_or(0);
        self.at.line += u64::from(is_ended);
        self.from = past;
        let line = &self.buffer[from..end];
        let (text, cr_lf) = match line.strip_suffix(b"\r") {
            Some(text) if is_ended => (text, true),
            Some(_) | None => (line, false),
        };
        Some(Line {
            text,
            at,
            cr_lf,
            is_ended,
            is_cut,
        })
    }

    /// Reads more behind what is not yet handed out, which moves to the front.
    fn fill(&mut self) {
        self.buffer.copy_within(self.from..self.filled, 0);
        self.filled -= self.from;
        self.from = 0;
        let room = self.filled.max(GULP).min(self.line_max.max(GULP));
        if self.buffer.len() < self.filled + room {
            self.buffer.resize(self.filled + room, 0);
        }
        loop {
            match self.reader.read(&mut self.buffer[self.filled..]) {
                Ok(0) => self.ended = true,
                Ok(read) => self.filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    self.ended = true;
                    self.error = Some(error);
                }
            }
            return;
        }
    }
}

impl StreamReader {
    /// Starts at the beginning of `reader`.
    pub fn new(reader: Box<dyn Read + Send>, log: Reading<'_>, limits: Limits) -> Self {
        // Without wrappers only whole records change places: of a row that is wrapped each line is a message.
        let reversal = log
            .is_reversed
            .then(|| Reversal::new(log.layers.is_empty()));
        Self {
            lines: LineReader::new(reader, limits.record_bytes),
            stack: Stack::new(log.layers, log.notes_foreign),
            text: Unwrapping {
                is_head: log.is_head,
                notes_foreign: log.notes_foreign,
                text: Vec::new(),
                origin: Origin::default(),
                is_torn: false,
                reversal,
            },
            limits,
            continues: false,
            offset: 0,
            ended: false,
        }
    }

    /// The stamp of the first record to come, as `stamp` reads it.
    pub fn peek(&mut self, stamp: impl Fn(&[u8]) -> Option<Timestamp>) -> Option<Timestamp> {
        self.fill();
        let first = self
            .text
            .origin
            .starts
            .iter()
            .find(|start| start.is_record)?;
        stamp(self.text.text.get(first.at as usize..)?).or(first.time)
    }

    /// The next block; `None` at the end. `buffer` is a used block's memory, or empty.
    pub fn next(&mut self, mut buffer: Vec<u8>) -> Option<Block> {
        self.fill();
        let whole = self.text.text.len();
        let last = self
            .text
            .origin
            .starts
            .last()
            .map_or(0, |start| start.at as usize);
        let cut = if self.ended || last == 0 { whole } else { last };
        let is_noted = self.text.origin.foreign.count > 0 || self.text.origin.too_long.count > 0;
        if cut == 0 && !is_noted {
            return None;
        }
        buffer.clear();
        buffer.extend_from_slice(&self.text.text[cut..]);
        std::mem::swap(&mut buffer, &mut self.text.text);
        buffer.truncate(cut);
        let mut origin = std::mem::take(&mut self.text.origin);
        if cut < whole {
            let kept = origin.starts.pop();
            self.text
                .origin
                .starts
                .extend(kept.map(|start| Start { at: 0, ..start }));
        }
        let continues = self.continues && origin.starts.first().is_none_or(|start| start.at > 0);
        let block = Block {
            offset: self.offset,
            continues,
            last: self.ended,
            bytes: buffer,
            origin: Some(Box::new(origin)),
        };
        self.offset += u64::try_from(cut).unwrap_or(0);
        self.continues = !self.ended && cut == whole;
        Some(block)
    }

    /// Why reading stopped before the end, and at which unpacked byte; once.
    pub fn take_error(&mut self) -> Option<(u64, io::Error)> {
        let offset = self.lines.at.offset;
        self.lines.error.take().map(|error| (offset, error))
    }

    /// Unwraps until a block can be cut at a record, or the input ends.
    fn fill(&mut self) {
        let is_given = !self.text.text.is_empty();
        while !self.ended {
            if let Some(reversal) = &self.text.reversal {
                if is_given {
                    return;
                }
                if reversal.is_full() {
                    return self.text.reverse();
                }
            }
            let text = &self.text;
            let last = text
                .origin
                .starts
                .last()
                .map_or(0, |start| start.at as usize);
            let is_enough = text.text.len() >= self.limits.block_bytes && last > 0;
            if is_enough || text.text.len() >= self.limits.record_bytes {
                return;
            }
            let Some(line) = self.lines.next() else {
                self.stack.end(&mut self.text);
                self.ended = true;
                return self.text.reverse();
            };
            let origin = &mut self.text.origin;
            if line.cr_lf && self.text.notes_foreign {
                origin.cr_lf.note(line.at.line);
            }
            if line.is_cut {
                origin.too_long.note(line.at.line);
            }
            let before = self.text.text.len();
            self.stack.push(line.text, line.at, &mut self.text);
            let is_mine = self.text.text.len() > before;
            self.text.origin.lines += u64::from(is_mine);
            if is_mine && !line.is_ended && !line.is_cut {
                // The file ends inside this line.
                self.text.text.pop();
            }
        }
    }
}

/// Whether a line of a file, from 1, is of one log in it.
pub fn holds(reader: Box<dyn Read + Send>, layers: &[Layer], line: u64) -> bool {
    let mut lines = LineReader::new(reader, Limits::default().record_bytes);
    let mut stack = Stack::new(layers, false);
    let mut given = Given(false);
    while let Some(one) = lines.next() {
        given.0 = false;
        stack.push(one.text, one.at, &mut given);
        if one.at.line >= line {
            return given.0 && one.at.line == line;
        }
    }
    false
}

/// Whether anything was given.
struct Given(bool);

impl Sink for Given {
    fn message(&mut self, _text: Bare<'_>) {
        self.0 = true;
    }

    fn inner(&mut self, _text: &[u8]) {
        self.0 = true;
    }

    fn foreign(&mut self, _at: Place) {}
}

impl Unwrapping {
    /// Puts what was collected in the order of time.
    fn reverse(&mut self) {
        let Some(mut reversal) = self.reversal.take() else {
            return;
        };
        // The lines are counted, the records are told anew.
        reversal.newest_last(|text| self.message(text));
        self.reversal = Some(reversal);
    }
}

impl Sink for Unwrapping {
    fn message(&mut self, message: Bare<'_>) {
        let is_record = message.is_record || (self.is_head)(message.text);
        if let Some(reversal) = &mut self.reversal {
            self.origin.lines += 1;
            return reversal.message(message, is_record);
        }
        if is_record || self.is_torn {
            self.origin.starts.push(Start {
                at: u32::try_from(self.text.len()).unwrap_or(u32::MAX),
                line: message.at.line,
                offset: message.at.offset,
                time: message.time,
                is_record,
            });
            self.is_torn = false;
        }
        self.text.extend_from_slice(message.text);
        self.text.push(b'\n');
    }

    fn inner(&mut self, text: &[u8]) {
        if let Some(reversal) = &mut self.reversal {
            self.origin.lines += 1;
            return reversal.inner(text);
        }
        self.text.extend_from_slice(text);
        self.text.push(b'\n');
    }

    fn gap(&mut self) {
        self.is_torn = self.reversal.is_none();
    }

    fn foreign(&mut self, at: Place) {
        if self.notes_foreign {
            self.origin.foreign.note(at.line);
            self.origin.lines += 1;
        }
    }
}

impl std::fmt::Debug for StreamReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StreamReader").finish_non_exhaustive()
    }
}
