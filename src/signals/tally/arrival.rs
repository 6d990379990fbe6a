//! Parts that did not come at first, and came later: by themselves, or in one that covers them.

use std::collections::BTreeMap;

use super::Evidence;
use super::name::Sought;
use super::part::Part;
use crate::time::{SECOND, Timestamp};

/// How many parts in the range of one that came are looked at that it changes nothing of: ranges of one partition lie apart or
/// in each other, so there are few unless a log makes them up.
const STRANGERS_MAX: usize = 64;

/// How many parts may be opened again in all: one record may open many, and another one close them.
const REOPENED_MAX: usize = 5_000_000;

/// How much earlier than one read before it a record may be of: one that is earlier by more was read late, or the clock was set
/// back.
const DISORDER: i64 = 10 * SECOND;

/// Where a part is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Not here.
    Missing,
    /// Here, in this part.
    Here(Part),
    /// Wanted no more: it was dropped before it came.
    Dropped,
}

/// What became of a part that did not come at first.
#[derive(Debug, Clone, Copy)]
struct Fate {
    place: Place,
    /// When that was said last.
    at: Timestamp,
    /// When something came between after which it may be otherwise, of which no record tells.
    doubted: Option<Timestamp>,
}

impl Fate {
    fn new(place: Place, at: Timestamp) -> Self {
        Self {
            place,
            at,
            doubted: None,
        }
    }

    /// Whether a record may say more of it: it is missing, or in doubt.
    fn is_open(&self) -> bool {
        self.place == Place::Missing || self.doubted.is_some()
    }

    /// Whether a part that is put in its place at a stamp is then, or may be, where it was not said to be.
    fn is_changed_by(&self, time: Timestamp) -> bool {
        self.ends_by(time) || self.is_before(time) && self.doubted < Some(self.at)
    }

    /// Whether a record that is read later says by its stamp that it is of before: the clock was set back, or it was read late.
    fn is_before(&self, time: Timestamp) -> bool {
        self.at.0 - time.0 > DISORDER
    }

    fn doubt(&mut self, time: Timestamp) {
        self.doubted = self.doubted.max(Some(time.max(self.at)));
    }

    /// Whether a record of a stamp is later than all that is known of it, or as late.
    fn ends_by(&self, time: Timestamp) -> bool {
        let decided = match self.place {
            Place::Missing => self.at,
            Place::Here(_) | Place::Dropped => self.doubted.unwrap_or(self.at),
        };
        decided <= time
    }

    /// What two logs of one node say: the later of them, and whatever the other doubts after it.
    fn merge(self, other: Self) -> Self {
        let rank = |fate: &Self| (fate.at, fate.place != Place::Missing);
        let (mut later, earlier) = if rank(&other) > rank(&self) {
            (other, self)
        } else {
            (self, other)
        };
        let doubt = earlier.doubted.filter(|doubted| *doubted > later.at);
        later.doubted = later.doubted.max(doubt);
        later
    }
}

/// What one node said of parts that did not come at first.
#[derive(Debug, Default)]
pub struct ArrivalTally {
    /// Those that are still missing, or may be.
    open: BTreeMap<Part, Fate>,
    /// The others: they are here, or wanted no more.
    closed: BTreeMap<Part, Fate>,
    /// Records of which it cannot be told whether the part came: they name none, or one beyond a cap, or it came by a record
    /// that was read before and has a later stamp.
    unnamed: u64,
    /// The record that brought one last, and when.
    last: Option<(Timestamp, Evidence)>,
    /// The table of the range that was dropped last, and when.
    dropped: Option<(u64, Timestamp)>,
    /// When something was said last that leaves all that is open in doubt, by table, and of all tables: known of each part when the
    /// log has ended.
    cleared: BTreeMap<u64, Timestamp>,
    hole: Option<Timestamp>,
    /// How many parts were opened again.
    reopened: usize,
}

impl ArrivalTally {
    /// A record says that a part did not come; at most `cap` are told apart.
    pub fn fails(&mut self, table: &[u8], name: &[u8], time: Timestamp, cap: usize) {
        let part = Part::new(table, name);
        let closed = self.closed.get(&part);
        let is_known = closed.is_some() || self.open.contains_key(&part);
        let is_late = closed.is_some_and(|fate| fate.is_before(time));
        if name.is_empty() || is_late || !is_known && self.failed() >= cap {
            self.unnamed += 1;
        } else {
            self.miss(part, time);
        }
    }

    fn miss(&mut self, part: Part, time: Timestamp) {
        if let Some(fate) = self.closed.get(&part) {
            // Said before, and read late; or the last words of a try that nothing asks for any more.
            if fate.at >= time || fate.place == Place::Dropped {
                return;
            }
            self.closed.remove(&part);
        }
        let missing = Fate::new(Place::Missing, time);
        let fate = self.open.entry(part).or_insert(missing);
        if fate.ends_by(time) {
            let doubted = fate.doubted.filter(|doubted| *doubted > time);
            *fate = Fate { doubted, ..missing };
        }
    }

