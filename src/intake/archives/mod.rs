//! Archives taken apart: what lies in them becomes artifacts, what must not be read is refused.
//!
//! A member is a stretch of a file. In an archive that is stored as it is, the stretch lies in the archive's own file. An
//! archive that is itself packed is unpacked once, from its beginning to its end, and what is of use of its members goes
//! into one temporary file. No name that an archive states is ever a name on a disk.

mod salvage;
mod spool;
mod tar;
mod zip;

pub use spool::Useful;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read};
use std::sync::Arc;

use super::artifact::Artifact;
use super::bounds::{Bounds, is_exceeded};
use super::content::{Content, Member, Range};
use super::packing::Encoding;
use super::walk::{Found, Refused};
use spool::Spool;

/// What holds other files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Tar,
    Zip,
}

impl Kind {
    fn of(start: &[u8]) -> Option<Self> {
        if zip::is_zip(start) {
            Some(Self::Zip)
        } else if tar::is_tar(start) {
            Some(Self::Tar)
        } else {
            None
        }
    }
}

/// Whether bytes begin something that must be kept whole to be read.
fn is_packed(start: &[u8]) -> bool {
    Encoding::of(start) != Encoding::Plain || Kind::of(start).is_some()
}

/// Where a member's bytes are.
struct Stored {
    range: Range,
    bytes: u64,
    method: Option<Encoding>,
    check: Option<(u32, u64)>,
    fault: Option<String>,
    is_beginning: bool,
}

impl Stored {
    fn as_is(range: Range, bytes: u64) -> Self {
        Self {
            range,
            bytes,
            method: None,
            check: None,
            fault: None,
            is_beginning: false,
        }
    }
}

/// A member that may be read.
struct Entry {
    name: String,
    stored: Stored,
}

/// What an archive holds.
struct Listed {
    path: String,
    entries: Vec<Entry>,
    refused: Vec<Refused>,
    /// How many members there may still be.
    room: usize,
    full: bool,
    bounds: Bounds,
}

impl Listed {
    /// Counts a member; whether it may be one more.
    fn count(&mut self) -> bool {
        if self.room == 0 {
            if !self.full {
                let most = self.bounds.members;
                self.refuse_all(&format!(
                    "archives with more than {most} members, the rest is not read; --max-members sets the bound"
                ));
            }
            self.full = true;
            return false;
        }
        self.room -= 1;
        true
    }

    /// The name of a member that may be read; what it is refused for is noted.
    fn admit(&mut self, name: &[u8]) -> Option<String> {
        if !self.count() {
            return None;
        }
        match inner_name(name) {
            Ok(clean) => Some(clean),
            Err(why) => {
                self.note(name, why, true);
                None
            }
        }
    }

    /// Refuses a member; whether there may be more.
    fn refuse(&mut self, name: &[u8], why: &str, partial: bool) -> bool {
        if self.count() {
            self.note(name, why, partial);
        }
        !self.full
    }

    fn note(&mut self, name: &[u8], why: &str, partial: bool) {
        self.refused.push(Refused {
            path: format!("{}!/{}", self.path, String::from_utf8_lossy(name)),
            why: why.to_owned(),
            partial,
        });
    }

    /// Says that not all of the archive can be read.
    fn damaged(&mut self, why: &str) {
        let count = self.entries.len();
        self.refuse_all(&format!("not read whole (files read: {count}): {why}"));
    }

    /// Of members with one name the last counts: unpacked, it would lie in the place of the others.
    fn drop_older(&mut self) {
        let mut names = BTreeSet::new();
        let mut older = Vec::new();
        let entries = std::mem::take(&mut self.entries);
        for entry in entries.into_iter().rev() {
            if names.insert(entry.name.clone()) {
                self.entries.push(entry);
            } else {
                older.push(entry.name);
            }
        }
        self.entries.reverse();
        for name in older {
            self.note(
                name.as_bytes(),
                "a later member has the same name, not read",
                false,
            );
        }
    }

