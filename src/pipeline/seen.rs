//! One artifact: what it was found to be, and what an analysis says of it in the end.

use super::facts::ArtifactFacts;
use super::tables::Export;
use super::wrapped::Wrapped;
use crate::analysis::{InputFacts, InputFault, LISTING, SEGMENT, TABLE, TableFacts};
use crate::intake::{Artifact, Place};
use crate::parsers::{Format, ci};
use crate::scan::ProblemKind;

/// An artifact that was looked at.
pub(super) struct Seen {
    pub(super) artifact: Artifact,
    pub(super) place: Place,
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
    /// Why it is not read though it is there.
    pub(super) skipped: Option<InputFault>,
}

impl Seen {
    /// Whether it is a log that is read.
    pub(super) fn is_read(&self) -> bool {
        self.format.is_some() && self.skipped.is_none()
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
            run: self.place.run,
            node,
            bytes: self.artifact.bytes,
            records: found.records,
            lines: found.lines,
            span: found.span,
            grep: found.grep,
            problems,
        }
    }
}
