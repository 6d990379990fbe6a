//! Lines of a reader, with their numbers and places, none longer than a bound.

use std::io::{self, BufRead, BufReader, Cursor, Read};

use crate::record::BOM;

/// How much is read at once.
const GULP: usize = 256 * 1024;

/// Reads lines.
pub(super) struct Lines {
    reader: BufReader<Box<dyn Read + Send>>,
    bytes_max: usize,
    line: u64,
    offset: u64,
    error: Option<io::Error>,
    /// Lines that were given back, the next one last.
    kept: Vec<(Vec<u8>, Place)>,
}

/// Where a line stands.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Place {
    /// Its number, from 1.
    pub(super) line: u64,
    /// Its first byte.
    pub(super) offset: u64,
    /// Whether it was longer than the bound and is cut.
    pub(super) cut: bool,
}

impl Lines {
    /// Starts behind the byte order mark, where the file begins with one.
    pub(super) fn new(mut reader: Box<dyn Read + Send>, bytes_max: usize) -> Self {
        let mut start = Vec::with_capacity(BOM.len());
        let most = u64::try_from(BOM.len()).unwrap_or(0);
        let error = reader.by_ref().take(most).read_to_end(&mut start).err();
        let (start, offset) = match start.strip_prefix(BOM) {
            Some(_) => (Vec::new(), most),
            None => (start, 0),
        };
        let begun = Cursor::new(start);
        let reader: Box<dyn Read + Send> = match error {
            Some(_) => Box::new(begun),
            None => Box::new(begun.chain(reader)),
        };
        Self {
            reader: BufReader::with_capacity(GULP, reader),
            bytes_max,
            line: 0,
            offset,
            error,
            kept: Vec::new(),
        }
    }

    /// Reads the next line, without its end, to the end of `into`; nothing at the end of the input.
    pub(super) fn next(&mut self, into: &mut Vec<u8>) -> Option<Place> {
        if let Some((bytes, place)) = self.kept.pop() {
            into.extend_from_slice(&bytes);
            return Some(place);
        }
        let start = into.len();
        let mut place = Place {
            line: self.line + 1,
            offset: self.offset,
            cut: false,
        };
        let mut any = false;
        loop {
            let ready = match self.reader.fill_buf() {
                Ok(ready) => ready,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                // What was read before the fault is kept.
                Err(error) => {
                    self.error.get_or_insert(error);
                    break;
                }
            };
            if ready.is_empty() {
                break;
            }
            any = true;
            let end = memchr::memchr(b'\n', ready);
            let taken = end.unwrap_or(ready.len());
            let room = self.bytes_max.saturating_sub(into.len() - start);
            into.extend_from_slice(&ready[..taken.min(room)]);
            place.cut |= taken > room;
            let used = taken + usize::from(end.is_some());
            self.reader.consume(used);
            self.offset += u64::try_from(used).unwrap_or(u64::MAX);
            if end.is_some() {
                break;
            }
        }
        if !any {
            return None;
        }
        self.line += 1;
        if into.last() == Some(&b'\r') && into.len() > start {
            into.pop();
        }
        Some(place)
    }

    /// Gives a line back: it comes again, before those that were given back earlier.
    pub(super) fn give_back(&mut self, bytes: Vec<u8>, place: Place) {
        self.kept.push((bytes, place));
    }

    /// How many bytes were read.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// How many lines were read.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// Why reading stopped before the end; once.
    pub(super) fn take_error(&mut self) -> Option<io::Error> {
        self.error.take()
    }

    /// How long a row may be.
    pub(super) fn bytes_max(&self) -> usize {
        self.bytes_max
    }
}
