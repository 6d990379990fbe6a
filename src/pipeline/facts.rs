//! What the scan found in one artifact, block by block.

use crate::analysis::InputFault;
use crate::scan::{GrepCounts, ProblemKind, Scan};
use crate::time::Timestamp;

/// What the scan found in one artifact.
#[derive(Debug, Default)]
pub(super) struct ArtifactFacts {
    pub(super) lines: u64,
    pub(super) error: Option<String>,
    pub(super) records: u64,
    pub(super) rows: u64,
    pub(super) span: Option<(Timestamp, Timestamp)>,
    pub(super) grep: GrepCounts,
    /// Lines of the file that hold a listed signal's text.
    pub(super) found: u64,
    /// Whether it was read as results of tests, and holds none, nor anything beside them.
    pub(super) is_mute: bool,
    pub(super) problems: Vec<InputFault>,
}

impl ArtifactFacts {
    /// Adds a block, in order, whose lines are numbered from `base`.
    /// `counts`: whether its records are log records.
    pub(super) fn add(&mut self, scan: &Scan, base: u64, counts: bool) {
        if scan.unparsed_lines > 0 {
            let line = base + scan.unparsed_line;
            self.note(ProblemKind::UnparsedLines, line, scan.unparsed_lines);
        }
        for problem in &scan.problems {
            self.note(problem.kind, base + problem.line, problem.count);
        }
        self.lines += scan.lines;
        self.records += if counts { scan.records } else { 0 };
        self.rows += scan.records;
        self.grep.add(scan.grep);
        if let Some((low, high)) = scan.span {
            self.span = Some(
                self.span
                    .map_or((low, high), |(a, b)| (a.min(low), b.max(high))),
            );
        }
    }

    /// Adds what another node's logs in the same file hold.
    pub(super) fn absorb(&mut self, other: Self) {
        self.lines += other.lines;
        self.records += other.records;
        self.rows += other.rows;
        self.grep.add(other.grep);
        self.error = self.error.take().or(other.error);
        if let Some((low, high)) = other.span {
            let (a, b) = self.span.unwrap_or((low, high));
            self.span = Some((a.min(low), b.max(high)));
        }
        for fault in other.problems {
            let line = fault.line.map_or(0, |line| line - 1);
            self.note(fault.kind, line, fault.count);
        }
    }

    /// Notes a fault whose first line, from 0, is `line`.
    pub(super) fn note(&mut self, kind: ProblemKind, line: u64, count: u64) {
        match self
            .problems
            .iter_mut()
            .find(|problem| problem.kind == kind)
        {
            Some(problem) => {
                problem.count += count;
                problem.line = problem.line.min(Some(line + 1));
            }
            None => self.problems.push(InputFault {
                kind,
                line: Some(line + 1),
                count,
                detail: String::new(),
            }),
        }
    }
}
