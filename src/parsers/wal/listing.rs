//! Listings of the folders that WALs lie in, as people paste and save them: what `ls`, `find`, `du` or `tar -t` print.
//!
//! ```text
//! total 188M
//! -rw-r----- 1 chkeeper chkeeper   21M Jul 20 02:10 changelog_1_100000.bin.zstd
//! ```
//!
//! A listing is evidence of names and of nothing else: which segments there are, and how large the listing says they are. Only names
//! that no other program uses are believed.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::parsers::ci::jobs::unstamp::plain;
use crate::record::{BOM, Lines, split_lines};
use crate::vocab::Lsn;

use super::{LAYOUTS, Layout, SegmentName, owner};

/// What a listing shows.
#[derive(Debug, Default)]
pub struct Listing {
    /// The segments, in the order of their lines.
    pub entries: Vec<Entry>,
    /// The snapshots: of which layout, and the position that each stands for.
    pub snapshots: Vec<(&'static str, Lsn)>,
    /// How many lines it has.
    pub lines: u64,
    /// Lines that are of no listing.
    pub foreign: Lines,
    /// The nodes of the snapshots.
    snapshot_owners: Vec<Option<Arc<str>>>,
}

/// A segment that a listing names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its line, from 1.
    pub line: u64,
    /// Which of several commands in one text lists it, from 0.
    pub command: u32,
    /// The folder as the listing names it; empty where it does not.
    pub folder: String,
    /// Its name.
    pub file: String,
    /// Its size as the listing writes it: `21M`, `22020096`.
    pub size: Option<String>,
    /// The id of the layout whose segments are called so.
    pub layout: &'static str,
    /// What its name says.
    pub name: SegmentName,
    /// The node that what stands around it names.
    pub owner: Option<Arc<str>>,
}

impl Listing {
    /// Reads a text.
    pub fn read(text: &[u8]) -> Self {
        let mut listing = Self::default();
        let mut above = Above::default();
        for line in split_lines(text.strip_prefix(BOM).unwrap_or(text)) {
            listing.lines += 1;
            let line = plain(line);
            let line = String::from_utf8_lossy(&line);
            match said(&line) {
                Said::Command(of) => {
                    above.begin(of);
                    above.name(typed_on(&line));
                }
                Said::Folder(of) => match owner::of_heading(of).filter(|_| !of.contains('/')) {
                    Some(node) => {
                        above.begin("");
                        above.name(Some(node));
                    }
                    None => of.clone_into(&mut above.folder),
                },
                Said::Files(files) => {
                    if let [(word, None)] = files[..]
                        && named(file_of(word)).is_none()
                        && !word.contains('/')
                        && let Some(node) = owner::of_heading(word)
                    {
                        above.begin("");
                        above.name(Some(node));
                    }
                    for (path, size) in files {
                        listing.add(path, size, &above);
                    }
                }
                Said::Nothing => {}
                // What stands between two lists of files keeps them apart.
                Said::Other => {
                    let node = owner::of_heading(&line);
                    if node.is_none() {
                        listing.foreign.note(listing.lines);
                    }
                    above.begin("");
                    above.name(node);
                }
            }
        }
        if text.ends_with(b"\n") {
            listing.lines -= 1;
        }
        listing
    }

    /// The parts of it that are of different nodes; where nothing in it names one, `file` does.
    pub fn by_owner(self, file: Option<&str>) -> Vec<(Option<String>, Self)> {
        let mut parts: BTreeMap<Option<String>, Self> = BTreeMap::new();
        let name = |owner: Option<Arc<str>>| owner.as_deref().or(file).map(str::to_owned);
        for entry in self.entries {
            let part = parts.entry(name(entry.owner.clone())).or_default();
            part.entries.push(entry);
        }
        for (snapshot, owner) in self.snapshots.into_iter().zip(self.snapshot_owners) {
            let part = parts.entry(name(owner)).or_default();
            part.snapshots.push(snapshot);
        }
        parts.into_iter().collect()
    }

