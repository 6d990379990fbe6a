//! The fields of a described record laid over its first bytes: where each is, and how long the record is.

use std::ops::Range;

use super::declared::{Declaration, EndMark, FieldKind, Measure};
use super::etcd::varint;
use super::window::{RECORD_BYTES_MAX, is_zero};

/// The longest encoding of a 64-bit number in groups of seven bits.
const VARINT_BYTES: usize = 10;
/// Fewer zero bytes at the end of a file are not taken for a zero tail.
const TAIL_BYTES_MIN: usize = 8;

/// The fields before the payload, or why they are none.
pub(super) struct Front {
    pub(super) spans: Vec<Range<usize>>,
    /// Bytes of the record without padding.
    pub(super) size: usize,
}

/// Why a record's fields cannot be laid out.
pub(super) enum Flaw {
    /// There are too few bytes.
    Short,
    /// The length cannot be one.
    Length(String),
}

/// Lays the fields over the front of a record.
pub(super) fn front(declaration: &Declaration, head: &[u8]) -> Result<Front, Flaw> {
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
pub(super) fn front_bytes(declaration: &Declaration) -> usize {
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
pub(super) fn least(kind: FieldKind) -> usize {
    match kind {
        FieldKind::Uint(size) | FieldKind::Bytes(size) => size,
        FieldKind::Uvarint => 1,
        FieldKind::Payload => 0,
    }
}

/// Whether the segment ends here by a mark, and if so whether the layout has that mark.
pub(super) fn end_mark(declaration: &Declaration, head: &[u8]) -> Option<bool> {
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
    // A few zero bytes at the end can be the front of a number as well as the rest of a zero tail.
    let is_tail = head.len() >= front_bytes(declaration).min(TAIL_BYTES_MIN) && is_zero(head);
    is_tail.then_some(has_mark)
}
