//! Where in a log the records of some time stand, told by a few stamps: little else of it is read.
//!
//! Records stand in the order of their stamps but for a little, and but for where the clock was set back: what stands before
//! and behind such a place is looked through, too.

use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;

use crate::intake::Window;
use crate::parsers::Format;
use crate::record::split_lines;
use crate::time::{SECOND, Timestamp};

/// How far lines may stand from where their stamps belong, as several threads write them.
pub(super) const DISORDER: i64 = SECOND;

/// How many marks are made, and how far they are apart at least.
const MARKS_MAX: u64 = 512;
const APART_MIN: u64 = 64 << 10;

/// How far marks are apart at most where all between two of them is looked through.
const APART_SMALL: u64 = 256 << 10;

/// How much is read at once where a stamp is looked for, and where a line is.
const STEP: usize = 8 << 10;
pub(super) const CHUNK: usize = 32 << 10;

/// Stamps of a log, each with a place: the stamp is that of the first record that begins behind it.
#[derive(Debug, Default)]
pub(super) struct Marks {
    marks: Vec<(u64, Timestamp)>,
    end: u64,
}

/// A part of a log where a record may stand.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) bytes: Range<u64>,
    /// Whether its records are in the order of their stamps as far as its ends tell, and it is too large to be read whole.
    pub(super) is_ordered: bool,
}

impl Marks {
    /// Reads the marks of a log.
    pub(super) fn of(window: &mut Window, format: Format) -> io::Result<Self> {
        let end = window.seek(SeekFrom::End(0))?;
        let apart = end.div_ceil(MARKS_MAX).max(APART_MIN);
        let mut marks = Vec::new();
        let mut at = 0;
        while at < end {
            if let Some(stamp) = stamp_behind(window, at, format)? {
                marks.push((at, stamp));
            }
            at += apart;
        }
        Ok(Self { marks, end })
    }

    /// Where records of a time may stand, first things first.
    pub(super) fn stretches(&self, time: Timestamp) -> Vec<Stretch> {
        let count = self.marks.len();
        let mut stretches: Vec<Stretch> = Vec::new();
        for at in (0..count).filter(|&at| self.may_hold(at, time)) {
            let mut bytes = self.begin(at)..self.begin(at + 1);
            let is_small = bytes.end - bytes.start <= APART_SMALL;
            if is_small && bytes.end - bytes.start <= APART_MIN {
                // A clock that was set back by little shows beside.
                bytes = self.begin(at.saturating_sub(1))..self.begin(at + 2);
            }
            match stretches.last_mut() {
                Some(last) if is_small && !last.is_ordered && last.bytes.end >= bytes.start => {
                    last.bytes.end = bytes.end;
                }
                _ => stretches.push(Stretch {
                    bytes,
                    is_ordered: !is_small && !self.goes_back(at),
                }),
            }
        }
        stretches
    }

    /// Where the records of a mark begin; of one behind the last the end of the log.
    fn begin(&self, at: usize) -> u64 {
        match self.marks.get(at) {
            // What stands before the first mark is looked through with it.
            Some(_) if at == 0 => 0,
            Some((begin, _)) => *begin,
            None => self.end,
        }
    }

    /// Whether the clock was set back between a mark and the next one.
    fn goes_back(&self, at: usize) -> bool {
        let (this, next) = (self.marks.get(at), self.marks.get(at + 1));
        let pair = this.zip(next);
        pair.is_some_and(|((_, this), (_, next))| next.0 < this.0 - DISORDER)
    }

    /// Whether a record of a time may stand between a mark and the next one.
    fn may_hold(&self, at: usize, time: Timestamp) -> bool {
        let (_, this) = self.marks[at];
        let is_behind = at == 0 || time.0 >= this.0 - DISORDER;
        let next = self.marks.get(at + 1);
        let is_before = next.is_none_or(|(_, next)| time.0 <= next.0 + DISORDER);
        if self.goes_back(at) {
            is_behind || is_before
        } else {
            is_behind && is_before
        }
    }
}

/// The stamp of the first record that begins behind a place, if one is near.
fn stamp_behind(window: &mut Window, at: u64, format: Format) -> io::Result<Option<Timestamp>> {
    let mut buffer = Vec::new();
    for most in [STEP, CHUNK, 16 * CHUNK] {
        read_at(window, at, most, &mut buffer)?;
        let stamp = first_stamp(&buffer, format);
        if stamp.is_some() {
            return Ok(stamp);
        }
    }
    Ok(None)
}

/// Where in an ordered stretch nothing before is as young as a time.
pub(super) fn narrowed(
    window: &mut Window,
    format: Format,
    bytes: Range<u64>,
    time: Timestamp,
) -> io::Result<u64> {
    let (mut from, mut to) = (bytes.start, bytes.end);
    while to - from > CHUNK as u64 {
        let middle = from + (to - from) / 2;
        match stamp_behind(window, middle, format)? {
            Some(stamp) if stamp.0 < time.0 - DISORDER => from = middle,
            _ => to = middle,
        }
    }
    Ok(from)
}

/// Reads up to so many bytes from a place on.
pub(super) fn read_at(
    window: &mut Window,
    at: u64,
    most: usize,
    buffer: &mut Vec<u8>,
) -> io::Result<()> {
    window.seek(SeekFrom::Start(at))?;
    buffer.clear();
    let most = u64::try_from(most).unwrap_or(u64::MAX);
    window.take(most).read_to_end(buffer).map(drop)
}

/// The stamp of the first record that begins in a text behind its first line end.
pub(super) fn first_stamp(text: &[u8], format: Format) -> Option<Timestamp> {
    let (_, rest) = text.split_at(memchr::memchr(b'\n', text)? + 1);
    let mut lines = split_lines(rest).filter(|line| format.is_head(line));
    lines.find_map(|line| format.stamp(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stretches(stamps: &[i64], time: i64) -> Vec<(u64, u64)> {
        let marks = stamps.iter().enumerate();
        let apart = |at: usize| u64::try_from(at).unwrap() * APART_SMALL;
        let marks = Marks {
            marks: marks
                .map(|(at, stamp)| (apart(at), Timestamp(stamp * SECOND)))
                .collect(),
            end: apart(stamps.len()),
        };
        let stretches = marks.stretches(Timestamp(time * SECOND)).into_iter();
        let whole = |bytes: Range<u64>| (bytes.start / APART_SMALL, bytes.end / APART_SMALL);
        stretches.map(|it| whole(it.bytes)).collect()
    }

    #[test]
    fn a_record_stands_where_its_time_is_and_about_where_the_clock_was_set_back() {
        for (stamps, time, expected) in [
            (&[0, 10, 20, 30][..], 15, &[(1, 2)][..]),
            // Of two stretches that meet in it; before the first mark; behind the last one.
            (&[0, 10, 20, 30], 20, &[(1, 3)]),
            (&[5, 10, 20, 30], 0, &[(0, 1)]),
            (&[0, 10, 20, 30], 99, &[(3, 4)]),
            // Set back between the second and the third mark: once before and once behind, and what is younger than both
            // can only be about there.
            (&[0, 100, 20, 120], 50, &[(0, 1), (2, 3)]),
            (&[0, 100, 20, 90], 105, &[(1, 2), (3, 4)]),
            (&[40, 100, 20, 120], 10, &[(0, 2)]),
        ] {
            assert_eq!(stretches(stamps, time), expected, "{time} in {stamps:?}");
        }
    }
}
