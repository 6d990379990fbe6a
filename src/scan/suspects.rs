//! Records whose stamp leaves their neighbours' time and comes back: printed by a query's text, or by another clock.
//!
//! In current servers a newline inside a query is printed as it is, so a user can print a line that looks exactly like a
//! head. Its stamp is far from the record before and from the one after, and those two agree.

use super::Scan;
use crate::time::{SECOND, Timestamp};

/// How far a stamp must be from its neighbours. Threads and writes reorder records by milliseconds.
const JUMP: i64 = 60 * SECOND;
/// The longest run of such records; beyond it the clock itself was set, or a restart left a gap.
const RUN_MAX: usize = 64;

/// The shortest stretch without a record that is kept, in microseconds.
pub const GAP: i64 = 5 * SECOND;

/// The run being watched.
#[derive(Debug, Default)]
pub(super) struct Suspects {
    base: Option<Timestamp>,
    run: Option<Run>,
}

#[derive(Debug)]
struct Run {
    first_entry: Option<usize>,
    records: usize,
    span: (Timestamp, Timestamp),
    /// The stamp of its last record.
    last: Timestamp,
    /// Stretches without a record before it and in it.
    gaps: Vec<(Timestamp, Timestamp)>,
}

impl Suspects {
    /// Takes the stamp of the next record; whether it is away from its neighbours so far.
    pub(super) fn see(&mut self, time: Timestamp, scan: &mut Scan) -> bool {
        let Some(base) = self.base else {
            self.accept(time, (time, time), scan);
            return false;
        };
        let near = (time.0 - base.0).abs() <= JUMP;
        if near {
            if let Some(run) = self.run.take() {
                let from = run.first_entry.unwrap_or(scan.entries.len());
                for entry in &mut scan.entries[from..] {
                    entry.suspect = true;
                }
            }
            scan.gaps.extend(gap(base, time));
            self.accept(time, (time, time), scan);
            return false;
        }
        let run = self.run.get_or_insert(Run {
            first_entry: None,
            records: 0,
            span: (time, time),
            last: base,
            gaps: Vec::new(),
        });
        run.records += 1;
        run.span = (run.span.0.min(time), run.span.1.max(time));
        run.gaps.extend(gap(run.last, time));
        run.last = time;
        if run.records > RUN_MAX {
            self.end(scan);
            return false;
        }
        true
    }

    /// Says which entry the record just seen became.
    pub(super) fn count(&mut self, entry: Option<usize>, in_run: bool) {
        if let (Some(run), true) = (&mut self.run, in_run) {
            run.first_entry = run.first_entry.or(entry);
        }
    }

    /// The block ends: what is still away never came back, so it is taken as the clock's own step.
    pub(super) fn end(&mut self, scan: &mut Scan) {
        if let Some(run) = self.run.take() {
            scan.gaps.extend(run.gaps);
            self.accept(run.last, run.span, scan);
        }
    }

    /// Takes the stamp of a record that is not suspect, or of the last one of a run.
    fn accept(&mut self, time: Timestamp, span: (Timestamp, Timestamp), scan: &mut Scan) {
        self.base = Some(time);
        scan.opened.get_or_insert(time);
        scan.last_time = Some(time);
        let (low, high) = scan.span.unwrap_or(span);
        scan.span = Some((low.min(span.0), high.max(span.1)));
    }
}

/// The stretch between two records, if it is long enough to keep.
pub fn gap(from: Timestamp, to: Timestamp) -> Option<(Timestamp, Timestamp)> {
    (to.0 - from.0 >= GAP).then_some((from, to))
}
