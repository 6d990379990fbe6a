//! Records in the order of their stamps, however many there are: stretches of them are sorted in memory, what is more than one
//! stretch waits in a temporary file, and the stretches are merged.
//!
//! Records of one stamp keep the order in which they came, so the length of a stretch shows in no output.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::sync::Arc;

use crate::intake::Window;
use crate::record::Start;

/// How many bytes of records are sorted in memory.
pub(super) const STRETCH_BYTES: usize = 32 << 20;

/// How many bytes the stamp has that a record begins with.
const STAMP_BYTES: usize = 26;

/// How much of each stretch is read at once while they are merged.
const MERGE_BYTES: usize = 64 << 10;

/// How many bytes are written before each record: its length, its line and its offset.
const HEADER_BYTES: usize = 24;

/// A record's stamp, as it is written.
type Stamp = [u8; STAMP_BYTES];

/// Takes records in any order, then gives them in that of their stamps.
pub(super) struct Sorter {
    stretch_bytes: usize,
    text: Vec<u8>,
    /// The records of the stretch and where each ends, the last to be given first once they are sorted.
    rows: Vec<(Start, usize)>,
    spilled: Option<Spilled>,
    merged: Option<Merge>,
}

/// The temporary file: without a name, so the system takes it back whatever happens to this process.
struct Spilled {
    file: BufWriter<File>,
    /// Where each stretch ends.
    ends: Vec<u64>,
}

/// Stretches that are merged.
struct Merge {
    stretches: Vec<BufReader<Window>>,
    /// The first record of each, the next to be given on top.
    next: BinaryHeap<Reverse<(Stamp, usize)>>,
    /// The headers of these records.
    headers: Vec<Header>,
}

/// What stands before a record in the temporary file.
#[derive(Clone, Copy, Default)]
struct Header {
    length: u64,
    line: u64,
    offset: u64,
    /// The beginning of the record's text, which is read with the header.
    stamp: Stamp,
    /// How many bytes of the stamp there are: of all but broken records all.
    stamped: usize,
}

impl Sorter {
    pub(super) fn new(stretch_bytes: usize) -> Self {
        Self {
            stretch_bytes,
            text: Vec::new(),
            rows: Vec::new(),
            spilled: None,
            merged: None,
        }
    }

    /// Takes a record.
    pub(super) fn push(&mut self, start: Start, text: &[u8]) -> io::Result<()> {
        if !self.rows.is_empty() && self.text.len() + text.len() > self.stretch_bytes {
            self.sort();
            self.spill()?;
        }
        let at = self.text.len();
        self.text.extend_from_slice(text);
        let at = u32::try_from(at).unwrap_or(u32::MAX);
        self.rows.push((Start { at, ..start }, self.text.len()));
        Ok(())
    }

    /// Says that no record comes any more.
    pub(super) fn end(&mut self) -> io::Result<()> {
        self.sort();
        if self.spilled.is_none() {
            return Ok(());
        }
        self.spill()?;
        (self.text, self.rows) = (Vec::new(), Vec::new());
        let Some(Spilled { file, ends }) = self.spilled.take() else {
            return Ok(());
        };
        let file = file.into_inner().map_err(io::IntoInnerError::into_error);
        let file = Arc::new(file.map_err(|it| told(&it))?);
        let begins = std::iter::once(0).chain(ends.iter().copied());
        let window = |(begin, end): (u64, &u64)| {
            let window = Window::new(Arc::clone(&file), begin, end - begin);
            BufReader::with_capacity(MERGE_BYTES, window)
        };
        let stretches: Vec<_> = begins.zip(&ends).map(window).collect();
        let mut merge = Merge {
            headers: vec![Header::default(); stretches.len()],
            stretches,
            next: BinaryHeap::new(),
        };
        for at in 0..merge.stretches.len() {
            merge.read(at).map_err(|it| told(&it))?;
        }
        self.merged = Some(merge);
        Ok(())
    }

    /// Writes the next record after `text`; `None` when all were given.
    pub(super) fn next(&mut self, text: &mut Vec<u8>) -> io::Result<Option<Start>> {
        if let Some(merge) = &mut self.merged {
            return merge.give(text).map_err(|it| told(&it));
        }
        let Some((start, end)) = self.rows.pop() else {
            return Ok(None);
        };
        let at = u32::try_from(text.len()).unwrap_or(u32::MAX);
        text.extend_from_slice(&self.text[start.at as usize..end]);
        Ok(Some(Start { at, ..start }))
    }

    fn sort(&mut self) {
        let text = &self.text;
        self.rows
            .sort_by_key(|(start, end)| stamp(&text[start.at as usize..*end]));
        self.rows.reverse();
    }

