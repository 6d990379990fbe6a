//! What an entry's signals say of watched names.

use super::Scanned;
use super::count::evidence;
use crate::scan::Entry;
use crate::signals::tally::{NodeTally, Watch};
use crate::signals::{FieldKind, SignalSet};

/// How much of a head's line is searched: the logger, and a query at the end of an exception.
const LINE_BYTES_MAX: usize = 8 * 1024;

/// Counts the signals of an entry for each watched name on its head's line.
pub(super) fn count(
    tally: &mut NodeTally,
    signals: &SignalSet,
    watch: &Watch,
    scanned: &Scanned,
    entry: &Entry,
) {
    let block = &scanned.block.bytes;
    let bytes = entry.bytes.of(block);
    let line = &bytes[..memchr::memchr(b'\n', bytes)
        .unwrap_or(bytes.len())
        .min(LINE_BYTES_MAX)];
    for name in watch.find(line) {
        for occurrence in scanned.scan.occurrences_of(entry) {
            let key = (name.to_owned(), occurrence.signal);
            let of_name = tally.watched.entry(key).or_default();
            of_name.all.add(entry.time, false);
            if let Some(time) = entry.time {
                of_name.minutes.add(time);
            }
            if of_name.evidence.is_none() {
                of_name.evidence = Some(evidence(scanned, entry));
            }
            let fields = &signals.signal(occurrence.signal).fields;
            for (field, span) in fields.iter().zip(scanned.scan.fields_of(occurrence)) {
                let value = span.of(block);
                if field.kind == FieldKind::Part && !value.is_empty() {
                    of_name.part(&String::from_utf8_lossy(value), entry.time);
                }
            }
        }
    }
}
