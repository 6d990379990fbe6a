//! Positions in a replicated log, and how a system writes them.

use std::fmt;

/// The position of one record in a log: a Raft index, a zxid, a first-to-last counter. Never a byte offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lsn(pub u64);

impl Lsn {
    /// The position after this one; the last position has itself as successor.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// The position before this one; zero has itself as predecessor.
    #[must_use]
    pub fn before(self) -> Self {
        Self(self.0.saturating_sub(1))
    }

    /// Reads what a user types: decimal digits, hex digits behind `0x`, or two halves in hex with a slash between.
    pub fn parse(text: &str) -> Option<Self> {
        if let Some((high, low)) = text.split_once('/') {
            let half = |digits| u32::from_str_radix(digits, 16).ok().map(u64::from);
            return Some(Self(half(high)? << 32 | half(low)?));
        }
        let number = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
            Some(hex) => u64::from_str_radix(hex, 16).ok()?,
            None => text.parse().ok()?,
        };
        Some(Self(number))
    }
}

/// The reign under which a record was written: a Raft term. A later one overrules an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Term(pub u64);

/// An inclusive range of positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LsnRange {
    /// The first position in it.
    pub first: Lsn,
    /// The last position in it, never below the first.
    pub last: Lsn,
}

impl LsnRange {
    /// The range from `first` to `last`, or `None` where it would be empty.
    pub fn new(first: Lsn, last: Lsn) -> Option<Self> {
        (first <= last).then_some(Self { first, last })
    }

    /// Sorted ranges, with those that overlap or touch joined.
    pub fn join(mut ranges: Vec<Self>) -> Vec<Self> {
        ranges.sort_unstable();
        let mut joined: Vec<Self> = Vec::with_capacity(ranges.len());
        for range in ranges {
            match joined
                .last_mut()
                .filter(|last| range.first <= last.last.next())
            {
                Some(last) => last.last = last.last.max(range.last),
                None => joined.push(range),
            }
        }
        joined
    }

    /// The parts of the range that none of the others covers; the others are sorted and do not overlap.
    pub fn without(self, others: &[Self]) -> Vec<Self> {
        let mut free = Vec::new();
        let mut from = self.first;
        let near = others.partition_point(|other| other.last < self.first);
        for other in others
            .iter()
            .skip(near)
            .take_while(|other| other.first <= self.last)
        {
            if other.first > from {
                free.push(Self {
                    first: from,
                    last: other.first.before(),
                });
            }
            if other.last >= self.last {
                return free;
            }
            from = other.last.next();
        }
        free.push(Self {
            first: from,
            last: self.last,
        });
        free
    }

    /// The positions that both have.
    pub fn common(self, other: Self) -> Option<Self> {
        Self::new(self.first.max(other.first), self.last.min(other.last))
    }

    /// How many positions it has; the full range of `u64` counts one too few.
    pub fn count(self) -> u64 {
        (self.last.0 - self.first.0).saturating_add(1)
    }
}

/// How a system's own messages and file names write a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LsnNotation {
    /// `348`.
    Decimal,
    /// `0x10000015c`.
    Hex,
    /// `0/1535A58`: the high half and the low one, in hex.
    Halves,
}

impl LsnNotation {
    /// The position as this system writes it.
    pub fn show(self, lsn: Lsn) -> Shown {
        Shown {
            notation: self,
            lsn,
        }
    }

    /// The end of a log whose last position is given: that position, or where positions are addresses the one behind it.
    pub fn end(self, last: Lsn) -> Lsn {
        match self {
            Self::Decimal | Self::Hex => last,
            Self::Halves => last.next(),
        }
    }

    /// The range as `first..last`, or the one position.
    pub fn show_range(self, range: LsnRange) -> String {
        if range.first == range.last {
            self.show(range.first).to_string()
        } else {
            format!("{}..{}", self.show(range.first), self.show(range.last))
        }
    }
}

/// A position ready to print.
#[derive(Debug, Clone, Copy)]
pub struct Shown {
    notation: LsnNotation,
    lsn: Lsn,
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.notation {
            LsnNotation::Decimal => write!(f, "{}", self.lsn.0),
            LsnNotation::Hex => write!(f, "{:#x}", self.lsn.0),
            LsnNotation::Halves => {
                write!(f, "{:X}/{:X}", self.lsn.0 >> 32, self.lsn.0 & 0xffff_ffff)
            }
        }
    }
}
