//! Stalls: the same thing said again and again while a position does not move.

use std::cmp::{Ordering, Reverse};

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use smallvec::SmallVec;

use super::name::{Name, Sought};
use crate::time::{MINUTE, Timestamp};

/// A stall that a rule asks for: the same subject again and again, with a position that does not move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StallWatch {
    /// The index of the signal.
    pub signal: u16,
    /// The fields that tell one subject from another.
    pub key: Vec<usize>,
    /// Whether the table that their record is about tells them apart as well: the same part may be in several.
    pub of_table: bool,
    /// The fields that stay.
    pub still: Vec<usize>,
    /// Two fields of which the first must be below the second: there is more to come.
    pub below: Option<(usize, usize)>,
    /// The field whose number is smaller by one at each repetition.
    pub falls: Option<usize>,
    /// The longest pause between two repetitions, in microseconds.
    pub pause: i64,
    /// The fields beside the key's that are compared, or looked at by rules.
    pub kept: Vec<usize>,
}

impl StallWatch {
    /// Asks for a field's values.
    pub fn keep(&mut self, field: usize) {
        if !self.key.contains(&field) && !self.kept.contains(&field) {
            self.kept.push(field);
        }
    }
}

/// One stretch in which a subject's position did not move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stall {
    /// The values of the fields that tell its subject, packed.
    key: Name,
    /// Those of the others that are kept, at the last repetition.
    beside: Name,
    /// The first and the last stamp.
    pub span: (Timestamp, Timestamp),
    /// How often it was said.
    pub repeats: u64,
}

/// What one [`StallWatch`] saw on one node.
#[derive(Debug, Default)]
pub struct StallTally {
    /// By subject: the stretch under way.
    current: HashTable<Stall>,
    /// The stretches that ended.
    ended: Vec<Stall>,
    /// How far the log was read, and with how many stretches under way those are looked for that can go on no more.
    now: Option<Timestamp>,
    sweep_at: usize,
}

/// How many stretches with most repetitions are kept, and how many of the longest.
const STRETCHES_MAX: usize = 250;

/// With how many stretches under way it is first looked which of them are over.
const SWEEP_MIN: usize = 1_024;

/// How late a record may be counted: the err.log's and those of exports wait for others.
const LATE: i64 = 2 * MINUTE;

/// The values of fields packed: the field, the length, the bytes.
type Packed = SmallVec<[u8; 96]>;

/// The length from which on it stands in four bytes behind this one.
const LONG: u8 = u8::MAX;

/// What stands for a field where the table is packed.
const TABLE: usize = u8::MAX as usize;

fn pack<'v>(values: impl Iterator<Item = (usize, &'v [u8])>) -> Packed {
    let mut packed = Packed::new();
    for (field, value) in values {
        packed.push(u8::try_from(field).unwrap_or(u8::MAX));
        match u8::try_from(value.len()) {
            Ok(length) if length < LONG => packed.push(length),
            Ok(_) | Err(_) => {
                let length = u32::try_from(value.len()).unwrap_or(u32::MAX);
                packed.push(LONG);
                packed.extend_from_slice(&length.to_le_bytes());
            }
        }
        packed.extend_from_slice(value);
    }
    packed
}

/// Fields and values in the order in which they were packed.
fn unpack(mut packed: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    std::iter::from_fn(move || {
        let (&[field, short], rest) = packed.split_first_chunk::<2>()?;
        let (length, rest) = if short == LONG {
            let (length, rest) = rest.split_first_chunk::<4>()?;
            (u32::from_le_bytes(*length) as usize, rest)
        } else {
            (usize::from(short), rest)
        };
        let (value, rest) = rest.split_at_checked(length)?;
        packed = rest;
        Some((usize::from(field), value))
    })
}

impl Stall {
    /// From the first to the last repetition, in microseconds.
    pub fn duration(&self) -> i64 {
        self.span.1.0 - self.span.0.0
    }

    /// How long both stretches go on at once, in microseconds; below 0 where they do not.
    pub fn overlap(&self, other: &Self) -> i64 {
        self.span.1.0.min(other.span.1.0) - self.span.0.0.max(other.span.0.0)
    }

    /// What a field held at the last repetition; nothing for one that is not kept.
    pub fn value(&self, field: usize) -> &[u8] {
        let mut all = unpack(self.key.bytes()).chain(unpack(self.beside.bytes()));
        all.find(|(known, _)| *known == field)
            .map_or(b"", |(_, value)| value)
    }

    /// The table that its records are about, where that tells subjects apart.
    pub fn table(&self) -> &[u8] {
        self.value(TABLE)
    }

    /// Those with more repetitions first, the earliest of equals; of one time by what tells them apart.
    fn order(&self, other: &Self) -> Ordering {
        let rank = |stall: &Self| (Reverse(stall.repeats), stall.span);
        let subject = |stall| unpack(stall).map(|(_, value)| value);
        let by_subject = || subject(self.key.bytes()).cmp(subject(other.key.bytes()));
        rank(self).cmp(&rank(other)).then_with(by_subject)
    }

