//! How segments end: what a crash leaves there, what the system leaves there, and what is damage.

use crate::parsers::wal::{Fault, FaultKind, Tail};
use crate::vocab::LsnRange;

use super::check::Judge;
use super::model::{NoteKind, ProblemKind, Severity};
use super::rules::{Residue, Where};

/// The end of a segment that is not in order.
struct End {
    kind: ProblemKind,
    /// What it is called where it is legal.
    note: NoteKind,
    residue: Residue,
    offset: u64,
    detail: String,
}

impl Judge<'_> {
    /// What stands behind the last good record of a segment.
    pub(super) fn ends(&mut self, n: usize) {
        let scanned = &self.segments[n];
        let is_last = self.is_last(n);
        if let Some(remark) = scanned.remark {
            let file = scanned.segment.file.clone();
            self.note(NoteKind::Info, Some(file), None, remark.to_owned());
        }
        if scanned.is_growing {
            let why = format!(
                "its size changed while it was read; checked up to offset {}",
                scanned.segment.size
            );
            self.note(
                NoteKind::Info,
                Some(scanned.segment.file.clone()),
                None,
                why,
            );
        }
        match scanned
            .faults
            .iter()
            .find(|fault| fault.kind.ends_segment())
        {
            Some(fault) => self.fault(n, fault, is_last),
            None => self.tail(n, is_last),
        }
        let behind = self.segments.get(n + 1);
        let is_told = behind.is_some_and(|next| next.is_carry_told);
        if let Some(carry) = scanned.carry.filter(|_| is_last && !is_told) {
            let lsn = self.show(carry.lsn);
            if n + 1 == self.segments.len() {
                let why = format!("the record at {lsn} goes on in a segment that is not here");
                let file = scanned.segment.file.clone();
                self.note(NoteKind::Info, Some(file), Some(carry.lsn), why);
                return;
            }
            let detail = format!("the record at {lsn} goes on in a segment that has none of it");
            let end = End {
                kind: ProblemKind::TornTail,
                note: NoteKind::StalePage,
                residue: Residue::Crash,
                offset: scanned.segment.end_offset,
                detail,
            };
            self.report(n, end);
        }
        if scanned.segment.entries == 0 && scanned.segment.records > 0 {
            self.note(
                NoteKind::NoRecords,
                Some(scanned.segment.file.clone()),
                None,
                "it has a header and no records of the log".to_owned(),
            );
        }
        let is_short = scanned
            .segment
            .max_lsn
            .zip(scanned.segment.name_last)
            .is_some_and(|(max, last)| max < last);
        if is_short && !is_last && self.continues(n) {
            let why =
                "it was closed early, or not renamed when it was closed; the next one goes on"
                    .to_owned();
            self.note(
                NoteKind::ShortOfNameEnd,
                Some(scanned.segment.file.clone()),
                scanned.segment.max_lsn,
                why,
            );
        }
    }

    fn fault(&mut self, n: usize, fault: &Fault, is_last: bool) {
        let scanned = &self.segments[n];
        let torn = self.is_legal(self.rules.torn_tail, n, is_last);
        let residue = |is_legal, legal| if is_legal { legal } else { Residue::Damage };
        let is_bad_torn = self.rules.is_bad_record_torn && torn && !is_last;
        let (kind, residue) = match fault.kind {
            FaultKind::Torn if is_last => (ProblemKind::TornTail, residue(torn, Residue::Crash)),
            FaultKind::Torn => (ProblemKind::TornMiddle, residue(torn, Residue::Legal)),
            FaultKind::Checksum => (ProblemKind::Checksum, residue(is_bad_torn, Residue::Legal)),
            FaultKind::Corrupt => (
                ProblemKind::CorruptRecord,
                residue(is_bad_torn, Residue::Legal),
            ),
            FaultKind::ZeroRun if is_last => (
                ProblemKind::ZeroTail,
                residue(self.rules.torn_tail != Where::Never, Residue::Crash),
            ),
            FaultKind::ZeroRun => (ProblemKind::ZeroTail, residue(torn, Residue::Legal)),
            FaultKind::HeaderTorn if is_last && self.rules.torn_header == Residue::Crash => {
                (ProblemKind::TornTail, Residue::Crash)
            }
            FaultKind::HeaderTorn => (ProblemKind::BadHeader, Residue::Damage),
            FaultKind::Empty | FaultKind::Recycled
                if self.rules.is_made_ahead
                    && scanned.segment.size > 0
                    && self.is_behind_end(n) =>
            {
                (ProblemKind::EmptyLastSegment, Residue::Legal)
            }
            FaultKind::Empty if is_last => (ProblemKind::EmptyLastSegment, self.rules.empty_last),
            FaultKind::Empty => (ProblemKind::EmptySegment, self.rules.empty_middle),
            FaultKind::Recycled => (ProblemKind::MissingRange, Residue::Damage),
            FaultKind::Misnamed => (ProblemKind::NameMismatch, Residue::Damage),
            FaultKind::Unreadable => {
                self.loss = Some(usize::MAX);
                return;
            }
            FaultKind::Header | FaultKind::Identity | FaultKind::Chain => return,
        };
        let note = match fault.kind {
            FaultKind::Empty if self.rules.is_made_ahead => NoteKind::ZeroSegment,
            FaultKind::Empty => NoteKind::EmptySegment,
            FaultKind::Recycled => NoteKind::RecycledSegment,
            FaultKind::Header
            | FaultKind::HeaderTorn
            | FaultKind::Identity
            | FaultKind::Chain
            | FaultKind::Checksum
            | FaultKind::Corrupt
            | FaultKind::Torn
            | FaultKind::ZeroRun
            | FaultKind::Misnamed
            | FaultKind::Unreadable => NoteKind::TornTailOfClosedSegment,
        };
        self.report(
            n,
            End {
                kind,
                note,
                residue,
                offset: fault.offset,
                detail: fault.detail.clone(),
            },
        );
    }

    fn tail(&mut self, n: usize, is_last: bool) {
        let scanned = &self.segments[n];
        let offset = scanned.segment.end_offset;
        match scanned.tail {
            Tail::Exact | Tail::Torn | Tail::Bad | Tail::OpenStream => {}
            Tail::Stale => {
                let why =
                    "what was in the file before it was used again stands behind the last record";
                let file = scanned.segment.file.clone();
                self.note(NoteKind::StalePage, Some(file), None, why.to_owned());
            }
            // A reader goes on with the next file at the first zero length, so a tail that was not cut off costs nothing.
            Tail::Zeros(count) if self.rules.is_tail_cut && !is_last => {
                let why = format!(
                    "a closed segment keeps {count} zero bytes that are cut off when it is closed in order"
                );
                self.note(
                    NoteKind::Info,
                    Some(scanned.segment.file.clone()),
                    None,
                    why,
                );
            }
            Tail::Zeros(_) if self.is_legal(self.rules.zero_tail, n, is_last) => {}
            Tail::Zeros(count) => {
                let residue = if is_last && self.rules.torn_tail != Where::Never {
                    Residue::Crash
                } else {
                    Residue::Damage
                };
                let detail = format!("{count} zero bytes follow the last record");
                self.report(
                    n,
                    End {
                        kind: ProblemKind::ZeroTail,
                        note: NoteKind::Info,
                        residue,
                        offset,
                        detail,
                    },
                );
            }
            Tail::DataAfterZeros { zeros, at } => {
                let detail = format!(
                    "after {zeros} zero bytes, which end the segment, other bytes stand from offset {at} on"
                );
                let residue = match (scanned.behind, is_last) {
                    (None, true) => self.rules.data_after_zeros,
                    (None, false) if self.rules.data_after_zeros == Residue::Legal => {
                        Residue::Legal
                    }
                    (None, false) | (Some(_), _) => Residue::Damage,
                };
                let kind = if residue == Residue::Crash {
                    ProblemKind::TornTail
                } else {
                    ProblemKind::CorruptRecord
                };
                self.report(
                    n,
                    End {
                        kind,
                        note: NoteKind::DataAfterZeros,
                        residue,
                        offset,
                        detail,
                    },
                );
            }
        }
    }

    /// Writes down the end of a segment as what it is: a note, residue or damage.
    fn report(&mut self, n: usize, end: End) {
        let lsn = self
            .side_next(n)
            .or(self.log.next())
            .or(self.segments[n].segment.name_lsn);
        let severity = match end.residue {
            Residue::Damage => Severity::Damage,
            Residue::Crash => Severity::CrashResidue,
            Residue::Legal => {
                let file = self.segments[n].segment.file.clone();
                self.note(
                    end.note,
                    Some(file),
                    lsn,
                    format!("{} (offset {})", end.detail, end.offset),
                );
                return;
            }
        };
        let behind = self.segments[n].behind;
        let detail = match behind {
            Some(behind) => {
                let range = behind.range.map_or_else(String::new, |(first, last)| {
                    let range = LsnRange {
                        first: first.min(last),
                        last: last.max(first),
                    };
                    format!(", {}", self.format.notation().show_range(range))
                });
                format!(
                    "{}; behind it {} intact records{range}, from offset {}",
                    end.detail, behind.records, behind.offset
                )
            }
            None => end.detail,
        };
        let problem = self.problem(end.kind, severity, n, Some(end.offset), detail);
        problem.lsn = lsn;
        problem.lsn_to = behind
            .and_then(|behind| behind.range)
            .map(|(_, last)| last)
            .filter(|&last| Some(last) > lsn);
        let lost = problem.lsn.zip(problem.lsn_to);
        let lost = lost.and_then(|(first, last)| LsnRange::new(first, last));
        self.lost.extend(lost);
        self.loss = Some(self.problems.len().saturating_sub(1));
    }

    fn is_legal(&self, rule: Where, n: usize, is_last: bool) -> bool {
        match rule {
            Where::Never => false,
            Where::Last => is_last,
            Where::IfNextContinues => is_last || self.continues(n),
            Where::Always => true,
        }
    }

    /// Whether the next segment goes on right behind what the log has so far.
    fn continues(&self, n: usize) -> bool {
        let Some(next) = self.segments.get(n + 1) else {
            return false;
        };
        next.segment
            .first_lsn
            .or(next.segment.name_lsn)
            .is_some_and(|lsn| self.goes_on_at(lsn))
    }
}
