//! Which folders under the given paths hold a WAL, of which layout, on which node.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::path::{Component, Path, PathBuf};

use walkdir::WalkDir;

use crate::parsers::wal::{Format, LAYOUTS, Layout, SegmentName};
use crate::vocab::{Lsn, LsnNotation};

use super::declared::Declared;
use super::model::Unread;
use super::rules::Rules;
use super::source::Source;

/// Which layout to read with.
#[derive(Clone)]
pub enum Choice {
    /// The one that names and content show.
    Detect,
    /// This one, whatever the content looks like.
    Known(&'static Layout),
    /// The one that the user described.
    Declared(Box<Declared>),
}

impl fmt::Debug for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Detect => "Detect",
            Self::Known(layout) => layout.id,
            Self::Declared(_) => "Declared",
        })
    }
}

impl Choice {
    /// Whether a file may be a segment: it is called as one, and the name says enough or the content begins as one. A file
    /// that `source` opens is looked into only where its name is any program's.
    pub fn may_be_segment(&self, file: &str, source: &Source) -> bool {
        candidates(self).iter().any(|format| {
            let is_named = format.name(file).is_some() && !is_ignored(self, file);
            is_named
                && match format {
                    Format::Known(layout) if !layout.is_name_enough => {
                        source.head().is_ok_and(|head| (layout.sniff)(&head))
                    }
                    Format::Known(_) | Format::Declared(_) => true,
                }
        })
    }

    /// Whether a file is called as a segment is, or as the file that says which of their records count.
    pub fn names_segment(&self, file: &str) -> bool {
        let is_ledger = |format: &Format| match format {
            Format::Known(layout) => layout.ledger.is_some_and(|(ledger, _)| ledger == file),
            Format::Declared(_) => false,
        };
        let mut candidates = candidates(self).into_iter();
        candidates.any(|format| format.name(file).is_some() || is_ledger(&format))
    }
}

/// A file that may be a segment.
pub struct Listed {
    /// The folder that holds it.
    pub folder: PathBuf,
    /// Its name.
    pub file: String,
    /// Its bytes.
    pub source: Source,
}

/// The segments of one layout in one folder.
pub struct Folder {
    /// Where.
    pub path: PathBuf,
    /// The server it belongs to, as far as the path tells.
    pub node: String,
    /// The folder that holds that server and those it was found with.
    pub run: String,
    /// How to read the segments.
    pub format: Format,
    /// What has to hold for them.
    pub rules: Rules,
    /// The segments, in the order in which the system reads them.
    pub segments: Vec<SegmentFile>,
    /// Other files beside them.
    pub others: Vec<String>,
    /// Snapshot files that belong to them, here or in a folder beside this one.
    pub snapshots: Vec<(Lsn, String)>,
    /// What the path calls the log, where it tells.
    pub log: Option<String>,
    /// The file that says which records count.
    pub ledger: Option<Source>,
}

/// A segment that was not opened yet.
pub struct SegmentFile {
    /// File name.
    pub file: String,
    /// What the name says.
    pub name: SegmentName,
    /// Its bytes.
    pub source: Source,
}

/// A folder without a WAL of a known layout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    /// Where.
    pub path: String,
    /// How many files are in it.
    pub files: u64,
    /// One of them.
    pub example: String,
    /// What its names look like, if they look like a WAL.
    pub resembles: Option<&'static str>,
}

/// What stands under the given paths.
#[derive(Default)]
pub struct Found {
    /// The WALs, in the order of their paths.
    pub folders: Vec<Folder>,
    /// The folders without one.
    pub unknown: Vec<Unknown>,
    /// What could not be listed.
    pub unread: Vec<Unread>,
}

/// Looks through the paths, folders with everything below them.
pub fn find(paths: &[PathBuf], choice: &Choice) -> Found {
    let mut found = Found::default();
    let mut listing: BTreeMap<PathBuf, Files> = BTreeMap::new();
    for path in paths {
        list(path, &mut listing, &mut found.unread);
    }
    assign(&listing, choice, &mut found);
    // The order in which a folder lists its files is nobody's.
    found.unread.sort();
    name_nodes(&mut found.folders, paths);
    found
}

/// The layout whose segments a file is among, by what stands beside it, and what its name says there.
pub(super) fn beside(path: &Path) -> Option<(Format, SegmentName)> {
    let file = path.file_name()?.to_string_lossy();
    let folder_path = path.parent()?;
    let mut files = Files::new();
    for entry in WalkDir::new(folder_path).min_depth(1).max_depth(1) {
        let entry = entry.ok()?;
        if fs::metadata(entry.path()).is_ok_and(|it| it.is_file()) {
            let source = Source::File(entry.path().to_path_buf());
            files.insert(entry.file_name().to_string_lossy().into_owned(), source);
        }
    }
    candidates(&Choice::Detect).into_iter().find_map(|format| {
        let folder = folder(folder_path, &files, &format, &Choice::Detect)?;
        let segment = folder.segments.iter().find(|it| it.file == file)?;
        Some((format, segment.name))
    })
}

