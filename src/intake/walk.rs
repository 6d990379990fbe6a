//! From the given paths to a sorted list of regular files.

use std::collections::BTreeSet;
use std::fs::{Metadata, canonicalize};
use std::io;
use std::path::{Component, Path, PathBuf};

use walkdir::WalkDir;

use super::archives::{Useful, expand};
use super::given::folder_name;
use super::{Artifact, Bounds, Content, Error, stdin};

/// What lies below the given paths.
#[derive(Debug, Default)]
pub struct Found {
    /// Regular files, in the order of their relative paths.
    pub artifacts: Vec<Artifact>,
    /// What was seen and is not read.
    pub refused: Vec<Refused>,
    /// The name of the one folder that was given, or in which the given files lie, where that may be called after a node.
    pub folder: Option<String>,
}

/// The files that a walk has met, without the links and detours by which their paths led there.
type Met = BTreeSet<PathBuf>;

/// Something that is listed and not read.
#[derive(Debug, PartialEq, Eq)]
pub struct Refused {
    /// Its path.
    pub path: String,
    /// Why, in a few words.
    pub why: String,
    /// Whether something is not read that could be a log.
    pub partial: bool,
}

/// What stands between an archive's path and that of a member.
const BELOW: &str = "!/";

/// Whether a path given on the command line means the standard input.
pub fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// A path given on the command line.
struct Root {
    /// A file or a folder.
    path: PathBuf,
    meta: Option<Metadata>,
    /// The part of it that is wanted, where that lies in an archive.
    member: Option<String>,
}

/// Lists every regular file below `roots`, and the members of archives as if these were folders.
///
/// Links below a root are not followed, and pipes and devices are not opened. A path may lead into an archive, as
/// `a.zip!/ch1/x.log` does; `-` is the standard input. `useful` says how much of unpacked bytes is worth keeping.
pub fn walk(roots: &[PathBuf], bounds: Bounds, useful: Useful<'_>) -> Result<Found, Error> {
    let folder = folder_name(roots);
    let roots: Vec<Root> = roots
        .iter()
        .map(|path| root(path))
        .collect::<Result<_, _>>()?;
    let common = common_folder(&roots);
    let mut found = Found::default();
    let mut met = Met::new();
    for root in &roots {
        match &root.meta {
            None => stdin::take(bounds, &mut found),
            Some(meta) if meta.is_dir() => {
                walk_folder(&root.path, &common, bounds, &mut met, &mut found);
            }
            Some(meta) => take(&root.path, meta, &common, bounds, &mut met, &mut found),
        }
    }
    found
        .artifacts
        .sort_by(|a, b| (&a.relative, &a.path).cmp(&(&b.relative, &b.path)));
    let several = roots.len() > 1;
    let mut found = expand(found.artifacts, found.refused, bounds, useful, several);
    for root in &roots {
        select(root, &mut found)?;
    }
    found
        .artifacts
        .sort_by(|a, b| (&a.relative, &a.path).cmp(&(&b.relative, &b.path)));
    found
        .refused
        .sort_by(|a, b| (&a.path, &a.why).cmp(&(&b.path, &b.why)));
    found.refused.dedup();
    found.folder = folder;
    Ok(found)
}

/// Looks at a given path. One that does not exist may lead into an archive that does.
fn root(path: &Path) -> Result<Root, Error> {
    if is_stdin(path) {
        return Ok(Root {
            path: path.to_path_buf(),
            meta: None,
            member: None,
        });
    }
    let source = match std::fs::metadata(path) {
        Ok(meta) => {
            return Ok(Root {
                path: path.to_path_buf(),
                meta: Some(meta),
                member: None,
            });
        }
        Err(source) => source,
    };
    let archive = path.to_str().and_then(|text| text.split_once(BELOW));
    if let Some((archive, _)) = archive
        && let Ok(meta) = std::fs::metadata(archive)
        && meta.is_file()
    {
        return Ok(Root {
            path: archive.into(),
            meta: Some(meta),
            member: Some(display(path)),
        });
    }
    Err(Error::Root {
        path: path.to_path_buf(),
        source,
    })
}

