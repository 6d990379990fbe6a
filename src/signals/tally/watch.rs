//! Names that someone else's evidence asks about, such as tables of failing tests, and what records of a node say of them.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use super::{Evidence, Minutes, Tally};
use crate::time::Timestamp;

/// Different parts that are kept of a name and signal.
pub const WATCHED_PARTS_MAX: usize = 1_000;

/// Names to look for in the head lines of records that are signals.
#[derive(Debug, Default)]
pub struct Watch {
    names: FxHashSet<Box<[u8]>>,
}

impl Watch {
    /// Names of at least six bytes that no prose holds: with a digit or an underscore. Others are left out.
    pub fn new<'n>(names: impl IntoIterator<Item = &'n str>) -> Self {
        let is_telling = |name: &&str| {
            name.len() >= 6
                && name
                    .bytes()
                    .any(|byte| byte.is_ascii_digit() || byte == b'_')
        };
        let names = names.into_iter().filter(is_telling);
        Self {
            names: names.map(|name| name.as_bytes().into()).collect(),
        }
    }

    /// Whether there is nothing to look for.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The watched names in a line, each once, in order.
    pub fn find<'t>(&self, line: &'t [u8]) -> Vec<&'t str> {
        let mut found: Vec<&str> = Vec::new();
        for word in line.split(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'_')) {
            if word.len() >= 6
                && self.names.contains(word)
                && let Ok(word) = std::str::from_utf8(word)
                && !found.contains(&word)
            {
                found.push(word);
            }
        }
        found
    }
}

/// What records that are one signal say of one watched name.
#[derive(Debug, Default)]
pub struct WatchTally {
    /// How many name it.
    pub all: Tally,
    /// The same by minute.
    pub minutes: Minutes,
    /// Parts that the records name as well, with how often and when; at most [`WATCHED_PARTS_MAX`].
    pub parts: BTreeMap<String, Tally>,
    /// The first of them.
    pub evidence: Option<Evidence>,
}

impl WatchTally {
    /// Counts a part that a record names beside the name.
    pub fn part(&mut self, part: &str, time: Option<Timestamp>) {
        if let Some(tally) = self.parts.get_mut(part) {
            tally.add(time, false);
        } else if self.parts.len() < WATCHED_PARTS_MAX {
            let tally = self.parts.entry(part.to_owned()).or_default();
            tally.add(time, false);
        }
    }

    pub(super) fn absorb(&mut self, other: Self) {
        self.all.merge(other.all);
        self.minutes.absorb(other.minutes);
        for (part, count) in other.parts {
            self.parts.entry(part).or_default().merge(count);
        }
        self.evidence = self.evidence.take().or(other.evidence);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_words_are_found_and_common_ones_are_not_looked_for() {
        let watch = Watch::new(["destination_e3", "table", "t1"]);
        let line =
            b"default.destination_e3 (4511): Code: 210. table t1 destination_e34 destination_e3";
        assert_eq!(watch.find(line), ["destination_e3"]);
        assert!(Watch::new(["orders"]).is_empty());
    }
}
