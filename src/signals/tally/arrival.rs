//! Parts that did not come at first, and came later: by themselves, or in one that covers them.

use std::collections::BTreeMap;

use super::Evidence;
use super::name::Sought;
use crate::time::Timestamp;

/// How many parts in the range of one that came are looked at that it does not cover: ranges of one partition lie apart or
/// in each other, so there are none unless a log makes them up.
const STRANGERS_MAX: usize = 16;

/// A part by what it covers: a table's partition, and its blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Part {
    /// The hash of table and partition; of the whole name where it is of no known shape.
    partition: u64,
    first: u64,
    last: u64,
    mutation: u64,
    level: u64,
}

impl Part {
    /// Reads `PARTITION_FIRST_LAST_LEVEL`, with a mutation behind it or not, and a folder before it or not.
    fn new(table: &[u8], name: &[u8]) -> Self {
        let start = memchr::memrchr(b'/', name).map_or(0, |at| at + 1);
        let name = &name[start..];
        let hash = |text: &[u8]| Sought::new(text).hash ^ Sought::new(table).hash.rotate_left(32);
        let mut words = name.split(|&byte| byte == b'_');
        let partition = words.next().unwrap_or_default();
        // Dates before the blocks, as in old versions, leave no sound range.
        match blocks(words).filter(|[first, last, ..]| first <= last) {
            Some([first, last, level, mutation]) => Self {
                partition: hash(partition),
                first,
                last,
                mutation,
                level,
            },
            None => Self {
                partition: hash(name),
                first: 0,
                last: 0,
                mutation: 0,
                level: 0,
            },
        }
    }

    /// Whether all that `other` holds is in this one.
    fn covers(&self, other: &Self) -> bool {
        let is_same = (self.first, self.last) == (other.first, other.last);
        let is_later = self.mutation >= other.mutation && self.level >= other.level;
        self.partition == other.partition
            && self.first <= other.first
            && self.last >= other.last
            && (is_later || !is_same)
    }
}

/// The first block, the last one, the level, and the mutation, which is 0 where none is named.
fn blocks<'n>(words: impl Iterator<Item = &'n [u8]>) -> Option<[u64; 4]> {
    let mut numbers = [0; 4];
    let mut count = 0;
    for word in words {
        *numbers.get_mut(count)? = number(word)?;
        count += 1;
    }
    (count >= 3).then_some(numbers)
}

fn number(digits: &[u8]) -> Option<u64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// What one node said of parts that did not come at first.
#[derive(Debug, Default)]
pub struct ArrivalTally {
    /// Those that are still missing, and when that was said last.
    missing: BTreeMap<Part, Timestamp>,
    /// Those that came, and when.
    came: BTreeMap<Part, Timestamp>,
    /// Records that say so and name no part, or one beyond the cap.
    pub untold: u64,
    /// The record that brought one last, and when.
    last: Option<(Timestamp, Evidence)>,
}

impl ArrivalTally {
    /// A record says that a part did not come; at most `cap` are told apart.
    pub fn fails(&mut self, table: &[u8], name: &[u8], time: Timestamp, cap: usize) {
        let part = Part::new(table, name);
        let is_known = self.missing.contains_key(&part) || self.came.contains_key(&part);
        if name.is_empty() || !is_known && self.failed() >= cap {
            self.untold += 1;
        } else {
            self.miss(part, time);
        }
    }

    fn miss(&mut self, part: Part, time: Timestamp) {
        // Read late: it came since.
        if self.came.get(&part).is_some_and(|came| *came >= time) {
            return;
        }
        self.came.remove(&part);
        let said = self.missing.entry(part).or_insert(time);
        *said = time.max(*said);
    }

    /// A record brings a part; it is cited if that is one that was missing, or covers one.
    pub fn comes(
        &mut self,
        table: &[u8],
        name: &[u8],
        time: Timestamp,
        evidence: impl FnOnce() -> Evidence,
    ) {
        if self.missing.is_empty() {
            return;
        }
        let part = Part::new(table, name);
        if self.bring(part, time) && self.last.as_ref().is_none_or(|(last, _)| *last <= time) {
            self.last = Some((time, evidence()));
        }
    }

    /// Takes what a part covers out of what is missing; whether it was anything.
    fn bring(&mut self, part: Part, time: Timestamp) -> bool {
        let from = Part {
            last: 0,
            mutation: 0,
            level: 0,
            ..part
        };
        let to = Part {
            first: part.last,
            last: u64::MAX,
            mutation: u64::MAX,
            level: u64::MAX,
            ..part
        };
        let mut strangers = 0;
        let mut covered = Vec::new();
        for (missing, said) in self.missing.range(from..=to) {
            if part.covers(missing) && *said <= time {
                covered.push(*missing);
            } else {
                strangers += 1;
            }
            if strangers > STRANGERS_MAX {
                break;
            }
        }
        for one in &covered {
            self.missing.remove(one);
            self.came.insert(*one, time);
        }
        !covered.is_empty()
    }

    /// How many different parts did not come at first.
    pub fn failed(&self) -> usize {
        self.missing.len() + self.came.len()
    }

