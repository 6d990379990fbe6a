//! From the given paths to a sorted list of regular files.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use walkdir::WalkDir;

use super::{Artifact, Content, Error};

/// What lies below the given paths.
#[derive(Debug, Default)]
pub struct Found {
    /// Regular files, in the order of their relative paths.
    pub artifacts: Vec<Artifact>,
    /// What was seen and is not read.
    pub refused: Vec<Refused>,
}

/// Something that is listed and not read.
#[derive(Debug, PartialEq, Eq)]
pub struct Refused {
    /// Its path.
    pub path: String,
    /// Why, in a few words.
    pub why: String,
}

/// Lists every regular file below `roots`. Links below a root are not followed, and pipes and devices are not opened.
pub fn walk(roots: &[PathBuf]) -> Result<Found, Error> {
    let common = common_folder(roots);
    let mut found = Found::default();
    for root in roots {
        let meta = std::fs::metadata(root).map_err(|source| Error::Root {
            path: root.clone(),
            source,
        })?;
        if meta.is_dir() {
            walk_folder(root, &common, &mut found);
        } else {
            take(root, &meta, &common, &mut found);
        }
    }
    found
        .artifacts
        .sort_by(|a, b| (&a.relative, &a.path).cmp(&(&b.relative, &b.path)));
    found.artifacts.dedup_by(|a, b| a.path == b.path);
    found.refused.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

fn walk_folder(root: &Path, common: &Path, found: &mut Found) {
    for entry in WalkDir::new(root)
        .follow_root_links(true)
        .sort_by_file_name()
    {
        match entry {
            Ok(entry) if entry.file_type().is_dir() => {}
            Ok(entry) if entry.path_is_symlink() => {
                refuse(entry.path(), "a link, not followed", found);
            }
            Ok(entry) => match entry.metadata() {
                Ok(meta) => take(entry.path(), &meta, common, found),
                Err(e) => refuse(entry.path(), &e.to_string(), found),
            },
            Err(e) => {
                let why = e
                    .io_error()
                    .map_or_else(|| e.to_string(), ToString::to_string);
                refuse(e.path().unwrap_or(root), &why, found);
            }
        }
    }
}

fn take(path: &Path, meta: &std::fs::Metadata, common: &Path, found: &mut Found) {
    if !meta.is_file() {
        return refuse(path, "not a regular file", found);
    }
    found.artifacts.push(Artifact {
        path: display(path),
        relative: display(path.strip_prefix(common).unwrap_or(path)),
        content: Content::File(path.to_path_buf()),
        bytes: meta.len(),
    });
}

fn refuse(path: &Path, why: &str, found: &mut Found) {
    found.refused.push(Refused {
        path: display(path),
        why: why.to_owned(),
    });
}

/// The deepest folder that holds all of `roots`: a root that is a folder counts itself, one that is a file its folder.
fn common_folder(roots: &[PathBuf]) -> PathBuf {
    let mut folders = roots.iter().map(|root| {
        if root.is_dir() {
            root.clone()
        } else {
            root.parent().unwrap_or(Path::new("")).to_path_buf()
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

/// A path with `/` between its parts; bytes that are no text are shown replaced.
fn display(path: &Path) -> String {
    let parts: Vec<_> = path
        .components()
        .map(|part| match part {
            Component::RootDir => OsStr::new("").to_string_lossy(),
            Component::Prefix(_)
            | Component::CurDir
            | Component::ParentDir
            | Component::Normal(_) => part.as_os_str().to_string_lossy(),
        })
        .collect();
    parts.join("/")
}