/// The WALs among given files. Nodes and runs are left to the caller, who knows what the paths mean.
pub fn among(files: impl Iterator<Item = Listed>, choice: &Choice) -> Found {
    let mut listing: BTreeMap<PathBuf, Files> = BTreeMap::new();
    for listed in files {
        let files = listing.entry(listed.folder).or_default();
        files.insert(listed.file, listed.source);
    }
    let mut found = Found::default();
    assign(&listing, choice, &mut found);
    found
}

/// Finds the WALs in folders whose files are known.
fn assign(listing: &BTreeMap<PathBuf, Files>, choice: &Choice, found: &mut Found) {
    let mut snapshots = Vec::new();
    for (path, files) in listing {
        let mut claimed: BTreeSet<String> = BTreeSet::new();
        for format in candidates(choice) {
            let layout = format.id();
            snapshots.extend(files.keys().filter_map(|file| {
                let lsn = format.snapshot(file)?;
                Some((layout.to_owned(), path.clone(), lsn, file.clone()))
            }));
            // Two layouts can share their names; the first one that the content is for has them.
            if let Some(folder) = folder(path, files, &format, choice)
                && folder.segments.iter().all(|it| !claimed.contains(&it.file))
            {
                claimed.extend(folder.segments.iter().map(|it| it.file.clone()));
                found.folders.push(folder);
            }
        }
        if claimed.is_empty()
            && let Some((example, _)) = files.first_key_value()
        {
            found.unknown.push(Unknown {
                path: path.display().to_string(),
                files: files.len() as u64,
                example: example.clone(),
                resembles: files.keys().find_map(|file| resembles(file)),
            });
        }
    }
    attribute(&mut found.folders, snapshots);
}

type Files = BTreeMap<String, Source>;

fn list(root: &Path, listing: &mut BTreeMap<PathBuf, Files>, unread: &mut Vec<Unread>) {
    for entry in WalkDir::new(root) {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                let path = error.path().unwrap_or(root).display().to_string();
                unread.push(Unread {
                    path,
                    detail: error.to_string(),
                });
                continue;
            }
        };
        let path = entry.path();
        // A link is followed to a file, never to a folder: that could lead back here.
        let is_folder = if entry.path_is_symlink() {
            fs::metadata(path).is_ok_and(|it| it.is_dir())
        } else {
            entry.file_type().is_dir()
        };
        if is_folder {
            continue;
        }
        let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        let file = entry.file_name().to_string_lossy().into_owned();
        let source = Source::File(path.to_path_buf());
        listing.entry(folder).or_default().insert(file, source);
    }
}

fn candidates(choice: &Choice) -> Vec<Format> {
    match choice {
        Choice::Detect => LAYOUTS.iter().map(Format::Known).collect(),
        Choice::Known(layout) => vec![Format::Known(layout)],
        Choice::Declared(declared) => {
            vec![Format::Declared(Box::new(declared.declaration.clone()))]
        }
    }
}

fn folder(path: &Path, files: &Files, format: &Format, choice: &Choice) -> Option<Folder> {
    let mut segments = Vec::new();
    let mut others = Vec::new();
    for (file, source) in files {
        match format.name(file).filter(|_| !is_ignored(choice, file)) {
            Some(name) => segments.push(SegmentFile {
                file: file.clone(),
                name,
                source: source.clone(),
            }),
            None => others.push(file.clone()),
        }
    }
    if segments.is_empty()
        || !is_claimed(path, &segments, &others, format, choice)
        || is_detached(path, format)
    {
        return None;
    }
    let (log, ledger) = match format {
        Format::Known(layout) => (
            (layout.log)(path).map(|(_, log)| log),
            layout.ledger.and_then(|(file, _)| files.get(file)),
        ),
        Format::Declared(_) => (None, None),
    };
    let rules = match choice {
        Choice::Declared(declared) => declared.rules.clone(),
        Choice::Detect | Choice::Known(_) => Rules::of_log(format, log.as_deref()),
    };
    space(&mut segments, format);
    segments.sort_by_key(|segment| {
        let name = &segment.name;
        let reign = name.term.filter(|_| rules.is_by_term);
        (reign, name.seq, name.lsn, name.last, name.term)
    });
    Some(Folder {
        path: path.to_path_buf(),
        node: String::new(),
        run: String::new(),
        format: format.clone(),
        rules,
        segments,
        others,
        snapshots: Vec::new(),
        log,
        ledger: ledger.cloned(),
    })
}

