//! Reads a segment by a description of its records.

use std::hash::Hasher as _;
use std::io::Read;
use std::ops::Range;

use crate::vocab::{Lsn, Term};

use super::declared::{
    Algorithm, Chain, Covers, Declaration, EndMark, Endian, Field, FieldKind, Measure, Pinned, Step,
};
use super::etcd::varint;
use super::salvage::{self, Budget, Found, Search, Stop, ZEROS_MIN, has_unwritten_sector};
use super::window::{RECORD_BYTES_MAX, Window, is_zero};
use super::{Body, Context, Fault, FaultKind, Frame, Scan, Tail};

/// The longest encoding of a 64-bit number in groups of seven bits.
const VARINT_BYTES: usize = 10;

pub(super) fn read(
    declaration: &Declaration,
    reader: &mut dyn Read,
    context: &Context,
    sink: &mut dyn FnMut(&Frame<'_>),
) -> Scan {
    let mut window = Window::new(reader);
    let mut scan = Scan::new();
    if header(declaration, &mut window, context, &mut scan) {
        records(declaration, &mut window, context, &mut scan, sink);
    }
    super::close(&mut scan, &window);
    scan
}

fn header(
    declaration: &Declaration,
    window: &mut Window<'_>,
    context: &Context,
    scan: &mut Scan,
) -> bool {
    let size: usize = declaration
        .header
        .iter()
        .map(|field| least(field.kind))
        .sum();
    if size == 0 {
        if window.peek(1).is_empty() && window.failure().is_none() {
            scan.fault(FaultKind::Empty, 0, "0 bytes".to_owned());
        }
        return true;
    }
    if super::is_blank(window, size, scan) {
        return false;
    }
    let bytes = window.peek(size);
    if bytes.len() < size {
        let detail = format!("the header ends after {} of {size} bytes", bytes.len());
        scan.tail = Tail::Torn;
        scan.fault(FaultKind::HeaderTorn, 0, detail);
        return false;
    }
    let bytes = &bytes[..size];
    let mut spans = Vec::with_capacity(declaration.header.len());
    let mut at = 0;
    for field in &declaration.header {
        spans.push(at..at + least(field.kind));
        at += least(field.kind);
    }
    for (field, span) in declaration.header.iter().zip(&spans) {
        let content = &bytes[span.clone()];
        let offset = span.start as u64;
        match &field.equals {
            // Which of name, header and first record disagree is judged with the other segments in view.
            Some(Pinned::Name) => scan.header_lsn = Some(Lsn(declaration.number(content))),
            Some(pinned) => {
                if let Some(detail) = mismatch(declaration, field, pinned, content, context) {
                    scan.fault(FaultKind::Header, offset, detail);
                }
            }
            None => {}
        }
        if let Some(computed) = checksum(declaration, field, &spans, bytes, size, span, None) {
            let stored = declaration.number(content);
            if stored != computed {
                scan.fault(
                    FaultKind::Header,
                    offset,
                    format!("header checksum is {stored:x}, its bytes give {computed:x}"),
                );
            }
        }
    }
    window.advance(size);
    scan.end_offset = size as u64;
    true
}

fn records(
    declaration: &Declaration,
    window: &mut Window<'_>,
    context: &Context,
    scan: &mut Scan,
    sink: &mut dyn FnMut(&Frame<'_>),
) {
    let mut last = context.name.lsn.map(Lsn::before);
    let mut chain = Carry::new(declaration, context);
    let mut probe =
        |window: &mut Window<'_>, budget: &mut Budget| probe(declaration, window, budget);
    let align = declaration.align;
    loop {
        let offset = window.offset();
        let record = match record(declaration, window, &chain, context) {
            Outcome::Record(record) => record,
            Outcome::End => return,
            Outcome::Zeros { is_legal } => {
                salvage::end_mark(
                    window,
                    scan,
                    Some(Search {
                        align,
                        after: last,
                        probe: &mut probe,
                    }),
                );
                if !is_legal {
                    let kind = if scan.behind.is_some() {
                        FaultKind::Corrupt
                    } else {
                        FaultKind::ZeroRun
                    };
                    scan.faults.push(Fault {
                        kind,
                        offset,
                        detail: "zero bytes, which this layout does not have".to_owned(),
                    });
                }
                return;
            }
            Outcome::Stop(stop) => {
                salvage::stop(
                    window,
                    scan,
                    stop,
                    Search {
                        align,
                        after: last,
                        probe: &mut probe,
                    },
                );
                return;
            }
        };
        let bytes = &window.peek(record.size)[..record.size];
        let body = Body::Entry {
            lsn: record.lsn,
            next: record.next,
            term: record.term,
            sort: "record",
        };
        let frame = Frame {
            offset,
            size: record.size as u64,
            body,
            payload: bytes.get(record.payload.clone()).unwrap_or_default(),
        };
        last = Some(record.lsn);
        chain.value = record.checksum.or(chain.value);
        sink(&frame);
        scan.count(&frame);
        if chain.rule == Chain::Log {
            scan.chain = chain.value;
        }
        window.advance(record.size);
    }
}

/// The checksum that the next one goes on from.
struct Carry {
    rule: Chain,
    value: Option<u64>,
}

impl Carry {
    fn new(declaration: &Declaration, context: &Context) -> Self {
        let rule = declaration
            .record
            .iter()
            .map(|field| field.chain)
            .find(|&chain| chain != Chain::None)
            .unwrap_or_default();
        Self {
            rule,
            value: if rule == Chain::Log {
                context.chain
            } else {
                None
            },
        }
    }
}

/// A verified record.
struct Record {
    /// Bytes up to the next one.
    size: usize,
    lsn: Lsn,
    next: Lsn,
    term: Option<Term>,
    payload: Range<usize>,
    checksum: Option<u64>,
}

enum Outcome {
    Record(Record),
    End,
    Zeros { is_legal: bool },
    Stop(Stop),
}

/// The fields before the payload, or why they are none.
struct Front {
    spans: Vec<Range<usize>>,
    /// Bytes of the record without padding.
    size: usize,
}

fn record(
    declaration: &Declaration,
    window: &mut Window<'_>,
    chain: &Carry,
    context: &Context,
) -> Outcome {
    let offset = window.offset();
    let stop = |skip, followed, last, detail| {
        Outcome::Stop(Stop {
            offset,
            skip,
            followed,
            last,
            detail,
        })
    };
    let corrupt = |detail| {
        stop(
            declaration.align,
            FaultKind::Corrupt,
            FaultKind::Corrupt,
            detail,
        )
    };
    let torn = |detail| {
        stop(
            declaration.align,
            FaultKind::Corrupt,
            FaultKind::Torn,
            detail,
        )
    };
    let fixed = window.peek(front_bytes(declaration));
    if fixed.is_empty() {
        return Outcome::End;
    }
    let head = &fixed[..fixed.len().min(front_bytes(declaration))];
    if let Some(is_legal) = end_mark(declaration, head) {
        return Outcome::Zeros { is_legal };
    }
    let front = match front(declaration, head) {
        Ok(front) => front,
        Err(Flaw::Short) if head.len() == front_bytes(declaration) => {
            return corrupt("its first fields cannot be read".to_owned());
        }
        Err(Flaw::Short) => {
            return torn(format!("only {} bytes of a record are there", head.len()));
        }
        Err(Flaw::Length(detail)) => return corrupt(detail),
    };
    let padded = front.size.next_multiple_of(declaration.align);
    let bytes = window.peek(padded);
    // The padding of the last record may be left out: nothing is lost with it.
    if bytes.len() < front.size {
        let detail = format!(
            "a record of {} bytes runs past the end of the file, {} bytes are there",
            front.size,
            bytes.len()
        );
        return torn(detail);
    }
    let size = padded.min(bytes.len());
    let bytes = &bytes[..front.size];
    let mut kept = None;
    for (field, span) in declaration.record.iter().zip(&front.spans) {
        let content = &bytes[span.clone()];
        if let Some(detail) = field
            .equals
            .as_ref()
            .and_then(|pinned| mismatch(declaration, field, pinned, content, context))
        {
            return corrupt(detail);
        }
        let Some(computed) = checksum(
            declaration,
            field,
            &front.spans,
            bytes,
            front.size,
            span,
            chain.value,
        ) else {
            continue;
        };
        let stored = declaration.number(content);
        kept = Some(stored);
        // Without the record before, a chained checksum is taken and not tested.
        let is_testable =
            field.chain == Chain::None || chain.value.is_some() || field.chain == Chain::Segment;
        if stored != computed && is_testable {
            let last = if has_unwritten_sector(bytes, offset, ZEROS_MIN) {
                FaultKind::Torn
            } else {
                FaultKind::Checksum
            };
            return stop(
                size,
                FaultKind::Checksum,
                last,
                format!("stored {stored:x} computed {computed:x}"),
            );
        }
    }
    Outcome::Record(meaning(declaration, &front, bytes, size, kept))
}

/// What the fields say.
fn meaning(
    declaration: &Declaration,
    front: &Front,
    bytes: &[u8],
    size: usize,
    checksum: Option<u64>,
) -> Record {
    let mut lsn = Lsn(0);
    let mut term = None;
    let mut count = 1;
    let mut payload = 0..0;
    for (field, span) in declaration.record.iter().zip(&front.spans) {
        if field.kind == FieldKind::Payload {
            payload = span.clone();
            continue;
        }
        let number = match field.kind {
            FieldKind::Uvarint => varint(&bytes[span.clone()]).map_or(0, |(number, _)| number),
            FieldKind::Uint(_) | FieldKind::Bytes(_) | FieldKind::Payload => {
                declaration.number(&bytes[span.clone()])
            }
        };
        match field.name.as_str() {
            "lsn" => lsn = Lsn(number),
            "term" => term = Some(Term(number)),
            "count" => count = number,
            _ => {}
        }
    }
    let next = Lsn(lsn.0.saturating_add(match declaration.step {
        Step::By(step) => step,
        Step::Bytes => size as u64,
        Step::Count => count,
        Step::Epoch | Step::Increasing => 1,
    }));
    Record {
        size,
        lsn,
        next,
        term,
        payload,
        checksum,
    }
}

enum Flaw {
    /// There are too few bytes.
    Short,
    /// The length cannot be one.
    Length(String),
}

/// Lays the fields over the front of a record.
fn front(declaration: &Declaration, head: &[u8]) -> Result<Front, Flaw> {
    let mut spans = Vec::with_capacity(declaration.record.len());
    let mut at = 0;
    let mut length = None;
    let mut fields = declaration.record.iter();
    for field in fields.by_ref() {
        let rest = head.get(at..).ok_or(Flaw::Short)?;
        let size = match field.kind {
            FieldKind::Uint(size) | FieldKind::Bytes(size) => size,
            FieldKind::Uvarint => rest.len() - varint(rest).ok_or(Flaw::Short)?.1.len(),
            FieldKind::Payload => break,
        };
        let content = rest.get(..size).ok_or(Flaw::Short)?;
        if let Some(measure) = field.measures {
            let number = if field.kind == FieldKind::Uvarint {
                varint(content).map_or(0, |(number, _)| number)
            } else {
                declaration.number(content)
            };
            length = Some((measure, number, at + size));
        }
        spans.push(at..at + size);
        at += size;
    }
    let behind: usize = declaration
        .record
        .iter()
        .skip(spans.len() + 1)
        .map(|field| least(field.kind))
        .sum();
    let has_payload = spans.len() < declaration.record.len();
    let size = match length {
        None => (at + behind) as u64,
        Some((Measure::Payload, number, _)) => number.saturating_add((at + behind) as u64),
        Some((Measure::Record, number, _)) => number,
        Some((Measure::Rest, number, end)) => number.saturating_add(end as u64),
    };
    let number = length.map_or(0, |(_, number, _)| number);
    let size = usize::try_from(size)
        .ok()
        .filter(|size| (at + behind..=RECORD_BYTES_MAX / 2).contains(size));
    let size = size.ok_or_else(|| Flaw::Length(format!("a record's length cannot be {number}")))?;
    if !has_payload && size != at {
        return Err(Flaw::Length(format!(
            "a record's length is {number}, its fields have {at} bytes"
        )));
    }
    if has_payload {
        let end = size - behind;
        spans.push(at..end);
        at = end;
        for field in fields {
            spans.push(at..at + least(field.kind));
            at += least(field.kind);
        }
    }
    Ok(Front { spans, size })
}

/// The bytes that [`front`] may need to see.
fn front_bytes(declaration: &Declaration) -> usize {
    let widest = |kind| {
        if kind == FieldKind::Uvarint {
            VARINT_BYTES
        } else {
            least(kind)
        }
    };
    declaration
        .record
        .iter()
        .take_while(|field| field.kind != FieldKind::Payload)
        .map(|field| widest(field.kind))
        .sum::<usize>()
        .max(1)
}

/// The fewest bytes of a field.
fn least(kind: FieldKind) -> usize {
    match kind {
        FieldKind::Uint(size) | FieldKind::Bytes(size) => size,
        FieldKind::Uvarint => 1,
        FieldKind::Payload => 0,
    }
}

/// Whether the segment ends here by a mark, and if so whether the layout has that mark.
fn end_mark(declaration: &Declaration, head: &[u8]) -> Option<bool> {
    let mut at = 0;
    for field in declaration
        .record
        .iter()
        .take_while(|field| field.kind != FieldKind::Payload)
    {
        let rest = head.get(at..).unwrap_or_default();
        let size = if field.kind == FieldKind::Uvarint {
            varint(rest).map_or(1, |(_, behind)| rest.len() - behind.len())
        } else {
            least(field.kind)
        };
        let mark = match field.name.as_str() {
            _ if field.measures.is_some() => Some(EndMark::ZeroLength),
            "lsn" => Some(EndMark::ZeroLsn),
            "type" => Some(EndMark::ZeroType),
            _ => None,
        };
        if mark.is_some_and(|mark| declaration.end.contains(&mark))
            && rest.get(..size).is_some_and(is_zero)
        {
            return Some(true);
        }
        at += size;
    }
    let has_mark = declaration.end.iter().any(|&mark| mark != EndMark::Eof);
    is_zero(head).then_some(has_mark)
}

fn mismatch(
    declaration: &Declaration,
    field: &Field,
    pinned: &Pinned,
    content: &[u8],
    context: &Context,
) -> Option<String> {
    let name = &field.name;
    let number = declaration.number(content);
    match pinned {
        Pinned::Number(wanted) => {
            (number != *wanted).then(|| format!("field {name} is {number}, it has to be {wanted}"))
        }
        Pinned::Bytes(wanted) => {
            (content != wanted).then(|| format!("field {name} has other bytes than it has to have"))
        }
        Pinned::Name => {
            let wanted = context.name.lsn?.0;
            (number != wanted)
                .then(|| format!("field {name} is {number}, the file's name says {wanted}"))
        }
    }
}

/// What a checksum field has to hold; `None` if the field is no checksum.
fn checksum(
    declaration: &Declaration,
    field: &Field,
    spans: &[Range<usize>],
    bytes: &[u8],
    size: usize,
    span: &Range<usize>,
    before: Option<u64>,
) -> Option<u64> {
    let algorithm = field.algorithm?;
    let mut sum = Sum::new(algorithm);
    if let (Some(before), Chain::Segment | Chain::Log) = (before, field.chain) {
        let width = span.len().min(8);
        match declaration.endian {
            Endian::Little => sum.add(&before.to_le_bytes()[..width]),
            Endian::Big => sum.add(&before.to_be_bytes()[8 - width..]),
        }
    }
    match &field.covers {
        Covers::Before => sum.add(&bytes[..span.start]),
        Covers::After => sum.add(&bytes[span.end..size]),
        Covers::Fields(fields) => {
            for span in fields.iter().filter_map(|&n| spans.get(n)) {
                sum.add(&bytes[span.clone()]);
            }
        }
    }
    let mask = if span.len() >= 8 {
        u64::MAX
    } else {
        (1 << (8 * span.len())) - 1
    };
    Some(sum.finish() & mask)
}

/// A checksum under way.
enum Sum {
    Crc32(crc32fast::Hasher),
    Crc32c(u32),
    Crc32cMasked(u32),
    Adler32(simd_adler32::Adler32),
    Xxh3(Box<xxhash_rust::xxh3::Xxh3>),
    Siphash24(siphasher::sip::SipHasher24),
}

impl Sum {
    fn new(algorithm: Algorithm) -> Self {
        match algorithm {
            Algorithm::Crc32 => Self::Crc32(crc32fast::Hasher::new()),
            Algorithm::Crc32c => Self::Crc32c(0),
            Algorithm::Crc32cMasked => Self::Crc32cMasked(0),
            Algorithm::Adler32 => Self::Adler32(simd_adler32::Adler32::new()),
            Algorithm::Xxh3 => Self::Xxh3(Box::default()),
            Algorithm::Siphash24 => Self::Siphash24(siphasher::sip::SipHasher24::new()),
        }
    }

    fn add(&mut self, bytes: &[u8]) {
        match self {
            Self::Crc32(hasher) => hasher.update(bytes),
            Self::Crc32c(crc) | Self::Crc32cMasked(crc) => {
                *crc = crc32c::crc32c_append(*crc, bytes)
            }
            Self::Adler32(adler) => adler.write(bytes),
            Self::Xxh3(hasher) => hasher.update(bytes),
            Self::Siphash24(hasher) => hasher.write(bytes),
        }
    }

    fn finish(self) -> u64 {
        match self {
            Self::Crc32(hasher) => u64::from(hasher.finalize()),
            Self::Crc32c(crc) => u64::from(crc),
            Self::Crc32cMasked(crc) => u64::from(crc.rotate_right(15).wrapping_add(0xa282_ead8)),
            Self::Adler32(adler) => u64::from(adler.finish()),
            Self::Xxh3(hasher) => hasher.digest(),
            Self::Siphash24(hasher) => hasher.finish(),
        }
    }
}

/// Chained checksums cannot be tested without the record before, so nothing is found by them.
fn probe(declaration: &Declaration, window: &mut Window<'_>, budget: &mut Budget) -> Option<Found> {
    let context = Context::default();
    let has_checksum = declaration
        .record
        .iter()
        .any(|field| field.algorithm.is_some() && field.chain == Chain::None);
    let head = window.peek(front_bytes(declaration));
    let head = &head[..head.len().min(front_bytes(declaration))];
    let front = front(declaration, head).ok()?;
    if !has_checksum || !budget.pay(front.size) {
        return None;
    }
    let carry = Carry {
        rule: Chain::None,
        value: None,
    };
    match record(declaration, window, &carry, &context) {
        Outcome::Record(record) => Some(Found {
            size: record.size,
            lsn: Some(record.lsn),
        }),
        Outcome::End | Outcome::Zeros { .. } | Outcome::Stop(_) => None,
    }
}
