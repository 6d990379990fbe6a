//! What a plain search for a signal's text would count, split by why its lines are or are not the signal.

use crate::record::Record;
use crate::search::Literal;
use crate::signals::{Hits, SignalSet};

/// The literals of one signal.
#[derive(Debug)]
pub struct Grep {
    signal: u16,
    texts: Vec<Literal>,
}

/// Lines that hold a signal's text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GrepCounts {
    /// Heads of records that are the signal, in every file they stand in.
    pub records: u64,
    /// Heads of queries that quote it.
    pub quoted: u64,
    /// Heads of other records: another level, logger or wording, or an echo.
    pub other: u64,
    /// Lines that continue a record.
    pub continuation: u64,
}

impl GrepCounts {
    /// All lines: what the search prints.
    pub fn total(self) -> u64 {
        self.records + self.quoted + self.other + self.continuation
    }

    /// Adds the counts of another stretch.
    pub fn add(&mut self, other: Self) {
        self.records += other.records;
        self.quoted += other.quoted;
        self.other += other.other;
        self.continuation += other.continuation;
    }
}

impl Grep {
    /// The search for a signal's literals.
    pub fn new(signal: u16, signals: &SignalSet) -> Self {
        let keys = signals
            .signal(signal)
            .templates
            .iter()
            .filter_map(|template| template.key());
        Self {
            signal,
            texts: keys.map(Literal::new).collect(),
        }
    }

    fn finds(&self, line: &[u8]) -> bool {
        self.texts.iter().any(|text| text.is_in(line))
    }

    /// Counts the lines of one record, whose first one is `head`: a search looks at all of it, the logger too.
    pub(super) fn count(
        &self,
        record: &Record<'_>,
        head: &[u8],
        hits: &Hits,
        counts: &mut GrepCounts,
    ) {
        let is_signal = hits.found.iter().any(|hit| hit.signal == self.signal);
        if self.finds(head) {
            let kind = match (is_signal, record.logger == b"executeQuery") {
                (true, _) => &mut counts.records,
                (false, true) => &mut counts.quoted,
                (false, false) => &mut counts.other,
            };
            *kind += 1;
        }
        let further = record
            .rest
            .split(|&b| b == b'\n')
            .filter(|line| self.finds(line))
            .count();
        counts.continuation += u64::try_from(further).unwrap_or(0);
    }
}
