//! A stream of bytes cut into blocks at record heads, so that each block can be read on its own.

use std::io::{self, Read};

use crate::record::Origin;
use crate::time::Timestamp;

/// Bounds on what is held in memory at once.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// How large a block is meant to be, in bytes.
    pub block_bytes: usize,
    /// The longest record that is kept whole, in bytes; a longer one is cut and said to be.
    pub record_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        // 1 MiB amortizes a read and a hand-over between threads, and a few dozen blocks in flight stay small.
        // 64 MiB is far above the longest record seen (a query of 100 KB), and what one hostile file may cost.
        Self {
            block_bytes: 1 << 20,
            record_bytes: 64 << 20,
        }
    }
}

/// Bytes that begin at a record's head, except the first block of a file and what follows a cut record.
#[derive(Debug)]
pub struct Block {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Where they begin in the unpacked artifact.
    pub offset: u64,
    /// Whether the block continues a record that was cut for its length.
    pub continues: bool,
    /// Whether the artifact ends with this block.
    pub last: bool,
    /// Where the records stand in the artifact, if the bytes were taken out of a wrapper.
    pub origin: Option<Box<Origin>>,
}

/// Says whether a line starts a record.
type IsHead = Box<dyn Fn(&[u8]) -> bool + Send>;

/// Cuts a reader into blocks.
pub struct BlockReader {
    reader: Box<dyn Read + Send>,
    is_head: IsHead,
    limits: Limits,
    /// The first `filled` bytes are read and not yet handed out; they begin where the next block does. What lies behind
    /// is room that was zeroed once, when the memory was new.
    pending: Vec<u8>,
    filled: usize,
    offset: u64,
    continues: bool,
    ended: bool,
    error: Option<io::Error>,
}

impl BlockReader {
    /// Starts at the beginning of `reader`. `is_head` says whether a line starts a record.
    pub fn new(
        reader: Box<dyn Read + Send>,
        is_head: impl Fn(&[u8]) -> bool + Send + 'static,
        limits: Limits,
    ) -> Self {
        Self {
            reader,
            is_head: Box::new(is_head),
            limits,
            pending: Vec::new(),
            filled: 0,
            offset: 0,
            continues: false,
            ended: false,
            error: None,
        }
    }

    /// The stamp of the first head to come, as `stamp` reads it; `None` at the end or where the next line is no head.
    pub fn peek(&mut self, stamp: impl Fn(&[u8]) -> Option<Timestamp>) -> Option<Timestamp> {
        if self.filled == 0 {
            self.fill(self.limits.block_bytes);
        }
        stamp(self.read())
    }

    /// The next block; `None` at the end. `buffer` is a used block's memory, or empty.
    pub fn next(&mut self, mut buffer: Vec<u8>) -> Option<Block> {
        let mut target = self.limits.block_bytes;
        let cut = loop {
            self.fill(target);
            if self.ended {
                break self.filled;
            }
            if let Some(cut) = last_head(self.read(), &self.is_head) {
                break cut;
            }
            if self.filled >= self.limits.record_bytes {
                break memchr::memrchr(b'\n', self.read()).map_or(self.filled, |at| at + 1);
            }
            target = (self.filled * 2).min(self.limits.record_bytes);
        };
        if cut == 0 {
            return None;
        }
        let rest = self.filled - cut;
        if buffer.len() < rest {
            buffer.resize(rest, 0);
        }
        buffer[..rest].copy_from_slice(&self.pending[cut..self.filled]);
        std::mem::swap(&mut buffer, &mut self.pending);
        self.filled = rest;
        buffer.truncate(cut);
        let block = Block {
            offset: self.offset,
            continues: self.continues,
            last: self.ended,
            bytes: buffer,
            origin: None,
        };
        self.offset += u64::try_from(cut).unwrap_or(u64::MAX);
        self.continues = !self.ended && !(self.is_head)(self.read());
        Some(block)
    }

    /// The bytes read and not yet handed out.
    fn read(&self) -> &[u8] {
        &self.pending[..self.filled]
    }

    /// Why reading stopped before the end, and at which unpacked byte; once.
    pub fn take_error(&mut self) -> Option<(u64, io::Error)> {
        self.error.take().map(|error| (self.offset, error))
    }

    /// Reads until `target` bytes are pending or the input ends.
    fn fill(&mut self, target: usize) {
        if self.pending.len() < target {
            self.pending.resize(target, 0);
        }
        while !self.ended && self.filled < target {
            match self.reader.read(&mut self.pending[self.filled..target]) {
                Ok(0) => self.ended = true,
                Ok(read) => self.filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // What was read before the fault is kept.
                Err(error) => {
                    self.ended = true;
                    self.error = Some(error);
                }
            }
        }
    }
}

/// Where the last head after the first byte begins.
fn last_head(bytes: &[u8], is_head: &IsHead) -> Option<usize> {
    memchr::memrchr_iter(b'\n', bytes)
        .map(|at| at + 1)
        .find(|&start| is_head(&bytes[start..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn cut(
        text: &'static [u8],
        block_bytes: usize,
        record_bytes: usize,
    ) -> Vec<(Vec<u8>, bool, bool)> {
        let limits = Limits {
            block_bytes,
            record_bytes,
        };
        let mut reader = BlockReader::new(
            Box::new(Cursor::new(text)),
            |line: &[u8]| line.first() == Some(&b'#'),
            limits,
        );
        std::iter::from_fn(|| reader.next(Vec::new()))
            .map(|b| (b.bytes, b.continues, b.last))
            .collect()
    }

    #[test]
    fn blocks_are_cut_at_heads_and_tile_the_input() {
        let text = b"#1\na\n#2\nb\n#3";
        for block in 1..20 {
            let blocks = cut(text, block, 100);
            assert_eq!(blocks.concat_bytes(), text, "block {block}");
            assert!(
                blocks.iter().all(|(bytes, ..)| bytes[0] == b'#'),
                "block {block}"
            );
            assert!(blocks.last().unwrap().2, "block {block}");
        }
    }

    #[test]
    fn a_record_beyond_the_bound_is_cut_at_a_line_and_said_to_be() {
        let blocks = cut(b"#1\naaaa\nbbbb\ncccc\n#2\n", 4, 8);
        assert_eq!(blocks.concat_bytes(), b"#1\naaaa\nbbbb\ncccc\n#2\n");
        assert!(blocks.iter().any(|(_, continues, _)| *continues));
    }

    trait ConcatBytes {
        fn concat_bytes(&self) -> Vec<u8>;
    }
    impl ConcatBytes for Vec<(Vec<u8>, bool, bool)> {
        fn concat_bytes(&self) -> Vec<u8> {
            self.iter().flat_map(|(bytes, ..)| bytes.clone()).collect()
        }
    }
}