/// Names that count bytes of segments mean something once one segment has said how many bytes they have.
fn space(segments: &mut [SegmentFile], format: &Format) {
    let Format::Known(layout) = format else {
        return;
    };
    let spacing = segments
        .iter()
        .filter(|_| layout.notation == LsnNotation::Halves)
        .find_map(|segment| (layout.spacing)(&segment.source.head().ok()?));
    if let Some(spacing) = spacing {
        for segment in segments {
            segment.name = (layout.spaced)(segment.name, spacing);
        }
    }
}

fn is_ignored(choice: &Choice, file: &str) -> bool {
    match choice {
        Choice::Declared(declared) => declared.ignore.is_match(file),
        Choice::Detect | Choice::Known(_) => false,
    }
}

/// Whether the files are this layout's: by what the user said, by names that nobody else uses, by where they are, or by the content of
/// any of them.
fn is_claimed(
    path: &Path,
    segments: &[SegmentFile],
    others: &[String],
    format: &Format,
    choice: &Choice,
) -> bool {
    let Format::Known(layout) = format else {
        return true;
    };
    if matches!(choice, Choice::Known(_)) || layout.is_name_enough {
        return true;
    }
    if let Some(is_home) = (layout.is_home)(path) {
        return is_home;
    }
    let has_company = others.iter().any(|file| (layout.is_leftover)(file));
    has_company
        || segments.iter().any(|segment| {
            segment
                .source
                .head()
                .is_ok_and(|head| (layout.sniff)(&head))
        })
}

/// Changelogs that the server itself moved out of the way are not a WAL.
pub(super) fn is_detached(path: &Path, format: &Format) -> bool {
    format.id() == "clickhouse-keeper"
        && path
            .components()
            .any(|part| part == Component::Normal("detached".as_ref()))
}

/// What a file name looks like that no reader here is for.
fn resembles(file: &str) -> Option<&'static str> {
    let is_wal = Path::new(file)
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("wal"));
    is_wal.then_some("segments of an unknown layout; describe them in a file for --layout")
}

/// Folder names that say what is in them and not whose it is.
const GENERIC: &[&str] = &[
    "wal",
    "member",
    "txnlog",
    "version-2",
    "log",
    "logs",
    "data",
    "datalog",
    "coordination",
    "detached",
    "pg_wal",
    "pg_xlog",
    "pgdata",
    "archive",
    "raft",
    "db",
    "rocksdb",
    "jetstream",
    ".",
];

/// Names the nodes: by the nearest part of the path that is not a generic name, or by more of the path where two would be the same.
/// Several logs below one such part are of one node.
fn name_nodes(folders: &mut [Folder], roots: &[PathBuf]) {
    let mut servers = Vec::with_capacity(folders.len());
    for folder in folders.iter_mut() {
        let own = folder.format.own_folders(&folder.path);
        let named = folder.path.ancestors().skip(own).find(|path| {
            path.file_name()
                .is_some_and(|name| !GENERIC.contains(&&*name.to_string_lossy()))
        });
        let server = named.unwrap_or(&folder.path).to_path_buf();
        folder.node = match named.and_then(Path::file_name) {
            Some(name) => name.to_string_lossy().into_owned(),
            None => folder.path.display().to_string(),
        };
        let run = named.and_then(Path::parent);
        folder.run = run.map(|run| run.display().to_string()).unwrap_or_default();
        servers.push(server);
    }
    let names: Vec<String> = folders.iter().map(|folder| folder.node.clone()).collect();
    for (n, folder) in folders.iter_mut().enumerate() {
        let mut alike = names.iter().zip(&servers);
        if alike.any(|(name, server)| *name == names[n] && *server != servers[n]) {
            let inner = roots
                .iter()
                .find_map(|root| servers[n].strip_prefix(root).ok())
                .filter(|inner| !inner.as_os_str().is_empty());
            folder.node = inner.unwrap_or(&servers[n]).display().to_string();
        }
    }
}

/// Gives each snapshot file to the WAL that its folder is nearest to, if that is one and not several.
fn attribute(folders: &mut [Folder], snapshots: Vec<(String, PathBuf, Lsn, String)>) {
    for (layout, path, lsn, file) in snapshots {
        let depth = |folder: &Folder| {
            folder
                .path
                .components()
                .zip(path.components())
                .take_while(|(left, right)| left == right)
                .count()
        };
        let candidates = || {
            folders
                .iter()
                .enumerate()
                .filter(|(_, folder)| folder.format.id() == layout)
        };
        let Some(nearest) = candidates().map(|(_, folder)| depth(folder)).max() else {
            continue;
        };
        let mut nearest = candidates()
            .filter(|(_, folder)| depth(folder) == nearest)
            .map(|(n, _)| n);
        if let (Some(n), None) = (nearest.next(), nearest.next()) {
            folders[n].snapshots.push((lsn, file));
        }
    }
    for folder in folders {
        folder.snapshots.sort();
    }
}
