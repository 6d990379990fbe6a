//! What the names in a listing of a WAL's folder show: which positions, or which numbers, no file between two others is called after.
//!
//! Names promise more than files may hold, and a listing may leave files out, so this is no check: it finds holes between names alone.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::parsers::wal::{Entry, Format, LAYOUTS, Layout, Listing};
use crate::vocab::{Lsn, LsnNotation, LsnRange};

use super::folder::is_detached;
use super::model::ProblemKind;
use super::numbers::missing;
use super::rules::{Rules, Snapshots};

/// A hole between the names of two segments that follow each other in a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Absence {
    /// The layout whose segments these are.
    pub layout: &'static str,
    /// How its system writes a position.
    pub notation: LsnNotation,
    /// Which listing shows it.
    pub listing: usize,
    /// The line of the segment behind the hole, from 1.
    pub line: u64,
    /// Its name.
    pub segment: String,
    /// Whether positions or numbers are left out.
    pub kind: ProblemKind,
    /// The positions, where names tell them.
    pub range: Option<LsnRange>,
    /// What is seen.
    pub detail: String,
    /// How many further ones of its layout and kind are counted and not told.
    pub more: u64,
}

/// How many holes are told of one node, layout and kind. All are counted, up to so many that are looked at: more than one
/// listing can show, but holes that hold the files of other folders may be any number.
const TOLD_MAX: usize = 1_000;
const LOOKED_AT_MAX: usize = 1_000_000;

/// The holes that listings show.
#[derive(Debug, Default)]
pub struct Absences {
    /// In the order of the listings.
    pub absences: Vec<Absence>,
    /// Whether there may be more than are counted.
    pub is_cut: bool,
}

/// The holes that listings of one node show. What any of them lists is there: a log may lie in two folders.
pub fn absences(listings: &[&Listing]) -> Absences {
    let mut all = Absences::default();
    for layout in LAYOUTS {
        let of_layout = Names::new(layout, listings).absences();
        all.absences.extend(of_layout.absences);
        all.is_cut |= of_layout.is_cut;
    }
    all
}

/// The names of one layout.
struct Names<'l> {
    layout: &'static Layout,
    rules: Rules,
    /// The segments of each folder, with the number of their listing.
    folders: BTreeMap<(usize, u32, &'l str), Vec<&'l Entry>>,
    /// Positions that any name promises.
    promised: Vec<LsnRange>,
    /// Numbers that any name has.
    numbers: BTreeSet<u64>,
    /// The highest position that a snapshot reaches.
    snapshot: Option<Lsn>,
}