    /// A record brings a part, or says that it is here; it is cited if that is one that was missing, or covers one.
    pub fn comes(
        &mut self,
        table: &[u8],
        name: &[u8],
        time: Timestamp,
        evidence: impl FnOnce() -> Evidence,
    ) {
        if self.open.is_empty() {
            return;
        }
        let part = Part::new(table, name);
        let covered = in_range(&self.open, part, |one, fate| {
            part.covers(one) && fate.is_changed_by(time)
        });
        let mut brings = false;
        for one in covered {
            brings |= self.close(one, Place::Here(part), time);
        }
        let is_last = self.last.as_ref().is_none_or(|(last, _)| *last <= time);
        if brings && is_last {
            self.last = Some((time, evidence()));
        }
    }

    /// A part is in its place, unless it was said later that it is not.
    fn close(&mut self, part: Part, place: Place, time: Timestamp) -> bool {
        let Some(fate) = self.open.get_mut(&part) else {
            return false;
        };
        if fate.ends_by(time) {
            self.open.remove(&part);
            self.closed.insert(part, Fate::new(place, time));
            return true;
        }
        if fate.is_before(time) {
            fate.doubt(time);
        }
        false
    }

    /// A record says that a part is lost, and to come again: those that came in it are missing once more.
    pub fn leaves(&mut self, table: &[u8], name: &[u8], time: Timestamp) {
        for one in self.that_came_in(table, name, time) {
            self.miss(one, time);
        }
    }

    /// A record says that a part is fetched that came before: whether it will be here is told by the records after it.
    pub fn begins(&mut self, table: &[u8], name: &[u8], time: Timestamp) {
        for one in self.that_came_in(table, name, time) {
            if let Some(mut fate) = self.closed.remove(&one) {
                fate.doubt(time);
                self.open.insert(one, fate);
            }
        }
    }

    /// A record says that a part was fetched and put aside: nothing is otherwise than before it was fetched.
    pub fn aside(&mut self, table: &[u8], name: &[u8], time: Timestamp) {
        if self.open.is_empty() {
            return;
        }
        let part = Part::new(table, name);
        let begun = in_range(&self.open, part, |one, fate| {
            fate.ends_by(time) && is_in(part, one, fate)
        });
        for one in begun {
            if let Some(fate) = self.open.remove(&one) {
                self.closed.insert(one, Fate::new(fate.place, fate.at));
            }
        }
    }

    /// A record says that all parts in a range are dropped: those that did not come are wanted no more.
    pub fn drops(&mut self, table: &[u8], range: &[u8], time: Timestamp) {
        let range = Part::new(table, range);
        self.dropped = Some((range.table, time));
        if self.open.is_empty() {
            return;
        }
        let covered = in_range(&self.open, range, |one, fate| {
            range.covers(one) && fate.is_changed_by(time)
        });
        for one in covered {
            self.close(one, Place::Dropped, time);
        }
    }

    /// A record says that some parts of a table are wanted no more, and not which, unless one before it did.
    pub fn clears(&mut self, table: &[u8], time: Timestamp) {
        let table = Sought::new(table).hash;
        let is_told =
            |(dropped, at): (u64, Timestamp)| dropped == table && (time.0 - at.0).abs() <= DISORDER;
        if self.dropped.is_some_and(is_told) {
            return;
        }
        if !self.open.is_empty() {
            let last = self.cleared.entry(table).or_insert(time);
            *last = time.max(*last);
        }
    }

    /// A stretch of the log is not here, up to a stamp: what was missing before may have come in it.
    pub fn hole(&mut self, to: Timestamp) {
        self.hole = self.hole.max(Some(to));
    }

    /// The log has ended: what leaves a table in doubt is known of each of its parts.
    pub(super) fn settle(&mut self) {
        let cleared = std::mem::take(&mut self.cleared);
        let hole = self.hole.take();
        if cleared.is_empty() && hole.is_none() {
            return;
        }
        for (part, fate) in &mut self.open {
            let doubt = hole.max(cleared.get(&part.table).copied());
            if let Some(time) = doubt.filter(|time| fate.ends_by(*time)) {
                fate.doubt(time);
            }
        }
    }

    /// The parts that are here, came by a stamp, and are a part or came in it: they are to be opened again.
    fn that_came_in(&mut self, table: &[u8], name: &[u8], time: Timestamp) -> Vec<Part> {
        if self.closed.is_empty() {
            return Vec::new();
        }
        if self.reopened > REOPENED_MAX {
            self.unnamed += 1;
            return Vec::new();
        }
        let part = Part::new(table, name);
        let came = in_range(&self.closed, part, |one, fate| {
            fate.at <= time && is_in(part, one, fate)
        });
        self.reopened += came.len();
        came
    }

