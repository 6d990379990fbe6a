//! A sliding view of a segment's bytes: reads forward once, in bounded blocks, and never holds more than one large record.

use std::io::{self, Read};

/// Bytes read ahead in one go; large enough that a segment is read at the speed of the page cache.
const BLOCK: usize = 128 * 1024;
/// The largest stretch that is held at once, and so the largest record that can be verified. All supported systems but one refuse
/// entries of this size as they are set up from the start, so a longer one is a corrupt length; in the log of raft-wal, which takes
/// entries of 64 MiB, it is one that cannot be read.
pub const RECORD_BYTES_MAX: usize = 32 * 1024 * 1024;

/// The longest run of zero bytes with which a record can begin.
const LOOK_BACK: usize = 16;

/// A forward-only view over a reader, positioned at a byte offset.
pub struct Window<'a> {
    reader: &'a mut dyn Read,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    offset: u64,
    is_ended: bool,
    failure: Option<io::Error>,
}

impl<'a> Window<'a> {
    /// A view from the reader's first byte on.
    pub fn new(reader: &'a mut dyn Read) -> Self {
        Self {
            reader,
            buffer: Vec::new(),
            start: 0,
            end: 0,
            offset: 0,
            is_ended: false,
            failure: None,
        }
    }

    /// The offset of the view's first byte in the (decompressed) segment.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The error that ended the reading, if it was not the end of the input.
    pub fn failure(&self) -> Option<&io::Error> {
        self.failure.as_ref()
    }

    /// The bytes at the offset: at least `count` of them, or all that are left if fewer. `count` is at most [`RECORD_BYTES_MAX`].
    pub fn peek(&mut self, count: usize) -> &[u8] {
        debug_assert!(count <= RECORD_BYTES_MAX, "callers bound a record's length");
        if self.end - self.start < count {
            self.refill(count);
        }
        &self.buffer[self.start..self.end]
    }

    /// Moves the offset forward over bytes that were peeked.
    pub fn advance(&mut self, count: usize) {
        let count = count.min(self.end - self.start);
        self.start += count;
        self.offset += count as u64;
    }

    /// Reads over zero bytes: how many stand at the offset, and where the first other byte stands, if there is one. A record that
    /// begins with zero bytes of its own can then still be found: the offset is left a little before that byte, and as aligned as
    /// it was.
    pub(super) fn zeros(&mut self) -> Zeros {
        let from = self.offset;
        loop {
            let block = self.peek(BLOCK);
            let length = block.len();
            let count = zeros_in_front(block);
            if count < length {
                let data_at = self.offset + count as u64;
                self.advance(count.saturating_sub(LOOK_BACK) & !7);
                return Zeros {
                    count: data_at - from,
                    data_at: Some(data_at),
                };
            }
            self.advance(if count < 8 { count } else { count & !7 });
            if length < 8 {
                return Zeros {
                    count: self.offset - from,
                    data_at: None,
                };
            }
        }
    }

    fn refill(&mut self, count: usize) {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        let wanted = count.max(BLOCK);
        if self.buffer.len() < wanted {
            self.buffer.resize(wanted, 0);
        }
        while self.end < count && !self.is_ended {
            match self.reader.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.is_ended = true,
                Ok(n) => self.end += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.is_ended = true;
                    self.failure = Some(error);
                }
            }
        }
    }
}

/// What [`Window::zeros`] found.
pub(super) struct Zeros {
    /// Zero bytes in front.
    pub(super) count: u64,
    /// The offset of the first byte that is not zero.
    pub(super) data_at: Option<u64>,
}

/// How many zero bytes stand in front.
pub(super) fn zeros_in_front(bytes: &[u8]) -> usize {
    let words = bytes
        .chunks_exact(64)
        .take_while(|chunk| is_zero(chunk))
        .count();
    let rest = &bytes[words * 64..];
    words * 64 + rest.iter().take_while(|&&byte| byte == 0).count()
}

/// Whether all bytes are zero.
pub(super) fn is_zero(bytes: &[u8]) -> bool {
    bytes.iter().fold(0_u8, |all, byte| all | byte) == 0
}
