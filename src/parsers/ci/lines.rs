//! Lines of any bytes with a bounded length: what readers of text are driven by.

use std::io::{BufRead, ErrorKind};

use super::model::{Moment, Place};

/// A line longer than this is cut: a message of a test log is at most a few megabytes.
pub const LINE_BYTES_MAX: usize = 16 << 20;

/// One line of a source.
#[derive(Debug, Clone, Copy)]
pub struct Line<'a> {
    /// Its bytes, without its end and without a byte order mark.
    pub bytes: &'a [u8],
    /// Where it begins.
    pub place: Place,
    /// When it was printed, if something before the text says so, such as the stamps of a job log.
    pub printed: Option<Moment>,
    /// Whether it is longer than [`LINE_BYTES_MAX`] and cut, or ends without a line's end.
    pub is_cut: bool,
}

impl Line<'_> {
    /// Its text; bytes that are none are replaced.
    pub fn text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(self.bytes)
    }
}

/// The lines of a source, one at a time.
pub struct Lines<'r> {
    reader: &'r mut dyn BufRead,
    line: Vec<u8>,
    next: Place,
    /// Lines given so far.
    pub count: u64,
    /// Why reading stopped before the end.
    pub error: Option<String>,
}

impl std::fmt::Debug for Lines<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lines")
            .field("next", &self.next)
            .field("error", &self.error)
            .finish_non_exhaustive()
    }
}

impl<'r> Lines<'r> {
    /// The lines of `reader` from where it stands.
    pub fn new(reader: &'r mut dyn BufRead) -> Self {
        Self {
            reader,
            line: Vec::new(),
            next: Place { line: 1, offset: 0 },
            count: 0,
            error: None,
        }
    }

    /// The next line; `None` at the end, or where reading fails.
    pub fn next_line(&mut self) -> Option<Line<'_>> {
        self.line.clear();
        let place = self.next;
        let mut taken: u64 = 0;
        let mut ended = false;
        let mut is_long = false;
        while !ended {
            let part = match self.reader.fill_buf() {
                Ok(part) => part,
                Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                Err(e) => {
                    self.error.get_or_insert_with(|| e.to_string());
                    break;
                }
            };
            if part.is_empty() {
                break;
            }
            let end = memchr::memchr(b'\n', part);
            let length = end.map_or(part.len(), |at| at + 1);
            let room = LINE_BYTES_MAX.saturating_sub(self.line.len());
            let text = end.unwrap_or(length);
            is_long |= text > room;
            self.line.extend_from_slice(&part[..text.min(room)]);
            self.reader.consume(length);
            taken += u64::try_from(length).unwrap_or(0);
            ended = end.is_some();
        }
        if taken == 0 {
            return None;
        }
        self.next = Place {
            line: place.line + 1,
            offset: place.offset + taken,
        };
        self.count += 1;
        let mut bytes = self.line.as_slice();
        bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        if place.offset == 0 {
            bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        }
        Some(Line {
            bytes,
            place,
            printed: None,
            is_cut: is_long || !ended,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8]) -> Vec<(Vec<u8>, u64, u64, bool)> {
        let mut reader = std::io::BufReader::with_capacity(4, bytes);
        let mut lines = Lines::new(&mut reader);
        let mut found = Vec::new();
        while let Some(line) = lines.next_line() {
            found.push((
                line.bytes.to_vec(),
                line.place.line,
                line.place.offset,
                line.is_cut,
            ));
        }
        found
    }

    #[test]
    fn lines_are_cut_where_they_end_and_the_last_may_have_no_end() {
        let found = all(b"\xef\xbb\xbfone\r\n\nthree");
        let expected = [
            (b"one".to_vec(), 1, 0, false),
            (b"".to_vec(), 2, 8, false),
            (b"three".to_vec(), 3, 9, true),
        ];
        assert_eq!(found, expected);
        assert!(all(b"").is_empty());
    }
}
