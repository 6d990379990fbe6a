//! Records become numbers: what one log of one node adds to its tallies, in the order of its records.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{Scanned, mask};
use crate::record::Locator;
use crate::scan::{Entry, Occurrence};
use crate::signals::tally::{Counter, EVIDENCE_BYTES, EVIDENCE_MAX, Evidence, NodeTally};
use crate::signals::{Context, Direction, FIELDS_MAX, Signal, SignalSet, TallyKind};
use crate::time::Timestamp;
use crate::vocab::Level;

/// How many mined templates are kept per node.
const TEMPLATES_MAX: usize = 2_000;

/// How many starts of a process are listed.
const STARTS_MAX: usize = 1_000;

/// What is counted, and the bounds on it.
#[derive(Debug, Clone, Copy)]
pub struct FoldRules<'s> {
    /// The declared signals.
    pub signals: &'s SignalSet,
    /// The counts that rules ask for.
    pub counters: &'s [Counter],
    /// How many different values of a field are counted apart.
    pub subjects_max: usize,
    /// The signal of a process's start.
    pub start: Option<u16>,
    /// A signal of which more records than usual are kept as evidence, and how many.
    pub listed: Option<(u16, usize)>,
}

/// The fold of one log into the tallies of its node.
pub struct Fold<'s> {
    rules: FoldRules<'s>,
    tally: NodeTally,
    /// The last occurrence of each context signal on each thread.
    before: FxHashMap<(u16, u64), Remembered>,
    /// Occurrences that wait for a context that follows on their thread.
    after: Vec<Waiting>,
    is_stderr: bool,
}

/// The stamp and the fields of an occurrence that others take from.
type Remembered = (Timestamp, Vec<Vec<u8>>);

struct Waiting {
    signal: u16,
    thread: u64,
    time: Timestamp,
    values: Vec<Vec<u8>>,
    evidence: Evidence,
    suspect: bool,
}

impl<'s> Fold<'s> {
    /// Goes on with a node's tallies.
    pub fn new(rules: FoldRules<'s>, tally: NodeTally, is_stderr: bool) -> Self {
        Self {
            rules,
            tally,
            before: FxHashMap::default(),
            after: Vec::new(),
            is_stderr,
        }
    }

    /// The log has ended: gives the tallies back.
    pub fn finish(mut self) -> NodeTally {
        for waiting in std::mem::take(&mut self.after) {
            self.add(waiting);
        }
        self.tally
    }

    /// Counts what a block of a main log holds beside its entries.
    pub(super) fn block(&mut self, scanned: &Scanned) {
        let scan = &scanned.scan;
        self.seen(scanned, true);
        if self.is_stderr {
            return;
        }
        self.tally.records += scan.records;
        for (total, count) in self.tally.levels.iter_mut().zip(scan.levels) {
            *total += count;
        }
        self.tally.widen(scan.span);
        self.tally.continuation_lines += scan.continuation_lines;
        for &(signal, entry) in &scan.near_misses {
            self.near_miss(scanned, &scan.entries[entry as usize], signal);
        }
    }

    /// Counts what a block of an err.log holds beside its entries.
    pub(super) fn err_block(&mut self, scanned: &Scanned) {
        self.seen(scanned, false);
        let scan = &scanned.scan;
        let mut levels = scan.levels;
        for entry in &scan.entries {
            levels[entry.level.index()] -= 1;
        }
        self.tally.records += levels.iter().sum::<u64>();
        for (total, count) in self.tally.levels.iter_mut().zip(levels) {
            *total += count;
        }
        self.tally.widen(scan.span);
    }

    fn seen(&mut self, scanned: &Scanned, main: bool) {
        let scan = &scanned.scan;
        let seen = &mut self.tally.seen;
        match (self.is_stderr, main) {
            (true, _) => seen.stderr = true,
            (false, true) => {
                seen.main = true;
                for level in Level::ALL {
                    if scan.levels[level.index()] > 0 {
                        seen.levels |= 1 << level.index();
                    }
                }
            }
            (false, false) => seen.err = true,
        }
        if !self.is_stderr {
            self.tally.unparsed_lines += scan.unparsed_lines;
        }
        if let Some(version) = scan.version {
            let text = String::from_utf8_lossy(version.of(&scanned.block.bytes)).into_owned();
            if !self.tally.process.versions.contains(&text) {
                self.tally.process.versions.push(text);
            }
        }
    }

