//! Records cut into fragments that fit blocks of 32 KiB: the walk that `RocksDB` and Prometheus share.
//!
//! A record is one whole fragment, or a first one, any number of middle ones and a last one. Where a block has no room for another
//! fragment, zero bytes fill it.
//!
//! A file that is used again keeps what it held behind the last new record, and new records end in the midst of an old one.

use super::form::only;
use super::salvage::{self, Budget, Found, SECTOR, Search, Stop};
use super::window::{RECORD_BYTES_MAX, Window, is_zero};
use super::{Body, Context, FaultKind, Frame, Scan, Tail};

/// Bytes of a block.
pub(super) const BLOCK: usize = 32 * 1024;
/// Type, length and checksum of a fragment.
pub(super) const HEADER: usize = 7;

/// How the fragments of a layout are told apart.
pub(super) struct Cut {
    /// What the header in front says, the header of the next fragment in the block.
    pub(super) piece: fn(&[u8], &Context) -> Result<Piece, Misfit>,
    /// The checksum over a fragment, its header in front.
    pub(super) sum: fn(&[u8], &Piece) -> u32,
    /// What a record is; nothing if it cannot be one.
    pub(super) body: fn(&[u8], &Piece) -> Option<Body>,
    /// Whether zero bytes up to the end of a block belong to the record in front of them.
    pub(super) is_padded: bool,
}

impl Cut {
    /// Whether bytes begin with a verified fragment that a segment can begin with, of at least so many bytes of a record; one that
    /// goes on behind them has at least a header that can be one.
    pub(super) fn begins(&self, head: &[u8], least: usize) -> bool {
        let Ok(piece) = (self.piece)(head, &Context::default()) else {
            return false;
        };
        let size = piece.header + piece.length;
        let can_begin = match piece.part {
            Part::Full => size <= BLOCK && (piece.is_foreign || piece.length >= least),
            Part::First => size == BLOCK,
            Part::Middle | Part::Last | Part::Stale => false,
        };
        let is_good = head
            .get(..size)
            .map(|bytes| (self.sum)(bytes, &piece) == piece.stored);
        // Those that are only passed over are short, so one of them is there to its end.
        can_begin && is_good.unwrap_or(!piece.is_foreign)
    }
}

/// Why bytes are no header of a fragment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Misfit {
    /// They end within it.
    Short,
    /// They cannot be one.
    Wrong,
}

/// What the header of a fragment says.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece {
    pub(super) part: Part,
    /// Bytes of the header.
    pub(super) header: usize,
    /// Bytes behind it.
    pub(super) length: usize,
    pub(super) stored: u32,
    /// Flags of the layout's own.
    pub(super) flags: u8,
    /// Whether it is of a sort that is only passed over. Behind a fault it is not looked for: too many bytes look like one.
    pub(super) is_foreign: bool,
    /// Whether it names the file that it was written to, as those in files that are used again do.
    pub(super) names_file: bool,
}

/// Which part of a record a fragment is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Full,
    First,
    Middle,
    Last,
    /// Not of this log: the file was used before, and what follows is left over.
    Stale,
}

/// A record of which not all fragments were seen.
struct Begun {
    offset: u64,
    bytes: Vec<u8>,
    piece: Piece,
}

/// What ends a walk.
enum End {
    File,
    Stop(Stop),
    /// It is wrong if records of this log stand behind it. Else it is left from when the file was used before.
    Leftover(Stop),
}

/// Hands on every record of a segment, up to its end or the first fragment that is wrong.
pub(super) fn walk(
    cut: &Cut,
    window: &mut Window<'_>,
    context: &Context,
    scan: &mut Scan,
    sink: &mut dyn FnMut(&Frame<'_>),
) {
    let mut walk = Walk {
        cut,
        context,
        begun: None,
        zeros: 0,
        is_recycled: false,
    };
    let end = loop {
        if let Some(end) = walk.step(window, scan, sink) {
            break end;
        }
    };
    let is_recycled = walk.is_recycled;
    let mut probe = |window: &mut Window<'_>, budget: &mut Budget| {
        probe(cut, context, is_recycled, window, budget)
    };
    match end {
        End::File if walk.begun.is_some() => {
            walk.unfinished(scan, "the file ends before the last fragment of a record");
        }
        End::File if walk.zeros > 0 => scan.tail = Tail::Zeros(walk.zeros),
        End::File => {}
        End::Stop(stop) => salvage::stop(window, scan, stop, search(&mut probe)),
        End::Leftover(stop) => {
            if !salvage::is_end(window, scan, stop, search(&mut probe)) {
                return;
            }
            scan.tail = Tail::Stale;
            walk.unfinished(
                scan,
                "what was in the file before stands where a record should go on",
            );
        }
    }
}