    /// Whether more of it is something else than what stands around files where they are listed.
    pub fn is_mixed(&self) -> bool {
        let named = self.entries.len() + self.snapshots.len();
        self.foreign.count > others_max(named)
    }

    fn add(&mut self, path: &str, size: Option<&str>, above: &Above) {
        let (folder, file) = path.rsplit_once('/').unwrap_or((&above.folder, path));
        let owner = || {
            above
                .owner
                .clone()
                .or_else(|| owner::of_path(folder).map(Arc::from))
        };
        match named(file) {
            Some((layout, Named::Segment(name))) => self.entries.push(Entry {
                line: self.lines,
                command: above.command,
                folder: folder.to_owned(),
                file: file.to_owned(),
                size: size.map(str::to_owned),
                layout: layout.id,
                name,
                owner: owner(),
            }),
            Some((layout, Named::Snapshot(lsn))) => {
                self.snapshots.push((layout.id, lsn));
                self.snapshot_owners.push(owner());
            }
            None => {}
        }
    }

    /// Whether a text that begins with a sample is a listing with segments: hardly a line of it is anything else. What
    /// quotes a listing among other lines is none.
    pub fn claims(sample: &[u8]) -> bool {
        let (mut listed, mut bare, mut other) = (0_usize, 0_usize, 0_u64);
        for line in split_lines(sample.strip_prefix(BOM).unwrap_or(sample)) {
            let line = plain(line);
            let line = String::from_utf8_lossy(&line);
            match said(&line) {
                Said::Files(files) => {
                    let files = files.iter();
                    let segments = files.filter(|(path, _)| named(file_of(path)).is_some());
                    let sized = segments.map(|(_, size)| size.is_some());
                    for is_sized in sized {
                        *if is_sized { &mut listed } else { &mut bare } += 1;
                    }
                }
                Said::Other if owner::of_heading(&line).is_none() => other += 1,
                Said::Other | Said::Nothing | Said::Command(_) | Said::Folder(_) => {}
            }
        }
        // One name alone on its line may be anything's.
        let is_text = memchr::memchr(0, sample).is_none();
        is_text && (listed > 0 || bare > 1) && other <= others_max(listed + bare)
    }
}

/// What stands above a line of a listing.
#[derive(Default)]
struct Above {
    /// How many commands, or texts between two lists.
    command: u32,
    folder: String,
    /// The node that a heading or a prompt names.
    owner: Option<Arc<str>>,
}

impl Above {
    fn begin(&mut self, folder: &str) {
        self.command += 1;
        folder.clone_into(&mut self.folder);
    }

    /// Takes note of a node; where none is named, the one before holds.
    fn name(&mut self, node: Option<&str>) {
        self.owner = node.map(Arc::from).or(self.owner.take());
    }
}

/// The node on which the command of a line was typed.
fn typed_on(line: &str) -> Option<&str> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let at = words
        .iter()
        .position(|word| COMMANDS.contains(&file_of(word)))?;
    owner::of_command(&words, at)
}

/// How many lines beside so many files may be something else.
fn others_max(files: usize) -> u64 {
    u64::try_from(files / 4 + 1).unwrap_or(u64::MAX)
}

/// What a line of a listing says.
#[derive(Debug, PartialEq)]
enum Said<'l> {
    /// Nothing: a sum of blocks, a prompt, an empty line.
    Nothing,
    /// A command was typed that lists the folder.
    Command(&'l str),
    /// What follows is in the folder.
    Folder(&'l str),
    /// Files by path, with their sizes.
    Files(Vec<(&'l str, Option<&'l str>)>),
    /// Something that no listing has.
    Other,
}

/// Commands that list files.
const COMMANDS: &[&str] = &["ls", "ll", "find", "du", "tar"];

fn said(line: &str) -> Said<'_> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (Some(&first), Some(&last)) = (words.first(), words.last()) else {
        return Said::Nothing;
    };
    if words.len() == 2 && first == "total" && is_size(last) {
        return Said::Nothing;
    }
    if let Some(files) = files(&words) {
        return files;
    }
    if let (Some(folder), 1) = (first.strip_suffix(':'), words.len()) {
        return Said::Folder(folder);
    }
    let is_command = |word: &&str| COMMANDS.contains(&file_of(word));
    if words.iter().any(is_command) {
        let folder = last.trim_end_matches('/');
        return Said::Command(if folder.contains('/') { folder } else { "" });
    }
    if words.len() < 3 && last.ends_with(['$', '#', '>']) {
        return Said::Nothing;
    }
    if words.len() == 1 {
        return Said::Files(vec![(first, None)]);
    }
    Said::Other
}

