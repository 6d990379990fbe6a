//! The logs among the inputs whose records can be told from others, and what their names say of how they came to be.

use std::io::Read;
use std::sync::OnceLock;

use super::lookup::{Lookup, Wanted, uncut};
use super::marks::Marks;
use super::seen::HELD_BYTES;
use super::sniffing::Sniffed;
use super::wrapped::Wrapped;
use crate::intake::{Artifact, Encoding, Place, Role, copied_from, split_name};
use crate::parsers::Format;
use crate::record::split_lines;

/// A log among the inputs: its artifact, and which of its logs where they are wrapped.
pub(super) type LogAt = (usize, Option<usize>);

/// Some evidence on how a file may have come to be.
///
/// The later ones are rather what the others were taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// It is not called like a log, or only some lines of a log are there.
    Excerpt,
    /// A collector took it, and does not say from whom.
    Collected,
    /// It is called like a log that no server writes.
    Named,
    /// It is a log.
    Log,
}

/// One log of one input.
pub(super) struct Candidate<'a> {
    pub(super) at: LogAt,
    pub(super) artifact: &'a Artifact,
    wrapped: Option<&'a Wrapped>,
    pub(super) format: Format,
    encoding: Encoding,
    pub(super) kind: Kind,
    pub(super) folder: &'a str,
    pub(super) stem: &'a str,
    /// The name of the file that it is a copy of, as its own says.
    copied: Option<&'a str>,
    pub(super) role: Role,
    /// Whether its file holds no other log.
    pub(super) is_only: bool,
    marks: OnceLock<Marks>,
}

