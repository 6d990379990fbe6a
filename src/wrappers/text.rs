//! The text of one log as it comes out of its wrappers, cut into blocks that know where their records stand in the file.

use super::lines::Line;
use super::reader::{IsHead, Reading};
use super::reversal::Reversal;
use super::stack::{Bare, Place, Sink};
use crate::intake::{Block, Limits};
use crate::record::{Origin, Start};
use crate::time::Timestamp;

/// The text unwrapped and not yet handed out.
pub(super) struct Text {
    is_head: IsHead,
    /// Whether lines that are of no log are noted here.
    pub(super) notes_foreign: bool,
    limits: Limits,
    bytes: Vec<u8>,
    origin: Origin,
    /// Whether lines were left out and no record has begun since.
    is_torn: bool,
    /// What is collected where the newest line stands first.
    reversal: Option<Reversal>,
    /// Where the next block begins in the whole text, and whether it continues a record.
    offset: u64,
    continues: bool,
}

impl Text {
    /// Starts the text of a log.
    pub(super) fn new(log: Reading<'_>, limits: Limits) -> Self {
        // Without wrappers only whole records change places: of a row that is wrapped each line is a message.
        let reversal = log
            .is_reversed
            .then(|| Reversal::new(log.layers.is_empty()));
        Self {
            is_head: log.is_head,
            notes_foreign: log.notes_foreign,
            limits,
            bytes: Vec::new(),
            origin: Origin::default(),
            is_torn: false,
            reversal,
            offset: 0,
            continues: false,
        }
    }

    /// The stamp of the first record, as `stamp` reads it.
    pub(super) fn peek(&self, stamp: impl Fn(&[u8]) -> Option<Timestamp>) -> Option<Timestamp> {
        stamp_of(&self.bytes, &self.origin, stamp)
    }

    /// How long it is.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether a block can be cut at a record, or must be cut anyway.
    pub(super) fn is_enough(&mut self) -> bool {
        let is_given = !self.bytes.is_empty();
        if let Some(reversal) = &self.reversal {
            if !is_given && reversal.is_full() {
                self.reverse();
            }
            return !self.bytes.is_empty();
        }
        let is_block = self.bytes.len() >= self.limits.block_bytes && self.last_start() > 0;
        is_block || self.bytes.len() >= self.limits.record_bytes
    }

    /// Notes what a line is beside its text, before it is unwrapped.
    pub(super) fn note(&mut self, line: &Line<'_>) {
        if !self.notes_foreign {
            return;
        }
        if line.cr_lf {
            self.origin.cr_lf.note(line.at.line);
        }
        if line.is_cut {
            self.origin.too_long.note(line.at.line);
        }
    }

    /// Counts a line that was unwrapped, if the text has grown by it.
    pub(super) fn count(&mut self, before: usize, is_open: bool) {
        let is_mine = self.bytes.len() > before;
        self.origin.lines += u64::from(is_mine);
        if is_mine && is_open {
            // The file ends inside this line.
            self.bytes.pop();
        }
    }

    /// Puts what was collected in the order of time.
    pub(super) fn reverse(&mut self) {
        let Some(mut reversal) = self.reversal.take() else {
            return;
        };
        // The lines are counted, the records are told anew.
        reversal.newest_last(|text| self.message(text));
        self.reversal = Some(reversal);
    }

    /// The next block, in a used block's memory or none; `None` if there is nothing. `ended`: no more text will come.
    pub(super) fn cut(&mut self, mut buffer: Vec<u8>, ended: bool) -> Option<Block> {
        let whole = self.bytes.len();
        let last = self.last_start();
        let cut = if ended || last == 0 { whole } else { last };
        let is_noted = self.origin.foreign.count > 0 || self.origin.too_long.count > 0;
        if cut == 0 && !is_noted {
            return None;
        }
        buffer.clear();
        buffer.extend_from_slice(&self.bytes[cut..]);
        std::mem::swap(&mut buffer, &mut self.bytes);
        buffer.truncate(cut);
        let mut origin = std::mem::take(&mut self.origin);
        if cut < whole {
            let kept = origin.starts.pop();
            self.origin
                .starts
                .extend(kept.map(|start| Start { at: 0, ..start }));
        }
        let continues = self.continues && origin.starts.first().is_none_or(|start| start.at > 0);
        let block = Block {
            offset: self.offset,
            continues,
            last: ended,
            bytes: buffer,
            origin: Some(Box::new(origin)),
        };
        self.offset += u64::try_from(cut).unwrap_or(0);
        self.continues = !ended && cut == whole;
        Some(block)
    }

    /// Where the last record begins.
    fn last_start(&self) -> usize {
        let last = self.origin.starts.last();
        last.map_or(0, |start| start.at as usize)
    }
}

/// The stamp of the first record of an unwrapped text.
pub(super) fn stamp_of(
    text: &[u8],
    origin: &Origin,
    stamp: impl Fn(&[u8]) -> Option<Timestamp>,
) -> Option<Timestamp> {
    let first = origin.starts.iter().find(|start| start.is_record)?;
    stamp(text.get(first.at as usize..)?).or(first.time)
}

impl Sink for Text {
    fn message(&mut self, message: Bare<'_>) {
        let is_record = message.is_record || (self.is_head)(message.text);
        if let Some(reversal) = &mut self.reversal {
            self.origin.lines += 1;
            return reversal.message(message, is_record);
        }
        if is_record || self.is_torn {
            self.origin.starts.push(Start {
                at: u32::try_from(self.bytes.len()).unwrap_or(u32::MAX),
                line: message.at.line,
                offset: message.at.offset,
                time: message.time,
                is_record,
            });
            self.is_torn = false;
        }
        self.bytes.extend_from_slice(message.text);
        self.bytes.push(b'\n');
    }

    fn inner(&mut self, text: &[u8]) {
        if let Some(reversal) = &mut self.reversal {
            self.origin.lines += 1;
            return reversal.inner(text);
        }
        self.bytes.extend_from_slice(text);
        self.bytes.push(b'\n');
    }

    fn gap(&mut self) {
        self.is_torn = self.reversal.is_none();
    }

    fn foreign(&mut self, at: Place) {
        if self.notes_foreign {
            self.origin.foreign.note(at.line);
            self.origin.lines += 1;
        }
    }
}
