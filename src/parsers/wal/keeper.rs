//! `ClickHouse` Keeper's changelog: `changelog_<from>_<to>.bin` or `.bin.zstd`, little endian, no file header.
//!
//! ```text
//! u64 SipHash-2-4  u8 version  u64 index  u64 term  i32 type  u64 size  blob
//! ```
//! The hash covers everything behind it. A compressed file holds several zstd frames, and the last one may be open for ever.

use std::io::{self, Read};

use siphasher::sip::SipHasher24;

use crate::vocab::{Lsn, LsnNotation, Term};

use super::form::{Form, Step, walk};
use super::salvage::{Budget, FOUND_BYTES_MAX, Found, Stop, ZEROS_MIN};
use super::trace::Trace;
use super::window::{RECORD_BYTES_MAX, Window, is_zero};
use super::{Body, Context, FaultKind, Frame, Layout, Scan, SegmentName, Tail, little};

/// Everything before the blob.
const HEAD: usize = 37;
/// The highest version that current servers read; they still write 1.
const VERSION_MAX: u8 = 2;

pub(super) const LAYOUT: Layout = Layout {
    id: "clickhouse-keeper",
    title: "ClickHouse Keeper",
    files: "`changelog_<from>_<to>.bin`, `.bin.zstd`",
    explains: "`snapshot_<index>.bin`, `.bin.zstd` beside it, reaching past the hole",
    notation: LsnNotation::Decimal,
    name,
    name_for: |_| None,
    is_leftover: |file| file.starts_with("tmp_"),
    snapshot: |file| {
        let stem = file.strip_prefix("snapshot_")?;
        let stem = stem
            .strip_suffix(".bin.zstd")
            .or_else(|| stem.strip_suffix(".bin"))?;
        decimal(stem).map(Lsn)
    },
    sniff: |head| head.len() >= 8,
    is_name_enough: true,
    read,
    ..Layout::PLAIN
};

fn name(file: &str) -> Option<SegmentName> {
    let stem = file.strip_prefix("changelog_")?;
    let (stem, is_compressed) = match stem.strip_suffix(".bin.zstd") {
        Some(stem) => (stem, true),
        None => (stem.strip_suffix(".bin")?, false),
    };
    let (from, to) = stem.split_once('_')?;
    Some(SegmentName {
        lsn: Some(Lsn(decimal(from)?)),
        last: Some(Lsn(decimal(to)?)),
        is_compressed,
        ..SegmentName::default()
    })
}

fn decimal(digits: &str) -> Option<u64> {
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().ok()).flatten()
}

