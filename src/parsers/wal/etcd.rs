//! etcd's WAL: `<16 hex sequence>-<16 hex raft index>.wal`, frames of a little-endian length, a protobuf record, and padding to 8.
//!
//! ```text
//! 04 00 00 00 00 00 00 84 | 08 04 10 00 | 00 00 00 00      a checksum record of 4 bytes with 4 bytes of padding
//! ```
//! The checksum runs through the data of all records of all files; each file begins with a record that hands the running value on, so
//! a file can be read alone. The few protobuf fields are decoded by hand: a generated reader would copy every payload.

use std::io::Read;

use crate::vocab::{Lsn, LsnNotation, Term};

use super::form::only;
use super::salvage::{self, Budget, Found, Search, Stop, has_unwritten_sector};
use super::window::{Window, is_zero};
use super::{Body, Context, FaultKind, Frame, Layout, Scan, SegmentName, little, low32};

const PREFIX: usize = 8;
const ALIGN: usize = 8;
/// etcd refuses to read a frame of this size.
const FRAME_MAX: u64 = 10 * 1024 * 1024;
const METADATA: u64 = 1;
const ENTRY: u64 = 2;
const STATE: u64 = 3;
const CHAIN: u64 = 4;
const SNAPSHOT: u64 = 5;

pub(super) const LAYOUT: Layout = Layout {
    id: "etcd",
    title: "etcd",
    files: "`<16 hex>-<16 hex>.wal`",
    explains: "a snapshot record in the log",
    notation: LsnNotation::Decimal,
    name,
    name_for: |_| None,
    is_leftover: |file| {
        file.strip_suffix(".tmp")
            .is_some_and(|stem| stem.bytes().all(|byte| byte.is_ascii_digit()))
            || file
                .strip_suffix(".broken")
                .is_some_and(|stem| name(stem).is_some())
    },
    sniff: |head| {
        head.len() >= 16
            && matches!(decode(&head[PREFIX..]), Some(Record { sort: CHAIN, .. }))
            && length(head).is_some()
    },
    is_name_enough: true,
    read,
    ..Layout::PLAIN
};

fn name(file: &str) -> Option<SegmentName> {
    let (seq, index) = file.strip_suffix(".wal")?.split_once('-')?;
    let hex = |digits: &str| {
        let is_hex = digits.len() == 16
            && digits
                .bytes()
                .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        is_hex
            .then(|| u64::from_str_radix(digits, 16).ok())
            .flatten()
    };
    // The first file is called after index 0, and the first entry has index 1.
    Some(SegmentName {
        seq: Some(hex(seq)?),
        lsn: Some(Lsn(hex(index)?)),
        ..SegmentName::default()
    })
}

