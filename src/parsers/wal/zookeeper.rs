//! The transaction log of `ZooKeeper`: `log.<hex zxid>`, big endian, zero bytes behind the last record.
//!
//! ```text
//! header  "ZKLG"  i32 version 2  i64 dbid
//! record  i64 adler-32 of the payload  i32 length  payload  'B'
//! payload i64 session  i32 cxid  i64 zxid  i64 time  i32 type  the transaction
//! ```

use std::io::Read;

use crate::vocab::{Lsn, LsnNotation};

use super::salvage::{self, Budget, Found, Search, Stop};
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
    is_name_enough: false,
    read,
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
        records(&mut window, context, &mut scan, sink);
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
        scan.tail = Tail::Bad;
        scan.fault(
            FaultKind::Header,
            4,
            format!(
                "version {version}, and only version {VERSION} is known: nothing of it was read"
            ),
        );
        return false;
    } else {
        scan.identity = (database != 0).then(|| format!("database {database:#x}"));
    }
    window.advance(HEADER);
    scan.end_offset = HEADER as u64;
    true
}

fn records(
    window: &mut Window<'_>,
    context: &Context,
    scan: &mut Scan,
    sink: &mut dyn FnMut(&Frame<'_>),
) {
    let mut last = context.name.lsn.map(Lsn::before);
    loop {
        let offset = window.offset();
        let mut probe = probe;
        match record(window) {
            Step::Frame(size) => {
                let bytes = &window.peek(size)[..size];
                let lsn = lsn(&bytes[PREFIX..]);
                let body = Body::Entry {
                    lsn,
                    next: lsn.next(),
                    term: None,
                    sort: sort(&bytes[PREFIX..]),
                };
                let frame = Frame {
                    offset,
                    size: size as u64,
                    body,
                    payload: &bytes[PREFIX + FIXED..size - 1],
                };
                last = Some(lsn);
                sink(&frame);
                scan.count(&frame);
                window.advance(size);
            }
            Step::End => return,
            Step::Zeros => {
                salvage::end_mark(
                    window,
                    scan,
                    Some(Search {
                        align: 1,
                        after: last,
                        probe: &mut probe,
                    }),
                );
                return;
            }
            Step::Stop(stop) => {
                salvage::stop(
                    window,
                    scan,
                    stop,
                    Search {
                        align: 1,
                        after: last,
                        probe: &mut probe,
                    },
                );
                return;
            }
        }
    }
}

enum Step {
    Frame(usize),
    End,
    Zeros,
    Stop(Stop),
}

fn record(window: &mut Window<'_>) -> Step {
    let offset = window.offset();
    let head = window.peek(PREFIX);
    if head.is_empty() {
        return Step::End;
    }
    let head = &head[..head.len().min(PREFIX)];
    // The server ends a file at a payload of length 0, whatever the checksum says.
    if is_zero(head.get(8..).unwrap_or(head)) && (head.len() == PREFIX || is_zero(head)) {
        return Step::Zeros;
    }
    let stop = |skip, followed, last, detail| {
        Step::Stop(Stop {
            offset,
            skip,
            followed,
            last,
            detail,
        })
    };
    if head.len() < PREFIX {
        return stop(
            1,
            FaultKind::Corrupt,
            FaultKind::Torn,
            format!("only {} bytes of a record are there", head.len()),
        );
    }
    let length = usize::try_from(big(&head[8..])).unwrap_or(usize::MAX);
    if big(&head[..4]) != 0 || !(FIXED..=RECORD_BYTES_MAX - PREFIX - 1).contains(&length) {
        let detail = format!(
            "a record cannot have checksum field {:#x} and {length} bytes of payload",
            big(&head[..8])
        );
        return stop(1, FaultKind::Corrupt, FaultKind::Corrupt, detail);
    }
    let stored = big(&head[..8]);
    let size = PREFIX + length + 1;
    let bytes = window.peek(size);
    if bytes.len() < size {
        let detail = format!(
            "a record of {size} bytes runs past the end of the file, {} bytes are there",
            bytes.len()
        );
        return stop(1, FaultKind::Corrupt, FaultKind::Torn, detail);
    }
    let computed = adler32(&bytes[PREFIX..size - 1]);
    let mark = bytes[size - 1];
    let is_end_written = mark == END_OF_RECORD;
    if u64::from(computed) == stored && is_end_written {
        return Step::Frame(size);
    }
    if !is_end_written {
        let last = if mark == 0 {
            FaultKind::Torn
        } else {
            FaultKind::Corrupt
        };
        let detail = format!("the record's last byte is {mark:#04x} and not 'B'");
        return stop(
            if u64::from(computed) == stored {
                size
            } else {
                1
            },
            FaultKind::Corrupt,
            last,
            detail,
        );
    }
    stop(
        size,
        FaultKind::Checksum,
        FaultKind::Checksum,
        format!("stored {stored:08x} computed {computed:08x}"),
    )
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
    if stored >> 32 != 0 || stored == 0 || !(FIXED..=RECORD_BYTES_MAX / 4).contains(&length) {
        return None;
    }
    let size = PREFIX + length + 1;
    let bytes = window.peek(size).get(..size)?;
    if bytes[size - 1] != END_OF_RECORD || !budget.pay(length) {
        return None;
    }
    let payload = &bytes[PREFIX..size - 1];
    (u64::from(adler32(payload)) == stored).then(|| Found {
        size,
        lsn: Some(lsn(payload)),
    })
}
