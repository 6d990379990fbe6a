//! WALs among the inputs: found by names and content, checked, and handed to the rules as problems of their nodes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rayon::ThreadPool;
use rayon::prelude::*;

use super::Progress;
use crate::intake::{Artifact, Content, Names, Place, Role, place_beside};
use crate::layout::{self, Choice, Folder, Listed, ProblemKind, Source, Unknown, Wal};
use crate::record::Locator;
use crate::rules::WalProblem;
use crate::signals::tally::{Around, Evidence};
use crate::vocab::LsnRange;

/// The WALs among artifacts.
#[derive(Default)]
pub(super) struct Wals {
    folders: Vec<Folder>,
    /// Folders without a WAL of a known layout.
    unknown: Vec<Unknown>,
    /// What was looked at, by folder and name.
    artifacts: BTreeMap<PathBuf, BTreeMap<String, usize>>,
}

/// Splits an artifact's path into its folder, `.` at the top, and its name.
fn split(path: &str) -> (PathBuf, &str) {
    match path.rsplit_once('/') {
        Some((folder, file)) => (folder.into(), file),
        None => (".".into(), path),
    }
}

fn source(artifact: &Artifact) -> Source {
    match &artifact.content {
        Content::File(path) => Source::File(path.clone()),
        Content::Memory(_) | Content::Member(_) => {
            let artifact = artifact.clone();
            Source::Opener(Arc::new(move || artifact.open_as_held()))
        }
    }
}

impl Wals {
    /// Finds the WALs. What reads as a log is one, unless name and content are a segment's: records may hold lines of logs.
    pub(super) fn among(
        artifacts: &[Artifact],
        is_log: impl Fn(usize) -> bool,
        choice: &Choice,
    ) -> Self {
        let mut wals = Self::default();
        let mut listed = Vec::new();
        for (at, artifact) in artifacts.iter().enumerate() {
            let (folder, file) = split(&artifact.path);
            let source = source(artifact);
            if is_log(at) && !choice.may_be_segment(file, &source) {
                continue;
            }
            let files = wals.artifacts.entry(folder.clone()).or_default();
            files.insert(file.to_owned(), at);
            listed.push(Listed {
                folder,
                file: file.to_owned(),
                source,
            });
        }
        let found = layout::among(listed.into_iter(), choice);
        wals.folders = found.folders;
        wals.unknown = found.unknown;
        wals
    }

    fn artifact(&self, folder: &Path, file: &str) -> Option<usize> {
        self.artifacts.get(folder)?.get(file).copied()
    }

    /// The artifact at a path that a check names.
    pub(super) fn artifact_at(&self, path: &str) -> Option<usize> {
        let (folder, file) = split(path);
        self.artifact(&folder, file)
    }

    /// The segments of each folder, as artifacts.
    fn segments(&self) -> impl Iterator<Item = (&Folder, Vec<usize>)> {
        self.folders.iter().map(|folder| {
            let segments = folder.segments.iter();
            let of = segments.filter_map(|it| self.artifact(&folder.path, &it.file));
            (folder, of.collect())
        })
    }

    /// Whether each of so many artifacts is a segment.
    pub(super) fn is_segment(&self, count: usize) -> Vec<bool> {
        let mut is_segment = vec![false; count];
        for at in self.segments().flat_map(|(_, segments)| segments) {
            is_segment[at] = true;
        }
        is_segment
    }

    /// Names runs and nodes by the paths and by the logs near them; the place of each segment.
    pub(super) fn place(
        &mut self,
        artifacts: &[Artifact],
        logs: &[(&Artifact, &Place)],
        names: &Names,
    ) -> BTreeMap<usize, Place> {
        let segments: Vec<Vec<usize>> = self.segments().map(|(_, segments)| segments).collect();
        let folders = self.folders.iter().zip(&segments);
        let firsts = folders.filter_map(|(folder, of)| {
            let own = folder.format.own_folders(&folder.path);
            Some((artifacts.get(*of.first()?)?, own))
        });
        let placed = place_beside(&firsts.collect::<Vec<_>>(), logs, names);
        let mut places = BTreeMap::new();
        for ((folder, segments), (run, node)) in self.folders.iter_mut().zip(segments).zip(placed) {
            (folder.run, folder.node) = (run, node);
            let place = Place {
                run: folder.run.clone(),
                node: folder.node.clone(),
                log: folder.format.id().to_owned(),
                role: Role::Main,
                piece: None,
            };
            places.extend(segments.into_iter().map(|at| (at, place.clone())));
        }
        places
    }

