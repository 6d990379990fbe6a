//! One occurrence added to whatever counts it.

use std::cell::LazyCell;

use super::{FoldRules, Scanned};
use crate::parsers::tables::{Rows, cell, known};
use crate::record::{Locator, Record};
use crate::scan::Entry;
use crate::signals::tally::{
    Around, EVIDENCE_BYTES, EVIDENCE_MAX, Evidence, ExportedName, ExportedValue, MARKS_MAX,
    NodeTally,
};
use crate::time::Timestamp;
use crate::vocab::Lsn;

/// An occurrence as it is counted.
pub(super) struct Said<'v> {
    /// The index of its signal.
    pub(super) signal: u16,
    pub(super) values: &'v [&'v [u8]],
    pub(super) time: Option<Timestamp>,
    pub(super) suspect: bool,
    /// The most that it adds to a sum.
    pub(super) weight_max: u64,
    /// The table that its record is about; empty where nothing asks for it.
    pub(super) table: &'v [u8],
    /// Whether another logger's record said the same of its query before.
    pub(super) is_again: bool,
}

/// Adds one occurrence to its signal's tally and to the counters that ask for it.
pub(super) fn count(
    tally: &mut NodeTally,
    rules: &FoldRules<'_>,
    said: &Said<'_>,
    evidence: impl FnOnce() -> Evidence,
) {
    let (index, values, time) = (said.signal, said.values, said.time);
    let suspect = said.suspect;
    let signal = rules.signals.signal(index);
    let uses = &rules.uses[usize::from(index)];
    let signal_tally = &mut tally.signals[usize::from(index)];
    if signal_tally.all.count == 0 {
        signal_tally.first = values
            .iter()
            .map(|value| String::from_utf8_lossy(value).into_owned())
            .collect();
    }
    signal_tally.all.add(time, suspect);
    for &at in &uses.values {
        if !values[at].is_empty() {
            signal_tally.values[at].add_later(values[at], rules.subjects_max);
        }
    }
    // A counter that last grew then grew at other times, too.
    let is_moment = signal.row.as_ref().is_none_or(|row| !row.is_counter);
    if let (Some(time), false, true) = (time, suspect, is_moment) {
        signal_tally.minutes.add(time);
        signal_tally.rate.add(time);
        for (extent, &field) in signal_tally.positions.iter_mut().zip(&signal.positions) {
            let position = std::str::from_utf8(values[field]).ok().and_then(Lsn::parse);
            if let Some(Lsn(position)) = position {
                extent.add(time, position);
            }
        }
        if signal.mark.is_some() && signal_tally.marks.len() < MARKS_MAX {
            signal_tally.marks.push(time);
        }
    }
    // Few occurrences are cited, so few are turned into text.
    let evidence = LazyCell::new(evidence);
    let evidence_max = rules
        .listed
        .filter(|(listed, _)| *listed == index)
        .map_or(EVIDENCE_MAX, |(_, max)| max);
    if signal_tally.evidence.len() < evidence_max {
        signal_tally.evidence.push(Evidence::clone(&evidence));
    }
    if suspect {
        return;
    }
    if let Some(time) = time {
        for &at in &uses.stalls {
            tally.stalls[at].see(
                &rules.stalls[at],
                (said.table, values),
                time,
                rules.subjects_max,
            );
        }
        for &at in &uses.sides {
            let sample = tally.paired.entry(at).or_default();
            sample.add(&rules.paired[at], values, time);
        }
    }
    for &at in &uses.counters {
        let counter = &rules.counters[at];
        if !counter.takes(values) || counter.per_query && said.is_again {
            continue;
        }
        let counted = &mut tally.counters[at];
        if !counter.values.is_empty() {
            counted.add_values(counter, values, rules.subjects_max);
        }
        let weight = counter.sum.map_or(1, |field| number(values[field]));
        if counted.add(counter, time, weight.min(said.weight_max)) {
            tally.counters[at].evidence.push(Evidence::clone(&evidence));
        }
    }
}

