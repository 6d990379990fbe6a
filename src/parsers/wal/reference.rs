//! The reference engine's own segments: `seg-<16 hex digits of the first LSN>.wal`, little endian. `docs/wal-format.md` defines them.
//!
//! ```text
//! header  "CDWALSEG"  u32 version  u32 crc32c  u64 first LSN  u64 log id
//! record  u32 length  u32 crc32c   u64 LSN     u64 term       payload     zeros up to a multiple of 8
//! ```

use std::io::Read;

use crate::vocab::{Lsn, LsnNotation, Term};

use super::form::{Form, Step, walk};
use super::salvage::{Budget, FOUND_BYTES_MAX, Found, Stop, ZEROS_MIN};
use super::window::{RECORD_BYTES_MAX, Window, is_zero};
use super::{Body, Context, FaultKind, Frame, Layout, Scan, SegmentName, Tail, little, low32};

/// The first bytes of every segment.
const MAGIC: &[u8; 8] = b"CDWALSEG";
/// The only version there is.
const VERSION: u64 = 1;
const HEADER: usize = 32;
/// The length field, which does not count itself.
const LENGTH: usize = 4;
/// Checksum, LSN and term, which the length counts.
const FIXED: usize = 20;
/// Where the checksummed part behind the checksum begins.
const COVERED: usize = 8;
const ALIGN: usize = 8;

pub(super) const LAYOUT: Layout = Layout {
    id: "reference",
    title: "reference engine",
    files: "`seg-<16 hex>.wal`",
    explains: "none",
    notation: LsnNotation::Decimal,
    name,
    name_for: |lsn| Some(format!("seg-{:016x}.wal", lsn.0)),
    sniff: |head| head.starts_with(MAGIC),
    read,
    ..Layout::PLAIN
};

fn name(file: &str) -> Option<SegmentName> {
    let digits = file.strip_prefix("seg-")?.strip_suffix(".wal")?;
    let is_hex = digits.len() == 16
        && digits
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let lsn = is_hex.then(|| u64::from_str_radix(digits, 16).ok())??;
    Some(SegmentName {
        lsn: Some(Lsn(lsn)),
        ..SegmentName::default()
    })
}

fn read(reader: &mut dyn Read, context: &Context, sink: &mut dyn FnMut(&Frame<'_>)) -> Scan {
    let mut window = Window::new(reader);
    let mut scan = Scan::new();
    if header(&mut window, &mut scan) {
        walk(&FORM, &mut window, context, &mut scan, sink);
    }
    super::close(&mut scan, &window);
    scan
}

/// Reads the header; says whether records can be looked for behind it.
fn header(window: &mut Window<'_>, scan: &mut Scan) -> bool {
    if super::is_blank(window, HEADER, scan) {
        return false;
    }
    let head = window.peek(HEADER);
    if head.len() < HEADER {
        let detail = format!("the header ends after {} of {HEADER} bytes", head.len());
        scan.tail = Tail::Torn;
        scan.fault(FaultKind::HeaderTorn, 0, detail);
        return false;
    }
    let version = little(&head[8..12]);
    let stored = low32(little(&head[12..16]));
    let computed = crc32c::crc32c_append(crc32c::crc32c(&head[..12]), &head[16..HEADER]);
    let is_magic = head.starts_with(MAGIC);
    let first = Lsn(little(&head[16..24]));
    let log = little(&head[24..32]);
    if !is_magic {
        scan.fault(
            FaultKind::Header,
            0,
            "the file does not begin with the layout's magic".to_owned(),
        );
    } else if version != VERSION {
        scan.unknown_version(8, version, VERSION);
        return false;
    } else if stored == computed {
        scan.header_lsn = Some(first);
        scan.identity = (log != 0).then(|| format!("log id {log:#018x}"));
    } else {
        scan.fault(
            FaultKind::Header,
            12,
            format!("header checksum is {stored:08x}, its bytes give {computed:08x}"),
        );
    }
    window.advance(HEADER);
    scan.end_offset = HEADER as u64;
    true
}

const FORM: Form = Form {
    align: ALIGN,
    measure,
    frame,
    probe,
};

fn measure(window: &mut Window<'_>) -> Step {
    let offset = window.offset();
    let head = window.peek(LENGTH + FIXED);
    if head.is_empty() {
        return Step::End;
    }
    // The low byte of a length can be zero, so less than a length field is no end mark.
    if head.len() >= LENGTH && is_zero(&head[..LENGTH]) {
        return Step::Zeros;
    }
    if head.len() < LENGTH + FIXED {
        return Step::head_only(offset, ALIGN, head.len());
    }
    let length = usize::try_from(little(&head[..4])).unwrap_or(usize::MAX);
    if !(FIXED..=RECORD_BYTES_MAX - ALIGN).contains(&length) {
        let detail = format!("a record cannot be {length} bytes long");
        return Step::corrupt(offset, ALIGN, detail);
    }
    let size = LENGTH + length;
    let padded = size.next_multiple_of(ALIGN);
    let bytes = window.peek(padded);
    if bytes.len() < padded {
        return Step::past_end(offset, ALIGN, size, bytes.len());
    }
    let stored = low32(little(&bytes[4..8]));
    let computed = checksum(&bytes[..size]);
    if stored == computed && is_zero(&bytes[size..padded]) {
        return Step::Frame(padded);
    }
    if stored == computed {
        let detail = "the padding behind a record is not zero".to_owned();
        return Step::corrupt(offset, padded, detail);
    }
    let detail = format!("stored {stored:08x} computed {computed:08x}");
    let record = &bytes[..size];
    Step::Stop(Stop::checksum(offset, padded, record, ZEROS_MIN, detail))
}

fn frame(offset: u64, bytes: &[u8]) -> Frame<'_> {
    let length = usize::try_from(little(&bytes[..4])).unwrap_or(usize::MAX);
    let lsn = Lsn(little(&bytes[8..16]));
    let term = Some(Term(little(&bytes[16..24])));
    Frame {
        offset,
        size: bytes.len() as u64,
        body: Body::Entry {
            lsn,
            next: lsn.next(),
            term,
            sort: "record",
        },
        payload: &bytes[LENGTH + FIXED..LENGTH + length],
    }
}

/// Covers the length, the LSN, the term and the payload.
fn checksum(record: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&record[..4]), &record[COVERED..])
}

fn probe(window: &mut Window<'_>, budget: &mut Budget) -> Option<Found> {
    let length = usize::try_from(little(window.peek(4).get(..4)?)).ok()?;
    if !(FIXED..=FOUND_BYTES_MAX).contains(&length) || !budget.pay(length) {
        return None;
    }
    let padded = (LENGTH + length).next_multiple_of(ALIGN);
    let bytes = window.peek(padded).get(..padded)?;
    let is_good = low32(little(&bytes[4..8])) == checksum(&bytes[..LENGTH + length]);
    is_good.then(|| Found {
        size: padded,
        lsn: Some(Lsn(little(&bytes[8..16]))),
        records: 1,
    })
}