    /// How many of them are missing at the end.
    pub fn missing(&self) -> usize {
        self.missing.len()
    }

    /// The record that brought one last, and when.
    pub fn last(&self) -> Option<&(Timestamp, Evidence)> {
        self.last.as_ref()
    }

    /// Takes what another log of the same node says.
    pub(super) fn absorb(&mut self, other: Self) {
        for (part, came) in other.came {
            let waits = self.missing.get(&part).is_some_and(|said| *said > came);
            if !waits {
                self.missing.remove(&part);
                let known = self.came.entry(part).or_insert(came);
                *known = came.max(*known);
            }
        }
        for (part, said) in other.missing {
            self.miss(part, said);
        }
        self.untold += other.untold;
        let lasts = [self.last.take(), other.last];
        self.last = lasts.into_iter().flatten().max_by_key(|(time, _)| *time);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Locator;
    use crate::signals::tally::Around;

    fn evidence(text: &str) -> Evidence {
        Evidence {
            at: Locator {
                artifact: 0,
                line: 1,
                offset: 0,
            },
            time: None,
            text: text.to_owned(),
            around: Around::default(),
        }
    }

    fn come(tally: &mut ArrivalTally, part: &str, at: i64) {
        tally.comes(b"a", part.as_bytes(), Timestamp(at), || evidence(part));
    }

    fn tally(parts: &[&str]) -> ArrivalTally {
        let mut tally = ArrivalTally::default();
        for part in parts {
            tally.fails(b"a", part.as_bytes(), Timestamp(10), 100);
        }
        tally
    }

    fn cited(tally: &ArrivalTally) -> Option<(i64, &str)> {
        let last = tally.last();
        last.map(|(time, evidence)| (time.0, evidence.text.as_str()))
    }

    #[test]
    fn a_part_comes_by_itself_or_in_one_that_covers_it() {
        let mut tally = tally(&[
            "202601_1_1_0",
            "202601_2_5_1",
            "202601_6_6_0_9",
            "x/all_1_1_0",
        ]);
        come(&mut tally, "202601_1_1_0", 20);
        assert_eq!((tally.failed(), tally.missing()), (4, 3));
        // An older state of one, another partition, and a range that ends too early.
        for other in ["202601_6_6_0_8", "202602_0_9_2", "202601_2_4_1"] {
            come(&mut tally, other, 21);
        }
        assert_eq!(
            (tally.missing(), cited(&tally)),
            (3, Some((20, "202601_1_1_0")))
        );
        come(&mut tally, "202601_0_6_2_9", 30);
        come(&mut tally, "all_1_1_0", 40);
        assert_eq!((tally.failed(), tally.missing()), (4, 0));
        // What comes when nothing is missing is not cited.
        come(&mut tally, "202601_0_9_3_9", 50);
        assert_eq!(cited(&tally), Some((40, "all_1_1_0")));
    }

    #[test]
    fn one_that_fails_again_is_missing_again_and_an_earlier_fetch_brings_nothing() {
        let mut tally = tally(&["202601_1_1_0"]);
        come(&mut tally, "202601_1_1_0", 9);
        assert_eq!(tally.missing(), 1);
        come(&mut tally, "202601_1_1_0", 11);
        tally.fails(b"a", b"202601_1_1_0", Timestamp(11), 100);
        assert_eq!(tally.missing(), 0, "said before, read late");
        tally.fails(b"a", b"202601_1_1_0", Timestamp(12), 100);
        assert_eq!((tally.failed(), tally.missing()), (1, 1));
    }

    #[test]
    fn tables_are_apart_and_what_names_no_part_is_untold() {
        let mut tally = tally(&["202601_1_1_0"]);
        tally.comes(b"b", b"202601_1_1_0", Timestamp(20), || evidence("b"));
        tally.fails(b"a", b"", Timestamp(10), 100);
        tally.fails(b"a", b"202601_2_2_0", Timestamp(10), 1);
        assert_eq!((tally.failed(), tally.missing(), tally.untold), (1, 1, 2));
    }

    #[test]
    fn two_logs_of_a_node_add_up() {
        let (mut one, mut other) = (
            tally(&["202601_1_1_0", "202601_2_2_0"]),
            tally(&["202601_1_1_0"]),
        );
        come(&mut other, "202601_1_1_0", 30);
        come(&mut one, "202601_2_2_0", 20);
        one.absorb(other);
        assert_eq!((one.failed(), one.missing()), (2, 0));
        assert_eq!(cited(&one), Some((30, "202601_1_1_0")));
    }

    #[test]
    fn ranges_that_no_server_has_cost_little() {
        let mut tally = ArrivalTally::default();
        for at in 0..1_000 {
            let part = format!("all_{at}_5000_1");
            tally.fails(b"a", part.as_bytes(), Timestamp(10), 2_000);
        }
        come(&mut tally, "all_0_2000_1", 20);
        assert_eq!(tally.missing(), 1_000);
        come(&mut tally, "all_0_5000_2", 20);
        assert_eq!(tally.missing(), 0);
    }
}
