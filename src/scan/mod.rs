//! One block read once: records counted, the noteworthy ones kept with the signals found in them.
//!
//! A block is scanned alone and in any order with others; whatever needs an order (joining pieces, matching the err.log,
//! sequences) is left to `streams`. Text stays in the block and is pointed to.

mod families;
mod found;
mod given;
mod grep;
mod problems;
mod suspects;

pub use families::{Families, Family};
pub use found::{Entry, Neighbors, Occurrence, Scan};
pub use grep::{Grep, GrepCounts};
pub use problems::{Problem, ProblemKind};
pub use suspects::{GAP, gap};

use crate::parsers::{Format, exception};
use crate::profile::Profile;
use crate::record::{Origin, Record, offset_in};
use crate::search::LineEnds;
use crate::signals::{Hits, SignalSet, Span, Subject};
use crate::time::{DAY, Period, Timestamp};
use crate::vocab::Level;
use problems::Problems;
use suspects::{OpenQuery, Suspects};

/// What is needed to scan any block.
#[derive(Debug, Clone, Copy)]
pub struct Scanner<'s> {
    /// The declared signals.
    pub signals: &'s SignalSet,
    /// The families of codes.
    pub families: &'s Families,
    /// Records that are not known to lie in it are not counted.
    pub period: Period,
    /// A signal whose text is also sought as plain text.
    pub grep: Option<&'s Grep>,
    /// What matching costs, where that is asked for.
    pub profile: Option<&'s Profile>,
}

/// What is known of a block before it is scanned.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
#[derive(Debug, Clone, Copy)]
pub struct BlockContext<'b> {
    /// The format of its records.
    pub format: Format,
    /// Whether records must be compared with those of a twin log.
    pub hashed: bool,
    /// Whether it continues a record cut for its length.
    pub continues: bool,
    /// Whether the artifact ends with it.
    pub last: bool,
    /// Whether another export may hold the same records: each of them is compared.
    pub viewed: bool,
    /// Where its records are, if it is unwrapped text.
    pub origin: Option<&'b Origin>,
}

/// Whether a stamp taken to be of `before`'s day is of the day before: the nodes whose lines share a log have clocks
/// that disagree, by less than this.
fn is_behind(dated: Timestamp, before: Timestamp) -> bool {
    const CLOCKS: i64 = 10 * crate::time::SECOND;
    dated.0 - before.0 > DAY - CLOCKS
}

impl Scanner<'_> {
    /// Scans one block.
    pub fn scan(&self, bytes: &[u8], context: BlockContext<'_>) -> Scan {
        let mut pass = Pass::new(self, bytes, context);
        if let Some(origin) = context.origin {
            pass.given(origin);
            return pass.finish();
        }
        pass.lines();
        pass.finish()
    }
}

/// The line that a record begins with.
#[derive(Clone, Copy)]
struct Head {
    /// Where it begins in the block.
    start: usize,
    /// How many bytes it has, its end included.
    bytes: usize,
    /// Its line in the block, from 0.
    line: u64,
}

impl Head {
    fn new(start: usize, end: usize, line: u64) -> Self {
        Self {
            start,
            bytes: end - start,
            line,
        }
    }
}

/// The state of one pass over a block.
struct Pass<'s, 'b> {
    scanner: &'s Scanner<'s>,
    bytes: &'b [u8],
    context: BlockContext<'b>,
    /// Whether the format's lines name their node.
    nodes_in_lines: bool,
    /// Whether its stamps are times of day.
    dateless: bool,
    /// Whether records outside of a period are left out.
    in_period: bool,
    /// When the wrapper of the next record says that it was written.
    wrapped_at: Option<Timestamp>,
    scan: Scan,
    hits: Hits,
    /// Where lines stand that continue the record and may hold an exception: those that are no stack frames.
    further: Vec<(usize, usize)>,
    suspects: Suspects,
    problems: Problems,
    query: OpenQuery,
    /// Midnights passed in a log without dates, and the stamp before.
    days: i64,
    before: Option<Timestamp>,
    /// From where on records without a stamp have none behind them yet.
    open_from: usize,
}