    /// How many different parts did not come at first.
    pub fn failed(&self) -> usize {
        self.open.len() + self.closed.len()
    }

    /// How many of them are missing at the end.
    pub fn missing(&self) -> usize {
        let open = self.open.values();
        open.filter(|fate| fate.doubted.is_none()).count()
    }

    /// How many were dropped before they came.
    pub fn dropped(&self) -> usize {
        let closed = self.closed.values();
        closed.filter(|fate| fate.place == Place::Dropped).count()
    }

    /// Of how many parts, and of how many records that name none, it cannot be told whether they came.
    pub fn untold(&self) -> u64 {
        let doubted = self.open.len() - self.missing();
        self.unnamed + u64::try_from(doubted).unwrap_or(u64::MAX)
    }

    /// Whether a part that did not come at first is here in the end, or wanted no more, and since when.
    pub fn closed(&self, table: &[u8], name: &[u8]) -> Option<Timestamp> {
        let fate = self.closed.get(&Part::new(table, name));
        fate.map(|fate| fate.at)
    }

    /// The record that brought one last, and when.
    pub fn last(&self) -> Option<&(Timestamp, Evidence)> {
        self.last.as_ref()
    }

    /// Takes what another log of the same node says.
    pub(super) fn absorb(&mut self, other: Self) {
        for (part, theirs) in other.open.into_iter().chain(other.closed) {
            let mine = self.open.remove(&part).or(self.closed.remove(&part));
            let fate = mine.map_or(theirs, |mine| mine.merge(theirs));
            let to = if fate.is_open() {
                &mut self.open
            } else {
                &mut self.closed
            };
            to.insert(part, fate);
        }
        self.unnamed += other.unnamed;
        let lasts = [self.last.take(), other.last];
        self.last = lasts.into_iter().flatten().max_by_key(|(time, _)| *time);
    }
}

/// Whether one is a part, or came in it.
fn is_in(part: Part, one: &Part, fate: &Fate) -> bool {
    matches!(fate.place, Place::Here(within) if *one == part || within == part)
}

