//! One occurrence added to whatever counts it.

use super::{FoldRules, Scanned};
use crate::record::Locator;
use crate::scan::Entry;
use crate::signals::tally::{EVIDENCE_BYTES, EVIDENCE_MAX, Evidence, NodeTally};
use crate::signals::{Signal, TallyKind};
use crate::time::Timestamp;

/// Adds one occurrence to its signal's tally and to the counters that ask for it.
pub(super) fn count(
    tally: &mut NodeTally,
    rules: FoldRules<'_>,
    index: u16,
    values: &[&[u8]],
    time: Option<Timestamp>,
    suspect: bool,
    evidence: impl FnOnce() -> Evidence,
) {
    let signal = rules.signals.signal(index);
    let signal_tally = &mut tally.signals[usize::from(index)];
    if signal_tally.all.count == 0 {
        signal_tally.first = values
            .iter()
            .map(|value| String::from_utf8_lossy(value).into_owned())
            .collect();
    }
    signal_tally.all.add(time, suspect);
    for (at, field) in signal.fields.iter().enumerate() {
        if field.tally != TallyKind::Not && !values[at].is_empty() {
            signal_tally.values[at].add(values[at], rules.subjects_max);
        }
    }
    if let (Some(time), false) = (time, suspect) {
        *signal_tally.minutes.entry(time.minute()).or_default() += 1;
    }
    let mut evidence = Some(evidence);
    let mut text: Option<Evidence> = None;
    let evidence_max = rules
        .listed
        .filter(|(listed, _)| *listed == index)
        .map_or(EVIDENCE_MAX, |(_, max)| max);
    if signal_tally.evidence.len() < evidence_max {
        text = evidence.take().map(|make| make());
        signal_tally.evidence.extend(text.clone());
    }
    if suspect {
        return;
    }
    for (at, watch) in rules
        .stalls
        .iter()
        .enumerate()
        .filter(|(_, watch)| watch.signal == index)
    {
        text = text.or_else(|| evidence.take().map(|make| make()));
        if let (Some(time), Some(text)) = (time, &text) {
            tally.stalls[at].see(watch, values, time, || text.clone(), rules.subjects_max);
        }
    }
    for &at in &rules.counters_of[usize::from(index)] {
        let counter = &rules.counters[at];
        let holds = |(field, accepted): &(usize, Vec<String>)| {
            accepted.iter().any(|a| a.as_bytes() == values[*field])
        };
        if !counter.filters.iter().all(holds) {
            continue;
        }
        let counted = &mut tally.counters[at];
        counted.add_values(counter, values, rules.subjects_max);
        if counted.add(counter, time) {
            text = text.or_else(|| evidence.take().map(|make| make()));
            tally.counters[at].evidence.extend(text.clone());
        }
    }
}

/// Fills a signal's derived fields.
pub(super) fn derive<'a>(signal: &'a Signal, values: &mut [&'a [u8]]) {
    for derived in &signal.derived {
        let from = values[derived.from];
        let class = derived
            .classes
            .iter()
            .find(|class| class.pattern.is_match(from));
        let value: &str = class.map_or(&derived.otherwise, |class| &class.value);
        values[derived.field] = value.as_bytes();
    }
}

/// The lines of a record after its head's.
pub(super) fn continuation_lines(scanned: &Scanned, entry: &Entry) -> u64 {
    let lines = memchr::memchr_iter(b'\n', entry.bytes.of(&scanned.block.bytes)).count();
    u64::try_from(lines).unwrap_or(0)
}

pub(super) fn evidence(scanned: &Scanned, entry: &Entry) -> Evidence {
    let bytes = entry.bytes.of(&scanned.block.bytes);
    let line = &bytes[..memchr::memchr(b'\n', bytes).unwrap_or(bytes.len())];
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let mut end = line.len().min(EVIDENCE_BYTES);
    // Not inside a character, which has up to three bytes after its first.
    for _ in 0..3 {
        if line.get(end).is_some_and(|byte| byte & 0xc0 == 0x80) {
            end -= 1;
        }
    }
    let mut text = String::from_utf8_lossy(&line[..end]).into_owned();
    if end < line.len() {
        text.push('…');
    }
    let at = Locator {
        artifact: scanned.artifact,
        line: scanned.first_line + u64::from(entry.line),
        offset: scanned.block.offset + u64::from(entry.bytes.start),
    };
    Evidence {
        at,
        time: entry.time,
        text,
    }
}
