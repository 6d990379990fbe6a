//! Which files of a log repeat another one.
//!
//! Beginnings only tell which files to compare: a file is left out if another one begins with all of it, byte by byte. Of files
//! that begin alike and go different ways each is read, and what both hold counts once.

use std::collections::BTreeMap;
use std::io::Read;

use super::candidates::{Candidate, Kind, LogAt};
use super::sniffing::Sniffed;
use crate::intake::{Encoding, Names, Role, Rotation};
use crate::parsers::Format;

/// The files of one log of which one may repeat another: those that stand side by side in the same role.
pub(super) type Side = (String, String, Format, Role);

/// A file that was opened, unpacked.
type Opened = Box<dyn Read + Send>;

/// Opens an artifact, if that can be.
type Open<'o> = &'o dyn Fn(usize) -> Option<Opened>;

/// An artifact that holds a piece of a log.
pub(super) struct Piece {
    pub(super) artifact: usize,
    pub(super) rotation: Option<Rotation>,
    pub(super) encoding: Encoding,
    pub(super) bytes: u64,
    pub(super) start: Vec<u8>,
    /// Whether somebody took it from a log: it is no reason to leave the log out.
    pub(super) is_collected: bool,
}

/// What a file repeats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Repeats {
    /// Nothing that the other file, which is read, lacks.
    All,
    /// A part of the other file: both are read.
    Some,
}

/// How many files that begin alike and go different ways a file is compared with: each costs a pass over what they share.
const COMPARED_MAX: usize = 16;

/// How many files of collectors that begin alike are compared.
const COLLECTED_MAX: usize = 64;

/// How many bytes of each file are compared at once.
const CHUNK: u64 = 64 << 10;

/// Of two files, which begins with all of the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whole {
    Both,
    First,
    Second,
    Neither,
}

impl Piece {
    /// Whether both begin with the same record. Only stamped records tell that: two starts of a server may print the
    /// same on its standard error.
    fn begins_like(&self, other: &Self, format: Format) -> bool {
        let shorter = self.start.len().min(other.start.len());
        let is_told = format.spec().counts_records || self.rotation == other.rotation;
        is_told
            && self.start[..shorter].contains(&b'\n')
            && self.start[..shorter] == other.start[..shorter]
    }

    /// Which of two equal files is the piece. Of one piece the plain file: a server that dies while it packs leaves both. Otherwise
    /// the older one, which is no longer written, or the longer one.
    fn wholeness(&self, other: &Self) -> (bool, bool, bool, u64) {
        let same = self.rotation == other.rotation;
        (
            !self.is_collected,
            same && self.encoding == Encoding::Plain,
            !same && self.rotation.is_some_and(|it| it != Rotation::Aside),
            if self.encoding == other.encoding {
                self.bytes
            } else {
                0
            },
        )
    }

    /// Which of both is to be read alone, if one is: it holds the other, and is no excerpt where the other is the log.
    fn whole(&self, other: &Self, open: Open<'_>) -> Whole {
        let whole = compare(open(self.artifact), open(other.artifact));
        let hides = match whole {
            Whole::First => self.is_collected && !other.is_collected,
            Whole::Second => other.is_collected && !self.is_collected,
            Whole::Both | Whole::Neither => false,
        };
        if hides {
            Whole::Neither
        } else if whole != Whole::Both {
            whole
        } else if self.wholeness(other) > other.wholeness(self) {
            Whole::First
        } else {
            Whole::Second
        }
    }
}

/// The next bytes of a file. What cannot be read ends it.
fn chunk(reader: &mut dyn Read, buffer: &mut Vec<u8>) -> usize {
    buffer.clear();
    // What was read before a fault is in the buffer.
    drop(reader.take(CHUNK).read_to_end(buffer));
    buffer.len()
}

/// Compares two files byte by byte, unpacked.
fn compare(first: Option<Opened>, second: Option<Opened>) -> Whole {
    let (Some(mut first), Some(mut second)) = (first, second) else {
        return Whole::Neither;
    };
    let (mut a, mut b) = (Vec::new(), Vec::new());
    loop {
        let (of_first, of_second) = (chunk(&mut first, &mut a), chunk(&mut second, &mut b));
        let shorter = of_first.min(of_second);
        if a[..shorter] != b[..shorter] {
            return Whole::Neither;
        }
        match (of_first > shorter, of_second > shorter) {
            (true, _) => return Whole::First,
            (_, true) => return Whole::Second,
            (false, false) if shorter == 0 => return Whole::Both,
            (false, false) => {}
        }
    }
}