/// The parts in the range of one that are wanted.
fn in_range<T>(
    parts: &BTreeMap<Part, T>,
    part: Part,
    is_wanted: impl Fn(&Part, &T) -> bool,
) -> Vec<Part> {
    let mut strangers = 0;
    let mut wanted = Vec::new();
    for (one, known) in parts.range(part.range()) {
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

    /// Of how many parts the log says at its end that they are missing, and of how many it does not tell.
    fn at_end(tally: &mut ArrivalTally) -> (usize, u64) {
        tally.settle();
        (tally.missing(), tally.untold())
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
        assert_eq!((tally.missing(), tally.untold()), (0, 0), "in disorder");
        tally.fails(b"a", b"all_1_1_0", Timestamp(29 * SECOND), 100);
        assert_eq!((tally.missing(), tally.untold()), (0, 1));
    }

    #[test]
    fn tables_are_apart_and_what_names_no_part_is_untold() {
        let mut tally = tally(&["202601_1_1_0"]);
        tally.comes(b"b", b"202601_1_1_0", Timestamp(20), || evidence("b"));
        tally.fails(b"a", b"", Timestamp(10), 100);
        tally.fails(b"a", b"202601_2_2_0", Timestamp(10), 1);
        assert_eq!((tally.failed(), tally.missing(), tally.untold()), (1, 1, 2));
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
    fn what_one_fetches_into_the_folder_of_detached_parts_changes_nothing() {
        let mut tally = tally(&["all_1_1_0", "all_2_2_0"]);
        come(&mut tally, "all_0_5_1", 20);
        // Begun before it came; and one of the two that came, which is fetched again.
        tally.begins(b"a", b"all_1_1_0", Timestamp(19));
        assert_eq!((tally.missing(), tally.untold()), (0, 0));
        tally.begins(b"a", b"all_1_1_0", Timestamp(30));
        assert_eq!((tally.missing(), tally.untold()), (0, 1));
        tally.aside(b"a", b"all_1_1_0", Timestamp(31));
        assert_eq!((tally.missing(), tally.untold()), (0, 0));
        // Both are fetched again: one comes, one fails.
        for part in ["all_1_1_0", "all_2_2_0"] {
            tally.begins(b"a", part.as_bytes(), Timestamp(40));
        }
        come(&mut tally, "all_1_1_0", 41);
        tally.fails(b"a", b"all_2_2_0", Timestamp(41), 100);
        assert_eq!((tally.failed(), tally.missing(), tally.untold()), (2, 1, 0));
    }

    #[test]
    fn what_is_dropped_is_neither_here_nor_missing() {
        let mut tally = tally(&["all_1_1_0", "all_2_2_0", "all_9_9_0", "x_1_1_0"]);
        come(&mut tally, "all_2_2_0", 20);
        // Of another table, before the failure, and of blocks that lie in it.
        tally.drops(b"b", b"all_0_5_999999999", Timestamp(30));
        tally.drops(b"a", b"all_0_5_999999999", Timestamp(9));
        assert_eq!((tally.dropped(), tally.missing()), (0, 3));
        tally.drops(b"a", b"all_0_5_999999999", Timestamp(30));
        assert_eq!((tally.dropped(), tally.missing()), (1, 2));
        // The queue's own word on it adds nothing; a try that was under way fails.
        tally.clears(b"a", Timestamp(31));
        tally.fails(b"a", b"all_1_1_0", Timestamp(32), 100);
        assert_eq!(
            (tally.dropped(), tally.missing(), tally.untold()),
            (1, 2, 0)
        );
    }

    #[test]
    fn entries_of_the_queue_that_go_without_a_name_leave_their_table_in_doubt() {
        let mut tally = tally(&["all_1_1_0", "all_2_2_0"]);
        tally.fails(b"b", b"all_1_1_0", Timestamp(10), 100);
        tally.clears(b"a", Timestamp(9));
        assert_eq!(at_end(&mut tally), (3, 0));
        tally.clears(b"a", Timestamp(20));
        assert_eq!(at_end(&mut tally), (1, 2));
        // One is tried again, so it was not among them; one comes.
        tally.fails(b"a", b"all_1_1_0", Timestamp(30), 100);
        come(&mut tally, "all_2_2_0", 30);
        assert_eq!(at_end(&mut tally), (2, 0));
    }

    #[test]
    fn what_comes_by_an_earlier_clock_or_where_the_log_has_a_hole_is_untold() {
        let parts = ["all_1_1_0", "all_2_2_0", "all_3_3_0"];
        let mut tally = ArrivalTally::default();
        for part in parts {
            tally.fails(b"a", part.as_bytes(), Timestamp(60 * SECOND), 100);
        }
        // In disorder; and by a clock that was set back.
        come(&mut tally, parts[0], 50 * SECOND);
        assert_eq!(at_end(&mut tally), (3, 0));
        come(&mut tally, parts[0], 49 * SECOND);
        assert_eq!(at_end(&mut tally), (2, 1));
        tally.hole(Timestamp(59 * SECOND));
        assert_eq!(at_end(&mut tally), (2, 1));
        tally.hole(Timestamp(70 * SECOND));
        assert_eq!(at_end(&mut tally), (0, 3));
        // What is said after it holds.
        tally.fails(b"a", parts[1].as_bytes(), Timestamp(80 * SECOND), 100);
        come(&mut tally, parts[2], 80 * SECOND);
        assert_eq!(at_end(&mut tally), (1, 1));
    }

    #[test]
    fn the_later_of_two_logs_decides_and_a_later_doubt_stays() {
        let (mut one, mut other) = (tally(&["all_1_1_0", "all_2_2_0"]), tally(&["all_1_1_0"]));
        other.hole(Timestamp(40));
        other.settle();
        come(&mut one, "all_0_9_1", 30);
        one.absorb(other);
        assert_eq!((one.missing(), one.untold(), one.failed()), (0, 1, 2));
        assert_eq!(one.closed(b"a", b"all_2_2_0"), Some(Timestamp(30)));
        assert_eq!(one.closed(b"a", b"all_1_1_0"), None);
    }

    #[test]
    fn what_leaves_a_table_in_doubt_costs_no_more_than_its_record() {
        const MANY: i64 = 50_000;
        let mut tally = ArrivalTally::default();
        for number in 0..MANY {
            let part = format!("all_{number}_{number}_0");
            tally.fails(b"a", part.as_bytes(), Timestamp(number), 100_000);
        }
        for at in 0..MANY {
            tally.clears(b"a", Timestamp(at));
            tally.hole(Timestamp(at - 1));
            // Of a clock that was set back: the first says all that can be said of what it contradicts.
            tally.drops(b"a", b"all_0_99999_999999999", Timestamp(at - 20 * SECOND));
        }
        assert_eq!(at_end(&mut tally), (0, 50_000));
    }

    #[test]
    fn what_is_fetched_again_and_again_is_untold_in_the_end() {
        let mut tally = ArrivalTally::default();
        for number in 0..20_000 {
            let part = format!("all_{number}_{number}_0");
            tally.fails(b"a", part.as_bytes(), Timestamp(1), 100_000);
        }
        let whole = b"all_0_99999_1";
        for at in 2..1_000 {
            come(&mut tally, "all_0_99999_1", at);
            tally.begins(b"a", whole, Timestamp(at));
        }
        assert_eq!(tally.missing(), 0);
        assert!(tally.untold() > 0);
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
