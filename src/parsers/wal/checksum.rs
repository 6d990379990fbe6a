//! The checksums that a description can name.

use std::hash::Hasher as _;
use std::ops::Range;

use super::declared::{Algorithm, Chain, Covers, Declaration, Endian, Field};

/// What a checksum field has to hold; `None` if the field is no checksum.
pub(super) fn checksum(
    declaration: &Declaration,
    field: &Field,
    spans: &[Range<usize>],
    bytes: &[u8],
    span: &Range<usize>,
    before: Option<u64>,
) -> Option<u64> {
    let algorithm = field.algorithm?;
    let mut sum = Sum::new(algorithm);
    if let (Some(before), Chain::Segment | Chain::Log) = (before, field.chain) {
        let width = span.len().min(8);
        match declaration.endian {
            Endian::Little => sum.add(&before.to_le_bytes()[..width]),
            Endian::Big => sum.add(&before.to_be_bytes()[8 - width..]),
        }
    }
    match &field.covers {
        Covers::Before => sum.add(&bytes[..span.start]),
        Covers::After => sum.add(&bytes[span.end..]),
        Covers::Fields(fields) => {
            for span in fields.iter().filter_map(|&n| spans.get(n)) {
                sum.add(&bytes[span.clone()]);
            }
        }
    }
    let mask = if span.len() >= 8 {
        u64::MAX
    } else {
        (1 << (8 * span.len())) - 1
    };
    Some(sum.finish() & mask)
}

/// A checksum under way.
enum Sum {
    Crc32(crc32fast::Hasher),
    Crc32c(u32),
    Crc32cMasked(u32),
    Adler32(simd_adler32::Adler32),
    Xxh3(Box<xxhash_rust::xxh3::Xxh3>),
    Siphash24(siphasher::sip::SipHasher24),
}

impl Sum {
    fn new(algorithm: Algorithm) -> Self {
        match algorithm {
            Algorithm::Crc32 => Self::Crc32(crc32fast::Hasher::new()),
            Algorithm::Crc32c => Self::Crc32c(0),
            Algorithm::Crc32cMasked => Self::Crc32cMasked(0),
            Algorithm::Adler32 => Self::Adler32(simd_adler32::Adler32::new()),
            Algorithm::Xxh3 => Self::Xxh3(Box::default()),
            Algorithm::Siphash24 => Self::Siphash24(siphasher::sip::SipHasher24::new()),
        }
    }

    fn add(&mut self, bytes: &[u8]) {
        match self {
            Self::Crc32(hasher) => hasher.update(bytes),
            Self::Crc32c(crc) | Self::Crc32cMasked(crc) => {
                *crc = crc32c::crc32c_append(*crc, bytes);
            }
            Self::Adler32(adler) => adler.write(bytes),
            Self::Xxh3(hasher) => hasher.update(bytes),
            Self::Siphash24(hasher) => hasher.write(bytes),
        }
    }

    fn finish(self) -> u64 {
        match self {
            Self::Crc32(hasher) => u64::from(hasher.finalize()),
            Self::Crc32c(crc) => u64::from(crc),
            Self::Crc32cMasked(crc) => u64::from(crc.rotate_right(15).wrapping_add(0xa282_ead8)),
            Self::Adler32(adler) => u64::from(adler.finish()),
            Self::Xxh3(hasher) => hasher.digest(),
            Self::Siphash24(hasher) => hasher.finish(),
        }
    }
}