/// The same piece twice, packed and plain, or collected while it was rotated, or set aside: one of them is read. Gives each
/// file that repeats another one, that one, and what of it.
pub(super) fn copies(
    pieces: BTreeMap<Side, Vec<Piece>>,
    open: Open<'_>,
) -> Vec<(usize, usize, Repeats)> {
    let mut found: BTreeMap<usize, (usize, Repeats)> = BTreeMap::new();
    for ((_, _, format, _), mut pieces) in pieces {
        // What begins alike stands beside each other, and the rest is not compared.
        pieces.sort_by(|a, b| (&a.start, a.is_collected).cmp(&(&b.start, b.is_collected)));
        let mut kept: Vec<Piece> = Vec::new();
        for piece in pieces {
            kept.retain(|other| piece.begins_like(other, format));
            keep(&mut kept, piece, open, &mut found);
        }
    }
    // What held another file may be held by a third one.
    let last = found.clone();
    let whole = |mut of: usize| {
        while let Some((better, Repeats::All)) = last.get(&of) {
            of = *better;
        }
        of
    };
    let found = found.into_iter();
    found
        .map(|(at, (other, repeats))| (at, whole(other), repeats))
        .collect()
}

/// Puts a file beside those that begin like it, unless one of them holds it.
fn keep(
    kept: &mut Vec<Piece>,
    piece: Piece,
    open: Open<'_>,
    found: &mut BTreeMap<usize, (usize, Repeats)>,
) {
    for at in 0..kept.len().min(COMPARED_MAX) {
        match kept[at].whole(&piece, open) {
            Whole::First => {
                found.insert(piece.artifact, (kept[at].artifact, Repeats::All));
                return;
            }
            Whole::Second => {
                // It takes the other's place, and repeats what the other does.
                if let Some(shared) =
                    found.insert(kept[at].artifact, (piece.artifact, Repeats::All))
                {
                    found.insert(piece.artifact, shared);
                }
                kept[at] = piece;
                return;
            }
            Whole::Both | Whole::Neither => {}
        }
    }
    let written = kept.iter().position(|other| !other.is_collected);
    if let Some(other) = written.or(if kept.is_empty() { None } else { Some(0) }) {
        found.insert(piece.artifact, (kept[other].artifact, Repeats::Some));
    }
    kept.push(piece);
}

/// What a collector took twice, under whatever names: it writes the time of every line, so a file that begins with all of another
/// one is of the same node.
pub(super) fn collected_twice(
    logs: &[Candidate<'_>],
    sniffed: &[Sniffed],
    names: &Names,
) -> Vec<(LogAt, LogAt)> {
    let is_any = |it: &&Candidate<'_>| it.kind == Kind::Collected && it.is_only;
    let collected = logs.iter().filter(is_any);
    let collected = collected.filter(|it| names.node_of(it.artifact).is_none());
    let mut alike: BTreeMap<&[u8], Vec<&Candidate<'_>>> = BTreeMap::new();
    for log in collected {
        let known = alike.entry(&sniffed[log.at.0].start).or_default();
        if known.len() < COLLECTED_MAX {
            known.push(log);
        }
    }
    let opened = |log: &Candidate<'_>| log.artifact.open().ok().map(|(reader, _)| reader);
    let mut copies = Vec::new();
    for alike in alike.values() {
        let mut kept: Vec<&Candidate<'_>> = Vec::new();
        for &log in alike {
            let beside = |it: &&&Candidate<'_>| log.is_near(it) && log.format == it.format;
            let other = kept.iter().filter(beside).find_map(|it| {
                let whole = compare(opened(it), opened(log));
                (whole != Whole::Neither).then_some(*it)
            });
            match other {
                Some(other) => copies.push((log.at, other.at)),
                None => kept.push(log),
            }
        }
    }
    copies
}
