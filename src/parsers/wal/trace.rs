//! Where a zstd stream stands: within a block, between two blocks, or between two frames.
//!
//! A decoder gives the same bytes for a stream that was flushed and left open and for one that was cut inside its next block. Only the
//! second lost something, so the block headers are followed beside the decoding.

use std::io::{self, Read};

const FRAME_MAGIC: u64 = 0xfd2f_b528;
const SKIPPABLE: std::ops::RangeInclusive<u64> = 0x184d_2a50..=0x184d_2a5f;

/// A reader that follows the block headers of the zstd stream passing through it.
pub(super) struct Trace<R> {
    inner: R,
    state: State,
    /// Header bytes collected so far, and how many are wanted.
    head: Vec<u8>,
    has_checksum: bool,
    is_last: bool,
    /// Whether the frame has a block: its header is written together with the first one.
    has_block: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Magic,
    SkippableSize,
    Descriptor,
    /// More header bytes of a frame.
    FrameHeader(usize),
    BlockHeader,
    /// Bytes left to pass over, and whether they belong to a block.
    Pass(u64, Passed),
    /// Not a zstd stream, or a damaged one: nothing is claimed any more.
    Lost,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Passed {
    Block,
    Checksum,
    Skippable,
}

impl<R> Trace<R> {
    pub(super) fn new(inner: R) -> Self {
        Self {
            inner,
            state: State::Magic,
            head: Vec::with_capacity(16),
            has_checksum: false,
            is_last: false,
            has_block: false,
        }
    }

    /// Whether what passed through so far ends inside a header or a block.
    pub(super) fn is_cut(&self) -> bool {
        match self.state {
            State::Magic => !self.head.is_empty(),
            State::BlockHeader => !self.head.is_empty() || !self.has_block,
            State::SkippableSize | State::Descriptor | State::FrameHeader(_) | State::Pass(..) => {
                true
            }
            State::Lost => false,
        }
    }

    fn follow(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if let State::Pass(left, passed) = self.state {
                let count = left.min(bytes.len() as u64);
                bytes = bytes
                    .get(usize::try_from(count).unwrap_or(usize::MAX)..)
                    .unwrap_or_default();
                self.state = if count == left {
                    self.after(passed)
                } else {
                    State::Pass(left - count, passed)
                };
                continue;
            }
            let wanted = match self.state {
                State::Magic | State::SkippableSize => 4,
                State::Descriptor => 1,
                State::FrameHeader(wanted) => wanted,
                State::BlockHeader => 3,
                State::Pass(..) | State::Lost => return,
            };
            let (taken, rest) = bytes.split_at((wanted - self.head.len()).min(bytes.len()));
            self.head.extend_from_slice(taken);
            bytes = rest;
            if self.head.len() == wanted {
                self.state = self.step();
                self.head.clear();
            }
        }
    }

    /// The state behind a complete header.
    fn step(&mut self) -> State {
        let number = super::little(&self.head);
        match self.state {
            State::Magic if number == FRAME_MAGIC => {
                self.has_block = false;
                State::Descriptor
            }
            State::Magic if SKIPPABLE.contains(&number) => State::SkippableSize,
            State::SkippableSize => self.pass(number, Passed::Skippable),
            State::Descriptor => {
                self.has_checksum = number & 4 != 0;
                let is_single = number & 32 != 0;
                let dictionary = [0, 1, 2, 4][usize::try_from(number & 3).unwrap_or(0)];
                let content = match number >> 6 {
                    0 => usize::from(is_single),
                    1 => 2,
                    2 => 4,
                    _ => 8,
                };
                match dictionary + content + usize::from(!is_single) {
                    0 => State::BlockHeader,
                    wanted => State::FrameHeader(wanted),
                }
            }
            State::FrameHeader(_) => State::BlockHeader,
            State::BlockHeader => {
                self.is_last = number & 1 != 0;
                self.has_block = true;
                let size = number >> 3;
                match number >> 1 & 3 {
                    0 | 2 => self.pass(size, Passed::Block),
                    1 => self.pass(1, Passed::Block),
                    _ => State::Lost,
                }
            }
            State::Magic | State::Pass(..) | State::Lost => State::Lost,
        }
    }

    fn pass(&self, size: u64, passed: Passed) -> State {
        if size == 0 {
            self.after(passed)
        } else {
            State::Pass(size, passed)
        }
    }

    fn after(&self, passed: Passed) -> State {
        match passed {
            Passed::Block if !self.is_last => State::BlockHeader,
            Passed::Block if self.has_checksum => State::Pass(4, Passed::Checksum),
            Passed::Block | Passed::Checksum | Passed::Skippable => State::Magic,
        }
    }
}

impl<R: Read> Read for Trace<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.follow(&buffer[..count]);
        Ok(count)
    }
}