/// The files of a line: one with its attributes, or names alone.
fn files<'l>(words: &[&'l str]) -> Option<Said<'l>> {
    if let Some(row) = row(words) {
        return Some(Said::Files(vec![row]));
    }
    let is_named = |word: &&str| named(file_of(unquoted(word))).is_some();
    let (last, before) = words.split_last()?;
    if is_named(last) && before.iter().all(|word| is_size(word) || is_date(word)) {
        // A size here may count blocks: `ls -s`, `du`.
        return Some(Said::Files(vec![(unquoted(last), None)]));
    }
    let names = words.iter().map(|word| (unquoted(word), None));
    words
        .iter()
        .all(is_named)
        .then(|| Said::Files(names.collect()))
}

/// A line that begins with what `ls -l` says of a file's mode, with at most an inode and a number of blocks before it.
fn row<'l>(words: &[&'l str]) -> Option<(&'l str, Option<&'l str>)> {
    let mode = words.iter().take(3).position(|word| is_mode(word))?;
    let is_counted = words[..mode].iter().all(|word| is_size(word));
    let behind = &words[mode + 1..];
    let dated = behind
        .iter()
        .position(|word| is_date(word) || is_month(word));
    let (dated, true) = (dated.filter(|&at| at > 0)?, is_counted) else {
        return None;
    };
    // `Jul 20 02:10`, or `20 Jul 02:10`.
    let is_time = |word: &&str| word.contains(':') || word.len() == 4 && is_size(word);
    let is_day_first = is_month(behind[dated]) && behind.get(dated + 1).is_some_and(is_time);
    let size = behind.get(dated.checked_sub(if is_day_first { 2 } else { 1 })?);
    let arrow = behind.iter().position(|word| *word == "->");
    let name = behind[..arrow.unwrap_or(behind.len())].last()?;
    Some((unquoted(name), size.copied().filter(|size| is_size(size))))
}

/// `-rw-r-----`, with a letter for the kind in front and a sign for more rights behind.
fn is_mode(word: &str) -> bool {
    let bytes = word.as_bytes();
    (10..=11).contains(&bytes.len())
        && b"-dlbcps".contains(&bytes[0])
        && bytes[1..10].iter().all(|byte| b"-rwxsStT".contains(byte))
}

/// `0`, `21M`, `9.1M`, `9,1M`, `21504`.
fn is_size(word: &str) -> bool {
    let number = word.trim_end_matches(['K', 'k', 'M', 'G', 'T', 'i', 'B']);
    word.len() - number.len() <= 3
        && number.starts_with(|first: char| first.is_ascii_digit())
        && number
            .bytes()
            .all(|byte| byte.is_ascii_digit() || b".,".contains(&byte))
}

/// `2026-07-20`, `02:10`, `02:10:00.123456789`, `+0000`.
fn is_date(word: &str) -> bool {
    let has = |sign| word.matches(sign).count();
    let is_of = |signs: &[u8]| {
        word.bytes()
            .all(|byte| byte.is_ascii_digit() || signs.contains(&byte))
    };
    has('-') == 2 && word.len() == 10 && is_of(b"-")
        || (1..=2).contains(&has(':')) && is_of(b":.")
        || word.len() == 5 && word.starts_with(['+', '-']) && is_of(b"+-")
}