    fn refuse_all(&mut self, why: &str) {
        self.refused.push(Refused {
            path: self.path.clone(),
            why: why.to_owned(),
            partial: true,
        });
    }
}

/// A member's name below its archive, or why there is none.
fn inner_name(name: &[u8]) -> Result<String, &'static str> {
    let text = String::from_utf8_lossy(name);
    let drive = name.get(1) == Some(&b':') && name[0].is_ascii_alphabetic();
    if text.starts_with(['/', '\\']) || drive {
        return Err("its name is absolute, not read");
    }
    if text.split(['/', '\\']).any(|part| part == "..") {
        return Err("its name leads out of the archive, not read");
    }
    let parts: Vec<&str> = text
        .split('/')
        .filter(|part| !part.is_empty() && *part != ".")
        .collect();
    if parts.is_empty() {
        return Err("it has no name, not read");
    }
    Ok(parts.join("/"))
}

/// Takes the archives among `artifacts` apart, and those in them. `named`: every archive among them names its members.
pub(super) fn expand(
    artifacts: Vec<Artifact>,
    refused: Vec<Refused>,
    bounds: Bounds,
    useful: Useful<'_>,
    named: bool,
) -> Found {
    let mut expansion = Expansion::new(bounds, useful);
    expansion.found.refused = refused;
    expansion.folder(artifacts, 0, named);
    expansion.found
}

/// Keeps all that a reader has, and says why that is not all there was.
pub(super) fn keep(reader: &mut dyn Read, bounds: Bounds) -> io::Result<(Range, Option<String>)> {
    let kept = Spool::new(bounds.unpacked, &|_, _| u64::MAX).take("", reader, u64::MAX)?;
    Ok((kept.range, kept.error.map(|error| error.to_string())))
}

/// Archives being taken apart.
struct Expansion<'u> {
    bounds: Bounds,
    spool: Spool<'u>,
    members: usize,
    found: Found,
}

impl<'u> Expansion<'u> {
    fn new(bounds: Bounds, useful: Useful<'u>) -> Self {
        Self {
            bounds,
            spool: Spool::new(bounds.unpacked, useful),
            members: 0,
            found: Found::default(),
        }
    }

    /// Takes apart the archives of a folder or an archive.
    fn folder(&mut self, artifacts: Vec<Artifact>, depth: usize, named: bool) {
        let kinds: Vec<io::Result<(Option<Kind>, bool)>> = artifacts.iter().map(kind).collect();
        let mut archives: BTreeMap<String, usize> = BTreeMap::new();
        for (artifact, kind) in artifacts.iter().zip(&kinds) {
            if matches!(kind, Ok((Some(_), _))) {
                *archives
                    .entry(parent(&artifact.whole).to_owned())
                    .or_default() += 1;
            }
        }
        for (artifact, kind) in artifacts.into_iter().zip(kinds) {
            match kind {
                Ok((Some(kind), as_stored)) => {
                    let beside = archives.get(parent(&artifact.whole)).copied();
                    let names = named || beside.unwrap_or(0) > 1;
                    self.archive(&artifact, kind, as_stored, depth, names);
                }
                Err(error) if is_exceeded(&error) => {
                    self.refuse(&artifact, &format!("not read, {error}"));
                }
                // What cannot be opened is said when it is read.
                Ok((None, _)) | Err(_) => self.found.artifacts.push(artifact),
            }
        }
    }

    fn refuse(&mut self, artifact: &Artifact, why: &str) {
        self.found.refused.push(Refused {
            path: artifact.path.clone(),
            why: why.to_owned(),
            partial: true,
        });
    }