/// A value that is added up; nothing where it is no whole number.
fn number(value: &[u8]) -> u64 {
    let text = std::str::from_utf8(value).ok();
    text.and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// The lines of a record after its head's.
pub(super) fn continuation_lines(scanned: &Scanned, entry: &Entry) -> u64 {
    let lines = memchr::memchr_iter(b'\n', entry.bytes.of(&scanned.block.bytes)).count();
    u64::try_from(lines).unwrap_or(0)
}

/// How many lines before a cited record are shown with it, and how many after its head.
const LINES_BEFORE: usize = 2;
const LINES_AFTER: usize = 3;

/// How many bytes of such a line are kept.
const AROUND_BYTES: usize = 240;

/// A record to cite, alone.
pub(super) fn evidence(scanned: &Scanned, entry: &Entry) -> Evidence {
    let bytes = entry.bytes.of(&scanned.block.bytes);
    let line = &bytes[..memchr::memchr(b'\n', bytes).unwrap_or(bytes.len())];
    let origin = scanned.block.origin.as_deref();
    let start = origin.and_then(|origin| origin.start_of(entry.bytes.start as usize));
    let (number, offset) = match start {
        Some(start) => (start.line, start.offset),
        None => (
            scanned.first_line + u64::from(entry.line),
            scanned.block.offset + u64::from(entry.bytes.start),
        ),
    };
    let at = Locator {
        artifact: scanned.artifact,
        line: number,
        offset,
    };
    Evidence {
        at,
        time: entry.time,
        text: shown(line, EVIDENCE_BYTES),
        around: Around::default(),
    }
}

/// A record to cite of which more than its first line tells: its lines one behind another.
pub(super) fn in_full(cited: Evidence, scanned: &Scanned, entry: &Entry) -> Evidence {
    let mut text = Vec::new();
    for line in entry
        .bytes
        .of(&scanned.block.bytes)
        .split(|byte| *byte == b'\n')
    {
        let line = line.trim_ascii();
        if text.len() > EVIDENCE_BYTES {
            break;
        }
        if !(text.is_empty() || line.is_empty()) {
            text.push(b' ');
        }
        text.extend_from_slice(line);
    }
    Evidence {
        text: shown(&text, EVIDENCE_BYTES),
        ..cited
    }
}

/// A row to cite: its cells apart from each other, and none of the rows beside it.
pub(super) fn row_evidence(scanned: &Scanned, entry: &Entry) -> Evidence {
    let cited = evidence(scanned, entry);
    Evidence {
        text: cited.text.replace('\t', "  "),
        ..cited
    }
}

/// A record to cite, with the lines beside it.
pub(super) fn evidence_in_place(scanned: &Scanned, entry: &Entry) -> Evidence {
    let block = &scanned.block.bytes;
    let (head, tail) = block.split_at(block.len().min(entry.bytes.start as usize));
    let head = head.strip_suffix(b"\n").unwrap_or(head);
    let lines_before = head.rsplit(|byte| *byte == b'\n').take(LINES_BEFORE);
    let mut before: Vec<String> = lines_before.map(|line| shown(line, AROUND_BYTES)).collect();
    before.reverse();
    if head.is_empty() {
        before.clear();
    }
    let tail = tail.strip_suffix(b"\n").unwrap_or(tail);
    let lines_after = tail.split(|byte| *byte == b'\n').skip(1).take(LINES_AFTER);
    let after = lines_after.map(|line| shown(line, AROUND_BYTES)).collect();
    Evidence {
        around: Around { before, after },
        ..evidence(scanned, entry)
    }
}

/// The beginning of a line as text; `…` says that there is more.
fn shown(line: &[u8], bytes_max: usize) -> String {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let mut end = line.len().min(bytes_max);
    // Not inside a character, which has up to three bytes after its first.
    for _ in 0..3 {
        if line.get(end).is_some_and(|byte| byte & 0xc0 == 0x80) {
            end -= 1;
        }
    }
    // To find a text sound costs a fraction of repairing it, and most are.
    let shown = &line[..end];
    let mut text = match std::str::from_utf8(shown) {
        Ok(text) => text.to_owned(),
        Err(_) => String::from_utf8_lossy(shown).into_owned(),
    };
    if end < line.len() {
        text.push('…');
    }
    text
}

/// The counter that a row of a table of counters holds.
pub(super) fn counter_of(
    table: &str,
    record: &Record<'_>,
) -> Option<(ExportedName, ExportedValue)> {
    let Rows::Counters { name, code } = known(table)?.rows else {
        return None;
    };
    let text = |column: &str| String::from_utf8_lossy(cell(record.message, column)).into_owned();
    let name = name
        .iter()
        .map(|column| text(column))
        .find(|it| !it.is_empty())?;
    let value = text("value");
    let value = value.parse().ok().or_else(|| whole(&value))?;
    let name = ExportedName {
        table: table.to_owned(),
        name,
        code: code.and_then(|column| text(column).parse().ok()),
        remote: matches!(text("remote").as_str(), "1" | "true"),
    };
    let last = record.time;
    Some((name, ExportedValue { value, last }))
}

/// The whole part of a number with a fraction.
#[expect(
    clippy::cast_possible_truncation,
    reason = "saturates, and a counter has no fraction worth keeping"
)]
fn whole(number: &str) -> Option<i128> {
    number
        .parse::<f64>()
        .ok()
        .filter(|it| it.is_finite())
        .map(|it| it as i128)
}