    /// Whether values go on with it.
    fn goes_on(&self, watch: &StallWatch, values: &[&[u8]], time: Timestamp) -> bool {
        let mut still = watch.still.iter().filter(|it| !watch.key.contains(it));
        let falls = |field| is_next_below(self.value(field), values[field]);
        time.0 - self.span.1.0 <= watch.pause
            && still.all(|&field| self.value(field) == values[field])
            && watch.falls.is_none_or(falls)
    }
}

impl StallTally {
    /// Takes one more occurrence of the watched signal, in a record about a table.
    pub fn see(
        &mut self,
        watch: &StallWatch,
        (table, values): (&[u8], &[&[u8]]),
        time: Timestamp,
        subjects_max: usize,
    ) {
        // Where neither the subject nor its position is known, two occurrences need not be of one subject.
        let told = watch.key.iter().chain(&watch.still).chain(&watch.falls);
        if told.into_iter().all(|&field| values[field].is_empty()) {
            return;
        }
        let more = watch
            .below
            .is_none_or(|(low, high)| is_below(values[low], values[high]));
        let of = |&field: &usize| (field, values[field]);
        let table = watch.of_table.then_some((TABLE, table));
        let key = pack(watch.key.iter().map(of).chain(table));
        let sought = Sought::new(&key);
        let is = |stall: &Stall| sought.is(&stall.key);
        let beside = pack(watch.kept.iter().map(of));
        let begun = |key: Name| Stall {
            key,
            beside: Sought::new(&beside).name(),
            span: (time, time),
            repeats: 1,
        };
        self.pass(watch, time, subjects_max);
        let room = self.current.len() < subjects_max;
        let over = match self.current.entry(sought.hash, is, |it| it.key.hash()) {
            Entry::Occupied(known) if !more => Some(known.remove().0),
            Entry::Occupied(mut known) => {
                let stall = known.get_mut();
                if stall.goes_on(watch, values, time) {
                    stall.repeats += 1;
                    stall.span.1 = stall.span.1.max(time);
                    if *stall.beside.bytes() != *beside {
                        stall.beside = Sought::new(&beside).name();
                    }
                    return;
                }
                let begun = begun(stall.key.clone());
                Some(std::mem::replace(stall, begun))
            }
            Entry::Vacant(place) => {
                if more && room {
                    place.insert(begun(sought.name()));
                }
                None
            }
        };
        self.end(over);
    }

    /// The log was read up to a stamp: where many stretches are under way, those that can go on no more are over.
    fn pass(&mut self, watch: &StallWatch, time: Timestamp, subjects_max: usize) {
        let before = self.now.unwrap_or(time);
        // Another log of the node may begin earlier.
        let is_back = time.0.saturating_add(LATE) < before.0;
        self.now = Some(if is_back { time } else { before.max(time) });
        if self.current.len() < self.sweep_at.max(SWEEP_MIN).min(subjects_max) {
            return;
        }
        // One stamp alone that is far ahead ends nothing.
        let now = before.min(time);
        let is_over = |stall: &mut Stall| {
            let since = now.0.saturating_sub(stall.span.1.0);
            since > watch.pause.saturating_add(LATE)
        };
        let over: Vec<Stall> = self.current.extract_if(is_over).collect();
        for stall in over {
            self.end(Some(stall));
        }
        self.sweep_at = 2 * self.current.len();
    }

    /// Every stretch that is known.
    pub fn stretches(&self) -> impl Iterator<Item = &Stall> {
        self.ended.iter().chain(&self.current)
    }

    /// The stretch with most repetitions of those with so many at least over so many microseconds that are asked for, the
    /// earliest of equals.
    pub fn longest(
        &self,
        repeats: u64,
        lasting: i64,
        is_asked: impl Fn(&Stall) -> bool,
    ) -> Option<&Stall> {
        let long = |stall: &&Stall| {
            stall.repeats >= repeats && stall.duration() >= lasting && is_asked(stall)
        };
        let fits = self.stretches().filter(long);
        fits.reduce(|a, b| if b.order(a).is_lt() { b } else { a })
    }

    /// Takes what another part of the node's logs showed.
    pub(super) fn absorb(&mut self, other: Self) {
        for stall in other.ended.into_iter().chain(other.current) {
            self.end(Some(stall));
        }
    }

    /// Keeps a stretch that is over. Of very many those with most repetitions stay, and the longest; and each than which none
    /// before it is as long, so that whichever a rule asks for is among them.
    fn end(&mut self, stall: Option<Stall>) {
        self.ended.extend(stall);
        if self.ended.len() < 6 * STRETCHES_MAX {
            return;
        }
        let mut all = std::mem::take(&mut self.ended);
        all.sort_unstable_by(Stall::order);
        let mut longest = i64::MIN;
        let mut rest = Vec::new();
        for (at, stall) in all.into_iter().enumerate() {
            let leads = stall.duration() > longest;
            longest = longest.max(stall.duration());
            if at < STRETCHES_MAX || leads && self.ended.len() < 3 * STRETCHES_MAX {
                self.ended.push(stall);
            } else {
                rest.push(stall);
            }
        }
        rest.sort_by_key(|stall| (Reverse(stall.duration()), stall.span));
        rest.truncate(STRETCHES_MAX);
        self.ended.append(&mut rest);
    }
}

