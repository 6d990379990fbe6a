//! Which files of a log repeat another one.

use std::collections::BTreeMap;

use crate::intake::{Encoding, Role, Rotation};
use crate::parsers::Format;

/// The files of one log of which one may repeat another: those that stand side by side in the same role.
pub(super) type Side = (String, String, Format, Role);

/// An artifact that holds a piece of a log.
pub(super) struct Piece {
    pub(super) artifact: usize,
    pub(super) rotation: Option<Rotation>,
    pub(super) encoding: Encoding,
    pub(super) bytes: u64,
    pub(super) start: Vec<u8>,
}

impl Piece {
    /// Whether both begin with the same record. Only stamped records tell that: two starts of a server may print the
    /// same on its standard error.
    fn repeats(&self, other: &Self, format: Format) -> bool {
        let shorter = self.start.len().min(other.start.len());
        let is_told = format.spec().counts_records || self.rotation == other.rotation;
        is_told
            && self.start[..shorter].contains(&b'\n')
            && self.start[..shorter] == other.start[..shorter]
    }

    /// Which of two equal beginnings has the whole piece. Of one piece the plain file: a server that dies while it packs
    /// leaves both, the packed one incomplete. Otherwise the older one, which is no longer written, or the longer one.
    fn wholeness(&self, other: &Self) -> (bool, bool, u64) {
        let same = self.rotation == other.rotation;
        (
            same && self.encoding == Encoding::Plain,
            !same && self.rotation.is_some_and(|it| it != Rotation::Aside),
            if self.encoding == other.encoding {
                self.bytes
            } else {
                0
            },
        )
    }
}

/// The same piece twice, packed and plain, or collected while it was rotated, or set aside: one of them is read. Gives each
/// copy that is left out, and the artifact that is read instead.
pub(super) fn copies(pieces: BTreeMap<Side, Vec<Piece>>) -> Vec<(usize, usize)> {
    let mut left = Vec::new();
    for ((_, _, format, _), mut pieces) in pieces {
        // What begins alike stands beside each other, and the rest is not compared.
        pieces.sort_by(|a, b| a.start.cmp(&b.start));
        let mut kept: Option<Piece> = None;
        for piece in pieces {
            let Some(other) = kept.take() else {
                kept = Some(piece);
                continue;
            };
            if !piece.repeats(&other, format) {
                kept = Some(piece);
                continue;
            }
            let is_better = piece.wholeness(&other) > other.wholeness(&piece);
            let (whole, copy) = if is_better {
                (piece, other)
            } else {
                (other, piece)
            };
            left.push((copy.artifact, whole.artifact));
            kept = Some(whole);
        }
    }
    left
}