    /// Counts a record that no block's totals hold: one that only the err.log has, or one withheld before.
    pub(super) fn single(&mut self, scanned: &Arc<Scanned>, entry: &Entry) {
        self.tally.records += 1;
        self.tally.levels[entry.level.index()] += 1;
        self.tally.continuation_lines += continuation_lines(scanned, entry);
        self.entry(scanned, entry, false);
    }

    /// Takes a record out of its block's totals until it is known whether it counts.
    pub(super) fn withhold(&mut self, scanned: &Scanned, entry: &Entry) {
        self.tally.records -= 1;
        self.tally.levels[entry.level.index()] -= 1;
        self.tally.continuation_lines -= continuation_lines(scanned, entry);
    }

    /// Counts what a noteworthy record says. `missing`: its level belongs in the err.log, and it is not there.
    pub(super) fn entry(&mut self, scanned: &Arc<Scanned>, entry: &Entry, missing: bool) {
        let suspect = entry.suspect || (missing && entry.after_query);
        self.tally.suspect += u64::from(suspect);
        if let Some((code, family)) = entry.code {
            self.tally
                .codes
                .entry((code, family))
                .or_default()
                .add(entry.time, suspect);
        }
        for &code in scanned.scan.nested_of(entry) {
            self.tally
                .nested
                .entry(code)
                .or_default()
                .add(entry.time, suspect);
        }
        let occurrences = scanned.scan.occurrences_of(entry);
        for occurrence in occurrences {
            self.occurrence(scanned, entry, occurrence, suspect);
        }
        if matches!(entry.level, Level::Fatal | Level::Critical | Level::Error) && !self.is_stderr {
            self.error(scanned, entry, occurrences);
        }
    }

    /// Notes a record that holds a signal's literal and does not fit it.
    fn near_miss(&mut self, scanned: &Scanned, entry: &Entry, signal: u16) {
        let tally = &mut self.tally.signals[usize::from(signal)];
        tally.near_misses += 1;
        if tally.near_miss.is_none() {
            tally.near_miss = Some(evidence(scanned, entry));
        }
    }

    fn error(&mut self, scanned: &Scanned, entry: &Entry, occurrences: &[Occurrence]) {
        let errors = &mut self.tally.errors;
        if !occurrences.is_empty() {
            let signals = occurrences
                .iter()
                .map(|occurrence| occurrence.signal)
                .collect();
            *errors.by_signals.entry((entry.level, signals)).or_default() += 1;
            return;
        }
        let template = mask::template(entry.message.of(&scanned.block.bytes));
        let key = (entry.level, template);
        if let Some((count, _)) = errors.unmatched.get_mut(&key) {
            *count += 1;
        } else if errors.unmatched.len() < TEMPLATES_MAX {
            errors.unmatched.insert(key, (1, evidence(scanned, entry)));
        } else {
            errors.beyond_cap += 1;
        }
    }

    fn occurrence(
        &mut self,
        scanned: &Arc<Scanned>,
        entry: &Entry,
        occurrence: &Occurrence,
        suspect: bool,
    ) {
        let signals = self.rules.signals;
        let signal = signals.signal(occurrence.signal);
        let bytes = &scanned.block.bytes;
        let mut values: [&[u8]; FIELDS_MAX] = [b""; FIELDS_MAX];
        for (value, span) in values.iter_mut().zip(occurrence.fields) {
            *value = span.of(bytes);
        }
        derive(signal, &mut values);
        self.follow(occurrence.signal, entry, &values);
        if self.rules.start == Some(occurrence.signal)
            && !suspect
            && self.tally.process.starts.len() < STARTS_MAX
        {
            self.tally.process.starts.extend(entry.time);
        }
        let taken = signal
            .context
            .as_ref()
            .and_then(|context| match context.direction {
                Direction::Before => self.context_before(context, entry),
                Direction::After => None,
            });
        if let (Some(context), Some(taken)) = (&signal.context, &taken) {
            for &(from, to) in &context.take {
                values[to] = &taken[from];
            }
        }
        let waits = signal
            .context
            .as_ref()
            .is_some_and(|context| context.direction == Direction::After);
        if let (true, Some(time)) = (waits, entry.time) {
            self.after.push(Waiting {
                signal: occurrence.signal,
                thread: entry.thread,
                time,
                values: values.iter().map(|value| value.to_vec()).collect(),
                evidence: evidence(scanned, entry),
                suspect,
            });
            return;
        }
        count(
            &mut self.tally,
            self.rules,
            occurrence.signal,
            &values,
            entry.time,
            suspect,
            || evidence(scanned, entry),
        );
    }

