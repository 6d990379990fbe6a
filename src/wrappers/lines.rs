//! The lines of a file, each with its place in it.

use std::io::{self, Read};

use super::stack::Place;
use crate::record::BOM;

/// How many bytes of the file are read at once.
const GULP: usize = 256 << 10;

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
    pub(super) cr_lf: bool,
    /// Whether it has an end.
    pub(super) is_ended: bool,
    /// Whether it is only the beginning of a line, or the rest of one.
    pub(super) is_cut: bool,
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

    /// Gives the memory back: the input has ended.
    pub(super) fn free(&mut self) {
        self.buffer = Vec::new();
        (self.from, self.filled, self.ended) = (0, 0, true);
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

    /// Why reading stopped before the end, and at which byte; once.
    pub(super) fn take_error(&mut self) -> Option<(u64, io::Error)> {
        let offset = self.at.offset;
        self.error.take().map(|error| (offset, error))
    }
}

impl Line<'_> {
    /// Whether anything is to be said of it beside its text.
    pub(super) fn has_note(&self) -> bool {
        self.cr_lf || self.is_cut
    }

    /// Whether the file ends inside it.
    pub(super) fn is_open(&self) -> bool {
        !self.is_ended && !self.is_cut
    }
}
