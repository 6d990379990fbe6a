//! The WAL rows of a report as pictures need them: ranges of positions.
//!
//! They are read by key and not by type: a kept report may lack what this version writes.

use serde_json::Value;

use crate::report::model::Report;
use crate::vocab::Lsn;

/// A range of positions, both ends in it.
pub(super) type Range = (u64, u64);

/// The WALs of a report.
pub(super) fn wals(report: &Report) -> Vec<Value> {
    match serde_json::to_value(&report.wal) {
        Ok(Value::Array(wals)) => wals,
        _ => Vec::new(),
    }
}

/// The lowest and the highest position that any segment holds or promises, or that is missing.
pub(super) fn whole(wal: &Value) -> Option<Range> {
    let segments = list(wal, "segments");
    let named = segments.iter().filter_map(|it| position(it, "name_lsn"));
    let ranges = segments.iter().filter_map(held).chain(missing(wal));
    let ends = ranges.flat_map(|(low, high)| [low, high]).chain(named);
    let (low, high) = ends.fold((u64::MAX, 0), |(low, high), at| (low.min(at), high.max(at)));
    (low <= high).then_some((low, high))
}

/// The ranges that no segment holds.
pub(super) fn missing(wal: &Value) -> Vec<Range> {
    list(wal, "missing").iter().filter_map(pair).collect()
}

/// The positions from a segment's first to its last record.
pub(super) fn held(segment: &Value) -> Option<Range> {
    let (first, last) = (
        position(segment, "first_lsn")?,
        position(segment, "last_lsn")?,
    );
    Some((first.min(last), first.max(last)))
}

/// The positions that a problem is about.
pub(super) fn about(problem: &Value) -> Option<Range> {
    let first = position(problem, "lsn")?;
    let last = position(problem, "lsn_to").unwrap_or(first);
    Some((first.min(last), first.max(last)))
}

/// A list, empty if there is none.
pub(super) fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    let found = value.get(key).and_then(Value::as_array);
    found.map_or(&[], Vec::as_slice)
}

/// A text, or a number as text.
pub(super) fn text(value: &Value, key: &str) -> String {
    match value.get(key) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        None | Some(Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_)) => {
            String::new()
        }
    }
}

/// A position.
pub(super) fn position(value: &Value, key: &str) -> Option<u64> {
    number(value.get(key)?)
}

fn pair(value: &Value) -> Option<Range> {
    let [first, last] = value.as_array()?.as_slice() else {
        return None;
    };
    Some((number(first)?, number(last)?))
}

/// A position is a number, or text where the system writes hexadecimal, in one number or in two halves.
fn number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| {
        let text = value.as_str()?;
        if text.contains('/') {
            return Lsn::parse(text).map(|lsn| lsn.0);
        }
        let digits = text.strip_prefix("0x").unwrap_or(text);
        u64::from_str_radix(digits, 16).ok()
    })
}