fn is_month(word: &str) -> bool {
    const MONTHS: &[&str] = &[
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    const DAYS: &[&str] = &["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
    MONTHS.contains(&word) || DAYS.contains(&word)
}

/// A name without the quotes of `ls -Q` and the sign of `ls -F`.
fn unquoted(word: &str) -> &str {
    word.trim_end_matches('*').trim_matches(['"', '\''])
}

fn file_of(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, file)| file)
}

/// What a name is that no other program uses.
enum Named {
    Segment(SegmentName),
    Snapshot(Lsn),
}

/// The layout that uses a name, whether or not the file was packed once more when it was copied.
fn named(file: &str) -> Option<(&'static Layout, Named)> {
    let of = |file: &str| {
        let mut layouts = LAYOUTS.iter().filter(|layout| layout.is_name_enough);
        layouts.find_map(|layout| {
            // A range that ends before it begins is no name of a segment.
            let is_range = |it: &SegmentName| {
                it.lsn
                    .zip(it.last)
                    .is_none_or(|(first, last)| first <= last)
            };
            let segment = (layout.name)(file).filter(is_range).map(Named::Segment);
            let named = segment.or_else(|| (layout.snapshot)(file).map(Named::Snapshot))?;
            Some((layout, named))
        })
    };
    let packed = [".gz", ".zst"]
        .iter()
        .find_map(|ending| file.strip_suffix(ending));
    of(file).or_else(|| of(packed?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: &str = "total 188M
-rw-r----- 1 chkeeper chkeeper   21M Jul 20 02:10 changelog_1_100000.bin.zstd
-rw-r----- 1 chkeeper chkeeper  9.1M Jul 23 05:13 changelog_100001_200000.bin.zstd
";

    /// Lines, names and sizes of what a text lists.
    fn listed(text: &str) -> Vec<(u64, String, Option<String>)> {
        assert!(Listing::claims(text.as_bytes()), "{text}");
        let entries = Listing::read(text.as_bytes()).entries.into_iter();
        entries.map(|it| (it.line, it.file, it.size)).collect()
    }

    #[test]
    fn every_form_of_a_listing_names_the_same_files() {
        let (a, b) = (
            "changelog_1_100000.bin.zstd",
            "changelog_100001_200000.bin.zstd",
        );
        let long = "-rw-r----- 1 chkeeper chkeeper";
        for (text, lines, sizes) in [
            (LONG.to_owned(), [2, 3], [Some("21M"), Some("9.1M")]),
            (
                LONG.replace('\n', "\r\n"),
                [2, 3],
                [Some("21M"), Some("9.1M")],
            ),
            (format!("{a}\n{b}\n"), [1, 2], [None, None]),
            (format!("{a}  {b}\n"), [1, 1], [None, None]),
            (format!("./{a}\n./{b}\n"), [1, 2], [None, None]),
            (
                format!("$ ls -la log\n{LONG}$"),
                [3, 4],
                [Some("21M"), Some("9.1M")],
            ),
            (
                format!(
                    "drwxr-x--- 2 101 101 4096 Jul 20 02:10 .\n-rw-r----- 1 101 101 0 Jul 20 2025 {a}\n{long} 7 Jul 20 02:10 {b}"
                ),
                [2, 3],
                [Some("0"), Some("7")],
            ),
            (
                format!(
                    "  1835021  21504 {long} 22020096 Jul 20 02:10 ./{a}\n  1835022  9300 {long} 9523200 Jul 23 05:13 ./{b}"
                ),
                [1, 2],
                [Some("22020096"), Some("9523200")],
            ),
            (
                format!(
                    "{long} 21M 20 Jul 02:10 {a}\n{long}. 9.1M 2026-07-23 05:13:00.000000000 +0000 '{b}'"
                ),
                [1, 2],
                [Some("21M"), Some("9.1M")],
            ),
            (
                format!(
                    "-rw-r----- chkeeper/chkeeper 22020096 2026-07-20 02:10 log/{a}\n-rw-r----- chkeeper/chkeeper 7 2026-07-20 02:10 log/{b}"
                ),
                [1, 2],
                [Some("22020096"), Some("7")],
            ),
            (
                format!("21M\t./log/{a}\n9.1M\t./log/{b}\n"),
                [1, 2],
                [None, None],
            ),
            (
                format!(
                    "\x1b[0m{long} 21M Jul 20 02:10 \x1b[01;31m{a}\x1b[0m\n{long} 9M Jul 20 02:10 \x1b[01;31m{b}\x1b[0m\n"
                ),
                [1, 2],
                [Some("21M"), Some("9M")],
            ),
        ] {
            let expected = [(lines[0], a, sizes[0]), (lines[1], b, sizes[1])];
            let expected =
                expected.map(|(line, file, size)| (line, file.to_owned(), size.map(str::to_owned)));
            assert_eq!(listed(&text), expected, "{text}");
        }
    }

    #[test]
    fn folders_and_commands_are_told_apart() {
        let text = "k1$ ls -lR /srv\n/srv/log:\nchangelog_1_2.bin\n\n/srv/old:\nchangelog_3_4.bin\nk2$ ls -1 /srv/log\nchangelog_1_2.bin\n";
        let listing = Listing::read(text.as_bytes());
        let of = listing
            .entries
            .iter()
            .map(|it| (it.command, it.folder.as_str(), it.line));
        assert_eq!(
            of.collect::<Vec<_>>(),
            [(1, "/srv/log", 3), (1, "/srv/old", 6), (2, "/srv/log", 8)]
        );
        assert_eq!(listing.lines, 8);
    }

    #[test]
    fn what_stands_between_lists_keeps_them_apart_and_much_of_it_is_told() {
        let (a, b) = ("changelog_1_2.bin\n", "changelog_7_8.bin\n");
        for between in ["# keeper2\n", "'/srv/new log':\n", "$ tar -tvf ch2.tar\n"] {
            let text = format!("{a}{between}{b}");
            let listing = Listing::read(text.as_bytes());
            let commands = listing.entries.iter().map(|it| it.command);
            assert_eq!(commands.collect::<Vec<_>>(), [0, 1], "{text}");
            assert!(!listing.is_mixed());
        }
        let log = "2026.07.30 20:29:03.985814 [ 7 ] {} <Error> a: b\n".repeat(3);
        let listing = Listing::read(format!("{a}{b}{log}").as_bytes());
        assert_eq!((listing.foreign.count, listing.foreign.first), (3, 3));
        assert!(listing.is_mixed());
    }

    #[test]
    fn what_is_no_listing_is_not_claimed() {
        for text in [
            "",
            "changelog_1_100000.bin.zstd\n",
            "total 0\n",
            "changelog_1_2.bin\nchangelog_3_4.bin\n\0\0\0",
            "changelog_5_3.bin\nchangelog_9_7.bin\n",
            "-rw-r--r-- 1 root root 12 Jul 20 02:10 notes.txt\n-rw-r--r-- 1 root root 7 Jul 20 02:10 log.1\n",
            "We looked at the folder.\nIt has these two files and no others:\nchangelog_1_100000.bin.zstd\nchangelog_100001_200000.bin.zstd\nThe third one is gone since Monday.\nDoes anybody know why?\n",
            "2026.07.30 20:29:03.985814 [ 7 ] {} <Warning> KeeperLogStore: Removing changelog /srv/log/changelog_1_2.bin\n2026.07.30 20:29:04.985814 [ 7 ] {} <Warning> KeeperLogStore: Removing changelog /srv/log/changelog_3_4.bin\n",
        ] {
            assert!(!Listing::claims(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn snapshots_are_told_from_segments() {
        let text = "-rw-r----- 1 a a 7 Jul 20 02:10 snapshot_300000.bin.zstd\n";
        assert!(Listing::claims(text.as_bytes()));
        let listing = Listing::read(text.as_bytes());
        assert_eq!(listing.snapshots, [("clickhouse-keeper", Lsn(300_000))]);
        assert!(listing.entries.is_empty());
    }
}
