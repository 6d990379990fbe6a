//! A WAL layout that somebody described: how its files are called, which fields a record has, what its checksum covers.
//!
//! This is the description itself and what it says about names; `described` reads bytes by it, `layout` reads it from a file.

use crate::vocab::{Lsn, Term};

use super::SegmentName;

/// A described layout.
#[derive(Debug, Clone, Default)]
pub struct Declaration {
    /// What it is called in reports.
    pub name: String,
    /// The parts of a segment's name.
    pub file: Vec<NamePart>,
    /// Byte order of all numbers.
    pub endian: Endian,
    /// Records begin at multiples of this.
    pub align: usize,
    /// What ends a segment before the file ends.
    pub end: Vec<EndMark>,
    /// The fields before the first record.
    pub header: Vec<Field>,
    /// The fields of a record.
    pub record: Vec<Field>,
    /// What follows a position.
    pub step: Step,
}

/// One part of a file name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NamePart {
    /// Text that stands there.
    Literal(String),
    /// A number that means something.
    Hole(Role, Number),
}

/// What a number in a file name means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The first position.
    Lsn,
    /// The number in a series.
    Seq,
    /// The last position.
    Last,
    /// The term.
    Term,
}

/// How a number in a file name is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Number {
    /// Digits, filled up with zeros; 0 for as many as it takes.
    pub width: usize,
    /// Whether the digits are hexadecimal.
    pub is_hex: bool,
}

/// Byte order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Endian {
    /// Lowest byte first.
    #[default]
    Little,
    /// Highest byte first.
    Big,
}

/// What ends a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndMark {
    /// Only the end of the file.
    Eof,
    /// A length of zero.
    ZeroLength,
    /// A position of zero.
    ZeroLsn,
    /// A field `type` of zero.
    ZeroType,
}

/// One field of a header or a record.
#[derive(Debug, Clone, Default)]
pub struct Field {
    /// What it is called; `lsn`, `term`, `count` and `type` have meaning.
    pub name: String,
    /// How it is encoded.
    pub kind: FieldKind,
    /// What it counts, if it is a length.
    pub measures: Option<Measure>,
    /// What it has to be.
    pub equals: Option<Pinned>,
    /// What it is a checksum of.
    pub algorithm: Option<Algorithm>,
    /// What the checksum covers.
    pub covers: Covers,
    /// What the checksum goes on from.
    pub chain: Chain,
}

/// How a field is encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FieldKind {
    /// A number of so many bytes, one to eight.
    Uint(usize),
    /// A number in groups of seven bits, lowest first.
    Uvarint,
    /// So many bytes.
    Bytes(usize),
    /// As many bytes as the length says.
    #[default]
    Payload,
}

/// What a length counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// The payload.
    Payload,
    /// The whole record, without padding.
    Record,
    /// Everything behind the length field, without padding.
    Rest,
}

/// What a field has to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pinned {
    /// This number.
    Number(u64),
    /// These bytes.
    Bytes(Vec<u8>),
    /// The first position in the file's name.
    Name,
}

/// A checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// CRC-32 as in zlib.
    Crc32,
    /// CRC-32 with Castagnoli's polynomial.
    Crc32c,
    /// The same, rotated and offset as `LevelDB` stores it.
    Crc32cMasked,
    /// Adler-32.
    Adler32,
    /// XXH3, 64 bits.
    Xxh3,
    /// SipHash-2-4 with a key of zeros.
    Siphash24,
}

/// What a checksum covers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Covers {
    /// Everything in front of it.
    #[default]
    Before,
    /// Everything behind it.
    After,
    /// These fields, by their place in the list, in this order.
    Fields(Vec<usize>),
}

/// What a checksum goes on from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Chain {
    /// Nothing.
    #[default]
    None,
    /// The checksum of the record before, in the same segment.
    Segment,
    /// The checksum of the record before, through all segments.
    Log,
}

/// What has to follow a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The position plus this.
    By(u64),
    /// The position plus the record's bytes.
    Bytes,
    /// The position plus the record's field `count`.
    Count,
    /// The next position in the low half, or a higher number in the high half and 1 in the low one.
    Epoch,
    /// Any higher position.
    Increasing,
}

impl Default for Step {
    fn default() -> Self {
        Self::By(1)
    }
}

impl Declaration {
    /// What a file name says; `None` if it does not fit the pattern.
    pub fn parse_name(&self, file: &str) -> Option<SegmentName> {
        let mut name = SegmentName::default();
        let mut rest = file;
        for part in &self.file {
            match part {
                NamePart::Literal(text) => rest = rest.strip_prefix(text.as_str())?,
                NamePart::Hole(role, number) => {
                    let (value, behind) = number.read(rest)?;
                    rest = behind;
                    match role {
                        Role::Lsn => name.lsn = Some(Lsn(value)),
                        Role::Seq => name.seq = Some(value),
                        Role::Last => name.last = Some(Lsn(value)),
                        Role::Term => name.term = Some(Term(value)),
                    }
                }
            }
        }
        rest.is_empty().then_some(name)
    }

    /// The name of the segment that begins with a position, if nothing else is in the name.
    pub fn name_for(&self, lsn: Lsn) -> Option<String> {
        let mut name = String::new();
        for part in &self.file {
            match part {
                NamePart::Literal(text) => name.push_str(text),
                NamePart::Hole(Role::Lsn, number) => name.push_str(&number.write(lsn.0)),
                NamePart::Hole(Role::Seq | Role::Last | Role::Term, _) => return None,
            }
        }
        Some(name)
    }

    /// The number in a field's bytes.
    pub(super) fn number(&self, bytes: &[u8]) -> u64 {
        match self.endian {
            Endian::Little => super::little(bytes),
            Endian::Big => super::big(bytes),
        }
    }
}

impl Number {
    fn read(self, text: &str) -> Option<(u64, &str)> {
        let is_digit = |byte: u8| {
            if self.is_hex {
                byte.is_ascii_hexdigit()
            } else {
                byte.is_ascii_digit()
            }
        };
        let there = text.bytes().take_while(|&byte| is_digit(byte)).count();
        let count = if self.width == 0 { there } else { self.width };
        if count == 0 || count > there {
            return None;
        }
        let (digits, rest) = text.split_at_checked(count)?;
        Some((
            u64::from_str_radix(digits, if self.is_hex { 16 } else { 10 }).ok()?,
            rest,
        ))
    }

    fn write(self, value: u64) -> String {
        let width = self.width;
        if self.is_hex {
            format!("{value:0width$x}")
        } else {
            format!("{value:0width$}")
        }
    }
}
