//! What is counted of a node while its logs stream through: exact numbers, and a few lines of evidence for each.

mod arrival;
mod awaited;
mod counter;
mod exported;
mod extent;
mod name;
mod paired;
mod part;
mod rate;
mod signal;
mod stall;
mod uses;
mod watch;

use std::collections::{BTreeMap, BTreeSet};

pub use arrival::ArrivalTally;
pub use awaited::{AwaitedSide, AwaitedTally};
pub use counter::{Counter, CounterTally, TIMES_MAX, Window};
pub use exported::{Exported, ExportedName, ExportedValue};
pub use extent::Extent;
pub use paired::{Paired, PairedSample, PairedSide};
pub use rate::{Minutes, Rate, STEPS_MAX, width};
pub use signal::{
    Around, EVIDENCE_BYTES, EVIDENCE_MAX, Evidence, MARKS_MAX, SignalTally, Tally, Unplaced, Values,
};
pub use stall::{Stall, StallTally, StallWatch, is_below};
pub use uses::{ArrivalUse, ArrivalWatch, Arrives, Uses};
pub use watch::{WATCHED_PARTS_MAX, Watch, WatchTally};

use super::Signal;
use crate::parsers::Format;
use crate::time::Timestamp;
use crate::vocab::Level;

/// How many stretches without a record are kept per node.
pub const GAPS_MAX: usize = 1_000;

/// A level, the signals of a record in ascending order, and the texts that it holds.
pub type Held = (Level, Vec<u16>, Vec<u16>);

/// Error and Fatal records by what explains them.
#[derive(Debug, Default)]
pub struct Errors {
    /// By level and the signals found in the record, in ascending order.
    pub by_signals: BTreeMap<(Level, Vec<u16>), u64>,
    /// Those of them that hold texts which are looked for, by the indices of these texts as well, with the first of each kind.
    pub holding: BTreeMap<Held, (u64, Evidence)>,
    /// Records without a signal, by level, mined template and the indices of the texts that they hold.
    pub unmatched: BTreeMap<(Level, String, Vec<u16>), (u64, Evidence)>,
    /// Records without a signal whose template came after the cap was reached.
    pub beyond_cap: u64,
    /// The memory of a key that is looked up.
    spare: Vec<u16>,
}

impl Errors {
    /// Counts a record by its signals.
    pub fn claimed(&mut self, level: Level, signals: impl Iterator<Item = u16>) {
        let mut key = (level, std::mem::take(&mut self.spare));
        key.1.clear();
        key.1.extend(signals);
        if let Some(count) = self.by_signals.get_mut(&key) {
            *count += 1;
            self.spare = key.1;
        } else {
            self.by_signals.insert(key, 1);
        }
    }

    fn absorb(&mut self, other: Self) {
        for (key, count) in other.by_signals {
            *self.by_signals.entry(key).or_default() += count;
        }
        for (key, (count, evidence)) in other.holding {
            self.holding.entry(key).or_insert((0, evidence)).0 += count;
        }
        for (key, (count, evidence)) in other.unmatched {
            self.unmatched.entry(key).or_insert((0, evidence)).0 += count;
        }
        self.beyond_cap += other.beyond_cap;
    }
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
    /// By stall index.
    pub stalls: Vec<StallTally>,
    /// Records that another node may have, too, by index of the side that they are.
    pub paired: BTreeMap<usize, PairedSample>,
    /// What was asked for and what came of it, by index of the declaration.
    pub awaited: BTreeMap<usize, AwaitedTally>,
    /// Parts that did not come at first, by index of what rules ask for.
    pub arrivals: BTreeMap<usize, ArrivalTally>,
    /// Stretches of the main log without a record, in order.
    pub gaps: Vec<(Timestamp, Timestamp)>,
    /// Stretches of the main log that are in a piece that is not here, between two that are.
    pub holes: Vec<(Timestamp, Timestamp)>,
    /// Error and Fatal records.
    pub errors: Errors,
    /// What the process says of itself.
    pub process: Process,
    /// What its exported tables say.
    pub exported: Exported,
    /// What records say of watched names: by name and signal index.
    pub watched: BTreeMap<(String, u16), WatchTally>,
    /// Whether a main log, an err.log and a standard error of it were read.
    pub seen: Seen,
}

/// What was read of a node: what could have been observed at all.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each says of one kind of file whether it is here"
)]
pub struct Seen {
    /// A main log.
    pub main: bool,
    /// An err.log.
    pub err: bool,
    /// The formats of its files.
    pub formats: BTreeSet<Format>,
    /// The same of those from which any record was kept: a period can leave out all of a file.
    pub kept: BTreeSet<Format>,
    /// Whether any stamp names its zone, and whether any does not.
    pub zones: (bool, bool),
    /// The least level in a main log, as a bit set by [`Level::index`].
    pub levels: u16,
    /// A WAL.
    pub wal: bool,
    /// Some lines of a log, as grep finds them.
    pub excerpt: bool,
    /// Its logs in a server's format are a Keeper's; known when all of them are read.
    pub keeper_alone: bool,
}

impl Seen {
    /// Whether any log of it was read, or a part of one.
    pub fn is_log(&self) -> bool {
        self.main || self.err || self.excerpt
    }

