//! Which files were taken from a log that is here, told by their records and not by their names.
//!
//! A record's line, with its stamp and thread, stands in one log. So a few lines of a file are looked for in the logs of its folder,
//! of those above and of those below. What is found there is of that log's node, and a view of it: should the log lack some of its
//! records, they count all the same. In a log that stands as it is read, a line is found by its stamp, and little of it is read.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

use rayon::prelude::*;

use super::lookup::{Lookup, Wanted, uncut};
use super::seen::HELD_BYTES;
use super::sniffing::Sniffed;
use super::wrapped::Wrapped;
use crate::intake::{Artifact, Encoding, Names, Place, Role, split_name};
use crate::parsers::Format;
use crate::record::split_lines;

/// A log among the inputs: its artifact, and which of its logs where they are wrapped.
pub(super) type LogAt = (usize, Option<usize>);

/// How many records of a file are looked for.
const WANTED_MAX: usize = 16;

/// How many are looked for where all of them must be found.
const RECORDS_MAX: usize = 256;

/// In how many logs, and of how many files: a folder may hold any number of either. A log that cannot be read from anywhere is
/// unpacked for each of them.
const LOGS_MAX: usize = 64;
const FILES_MAX: usize = 128;
const STREAMING_MAX: usize = 16;

/// Some evidence on how a file may have come to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// It is not called like a log, or only some lines of a log are there.
    Excerpt,
    /// It is called like a log that no server writes.
    Named,
    /// It is a log.
    Log,
}

/// What a file was taken from.
enum From {
    /// One log: it is a view of that.
    One(LogAt),
    /// Several, which have all of its records: the nearest of them, and their artifacts.
    Several(LogAt, BTreeSet<usize>),
    /// Several, which lack some of its records.
    Nobody,
}

/// The records that the files of one log have.
struct Hits<'l, 'a> {
    all: BTreeSet<usize>,
    /// The file that has most of them.
    best: &'l Candidate<'a>,
    most: usize,
    logs: Vec<&'l Candidate<'a>>,
}

impl<'l, 'a> Hits<'l, 'a> {
    fn new(log: &'l Candidate<'a>, hits: BTreeSet<usize>) -> Self {
        Self {
            most: hits.len(),
            all: hits,
            best: log,
            logs: vec![log],
        }
    }

    fn is_of(&self, log: &Candidate<'_>) -> bool {
        (self.best.folder, self.best.stem) == (log.folder, log.stem)
    }

    fn add(&mut self, log: &'l Candidate<'a>, hits: BTreeSet<usize>) {
        if hits.len() > self.most {
            (self.most, self.best) = (hits.len(), log);
        }
        self.all.extend(hits);
        self.logs.push(log);
    }
}

/// One log of one input.
struct Candidate<'a> {
    at: LogAt,
    artifact: &'a Artifact,
    wrapped: Option<&'a Wrapped>,
    format: Format,
    encoding: Encoding,
    kind: Kind,
    folder: &'a str,
    stem: &'a str,
    role: Role,
    /// Whether its file holds no other log.
    is_only: bool,
}

