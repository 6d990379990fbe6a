//! What is counted of a node while its logs stream through: exact numbers, and a few lines of evidence for each.

use std::collections::{BTreeMap, VecDeque};

use rustc_hash::FxHashMap;

use super::Signal;
use crate::record::Locator;
use crate::time::Timestamp;
use crate::vocab::Level;

/// How many lines of evidence are kept per signal and node.
pub const EVIDENCE_MAX: usize = 5;
/// How many bytes of a line are kept as evidence.
pub const EVIDENCE_BYTES: usize = 600;

/// A record cited by a report: where it stands, and its head's line as it was in the scan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    /// Where it stands.
    pub at: Locator,
    /// Its stamp.
    pub time: Option<Timestamp>,
    /// The head's line, repaired to UTF-8 and capped.
    pub text: String,
}

/// A count with its first and last stamp; suspect records count and leave no stamp.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many, suspect ones included.
    pub count: u64,
    /// How many of them are suspect.
    pub suspect: u64,
    /// Smallest and largest stamp of those that are not suspect.
    pub span: Option<(Timestamp, Timestamp)>,
}

impl Tally {
    /// Counts one more.
    pub fn add(&mut self, time: Option<Timestamp>, suspect: bool) {
        self.count += 1;
        if suspect {
            self.suspect += 1;
        } else if let Some(time) = time {
            self.span = Some(
                self.span
                    .map_or((time, time), |(low, high)| (low.min(time), high.max(time))),
            );
        }
    }

    /// Adds another count.
    pub fn merge(&mut self, other: Self) {
        self.count += other.count;
        self.suspect += other.suspect;
        if let Some((low, high)) = other.span {
            self.span = Some(
                self.span
                    .map_or((low, high), |(a, b)| (a.min(low), b.max(high))),
            );
        }
    }

    /// How many are not suspect.
    pub fn sound(&self) -> u64 {
        self.count - self.suspect
    }
}

/// The values of one field.
#[derive(Debug, Default)]
pub struct Values {
    counts: FxHashMap<Box<[u8]>, u64>,
    /// Occurrences whose value came after the cap was reached and is not counted apart.
    pub beyond_cap: u64,
}

impl Values {
    /// Counts one more of `value`; a new value beyond `cap` is only counted as such.
    pub fn add(&mut self, value: &[u8], cap: usize) {
        if let Some(count) = self.counts.get_mut(value) {
            *count += 1;
        } else if self.counts.len() < cap {
            self.counts.insert(value.into(), 1);
        } else {
            self.beyond_cap += 1;
        }
    }

    /// How often `value` was counted.
    pub fn count(&self, value: &str) -> u64 {
        self.counts.get(value.as_bytes()).copied().unwrap_or(0)
    }

    /// How many different values there are.
    pub fn distinct(&self) -> usize {
        self.counts.len()
    }

    /// Values and counts, most frequent first, equal ones by value.
    pub fn ranked(&self) -> Vec<(String, u64)> {
        let mut ranked: Vec<(String, u64)> = self
            .counts
            .iter()
            .map(|(value, &count)| (String::from_utf8_lossy(value).into_owned(), count))
            .collect();
        ranked.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        ranked
    }
}

/// What is counted of one signal on one node.
#[derive(Debug, Default)]
pub struct SignalTally {
    /// All occurrences.
    pub all: Tally,
    /// Occurrences that are not suspect, by minute since 1970.
    pub minutes: BTreeMap<i64, u64>,
    /// By field, in the signal's order; empty where a field is not counted.
    pub values: Vec<Values>,
    /// The first few.
    pub evidence: Vec<Evidence>,
    /// The values of the first occurrence, in the order of the signal's fields.
    pub first: Vec<String>,
    /// Records that hold the signal's literal and do not fit its template.
    pub near_misses: u64,
    /// The first of them.
    pub near_miss: Option<Evidence>,
}

impl SignalTally {
    /// The minute with most occurrences, the earliest of equal ones.
    pub fn peak(&self) -> Option<(i64, u64)> {
        self.minutes
            .iter()
            .map(|(&minute, &count)| (minute, count))
            .max_by(|a, b| a.1.cmp(&b.1).then(b.0.cmp(&a.0)))
    }
}

/// A count that a rule asks for: a signal whose fields have given values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counter {
    /// The index of the signal.
    pub signal: u16,
    /// Field and accepted values; all must hold.
    pub filters: Vec<(usize, Vec<String>)>,
    /// Windows whose fill is watched: at least so many within so many microseconds.
    pub windows: Vec<Window>,
}

/// A sliding window: `at_least` occurrences whose first and last stamp are at most `within` microseconds apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// How many.
    pub at_least: u64,
    /// Microseconds, both edges included.
    pub within: i64,
}

/// What one [`Counter`] counted on one node. Suspect records are left out: they ground nothing.
#[derive(Debug, Default)]
pub struct CounterTally {
    /// The count and its span.
    pub all: Tally,
    /// When each window was filled first, in the counter's order.
    pub filled: Vec<Option<Timestamp>>,
    recent: Vec<VecDeque<Timestamp>>,
    /// The first few.
    pub evidence: Vec<Evidence>,
}