impl<'s, 'b> Pass<'s, 'b> {
    fn new(scanner: &'s Scanner<'s>, bytes: &'b [u8], context: BlockContext<'b>) -> Self {
        Self {
            scanner,
            bytes,
            context,
            nodes_in_lines: context.format.spec().nodes_in_lines,
            dateless: context.format.spec().dateless,
            in_period: scanner.period.is_bounded(),
            wrapped_at: None,
            scan: Scan {
                // One record in a kilobyte is noteworthy in a storm; growing from nothing copies much.
                entries: Vec::with_capacity(bytes.len() / 1024),
                occurrences: Vec::with_capacity(bytes.len() / 1024),
                ..Scan::default()
            },
            hits: Hits::default(),
            further: Vec::new(),
            suspects: Suspects::default(),
            problems: Problems::default(),
            query: OpenQuery::default(),
            days: 0,
            before: None,
            open_from: 0,
        }
    }

    /// All lines.
    fn lines(&mut self) {
        let BlockContext {
            format, continues, ..
        } = self.context;
        let bytes = self.bytes;
        let mut ends = LineEnds::new(bytes);
        let mut head: Option<Head> = None;
        let mut line_at = 0;
        let mut number = 0;
        loop {
            let line = &bytes[line_at..];
            let (nuls, next) = match format.is_head(line) {
                true => (0, true),
                false if line.first() == Some(&0) => head_behind_nuls(format, line),
                false => (0, false),
            };
            // In one place, so that it becomes a part of this loop.
            if (next || line.is_empty())
                && let Some(head) = head.take()
            {
                self.scan.lines = number;
                self.record(head, line_at);
            }
            if line.is_empty() {
                self.scan.lines = number;
                self.problems.is_plain = ends.is_plain();
                return;
            }
            // A line may end in CR LF, or in a CR where the input ends.
            let (end, before) = match ends.next() {
                Some(at) => (at + 1, at.wrapping_sub(1)),
                None => (bytes.len(), bytes.len() - 1),
            };
            if next {
                head = Some(Head::new(line_at + nuls, end, number));
                self.further.clear();
            } else {
                self.go_on(line_at, end, head.is_none() && !continues);
            }
            if bytes.get(before) == Some(&b'\r') {
                self.problems.note(ProblemKind::CrLf, number);
            }
            number += 1;
            line_at = end;
        }
    }

    /// A line that begins no record.
    #[inline]
    fn go_on(&mut self, start: usize, end: usize, is_lost: bool) {
        if is_lost {
            self.scan.unparsed_lines += 1;
            return;
        }
        self.scan.continuation_lines += 1;
        if exception::is_frame(&self.bytes[start..end]) {
            return;
        }
        match self.further.last_mut() {
            Some((_, last)) if *last == start => *last = end,
            _ => self.further.push((start, end)),
        }
    }