/// The number that a field holds.
fn number(value: &[u8]) -> Option<i128> {
    std::str::from_utf8(value).ok()?.parse().ok()
}

/// Whether both are numbers, and the second the first one's predecessor.
fn is_next_below(before: &[u8], now: &[u8]) -> bool {
    let numbers = number(before).zip(number(now));
    numbers.is_some_and(|(before, now)| now.checked_add(1) == Some(before))
}

/// Whether both are numbers, and the first the smaller one.
pub fn is_below(low: impl AsRef<[u8]>, high: impl AsRef<[u8]>) -> bool {
    number(low.as_ref())
        .zip(number(high.as_ref()))
        .is_some_and(|(low, high)| low < high)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watch() -> StallWatch {
        let mut watch = StallWatch {
            signal: 0,
            key: vec![0],
            of_table: false,
            still: vec![0],
            below: None,
            falls: None,
            pause: 10 * MINUTE,
            kept: Vec::new(),
        };
        watch.keep(0);
        watch.keep(2);
        watch
    }

    #[test]
    fn what_is_kept_is_the_last_value_and_nothing_that_no_rule_looks_at() {
        let (mut tally, watch) = (StallTally::default(), watch());
        let long = vec![b'x'; 300];
        for (at, last) in [(1, &b"first"[..]), (2, &long), (3, b"")] {
            let values = [&b"20260803_376_376_0"[..], b"unasked", last];
            tally.see(&watch, (b"", &values), Timestamp(at), 10);
            let stall = tally.longest(1, 0, |_| true).unwrap();
            assert_eq!(stall.value(0), b"20260803_376_376_0");
            assert_eq!((stall.value(1), stall.value(2)), (&b""[..], last));
        }
        assert_eq!(
            tally.longest(3, 2, |_| true).map(|stall| stall.repeats),
            Some(3)
        );
    }

    #[test]
    fn the_same_part_of_two_tables_is_two_subjects_where_tables_tell_them_apart() {
        for (of_table, most) in [(true, 3), (false, 5)] {
            let watch = StallWatch {
                of_table,
                ..watch()
            };
            let mut tally = StallTally::default();
            for (at, table) in [(0, b"a"), (1, b"b"), (2, b"a"), (3, b"b"), (4, b"a")] {
                let values = [&b"all_1_1_0"[..], b"", b""];
                tally.see(&watch, (table, &values), Timestamp(at), 10);
            }
            let longest = tally.longest(1, 0, |_| true).unwrap();
            assert_eq!(longest.repeats, most);
            assert_eq!(longest.table(), if of_table { &b"a"[..] } else { b"" });
            let other = tally.longest(1, 0, |stall| stall.table() == b"b");
            assert_eq!(other.map(|stall| stall.repeats), of_table.then_some(2));
        }
    }

    #[test]
    fn stretches_that_can_go_on_no_more_make_room_and_are_not_forgotten() {
        let (mut tally, watch) = (StallTally::default(), watch());
        // Five times over 20 minutes; then ten thousand other subjects, one a second.
        for at in 0..5 {
            tally.see(
                &watch,
                (b"", &[b"stuck", b"", b""]),
                Timestamp(at * 5 * MINUTE),
                100_000,
            );
        }
        let from = 20 * MINUTE;
        for at in 0..10_000 {
            let part = format!("all_{at}_{at}_0");
            let time = Timestamp(from + at * MINUTE / 60);
            tally.see(&watch, (b"", &[part.as_bytes(), b"", b""]), time, 100_000);
        }
        // 12 minutes are 720 seconds; it is looked when as many again are there.
        assert!(tally.current.len() <= 2 * 1_024, "{}", tally.current.len());
        assert!(tally.ended.len() < 6 * STRETCHES_MAX);
        let longest = tally
            .longest(2, MINUTE, |_| true)
            .map(|stall| (stall.repeats, stall.duration()));
        assert_eq!(longest, Some((5, 20 * MINUTE)));
    }

    #[test]
    fn of_very_many_stretches_whichever_a_rule_asks_for_is_kept() {
        // More repetitions, each shorter; the one in the middle is neither often nor long, and alone fits.
        let mut tally = StallTally::default();
        let stall = |name: String, repeats, duration| Stall {
            key: Sought::new(name.as_bytes()).name(),
            beside: Sought::new(b"").name(),
            span: (Timestamp(0), Timestamp(duration)),
            repeats,
        };
        tally.end(Some(stall("fits".to_owned(), 12, 700)));
        for at in 0..3_000 {
            tally.end(Some(stall(format!("often-{at}"), 60, 60)));
            tally.end(Some(stall(format!("long-{at}"), 5, 5_000)));
        }
        assert!(tally.ended.len() < 6 * STRETCHES_MAX);
        assert_eq!(
            tally.longest(10, 600, |_| true).map(|stall| stall.repeats),
            Some(12)
        );
    }
}