impl<'l> Names<'l> {
    fn new(layout: &'static Layout, listings: &[&'l Listing]) -> Self {
        let mut names = Self {
            layout,
            rules: Rules::of(&Format::Known(layout)),
            folders: BTreeMap::new(),
            promised: Vec::new(),
            numbers: BTreeSet::new(),
            snapshot: None,
        };
        let mut promised = Vec::new();
        for (at, listing) in listings.iter().enumerate() {
            let of_layout = listing.entries.iter().filter(|it| it.layout == layout.id);
            for entry in
                of_layout.filter(|it| !is_detached(it.folder.as_ref(), &Format::Known(layout)))
            {
                let name = &entry.name;
                promised.extend(
                    name.lsn
                        .zip(name.last)
                        .and_then(|(first, last)| LsnRange::new(first, last)),
                );
                names.numbers.extend(name.seq);
                let folder = (at, entry.command, entry.folder.as_str());
                names.folders.entry(folder).or_default().push(entry);
            }
            let snapshots = listing.snapshots.iter().filter(|(id, _)| *id == layout.id);
            names.snapshot = names.snapshot.max(snapshots.map(|(_, lsn)| *lsn).max());
        }
        names.promised = LsnRange::join(promised);
        for segments in names.folders.values_mut() {
            segments.sort_by_key(|it| (it.name.seq, it.name.lsn, it.name.last));
        }
        names
    }

    fn absences(&self) -> Absences {
        let mut known = BTreeSet::new();
        let mut told: BTreeMap<&str, Vec<Absence>> = BTreeMap::new();
        let mut found = Absences::default();
        let mut looked_at = 0;
        'folders: for ((listing, ..), segments) in &self.folders {
            let listed = Self::listed(segments);
            for pair in segments.windows(2) {
                let &[before, behind] = pair else { continue };
                for (kind, range, what) in self.between(before, behind) {
                    looked_at += 1;
                    if looked_at > LOOKED_AT_MAX {
                        found.is_cut = true;
                        break 'folders;
                    }
                    // Two listings of one folder show the same.
                    if !known.insert(digest(&(range, &what))) {
                        continue;
                    }
                    let of_kind = told.entry(kind.word()).or_default();
                    if let (TOLD_MAX, Some(last)) = (of_kind.len(), of_kind.last_mut()) {
                        last.more += 1;
                        continue;
                    }
                    let around = Self::around(before, behind);
                    of_kind.push(Absence {
                        layout: self.layout.id,
                        notation: self.layout.notation,
                        listing: *listing,
                        line: behind.line,
                        segment: behind.file.clone(),
                        kind,
                        range,
                        detail: format!("{what}: {around}; {listed}"),
                        more: 0,
                    });
                }
            }
        }
        found.absences = told.into_values().flatten().collect();
        found.absences.sort_by_key(|it| (it.listing, it.line));
        found
    }

    /// The holes between two segments that follow each other.
    fn between(
        &self,
        before: &Entry,
        behind: &Entry,
    ) -> Vec<(ProblemKind, Option<LsnRange>, String)> {
        let (name, next) = (&before.name, &behind.name);
        if let (Some(last), Some(first), Some(_)) = (name.last, next.lsn, next.last) {
            let hole = LsnRange::new(last.next(), first.before());
            let holes = hole
                .filter(|_| last < first)
                .map(|hole| hole.without(&self.promised));
            let open = holes
                .into_iter()
                .flatten()
                .filter(|hole| !self.is_bridged(*hole));
            return open
                .map(|hole| {
                    let what = format!("no file for {}", self.layout.notation.show_range(hole));
                    (ProblemKind::Gap, Some(hole), what)
                })
                .collect();
        }
        let (Some(last), Some(here), false) = (name.seq, next.seq, self.rules.is_sparse) else {
            return Vec::new();
        };
        let (first, last) = (last.saturating_add(1), here.saturating_sub(1));
        if first > last
            || name.spacing.is_some()
            || self.numbers.range(first..=last).next().is_some()
        {
            return Vec::new();
        }
        let what = missing(first, last, |number| (self.layout.numbered)(number, *next));
        vec![(ProblemKind::MissingSegment, None, what)]
    }

    /// Whether a snapshot that is listed, too, reaches beyond a hole.
    fn is_bridged(&self, hole: LsnRange) -> bool {
        self.rules.snapshots == Snapshots::Covering
            && self.snapshot.is_some_and(|lsn| lsn >= hole.last)
    }

    /// What stands around a hole: sizes are told as the listing has them, for what a small file means is not known.
    fn around(before: &Entry, behind: &Entry) -> String {
        let sized = |it: &Entry| match &it.size {
            Some(size) => format!("{} (size {size})", it.file),
            None => it.file.clone(),
        };
        format!("{} follows {}", sized(behind), sized(before))
    }

    /// How many segments a folder lists.
    fn listed(segments: &[&Entry]) -> String {
        let is_empty = |it: &&&Entry| it.size.as_deref() == Some("0");
        let empty = match segments.iter().filter(is_empty).count() {
            0 => String::new(),
            empty => format!(", {empty} of size 0"),
        };
        format!("{} segments are listed{empty}", segments.len())
    }
}