/// The logs in an artifact whose records can be told from others.
pub(super) fn candidates<'a>(
    at: usize,
    artifact: &'a Artifact,
    sniffed: &'a Sniffed,
) -> impl Iterator<Item = Candidate<'a>> {
    let (folder, file) = artifact
        .whole
        .rsplit_once('/')
        .unwrap_or(("", &artifact.whole));
    let (stem, role, piece) = split_name(file);
    let copied = copied_from(stem);
    let is_called_log = file.to_ascii_lowercase().contains(".log");
    let candidate = move |stream: Option<usize>, wrapped: Option<&'a Wrapped>, format: Format| {
        let spec = format.spec();
        let is_told = spec.counts_records && !spec.dateless && !spec.nodes_in_lines;
        let is_piece = role != Role::Main || piece.is_some();
        let kind = match wrapped {
            Some(log) if log.is_excerpt => Kind::Excerpt,
            Some(log) if log.names_a_node() => Kind::Log,
            // Who names files after nodes has their logs in them.
            _ if names_a_node(stem) => Kind::Log,
            Some(log) if !log.is_bare() && !Place::is_usual_name(stem) => Kind::Collected,
            Some(log) if !log.is_bare() => Kind::Log,
            _ if !is_called_log => Kind::Excerpt,
            _ if copied.is_some() => Kind::Named,
            _ if is_piece || Place::is_usual_name(stem) => Kind::Log,
            _ => Kind::Named,
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
            copied,
            role,
            is_only: sniffed.logs.len() == 1,
            marks: OnceLock::new(),
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
    /// Whether of two files with the same text it is rather the log, and the other one was taken from it.
    pub(super) fn comes_before(&self, other: &Candidate<'_>) -> bool {
        let rank = |it: &Candidate<'_>| (it.kind, it.wrapped.is_none());
        let is_before = (!self.is_excerpt(), self.at) > (false, other.at);
        rank(self) > rank(other) || rank(self) == rank(other) && other.is_excerpt() && is_before
    }

    /// Whether it was taken from a log itself, by its name or what stands before its lines.
    pub(super) fn is_excerpt(&self) -> bool {
        self.kind == Kind::Excerpt || self.is_told()
    }

    /// Whether its name says that it is a copy of another file.
    pub(super) fn is_copy_of(&self, log: &Candidate<'_>) -> bool {
        (self.folder, self.copied) == (log.folder, Some(log.stem))
    }

    /// Whether both are files of one log: what is in one file are several, and `errors.txt` is no piece of `errors.log`.
    pub(super) fn is_of_log(&self, other: &Candidate<'_>) -> bool {
        let is_one = self.at.0 != other.at.0 || self.at == other.at;
        let is_one = is_one && (self.kind == Kind::Excerpt) == (other.kind == Kind::Excerpt);
        is_one && (self.folder, self.stem) == (other.folder, other.stem)
    }

    /// Whether its name, or what stands before its lines, tells that it is an excerpt.
    pub(super) fn is_told(&self) -> bool {
        Place::is_excerpt_name(self.stem) || self.wrapped.is_some_and(|log| log.is_excerpt)
    }

    /// Whether all of it is looked at, and nothing else is in its file.
    pub(super) fn is_alone(&self) -> bool {
        let is_only = self.wrapped.is_none() || self.is_only;
        is_only && self.encoding == Encoding::Plain && self.artifact.bytes <= HELD_BYTES
    }

    pub(super) fn lookup(&self) -> Lookup<'_> {
        Lookup {
            artifact: self.artifact,
            wrapped: self.wrapped,
            format: self.format,
            encoding: self.encoding,
            marks: &self.marks,
        }
    }

    /// Whether a log may be the one that this was taken from, as far as both can be told without reading.
    pub(super) fn may_be_of(&self, log: &Candidate<'_>) -> bool {
        let is_other = log.at.0 != self.at.0 && log.format == self.format;
        let bytes = (log.artifact.bytes, self.artifact.bytes);
        let is_larger = match (self.kind, log.kind) {
            // Of two excerpts one says which log each line is of.
            _ if self.is_excerpt() && log.is_excerpt() && self.names_file() != log.names_file() => {
                log.names_file()
            }
            (Kind::Excerpt, Kind::Excerpt) => (bytes.0, log.at) > (bytes.1, self.at),
            (Kind::Excerpt, _) => true,
            (_, Kind::Excerpt) => false,
            // What collectors took of two is of two.
            (Kind::Collected, _) => log.wrapped.is_none(),
            _ => true,
        };
        let is_copy = log.is_copy_of(self);
        is_other && !is_copy && is_larger && (self.is_near(log) || self.names(log))
    }

    /// Whether one of the folders is the other or lies below it.
    pub(super) fn is_near(&self, log: &Candidate<'_>) -> bool {
        is_within(self.folder, log.folder) || is_within(log.folder, self.folder)
    }

    /// Whether its lines name the file that they are of.
    pub(super) fn names_file(&self) -> bool {
        self.wrapped.is_some_and(|it| it.path.is_some())
    }

    /// Whether its lines name a file that is called like the log's.
    fn names(&self, log: &Candidate<'_>) -> bool {
        let file = |path: &'a str| path.rsplit('/').next().unwrap_or_default();
        let named = self.wrapped.and_then(|it| it.path.as_deref());
        let of_log = log.artifact.whole.rsplit('/').next();
        named.map(file).is_some_and(|named| Some(named) == of_log)
    }

    /// How many folders lie between both.
    pub(super) fn distance(&self, log: &Candidate<'_>) -> usize {
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
    pub(super) fn records(&self) -> Vec<Wanted> {
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
            let wanted = |(time, line, at): (_, Vec<u8>, _)| Wanted {
                time,
                line: uncut(&line).to_vec(),
                at,
            };
            return heads.map(wanted).collect();
        }
        let heads = (1..).zip(split_lines(&text));
        let heads = heads.filter(|(_, line)| self.format.is_head(line));
        let wanted = |(at, line): (u64, &[u8])| {
            Some(Wanted {
                time: self.format.stamp(line)?,
                line: uncut(line).to_vec(),
                at,
            })
        };
        heads.filter_map(wanted).collect()
    }
}

/// Whether a file is called as nodes are, `n1` or `zk-3`: by a word and a number.
fn names_a_node(stem: &str) -> bool {
    let stem = stem.strip_suffix(".json").unwrap_or(stem);
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