/// The logs from which files were taken.
#[derive(Debug, Default)]
pub(super) struct Taken {
    /// By what was taken: where the log is.
    pub(super) from: BTreeMap<LogAt, LogAt>,
    /// Files all of whose records stand in several other ones, by artifact.
    pub(super) repeated: BTreeMap<usize, BTreeSet<usize>>,
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
    let files: Vec<&Candidate<'_>> = files
        .filter(|it| names.node_of(it.artifact).is_none())
        .take(FILES_MAX)
        .collect();
    let found = files.par_iter();
    let found: Vec<(LogAt, From)> = found
        .enumerate()
        .filter_map(|(number, file)| Some((file.at, file.source(&logs, number < STREAMING_MAX)?)))
        .collect();
    let mut taken = Taken::default();
    for (at, from) in found {
        let log = match from {
            From::One(log) => log,
            From::Several(log, all) => {
                taken.repeated.insert(at.0, all);
                log
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

/// The logs in an artifact whose records can be told from others.
fn candidates<'a>(
    at: usize,
    artifact: &'a Artifact,
    sniffed: &'a Sniffed,
) -> impl Iterator<Item = Candidate<'a>> {
    let (folder, file) = artifact
        .whole
        .rsplit_once('/')
        .unwrap_or(("", &artifact.whole));
    let (stem, role, piece) = split_name(file);
    let is_called_log = file.to_ascii_lowercase().contains(".log");
    let candidate = move |stream: Option<usize>, wrapped: Option<&'a Wrapped>, format: Format| {
        let spec = format.spec();
        let is_told = spec.counts_records && !spec.dateless && !spec.nodes_in_lines;
        let is_plain = wrapped.is_none_or(|log| log.layers.is_empty());
        let kind = match wrapped {
            Some(log) if log.is_excerpt => Kind::Excerpt,
            // Who names files after nodes has their logs in them.
            _ if is_plain && names_a_node(stem) => Kind::Log,
            _ if is_plain && !is_called_log => Kind::Excerpt,
            _ if is_plain
                && role == Role::Main
                && piece.is_none()
                && !Place::is_usual_name(stem) =>
            {
                Kind::Named
            }
            _ => Kind::Log,
        };
        is_told.then_some(Candidate {
            at: (at, stream),
            artifact,
            wrapped,
            format,
            encoding: sniffed.encoding,
            kind,
            folder,
            stem,
            role,
            is_only: sniffed.logs.len() == 1,
        })
    };
    let plain = sniffed
        .format
        .filter(|_| sniffed.logs.is_empty() && sniffed.export.is_none());
    let plain = plain.and_then(|format| candidate(None, None, format));
    let wrapped = sniffed.logs.iter().enumerate();
    let wrapped = wrapped.filter_map(move |(log, it)| candidate(Some(log), Some(it), it.format));
    plain.into_iter().chain(wrapped)
}

impl<'a> Candidate<'a> {
    /// The log, or the logs, that this was taken from; `streaming` says whether logs may be unpacked for it.
    fn source(&self, logs: &[Candidate<'a>], streaming: bool) -> Option<From> {
        let may_be_of =
            |log: &&Candidate<'_>| self.may_be_of(log) && (streaming || log.lookup().is_seekable());
        let mut beside: Vec<&Candidate<'_>> = logs.iter().filter(may_be_of).collect();
        if beside.is_empty() {
            return None;
        }
        let records = self.records();
        let count = records.len();
        let some = |at: usize| count <= WANTED_MAX || is_picked(at, count);
        let picked = records.iter().enumerate().filter(|(at, _)| some(*at));
        let wanted: Vec<&Wanted> = picked.map(|(_, it)| it).collect();
        // The nearest folder first, and in it what a server wrote.
        beside.sort_by_key(|log| (self.distance(log), log.kind != Kind::Log, log.role, log.at));
        beside.truncate(LOGS_MAX);
        let all_or_none = self.kind == Kind::Named;
        let mut found: Vec<Hits<'_, '_>> = Vec::new();
        for log in beside {
            let hits = log.lookup().holds(&wanted, all_or_none);
            let hits = hits.unwrap_or_default();
            if hits.is_empty() {
                continue;
            }
            let has_all = hits.len() == wanted.len();
            match found.iter_mut().find(|it| it.is_of(log)) {
                Some(of) => of.add(log, hits),
                None => found.push(Hits::new(log, hits)),
            }
            if has_all {
                break;
            }
        }
        let together: BTreeSet<usize> = found.iter().flat_map(|it| &it.all).copied().collect();
        // A file that is called like a log has to be of one altogether.
        let is_whole = together.len() == wanted.len();
        // Logs of two nodes may share a line or two.
        if !self.is_told() && together.len() * 2 < wanted.len() {
            return None;
        }
        if let Some(one) = found.iter().find(|it| it.all == together) {
            let is_of = self.kind == Kind::Excerpt || is_whole;
            return is_of
                .then_some(From::One(one.best.at))
                .filter(|_| !wanted.is_empty());
        }
        if all_or_none || found.is_empty() {
            return None;
        }
        if is_whole && self.is_alone() && Self::is_in(&records, &found) {
            let at = found.iter().map(|it| it.best.at.0).collect();
            return Some(From::Several(found[0].best.at, at));
        }
        // The server's and the keeper's of one node.
        let folder = found[0].best.folder;
        let is_one =
            |it: &Hits<'_, '_>| it.best.folder == folder && Place::is_usual_name(it.best.stem);
        let most = found.iter().rev().max_by_key(|it| it.all.len())?;
        if found.iter().all(is_one) {
            return Some(From::One(most.best.at));
        }
        Some(From::Nobody)
    }

    /// Whether its name, or what stands before its lines, tells that it is an excerpt.
    fn is_told(&self) -> bool {
        Place::is_excerpt_name(self.stem) || self.wrapped.is_some_and(|log| log.is_excerpt)
    }

    /// Whether all of it is looked at, and nothing else is in its file.
    fn is_alone(&self) -> bool {
        let is_only = self.wrapped.is_none() || self.is_only;
        is_only && self.encoding == Encoding::Plain && self.artifact.bytes <= HELD_BYTES
    }

    /// Whether logs have all of so many records.
    fn is_in(records: &[Wanted], found: &[Hits<'_, 'a>]) -> bool {
        if records.len() > RECORDS_MAX {
            return false;
        }
        let mut left: Vec<&Wanted> = records.iter().collect();
        for log in found.iter().flat_map(|it| &it.logs) {
            let hits = log.lookup().holds(&left, false).unwrap_or_default();
            let missing = left.iter().enumerate().filter(|(at, _)| !hits.contains(at));
            left = missing.map(|(_, it)| *it).collect();
        }
        left.is_empty()
    }

    fn lookup(&self) -> Lookup<'a> {
        Lookup {
            artifact: self.artifact,
            wrapped: self.wrapped,
            format: self.format,
            encoding: self.encoding,
        }
    }

