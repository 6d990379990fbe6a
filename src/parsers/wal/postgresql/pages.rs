//! A segment's pages one after the other, and the bytes of records that run over them.

use crate::parsers::wal::little;
use crate::parsers::wal::window::{Window, is_zero};

use super::{Head, LONG, SHORT, all_flags, overwrites};

/// The page begins within a record.
const GOES_ON: u64 = 1;
/// Records begin at multiples of this.
pub(super) const ALIGN: usize = 8;

/// Why a page is none of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Flaw {
    /// The file ends.
    End,
    /// All of it is zero.
    Zero,
    /// It was written for a lower address, before the file was used again.
    Stale,
    /// Anything else.
    Wrong(String),
}

/// What was there of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taken {
    /// All of it.
    All,
    /// All up to the end of the segment; the number of bytes that are left.
    Left(u64),
    /// Not all: a page says that it was given up, and a new record begins there.
    GivenUp,
}

/// A view over the pages of one segment, at an offset in one of them.
pub(super) struct Pages<'w, 'r> {
    window: &'w mut Window<'r>,
    head: Head,
    /// The offset in the page.
    at: usize,
    /// Bytes with which the page goes on with a record of an earlier one, as far as they were not taken.
    pub(super) rest: u64,
    /// Whether a record that was begun before was given up.
    pub(super) is_given_up: bool,
    pub(super) timeline: u64,
}

impl<'w, 'r> Pages<'w, 'r> {
    /// Stands in front of the first page.
    pub(super) fn new(window: &'w mut Window<'r>, head: Head) -> Self {
        Self {
            window,
            head,
            at: 0,
            rest: 0,
            is_given_up: false,
            timeline: head.timeline,
        }
    }

    /// Bytes of the file in front of the position.
    pub(super) fn offset(&self) -> u64 {
        self.window.offset() + self.at as u64
    }

    /// The address of the position.
    pub(super) fn address(&self) -> u64 {
        self.head.address.wrapping_add(self.offset())
    }

    /// Whether a page begins here, and its header was not read.
    pub(super) fn is_at_page(&self) -> bool {
        self.at == 0
    }

    /// Behind the whole segment.
    pub(super) fn is_over(&self) -> bool {
        self.offset() >= self.head.segment
    }

    /// Reads the header of the page that begins here, and goes behind it.
    pub(super) fn enter(&mut self) -> Result<(), Flaw> {
        let address = self.address();
        let head = self.head;
        let page = self.window.peek(head.page);
        let page = &page[..page.len().min(head.page)];
        if page.is_empty() {
            return Err(Flaw::End);
        }
        if is_zero(page) {
            return Err(Flaw::Zero);
        }
        let is_first = address.is_multiple_of(head.segment);
        let header = if is_first { LONG } else { SHORT };
        let Some(bytes) = page.get(..header) else {
            return Err(Flaw::Wrong("the file ends within a page header".to_owned()));
        };
        let (magic, flags, there) = (
            little(&bytes[..2]),
            little(&bytes[2..4]),
            little(&bytes[8..16]),
        );
        let is_old = matches!(magic >> 8, 0xd0 | 0xd1) && flags & !all_flags(magic) == 0;
        if is_old && there < address {
            return Err(Flaw::Stale);
        }
        if magic != head.magic || flags & !all_flags(magic) > 0 {
            return Err(Flaw::Wrong(format!(
                "the page header has magic {magic:04X} and flags {flags:04X}"
            )));
        }
        if there != address {
            return Err(Flaw::Wrong(format!(
                "the page says that its address is {:X}/{:X}",
                there >> 32,
                there & 0xffff_ffff
            )));
        }
        self.timeline = little(&bytes[4..8]);
        let goes_on = flags & GOES_ON > 0;
        self.rest = if goes_on { little(&bytes[16..20]) } else { 0 };
        self.is_given_up = flags & overwrites(magic) > 0;
        self.at = header;
        Ok(())
    }

    /// The bytes from the position to the end of its page.
    pub(super) fn here(&mut self) -> &[u8] {
        let page = self.window.peek(self.head.page);
        let end = page.len().min(self.head.page);
        &page[self.at.min(end)..end]
    }

    /// Goes on by bytes of the page.
    pub(super) fn advance(&mut self, count: usize) {
        self.at += count;
        if self.at >= self.head.page {
            self.next_page();
        }
    }

    /// Goes back to an offset in the page.
    pub(super) fn back_to(&mut self, offset: u64) {
        let at = offset.checked_sub(self.window.offset());
        self.at = at
            .and_then(|at| usize::try_from(at).ok())
            .unwrap_or(self.at);
    }

    /// Goes to the beginning of the next page.
    pub(super) fn next_page(&mut self) {
        self.window.advance(self.head.page);
        self.at = 0;
    }

    /// Goes to where a record can begin, on a new page behind its header.
    pub(super) fn align(&mut self) -> Result<(), Flaw> {
        if self.at > 0 {
            let aligned = self.at.next_multiple_of(ALIGN);
            self.advance(aligned - self.at);
        }
        if self.at == 0 { self.enter() } else { Ok(()) }
    }

    /// Hands on the next bytes of a record of which `left` are still to come, up to the end of the segment.
    pub(super) fn take(
        &mut self,
        mut left: u64,
        sink: &mut dyn FnMut(&[u8]),
    ) -> Result<Taken, Flaw> {
        while left > 0 && !self.is_over() {
            if self.at == 0 {
                self.enter()?;
                if self.is_given_up {
                    return Ok(Taken::GivenUp);
                }
                if self.rest != left {
                    return Err(Flaw::Wrong(format!(
                        "a record should go on with {left} bytes, the page goes on with {}",
                        self.rest
                    )));
                }
            }
            let here = self.here();
            if here.is_empty() {
                return Err(Flaw::End);
            }
            let count = usize::try_from(left).unwrap_or(usize::MAX).min(here.len());
            sink(&here[..count]);
            left -= count as u64;
            self.rest = self.rest.saturating_sub(count as u64);
            self.advance(count);
        }
        Ok(match left {
            0 => Taken::All,
            left => Taken::Left(left),
        })
    }

    /// Passes over what the page goes on with, on this page and the next ones.
    pub(super) fn skip_rest(&mut self) -> Result<(), Flaw> {
        let rest = self.rest;
        self.take(rest, &mut |_| ()).map(drop)
    }

    /// The address behind so many bytes of a record from the position on, and that of the record that can follow.
    pub(super) fn behind(&self, length: u64) -> u64 {
        let (page, segment) = (self.head.page as u64, self.head.segment);
        let header = |address: u64| {
            let is_first = address.is_multiple_of(segment);
            (if is_first { LONG } else { SHORT }) as u64
        };
        let mut address = self.address();
        let mut left = length;
        loop {
            if address.is_multiple_of(page) {
                address += header(address);
            }
            let room = page - address % page;
            if left < room {
                address += left;
                break;
            }
            left -= room;
            address += room;
            if left == 0 {
                break;
            }
        }
        let aligned = address.next_multiple_of(ALIGN as u64);
        if aligned.is_multiple_of(page) {
            aligned + header(aligned)
        } else {
            aligned
        }
    }

    /// The address of the first record of the next segment.
    pub(super) fn next_segment(&self) -> u64 {
        self.head.address.wrapping_add(self.head.segment) + LONG as u64
    }
}
