//! Which files were taken from a log that is here, told by their records and not by their names.
//!
//! A record's line, with its stamp and thread, stands in one log. So a few lines of a file are looked for in the logs of its folder,
//! of those above and of those below. What is found there is of that log's node, and a view of it: should the log lack some of its
//! records, they count all the same. In a log that stands as it is read, a line is found by its stamp, and little of it is read.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use rayon::prelude::*;

use super::candidates::{Candidate, Kind, LogAt, candidates};
use super::copies::collected_twice;
use super::lookup::Wanted;
use super::sniffing::Sniffed;
use crate::intake::{Artifact, Names, Place};

/// How many records of a file are looked for.
const WANTED_MAX: usize = 16;

/// How many are looked for where it matters of each whether it is found.
const RECORDS_MAX: usize = 256;

/// How many look-ups each of them may cost together, where no log is known to have them: then they count as none's.
const LOOKUPS_MAX: usize = 8192;

/// In how many logs, and of how many files: a folder may hold any number of either. A log that cannot be read from anywhere is
/// unpacked for some of them.
const LOGS_MAX: usize = 64;
const FILES_MAX: usize = 128;
const STREAMING_MAX: usize = 16;

/// What a file was taken from.
enum From {
    /// One log: it is a view of that.
    One(LogAt),
    /// Several, which have all of its records: the nearest of them, and their artifacts.
    Several(LogAt, BTreeSet<usize>),
    /// Several, which lack some of its records.
    Partly(Partly),
    /// Several, and it is not known which of its records they have.
    Nobody,
}

/// What several files have of one, and where the rest belongs.
struct Partly {
    /// Their artifacts.
    of: BTreeSet<usize>,
    /// The lines of the records that they have.
    lines: Vec<Range<u64>>,
    /// A log of the node whose logs these are, if that is one.
    home: Option<LogAt>,
}

/// A file, and what is looked for to tell what it was taken from.
struct Asked<'l, 'a> {
    file: &'l Candidate<'a>,
    /// All of its records, if each may be looked for; else those that are.
    records: Vec<Wanted>,
    is_all: bool,
    /// Which of the records are looked for first.
    picked: Vec<usize>,
    /// The files that it may have been taken from, the nearest first.
    beside: Vec<&'l Candidate<'a>>,
}

/// What the logs hold that are read from their beginnings, by log and by file: each is read once for all files.
type Streamed = BTreeMap<(LogAt, LogAt), BTreeSet<usize>>;

/// Which records the files of one log have.
struct Hits<'l, 'a> {
    all: BTreeSet<usize>,
    /// The file that has most of them.
    best: &'l Candidate<'a>,
    files: Vec<&'l Candidate<'a>>,
}

/// The logs from which files were taken.
#[derive(Debug, Default)]
pub(super) struct Taken {
    /// By what was taken: where the log is.
    pub(super) from: BTreeMap<LogAt, LogAt>,
    /// Files all of whose records stand in several other ones, by artifact.
    pub(super) repeated: BTreeMap<usize, BTreeSet<usize>>,
    /// Files some of whose records stand in several other ones, by artifact: these, and the lines of those records.
    pub(super) partly: BTreeMap<usize, (BTreeSet<usize>, Vec<Range<u64>>)>,
    /// Files that are of several nodes, each under a name that names none.
    pub(super) renamed: BTreeMap<LogAt, Artifact>,
}

