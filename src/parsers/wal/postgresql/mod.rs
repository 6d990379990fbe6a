//! The write-ahead log of `PostgreSQL`: `<timeline><log><segment>`, 8 hex digits each, in the byte order of the
//! machine, of which only little endian is read.
//!
//! ```text
//! page    u16 magic  u16 flags  u32 timeline  u64 address  u32 bytes of a record that goes on  4 bytes
//!         on the first page of a segment also: u64 system  u32 bytes of a segment  u32 bytes of a page
//! record  u32 length  u32 transaction  u64 record before  u8 flags  u8 resource manager  2 bytes  u32 crc32c  content
//! ```
//!
//! A position is the address of a record's first byte. Records begin at multiples of 8 and go on over pages and segments. A segment
//! has its full size from the beginning, and is often an old one under a new name: what stands behind the end of the log is whatever
//! was there before.
//!
//! After a crash within a record over several pages the log goes on at the first page that has none of it: a flag says so, and the
//! first record there names the one that was given up.

mod gather;
mod pages;
mod records;

use crate::vocab::{Lsn, LsnNotation, Term};

use super::{Layout, SegmentName, little};

/// The header of a page.
const SHORT: usize = 24;
/// The header of the first page of a segment.
const LONG: usize = 40;
/// The first page's header is a long one.
const IS_LONG: u64 = 2;
/// From this magic on, that of version 19, the flag for backup blocks is gone, and the one behind it has its bit.
const THREE_FLAGS: u64 = 0xd121;
/// Digits of each of the three numbers in a name.
const DIGITS: usize = 8;

pub(super) const LAYOUT: Layout = Layout {
    id: "postgresql",
    title: "PostgreSQL",
    files: "`<24 hex>`",
    explains: "none within a timeline",
    notation: LsnNotation::Halves,
    name,
    spacing: |head| Some(Head::parse(head)?.segment),
    spaced,
    numbered,
    is_leftover: |file| {
        file.strip_suffix(".history").is_some_and(is_hex)
            || file
                .split_once('.')
                .is_some_and(|(stem, _)| name(stem).is_some())
    },
    sniff: |head| Head::parse(head).is_some() || Head::is_big_endian(head),
    read: records::read,
    ..Layout::PLAIN
};

fn is_hex(text: &str) -> bool {
    text.bytes()
        .all(|byte| matches!(byte, b'0'..=b'9' | b'A'..=b'F'))
}

fn name(file: &str) -> Option<SegmentName> {
    (file.len() == 3 * DIGITS && is_hex(file)).then_some(())?;
    let number = |from: usize| u64::from_str_radix(file.get(from..from + DIGITS)?, 16).ok();
    Some(SegmentName {
        // As it stands, until the size of a segment says how many there are to a log.
        seq: Some(number(DIGITS)? << 32 | number(2 * DIGITS)?),
        term: Some(Term(number(0)?)),
        ..SegmentName::default()
    })
}

fn spaced(name: SegmentName, spacing: u64) -> SegmentName {
    let seq = name
        .seq
        .map(|seq| (seq >> 32) * ((1 << 32) / spacing) + (seq & 0xffff_ffff));
    SegmentName {
        seq,
        lsn: seq.and_then(|seq| seq.checked_mul(spacing)).map(Lsn),
        spacing: Some(spacing),
        ..name
    }
}

fn numbered(number: u64, like: SegmentName) -> Option<String> {
    let per_log = (1 << 32) / like.spacing?;
    Some(format!(
        "{:08X}{:08X}{:08X}",
        like.term?.0,
        number / per_log,
        number % per_log
    ))
}

/// All flags that a page of a version has.
fn all_flags(magic: u64) -> u64 {
    if magic >= THREE_FLAGS { 0b111 } else { 0b1111 }
}

/// The flag of a page that begins with a new record although one was begun before: that one was given up.
fn overwrites(magic: u64) -> u64 {
    if magic >= THREE_FLAGS { 4 } else { 8 }
}

/// What the first page of a segment says.
#[derive(Debug, Clone, Copy)]
struct Head {
    magic: u64,
    timeline: u64,
    address: u64,
    system: u64,
    /// Bytes of a segment.
    segment: u64,
    /// Bytes of a page.
    page: usize,
}

impl Head {
    fn parse(head: &[u8]) -> Option<Self> {
        let head = head.get(..LONG)?;
        let flags = little(&head[2..4]);
        let parsed = Self {
            magic: little(&head[..2]),
            timeline: little(&head[4..8]),
            address: little(&head[8..16]),
            system: little(&head[24..32]),
            segment: little(&head[32..36]),
            page: usize::try_from(little(&head[36..40])).ok()?,
        };
        let is_one = matches!(parsed.magic >> 8, 0xd0 | 0xd1)
            && flags & IS_LONG > 0
            && flags & !all_flags(parsed.magic) == 0
            && parsed.segment.is_power_of_two()
            && (1 << 20..=1 << 30).contains(&parsed.segment)
            && parsed.page.is_power_of_two()
            && (1 << 10..=1 << 16).contains(&parsed.page)
            && parsed.address.is_multiple_of(parsed.segment);
        is_one.then_some(parsed)
    }

    /// Whether it is a header once every number's bytes are turned round.
    fn is_big_endian(head: &[u8]) -> bool {
        let Some(head) = head.get(..LONG) else {
            return false;
        };
        // Two numbers of two bytes, one of four, one of eight, two of four, one of eight, two of four.
        let mut turned = Vec::with_capacity(LONG);
        let mut rest = head;
        for width in [2, 2, 4, 8, 4, 4, 8, 4, 4] {
            let (number, behind) = rest.split_at(width);
            turned.extend(number.iter().rev());
            rest = behind;
        }
        Self::parse(&turned).is_some()
    }
}
