//! Which files were taken from a log that is here, told by their records and not by their names.
//!
//! A record's line, with its stamp and thread, stands in one log. So a few lines of a file are looked for in the logs of its folder,
//! of those above and of those below. What is found there is of that log's node, and a view of it: should the log lack some of its
//! records, they count all the same. In a log that stands as it is read, a line is found by its stamp, and little of it is read.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use rayon::prelude::*;

use super::candidates::{Candidate, Kind, LogAt, candidates};
use super::lookup::Wanted;
use super::sniffing::Sniffed;
use crate::intake::{Artifact, Names, Place};

/// How many records of a file are looked for.
const WANTED_MAX: usize = 16;

/// How many are looked for where it matters of each whether it is found.
const RECORDS_MAX: usize = 256;

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
    /// Several, which lack some of its records: their artifacts, and the lines of those that they have.
    Partly(BTreeSet<usize>, Vec<Range<u64>>),
    /// Several, and it is not known which of its records they have.
    Nobody,
}

/// A file, and what is looked for to tell what it was taken from.
struct Asked<'l, 'a> {
    file: &'l Candidate<'a>,
    /// All of its records, if each may be looked for; else those that are.
    records: Vec<Wanted>,
    is_all: bool,
    /// Which of the records are looked for.
    picked: Vec<usize>,
    /// The files that it may have been taken from, the nearest first.
    beside: Vec<&'l Candidate<'a>>,
}

/// What the logs hold that are read from their beginnings, by log and by file: each is read once for all files.
type Streamed = BTreeMap<(LogAt, LogAt), BTreeSet<usize>>;

