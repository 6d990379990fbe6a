//! Parts that did not come at first, and came later: by themselves, or in one that covers them.

use std::collections::BTreeMap;

use super::Evidence;
use super::name::Sought;
use crate::time::{SECOND, Timestamp};

/// How many parts in the range of one that came are looked at that it does not cover: ranges of one partition lie apart or
/// in each other, so there are none unless a log makes them up.
const STRANGERS_MAX: usize = 16;

/// How much earlier than one read before it a record may be of: one that is earlier by more was read late, or the clock was set
/// back.
const DISORDER: i64 = 10 * SECOND;

/// The level that a server writes for a part that replaces all others in its range.
const LEVELS_MAX: [u64; 2] = [999_999_999, u32::MAX as u64];

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
        let (partition, numbers) = match blocks(words) {
            // `FIRSTDAY_LASTDAY_FIRST_LAST_LEVEL`, as old versions have it: the partition is the month.
            Some([day, first, last, level]) if is_day(day) && day > first => {
                let month = partition.get(..MONTH_BYTES).unwrap_or(partition);
                (month, Some([first, last, level, 0]))
            }
            numbers => (partition, numbers),
        };
        match numbers.filter(|[first, last, ..]| first <= last) {
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

    /// Whether all that `other` holds is in this one, as the server decides it.
    fn covers(&self, other: &Self) -> bool {
        let is_same = (self.first, self.last) == (other.first, other.last);
        let is_over = self.level > other.level || LEVELS_MAX.contains(&self.level);
        self.partition == other.partition
            && self.first <= other.first
            && self.last >= other.last
            && self.mutation >= other.mutation
            && self.level >= other.level
            && (is_over || is_same)
    }
}

/// How many digits a month has.
const MONTH_BYTES: usize = "YYYYMM".len();

/// Whether a number is written like a day: `YYYYMMDD`.
fn is_day(number: u64) -> bool {
    (19_700_101..=29_991_231).contains(&number)
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
    /// Those that came, when, and in which part.
    came: BTreeMap<Part, (Timestamp, Part)>,
    /// Records of which it cannot be told whether the part came: they name none, or one beyond the cap, or it came by a record
    /// that was read before and has a later stamp.
    pub untold: u64,
    /// The record that brought one last, and when.
    last: Option<(Timestamp, Evidence)>,
}

impl ArrivalTally {
    /// A record says that a part did not come; at most `cap` are told apart.
    pub fn fails(&mut self, table: &[u8], name: &[u8], time: Timestamp, cap: usize) {
        let part = Part::new(table, name);
        let came = self.came.get(&part).map(|(came, _)| *came);
        let is_known = came.is_some() || self.missing.contains_key(&part);
        let is_late = came.is_some_and(|came| came.0 - time.0 > DISORDER);
        if name.is_empty() || is_late || !is_known && self.failed() >= cap {
            self.untold += 1;
        } else {
            self.miss(part, time);
        }
    }

