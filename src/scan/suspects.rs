//! Records whose stamp leaves their neighbours' time and comes back: printed by a query's text, or by another clock.
//!
//! In current servers a newline inside a query is printed as it is, so a user can print a line that looks exactly like a
//! head. Its stamp is far from the record before and from the one after, and those two agree.
//!
//! Or it bears their time: then the query cut its own record there, inside a quotation or a comment, and the records after it
//! are its text until that is closed. Whether they are, the err.log tells, which lacks them.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::Scan;
use crate::time::{DAY, MINUTE, SECOND, Timestamp};

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
    /// The stamp of its first record, and whether none is before the one before it.
    first: Timestamp,
    is_ordered: bool,
    /// The stamp of its last record.
    last: Timestamp,
    /// Stretches without a record before it and in it.
    gaps: Vec<(Timestamp, Timestamp)>,
}

impl Suspects {
    /// Takes the stamp of the next record; whether it is away from its neighbours so far.
    #[inline]
    pub(super) fn see(&mut self, time: Timestamp, scan: &mut Scan) -> bool {
        // Nearly every record is right behind the one before.
        if let (Some(base), None, Some((low, high))) = (self.base, &self.run, &mut scan.span)
            && (-JUMP..GAP).contains(&(time.0 - base.0))
        {
            *low = time.min(*low);
            *high = time.max(*high);
            self.base = Some(time);
            scan.last_time = Some(time);
            return false;
        }
        self.judge(time, scan)
    }

    /// The same for any record.
    fn judge(&mut self, time: Timestamp, scan: &mut Scan) -> bool {
        let Some(base) = self.base else {
            self.accept(time, (time, time), scan);
            return false;
        };
        let near = (time.0 - base.0).abs() <= JUMP;
        if near {
            if let Some(run) = self.run.take_if(|run| run.is_hour_again(base)) {
                // The gaps between its records are true, the one before it is not known.
                scan.gaps.extend(run.gaps);
                scan.gaps.extend(gap(run.last, time));
                let span = (run.span.0.min(time), run.span.1.max(time));
                self.accept(time, span, scan);
                return false;
            }
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
            first: time,
            is_ordered: true,
            last: base,
            gaps: Vec::new(),
        });
        run.records += 1;
        run.span = (run.span.0.min(time), run.span.1.max(time));
        run.is_ordered &= run.records == 1 || time >= run.last;
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

impl Run {
    /// Whether it is the hour that a clock shows a second time where summer ends, after a record at `base`: nearly all zones
    /// set their clocks in the night to a Sunday.
    fn is_hour_again(&self, base: Timestamp) -> bool {
        const HOUR: i64 = 60 * MINUTE;
        // 1970-01-01 was a Thursday.
        let is_sunday = (base.0.div_euclid(DAY) + 4).rem_euclid(7) == 0;
        let is_night = base.0.rem_euclid(DAY) < 4 * HOUR;
        let back = base.0 - self.first.0;
        let is_hour = (0..=HOUR + JUMP).contains(&back);
        is_sunday && is_night && is_hour && self.is_ordered && self.records > 1
    }
}

/// The stretch between two records, if it is long enough to keep.
pub fn gap(from: Timestamp, to: Timestamp) -> Option<(Timestamp, Timestamp)> {
    (to.0 - from.0 >= GAP).then_some((from, to))
}

/// How much text a query may print: servers cut it at 100,000 bytes unless told otherwise.
const PRINTED_MAX: usize = 128 * 1024;

/// What the text of a query leaves open.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Open {
    #[default]
    Nothing,
    Quotation(u8),
    /// Until these two bytes: a comment, a text between `$$`.
    Until(&'static [u8]),
}

/// The query whose text may still go on.
#[derive(Debug, Default)]
pub(super) struct OpenQuery {
    open: Open,
    printed: usize,
}

impl OpenQuery {
    /// Whether the next record may be a query's text.
    pub(super) fn is_open(&self) -> bool {
        self.open != Open::Nothing
    }