    /// One record: the bytes from its head to `end`.
    fn record(&mut self, head: Head, end: usize) {
        let Head { start, line, .. } = head;
        let bytes = &self.bytes[start..end];
        let mut parsed = self.context.format.parse_split(bytes, head.bytes);
        // Where it is: to move it, or what is made of it below, costs more than most that is done with it.
        let Some(record) = &mut parsed else {
            return;
        };
        record.time = record.time.or(self.wrapped_at);
        if self.dateless {
            self.date(record);
        }
        let record = &*record;
        if self.in_period && !self.scanner.period.holds(record.time) {
            self.scan.continuation_lines -= self.scan.lines - line - 1;
            return;
        }
        self.note_stamp(record.time);
        self.scan.records += 1;
        self.scan.levels[record.level.index()] += 1;
        if record.level == Level::None && self.context.format.spec().always_levels {
            self.problems.note(ProblemKind::UnknownLevel, line);
        }
        self.scan.see_zone(record);
        let is_row = self.context.format == Format::TABLE;
        if is_row {
            self.scan.widen(record.time);
        }
        let in_run = record
            .time
            .is_some_and(|time| !is_row && self.suspects.see(time, &mut self.scan));
        let message_at = offset_in(self.bytes, record.message);
        let subject = Subject {
            record,
            exception: self.context.format.exception(record),
            whole: &self.bytes[message_at..end],
            ahead: &self.bytes[message_at..],
        };
        self.scanner.signals.find(
            self.context.format,
            &subject,
            &mut self.hits,
            self.scanner.profile,
        );
        if let Some(grep) = self.scanner.grep {
            let head = &bytes[..head.bytes.min(bytes.len())];
            grep.count(record, head, &self.hits, &mut self.scan.grep);
        }
        let worse = record.level.may_be_in_err_log() || self.nodes_in_lines;
        let is_entry = worse
            || is_row
            || self.context.viewed
            || subject.exception.is_some()
            || in_run
            || !self.hits.found.is_empty()
            || !self.hits.missed.is_empty();
        if is_entry {
            self.entry(&subject, start, end, line);
        }
        if record.time.is_none() && !self.hits.found.is_empty() {
            self.await_stamp(line);
        }
        // Only an err.log can tell what a query printed from what happened.
        if self.context.hashed {
            let query = (record.logger == b"executeQuery")
                .then(|| suspects::printed(subject.whole, record.level <= Level::Error))
                .flatten();
            self.query.pass(&self.bytes[start..end], query);
        }
        self.suspects
            .count(is_entry.then(|| self.scan.entries.len() - 1), in_run);
    }

    /// Keeps that a record without a stamp stands at a line, until the next stamp.
    fn await_stamp(&mut self, line: u64) {
        self.scan.neighbors.push(Neighbors {
            line: u32::try_from(line).unwrap_or(u32::MAX),
            after: self.scan.stamps.map(|(_, last)| last),
            before: None,
        });
    }

    /// A stamp ends the time that the records without one before it may be of.
    fn note_stamp(&mut self, time: Option<Timestamp>) {
        let Some(time) = time else { return };
        for open in &mut self.scan.neighbors[self.open_from..] {
            open.before = Some(time);
        }
        self.open_from = self.scan.neighbors.len();
        let first = self.scan.stamps.map_or(time, |(first, _)| first);
        self.scan.stamps = Some((first, time));
    }

    /// Puts a time of day on the day after where the one before was late in the evening.
    fn date(&mut self, record: &mut Record<'_>) {
        let Some(time) = record.time else { return };
        if self.scan.first_time.is_none() {
            self.scan.first_time = Some(time);
        }
        let dated = Timestamp(time.0 + self.days * DAY);
        let new_day = self
            .before
            .is_some_and(|before| dated.0 < before.0 - DAY / 2);
        self.days += i64::from(new_day);
        let dated = Timestamp(time.0 + self.days * DAY);
        // Just before midnight by a clock that is behind: the day before, and the next record decides on its own.
        if self.before.is_some_and(|before| is_behind(dated, before)) {
            record.time = Some(Timestamp(dated.0 - DAY));
            return;
        }
        self.before = Some(dated);
        record.time = Some(dated);
    }

