//! The blocks of NATS `JetStream`: `<number>.blk`, little endian, of streams and of the Raft logs behind them.
//!
//! ```text
//! record  u32 length, bit 31: with headers  u64 sequence, bit 63: erased, bit 62: tombstone  i64 time  u16 length, subject
//!         with headers: u32 length, headers  payload  u64 highwayhash of sequence, time, subject, headers and payload
//! ```
//!
//! The key of the hash is made from the name of the stream or group and the number of the block, so a block that was moved to
//! another folder cannot be verified. In a Raft log the subject is empty and the payload is an append entry:
//!
//! ```text
//! entry   8 bytes leader  u64 term  u64 commit  u64 term before  u64 index before  the entries
//! ```

use std::io::Read;
use std::path::Path;

use highway::{HighwayHash as _, HighwayHasher, Key};
use sha2::{Digest as _, Sha256};

use crate::vocab::{Lsn, Term};

use super::form::Step;
use super::salvage::{self, Budget, FOUND_BYTES_MAX, Found, SECTOR, Search, Stop};
use super::window::{RECORD_BYTES_MAX, Window};
use super::{Body, Context, FaultKind, Frame, Layout, Scan, SegmentName, little};

/// Length, sequence, time and length of the subject.
const HEAD: usize = 22;
const HASH: usize = 8;
const HAS_HEADERS: u64 = 1 << 31;
const ERASED: u64 = 1 << 63;
const TOMBSTONE: u64 = 1 << 62;
/// Records that are looked at to tell a wrong key from a wrong record.
const KEY_BYTES: usize = 128 * 1024;
/// Leader and term of an append entry.
const ENTRY: usize = 16;

pub(super) const RAFT: Layout = Layout {
    id: "nats-raft",
    title: "NATS Raft groups",
    explains: "none; a snapshot drops what is in it from the front",
    is_home: |folder| Some(parent(folder)? == "_js_"),
    sniff: |head| sort(head) == Some(Sort::Entries),
    ..STREAM
};

pub(super) const STREAM: Layout = Layout {
    id: "nats-stream",
    title: "NATS JetStream streams",
    files: "`<number>.blk`",
    explains: "deleted messages leave sequences out",
    name,
    numbered: |number, _| Some(format!("{number}.blk")),
    log,
    is_home: |folder| Some(parent(folder)? == "streams"),
    key: |log, name| Some(Sha256::digest(format!("{log}-{}", name.seq?)).into()),
    // A block of records that are all gone can be of either; of a stream it says less, so less is said of it.
    sniff: |head| matches!(sort(head), Some(Sort::Messages | Sort::Gone)),
    read,
    ..Layout::PLAIN
};

fn name(file: &str) -> Option<SegmentName> {
    let digits = file.strip_suffix(".blk")?;
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let seq = is_number.then(|| digits.parse().ok())??;
    Some(SegmentName {
        seq: Some(seq),
        ..SegmentName::default()
    })
}

/// `<account>/streams/<stream>/msgs` or `<account>/_js_/<group>/msgs`.
fn log(folder: &Path) -> Option<(usize, String)> {
    let mut parts = folder.iter().rev().map(|part| part.to_string_lossy());
    let is_blocks = parts.next()? == "msgs";
    let log = parts.next().filter(|_| is_blocks)?.into_owned();
    Some((if parent(folder).is_some() { 4 } else { 2 }, log))
}

/// What the server calls the folder of the log's folder, if it is one of the two that hold logs.
fn parent(folder: &Path) -> Option<&'static str> {
    let mut parts = folder.iter().rev();
    let is_blocks = parts.next()? == "msgs";
    let parent = parts.nth(1).filter(|_| is_blocks)?;
    ["streams", "_js_"].into_iter().find(|name| parent == *name)
}

/// What a block's first records are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sort {
    /// Messages of a stream, which all have a subject.
    Messages,
    /// Entries of a Raft log, which have none.
    Entries,
    /// Nothing but tombstones and erased records, which may have lost theirs.
    Gone,
}

