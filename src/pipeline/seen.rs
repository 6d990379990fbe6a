//! One artifact: what it was found to be, and what an analysis says of it in the end.

use std::collections::{BTreeMap, BTreeSet};

use super::copies::{Piece, Side};
use super::facts::ArtifactFacts;
use super::tables::Export;
use super::wrapped::Wrapped;
use crate::analysis::{InputFacts, InputFault, LISTING, SEGMENT, TABLE, TableFacts};
use crate::intake::{Artifact, Encoding, Place};
use crate::parsers::{Format, ci};
use crate::scan::ProblemKind;
use crate::streams::{Log, Source};

/// How many bytes of what was collected are read before the log it was taken from: they stay in memory for a while.
pub(super) const HELD_BYTES: u64 = 4 << 20;

/// How many logs that a file was taken from are named.
const NAMED_MAX: usize = 3;

/// Files that repeat some lines of logs of their nodes, each with what to say of it.
pub(super) fn excerpts(artifacts: &[Seen], logs: &[Log]) -> Vec<(usize, String)> {
    let mut taken: BTreeMap<usize, BTreeSet<&str>> = BTreeMap::new();
    for log in logs {
        let Some(first) = log.main.pieces.iter().chain(&log.err.pieces).next() else {
            continue;
        };
        let excerpts = log.views.iter().filter(|view| {
            let seen = &artifacts[view.artifact];
            seen.export.is_none() && (seen.is_plain() || view.is_excerpt || view.is_taken)
        });
        for view in excerpts {
            let paths = taken.entry(view.artifact).or_default();
            paths.insert(&artifacts[first.artifact].artifact.path);
        }
    }
    let detail = |paths: &BTreeSet<&str>| {
        let named: Vec<&str> = paths.iter().copied().take(NAMED_MAX).collect();
        let named = named.join(", ");
        let more = match paths.len().saturating_sub(NAMED_MAX) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("taken from the log of {named}{more}: a record that both hold counts once")
    };
    let taken = taken.iter();
    taken.map(|(at, paths)| (*at, detail(paths))).collect()
}

/// An artifact that was looked at.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own about a file"
)]
pub(super) struct Seen {
    pub(super) artifact: Artifact,
    pub(super) place: Place,
    /// Whether it is plain and at most [`HELD_BYTES`] long.
    pub(super) is_small: bool,
    pub(super) format: Option<Format>,
    /// Its logs, if they are wrapped.
    pub(super) logs: Vec<Wrapped>,
    /// The system table that it exports.
    pub(super) export: Option<Export>,
    /// The form of test results that it is of.
    pub(super) form: Option<&'static ci::Spec>,
    pub(super) is_segment: bool,
    /// Whether it lists a folder with a WAL.
    pub(super) is_listing: bool,
    /// Whether its records, or some of them, were found in another log.
    pub(super) is_taken: bool,
    /// Why it is not read though it is there.
    pub(super) skipped: Option<InputFault>,
}

impl Seen {
    /// Whether it is a log that is read.
    pub(super) fn is_read(&self) -> bool {
        self.format.is_some() && self.skipped.is_none()
    }

    /// Whether its lines, which no wrapper is around, were taken from a log: what `grep` finds in one is written into files
    /// that are not called like one.
    pub(super) fn is_plain_collected(&self) -> bool {
        let name = self.artifact.path.rsplit('/').next().unwrap_or_default();
        self.export.is_none() && !name.to_ascii_lowercase().contains(".log")
    }

    /// It as a file that another one may repeat; `None` if it is no log.
    pub(super) fn piece(
        &self,
        artifact: usize,
        encoding: Encoding,
        start: Vec<u8>,
    ) -> Option<(Side, Piece)> {
        let format = self.format.filter(|_| self.export.is_none())?;
        let place = &self.place;
        let side = (place.run.clone(), place.node.clone(), format, place.role);
        let piece = Piece {
            artifact,
            rotation: place.piece,
            encoding,
            bytes: self.artifact.bytes,
            start,
            is_collected: self.is_taken
                || self.is_plain() && self.is_plain_collected()
                || self.logs.iter().any(|log| log.is_excerpt || log.is_taken),
        };
        Some((side, piece))
    }

