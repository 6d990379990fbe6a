//! The segments of hashicorp/raft-wal, the log store of Consul, Vault and Nomad: `<first index>-<id>.wal`, little endian.
//!
//! ```text
//! header  u32 magic  3 bytes  u8 version 0  u64 first index  u64 id  u64 codec
//! frame   u8 type  3 bytes  u32 length, of a commit its checksum  payload  zeros up to a multiple of 8
//! entry   uvarint index  uvarint term  u8 type  uvarint length, data  uvarint length, extensions  time
//! ```
//!
//! Entries count once the commit frame behind them agrees with all bytes since the one before; the first one covers the header too.
//! Truncations change no segment: only `wal-meta.db` beside them says which entries count.

use std::io::Read;

use serde::Deserialize;

use crate::vocab::{Lsn, Term};

use super::bolt;
use super::etcd::varint;
use super::salvage::{self, Budget, FOUND_BYTES_MAX, Found, SECTOR, Search, Stop};
use super::window::{RECORD_BYTES_MAX, Window};
use super::{
    Body, Context, Extent, FaultKind, Frame, Layout, Scan, SegmentName, Tail, little, low32,
};

const MAGIC: u64 = 0x58eb_6b0d;
const VERSION: u8 = 0;
const HEADER: usize = 32;
/// Type and length of a frame.
const PREFIX: usize = 8;
const ALIGN: usize = 8;
/// The codec that is built in; entries of another one cannot be looked into.
const CODEC: u64 = 1;
/// The longest entry that the library writes.
const ENTRY_MAX: usize = 64 * 1024 * 1024;

const UNWRITTEN: u8 = 0;
const ENTRY: u8 = 1;
const INDEX: u8 = 2;
const COMMIT: u8 = 3;

pub(super) const LAYOUT: Layout = Layout {
    id: "raft-wal",
    title: "hashicorp/raft-wal (Consul, Vault, Nomad)",
    files: "`<20 digits>-<16 hex>.wal`",
    explains: "`wal-meta.db` beside them, which says what counts",
    name,
    name_for: |_| None,
    is_leftover: |file| file == LEDGER,
    ledger: Some((LEDGER, ledger)),
    sniff: |head| head.len() >= HEADER && little(&head[..4]) == MAGIC,
    is_name_enough: true,
    read,
    ..Layout::PLAIN
};

const LEDGER: &str = "wal-meta.db";

fn name(file: &str) -> Option<SegmentName> {
    let (base, id) = file.strip_suffix(".wal")?.split_once('-')?;
    let is_base = base.len() == 20 && base.bytes().all(|byte| byte.is_ascii_digit());
    let is_id = id.len() == 16
        && id
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    (is_base && is_id).then_some(())?;
    Some(SegmentName {
        seq: Some(u64::from_str_radix(id, 16).ok()?),
        lsn: Some(Lsn(base.parse().ok()?)),
        ..SegmentName::default()
    })
}

/// What `wal-meta.db` holds under its one key.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct State {
    segments: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Entry {
    #[serde(rename = "ID")]
    id: u64,
    base_index: u64,
    min_index: u64,
    max_index: u64,
}

fn ledger(bytes: &[u8]) -> Option<Vec<Extent>> {
    let state: State = bolt::values(bytes)?
        .into_iter()
        .find_map(|value| serde_json::from_slice(value).ok())?;
    let extents = state.segments.iter().map(|entry| Extent {
        name: SegmentName {
            seq: Some(entry.id),
            lsn: Some(Lsn(entry.base_index)),
            ..SegmentName::default()
        },
        first: Lsn(entry.min_index),
        last: (entry.max_index > 0).then_some(Lsn(entry.max_index)),
    });
    Some(extents.collect())
}