/// By the first record that tells; nothing if no records follow one another.
fn sort(head: &[u8]) -> Option<Sort> {
    let mut rest = head;
    while rest.len() >= HEAD {
        if !is_record(rest) {
            return None;
        }
        let subject = subject(rest);
        if !is_gone(rest) && sequence(rest) & TOMBSTONE == 0 {
            let is_text = subject.iter().all(|&byte| byte > b' ' && byte != 0x7f);
            return match subject {
                [] => Some(Sort::Entries),
                _ => is_text.then_some(Sort::Messages),
            };
        }
        rest = rest.get(size(rest)..).unwrap_or_default();
    }
    (rest.len() < head.len()).then_some(Sort::Gone)
}

fn read(reader: &mut dyn Read, context: &Context, sink: &mut dyn FnMut(&Frame<'_>)) -> Scan {
    let mut window = Window::new(reader);
    let mut scan = Scan::new();
    let head = window.peek(HEAD);
    if head.is_empty() {
        scan.fault(FaultKind::Empty, 0, "0 bytes".to_owned());
    } else if head.starts_with(b"cmp") {
        let detail = "the block is compressed, and that is not read".to_owned();
        scan.fault(FaultKind::Unreadable, 0, detail);
    } else {
        let is_key = |key: &[u8; 32]| context.is_key_sure || is_key(&mut window, key);
        let key = context.key.filter(is_key);
        if key.is_none() {
            scan.remark = Some(
                "its checksums could not be verified: they are made with the name of the log, which its folder does not tell",
            );
        }
        walk(&mut window, key, &mut scan, sink);
    }
    super::close(&mut scan, &window);
    scan
}

fn walk(
    window: &mut Window<'_>,
    key: Option<[u8; 32]>,
    scan: &mut Scan,
    sink: &mut dyn FnMut(&Frame<'_>),
) {
    let mut last = None;
    let stop = loop {
        let offset = window.offset();
        match measure(window, key) {
            Step::Frame(size) => {
                let bytes = &window.peek(size)[..size];
                scan.is_key_good |= key.is_some() && !is_gone(bytes);
                let frame = frame(offset, bytes);
                if let Body::Entry { lsn, .. } = frame.body {
                    last = Some(lsn);
                }
                sink(&frame);
                scan.count(&frame);
                window.advance(size);
            }
            Step::End | Step::Zeros => return,
            Step::Stop(stop) => break stop,
        }
    };
    let mut probe = |window: &mut Window<'_>, budget: &mut Budget| probe(window, budget, key);
    let search = Search {
        align: 1,
        after: last,
        probe: &mut probe,
    };
    salvage::stop(window, scan, stop, search);
}

/// Bytes of the record that begins here.
fn size(head: &[u8]) -> usize {
    usize::try_from(little(&head[..4]) & !HAS_HEADERS).unwrap_or(usize::MAX)
}

fn sequence(head: &[u8]) -> u64 {
    little(&head[4..12])
}

/// Where the subject ends.
fn subject_end(head: &[u8]) -> usize {
    HEAD + usize::try_from(little(&head[20..HEAD])).unwrap_or(usize::MAX)
}

/// As much of the subject as is there.
fn subject(head: &[u8]) -> &[u8] {
    let end = subject_end(head).min(head.len());
    &head[HEAD..end]
}

/// Whether the lengths in the front of a record agree.
fn is_record(head: &[u8]) -> bool {
    head.len() >= HEAD && size(head) <= RECORD_BYTES_MAX && subject_end(head) + HASH <= size(head)
}

/// Whether a record's message is gone: erased in place, which its hash was not made anew for, or so by an old server, which put 0
/// for its sequence.
fn is_gone(head: &[u8]) -> bool {
    let sequence = sequence(head);
    sequence & ERASED > 0 || sequence & !TOMBSTONE == 0
}

/// Where the payload begins; nothing if the headers would not fit.
fn payload_at(bytes: &[u8]) -> Option<usize> {
    let at = subject_end(bytes);
    if little(&bytes[..4]) & HAS_HEADERS == 0 {
        return Some(at);
    }
    let length = usize::try_from(little(bytes.get(at..at + 4)?)).ok()?;
    let behind = at + 4 + length;
    (behind + HASH <= bytes.len()).then_some(behind)
}

/// What the hash has to be.
fn hash(bytes: &[u8], key: &[u8; 32]) -> u64 {
    let word = |n: usize| little(&key[8 * n..8 * n + 8]);
    let mut hasher = HighwayHasher::new(Key([word(0), word(1), word(2), word(3)]));
    let end = bytes.len() - HASH;
    hasher.append(&bytes[4..20]);
    hasher.append(&bytes[HEAD..subject_end(bytes)]);
    let behind = &bytes[subject_end(bytes)..end];
    // Of the headers the length is left out.
    let is_headed = little(&bytes[..4]) & HAS_HEADERS > 0;
    hasher.append(if is_headed {
        behind.get(4..).unwrap_or_default()
    } else {
        behind
    });
    hasher.finalize64()
}

fn is_good(bytes: &[u8], key: &[u8; 32]) -> bool {
    hash(bytes, key) == little(&bytes[bytes.len() - HASH..])
}

/// Whether a key is this block's: if records follow one another and none agrees with it, it is not.
fn is_key(window: &mut Window<'_>, key: &[u8; 32]) -> bool {
    let there = window.peek(KEY_BYTES);
    let mut rest = &there[..there.len().min(KEY_BYTES)];
    let mut seen = 0;
    while is_record(rest) {
        let Some((bytes, behind)) = rest.split_at_checked(size(rest)) else {
            break;
        };
        if payload_at(bytes).is_none() || is_good(bytes, key) {
            return true;
        }
        seen += u32::from(!is_gone(bytes));
        rest = behind;
    }
    // Of a first record that is none, it says nothing.
    seen == 0
}

fn measure(window: &mut Window<'_>, key: Option<[u8; 32]>) -> Step {
    let offset = window.offset();
    let head = window.peek(HEAD);
    if head.is_empty() {
        return Step::End;
    }
    if head.len() < HEAD {
        return Step::head_only(offset, 1, head.len());
    }
    let size = size(head);
    if !is_record(head) {
        return Step::corrupt(offset, 1, format!("a record of {size} bytes cannot be one"));
    }
    let there = window.peek(size).len();
    if there < size {
        return Step::past_end(offset, 1, size, there);
    }
    let bytes = &window.peek(size)[..size];
    if payload_at(bytes).is_none() {
        return Step::corrupt(offset, 1, "a record's headers do not fit in it".to_owned());
    }
    let Some(key) = key.filter(|_| !is_gone(bytes)) else {
        return Step::Frame(size);
    };
    if is_good(bytes, &key) {
        return Step::Frame(size);
    }
    let stored = little(&bytes[size - HASH..]);
    let detail = format!("stored {stored:016x} computed {:016x}", hash(bytes, &key));
    Step::Stop(Stop::checksum(offset, 1, bytes, SECTOR, detail))
}

fn frame(offset: u64, bytes: &[u8]) -> Frame<'_> {
    let sequence = sequence(bytes);
    let lsn = Lsn(sequence & !(ERASED | TOMBSTONE));
    let end = bytes.len() - HASH;
    let payload = &bytes[payload_at(bytes).unwrap_or(end).min(end)..end];
    let is_raft = subject(bytes).is_empty() && !is_gone(bytes);
    let term = payload
        .get(8..ENTRY)
        .filter(|_| is_raft)
        .map(|term| Term(little(term)));
    let body = if sequence & TOMBSTONE > 0 {
        Body::Unplaced { sort: "tombstone" }
    } else if lsn.0 == 0 {
        Body::Unplaced { sort: "erased" }
    } else {
        Body::Entry {
            lsn,
            next: lsn.next(),
            term,
            sort: match (sequence & ERASED > 0, is_raft) {
                (true, _) => "erased",
                (false, true) => "entry",
                (false, false) => "message",
            },
        }
    };
    Frame {
        offset,
        size: bytes.len() as u64,
        body,
        payload,
    }
}

fn probe(window: &mut Window<'_>, budget: &mut Budget, key: Option<[u8; 32]>) -> Option<Found> {
    let key = key?;
    let head = window.peek(HEAD).get(..HEAD)?;
    let size = size(head);
    if !is_record(head) || size > FOUND_BYTES_MAX || !budget.pay(size) {
        return None;
    }
    let bytes = window.peek(size).get(..size)?;
    payload_at(bytes)?;
    let sequence = sequence(bytes);
    let is_entry = sequence & TOMBSTONE == 0 && !is_gone(bytes);
    is_good(bytes, &key).then(|| Found {
        size,
        lsn: is_entry.then_some(Lsn(sequence)),
        records: u64::from(is_entry),
    })
}
