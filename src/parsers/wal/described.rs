//! Reads a segment by a description of its records.

use std::io::Read;
use std::ops::Range;

use crate::vocab::{Lsn, Term};

use super::checksum::checksum;
use super::declared::{Chain, Declaration, Field, FieldKind, Pinned, Step as LsnStep};
use super::etcd::varint;
use super::form::Step;
use super::front::{Flaw, Front, end_mark, front, front_bytes, least};
use super::salvage::{self, Budget, FOUND_BYTES_MAX, Found, Search, Stop, ZEROS_MIN};
use super::window::Window;
use super::{Body, Context, Fault, FaultKind, Frame, Scan, Tail};

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
        if let Some(computed) = checksum(declaration, field, &spans, bytes, span, None) {
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
            Outcome::Step(Step::Stop(stop)) => {
                let search = Search {
                    align,
                    after: last,
                    probe: &mut probe,
                };
                salvage::stop(window, scan, stop, search);
                return;
            }
            Outcome::Step(Step::End | Step::Frame(_) | Step::Zeros) => return,
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
    Zeros { is_legal: bool },
    Step(Step),
}

fn record(
    declaration: &Declaration,
    window: &mut Window<'_>,
    chain: &Carry,
    context: &Context,
) -> Outcome {
    let offset = window.offset();
    let (align, wanted) = (declaration.align, front_bytes(declaration));
    let head = window.peek(wanted);
    let head = &head[..head.len().min(wanted)];
    if head.is_empty() {
        return Outcome::Step(Step::End);
    }
    if let Some(is_legal) = end_mark(declaration, head) {
        return Outcome::Zeros { is_legal };
    }
    let front = match front(declaration, head) {
        Ok(front) => front,
        Err(Flaw::Short) if head.len() == wanted => {
            let detail = "its first fields cannot be read".to_owned();
            return Outcome::Step(Step::corrupt(offset, align, detail));
        }
        Err(Flaw::Short) => return Outcome::Step(Step::head_only(offset, align, head.len())),
        Err(Flaw::Length(detail)) => return Outcome::Step(Step::corrupt(offset, align, detail)),
    };
    let padded = front.size.next_multiple_of(align);
    let bytes = window.peek(padded);
    // The padding of the last record may be left out: nothing is lost with it.
    if bytes.len() < front.size {
        return Outcome::Step(Step::past_end(offset, align, front.size, bytes.len()));
    }
    let size = padded.min(bytes.len());
    let bytes = &bytes[..front.size];
    match verify(declaration, &front, bytes, chain, context) {
        Ok(checksum) => Outcome::Record(meaning(declaration, &front, bytes, size, checksum)),
        Err(Wrong::Field(detail)) => Outcome::Step(Step::corrupt(offset, align, detail)),
        Err(Wrong::Checksum(detail)) => {
            let stop = Stop::checksum(offset, size, bytes, ZEROS_MIN, detail);
            Outcome::Step(Step::Stop(stop))
        }
    }
}

/// What is wrong with a record that is there.
enum Wrong {
    /// A field is not what it has to be.
    Field(String),
    /// A checksum is not its content's.
    Checksum(String),
}

/// Tests fixed fields and checksums; returns the stored checksum that the next one goes on from.
fn verify(
    declaration: &Declaration,
    front: &Front,
    bytes: &[u8],
    chain: &Carry,
    context: &Context,
) -> Result<Option<u64>, Wrong> {
    let mut kept = None;
    for (field, span) in declaration.record.iter().zip(&front.spans) {
        let content = &bytes[span.clone()];
        let pinned = field.equals.as_ref();
        if let Some(detail) =
            pinned.and_then(|pinned| mismatch(declaration, field, pinned, content, context))
        {
            return Err(Wrong::Field(detail));
        }
        let Some(computed) = checksum(declaration, field, &front.spans, bytes, span, chain.value)
        else {
            continue;
        };
        let stored = declaration.number(content);
        kept = Some(stored);
        // Without the record before, a checksum that runs through all segments is taken and not tested.
        let is_testable = field.chain != Chain::Log || chain.value.is_some();
        if stored != computed && is_testable {
            return Err(Wrong::Checksum(format!(
                "stored {stored:x} computed {computed:x}"
            )));
        }
    }
    Ok(kept)
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
        LsnStep::By(step) => step,
        LsnStep::Bytes => size as u64,
        LsnStep::Count => count,
        LsnStep::Epoch | LsnStep::Increasing => 1,
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
    if !has_checksum || front.size > FOUND_BYTES_MAX || !budget.pay(front.size) {
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
            records: 1,
        }),
        Outcome::Zeros { .. } | Outcome::Step(_) => None,
    }
}