    fn entry(&mut self, subject: &Subject<'_, '_>, start: usize, end: usize, line: u64) {
        let Subject {
            record, exception, ..
        } = *subject;
        let in_open_query = record.level <= Level::Warning && self.query.is_open();
        let scan = &mut self.scan;
        let nested_from = scan.nested.len();
        if let Some(exception) = exception {
            let further = self.further.iter();
            let further = further.map(|&(start, end)| &self.bytes[start..end]);
            exception::nested(record, exception, further, |code| scan.nested.push(code));
            if scan.version.is_none() {
                scan.version = version_of(self.bytes, start, end);
            }
        }
        let message_at = start + record.message_at(&self.bytes[start..end]);
        let from = scan.occurrences.len();
        for hit in &self.hits.found {
            let fields_from = scan.spans.len();
            let named = self.scanner.signals.signal(hit.signal).fields.len();
            for &span in hit.fields.iter().take(named) {
                scan.spans.push(if span.is_empty() {
                    span
                } else {
                    shifted(span, message_at)
                });
            }
            scan.occurrences.push(Occurrence {
                signal: hit.signal,
                fields: (to_u32(fields_from), to_u32(scan.spans.len())),
            });
        }
        let index = to_u32(scan.entries.len());
        scan.near_misses
            .extend(self.hits.missed.iter().map(|&signal| (signal, index)));
        let text = trimmed(&self.bytes[start..end]);
        let torn = self.context.last && end == self.bytes.len() && !self.bytes.ends_with(b"\n");
        scan.entries.push(Entry {
            time: record.time,
            level: record.level,
            thread: record.thread,
            line: u32::try_from(line).unwrap_or(u32::MAX),
            bytes: Span::new(start, start + text.len()),
            message: Span::new(message_at, message_at + record.message.len()),
            hash: if self.context.hashed {
                hash_of(text)
            } else {
                0
            },
            code: exception.map(|e| (e.code, self.scanner.families.of(e.code, record.message))),
            nested: (to_u32(nested_from), to_u32(scan.nested.len())),
            occurrences: (to_u32(from), to_u32(scan.occurrences.len())),
            torn,
            suspect: false,
            in_open_query,
            node: span_in(self.bytes, record.node),
            logger: span_in(self.bytes, record.logger),
        });
    }

    fn finish(mut self) -> Scan {
        self.suspects.end(&mut self.scan);
        if self.context.last
            && !self.bytes.is_empty()
            && !self.bytes.ends_with(b"\n")
            && self.context.format.spec().counts_records
        {
            self.problems
                .note(ProblemKind::Truncated, self.scan.lines.saturating_sub(1));
        }
        if self.context.continues {
            self.problems.note(ProblemKind::RecordTooLong, 0);
        }
        self.scan.problems = std::mem::take(&mut self.problems).into_list(self.bytes);
        if let Some(origin) = self.context.origin {
            self.place_in_file(origin);
        }
        self.scan
    }
}

/// How many NULs a line begins with, and whether a head follows them: where a machine stopped, its file system may fill with them.
#[cold]
fn head_behind_nuls(format: Format, line: &[u8]) -> (usize, bool) {
    let nuls = line.iter().take_while(|&&byte| byte == 0).count();
    (nuls, format.is_head(&line[nuls..]))
}

/// `bytes` without the line ends at its end: the err.log's copy of a record may end the file.
fn trimmed(bytes: &[u8]) -> &[u8] {
    let end = bytes
        .iter()
        .rposition(|b| !matches!(b, b'\n' | b'\r'))
        .map_or(0, |at| at + 1);
    &bytes[..end]
}

/// A hash that does not see whether lines end in LF or CR LF: one of two logs may have been copied by another system.
fn hash_of(text: &[u8]) -> u64 {
    if memchr::memchr(b'\r', text).is_none() {
        return xxhash_rust::xxh3::xxh3_64(text);
    }
    let ends_line = |at: usize| text.get(at..at + 2) == Some(&b"\r\n"[..]);
    let plain: Vec<u8> = text
        .iter()
        .enumerate()
        .filter(|&(at, _)| !ends_line(at))
        .map(|(_, &b)| b)
        .collect();
    xxhash_rust::xxh3::xxh3_64(&plain)
}

/// The span of `inner`, a part of `outer`.
fn span_in(outer: &[u8], inner: &[u8]) -> Span {
    if inner.is_empty() {
        return Span::default();
    }
    let start = offset_in(outer, inner);
    Span::new(start, start + inner.len())
}

fn shifted(span: Span, by: usize) -> Span {
    Span::new(span.start as usize + by, span.end as usize + by)
}

fn to_u32(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// The version in the ` (version 26.6.2.20001.altinityantalya (altinity build))` that ends an exception.
fn version_of(bytes: &[u8], start: usize, end: usize) -> Option<Span> {
    const MARK: &[u8] = b"(version ";
    let at = start + memchr::memmem::rfind(&bytes[start..end], MARK)? + MARK.len();
    let length = bytes[at..end]
        .iter()
        .take_while(|b| b.is_ascii_alphanumeric() || **b == b'.')
        .count();
    (length > 2).then(|| Span::new(at, at + length))
}
