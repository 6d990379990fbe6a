//! The log of a Kafka partition: `<first offset, 20 digits>.log`, big endian, batches of records.
//!
//! ```text
//! batch  i64 first offset  i32 length behind it  i32 leader epoch  i8 magic 2  u32 crc32c of all that follows
//!        i16 attributes  i32 last offset, from the first  i64 first time  i64 last time  i64 producer  i16 its epoch
//!        i32 its sequence  i32 records  the records
//! ```
//!
//! First offset and leader epoch are outside the checksum: a broker fills them in.

use std::io::Read;

use crate::vocab::{Lsn, LsnNotation, Term};

use super::form::{Form, Step, walk};
use super::salvage::{Budget, FOUND_BYTES_MAX, Found, SECTOR, Stop};
use super::window::{RECORD_BYTES_MAX, Window, is_zero};
use super::{Body, Context, FaultKind, Frame, Layout, Scan, SegmentName, big, low32};

/// First offset and length.
const PREFIX: usize = 12;
/// Everything before the records.
const HEADER: usize = 61;
/// Where the checksummed part begins.
const COVERED: usize = 21;
const MAGIC: u8 = 2;

pub(super) const LAYOUT: Layout = Layout {
    id: "kafka",
    title: "Kafka",
    files: "`<20 digits>.log`",
    explains: "compaction and transactions leave offsets out; of `__cluster_metadata-0` a `.checkpoint` beside it, reaching past the hole",
    notation: LsnNotation::Decimal,
    name,
    name_for: |lsn| Some(format!("{:020}.log", lsn.0)),
    is_leftover: |file| {
        let is_known = matches!(
            file,
            "leader-epoch-checkpoint" | "partition.metadata" | "quorum-state"
        );
        is_known
            || checkpoint(file).is_some()
            || file.split_once('.').is_some_and(|(digits, behind)| {
                is_offset(digits)
                    && matches!(
                        behind,
                        "index"
                            | "timeindex"
                            | "txnindex"
                            | "snapshot"
                            | "log.deleted"
                            | "log.cleaned"
                            | "log.swap"
                    )
            })
    },
    // A checkpoint has everything below its offset.
    snapshot: |file| {
        checkpoint(file)
            .filter(|&end| end > 0)
            .map(|end| Lsn(end - 1))
    },
    // The folder is called after topic and partition.
    log: |folder| Some((1, folder.file_name()?.to_string_lossy().into_owned())),
    sniff: |head| {
        head.get(..HEADER)
            .is_some_and(|head| head[16] == MAGIC && size(head) >= HEADER)
            && head
                .get(..size(head))
                .is_none_or(|bytes| sum(bytes) == stored(bytes))
    },
    read,
    ..Layout::PLAIN
};

fn is_offset(digits: &str) -> bool {
    digits.len() == 20 && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// The offset in `<offset, 20 digits>-<epoch, 10 digits>.checkpoint`, a snapshot of the cluster's own log.
fn checkpoint(file: &str) -> Option<u64> {
    let (offset, epoch) = file.strip_suffix(".checkpoint")?.split_once('-')?;
    let is_epoch = epoch.len() == 10 && epoch.bytes().all(|byte| byte.is_ascii_digit());
    (is_offset(offset) && is_epoch).then(|| offset.parse().ok())?
}

fn name(file: &str) -> Option<SegmentName> {
    let digits = file.strip_suffix(".log").filter(|it| is_offset(it))?;
    Some(SegmentName {
        lsn: Some(Lsn(digits.parse().ok()?)),
        ..SegmentName::default()
    })
}

fn read(reader: &mut dyn Read, context: &Context, sink: &mut dyn FnMut(&Frame<'_>)) -> Scan {
    let mut window = Window::new(reader);
    let mut scan = Scan::new();
    let head = window.peek(COVERED);
    if head.is_empty() {
        scan.fault(FaultKind::Empty, 0, "0 bytes".to_owned());
    } else if head.get(16).is_some_and(|&magic| magic < MAGIC) && !is_zero(head) {
        let detail = format!("message format {}, and only 2 is read", head[16]);
        scan.fault(FaultKind::Unreadable, 16, detail);
    } else {
        walk(&FORM, &mut window, context, &mut scan, sink);
    }
    super::close(&mut scan, &window);
    scan
}

const FORM: Form = Form {
    align: 1,
    measure,
    frame,
    probe,
};

/// Bytes of the batch that begins here.
fn size(head: &[u8]) -> usize {
    usize::try_from(big(&head[8..PREFIX]))
        .unwrap_or(usize::MAX)
        .saturating_add(PREFIX)
}

fn stored(bytes: &[u8]) -> u32 {
    low32(big(&bytes[17..COVERED]))
}

fn sum(bytes: &[u8]) -> u32 {
    crc32c::crc32c(&bytes[COVERED..])
}

fn measure(window: &mut Window<'_>) -> Step {
    let offset = window.offset();
    let head = window.peek(HEADER);
    if head.is_empty() {
        return Step::End;
    }
    let head = &head[..head.len().min(HEADER)];
    // The first batch of all has offset 0; a length of 0 is none.
    if is_zero(&head[..head.len().min(COVERED)]) {
        return Step::Zeros;
    }
    if head.len() < HEADER {
        return Step::head_only(offset, 1, head.len());
    }
    let (size, magic) = (size(head), head[16]);
    if !(HEADER..=RECORD_BYTES_MAX).contains(&size) {
        let detail = format!("a batch's length is {}", big(&head[8..PREFIX]));
        return Step::corrupt(offset, 1, detail);
    }
    if magic != MAGIC {
        return Step::corrupt(offset, 1, format!("a batch of format {magic}"));
    }
    let there = window.peek(size).len();
    if there < size {
        return Step::past_end(offset, 1, size, there);
    }
    let bytes = &window.peek(size)[..size];
    let (stored, computed) = (stored(bytes), sum(bytes));
    if stored == computed {
        return Step::Frame(size);
    }
    let detail = format!("stored {stored:08x} computed {computed:08x}");
    Step::Stop(Stop::checksum(offset, 1, bytes, SECTOR, detail))
}

fn frame(offset: u64, bytes: &[u8]) -> Frame<'_> {
    let lsn = Lsn(big(&bytes[..8]));
    let last = big(&bytes[23..27]);
    let epoch = big(&bytes[12..16]);
    let attributes = big(&bytes[COVERED..23]);
    Frame {
        offset,
        size: bytes.len() as u64,
        body: Body::Entry {
            lsn,
            next: Lsn(lsn.0.saturating_add(last).saturating_add(1)),
            // -1 where no leader has filled it in.
            term: (epoch < 1 << 31).then_some(Term(epoch)),
            sort: match attributes {
                _ if attributes & 0x20 > 0 => "control",
                _ if attributes & 0x10 > 0 => "transaction",
                _ => "batch",
            },
        },
        payload: &bytes[HEADER..],
    }
}

fn probe(window: &mut Window<'_>, budget: &mut Budget) -> Option<Found> {
    let head = window.peek(HEADER).get(..HEADER)?;
    let size = size(head);
    if head[16] != MAGIC || !(HEADER..=FOUND_BYTES_MAX).contains(&size) || !budget.pay(size) {
        return None;
    }
    let bytes = window.peek(size).get(..size)?;
    (sum(bytes) == stored(bytes)).then(|| Found {
        size,
        lsn: Some(Lsn(big(&bytes[..8]))),
        records: 1,
    })
}