    /// Writes the stretch into the temporary file.
    fn spill(&mut self) -> io::Result<()> {
        let spilled = match &mut self.spilled {
            Some(spilled) => spilled,
            none => none.insert(Spilled {
                file: BufWriter::new(tempfile::tempfile().map_err(|it| told(&it))?),
                ends: Vec::new(),
            }),
        };
        let mut at = spilled.ends.last().copied().unwrap_or(0);
        for (start, end) in self.rows.drain(..).rev() {
            let text = &self.text[start.at as usize..end];
            let length = u64::try_from(text.len()).unwrap_or(u64::MAX);
            for number in [length, start.line, start.offset] {
                spilled
                    .file
                    .write_all(&number.to_le_bytes())
                    .map_err(|it| told(&it))?;
            }
            spilled.file.write_all(text).map_err(|it| told(&it))?;
            at += length + HEADER_BYTES as u64;
        }
        spilled.ends.push(at);
        self.text.clear();
        Ok(())
    }
}

impl Merge {
    /// Reads the header of a stretch's next record, if there is one.
    fn read(&mut self, at: usize) -> io::Result<()> {
        let reader = &mut self.stretches[at];
        let mut numbers = [[0; 8]; 3];
        for (nth, number) in numbers.iter_mut().enumerate() {
            match reader.read_exact(number) {
                // A stretch ends where a header would begin.
                Err(error) if nth == 0 && error.kind() == io::ErrorKind::UnexpectedEof => {
                    return Ok(());
                }
                read => read?,
            }
        }
        let [length, line, offset] = numbers.map(u64::from_le_bytes);
        let stamped = usize::try_from(length).map_or(STAMP_BYTES, |it| it.min(STAMP_BYTES));
        let mut stamp = Stamp::default();
        reader.read_exact(&mut stamp[..stamped])?;
        self.headers[at] = Header {
            length,
            line,
            offset,
            stamp,
            stamped,
        };
        self.next.push(Reverse((stamp, at)));
        Ok(())
    }

    fn give(&mut self, text: &mut Vec<u8>) -> io::Result<Option<Start>> {
        let Some(Reverse((_, of))) = self.next.pop() else {
            return Ok(None);
        };
        let header = self.headers[of];
        let start = Start {
            at: u32::try_from(text.len()).unwrap_or(u32::MAX),
            line: header.line,
            offset: header.offset,
            time: None,
            is_record: true,
        };
        text.extend_from_slice(&header.stamp[..header.stamped]);
        let rest = header.length - header.stamped as u64;
        let read = (&mut self.stretches[of]).take(rest).read_to_end(text)?;
        if read as u64 != rest {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.read(of)?;
        Ok(Some(start))
    }
}

/// The stamp of a record; of a shorter one what there is of it.
fn stamp(text: &[u8]) -> Stamp {
    let mut stamp = Stamp::default();
    let stamped = text.len().min(STAMP_BYTES);
    stamp[..stamped].copy_from_slice(&text[..stamped]);
    stamp
}

fn told(error: &io::Error) -> io::Error {
    let why = format!("the rows cannot be put in order in a temporary file: {error}");
    io::Error::new(error.kind(), why)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Minutes of records as they come, and what they are given as: minute, place among those that came.
    fn sorted(minutes: &[usize], stretch_bytes: usize) -> Vec<(usize, u64)> {
        let mut sorter = Sorter::new(stretch_bytes);
        for (nth, minute) in (0u64..).zip(minutes) {
            let text = format!("2026.09.01 10:{minute:02}:00.000000 [ 1 ] {{}} <Debug> a: {nth}\n");
            let start = Start {
                at: 0,
                line: nth,
                offset: nth * 100,
                time: None,
                is_record: true,
            };
            sorter.push(start, text.as_bytes()).unwrap();
        }
        sorter.end().unwrap();
        let mut given = Vec::new();
        let mut text = b"before".to_vec();
        while let Some(start) = sorter.next(&mut text).unwrap() {
            let record = std::str::from_utf8(&text[start.at as usize..]).unwrap();
            assert_eq!(start.offset, start.line * 100);
            assert!(record.ends_with(&format!(": {}\n", start.line)), "{record}");
            given.push((record[14..16].parse().unwrap(), start.line));
        }
        given
    }

    #[test]
    fn records_come_in_the_order_of_stamps_whatever_fits_into_memory() {
        let minutes = [7, 3, 3, 9, 0, 7, 3, 1, 9, 0, 5, 3];
        // By hand: of equal minutes the one that came first.
        let expected = [
            (0, 4),
            (0, 9),
            (1, 7),
            (3, 1),
            (3, 2),
            (3, 6),
            (3, 11),
            (5, 10),
            (7, 0),
            (7, 5),
            (9, 3),
            (9, 8),
        ];
        // All in memory, stretches of three, each record for itself, and records longer than a stretch.
        for stretch_bytes in [STRETCH_BYTES, 160, 60, 1] {
            assert_eq!(sorted(&minutes, stretch_bytes), expected, "{stretch_bytes}");
        }
    }

    #[test]
    fn nothing_is_nothing() {
        assert_eq!(sorted(&[], 1), []);
    }
}