fn read(reader: &mut dyn Read, context: &Context, sink: &mut dyn FnMut(&Frame<'_>)) -> Scan {
    let mut window = Window::new(reader);
    let mut scan = Scan::new();
    if let Some(header) = header(&mut window, context, &mut scan) {
        batches(&mut window, &header, context.size, &mut scan, sink);
    }
    super::close(&mut scan, &window);
    scan
}

struct Header {
    codec: u64,
    /// The checksum of the header, which the first commit frame goes on with.
    sum: u32,
    base: Lsn,
}

/// Reads the header; nothing if no records can be looked for behind it.
fn header(window: &mut Window<'_>, context: &Context, scan: &mut Scan) -> Option<Header> {
    if super::is_blank(window, HEADER, scan) {
        return None;
    }
    let head = window.peek(HEADER);
    if head.len() < HEADER {
        let detail = format!("the header ends after {} of {HEADER} bytes", head.len());
        scan.tail = Tail::Torn;
        scan.fault(FaultKind::HeaderTorn, 0, detail);
        return None;
    }
    let head = &head[..HEADER];
    let (base, id, codec) = (
        little(&head[8..16]),
        little(&head[16..24]),
        little(&head[24..32]),
    );
    let header = Header {
        codec,
        sum: crc32c::crc32c(head),
        base: Lsn(base),
    };
    let (magic, version) = (little(&head[..4]), head[7]);
    if magic != MAGIC {
        scan.fault(
            FaultKind::Header,
            0,
            format!("the file begins with {magic:08x} and not with {MAGIC:08x}"),
        );
    } else if version != VERSION {
        scan.unknown_version(7, version.into(), VERSION.into());
        return None;
    } else {
        scan.header_lsn = Some(Lsn(base));
        if let Some(named) = context.name.seq.filter(|&named| named != id) {
            let detail = format!("the header has id {id:016x}, the name says {named:016x}");
            scan.fault(FaultKind::Header, 16, detail);
        }
    }
    window.advance(HEADER);
    scan.end_offset = HEADER as u64;
    Some(header)
}

/// What stands at the window's offset.
enum Batch {
    /// Frames and the commit frame that agrees with them: bytes of both, and entries.
    Whole(usize, u64),
    End,
    Zeros,
    Stop(Stop),
}

fn batches(
    window: &mut Window<'_>,
    header: &Header,
    end: u64,
    scan: &mut Scan,
    sink: &mut dyn FnMut(&Frame<'_>),
) {
    let mut sum = header.sum;
    let mut next = header.base;
    let stop = loop {
        match measure(window, sum, RECORD_BYTES_MAX, end, &mut 0) {
            Batch::Whole(size, entries) => {
                if let Err(stop) = hand_on(window, size, entries, header, &mut next, scan, sink) {
                    break Some(stop);
                }
                window.advance(size);
                scan.end_offset = window.offset();
                sum = 0;
            }
            Batch::End => return,
            Batch::Zeros => break None,
            Batch::Stop(stop) => break Some(stop),
        }
    };
    let codec = header.codec;
    let mut probe = |window: &mut Window<'_>, budget: &mut Budget| probe(window, budget, codec);
    let search = Search {
        align: ALIGN,
        after: Some(next.before()),
        probe: &mut probe,
    };
    match stop {
        Some(stop) => salvage::stop(window, scan, stop, search),
        None => salvage::end_mark(window, scan, Some(search)),
    }
}

/// Looks over the frames up to the next commit frame, without moving, and not farther than `limit`, in a segment that ends at an
/// offset; `walked` is how far it came.
fn measure(window: &mut Window<'_>, sum: u32, limit: usize, end: u64, walked: &mut usize) -> Batch {
    let offset = window.offset();
    let mut entries = 0;
    loop {
        let at = *walked;
        // Twice as far each time: a batch of many small entries would else be moved in memory for each of them.
        let there = window.peek((at + PREFIX).max(limit.min(2 * at)));
        if there.len() < at + PREFIX {
            let count = there.len();
            return match count {
                0 => Batch::End,
                _ => Batch::Stop(torn(offset, count, "the file ends within a batch")),
            };
        }
        let (sort, number) = (there[at], little(&there[at + 4..at + 8]));
        let length = usize::try_from(number).unwrap_or(usize::MAX);
        match sort {
            UNWRITTEN if at == 0 => return Batch::Zeros,
            UNWRITTEN => {
                return Batch::Stop(torn(
                    offset,
                    at,
                    "the entries of a batch have no commit frame behind them",
                ));
            }
            COMMIT => {
                let computed = crc32c::crc32c_append(sum, &there[..at]);
                let stored = low32(number);
                if computed == stored {
                    return Batch::Whole(at + PREFIX, entries);
                }
                let detail = format!(
                    "the commit frame has checksum {stored:08x}, its {} have {computed:08x}",
                    if entries == 1 { "entry" } else { "entries" }
                );
                let frames = &there[..at];
                return Batch::Stop(Stop::checksum(offset, at + PREFIX, frames, SECTOR, detail));
            }
            ENTRY | INDEX if limit.checked_sub(at + 2 * PREFIX) >= Some(length) => {
                entries += u64::from(sort == ENTRY);
                let size = (PREFIX + length).next_multiple_of(ALIGN);
                let count = window.peek(at + size).len();
                if count < at + size {
                    return Batch::Stop(torn(
                        offset,
                        PREFIX,
                        "an entry runs past the end of the file",
                    ));
                }
                *walked = at + size;
            }
            ENTRY | INDEX => {
                let from = offset + (at + PREFIX) as u64;
                return Batch::Stop(if length <= ENTRY_MAX && from + number <= end {
                    too_long(offset, at + PREFIX + length, limit)
                } else {
                    corrupt(offset, &format!("a frame of {number} bytes"))
                });
            }
            other => return Batch::Stop(corrupt(offset, &format!("a frame of type {other}"))),
        }
    }
}

fn torn(offset: u64, skip: usize, detail: &str) -> Stop {
    Stop::torn(offset, skip, detail.to_owned())
}

fn corrupt(offset: u64, detail: &str) -> Stop {
    Stop::corrupt(offset, ALIGN, detail.to_owned())
}

/// A batch that may well be sound, and is longer than what is held to be verified; it is not if batches verify within it.
fn too_long(offset: u64, size: usize, limit: usize) -> Stop {
    Stop {
        offset,
        skip: ALIGN,
        followed: FaultKind::Corrupt,
        last: FaultKind::Unreadable,
        detail: format!(
            "at offset {offset} a batch of {size} bytes or more, and at most {limit} are read at once"
        ),
    }
}

/// Hands on the entries of a verified batch. The last one's bytes go up to the next batch.
fn hand_on(
    window: &mut Window<'_>,
    size: usize,
    entries: u64,
    header: &Header,
    next: &mut Lsn,
    scan: &mut Scan,
    sink: &mut dyn FnMut(&Frame<'_>),
) -> Result<(), Stop> {
    let offset = window.offset();
    let bytes = &window.peek(size)[..size];
    let mut at = 0;
    let mut left = entries;
    while at + PREFIX < size {
        let length = usize::try_from(little(&bytes[at + 4..at + 8])).unwrap_or(usize::MAX);
        let payload = &bytes[at + PREFIX..at + PREFIX + length];
        let end = at + (PREFIX + length).next_multiple_of(ALIGN);
        if bytes[at] == ENTRY {
            left -= 1;
            let entry = if header.codec == CODEC {
                decode(payload)
                    .ok_or_else(|| corrupt(offset + at as u64, "an entry that cannot be one"))?
            } else {
                (*next, None, "entry", payload)
            };
            let (lsn, term, sort, payload) = entry;
            *next = lsn.next();
            let frame = Frame {
                offset: offset + at as u64,
                size: (if left == 0 { size } else { end } - at) as u64,
                body: Body::Entry {
                    lsn,
                    next: *next,
                    term,
                    sort,
                },
                payload,
            };
            sink(&frame);
            scan.count(&frame);
        }
        at = end;
    }
    Ok(())
}

/// Index, term, what the library calls the type, data.
fn decode(payload: &[u8]) -> Option<(Lsn, Option<Term>, &'static str, &[u8])> {
    let (index, rest) = varint(payload)?;
    let (term, rest) = varint(rest)?;
    let (&sort, rest) = rest.split_first()?;
    let (length, rest) = varint(rest)?;
    let data = rest.get(..usize::try_from(length).ok()?)?;
    let sort = match sort {
        0 => "command",
        1 => "noop",
        2 => "add-peer",
        3 => "remove-peer",
        4 => "barrier",
        5 => "configuration",
        _ => "other",
    };
    Some((Lsn(index), Some(Term(term)), sort, data))
}

fn probe(window: &mut Window<'_>, budget: &mut Budget, codec: u64) -> Option<Found> {
    let head = window.peek(PREFIX).get(..PREFIX)?;
    let length = usize::try_from(little(&head[4..8])).ok()?;
    if head[0] != ENTRY || length > FOUND_BYTES_MAX {
        return None;
    }
    let mut walked = 0;
    let batch = measure(window, 0, FOUND_BYTES_MAX, 0, &mut walked);
    let (Batch::Whole(size, records), true) = (batch, budget.pay(walked)) else {
        return None;
    };
    let payload = window.peek(size).get(PREFIX..PREFIX + length)?;
    let lsn = decode(payload)
        .map(|(lsn, ..)| lsn)
        .filter(|_| codec == CODEC);
    Some(Found { size, lsn, records })
}