type Probe<'p> = &'p mut dyn FnMut(&mut Window<'_>, &mut Budget) -> Option<Found>;

fn search(probe: Probe<'_>) -> Search<'_> {
    Search {
        align: 1,
        after: None,
        probe,
    }
}

struct Walk<'a> {
    cut: &'a Cut,
    context: &'a Context,
    begun: Option<Begun>,
    /// Zero bytes in front that no fragment followed yet.
    zeros: u64,
    /// Whether fragments name the file that they were written to.
    is_recycled: bool,
}

impl Walk<'_> {
    /// Notes that a record was begun and not ended.
    fn unfinished(&self, scan: &mut Scan, detail: &str) {
        if let Some(begun) = &self.begun {
            scan.tail = Tail::Torn;
            scan.fault(FaultKind::Torn, begun.offset, detail.to_owned());
        }
    }

    /// The end at bytes that are no fragment of this log as far as their header goes.
    fn unlike(&self, stop: Stop) -> End {
        if self.is_recycled {
            End::Leftover(stop)
        } else {
            End::Stop(stop)
        }
    }

    /// Takes in what stands at the window's offset; says what ended the walk.
    fn step(
        &mut self,
        window: &mut Window<'_>,
        scan: &mut Scan,
        sink: &mut dyn FnMut(&Frame<'_>),
    ) -> Option<End> {
        let offset = window.offset();
        let room = room(offset);
        let there = window.peek(room);
        let there = &there[..there.len().min(room)];
        if there.is_empty() {
            return Some(End::File);
        }
        if is_zero(&there[..there.len().min(HEADER)]) {
            return self.fill(window, room, scan);
        }
        let piece = match (self.cut.piece)(there, self.context) {
            Ok(piece) => piece,
            // Only at the end of the file: a block has no header that its own end cuts off.
            Err(Misfit::Short) if there.len() < room => {
                let detail = only(there.len(), "fragment");
                return Some(End::Stop(Stop::torn(offset, 1, detail)));
            }
            Err(Misfit::Short | Misfit::Wrong) => {
                let detail = "the header of a fragment cannot be one".to_owned();
                return Some(self.unlike(Stop::corrupt(offset, 1, detail)));
            }
        };
        if piece.part == Part::Stale {
            let detail = "a fragment names another file as its own".to_owned();
            return Some(End::Leftover(Stop::corrupt(offset, 1, detail)));
        }
        let size = piece.header + piece.length;
        let Some(bytes) = there.get(..size) else {
            let stop = self.cut_short(offset, size, there.len(), room);
            return Some(if piece.names_file {
                End::Stop(stop)
            } else {
                self.unlike(stop)
            });
        };
        let computed = (self.cut.sum)(bytes, &piece);
        if computed != piece.stored {
            let detail = format!("stored {:08x} computed {computed:08x}", piece.stored);
            let mut stop = Stop::checksum(offset, 1, bytes, SECTOR, detail);
            if !piece.names_file {
                return Some(self.unlike(stop));
            }
            // Its header was written for this log. Where a crash kept the rest from the disk, the file still has what it held before.
            if window.peek(size + 1).len() > size {
                stop.last = FaultKind::Torn;
            }
            return Some(End::Stop(stop));
        }
        self.is_recycled |= piece.names_file;
        self.zeros = 0;
        let stop = self.take(offset, &piece, bytes, scan, sink);
        if stop.is_none() {
            window.advance(size);
        }
        stop.map(End::Stop)
    }

    /// Zero bytes up to the end of a block.
    fn fill(&mut self, window: &mut Window<'_>, room: usize, scan: &mut Scan) -> Option<End> {
        let offset = window.offset();
        let there = window.peek(room);
        let there = &there[..there.len().min(room)];
        if !is_zero(there) {
            let zeros = super::window::zeros_in_front(there);
            let detail = format!(
                "after {zeros} zero bytes, which fill a block, other bytes stand from offset {} on",
                offset + zeros as u64
            );
            return Some(self.unlike(Stop::corrupt(offset, zeros, detail)));
        }
        let is_padding =
            self.cut.is_padded && !offset.is_multiple_of(BLOCK as u64) && there.len() == room;
        let count = there.len();
        window.advance(count);
        if is_padding && self.begun.is_none() {
            scan.end_offset = window.offset();
        } else {
            self.zeros += count as u64;
        }
        None
    }

    fn cut_short(&self, offset: u64, size: usize, there: usize, room: usize) -> Stop {
        let offset = self.begun.as_ref().map_or(offset, |begun| begun.offset);
        // A fragment never reaches into the next block, so one that would is wrong and not cut off.
        if size <= room {
            let detail = format!(
                "a fragment of {size} bytes runs past the end of the file, {there} bytes are there"
            );
            return Stop::torn(offset, 1, detail);
        }
        let detail = format!("a fragment of {size} bytes, and its block has room for {room}");
        Stop::corrupt(offset, 1, detail)
    }

    /// Takes in a verified fragment, and hands on the record that it ends.
    fn take(
        &mut self,
        offset: u64,
        piece: &Piece,
        bytes: &[u8],
        scan: &mut Scan,
        sink: &mut dyn FnMut(&Frame<'_>),
    ) -> Option<Stop> {
        let wrong = |offset, detail: &str| {
            let detail = detail.to_owned();
            Some(Stop::corrupt(offset, piece.header, detail))
        };
        let content = &bytes[piece.header..];
        match (piece.part, &mut self.begun) {
            (Part::Full | Part::First, Some(begun)) => {
                return wrong(
                    begun.offset,
                    "a record was begun here, and another one begins before its last fragment",
                );
            }
            (Part::Middle | Part::Last, None) => {
                return wrong(offset, "a record goes on here that was begun nowhere");
            }
            (Part::First, None) => {
                self.begun = Some(Begun {
                    offset,
                    bytes: content.to_vec(),
                    piece: *piece,
                });
                return None;
            }
            (Part::Middle | Part::Last, Some(begun)) => {
                // What is kept of a record is for looking at; its fragments are verified one by one.
                let free = RECORD_BYTES_MAX.saturating_sub(begun.bytes.len());
                begun
                    .bytes
                    .extend_from_slice(&content[..content.len().min(free)]);
                if piece.part == Part::Middle {
                    return None;
                }
            }
            (Part::Full | Part::Stale, _) => {}
        }
        let begun = self.begun.take();
        let (from, payload, first) = begun.as_ref().map_or((offset, content, piece), |begun| {
            (begun.offset, begun.bytes.as_slice(), &begun.piece)
        });
        let Some(body) = (self.cut.body)(payload, first) else {
            return wrong(from, "the record's own content cannot be one");
        };
        let frame = Frame {
            offset: from,
            size: offset + bytes.len() as u64 - from,
            body,
            payload,
        };
        sink(&frame);
        scan.count(&frame);
        None
    }
}

/// Bytes up to the end of a block.
fn room(offset: u64) -> usize {
    let block = BLOCK as u64;
    usize::try_from(block - offset % block).unwrap_or(BLOCK)
}

/// A record is counted where it begins.
fn probe(
    cut: &Cut,
    context: &Context,
    is_recycled: bool,
    window: &mut Window<'_>,
    budget: &mut Budget,
) -> Option<Found> {
    let room = room(window.offset());
    let there = window.peek(room);
    let there = &there[..there.len().min(room)];
    let piece = (cut.piece)(there, context).ok()?;
    let size = piece.header + piece.length;
    let is_ours = piece.part != Part::Stale && (piece.names_file || !is_recycled);
    let is_tried = !piece.is_foreign && piece.length > 0 && is_ours;
    if !is_tried || !budget.pay(size) {
        return None;
    }
    let bytes = there.get(..size)?;
    if (cut.sum)(bytes, &piece) != piece.stored {
        return None;
    }
    let is_begin = matches!(piece.part, Part::Full | Part::First);
    let body = is_begin
        .then(|| (cut.body)(&bytes[piece.header..], &piece))
        .flatten();
    let lsn = match body {
        Some(Body::Entry { lsn, .. }) => Some(lsn),
        Some(
            Body::Unplaced { .. }
            | Body::Snapshot { .. }
            | Body::Commit { .. }
            | Body::Metadata
            | Body::Chain { .. },
        )
        | None => None,
    };
    Some(Found {
        size,
        lsn,
        records: u64::from(body.is_some()),
    })
}