    /// Whether a log may be the one that this was taken from, as far as both can be told without reading.
    fn may_be_of(&self, log: &Candidate<'_>) -> bool {
        let is_other = log.at.0 != self.at.0 && log.format == self.format;
        let bytes = (log.artifact.bytes, self.artifact.bytes);
        let is_larger = match (self.kind, log.kind) {
            (Kind::Excerpt, Kind::Excerpt) => (bytes.0, log.at) > (bytes.1, self.at),
            (Kind::Excerpt, _) => true,
            (_, Kind::Excerpt) => false,
            _ => bytes.0 > bytes.1,
        };
        let is_whole = log.wrapped.is_none_or(|it| !it.is_excerpt);
        is_other && is_larger && is_whole && (self.is_near(log) || self.names(log))
    }

    /// Whether one of the folders is the other or lies below it.
    fn is_near(&self, log: &Candidate<'_>) -> bool {
        is_within(self.folder, log.folder) || is_within(log.folder, self.folder)
    }

    /// Whether its lines name a file that is called like the log's.
    fn names(&self, log: &Candidate<'_>) -> bool {
        let file = |path: &'a str| path.rsplit('/').next().unwrap_or_default();
        let named = self.wrapped.and_then(|it| it.path.as_deref());
        let of_log = log.artifact.whole.rsplit('/').next();
        named.map(file).is_some_and(|named| Some(named) == of_log)
    }

    /// How many folders lie between both.
    fn distance(&self, log: &Candidate<'_>) -> usize {
        let depth = |folder: &str| {
            memchr::memchr_iter(b'/', folder.as_bytes()).count() + usize::from(!folder.is_empty())
        };
        let (own, other) = (depth(self.folder), depth(log.folder));
        if self.is_near(log) {
            own.abs_diff(other)
        } else {
            own + other + 1
        }
    }

    /// Its records, in a large file those of its beginning. A file that is called like a log may end within one.
    fn records(&self) -> Vec<Wanted> {
        let mut text = Vec::new();
        let Ok((reader, _)) = self.artifact.open() else {
            return Vec::new();
        };
        // What was read before a fault is there.
        drop(reader.take(HELD_BYTES).read_to_end(&mut text));
        if self.kind == Kind::Named {
            text.truncate(memchr::memrchr(b'\n', &text).unwrap_or(text.len()));
        }
        if let Some(log) = self.wrapped {
            let heads = log.heads(text).into_iter();
            let wanted = |(time, line): (_, Vec<u8>)| Wanted {
                time,
                line: uncut(&line).to_vec(),
            };
            return heads.map(wanted).collect();
        }
        let heads = split_lines(&text).filter(|line| self.format.is_head(line));
        let wanted = |line: &[u8]| {
            Some(Wanted {
                time: self.format.stamp(line)?,
                line: uncut(line).to_vec(),
            })
        };
        heads.filter_map(wanted).collect()
    }
}

/// Whether a file is called as nodes are, `n1` or `zk-3`: by a word and a number.
fn names_a_node(stem: &str) -> bool {
    let word = stem.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = stem.len() - word.len();
    let word = word.trim_end_matches(['-', '_', '.']);
    let is_word = !word.is_empty() && word.chars().all(char::is_alphabetic);
    (1..=3).contains(&number) && is_word && !Place::is_excerpt_name(stem)
}

/// Whether a folder is another one or lies in it.
fn is_within(folder: &str, above: &str) -> bool {
    let rest = folder.strip_prefix(above);
    above.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether one of so many records is among those that are looked for: they are spread over all of them.
fn is_picked(at: usize, count: usize) -> bool {
    let step = |number: usize| number * (count - 1) / (WANTED_MAX - 1);
    let near = at * (WANTED_MAX - 1) / (count - 1);
    step(near) == at || step(near + 1) == at
}
