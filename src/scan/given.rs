//! Unwrapped text: its records are given, and its lines are those of the file it was taken from.

use memchr::memchr_iter;

use super::problems::{Problem, ProblemKind};
use super::{Head, Pass};
use crate::record::{Lines, Origin};

impl Pass<'_, '_> {
    /// The records of unwrapped text, whose places are given.
    pub(super) fn given(&mut self, origin: &Origin) {
        let place = |at: usize| {
            origin
                .starts
                .get(at)
                .map_or(self.bytes.len(), |it| it.at as usize)
        };
        let before = lines_of(&self.bytes[..place(0)]);
        self.scan.unparsed_lines = origin.foreign.count;
        if self.context.continues {
            self.scan.continuation_lines += before;
        } else {
            self.scan.unparsed_lines += before;
        }
        self.scan.lines = before;
        for (at, start) in origin.starts.iter().enumerate() {
            let (from, end) = (place(at), place(at + 1));
            if !start.is_record {
                let lines = lines_of(&self.bytes[from..end]);
                self.scan.lines += lines;
                self.scan.unparsed_lines += lines;
                continue;
            }
            let head = memchr::memchr(b'\n', &self.bytes[from..end]).map_or(end, |n| from + n + 1);
            let head_line = self.scan.lines;
            self.wrapped_at = start.time;
            self.further.clear();
            self.scan.lines += 1;
            let mut line = head;
            while line < end {
                let past =
                    memchr::memchr(b'\n', &self.bytes[line..end]).map_or(end, |n| line + n + 1);
                self.go_on(line, past, false);
                self.scan.lines += 1;
                line = past;
            }
            self.record(Head::new(from, head, head_line), end);
        }
    }

    /// Lines as the file has them, and what its wrapper said of them.
    pub(super) fn place_in_file(&mut self, origin: &Origin) {
        let line_of = |line: u64| {
            let mut ends = memchr_iter(b'\n', self.bytes);
            let line = usize::try_from(line).unwrap_or(usize::MAX);
            let at = line
                .checked_sub(1)
                .map_or(Some(0), |before| ends.nth(before).map(|n| n + 1));
            let start = origin.start_of(at.unwrap_or(self.bytes.len()));
            start.map_or(0, |start| start.line.saturating_sub(1))
        };
        for problem in &mut self.scan.problems {
            problem.line = line_of(problem.line);
        }
        let further = [
            (ProblemKind::CrLf, origin.cr_lf),
            (ProblemKind::RecordTooLong, origin.too_long),
            (ProblemKind::RaggedRows, origin.ragged),
        ];
        for (kind, Lines { count, first }) in further {
            if count > 0 {
                let line = first.saturating_sub(1);
                self.scan.problems.push(Problem { kind, line, count });
            }
        }
        let first = origin.starts.first().map_or(1, |start| start.line);
        let foreign = (origin.foreign.count > 0).then_some(origin.foreign.first);
        self.scan.unparsed_line = foreign.unwrap_or(first).saturating_sub(1);
        self.scan.lines = origin.lines;
    }
}

/// How many lines a text has, one without an end included.
fn lines_of(text: &[u8]) -> u64 {
    let open = !text.is_empty() && !text.ends_with(b"\n");
    u64::try_from(memchr_iter(b'\n', text).count()).unwrap_or(u64::MAX) + u64::from(open)
}