/// Tells the logs from which files were taken.
pub(super) fn taken(
    artifacts: &[Artifact],
    is_segment: &[bool],
    sniffed: &[Sniffed],
    names: &Names,
) -> Taken {
    let mut logs: Vec<Candidate<'_>> = Vec::new();
    for (at, artifact) in artifacts
        .iter()
        .enumerate()
        .filter(|(at, _)| !is_segment[*at])
    {
        logs.extend(candidates(at, artifact, &sniffed[at]));
    }
    let files = logs.iter().filter(|it| it.kind != Kind::Log);
    let files = files.filter(|it| names.node_of(it.artifact).is_none());
    let mut files: Vec<&Candidate<'_>> = files.collect();
    // What a collector took is rather a log than the others.
    files.sort_by_key(|it| it.kind == Kind::Collected);
    files.truncate(FILES_MAX);
    let asked = files.par_iter().enumerate();
    let asked: Vec<Asked<'_, '_>> = asked
        .filter_map(|(number, file)| Asked::of(file, &logs, number < STREAMING_MAX))
        .collect();
    let streamed = streamed(&asked);
    let found = asked.par_iter();
    let found: Vec<(LogAt, From)> = found
        .filter_map(|asked| Some((asked.file.at, asked.source(&streamed)?)))
        .collect();
    let mut taken = Taken::default();
    for (at, from) in found {
        taken.take(at, from, artifacts);
    }
    for (at, log) in collected_twice(&logs, sniffed, names) {
        taken.from.entry(at).or_insert(log);
    }
    // A file of which only some lines are read is known as the only log in it.
    for log in taken.from.values_mut() {
        if taken.partly.contains_key(&log.0) {
            log.1 = Some(0);
        }
    }
    taken
}

impl Taken {
    /// Notes what a file was taken from.
    fn take(&mut self, at: LogAt, from: From, artifacts: &[Artifact]) {
        match from {
            From::One(log) => drop(self.from.insert(at, log)),
            From::Several(log, all) => {
                self.repeated.insert(at.0, all);
                self.from.insert(at, log);
            }
            From::Partly(Partly { of, lines, home }) => {
                self.partly.insert(at.0, (of, lines));
                let at = (at.0, Some(0));
                match home {
                    Some(log) => drop(self.from.insert(at, log)),
                    None => self.rename(at, artifacts),
                }
            }
            From::Nobody => self.rename(at, artifacts),
        }
    }

    /// Has a file name no node: it is the same as others of its folder that name none, or a view of them.
    fn rename(&mut self, at: LogAt, artifacts: &[Artifact]) {
        let renamed = renamed(&artifacts[at.0]);
        let mut others = self.renamed.iter();
        let other = others.find(|(_, other)| other.whole == renamed.whole);
        if let Some((&first, _)) = other {
            self.from.insert(at, first);
        } else {
            self.renamed.insert(at, renamed);
        }
    }
}

/// An artifact as if its file were called like what anybody writes an excerpt into.
fn renamed(artifact: &Artifact) -> Artifact {
    let under = |path: &str| match path.rsplit_once('/') {
        Some((folder, _)) => format!("{folder}/excerpt"),
        None => "excerpt".to_owned(),
    };
    Artifact {
        relative: under(&artifact.relative),
        whole: under(&artifact.whole),
        ..artifact.clone()
    }
}