/// What stands for a hole where there are too many of them to keep their texts.
fn digest(hole: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    hole.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A hole: its listing, line, range and detail.
    type Hole = (usize, u64, Option<(u64, u64)>, String);

    /// The holes in texts of one node.
    fn holes(texts: &[&str]) -> Vec<Hole> {
        let listings: Vec<Listing> = texts
            .iter()
            .map(|text| Listing::read(text.as_bytes()))
            .collect();
        let listings: Vec<&Listing> = listings.iter().collect();
        let range = |range: LsnRange| (range.first.0, range.last.0);
        let found = absences(&listings).absences.into_iter();
        found
            .map(|it| (it.listing, it.line, it.range.map(range), it.detail))
            .collect()
    }

    #[test]
    fn a_hole_between_two_names_is_told_at_the_line_behind_it() {
        let text = "changelog_300001_400000.bin.zstd\nchangelog_1_100000.bin.zstd\nchangelog_100001_200000.bin.zstd\n";
        let detail = "no file for 200001..300000: changelog_300001_400000.bin.zstd follows changelog_100001_200000.bin.zstd; 3 segments are listed";
        assert_eq!(
            holes(&[text]),
            [(0, 1, Some((200_001, 300_000)), detail.to_owned())]
        );
    }

    #[test]
    fn what_is_there_in_another_folder_or_reached_by_a_snapshot_is_no_hole() {
        let torn = "changelog_1_5.bin\nchangelog_11_15.bin\n";
        let expected = [(0, 2, Some((6, 10)))];
        let told = |texts: &[&str]| -> Vec<_> {
            let holes = holes(texts).into_iter();
            holes
                .map(|(listing, line, range, _)| (listing, line, range))
                .collect()
        };
        assert_eq!(told(&[torn]), expected);
        // The same folder once more.
        assert_eq!(told(&[torn, torn]), expected);
        // A part of it lies elsewhere.
        assert_eq!(
            told(&[torn, "changelog_6_8.bin\n"]),
            [(0, 2, Some((9, 10)))]
        );
        assert_eq!(told(&[torn, "changelog_6_10.bin\n"]), []);
        // What was set aside is not read.
        assert_eq!(
            told(&[torn, "/k/detached:\nchangelog_6_10.bin\n"]),
            expected
        );
        // A snapshot has to reach the end of the hole.
        assert_eq!(told(&[torn, "snapshot_10.bin.zstd\n"]), []);
        assert_eq!(told(&[torn, "snapshot_9.bin.zstd\n"]), expected);
        // Folders are no log together.
        assert_eq!(
            told(&["/a:\nchangelog_1_5.bin\n/b:\nchangelog_11_15.bin\n"]),
            []
        );
    }

    #[test]
    fn a_name_that_promises_more_than_there_was_is_no_hole() {
        // The first file was closed at 7 and not renamed.
        assert_eq!(
            holes(&["changelog_1_10.bin\nchangelog_8_17.bin\nchangelog_18_27.bin\n"]),
            []
        );
    }

    #[test]
    fn any_number_of_holes_costs_little_and_is_counted_and_the_first_are_told() {
        let names = |count: usize| -> String {
            let name = |at: usize| format!("changelog_{}_{}.bin\n", 4 * at + 1, 4 * at + 2);
            (0..count).map(name).collect()
        };
        let cut = |text: &str| {
            let found = absences(&[&Listing::read(text.as_bytes())]);
            let more: u64 = found.absences.iter().map(|it| it.more).sum();
            (found.absences.len(), more, found.is_cut)
        };
        // A hole fewer than there are files.
        assert_eq!(cut(&names(1_000)), (999, 0, false));
        assert_eq!(cut(&names(1_001)), (1_000, 0, false));
        assert_eq!(cut(&names(1_002)), (1_000, 1, false));
        assert_eq!(cut(&names(200_000)), (1_000, 198_999, false));
        // Folders whose holes hold the names of all others.
        let folder = |at: usize| {
            let far = 1_000_000_000 + at * 3;
            format!(
                "/f{at}/changelog_1_1.bin\n/f{at}/changelog_{far}_{}.bin\n",
                far + 1
            )
        };
        let folders: String = (0..20_000).map(folder).collect();
        assert!(cut(&folders).2);
    }

    #[test]
    fn names_that_count_files_show_which_numbers_are_left_out() {
        let name = |seq: u64, index: u64| format!("{seq:016x}-{index:016x}.wal\n");
        let text = [name(3, 0x40), name(4, 0x80), name(6, 0xff)].concat();
        let detail = "number 5 is missing: 0000000000000006-00000000000000ff.wal follows 0000000000000004-0000000000000080.wal; 3 segments are listed";
        assert_eq!(holes(&[&text]), [(0, 3, None, detail.to_owned())]);
        // Numbers that raft-wal leaves out say nothing.
        let sparse = |base: u64, id: u64| format!("{base:020}-{id:016x}.wal\n");
        assert_eq!(holes(&[&[sparse(1, 0), sparse(90, 7)].concat()]), []);
    }
}