    /// Whether no wrapper is around its lines.
    fn is_plain(&self) -> bool {
        self.logs.iter().all(|log| log.layers.is_empty())
    }

    /// Its logs, with their places.
    pub(super) fn sources(&self, artifact: usize) -> Vec<(Place, Source)> {
        let is_plain = self.is_plain();
        let source = |stream, format, log: Option<&Wrapped>| {
            let is_taken = self.is_taken || log.is_some_and(|log| log.is_taken);
            let is_wrapped = log.is_some_and(|log| !log.layers.is_empty());
            let is_excerpt = log.is_some_and(|log| log.is_excerpt);
            let is_collected = is_wrapped || is_taken || is_plain && self.is_plain_collected();
            Source {
                artifact,
                stream,
                format,
                coarse: self.export.as_ref().is_some_and(|export| export.coarse),
                is_collected,
                is_whole: is_wrapped && !is_excerpt,
                is_excerpt,
                is_taken,
                is_held: is_collected && self.is_small,
                follows_hole: false,
            }
        };
        let plain = self.format.filter(|_| self.logs.is_empty());
        let plain = plain.map(|format| (self.place.clone(), source(0, format, None)));
        let logs = self.logs.iter().enumerate();
        let wrapped = logs.filter_map(|(stream, log)| {
            Some((log.place.clone()?, source(stream, log.format, Some(log))))
        });
        plain.into_iter().chain(wrapped).collect()
    }

    /// What an analysis says of it.
    pub(super) fn facts(self, mut found: ArtifactFacts) -> InputFacts {
        for beyond in self
            .logs
            .iter()
            .map(|log| log.beyond)
            .filter(|it| it.count > 0)
        {
            found.note(ProblemKind::UnparsedLines, beyond.first - 1, beyond.count);
        }
        let mut problems = found.problems;
        problems.extend(self.skipped);
        let left_out = self.logs.iter().filter_map(|log| log.left_out.as_ref());
        problems
            .extend(left_out.map(|it| InputFault::of(ProblemKind::FurtherView, it.detail.clone())));
        if let Some(detail) = found.error {
            problems.push(InputFault {
                kind: ProblemKind::ReadError,
                line: Some(found.lines + 1),
                count: 1,
                detail,
            });
        }
        problems.sort_by_key(|problem| (problem.kind, problem.line));
        let counts_records = self.format.iter().any(|it| it.spec().counts_records)
            || self.logs.iter().any(|log| log.format.spec().counts_records);
        let wrapper = self
            .logs
            .first()
            .map(|log| log.wrapper.clone())
            .filter(|it| !it.is_empty());
        let mut nodes: Vec<String> = Vec::new();
        for place in self.logs.into_iter().filter_map(|log| log.place) {
            if !nodes.contains(&place.node) {
                nodes.push(place.node);
            }
        }
        let node = if nodes.is_empty() {
            self.place.node
        } else {
            nodes.join(", ")
        };
        InputFacts {
            path: self.artifact.path,
            wrapper,
            format: match self.format {
                Some(format) => Some(format.spec().name),
                None if self.export.is_some() => Some(TABLE),
                None if self.is_segment => Some(SEGMENT),
                None if self.is_listing => Some(LISTING),
                None => self.form.map(|form| form.name),
            },
            table: self.export.map(|export| TableFacts {
                name: export.table.map(|table| table.name),
                form: export.form.name(),
                columns: export.columns,
                rows: found.rows,
            }),
            counts_records,
            holds_tests: self.form.is_some(),
            is_mute: self.format.is_none() && found.is_mute,
            run: self.place.run,
            node,
            bytes: self.artifact.bytes,
            records: found.records,
            lines: found.lines,
            span: found.span,
            grep: found.grep,
            found: found.found,
            problems,
        }
    }
}
