//! The write-ahead log of `RocksDB`: `<number>.log`, little endian; that of `LevelDB` is the same without recycled files.
//!
//! ```text
//! fragment  u32 masked crc32c  u16 length  u8 part  of recycled files: u32 file number  content
//! part      1 to 4 whole, first, middle, last; 5 to 8 the same in recycled files; 9 the compression; from 10 on about the log,
//!           the odd ones in recycled files, and from 128 on to be passed over by those who do not know them
//! batch     u64 sequence number  u32 count  the operations
//! ```

use std::io::Read;

use crate::vocab::Lsn;

use super::fragments::{Cut, HEADER, Misfit, Part, Piece, walk};
use super::window::Window;
use super::{Body, Context, FaultKind, Frame, Layout, Scan, SegmentName, little, low32};

/// A header that also names the file it was written to.
const LONG_HEADER: usize = HEADER + 4;
/// Sequence number and count, with which every batch begins.
const FIXED: usize = 12;
/// The first of the parts of records with a long header.
const RECYCLABLE: u8 = 5;
/// What is written in front of compressed content.
const COMPRESSION: u8 = 9;
/// How long the timestamps of column families are, and the same in recycled files.
const TIMESTAMPS: u8 = 10;
const RECYCLABLE_TIMESTAMPS: u8 = 11;
/// From here on types can be passed over by a reader that does not know them.
const IGNORABLE: u8 = 128;

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
    sniff: |head| CUT.begins(head, FIXED),
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

fn piece(there: &[u8], context: &Context) -> Result<Piece, Misfit> {
    let short = there.get(..HEADER).ok_or(Misfit::Short)?;
    let sort = short[6];
    let (part, is_foreign) = match sort {
        1 | RECYCLABLE => (Part::Full, false),
        2 | 6 => (Part::First, false),
        3 | 7 => (Part::Middle, false),
        4 | 8 => (Part::Last, false),
        TIMESTAMPS | RECYCLABLE_TIMESTAMPS | IGNORABLE.. => (Part::Full, true),
        _ => return Err(Misfit::Wrong),
    };
    let is_long = if is_foreign {
        sort % 2 == 1
    } else {
        sort >= RECYCLABLE
    };
    let header = if is_long { LONG_HEADER } else { HEADER };
    let bytes = there.get(..header).ok_or(Misfit::Short)?;
    let length = usize::try_from(little(&short[4..6])).unwrap_or(usize::MAX);
    // Only the low half of the number is written. A file is used again under a new number, and what is left over names the old one.
    let is_stale = is_long
        && context
            .name
            .seq
            .is_some_and(|seq| low32(seq) != low32(little(&bytes[HEADER..])));
    Ok(Piece {
        part: if is_stale { Part::Stale } else { part },
        header,
        length,
        stored: low32(little(&short[..4])),
        flags: sort,
        is_foreign,
        names_file: is_long,
    })
}

fn sum(bytes: &[u8], _: &Piece) -> u32 {
    crc32c::crc32c(&bytes[6..])
        .rotate_right(15)
        .wrapping_add(0xa282_ead8)
}

fn body(payload: &[u8], piece: &Piece) -> Option<Body> {
    if piece.is_foreign {
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
