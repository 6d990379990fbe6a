//! A data part, as its name says what it covers.

use std::ops::RangeInclusive;

use super::name::Sought;

/// The level that a server writes for a part that replaces all others in its range.
const LEVELS_MAX: [u64; 2] = [999_999_999, u32::MAX as u64];

/// A part by what it covers: a table's partition, and its blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Part {
    /// The hash of the table.
    pub(super) table: u64,
    /// The hash of the partition; of the whole name where it is of no known shape.
    partition: u64,
    first: u64,
    last: u64,
    mutation: u64,
    level: u64,
}

impl Part {
    /// Reads `PARTITION_FIRST_LAST_LEVEL`, with a mutation behind it or not, and a folder before it or not.
    pub(super) fn new(table: &[u8], name: &[u8]) -> Self {
        let start = memchr::memrchr(b'/', name).map_or(0, |at| at + 1);
        let name = &name[start..];
        let hash = |text: &[u8]| Sought::new(text).hash;
        let table = hash(table);
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
                table,
                partition: hash(partition),
                first,
                last,
                mutation,
                level,
            },
            None => Self {
                table,
                partition: hash(name),
                first: 0,
                last: 0,
                mutation: 0,
                level: 0,
            },
        }
    }

    /// Whether all that `other` holds is in this one, as the server decides it.
    pub(super) fn covers(&self, other: &Self) -> bool {
        let is_same = (self.first, self.last) == (other.first, other.last);
        let is_over = self.level > other.level || LEVELS_MAX.contains(&self.level);
        (self.table, self.partition) == (other.table, other.partition)
            && self.first <= other.first
            && self.last >= other.last
            && self.mutation >= other.mutation
            && self.level >= other.level
            && (is_over || is_same)
    }

    /// Between which parts those lie whose blocks are in this one's, as parts are ordered.
    pub(super) fn range(self) -> RangeInclusive<Self> {
        let from = Self {
            last: 0,
            mutation: 0,
            level: 0,
            ..self
        };
        let to = Self {
            first: self.last,
            last: u64::MAX,
            mutation: u64::MAX,
            level: u64::MAX,
            ..self
        };
        from..=to
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
