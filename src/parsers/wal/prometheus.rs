//! The write-ahead log of Prometheus: `<8 digits>`, big endian, records without positions.
//!
//! ```text
//! fragment  u8 part, with flags of the compression  u16 length  u32 crc32c of the content  content
//! record    u8 type  the rest
//! ```

use std::io::Read;

use super::fragments::{Cut, HEADER, Misfit, Part, Piece, walk};
use super::window::Window;
use super::{Body, Context, FaultKind, Frame, Layout, Scan, SegmentName, big, low32};

/// The content is compressed with snappy.
const SNAPPY: u8 = 1 << 3;
/// The content is compressed with zstd.
const ZSTD: u8 = 1 << 4;

pub(super) const LAYOUT: Layout = Layout {
    id: "prometheus",
    title: "Prometheus",
    files: "`<8 digits>`",
    explains: "the records have no positions; only the numbers of the files count",
    name,
    numbered: |number, _| Some(format!("{number:08}")),
    log: |folder| {
        let last = folder.file_name()?.to_string_lossy().into_owned();
        last.starts_with("checkpoint.").then_some((1, last))
    },
    sniff: |head| CUT.begins(head, 0),
    read,
    ..Layout::PLAIN
};

fn name(file: &str) -> Option<SegmentName> {
    let is_number = file.len() == 8 && file.bytes().all(|byte| byte.is_ascii_digit());
    Some(SegmentName {
        seq: is_number.then(|| file.parse().ok()).flatten(),
        ..SegmentName::default()
    })
    .filter(|name| name.seq.is_some())
}

const CUT: Cut = Cut {
    piece,
    sum,
    body,
    is_padded: true,
};

fn read(reader: &mut dyn Read, context: &Context, sink: &mut dyn FnMut(&Frame<'_>)) -> Scan {
    let mut window = Window::new(reader);
    let mut scan = Scan::new();
    if window.peek(1).is_empty() {
        scan.fault(FaultKind::Empty, 0, "0 bytes".to_owned());
    } else {
        walk(&CUT, &mut window, context, &mut scan, sink);
    }
    super::close(&mut scan, &window);
    scan
}

fn piece(there: &[u8], _: &Context) -> Result<Piece, Misfit> {
    let header = there.get(..HEADER).ok_or(Misfit::Short)?;
    let part = match header[0] & 0b111 {
        1 => Part::Full,
        2 => Part::First,
        3 => Part::Middle,
        4 => Part::Last,
        _ => return Err(Misfit::Wrong),
    };
    let flags = header[0] & !0b111;
    let is_known = matches!(flags, 0 | SNAPPY | ZSTD);
    let piece = Piece {
        part,
        header: HEADER,
        length: usize::try_from(big(&header[1..3])).unwrap_or(usize::MAX),
        stored: low32(big(&header[3..7])),
        flags,
        is_foreign: false,
        names_file: false,
    };
    is_known.then_some(piece).ok_or(Misfit::Wrong)
}

fn sum(bytes: &[u8], piece: &Piece) -> u32 {
    crc32c::crc32c(&bytes[piece.header..])
}

fn body(payload: &[u8], piece: &Piece) -> Option<Body> {
    let sort = match piece.flags {
        SNAPPY => "snappy",
        ZSTD => "zstd",
        _ => match payload.first()? {
            1 => "series",
            2 => "samples",
            3 => "tombstones",
            4 => "exemplars",
            5 => "mmap-markers",
            6 => "metadata",
            7 => "histograms",
            8 => "float-histograms",
            _ => "other",
        },
    };
    Some(Body::Unplaced { sort })
}
