//! The transaction log of `ZooKeeper`: `log.<hex zxid>`, big endian, zero bytes behind the last record.
//!
//! ```text
//! header  "ZKLG"  i32 version 2  i64 dbid
//! record  i64 adler-32 of the payload  i32 length  payload  'B'
//! payload i64 session  i32 cxid  i64 zxid  i64 time  i32 type  the transaction
//! ```

use std::io::Read;

use crate::vocab::{Lsn, LsnNotation};

use super::form::{Form, Step, walk};
use super::salvage::{Budget, FOUND_BYTES_MAX, Found, Stop};
use super::window::{RECORD_BYTES_MAX, Window, is_zero};
use super::{Body, Context, FaultKind, Frame, Layout, Scan, SegmentName, Tail, big};

const HEADER: usize = 16;
/// Checksum and length.
const PREFIX: usize = 12;
/// Session, cxid, zxid, time and type, with which every payload begins.
const FIXED: usize = 32;
const VERSION: u64 = 2;
/// The byte behind every finished record.
const END_OF_RECORD: u8 = b'B';

pub(super) const LAYOUT: Layout = Layout {
    id: "zookeeper",
    title: "ZooKeeper",
    files: "`log.<hex>`",
    explains: "`snapshot.<hex>` in the same folder or beside it, ending right before the next file",
    notation: LsnNotation::Hex,
    name: |file| {
        zxid(file, "log.").map(|lsn| SegmentName {
            lsn: Some(lsn),
            ..SegmentName::default()
        })
    },
    name_for: |lsn| Some(format!("log.{:x}", lsn.0)),
    is_leftover: |file| {
        matches!(
            file,
            "acceptedEpoch" | "currentEpoch" | "acceptedEpoch.tmp" | "currentEpoch.tmp"
        ) || zxid(file, "snapshot.").is_some()
    },
    snapshot: |file| {
        let plain = file
            .strip_suffix(".gz")
            .or_else(|| file.strip_suffix(".snappy"))
            .unwrap_or(file);
        zxid(plain, "snapshot.")
    },
    sniff: |head| head.starts_with(b"ZKLG"),
    // Any program may call its text logs log.1, log.2.
    read,
    ..Layout::PLAIN
};

fn zxid(file: &str, prefix: &str) -> Option<Lsn> {
    let digits = file.strip_prefix(prefix)?;
    let is_hex = !digits.is_empty()
        && digits
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    is_hex
        .then(|| u64::from_str_radix(digits, 16).ok())
        .flatten()
        .map(Lsn)
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
    let version = big(&head[4..8]);
    let database = big(&head[8..16]);
    if !head.starts_with(b"ZKLG") {
        scan.fault(
            FaultKind::Header,
            0,
            "the file does not begin with ZKLG".to_owned(),
        );
    } else if version != VERSION {
        scan.unknown_version(4, version, VERSION);
        return false;
    } else {
        scan.identity = (database != 0).then(|| format!("database {database:#x}"));
    }
    window.advance(HEADER);
    scan.end_offset = HEADER as u64;
    true
}

const FORM: Form = Form {
    align: 1,
    measure,
    frame,
    probe,
};

fn measure(window: &mut Window<'_>) -> Step {
    let offset = window.offset();
    let head = window.peek(PREFIX);
    if head.is_empty() {
        return Step::End;
    }
    let head = &head[..head.len().min(PREFIX)];
    // Space is added in steps of kilobytes, so a few zero bytes at the end are the front of a checksum.
    if head.len() < PREFIX {
        return Step::head_only(offset, 1, head.len());
    }
    // The server ends a file at a payload of length 0, whatever the checksum says.
    if is_zero(&head[8..]) {
        return Step::Zeros;
    }
    let length = usize::try_from(big(&head[8..])).unwrap_or(usize::MAX);
    if big(&head[..4]) != 0 || !(FIXED..=RECORD_BYTES_MAX - PREFIX - 1).contains(&length) {
        let field = big(&head[..8]);
        let detail =
            format!("a record cannot have checksum field {field:#x} and {length} bytes of payload");
        return Step::corrupt(offset, 1, detail);
    }
    let stored = big(&head[..8]);
    let size = PREFIX + length + 1;
    let bytes = window.peek(size);
    if bytes.len() < size {
        return Step::past_end(offset, 1, size, bytes.len());
    }
    let computed = u64::from(adler32(&bytes[PREFIX..size - 1]));
    match bytes[size - 1] {
        END_OF_RECORD if computed == stored => Step::Frame(size),
        END_OF_RECORD => Step::Stop(Stop {
            offset,
            skip: size,
            followed: FaultKind::Checksum,
            last: FaultKind::Checksum,
            detail: format!("stored {stored:08x} computed {computed:08x}"),
        }),
        mark => Step::Stop(Stop {
            offset,
            skip: if computed == stored { size } else { 1 },
            followed: FaultKind::Corrupt,
            last: if mark == 0 {
                FaultKind::Torn
            } else {
                FaultKind::Corrupt
            },
            detail: format!("the record's last byte is {mark:#04x} and not 'B'"),
        }),
    }
}

fn frame(offset: u64, bytes: &[u8]) -> Frame<'_> {
    let payload = &bytes[PREFIX..bytes.len() - 1];
    let lsn = lsn(payload);
    Frame {
        offset,
        size: bytes.len() as u64,
        body: Body::Entry {
            lsn,
            next: lsn.next(),
            term: None,
            sort: sort(payload),
        },
        payload: &payload[FIXED..],
    }
}

/// Covers the payload only, although the server's source says more.
fn adler32(payload: &[u8]) -> u32 {
    simd_adler32::adler32(&payload)
}

fn lsn(payload: &[u8]) -> Lsn {
    Lsn(big(&payload[12..20]))
}

fn sort(payload: &[u8]) -> &'static str {
    match big(&payload[28..32]) {
        0xffff_fff5 => "close-session",
        0xffff_fff6 => "create-session",
        0xffff_ffff => "error",
        1 => "create",
        2 => "delete",
        5 => "set-data",
        7 => "set-acl",
        13 => "check",
        14 => "multi",
        15 => "create2",
        16 => "reconfig",
        19 => "create-container",
        20 => "delete-container",
        21 => "create-ttl",
        _ => "other",
    }
}

fn probe(window: &mut Window<'_>, budget: &mut Budget) -> Option<Found> {
    let head = window.peek(PREFIX).get(..PREFIX)?;
    let stored = big(&head[..8]);
    let length = usize::try_from(big(&head[8..])).ok()?;
    if stored >> 32 != 0 || stored == 0 || !(FIXED..=FOUND_BYTES_MAX).contains(&length) {
        return None;
    }
    let size = PREFIX + length + 1;
    if !budget.pay(length) {
        return None;
    }
    let bytes = window.peek(size).get(..size)?;
    if bytes[size - 1] != END_OF_RECORD {
        return None;
    }
    let payload = &bytes[PREFIX..size - 1];
    (u64::from(adler32(payload)) == stored).then(|| Found {
        size,
        lsn: Some(lsn(payload)),
        records: 1,
    })
}
