//! The few vector instructions that searches are made of.
//!
//! They are compiled for vectors only as a part of what [`Vectors::run`] runs: each is a part of its caller, and nothing that runs
//! there may be a closure, which is compiled for itself.
#![expect(
    clippy::inline_always,
    reason = "what is no part of its caller is not compiled for these vectors"
)]

use std::arch::x86_64::__m256i;

use pulp::x86::V3;
use pulp::{NullaryFnOnce, bytemuck};

use super::LANES;

/// The instructions, on a machine that has them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Vectors(V3);

/// So many bytes.
pub(super) type Vector = __m256i;

impl Vectors {
    /// The instructions; `None` where the machine lacks them.
    #[inline]
    pub(super) fn get() -> Option<Self> {
        V3::try_new().map(Self)
    }

    /// Runs what is made of them.
    #[inline(always)]
    pub(super) fn run<F: NullaryFnOnce>(self, search: F) -> F::Output {
        self.0.vectorize(search)
    }

    #[expect(clippy::unused_self, reason = "who has it may use vectors")]
    #[inline(always)]
    pub(super) fn load(self, bytes: &[u8; LANES]) -> Vector {
        bytemuck::cast(*bytes)
    }

    /// The same byte everywhere.
    #[inline(always)]
    pub(super) fn all(self, byte: u8) -> Vector {
        self.0.avx._mm256_set1_epi8(byte.cast_signed())
    }

    /// Both halves alike.
    #[inline(always)]
    pub(super) fn twice(self, half: &[u8; LANES / 2]) -> Vector {
        let half = bytemuck::cast(*half);
        self.0.avx2._mm256_broadcastsi128_si256(half)
    }

    #[inline(always)]
    pub(super) fn and(self, one: Vector, other: Vector) -> Vector {
        self.0.avx2._mm256_and_si256(one, other)
    }

    #[inline(always)]
    pub(super) fn or(self, one: Vector, other: Vector) -> Vector {
        self.0.avx2._mm256_or_si256(one, other)
    }

    /// The lesser of two bytes.
    #[inline(always)]
    pub(super) fn least(self, one: Vector, other: Vector) -> Vector {
        self.0.avx2._mm256_min_epu8(one, other)
    }

    /// The upper half of each byte in its lower one; what is in the upper one comes from its neighbour.
    #[inline(always)]
    pub(super) fn shifted(self, bytes: Vector) -> Vector {
        self.0.avx2._mm256_srli_epi16::<4>(bytes)
    }

    /// For each byte, which is below 16, the entry of `table`, whose halves are alike.
    #[inline(always)]
    pub(super) fn look_up(self, table: Vector, bytes: Vector) -> Vector {
        self.0.avx2._mm256_shuffle_epi8(table, bytes)
    }

    /// The bytes of `now`, moved on by 16 less `FROM` places; the last ones of `before` come in at the front.
    #[inline(always)]
    pub(super) fn moved<const FROM: i32>(self, before: Vector, now: Vector) -> Vector {
        let seam = self.0.avx2._mm256_permute2x128_si256::<0x21>(before, now);
        self.0.avx2._mm256_alignr_epi8::<FROM>(now, seam)
    }

    /// A bit for each byte that is the same in both.
    #[inline(always)]
    pub(super) fn same(self, one: Vector, other: Vector) -> u32 {
        let same = self.0.avx2._mm256_cmpeq_epi8(one, other);
        self.tops(same)
    }

    /// The top bit of each byte.
    #[inline(always)]
    pub(super) fn tops(self, bytes: Vector) -> u32 {
        self.0.avx2._mm256_movemask_epi8(bytes).cast_unsigned()
    }
}