fn read(reader: &mut dyn Read, context: &Context, sink: &mut dyn FnMut(&Frame<'_>)) -> Scan {
    let mut window = Window::new(reader);
    let mut scan = Scan::new();
    if !super::is_blank(&mut window, PREFIX, &mut scan) {
        frames(&mut window, context, &mut scan, sink);
    }
    super::close(&mut scan, &window);
    scan
}

fn frames(
    window: &mut Window<'_>,
    context: &Context,
    scan: &mut Scan,
    sink: &mut dyn FnMut(&Frame<'_>),
) {
    let mut last = context.name.lsn.map(Lsn::before);
    let before = context.chain.map(low32);
    let mut chain = None;
    // What the file before ends with, if this one does not say so: its own checksum record may be what is wrong.
    let mut spare = None;
    let stop = loop {
        let offset = window.offset();
        let size = match measure(window) {
            Measured::Frame(size) => size,
            Measured::End => return,
            Measured::Zeros => return salvage::end_mark(window, scan, None),
            Measured::Stop(stop) => break stop,
        };
        let bytes = &window.peek(size.total)[..size.total];
        let content = &bytes[PREFIX..PREFIX + size.record];
        let mut verified = verify(content, chain.or(before));
        if let (Err(_), Some(spare)) = (&verified, spare.take()) {
            verified = verify(content, Some(spare)).or(verified);
        }
        let (record, body, payload) = match verified {
            Ok(verified) => verified,
            Err((kind, detail)) => {
                // The server's own rule: in the last file, a wrong frame with a sector of zeros is a tear that it repairs.
                let content = &bytes[PREFIX..];
                let is_torn =
                    context.is_last && has_unwritten_sector(content, offset + PREFIX as u64, 1);
                let last = if is_torn { FaultKind::Torn } else { kind };
                break Stop {
                    offset,
                    skip: size.total,
                    followed: kind,
                    last,
                    detail,
                };
            }
        };
        if record.sort == CHAIN {
            spare = link(chain.or(before), &record, offset, scan);
        }
        if let Body::Entry { lsn, .. } = body {
            last = Some(lsn);
        }
        identify(&record, offset, scan);
        chain = Some(record.crc);
        let frame = Frame {
            offset,
            size: size.total as u64,
            body,
            payload,
        };
        sink(&frame);
        scan.count(&frame);
        scan.chain = chain.map(u64::from);
        window.advance(size.total);
    };
    let mut seed = seed_behind(window, &stop);
    let mut probe = |window: &mut Window<'_>, budget: &mut Budget| probe(window, budget, &mut seed);
    let search = Search {
        align: ALIGN,
        after: last,
        probe: &mut probe,
    };
    salvage::stop(window, scan, stop, search);
}

/// A record, what it is, and its payload.
type Verified<'a> = (Record<'a>, Body, &'a [u8]);

/// Reads a record and tests its checksum, which goes on from the record before.
fn verify(bytes: &[u8], chain: Option<u32>) -> Result<Verified<'_>, (FaultKind, String)> {
    let Some(record) = decode(bytes) else {
        let detail = "the record is not a protobuf message of the layout";
        return Err((FaultKind::Corrupt, detail.to_owned()));
    };
    if let Some(chain) = chain.filter(|_| record.sort != CHAIN) {
        let computed = crc32c::crc32c_append(chain, record.data);
        if computed != record.crc {
            let detail = format!("stored {:08x} computed {computed:08x}", record.crc);
            return Err((FaultKind::Checksum, detail));
        }
    }
    match body(&record) {
        Some((body, payload)) => Ok((record, body, payload)),
        None => Err((
            FaultKind::Corrupt,
            format!("a record of type {} cannot be read as one", record.sort),
        )),
    }
}

/// Compares a checksum record with what the frames before it, or the segment before, give; returns that where it differs.
fn link(expected: Option<u32>, record: &Record<'_>, offset: u64, scan: &mut Scan) -> Option<u32> {
    let expected = expected.filter(|&expected| expected != record.crc);
    if let Some(expected) = expected {
        let detail = format!(
            "the running checksum goes on with {:08x}, the records before it end with {expected:08x}",
            record.crc
        );
        scan.fault(FaultKind::Chain, offset, detail);
    }
    expected
}

/// Keeps which member of which cluster wrote the segment.
fn identify(record: &Record<'_>, offset: u64, scan: &mut Scan) {
    if record.sort != METADATA {
        return;
    }
    let fields = varints(record.data);
    let identity = format!("member {:x} of cluster {:x}", fields[1], fields[2]);
    if scan
        .identity
        .as_ref()
        .is_some_and(|before| *before != identity)
    {
        scan.fault(
            FaultKind::Identity,
            offset,
            format!("a second metadata record names another log: {identity}"),
        );
    }
    scan.identity.get_or_insert(identity);
}

struct Size {
    /// Bytes of the protobuf record.
    record: usize,
    /// Bytes from the length field to the end of the padding.
    total: usize,
}

enum Measured {
    Frame(Size),
    End,
    Zeros,
    Stop(Stop),
}

/// The lengths in a frame's first eight bytes, if they can be those of a frame.
fn length(head: &[u8]) -> Option<(u64, u64)> {
    let field = little(head.get(..PREFIX)?);
    let record = field & ((1 << 56) - 1);
    let flags = field >> 56;
    let padding = if flags >= 0x80 { flags & 7 } else { 0 };
    let is_form = flags == 0 || (0x80..=0x87).contains(&flags);
    (is_form && record > 0 && record < FRAME_MAX && (record + padding).is_multiple_of(8))
        .then_some((record, padding))
}

fn measure(window: &mut Window<'_>) -> Measured {
    let offset = window.offset();
    let head = window.peek(PREFIX);
    if head.is_empty() {
        return Measured::End;
    }
    let stop = |last, detail| {
        Measured::Stop(Stop {
            offset,
            skip: ALIGN,
            followed: FaultKind::Corrupt,
            last,
            detail,
        })
    };
    if head.len() < PREFIX {
        return stop(FaultKind::Torn, only(head.len(), "length field"));
    }
    if is_zero(&head[..PREFIX]) {
        return Measured::Zeros;
    }
    let Some((record, padding)) = length(head) else {
        return stop(
            FaultKind::Corrupt,
            format!(
                "{:#018x} cannot be a frame's length field",
                little(&head[..PREFIX])
            ),
        );
    };
    let Some((record, total)) = usize::try_from(record)
        .ok()
        .zip(usize::try_from(record + padding).ok())
    else {
        return stop(
            FaultKind::Corrupt,
            "the frame is longer than memory".to_owned(),
        );
    };
    let total = PREFIX + total;
    let there = window.peek(total).len();
    if there < total {
        return stop(
            FaultKind::Torn,
            format!(
                "a frame of {total} bytes runs past the end of the file, {there} bytes are there"
            ),
        );
    }
    Measured::Frame(Size { record, total })
}

struct Record<'a> {
    sort: u64,
    crc: u32,
    data: &'a [u8],
}