/// Reads the logs that are read from their beginnings.
fn streamed(asked: &[Asked<'_, '_>]) -> Streamed {
    let mut by_log: BTreeMap<LogAt, (&Candidate<'_>, Vec<&Asked<'_, '_>>)> = BTreeMap::new();
    for file in asked {
        for &log in file.beside.iter().filter(|it| !it.lookup().is_seekable()) {
            let of_log = by_log.entry(log.at).or_insert_with(|| (log, Vec::new()));
            of_log.1.push(file);
        }
    }
    let logs: Vec<(&Candidate<'_>, Vec<&Asked<'_, '_>>)> = by_log.into_values().collect();
    let hits = logs.par_iter().flat_map_iter(|(log, files)| {
        let wanted: Vec<&Wanted> = files.iter().flat_map(|it| &it.records).collect();
        let hits = log.lookup().holds(&wanted).unwrap_or_default();
        let mut from = 0;
        files.iter().map(move |file| {
            let to = from + file.records.len();
            let own = hits.range(from..to).map(|at| at - from).collect();
            from = to;
            ((log.at, file.file.at), own)
        })
    });
    hits.collect()
}

impl<'l, 'a> Asked<'l, 'a> {
    /// What is looked for of a file, and where; `streaming` says whether logs may be unpacked for it.
    fn of(file: &'l Candidate<'a>, logs: &'l [Candidate<'a>], streaming: bool) -> Option<Self> {
        // Who rotates a log is hardly somebody who wrote down what was found.
        let is_own = |log: &Candidate<'_>| log.at != file.at && log.is_of_log(file);
        let streaming = streaming && !(file.kind == Kind::Named && logs.iter().any(is_own));
        let may_be_of =
            |log: &&Candidate<'_>| file.may_be_of(log) && (streaming || log.lookup().is_seekable());
        let mut beside: Vec<&Candidate<'_>> = logs.iter().filter(may_be_of).collect();
        if beside.is_empty() {
            return None;
        }
        // What was taken itself comes last, and of files like this one there may be any number. The nearest folder first, and in
        // it what a server wrote.
        beside.sort_by_key(|log| {
            let nearest = (file.distance(log), log.kind != Kind::Log, log.role);
            (log.is_excerpt(), log.kind == file.kind, nearest, log.at)
        });
        beside.truncate(LOGS_MAX);
        let records = file.records();
        let count = records.len();
        let is_all = file.is_alone() && count <= RECORDS_MAX;
        let some = |at: usize| count <= WANTED_MAX || is_picked(at, count);
        let kept = records.into_iter().enumerate();
        let kept: Vec<(usize, Wanted)> = kept.filter(|(at, _)| is_all || some(*at)).collect();
        let picked = kept.iter().enumerate().filter(|(_, (at, _))| some(*at));
        Some(Self {
            file,
            is_all,
            picked: picked.map(|(place, _)| place).collect(),
            records: kept.into_iter().map(|(_, it)| it).collect(),
            beside,
        })
    }

    /// The log, or the logs, that the file was taken from.
    fn source(&self, streamed: &Streamed) -> Option<From> {
        let found = self.found(streamed);
        let together = union(&found);
        let mut logs = found.iter().map(|it| it.files[0]);
        let is_told = self.file.is_told() || logs.any(|log| self.file.is_copy_of(log));
        // Logs of two nodes may share a line or two.
        if !is_told && together.len() * 2 < self.picked.len() {
            return None;
        }
        // Another excerpt is what it was taken from only if no log is.
        let is_log = |it: &&Hits<'_, '_>| !it.files[0].is_excerpt();
        let of_logs = found.iter().take_while(is_log).count();
        let found = if of_logs == 0 {
            &found[..]
        } else {
            &found[..of_logs]
        };
        let most = found.iter().rev().max_by_key(|it| it.all.len())?;
        if self.is_all {
            return Some(self.parted(most, streamed));
        }
        let together = union(found);
        let best: Vec<&Candidate<'_>> = found.iter().map(|it| it.best).collect();
        let one = found.iter().find(|it| it.all == together);
        let one = one.or_else(|| are_of_one_node(&best).then_some(most));
        Some(one.map_or(From::Nobody, |it| From::One(it.best.at)))
    }

    /// What the logs beside have of the records that are looked for first, up to one that has them all; excerpts only if the logs
    /// have not.
    fn found(&self, streamed: &Streamed) -> Vec<Hits<'l, 'a>> {
        let mut found: Vec<Hits<'_, '_>> = Vec::new();
        for files in by_log(&self.beside) {
            if files[0].is_excerpt() && union(&found).len() == self.picked.len() {
                break;
            }
            let Some(hits) = self.hits(files, streamed) else {
                continue;
            };
            let has_all = hits.all.len() == self.picked.len();
            found.push(hits);
            if has_all {
                break;
            }
        }
        found
    }

    /// Where its records stand, all of which may be looked for: in the log that has most of them, and what that lacks in others.
    /// What is in none counts as that log's, or as nobody's where logs of several nodes have the rest.
    fn parted(&self, most: &Hits<'l, 'a>, streamed: &Streamed) -> From {
        let mut left: Vec<usize> = (0..self.records.len()).collect();
        let mut having: Vec<Hits<'_, '_>> = Vec::new();
        let mut looked = 0;
        let others = by_log(&self.beside).into_iter();
        let others = others.filter(|files| !files[0].is_of_log(most.best));
        for files in std::iter::once(most.files.clone()).chain(others) {
            looked += left.len();
            if left.is_empty() || looked > LOOKUPS_MAX {
                break;
            }
            if !self.may_be_of(&files) {
                continue;
            }
            let Some(hits) = self.looked_up(files, &left, streamed) else {
                continue;
            };
            left.retain(|at| !hits.all.contains(at));
            having.push(hits);
        }
        let nearest = most.best.at;
        if having.len() <= 1 {
            return From::One(nearest);
        }
        let of = having.iter().map(|it| it.best.at.0).collect();
        if left.is_empty() {
            return From::Several(nearest, of);
        }
        let left: BTreeSet<u64> = left.iter().map(|&at| self.records[at].at).collect();
        let logs = having.iter().filter(|it| !it.files[0].is_excerpt());
        let logs: Vec<&Candidate<'_>> = logs.map(|it| it.best).collect();
        From::Partly(Partly {
            of,
            lines: others_than(&self.records, &left),
            home: are_of_one_node(&logs).then_some(nearest),
        })
    }

    /// Whether records of it may be a log's with these files, for all that is known of both. What is no log has to be larger, so that of
    /// two excerpts one is told from the other.
    fn may_be_of(&self, files: &[&Candidate<'_>]) -> bool {
        let file = self.file;
        let is_own = || files.iter().any(|it| it.is_of_log(file));
        let is_log = || files.iter().any(|it| it.kind == Kind::Log);
        let is_told = || file.is_copy_of(files[0]) || files[0].names_file();
        let is_smaller =
            || file.kind == Kind::Excerpt || is_log() || is_told() || is_smaller(file, files);
        !(file.kind == Kind::Named && is_own()) && is_smaller()
    }

    /// Whether it has to be of a log altogether, and to be smaller than all files of that are together, unpacked: it is called like a
    /// log itself, and not like a copy of that one.
    fn is_strict(&self, log: &Candidate<'_>) -> bool {
        self.file.kind == Kind::Named && !self.file.is_told() && !self.file.is_copy_of(log)
    }

    /// What a log has of what is looked for first in the file, if that may have been taken from it.
    fn hits(&self, files: Vec<&'l Candidate<'a>>, streamed: &Streamed) -> Option<Hits<'l, 'a>> {
        let is_strict = self.is_strict(files[0]);
        if is_strict && !self.may_be_all(&files, streamed) || !self.may_be_of(&files) {
            return None;
        }
        let hits = self.looked_up(files, &self.picked, streamed)?;
        let is_all = || hits.all.len() == self.picked.len() && is_smaller(self.file, &hits.files);
        (!is_strict || is_all()).then_some(hits)
    }

    /// Whether all of the file may be a log's, as far as its first record and the sizes that are known tell: so little is read of
    /// other logs.
    fn may_be_all(&self, files: &[&Candidate<'_>], streamed: &Streamed) -> bool {
        let known = files.iter().map(|it| it.lookup().stored_text());
        let is_larger = match (known.sum::<Option<u64>>(), self.file.lookup().stored_text()) {
            (Some(all), Some(own)) => all >= own,
            _ => true,
        };
        let first = self.picked.first();
        let has = |it: &&Candidate<'_>, at| !self.held(it, &[at], streamed).is_empty();
        is_larger && first.is_some_and(|&at| files.iter().any(|it| has(it, at)))
    }

    /// Looks for some records in the files of a log, one after the other until all are found; `None` if there are none.
    fn looked_up(
        &self,
        files: Vec<&'l Candidate<'a>>,
        some: &[usize],
        streamed: &Streamed,
    ) -> Option<Hits<'l, 'a>> {
        let mut all = BTreeSet::new();
        let mut best: Option<(usize, &Candidate<'_>)> = None;
        for &file in &files {
            let missing = some.iter().copied().filter(|at| !all.contains(at));
            let missing: Vec<usize> = missing.collect();
            if missing.is_empty() {
                break;
            }
            let hits = self.held(file, &missing, streamed);
            if best.map_or(0, |(most, _)| most) < hits.len() {
                best = Some((hits.len(), file));
            }
            all.extend(hits);
        }
        let (_, best) = best?;
        Some(Hits { all, best, files })
    }

    /// Which of some records a file has.
    fn held(&self, log: &Candidate<'_>, some: &[usize], streamed: &Streamed) -> BTreeSet<usize> {
        if let Some(hits) = streamed.get(&(log.at, self.file.at)) {
            let known = some.iter().copied();
            return known.filter(|at| hits.contains(at)).collect();
        }
        let wanted: Vec<&Wanted> = some.iter().map(|&at| &self.records[at]).collect();
        let hits = log.lookup().holds(&wanted).unwrap_or_default();
        hits.into_iter().map(|at| some[at]).collect()
    }
}

/// What some logs have together.
fn union(found: &[Hits<'_, '_>]) -> BTreeSet<usize> {
    found.iter().flat_map(|it| &it.all).copied().collect()
}

/// Whether logs are of one node: they are one, or the server's and the keeper's.
fn are_of_one_node(logs: &[&Candidate<'_>]) -> bool {
    let Some(first) = logs.first() else {
        return false;
    };
    let is_beside =
        |it: &&Candidate<'_>| it.folder == first.folder && Place::is_usual_name(it.stem);
    let files: BTreeSet<usize> = logs.iter().map(|it| it.at.0).collect();
    logs.len() == 1 || files.len() == logs.len() && logs.iter().all(is_beside)
}

/// Whether the files of a log have more text than a file, or as much where one of them is rather a log.
fn is_smaller(file: &Candidate<'_>, files: &[&Candidate<'_>]) -> bool {
    let mut left = file.lookup().text_bytes(u64::MAX);
    for log in files {
        let bytes = log.lookup().text_bytes(left + 1);
        if bytes > left {
            return true;
        }
        left -= bytes;
    }
    left == 0 && files.iter().any(|it| it.comes_before(file))
}

/// The lines of all records but of those that begin at some lines.
fn others_than(records: &[Wanted], but: &BTreeSet<u64>) -> Vec<Range<u64>> {
    let mut begins: Vec<u64> = records.iter().map(|it| it.at).collect();
    begins.sort_unstable();
    let ends = begins.iter().skip(1).copied().chain([u64::MAX]);
    let lines = begins.iter().copied().zip(ends);
    let others = lines.filter(|(begin, _)| !but.contains(begin));
    others.map(|(begin, end)| begin..end).collect()
}

/// The files of each log, in the order of the first of each.
fn by_log<'l, 'a>(files: &[&'l Candidate<'a>]) -> Vec<Vec<&'l Candidate<'a>>> {
    let mut logs: Vec<Vec<&Candidate<'_>>> = Vec::new();
    for &file in files {
        match logs.iter_mut().find(|log| log[0].is_of_log(file)) {
            Some(log) => log.push(file),
            None => logs.push(vec![file]),
        }
    }
    logs
}

/// Whether one of so many records is among those that are looked for: they are spread over all of them.
fn is_picked(at: usize, count: usize) -> bool {
    let step = |number: usize| number * (count - 1) / (WANTED_MAX - 1);
    let near = at * (WANTED_MAX - 1) / (count - 1);
    step(near) == at || step(near + 1) == at
}