/// Leaves of an archive what was asked for.
fn select(root: &Root, found: &mut Found) -> Result<(), Error> {
    let Some(wanted) = &root.member else {
        return Ok(());
    };
    let archive = format!("{}{BELOW}", display(&root.path));
    let is_wanted = |path: &str| {
        let below = path.strip_prefix(wanted.as_str());
        !path.starts_with(&archive)
            || below.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '!']))
    };
    found.artifacts.retain(|artifact| is_wanted(&artifact.path));
    found.refused.retain(|refused| is_wanted(&refused.path));
    let there = |path: &String| path.starts_with(wanted.as_str());
    if found.artifacts.iter().any(|it| there(&it.path))
        || found.refused.iter().any(|it| there(&it.path))
    {
        return Ok(());
    }
    Err(Error::Root {
        path: wanted.into(),
        source: io::Error::new(io::ErrorKind::NotFound, "the archive has no such member"),
    })
}

fn walk_folder(root: &Path, common: &Path, bounds: Bounds, met: &mut Met, found: &mut Found) {
    for entry in WalkDir::new(root)
        .follow_root_links(true)
        .sort_by_file_name()
    {
        match entry {
            Ok(entry) if entry.file_type().is_dir() => {}
            Ok(entry) if entry.path_is_symlink() => {
                refuse(entry.path(), "a link, not followed", false, found);
            }
            Ok(entry) => match entry.metadata() {
                Ok(meta) => take(entry.path(), &meta, common, bounds, met, found),
                Err(e) => refuse(entry.path(), &e.to_string(), true, found),
            },
            Err(e) => {
                let why = e
                    .io_error()
                    .map_or_else(|| e.to_string(), ToString::to_string);
                refuse(e.path().unwrap_or(root), &why, true, found);
            }
        }
    }
}

fn take(
    path: &Path,
    meta: &Metadata,
    common: &Path,
    bounds: Bounds,
    met: &mut Met,
    found: &mut Found,
) {
    if !meta.is_file() {
        return refuse(path, "not a regular file", false, found);
    }
    // Given twice, or by a link and by itself; what cannot be resolved is told by its path.
    if !met.insert(canonicalize(path).unwrap_or_else(|_| path.to_path_buf())) {
        return;
    }
    let relative = display(path.strip_prefix(common).unwrap_or(path));
    found.artifacts.push(Artifact {
        path: display(path),
        whole: relative.clone(),
        relative,
        content: Content::File(path.to_path_buf()),
        bytes: meta.len(),
        bounds,
    });
}

/// `partial`: whether it may hold what should have been read.
fn refuse(path: &Path, why: &str, partial: bool, found: &mut Found) {
    found.refused.push(Refused {
        path: display(path),
        why: why.to_owned(),
        partial,
    });
}

/// The deepest folder that holds all of `roots`: a root that is a folder counts itself, one that is a file its folder.
fn common_folder(roots: &[Root]) -> PathBuf {
    let files = roots
        .iter()
        .filter_map(|root| Some((&root.path, root.meta.as_ref()?)));
    let mut folders = files.map(|(path, meta)| {
        if meta.is_dir() {
            path.clone()
        } else {
            path.parent().unwrap_or(Path::new("")).to_path_buf()
        }
    });
    let first = folders.next().unwrap_or_default();
    folders.fold(first, |common, folder| {
        let shared = common
            .components()
            .zip(folder.components())
            .take_while(|(a, b)| a == b);
        shared.map(|(a, _)| a.as_os_str()).collect()
    })
}

/// A path with `/` between its parts; bytes that are no text are written out, so that different paths stay different.
fn display(path: &Path) -> String {
    let parts: Vec<String> = path.components().map(part).collect();
    parts.join("/")
}

fn part(component: Component<'_>) -> String {
    if component == Component::RootDir {
        return String::new();
    }
    let mut text = String::new();
    for chunk in component.as_os_str().as_encoded_bytes().utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
    }
    text
}