/// `walpb.Record`: 1 type, 2 checksum, 3 data. A field that is absent is zero, as protobuf has it.
fn decode(bytes: &[u8]) -> Option<Record<'_>> {
    if let Some(record) = decode_usual(bytes) {
        return Some(record);
    }
    let mut record = Record {
        sort: 0,
        crc: 0,
        data: &[],
    };
    let mut rest = bytes;
    while !rest.is_empty() {
        let (field, behind) = field(rest)?;
        match field {
            (1, Value::Number(number)) => record.sort = number,
            (2, Value::Number(number)) => record.crc = u32::try_from(number).ok()?,
            (3, Value::Bytes(data)) => record.data = data,
            (1..=3, _) => return None,
            _ => {}
        }
        rest = behind;
    }
    Some(record)
}

/// A record with its three fields in the order in which every etcd writes them; most of the time goes here.
fn decode_usual(bytes: &[u8]) -> Option<Record<'_>> {
    let (sort, rest) = tagged(bytes, 0x08)?;
    let (crc, rest) = tagged(rest, 0x10)?;
    let (length, data) = tagged(rest, 0x1a)?;
    let crc = u32::try_from(crc).ok()?;
    (data.len() as u64 == length).then_some(Record { sort, crc, data })
}

/// `raftpb.Entry` with its four fields in the order in which every etcd writes them.
fn entry_usual(message: &[u8]) -> Option<([u64; 4], &[u8])> {
    let (sort, rest) = tagged(message, 0x08)?;
    let (term, rest) = tagged(rest, 0x10)?;
    let (index, rest) = tagged(rest, 0x18)?;
    let (length, data) = tagged(rest, 0x22)?;
    (data.len() as u64 == length).then_some(([0, sort, term, index], data))
}

/// The number behind a field's tag, if that field comes next.
fn tagged(bytes: &[u8], tag: u8) -> Option<(u64, &[u8])> {
    let (&first, rest) = bytes.split_first()?;
    if first == tag { varint(rest) } else { None }
}

/// What a record is, and its payload: of an entry the data that was replicated, else the whole message.
fn body<'a>(record: &Record<'a>) -> Option<(Body, &'a [u8])> {
    let body = match record.sort {
        METADATA => Body::Metadata,
        ENTRY => {
            let usual = entry_usual(record.data).or_else(|| fields(record.data));
            let ([_, sort, term, lsn], data) = usual?;
            let lsn = Lsn(lsn);
            let sort = match sort {
                0 => "normal",
                1 => "conf-change",
                2 => "conf-change-v2",
                _ => "unknown",
            };
            let body = Body::Entry {
                lsn,
                next: lsn.next(),
                term: Some(Term(term)),
                sort,
            };
            return Some((body, data));
        }
        STATE => {
            let ([_, term, _, commit], _) = fields(record.data)?;
            Body::Commit {
                lsn: Lsn(commit),
                term: Term(term),
            }
        }
        CHAIN => Body::Chain { value: record.crc },
        SNAPSHOT => {
            let ([_, index, term, _], _) = fields(record.data)?;
            Body::Snapshot {
                lsn: Lsn(index),
                term: Term(term),
            }
        }
        _ => return None,
    };
    Some((body, record.data))
}

enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

/// The numbers of fields 1 to 3 and the bytes of field 4; `None` if the bytes are no protobuf message.
fn fields(message: &[u8]) -> Option<([u64; 4], &[u8])> {
    let mut numbers = [0; 4];
    let mut data: &[u8] = &[];
    let mut rest = message;
    while !rest.is_empty() {
        let (field, behind) = field(rest)?;
        match field {
            (number @ 1..4, Value::Number(value)) => numbers[number] = value,
            (4, Value::Bytes(bytes)) => data = bytes,
            _ => {}
        }
        rest = behind;
    }
    Some((numbers, data))
}

/// As [`fields`], with zeros for a message that is none.
fn varints(message: &[u8]) -> [u64; 4] {
    fields(message).map_or([0; 4], |(numbers, _)| numbers)
}

type Tagged<'a> = (usize, Value<'a>);

#[inline]
fn field(bytes: &[u8]) -> Option<(Tagged<'_>, &[u8])> {
    let (tag, rest) = varint(bytes)?;
    let number = usize::try_from(tag >> 3).ok()?;
    match tag & 7 {
        0 => {
            let (value, rest) = varint(rest)?;
            Some(((number, Value::Number(value)), rest))
        }
        1 => Some(((number, Value::Number(little(rest.get(..8)?))), &rest[8..])),
        2 => {
            let (length, rest) = varint(rest)?;
            let (value, rest) = rest.split_at_checked(usize::try_from(length).ok()?)?;
            Some(((number, Value::Bytes(value)), rest))
        }
        5 => Some(((number, Value::Number(little(rest.get(..4)?))), &rest[4..])),
        _ => None,
    }
}

/// A protobuf varint: seven bits a byte, lowest first, ten bytes at most.
#[inline]
pub(super) fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    if let [byte @ 0..0x80, rest @ ..] = bytes {
        return Some((u64::from(*byte), rest));
    }
    let mut number = 0_u64;
    for (n, &byte) in bytes.iter().take(10).enumerate() {
        number |= u64::from(byte & 0x7f) << (7 * n);
        if byte < 0x80 {
            return Some((number, &bytes[n + 1..]));
        }
    }
    None
}

/// The running checksum behind a wrong frame, if its own record can be read: only its content was changed then.
fn seed_behind(window: &mut Window<'_>, stop: &Stop) -> Option<u32> {
    let bytes = window.peek(stop.skip).get(..stop.skip)?;
    let (record, _) = length(bytes)?;
    let record = bytes.get(PREFIX..)?.get(..usize::try_from(record).ok()?)?;
    decode(record).map(|record| record.crc)
}

/// A frame is believed once the one before it gives the running checksum; the first of a pair only hands its own on.
fn probe(window: &mut Window<'_>, budget: &mut Budget, seed: &mut Option<u32>) -> Option<Found> {
    let (record, padding) = length(window.peek(PREFIX))?;
    let record_size = usize::try_from(record).ok()?;
    let total = PREFIX + usize::try_from(record + padding).ok()?;
    if !budget.pay(total) {
        return None;
    }
    let bytes = window.peek(total).get(..total)?;
    let record = decode(&bytes[PREFIX..PREFIX + record_size])?;
    let (body, _) = body(&record)?;
    let is_good = seed.is_some_and(|seed| crc32c::crc32c_append(seed, record.data) == record.crc)
        && record.sort != CHAIN;
    *seed = Some(record.crc);
    let lsn = match body {
        Body::Entry { lsn, .. } => is_good.then_some(lsn),
        Body::Unplaced { .. }
        | Body::Snapshot { .. }
        | Body::Commit { .. }
        | Body::Metadata
        | Body::Chain { .. } => None,
    };
    Some(Found {
        size: total,
        lsn,
        records: u64::from(lsn.is_some()),
    })
}