/// What of the looked for the files of one log have.
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
        let log = match from {
            From::One(log) => log,
            From::Several(log, all) => {
                taken.repeated.insert(at.0, all);
                log
            }
            From::Partly(all, lines) => {
                taken.partly.insert(at.0, (all, lines));
                // It is read as the only log in its file.
                let at = (at.0, Some(0));
                taken.renamed.insert(at, renamed(&artifacts[at.0]));
                continue;
            }
            From::Nobody => {
                taken.renamed.insert(at, renamed(&artifacts[at.0]));
                continue;
            }
        };
        taken.from.insert(at, log);
    }
    taken
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
        let wanted: Vec<&Wanted> = files.iter().flat_map(|it| it.wanted()).collect();
        let hits = log.lookup().holds(&wanted).unwrap_or_default();
        let mut from = 0;
        files.iter().map(move |file| {
            let to = from + file.picked.len();
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
        // The nearest folder first, and in it what a server wrote. Of files like this one there may be any number.
        beside.sort_by_key(|log| {
            let nearest = (file.distance(log), log.kind != Kind::Log, log.role);
            (log.kind == file.kind, nearest, log.at)
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

    /// The records that are looked for.
    fn wanted(&self) -> impl Iterator<Item = &Wanted> {
        self.picked.iter().map(|&at| &self.records[at])
    }

    /// The log, or the logs, that the file was taken from.
    fn source(&self, streamed: &Streamed) -> Option<From> {
        let mut found: Vec<Hits<'_, '_>> = Vec::new();
        for files in by_log(&self.beside) {
            let Some(hits) = self.hits(files, streamed) else {
                continue;
            };
            let has_all = hits.all.len() == self.picked.len();
            found.push(hits);
            if has_all {
                break;
            }
        }
        let together: BTreeSet<usize> = found.iter().flat_map(|it| &it.all).copied().collect();
        // Logs of two nodes may share a line or two.
        if !self.file.is_told() && together.len() * 2 < self.picked.len() {
            return None;
        }
        let most = found.iter().rev().max_by_key(|it| it.all.len())?;
        if let Some(one) = found.iter().find(|it| it.all == together) {
            return Some(From::One(one.best.at));
        }
        let in_none = self.in_none(&found);
        let of: BTreeSet<usize> = found.iter().map(|it| it.best.at.0).collect();
        if in_none.as_ref().is_some_and(BTreeSet::is_empty) {
            return Some(From::Several(found[0].best.at, of));
        }
        // The server's and the keeper's of one node.
        let folder = found[0].best.folder;
        let is_one =
            |it: &Hits<'_, '_>| it.best.folder == folder && Place::is_usual_name(it.best.stem);
        if found.iter().all(is_one) {
            return Some(From::One(most.best.at));
        }
        Some(match in_none {
            Some(lines) => From::Partly(of, others(&self.records, &lines)),
            None => From::Nobody,
        })
    }

    /// What a log has of the file, if that may have been taken from it. A file that is called like a log has to be of it
    /// altogether, and to be smaller than all files of the log are together, unpacked.
    fn hits(&self, files: Vec<&'l Candidate<'a>>, streamed: &Streamed) -> Option<Hits<'l, 'a>> {
        let file = self.file;
        let is_strict = file.kind == Kind::Named && !file.is_told();
        let is_own = || files.iter().any(|it| it.is_of_log(file));
        if file.kind == Kind::Named && is_own() || is_strict && !self.may_be_all(&files, streamed) {
            return None;
        }
        let hits = self.looked_up(files, streamed)?;
        let has_all = !is_strict || hits.all.len() == self.picked.len();
        let by_size = is_strict || hits.files.iter().all(|it| it.kind != Kind::Log);
        let is_of = file.kind == Kind::Excerpt || !by_size || is_smaller(file, &hits.files);
        (has_all && is_of).then_some(hits)
    }

    /// Whether all of the file may be a log's, as far as its first record and the sizes that are known tell: so little is read of
    /// other logs.
    fn may_be_all(&self, files: &[&Candidate<'_>], streamed: &Streamed) -> bool {
        let known = files.iter().map(|it| it.lookup().stored_text());
        let is_larger = match (known.sum::<Option<u64>>(), self.file.lookup().stored_text()) {
            (Some(all), Some(own)) => all >= own,
            _ => true,
        };
        let has_first = |it: &&Candidate<'_>| !self.held(it, &[0], streamed).is_empty();
        is_larger && !self.picked.is_empty() && files.iter().any(has_first)
    }

    /// Looks for the records in the files of a log, one after the other until all are found; `None` if there are none.
    fn looked_up(
        &self,
        files: Vec<&'l Candidate<'a>>,
        streamed: &Streamed,
    ) -> Option<Hits<'l, 'a>> {
        let mut all = BTreeSet::new();
        let mut best: Option<(usize, &Candidate<'_>)> = None;
        for &file in &files {
            let missing = (0..self.picked.len()).filter(|at| !all.contains(at));
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

    /// Which of some that are looked for a file has.
    fn held(&self, log: &Candidate<'_>, some: &[usize], streamed: &Streamed) -> BTreeSet<usize> {
        if let Some(hits) = streamed.get(&(log.at, self.file.at)) {
            return some
                .iter()
                .copied()
                .filter(|at| hits.contains(at))
                .collect();
        }
        let wanted = some.iter().map(|&at| &self.records[self.picked[at]]);
        let wanted: Vec<&Wanted> = wanted.collect();
        let hits = log.lookup().holds(&wanted).unwrap_or_default();
        hits.into_iter().map(|at| some[at]).collect()
    }

    /// The lines of the records that none of these logs has; `None` if not all of the file was looked at, or too much is in it to
    /// look for each record.
    fn in_none(&self, found: &[Hits<'_, '_>]) -> Option<BTreeSet<u64>> {
        if !self.is_all {
            return None;
        }
        let mut left: Vec<&Wanted> = self.records.iter().collect();
        for log in found.iter().flat_map(|it| &it.files) {
            let hits = log.lookup().holds(&left).unwrap_or_default();
            let missing = left.iter().enumerate().filter(|(at, _)| !hits.contains(at));
            left = missing.map(|(_, it)| *it).collect();
        }
        Some(left.iter().map(|it| it.at).collect())
    }
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
    left == 0 && files.iter().any(|it| it.rank() > file.rank())
}

/// The lines of all records but of those that begin at some lines.
fn others(records: &[Wanted], but: &BTreeSet<u64>) -> Vec<Range<u64>> {
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
