//! Records cut into fragments that fit blocks of 32 KiB: the walk that `RocksDB` and Prometheus share.
//!
//! A record is one whole fragment, or a first one, any number of middle ones and a last one. Where a block has no room for another
//! fragment, zero bytes fill it.

use super::salvage::{self, Budget, Found, Search, Stop, has_unwritten_sector};
use super::window::{RECORD_BYTES_MAX, Window, is_zero};
use super::{Body, Context, FaultKind, Frame, Scan, Tail};

/// Bytes of a block.
pub(super) const BLOCK: usize = 32 * 1024;
/// Type, length and checksum of a fragment.
pub(super) const HEADER: usize = 7;

/// How the fragments of a layout are told apart.
pub(super) struct Cut {
    /// What the header in front says, the header of the next fragment in the block; nothing if it cannot be one.
    pub(super) piece: fn(&[u8], &Context) -> Option<Piece>,
    /// The checksum over a fragment, its header in front.
    pub(super) sum: fn(&[u8], &Piece) -> u32,
    /// What a record is; nothing if it cannot be one.
    pub(super) body: fn(&[u8], &Piece) -> Option<Body>,
    /// Whether zero bytes up to the end of a block belong to the record in front of them.
    pub(super) is_padded: bool,
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
    Stale,
    Stop(Stop),
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
    };
    let end = loop {
        if let Some(end) = walk.step(window, scan, sink) {
            break end;
        }
    };
    match end {
        End::File => {
            if let Some(begun) = walk.begun {
                let stop = Stop {
                    offset: begun.offset,
                    skip: 0,
                    followed: FaultKind::Torn,
                    last: FaultKind::Torn,
                    detail: "the file ends before the last fragment of a record".to_owned(),
                };
                salvage::stop(window, scan, stop, search(&mut |_, _| None));
            } else if walk.zeros > 0 {
                scan.tail = Tail::Zeros(walk.zeros);
            }
        }
        End::Stale => scan.tail = Tail::Stale,
        End::Stop(stop) => {
            let mut probe =
                |window: &mut Window<'_>, budget: &mut Budget| probe(cut, context, window, budget);
            salvage::stop(window, scan, stop, search(&mut probe));
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
}

impl Walk<'_> {
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
        let Some(piece) = (self.cut.piece)(there, self.context) else {
            let is_cut = there.len() < HEADER.min(room);
            return Some(End::Stop(Stop {
                offset,
                skip: 1,
                followed: FaultKind::Corrupt,
                last: if is_cut {
                    FaultKind::Torn
                } else {
                    FaultKind::Corrupt
                },
                detail: if is_cut {
                    format!("only {} bytes of a fragment are there", there.len())
                } else {
                    "the header of a fragment cannot be one".to_owned()
                },
            }));
        };
        if piece.part == Part::Stale {
            return Some(End::Stale);
        }
        let size = piece.header + piece.length;
        let Some(bytes) = there.get(..size) else {
            return Some(End::Stop(self.cut_short(offset, size, there.len(), room)));
        };
        let computed = (self.cut.sum)(bytes, &piece);
        if computed != piece.stored {
            let is_torn = has_unwritten_sector(bytes, offset, 512);
            return Some(End::Stop(Stop {
                offset,
                skip: 1,
                followed: FaultKind::Checksum,
                last: if is_torn {
                    FaultKind::Torn
                } else {
                    FaultKind::Checksum
                },
                detail: format!("stored {:08x} computed {computed:08x}", piece.stored),
            }));
        }
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
            return Some(End::Stop(Stop {
                offset,
                skip: zeros,
                followed: FaultKind::Corrupt,
                last: FaultKind::Corrupt,
                detail: format!(
                    "after {zeros} zero bytes, which fill a block, other bytes stand from offset {} on",
                    offset + zeros as u64
                ),
            }));
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
        // A fragment never reaches into the next block, so one that would is wrong and not cut off.
        let is_cut = size <= room;
        Stop {
            offset: self.begun.as_ref().map_or(offset, |begun| begun.offset),
            skip: 1,
            followed: FaultKind::Corrupt,
            last: if is_cut {
                FaultKind::Torn
            } else {
                FaultKind::Corrupt
            },
            detail: if is_cut {
                format!(
                    "a fragment of {size} bytes runs past the end of the file, {there} bytes are there"
                )
            } else {
                format!("a fragment of {size} bytes, and its block has room for {room}")
            },
        }
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
            Some(Stop {
                offset,
                skip: piece.header,
                followed: FaultKind::Corrupt,
                last: FaultKind::Corrupt,
                detail: detail.to_owned(),
            })
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
    window: &mut Window<'_>,
    budget: &mut Budget,
) -> Option<Found> {
    let room = room(window.offset());
    let there = window.peek(room);
    let there = &there[..there.len().min(room)];
    let piece = (cut.piece)(there, context)?;
    let size = piece.header + piece.length;
    let is_tried = !piece.is_foreign && piece.length > 0 && piece.part != Part::Stale;
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