    fn miss(&mut self, part: Part, time: Timestamp) {
        // Said before, and read late.
        if self.came.get(&part).is_some_and(|(came, _)| *came >= time) {
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
        let brought = in_range(&self.missing, part, |missing, said| {
            part.covers(missing) && *said <= time
        });
        for one in &brought {
            self.missing.remove(one);
            self.came.insert(*one, (time, part));
        }
        let is_last = self.last.as_ref().is_none_or(|(last, _)| *last <= time);
        if !brought.is_empty() && is_last {
            self.last = Some((time, evidence()));
        }
    }

    /// A record says that a part is to come again: those that came in it are missing once more.
    pub fn leaves(&mut self, table: &[u8], name: &[u8], time: Timestamp) {
        if self.came.is_empty() {
            return;
        }
        let part = Part::new(table, name);
        let left = in_range(&self.came, part, |one, (came, within)| {
            (*one == part || *within == part) && *came <= time
        });
        for one in left {
            self.miss(one, time);
        }
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
            let waits = self.missing.get(&part).is_some_and(|said| *said > came.0);
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

/// The parts in the range of one that are wanted.
fn in_range<T>(
    parts: &BTreeMap<Part, T>,
    part: Part,
    is_wanted: impl Fn(&Part, &T) -> bool,
) -> Vec<Part> {
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
    let mut wanted = Vec::new();
    for (one, known) in parts.range(from..=to) {
        if is_wanted(one, known) {
            wanted.push(*one);
        } else {
            strangers += 1;
        }
        if strangers > STRANGERS_MAX {
            break;
        }
    }
    wanted
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
    fn a_part_covers_another_as_the_server_decides_it() {
        // `MergeTreePartInfo::contains`: mutation and level of the larger one are no lower, and its level is higher unless it has
        // the same blocks.
        for (missing, came, covers) in [
            ("all_5_5_0", "all_0_9_1", true),
            ("all_5_5_0_7", "all_0_9_1", false),
            ("all_5_5_0_7", "all_0_9_1_6", false),
            ("all_5_5_0_7", "all_0_9_1_7", true),
            ("all_5_5_0_7", "all_5_5_0_8", true),
            ("all_5_9_3", "all_0_9_1", false),
            ("all_5_9_1", "all_0_9_1", false),
            ("all_5_9_3", "all_0_9_999999999", true),
            ("20170101_20170131_1_5_2", "20170101_20170131_1_9_3", true),
            ("20170101_20170131_1_5_2", "20170115_20170128_1_9_3", true),
            ("20170101_20170131_1_5_2", "20170201_20170228_1_9_3", false),
            ("20170101_20170131_1_5_2", "20170101_20170131_2_9_3", false),
            // Partitions by day.
            ("20170101_1_5_2", "20170101_0_9_3", true),
            ("20170101_1_5_2_8", "20170101_0_9_3_8", true),
            ("20170101_1_5_2", "20170102_0_9_3", false),
        ] {
            let mut tally = tally(&[missing]);
            come(&mut tally, came, 20);
            assert_eq!(tally.missing() == 0, covers, "{missing} {came}");
        }
    }

    #[test]
    fn a_part_that_is_to_come_again_is_missing_until_it_does() {
        let mut tally = tally(&["all_1_1_0", "all_2_2_0", "all_7_7_0"]);
        come(&mut tally, "all_0_5_1", 20);
        come(&mut tally, "all_7_7_0", 21);
        let leaves = |tally: &mut ArrivalTally, part: &str, at: i64| {
            tally.leaves(b"a", part.as_bytes(), Timestamp(at));
        };
        // Begun before it came, of another table, and one that covers it and is yet to come.
        leaves(&mut tally, "all_7_7_0", 20);
        tally.leaves(b"b", b"all_7_7_0", Timestamp(30));
        leaves(&mut tally, "all_0_9_2", 30);
        assert_eq!(tally.missing(), 0);
        leaves(&mut tally, "all_7_7_0", 30);
        assert_eq!(tally.missing(), 1);
        leaves(&mut tally, "all_0_5_1", 30);
        assert_eq!((tally.failed(), tally.missing()), (3, 3));
        come(&mut tally, "all_0_9_2", 31);
        assert_eq!((tally.failed(), tally.missing()), (3, 0));
    }

    #[test]
    fn what_fails_by_an_earlier_clock_is_untold() {
        let mut tally = tally(&["all_1_1_0"]);
        come(&mut tally, "all_1_1_0", 40 * SECOND);
        tally.fails(b"a", b"all_1_1_0", Timestamp(31 * SECOND), 100);
        assert_eq!((tally.missing(), tally.untold), (0, 0), "in disorder");
        tally.fails(b"a", b"all_1_1_0", Timestamp(29 * SECOND), 100);
        assert_eq!((tally.missing(), tally.untold), (0, 1));
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
