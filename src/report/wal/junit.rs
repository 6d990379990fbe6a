//! The check as `JUnit` XML: a suite per WAL, a case per segment, so that a soak shows which segment failed.

use std::io::{self, Write};

use super::{counts, place};
use crate::layout::{Inspection, Unread, Wal};
use crate::report::junit::{Case, Failure, Suite, write_suites};

pub(super) fn write(
    inspection: &Inspection,
    is_strict: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let wals = inspection.wals.iter();
    let mut suites: Vec<Suite> = wals.map(|wal| suite(wal, is_strict)).collect();
    if !inspection.unread.is_empty() {
        let unread = inspection.unread.iter();
        suites.push(Suite {
            name: "not read".to_owned(),
            cases: unread.map(|it| error(it, "not read")).collect(),
        });
    }
    write_suites("wal-layout-check", &suites, out)
}

fn suite(wal: &Wal, is_strict: bool) -> Suite {
    let class = format!("{}.{}", wal.layout, wal.node);
    let mut problems = wal.problems.iter().peekable();
    let mut cases = Vec::with_capacity(wal.segments.len() + wal.unread.len());
    for (n, segment) in wal.segments.iter().enumerate() {
        let mut case = Case {
            class: class.clone(),
            name: segment.file.clone(),
            ..Case::default()
        };
        while let Some(problem) = problems.next_if(|problem| problem.segment == n) {
            let kind = problem.kind.word();
            let message = format!(
                "{}: {}. {}",
                place(wal, problem),
                problem.detail,
                problem.consequence
            );
            if counts(problem, is_strict) {
                case.failures.push(Failure {
                    kind: kind.to_owned(),
                    message,
                    text: String::new(),
                });
            } else {
                case.output.push(format!("{kind}: {message}"));
            }
        }
        cases.push(case);
    }
    cases.extend(wal.unread.iter().map(|it| error(it, &wal.layout)));
    Suite {
        name: wal.path.clone(),
        cases,
    }
}

fn error(unread: &Unread, class: &str) -> Case {
    Case {
        class: class.to_owned(),
        name: unread.path.clone(),
        error: Some(unread.detail.clone()),
        ..Case::default()
    }
}