    /// Remembers an occurrence for those that take from it, and hands it to those that wait for it.
    fn follow(&mut self, signal: u16, entry: &Entry, values: &[&[u8]]) {
        let Some(time) = entry.time else { return };
        let users = |direction| {
            let signals = self.rules.signals.signals();
            signals
                .iter()
                .filter_map(move |s| s.context.as_ref())
                .any(|c| c.signal == usize::from(signal) && c.direction == direction)
        };
        if users(Direction::Before) {
            self.before.insert(
                (signal, entry.thread),
                (time, values.iter().map(|value| value.to_vec()).collect()),
            );
        }
        if users(Direction::After) {
            self.hand_over(signal, entry.thread, time, values);
        }
    }

    fn hand_over(&mut self, signal: u16, thread: u64, time: Timestamp, values: &[&[u8]]) {
        let signals = self.rules.signals;
        let mut waiting = std::mem::take(&mut self.after);
        waiting.retain_mut(|one| {
            let Some(context) = &signals.signal(one.signal).context else {
                return true;
            };
            let late = time.0 - one.time.0 > context.span;
            if !late && (context.signal != usize::from(signal) || one.thread != thread) {
                return true;
            }
            if !late {
                for &(from, to) in &context.take {
                    one.values[to] = values[from].to_vec();
                }
            }
            let taken: Vec<&[u8]> = one.values.iter().map(Vec::as_slice).collect();
            let text = one.evidence.clone();
            count(
                &mut self.tally,
                self.rules,
                one.signal,
                &taken,
                Some(one.time),
                one.suspect,
                || text,
            );
            false
        });
        self.after = waiting;
    }

    fn add(&mut self, waiting: Waiting) {
        let values: Vec<&[u8]> = waiting.values.iter().map(Vec::as_slice).collect();
        let text = waiting.evidence;
        count(
            &mut self.tally,
            self.rules,
            waiting.signal,
            &values,
            Some(waiting.time),
            waiting.suspect,
            || text,
        );
    }

    fn context_before(&self, context: &Context, entry: &Entry) -> Option<Vec<Vec<u8>>> {
        let signal = u16::try_from(context.signal).ok()?;
        let (time, values) = self.before.get(&(signal, entry.thread))?;
        let near = entry
            .time
            .is_some_and(|at| (at.0 - time.0).abs() <= context.span);
        near.then(|| values.clone())
    }
}

/// Adds one occurrence to its signal's tally and to the counters that ask for it.
fn count(
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
    for (at, counter) in rules.counters.iter().enumerate() {
        let holds = |(field, accepted): &(usize, Vec<String>)| {
            accepted.iter().any(|a| a.as_bytes() == values[*field])
        };
        if counter.signal == index
            && counter.filters.iter().all(holds)
            && tally.counters[at].add(counter, time)
        {
            text = text.or_else(|| evidence.take().map(|make| make()));
            tally.counters[at].evidence.extend(text.clone());
        }
    }
}

/// Fills a signal's derived fields.
fn derive<'a>(signal: &'a Signal, values: &mut [&'a [u8]]) {
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
fn continuation_lines(scanned: &Scanned, entry: &Entry) -> u64 {
    let lines = memchr::memchr_iter(b'\n', entry.bytes.of(&scanned.block.bytes)).count();
    u64::try_from(lines).unwrap_or(0)
}

fn evidence(scanned: &Scanned, entry: &Entry) -> Evidence {
    let bytes = entry.bytes.of(&scanned.block.bytes);
    let line = &bytes[..memchr::memchr(b'\n', bytes).unwrap_or(bytes.len())];
    let kept = &line[..line.len().min(EVIDENCE_BYTES)];
    let text = String::from_utf8_lossy(kept.strip_suffix(b"\r").unwrap_or(kept)).into_owned();
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