    /// Notes a file of a format.
    pub fn note(&mut self, format: Format) {
        self.formats.insert(format);
    }

    /// Notes that a record of a format was kept.
    pub fn note_kept(&mut self, format: Format) {
        self.kept.insert(format);
    }

    /// Whether files of a format were read, and none of their records kept.
    pub fn has_nothing_of(&self, format: Format) -> bool {
        self.has(format) && !self.kept.contains(&format)
    }

    /// Whether a file of a format was read.
    pub fn has(&self, format: Format) -> bool {
        self.formats.contains(&format)
    }
}

impl NodeTally {
    /// Starts with nothing, for so many signals, counters and stalls.
    pub fn new(run: &str, node: &str, signals: &[Signal], counters: usize, stalls: usize) -> Self {
        let signals = signals.iter().map(|signal| {
            let values = signal.fields.iter().map(|_| Values::default()).collect();
            SignalTally {
                values,
                positions: signal.positions.iter().map(|_| Extent::default()).collect(),
                ..SignalTally::default()
            }
        });
        Self {
            run: run.to_owned(),
            node: node.to_owned(),
            signals: signals.collect(),
            counters: (0..counters).map(|_| CounterTally::default()).collect(),
            stalls: (0..stalls).map(|_| StallTally::default()).collect(),
            ..Self::default()
        }
    }

    /// Counts what waits to be counted with others, and bounds what is sampled: a log has ended.
    pub fn settle(&mut self, subjects_max: usize) {
        let of_signals = self.signals.iter_mut().flat_map(|it| &mut it.values);
        let of_counters = self.counters.iter_mut().flat_map(|it| &mut it.values);
        for values in of_signals.chain(of_counters) {
            values.settle(subjects_max);
        }
        for awaited in self.awaited.values_mut() {
            awaited.settle(subjects_max);
        }
        for sample in self.paired.values_mut() {
            sample.bound();
        }
        for arrivals in self.arrivals.values_mut() {
            arrivals.settle();
        }
    }

    /// A stretch of its log is not here: from the end of one piece to the beginning of another.
    pub fn hole(&mut self, from: Timestamp, to: Timestamp) {
        self.holes.push((from, to));
        for arrivals in self.arrivals.values_mut() {
            arrivals.hole(to);
        }
    }

    /// Adds what was counted of the same node in another log.
    pub fn absorb(&mut self, other: Self) {
        self.records += other.records;
        for (total, count) in self.levels.iter_mut().zip(other.levels) {
            *total += count;
        }
        self.continuation_lines += other.continuation_lines;
        self.unparsed_lines += other.unparsed_lines;
        self.suspect += other.suspect;
        self.widen(other.span);
        for (key, tally) in other.codes {
            self.codes.entry(key).or_default().merge(tally);
        }
        for (key, tally) in other.nested {
            self.nested.entry(key).or_default().merge(tally);
        }
        for (mine, theirs) in self.signals.iter_mut().zip(other.signals) {
            mine.absorb(theirs);
        }
        for (mine, theirs) in self.counters.iter_mut().zip(other.counters) {
            mine.absorb(theirs);
        }
        for (mine, theirs) in self.stalls.iter_mut().zip(other.stalls) {
            mine.absorb(theirs);
        }
        for (side, sample) in other.paired {
            self.paired.entry(side).or_default().absorb(sample);
        }
        for (at, tally) in other.awaited {
            self.awaited.entry(at).or_default().absorb(&tally);
        }
        for (at, tally) in other.arrivals {
            self.arrivals.entry(at).or_default().absorb(tally);
        }
        self.gaps.extend(other.gaps);
        self.holes.extend(other.holes);
        self.errors.absorb(other.errors);
        for (key, tally) in other.watched {
            self.watched.entry(key).or_default().absorb(tally);
        }
        for version in other.process.versions {
            if !self.process.versions.contains(&version) {
                self.process.versions.push(version);
            }
        }
        self.process.starts.extend(other.process.starts);
        self.process.starts.sort_unstable();
        self.exported.absorb(other.exported);
        self.seen.main |= other.seen.main;
        self.seen.err |= other.seen.err;
        self.seen.formats.extend(other.seen.formats);
        self.seen.kept.extend(other.seen.kept);
        self.seen.zones.0 |= other.seen.zones.0;
        self.seen.zones.1 |= other.seen.zones.1;
        self.seen.levels |= other.seen.levels;
        self.seen.wal |= other.seen.wal;
        self.seen.excerpt |= other.seen.excerpt;
    }

    /// The worst-to-least level down to which the main log shows records; `None` without a main log.
    pub fn log_level(&self) -> Option<Level> {
        Level::ALL
            .into_iter()
            .rev()
            .filter(|level| *level != Level::None)
            .find(|level| self.seen.levels & (1 << level.index()) != 0)
    }

    /// The level down to which its logs show records: an err.log goes down to Warning at least.
    pub fn shown_level(&self) -> Level {
        let floor = if self.seen.err {
            Level::Warning
        } else {
            Level::Fatal
        };
        self.log_level().unwrap_or(floor).max(floor)
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