    /// Takes one archive apart.
    fn archive(
        &mut self,
        archive: &Artifact,
        kind: Kind,
        as_stored: bool,
        depth: usize,
        names: bool,
    ) {
        if depth == self.bounds.nesting {
            let why = format!(
                "not read, more than {depth} archives inside each other; --max-nesting sets the bound"
            );
            return self.refuse(archive, &why);
        }
        let mut listed = Listed {
            path: archive.path.clone(),
            entries: Vec::new(),
            refused: Vec::new(),
            room: self.bounds.members.saturating_sub(self.members),
            full: false,
            bounds: self.bounds,
        };
        if let Err(error) = self.list(archive, kind, as_stored, &mut listed) {
            listed.damaged(&error.to_string());
        }
        listed.drop_older();
        self.members += listed.entries.len() + listed.refused.len();
        self.found.refused.append(&mut listed.refused);
        let below = Below::new(archive, names);
        let members = listed.entries.into_iter();
        let members = members
            .map(|entry| below.artifact(entry, self.bounds))
            .collect();
        self.folder(members, depth + 1, false);
    }

    fn list(
        &mut self,
        archive: &Artifact,
        kind: Kind,
        as_stored: bool,
        listed: &mut Listed,
    ) -> io::Result<()> {
        let range = archive.range().filter(|_| as_stored);
        match (kind, range) {
            (Kind::Tar, Some(range)) => {
                let window = range.open()?;
                tar::list(tar::Source::File(range, window), listed);
            }
            (Kind::Tar, None) => {
                let reader = archive.opened()?.reader;
                tar::list(tar::Source::Stream(reader, &mut self.spool), listed);
            }
            (Kind::Zip, Some(range)) => zip::list(&range, listed)?,
            (Kind::Zip, None) => {
                let mut reader = archive.opened()?.reader;
                let kept = self.spool.take(&archive.path, &mut reader, u64::MAX)?;
                if let Some(error) = kept.error {
                    listed.damaged(&error.to_string());
                }
                zip::list(&kept.range, listed)?;
            }
        }
        Ok(())
    }
}

/// What an artifact is, and whether it stands in its file as it is.
fn kind(artifact: &Artifact) -> io::Result<(Option<Kind>, bool)> {
    let (start, as_stored) = artifact.probe(tar::BLOCK, |start| Kind::of(start).is_some())?;
    Ok((Kind::of(&start), as_stored))
}

/// The folder of a path; empty at the top.
fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// How members of an archive are called.
struct Below {
    path: String,
    relative: String,
    whole: String,
}

impl Below {
    /// An archive is to its members what a folder is; its own name is left out where it is the only one in its folder.
    fn new(archive: &Artifact, names: bool) -> Self {
        let folder = match parent(&archive.relative) {
            "" => String::new(),
            folder => format!("{folder}/"),
        };
        let file = archive.relative.rsplit('/').next().unwrap_or_default();
        Self {
            path: format!("{}!/", archive.path),
            relative: if names {
                format!("{folder}{}/", stem(file))
            } else {
                folder
            },
            whole: format!("{}/", archive.whole),
        }
    }

    fn artifact(&self, entry: Entry, bounds: Bounds) -> Artifact {
        let Entry { name, stored } = entry;
        let member = Member {
            range: stored.range,
            method: stored.method,
            check: stored.check,
            fault: stored.fault,
            is_beginning: stored.is_beginning,
        };
        Artifact {
            path: format!("{}{name}", self.path),
            relative: format!("{}{name}", self.relative),
            whole: format!("{}{name}", self.whole),
            content: Content::Member(Arc::new(member)),
            bytes: stored.bytes,
            bounds,
        }
    }
}

/// An archive's name without what says that it is one.
fn stem(file: &str) -> &str {
    let mut name = file;
    for end in [
        ".gz", ".zst", ".zstd", ".xz", ".lz4", ".bz2", ".tar", ".zip", ".tgz", ".tzst", ".txz",
        ".tbz2", ".tbz",
    ] {
        name = name
            .strip_suffix(end)
            .filter(|rest| !rest.is_empty())
            .unwrap_or(name);
    }
    name
}