impl CounterTally {
    /// Takes one more occurrence; whether its evidence is wanted.
    pub fn add(&mut self, counter: &Counter, time: Option<Timestamp>) -> bool {
        self.all.add(time, false);
        self.filled.resize(counter.windows.len(), None);
        self.recent.resize(counter.windows.len(), VecDeque::new());
        if let Some(time) = time {
            for (at, window) in counter.windows.iter().enumerate() {
                let recent = &mut self.recent[at];
                if self.filled[at].is_some() {
                    continue;
                }
                recent.push_back(time);
                // A stamp older than the one before stays where it came: records reorder by milliseconds.
                while recent
                    .front()
                    .is_some_and(|oldest| time.0 - oldest.0 > window.within)
                {
                    recent.pop_front();
                }
                if u64::try_from(recent.len()).is_ok_and(|n| n >= window.at_least) {
                    self.filled[at] = recent.front().copied();
                    recent.clear();
                }
            }
        }
        self.evidence.len() < EVIDENCE_MAX
    }
}

/// Error and Fatal records by what explains them.
#[derive(Debug, Default)]
pub struct Errors {
    /// By level and the signals found in the record, in ascending order.
    pub by_signals: BTreeMap<(Level, Vec<u16>), u64>,
    /// Records without a signal, by level and mined template.
    pub unmatched: BTreeMap<(Level, String), (u64, Evidence)>,
    /// Records without a signal whose template came after the cap was reached.
    pub beyond_cap: u64,
}

/// What is known of a node's process from its own words.
#[derive(Debug, Default)]
pub struct Process {
    /// Versions named, in the order of first mention.
    pub versions: Vec<String>,
    /// When it started, in order; capped.
    pub starts: Vec<Timestamp>,
}

/// Everything counted of one node of one run.
#[derive(Debug, Default)]
pub struct NodeTally {
    /// The run's name.
    pub run: String,
    /// The node's name.
    pub node: String,
    /// Records, a record that stands in two logs once.
    pub records: u64,
    /// The same by [`Level::index`].
    pub levels: [u64; Level::ALL.len()],
    /// Lines that continue a record, of the records counted.
    pub continuation_lines: u64,
    /// Lines that belong to no record.
    pub unparsed_lines: u64,
    /// Records whose stamp says that they may be forged.
    pub suspect: u64,
    /// Smallest and largest stamp.
    pub span: Option<(Timestamp, Timestamp)>,
    /// First codes by code and family.
    pub codes: BTreeMap<(u32, Option<u16>), Tally>,
    /// Codes mentioned further in.
    pub nested: BTreeMap<u32, Tally>,
    /// By signal index.
    pub signals: Vec<SignalTally>,
    /// By counter index.
    pub counters: Vec<CounterTally>,
    /// Error and Fatal records.
    pub errors: Errors,
    /// What the process says of itself.
    pub process: Process,
    /// Whether a main log, an err.log and a standard error of it were read.
    pub seen: Seen,
}

/// What was read of a node: what could have been observed at all.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    /// A main log.
    pub main: bool,
    /// An err.log.
    pub err: bool,
    /// A standard error.
    pub stderr: bool,
    /// The least level in a main log, as a bit set by [`Level::index`].
    pub levels: u16,
}

impl NodeTally {
    /// Starts with nothing, for so many signals and counters.
    pub fn new(run: &str, node: &str, signals: &[Signal], counters: usize) -> Self {
        let signals = signals.iter().map(|signal| {
            let values = signal.fields.iter().map(|_| Values::default()).collect();
            SignalTally {
                values,
                ..SignalTally::default()
            }
        });
        Self {
            run: run.to_owned(),
            node: node.to_owned(),
            signals: signals.collect(),
            counters: (0..counters).map(|_| CounterTally::default()).collect(),
            ..Self::default()
        }
    }

    /// The worst-to-least level down to which the main log shows records; `None` without a main log.
    pub fn log_level(&self) -> Option<Level> {
        Level::ALL
            .into_iter()
            .rev()
            .filter(|level| *level != Level::None)
            .find(|level| self.seen.levels & (1 << level.index()) != 0)
    }

    /// Widens the node's span.
    pub fn widen(&mut self, span: Option<(Timestamp, Timestamp)>) {
        if let Some((low, high)) = span {
            self.span = Some(
                self.span
                    .map_or((low, high), |(a, b)| (a.min(low), b.max(high))),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(times: &[i64], window: Window) -> Option<i64> {
        let counter = Counter {
            signal: 0,
            filters: Vec::new(),
            windows: vec![window],
        };
        let mut tally = CounterTally::default();
        for &time in times {
            tally.add(&counter, Some(Timestamp(time)));
        }
        tally.filled.first().copied().flatten().map(|t| t.0)
    }

    #[test]
    fn a_sliding_window_holds_both_edges_and_nothing_beyond() {
        let window = Window {
            at_least: 3,
            within: 10,
        };
        assert_eq!(filled(&[0, 5, 10], window), Some(0));
        assert_eq!(filled(&[0, 5, 11], window), None);
        assert_eq!(filled(&[0, 9, 11, 12], window), Some(9));
    }

    #[test]
    fn equal_stamps_count_each() {
        assert_eq!(
            filled(
                &[7, 7, 7],
                Window {
                    at_least: 3,
                    within: 0
                }
            ),
            Some(7)
        );
    }

    #[test]
    fn a_small_step_back_neither_fills_nor_empties_a_window() {
        assert_eq!(
            filled(
                &[10, 9, 12],
                Window {
                    at_least: 3,
                    within: 3
                }
            ),
            Some(10)
        );
    }

    #[test]
    fn values_beyond_the_cap_are_counted_as_such() {
        let mut values = Values::default();
        for value in [&b"a"[..], b"b", b"c", b"a"] {
            values.add(value, 2);
        }
        assert_eq!(
            (values.count("a"), values.count("c"), values.beyond_cap),
            (2, 0, 1)
        );
    }
}
