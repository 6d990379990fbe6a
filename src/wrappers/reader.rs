//! One log of a wrapped file as blocks of its own text, each with the places of its records in the file.

use std::io::{self, Read};
use std::ops::Range;

use super::Layer;
use super::lines::LineReader;
use super::stack::{Bare, Place, Sink, Stack};
use super::text::Text;
use crate::intake::{Block, Limits};
use crate::time::Timestamp;

/// Reads one log of a wrapped file.
pub struct StreamReader {
    lines: LineReader,
    stack: Stack,
    text: Text,
    left_out: Vec<Range<u64>>,
    ended: bool,
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
    /// The paths of all files whose lines are in this one, where a wrapper names them.
    pub paths: &'l [Vec<u8>],
    /// Lines of the file, from 1, that are passed over.
    pub left_out: &'l [Range<u64>],
    /// Whether lines of no log are noted here, or with another log of the file.
    pub notes_foreign: bool,
}

impl StreamReader {
    /// Starts at the beginning of `reader`.
    pub fn new(reader: Box<dyn Read + Send>, log: Reading<'_>, limits: Limits) -> Self {
        let mut stack = Stack::new(log.layers, log.notes_foreign);
        stack.know_paths(log.paths);
        Self {
            lines: LineReader::new(reader, limits.record_bytes),
            stack,
            left_out: log.left_out.to_vec(),
            text: Text::new(log, limits),
            ended: false,
        }
    }

    /// The stamp of the first record to come, as `stamp` reads it.
    pub fn peek(&mut self, stamp: impl Fn(&[u8]) -> Option<Timestamp>) -> Option<Timestamp> {
        self.fill();
        self.text.peek(stamp)
    }

    /// The next block; `None` at the end. `buffer` is a used block's memory, or empty.
    pub fn next(&mut self, buffer: Vec<u8>) -> Option<Block> {
        self.fill();
        self.text.cut(buffer, self.ended)
    }

    /// Why reading stopped before the end, and at which unpacked byte; once.
    pub fn take_error(&mut self) -> Option<(u64, io::Error)> {
        self.lines.take_error()
    }

    /// Unwraps until a block can be cut at a record, or the input ends.
    fn fill(&mut self) {
        while !self.ended && !self.text.is_enough() {
            let Some(line) = self.lines.next() else {
                self.stack.end(&mut self.text);
                self.ended = true;
                return self.text.reverse();
            };
            if self.left_out.iter().any(|it| it.contains(&line.at.line)) {
                continue;
            }
            self.text.note(&line);
            let before = self.text.len();
            self.stack.push(line.text, line.at, &mut self.text);
            self.text.count(before, line.is_open());
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

impl std::fmt::Debug for StreamReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StreamReader").finish_non_exhaustive()
    }
}