    /// Takes the next record: `text` is all of it, `query` the part of its message that a query printed, if it is a query's.
    pub(super) fn pass(&mut self, text: &[u8], query: Option<&[u8]>) {
        if self.is_open() {
            self.printed += text.len();
            self.open = if self.printed > PRINTED_MAX {
                Open::Nothing
            } else {
                after(self.open, text)
            };
        } else if let Some(query) = query {
            self.printed = query.len();
            self.open = after(Open::Nothing, query);
        }
    }
}

/// The part of a message of `executeQuery` that the query printed: all of it, or what an error quotes.
pub(super) fn printed(message: &[u8], is_error: bool) -> Option<&[u8]> {
    static QUOTED: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("(in query: "));
    if is_error {
        let at = QUOTED.find(message)?;
        return Some(&message[at + QUOTED.needle().len()..]);
    }
    message.starts_with(b"(from ").then_some(message)
}

/// The bytes at which something may open or close; most of a query's are none.
const MAY_OPEN_OR_CLOSE: [bool; 256] = {
    let mut table = [false; 256];
    let bytes = b"'\"`/$-*\\";
    let mut at = 0;
    while at < bytes.len() {
        table[bytes[at] as usize] = true;
        at += 1;
    }
    table
};

/// What is open after `text`.
fn after(open: Open, text: &[u8]) -> Open {
    let mut open = open;
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        if !MAY_OPEN_OR_CLOSE[usize::from(byte)] {
            at += 1;
            continue;
        }
        let pair = text.get(at..at + 2).unwrap_or_default();
        at += 1;
        match open {
            Open::Nothing if matches!(byte, b'\'' | b'"' | b'`') => open = Open::Quotation(byte),
            Open::Nothing if pair == b"/*" || pair == b"$$" => {
                open = Open::Until(if byte == b'$' { b"$$" } else { b"*/" });
                at += 1;
            }
            Open::Nothing if pair == b"--" => {
                at = memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |end| at + end);
            }
            Open::Quotation(_) if byte == b'\\' => at += 1,
            Open::Quotation(mark) if byte == mark => open = Open::Nothing,
            Open::Until(end) if pair == end => {
                open = Open::Nothing;
                at += 1;
            }
            Open::Nothing | Open::Quotation(_) | Open::Until(_) => {}
        }
    }
    open
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_open_after(text: &str) -> bool {
        after(Open::Nothing, text.as_bytes()) != Open::Nothing
    }

    #[test]
    fn a_quotation_ends_with_its_own_mark_and_not_with_an_escaped_one() {
        assert!(is_open_after("SELECT 'a"));
        assert!(!is_open_after("SELECT 'a'"));
        assert!(is_open_after(r"SELECT 'a\'"));
        assert!(!is_open_after("SELECT 'it''s'"));
        assert!(is_open_after("SELECT 'a\"b\""));
        assert!(!is_open_after("SELECT \"don't\""));
    }

    #[test]
    fn a_comment_may_hold_an_apostrophe_and_go_on() {
        assert!(!is_open_after("SELECT 1 -- don't\n, 2"));
        assert!(!is_open_after("SELECT 1 /* don't */"));
        assert!(is_open_after("SELECT 1 /* a"));
        assert!(is_open_after("SELECT $$don't"));
        assert!(!is_open_after("SELECT $$don't$$"));
    }

    #[test]
    fn an_error_quotes_a_query_only_where_it_says_so() {
        let missing = b"Code: 60, e.displayText() = DB::Exception: Table a.b doesn't exist.";
        assert_eq!(printed(missing, true), None);
        let quoted = b"Code: 60. doesn't exist (in query: SELECT 'x";
        assert_eq!(printed(quoted, true), Some(&b"SELECT 'x"[..]));
        assert_eq!(printed(b"Read 1 rows, 'x", false), None);
    }
}
