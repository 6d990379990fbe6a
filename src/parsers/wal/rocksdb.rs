//! The write-ahead log of `RocksDB`: `<number>.log`, little endian; that of `LevelDB` is the same without recycled files.
//!
//! ```text
//! fragment  u32 masked crc32c  u16 length  u8 part  of recycled files: u32 file number  content
//! batch     u64 sequence number  u32 count  the operations
//! ```

use std::io::Read;

use crate::vocab::Lsn;

use super::fragments::{BLOCK, Cut, HEADER, Part, Piece, walk};
use super::window::Window;
use super::{Body, Context, FaultKind, Frame, Layout, Scan, SegmentName, little, low32};

/// A header that also names the file it was written to.
const LONG_HEADER: usize = HEADER + 4;
/// Sequence number and count, with which every batch begins.
const FIXED: usize = 12;
/// The first part of those with a long header.
const RECYCLABLE: u8 = 5;
/// What is written in front of compressed content.
const COMPRESSION: u8 = 9;
/// Types above can be passed over by a reader that does not know them.
const IGNORABLE: u8 = 10;

pub(super) const LAYOUT: Layout = Layout {
    id: "rocksdb",
    title: "RocksDB",
    files: "`<6 digits or more>.log`",
    name,
    numbered: |number, _| Some(format!("{number:06}.log")),
    // What is no longer needed is kept in a folder of its own.
    log: |folder| {
        let last = folder.file_name()?.to_string_lossy().into_owned();
        (last == "archive").then_some((1, last))
    },
    is_leftover: |file| {
        matches!(file, "CURRENT" | "IDENTITY")
            || file.starts_with("MANIFEST-")
            || file.starts_with("OPTIONS-")
    },
    // Each database counts for itself.
    is_replicated: false,
    sniff,
    read,
    ..Layout::PLAIN
};

fn name(file: &str) -> Option<SegmentName> {
    let digits = file.strip_suffix(".log")?;
    let is_number =
        (6..=19).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    let seq = is_number.then(|| digits.parse().ok())??;
    Some(SegmentName {
        seq: Some(seq),
        ..SegmentName::default()
    })
}

/// Begins with a verified fragment; one that goes on behind these bytes has at least a header that can be one.
fn sniff(head: &[u8]) -> bool {
    let Some(piece) = piece(head, &Context::default()) else {
        return false;
    };
    let size = piece.header + piece.length;
    let can_begin = match piece.part {
        Part::Full => size <= BLOCK && piece.length >= FIXED,
        Part::First => size == BLOCK,
        Part::Middle | Part::Last | Part::Stale => false,
    };
    can_begin
        && head
            .get(..size)
            .is_none_or(|bytes| sum(bytes, &piece) == piece.stored)
}

const CUT: Cut = Cut {
    piece,
    sum,
    body,
    is_padded: false,
};

fn read(reader: &mut dyn Read, context: &Context, sink: &mut dyn FnMut(&Frame<'_>)) -> Scan {
    let mut window = Window::new(reader);
    let mut scan = Scan::new();
    let head = window.peek(HEADER);
    if head.is_empty() {
        scan.fault(FaultKind::Empty, 0, "0 bytes".to_owned());
    } else if head.get(6) == Some(&COMPRESSION) {
        let detail = "its records are compressed, and that is not read".to_owned();
        scan.fault(FaultKind::Unreadable, 0, detail);
    } else {
        walk(&CUT, &mut window, context, &mut scan, sink);
    }
    super::close(&mut scan, &window);
    scan
}

fn piece(there: &[u8], context: &Context) -> Option<Piece> {
    let short = there.get(..HEADER)?;
    let sort = short[6];
    let (part, header) = match sort {
        1 | RECYCLABLE => (Part::Full, sort),
        2 | 6 => (Part::First, sort),
        3 | 7 => (Part::Middle, sort),
        4 | 8 => (Part::Last, sort),
        IGNORABLE.. => (Part::Full, 0),
        _ => return None,
    };
    let header = if (RECYCLABLE..COMPRESSION).contains(&header) {
        LONG_HEADER
    } else {
        HEADER
    };
    let bytes = there.get(..header)?;
    let length = usize::try_from(little(&short[4..6])).unwrap_or(usize::MAX);
    // Only the low half of the number is written. A file is used again under a new number, and what is left over names the old one.
    let is_stale = header == LONG_HEADER
        && context
            .name
            .seq
            .is_some_and(|seq| low32(seq) != low32(little(&bytes[HEADER..])));
    Some(Piece {
        part: if is_stale { Part::Stale } else { part },
        header,
        length,
        stored: low32(little(&short[..4])),
        flags: sort,
        is_foreign: sort >= IGNORABLE,
    })
}

fn sum(bytes: &[u8], _: &Piece) -> u32 {
    crc32c::crc32c(&bytes[6..])
        .rotate_right(15)
        .wrapping_add(0xa282_ead8)
}

fn body(payload: &[u8], piece: &Piece) -> Option<Body> {
    if piece.flags >= IGNORABLE {
        return Some(Body::Metadata);
    }
    let head = payload.get(..FIXED)?;
    let (sequence, count) = (little(&head[..8]), little(&head[8..]));
    if count == 0 {
        return Some(Body::Unplaced {
            sort: "empty batch",
        });
    }
    Some(Body::Entry {
        lsn: Lsn(sequence),
        next: Lsn(sequence.saturating_add(count)),
        term: None,
        sort: "batch",
    })
}