    /// Files that look like a WAL that no reader here is for: one of each folder, and why it is not checked.
    pub(super) fn unchecked(&self) -> impl Iterator<Item = (usize, String)> {
        self.unknown.iter().filter_map(|unknown| {
            let at = self.artifact(Path::new(&unknown.path), &unknown.example)?;
            let files = match unknown.files {
                1 => "not checked".to_owned(),
                count => format!("not checked, like the {count} files of its folder"),
            };
            Some((at, format!("{files}: {}", unknown.resembles?)))
        })
    }

    /// Checks every WAL, several at once.
    pub(super) fn check(&self, pool: &ThreadPool, progress: &Progress) -> Vec<Wal> {
        let check = |folder: &Folder| {
            let wal = layout::check(folder);
            let bytes = wal.segments.iter().map(|segment| segment.size).sum();
            progress.done.fetch_add(bytes, Ordering::Relaxed);
            wal
        };
        pool.install(|| self.folders.par_iter().map(check).collect())
    }

    /// What is wrong with a WAL, as rules count it.
    pub(super) fn problems(&self, wal: &Wal) -> Vec<WalProblem> {
        let problems = wal.problems.iter();
        problems.map(|problem| self.problem(wal, problem)).collect()
    }

    fn problem(&self, wal: &Wal, problem: &layout::Problem) -> WalProblem {
        let segment = wal.segments.get(problem.segment);
        let segment = segment.map_or("", |segment| segment.file.as_str());
        let artifact = self.artifact(Path::new(&wal.path), segment);
        let range = range(problem);
        let kind = problem.kind;
        let place = range.map_or_else(String::new, |range| {
            format!(" LSN {}", wal.notation.show_range(range))
        });
        WalProblem {
            layout: wal.layout.clone(),
            notation: wal.notation,
            kind,
            severity: problem.severity,
            segment: segment.to_owned(),
            range,
            withheld: range.and_then(|range| withheld(kind, range, wal)),
            belongs_in: problem.belongs_in.clone(),
            listed: false,
            more: 0,
            evidence: evidence_of(
                place_in(artifact, problem.offset.unwrap_or(0)),
                format!("{}{place}: {}", kind.word(), problem.detail),
            ),
        }
    }
}

/// A byte of an artifact.
pub(super) fn place_in(artifact: Option<usize>, offset: u64) -> Locator {
    let artifact = artifact.and_then(|at| u32::try_from(at).ok());
    Locator {
        artifact: artifact.unwrap_or(u32::MAX),
        line: 0,
        offset,
    }
}

/// What is cited of a problem: a sentence on it, at its place.
pub(super) fn evidence_of(at: Locator, text: String) -> Evidence {
    Evidence {
        at,
        time: None,
        text,
        around: Around::default(),
    }
}

/// The positions that a problem is about: where some are left out, those.
fn range(problem: &layout::Problem) -> Option<LsnRange> {
    let first = problem.lsn?;
    match (problem.kind, problem.expected) {
        (ProblemKind::Gap | ProblemKind::Jump, Some(expected)) => {
            LsnRange::new(expected, first.before())
        }
        _ => LsnRange::new(first, problem.lsn_to.unwrap_or(first).max(first)),
    }
}

/// From the first to the last position of a range that a reader does not get: of misfiled ones those that stand nowhere else.
fn withheld(kind: ProblemKind, range: LsnRange, wal: &Wal) -> Option<LsnRange> {
    if kind == ProblemKind::MissingSegment {
        return None;
    }
    if kind != ProblemKind::Misfiled {
        return Some(range);
    }
    let hidden = range.without(&wal.found);
    LsnRange::new(hidden.first()?.first, hidden.last()?.last)
}
