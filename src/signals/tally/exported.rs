//! What exported tables of a node say beside what signals count: which there are, and their counters.

use std::collections::BTreeMap;

use crate::time::Timestamp;

/// How many counters of a node are kept: a server has some 1,500 events and as many metrics.
const COUNTERS_MAX: usize = 10_000;

/// What names a counter.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ExportedName {
    /// The table.
    pub table: String,
    /// Its name.
    pub name: String,
    /// The error's code.
    pub code: Option<u32>,
    /// Whether it counts what other servers reported.
    pub remote: bool,
}

/// A counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExportedValue {
    /// Its value, of a signed or an unsigned column; of several exports the largest.
    pub value: i128,
    /// When it moved last.
    pub last: Option<Timestamp>,
}

/// The exported tables of a node.
#[derive(Debug, Default)]
pub struct Exported {
    /// How many rows of each table were read.
    pub rows: BTreeMap<String, u64>,
    /// The counters.
    pub counters: BTreeMap<ExportedName, ExportedValue>,
}

impl Exported {
    /// Takes a row of a counter; by how much it is larger than what is known: the same table may be exported twice.
    pub fn count(&mut self, name: ExportedName, found: ExportedValue) -> i128 {
        if let Some(known) = self.counters.get_mut(&name) {
            let more = found.value - known.value;
            known.value = known.value.max(found.value);
            known.last = known.last.max(found.last);
            return more.max(0);
        }
        if self.counters.len() < COUNTERS_MAX {
            self.counters.insert(name, found);
        }
        found.value.max(0)
    }

    /// Whether the table is here.
    pub fn has(&self, table: &str) -> bool {
        self.rows.contains_key(table)
    }

    pub(super) fn absorb(&mut self, other: Self) {
        for (table, rows) in other.rows {
            *self.rows.entry(table).or_default() += rows;
        }
        for (name, value) in other.counters {
            self.count(name, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_that_is_exported_twice_counts_once() {
        let name = || ExportedName {
            table: "errors".to_owned(),
            name: "NETWORK_ERROR".to_owned(),
            code: Some(210),
            remote: false,
        };
        let value = |value| ExportedValue { value, last: None };
        let mut exported = Exported::default();
        let more: Vec<i128> = [7, 7, 9, 3]
            .map(|n| exported.count(name(), value(n)))
            .to_vec();
        assert_eq!(more, [7, 0, 2, 0]);
        assert_eq!(exported.counters[&name()].value, 9);
    }
}