fn read(reader: &mut dyn Read, context: &Context, sink: &mut dyn FnMut(&Frame<'_>)) -> Scan {
    if !context.name.is_compressed {
        return plain(reader, context, sink);
    }
    match zstd::stream::read::Decoder::new(Trace::new(reader)) {
        Ok(mut decoder) => {
            let mut scan = plain(&mut decoder, context, sink);
            reopen(&mut scan, context, decoder.get_ref().get_ref().is_cut());
            scan
        }
        Err(error) => {
            let mut scan = Scan::new();
            scan.fault(FaultKind::Unreadable, 0, error.to_string());
            scan
        }
    }
}

fn plain(reader: &mut dyn Read, context: &Context, sink: &mut dyn FnMut(&Frame<'_>)) -> Scan {
    let mut window = Window::new(reader);
    let mut scan = Scan::new();
    if window.peek(1).is_empty() && window.failure().is_none() {
        scan.fault(FaultKind::Empty, 0, "0 bytes".to_owned());
    } else {
        records(&mut window, context, &mut scan, sink);
    }
    if let Some(error) = window.failure() {
        let is_open = context.name.is_compressed && error.kind() == io::ErrorKind::UnexpectedEof;
        if is_open && scan.faults.is_empty() {
            scan.tail = Tail::OpenStream;
        } else if !is_open {
            // The decoder's own errors come without a kind: the file was read, its content is not what the name promises.
            let kind = if context.name.is_compressed && error.raw_os_error().is_none() {
                FaultKind::Corrupt
            } else {
                FaultKind::Unreadable
            };
            scan.faults.clear();
            scan.tail = Tail::Bad;
            scan.fault(kind, scan.end_offset, error.to_string());
        }
    }
    scan
}

/// Tells a compressed file that was left open from one that was cut inside a block.
fn reopen(scan: &mut Scan, context: &Context, is_cut: bool) {
    if is_cut
        && scan
            .faults
            .iter()
            .all(|fault| fault.kind == FaultKind::Empty)
    {
        scan.faults.clear();
        scan.tail = Tail::Torn;
        let detail = format!(
            "the compressed stream ends inside a block, {} bytes of the file",
            context.size
        );
        scan.fault(FaultKind::Torn, scan.end_offset, detail);
    }
}

/// Walks the records; unlike elsewhere, zero bytes behind the last one are wrong.
fn records(
    window: &mut Window<'_>,
    context: &Context,
    scan: &mut Scan,
    sink: &mut dyn FnMut(&Frame<'_>),
) {
    let Some(offset) = walk(&FORM, window, context, scan, sink) else {
        return;
    };
    let kind = if scan.behind.is_some() {
        FaultKind::Corrupt
    } else {
        FaultKind::ZeroRun
    };
    let detail = "zero bytes, which this system never leaves behind a record";
    scan.fault(kind, offset, detail.to_owned());
}

const FORM: Form = Form {
    align: 1,
    measure,
    frame,
    probe,
};

fn measure(window: &mut Window<'_>) -> Step {
    let offset = window.offset();
    let head = window.peek(HEAD);
    if head.is_empty() {
        return Step::End;
    }
    let head = &head[..head.len().min(HEAD)];
    if is_zero(head) {
        return Step::Zeros;
    }
    if head.len() < HEAD {
        return Step::head_only(offset, 1, head.len());
    }
    let blob = usize::try_from(little(&head[29..37])).unwrap_or(usize::MAX);
    if head[8] > VERSION_MAX {
        let version = head[8];
        let detail =
            format!("a record of version {version}, and versions up to {VERSION_MAX} are known");
        return Step::corrupt(offset, 1, detail);
    }
    if blob > RECORD_BYTES_MAX - HEAD {
        return Step::corrupt(
            offset,
            1,
            format!("a record cannot have a blob of {blob} bytes"),
        );
    }
    let size = HEAD + blob;
    let bytes = window.peek(size);
    if bytes.len() < size {
        return Step::past_end(offset, 1, size, bytes.len());
    }
    let bytes = &bytes[..size];
    let stored = little(&bytes[..8]);
    let computed = SipHasher24::new().hash(&bytes[8..]);
    if stored == computed {
        return Step::Frame(size);
    }
    let detail = format!("stored {stored:016x} computed {computed:016x}");
    Step::Stop(Stop::checksum(offset, size, bytes, ZEROS_MIN, detail))
}

fn frame(offset: u64, bytes: &[u8]) -> Frame<'_> {
    let lsn = Lsn(little(&bytes[9..17]));
    let term = Some(Term(little(&bytes[17..25])));
    Frame {
        offset,
        size: bytes.len() as u64,
        body: Body::Entry {
            lsn,
            next: lsn.next(),
            term,
            sort: sort(&bytes[25..29]),
        },
        payload: &bytes[HEAD..],
    }
}

fn sort(bytes: &[u8]) -> &'static str {
    match little(bytes) {
        1 => "app-log",
        2 => "config",
        3 => "cluster-server",
        4 => "log-pack",
        5 => "snapshot-sync",
        231 => "custom",
        _ => "unknown",
    }
}

fn probe(window: &mut Window<'_>, budget: &mut Budget) -> Option<Found> {
    let head = window.peek(HEAD).get(..HEAD)?;
    let blob = usize::try_from(little(&head[29..37])).ok()?;
    if !(1..=VERSION_MAX).contains(&head[8]) || blob > FOUND_BYTES_MAX || !budget.pay(blob) {
        return None;
    }
    let size = HEAD + blob;
    let bytes = window.peek(size).get(..size)?;
    (little(&bytes[..8]) == SipHasher24::new().hash(&bytes[8..])).then(|| Found {
        size,
        lsn: Some(Lsn(little(&bytes[9..17]))),
        records: 1,
    })
}
