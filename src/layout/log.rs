//! The log as its reader ends up with it: which positions exist, under which term, from which segment.

use std::collections::BTreeMap;

use crate::vocab::{Lsn, LsnRange, Term};

/// Consecutive positions from one segment under one term.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece {
    pub(super) range: LsnRange,
    pub(super) term: Option<Term>,
    /// The segment, by its place; `None` for what is in a snapshot.
    pub(super) segment: Option<usize>,
}

/// Positions without overlap, later writes in place of earlier ones.
#[derive(Default)]
pub(super) struct Log {
    pieces: BTreeMap<Lsn, Piece>,
    /// The position that has to come next; `None` before the first record.
    next: Option<Lsn>,
}

impl Log {
    /// The position that has to come next; `None` before the first record.
    pub(super) fn next(&self) -> Option<Lsn> {
        self.next
    }

    /// All pieces in the order of positions.
    pub(super) fn pieces(&self) -> impl DoubleEndedIterator<Item = &Piece> {
        self.pieces.values()
    }

    /// The piece that holds a position.
    pub(super) fn at(&self, lsn: Lsn) -> Option<Piece> {
        self.pieces
            .range(..=lsn)
            .next_back()
            .map(|(_, piece)| *piece)
            .filter(|piece| piece.range.last >= lsn)
    }

    /// The term of the highest position.
    pub(super) fn last_term(&self) -> Option<Term> {
        self.pieces
            .last_key_value()
            .and_then(|(_, piece)| piece.term)
    }

    /// Drops a position and all above it.
    pub(super) fn cut(&mut self, from: Lsn) {
        if let Some(piece) = self.at(from) {
            self.pieces.remove(&piece.range.first);
            if let Some(range) =
                LsnRange::new(piece.range.first, from.before()).filter(|_| piece.range.first < from)
            {
                self.pieces.insert(range.first, Piece { range, ..piece });
            }
        }
        drop(self.pieces.split_off(&from));
        self.next = Some(from);
    }

    /// Adds positions at the end.
    pub(super) fn push(&mut self, piece: Piece, next: Lsn) {
        self.pieces.insert(piece.range.first, piece);
        self.next = Some(next);
    }

    /// Takes a position as the next, with nothing in front of it.
    pub(super) fn expect(&mut self, next: Lsn) {
        self.next = Some(next);
    }

    /// Adds positions somewhere below the end, as far as they are not there yet; says whether any was new.
    pub(super) fn fill(&mut self, piece: Piece) -> bool {
        let free = self.missing(piece.range);
        for range in &free {
            self.pieces.insert(
                range.first,
                Piece {
                    range: *range,
                    ..piece
                },
            );
        }
        !free.is_empty()
    }

    /// The parts of a range that do not exist.
    pub(super) fn missing(&self, range: LsnRange) -> Vec<LsnRange> {
        let from = self
            .at(range.first)
            .map_or(range.first, |piece| piece.range.first);
        let pieces: Vec<LsnRange> = self
            .pieces
            .range(from..=range.last)
            .map(|(_, piece)| piece.range)
            .collect();
        range.without(&pieces)
    }
}
