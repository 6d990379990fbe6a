//! The check as `JUnit` XML: a suite per WAL, a case per segment, so that a soak shows which segment failed.

use std::fmt::Write as _;
use std::io::{self, Write};

use crate::layout::{Inspection, Wal};

use super::{counts, place};

pub(super) fn write(
    inspection: &Inspection,
    is_strict: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let tests: usize = inspection.wals.iter().map(|wal| wal.segments.len()).sum();
    let failures: usize = inspection
        .wals
        .iter()
        .map(|wal| failed(wal, is_strict))
        .sum();
    let unread: usize = inspection
        .wals
        .iter()
        .map(|wal| wal.unread.len())
        .sum::<usize>()
        + inspection.unread.len();
    writeln!(out, r#"<?xml version="1.0" encoding="UTF-8"?>"#)?;
    writeln!(
        out,
        r#"<testsuites name="wal-layout-check" tests="{}" failures="{failures}" errors="{unread}">"#,
        tests + unread
    )?;
    for wal in &inspection.wals {
        suite(wal, is_strict, out)?;
    }
    if !inspection.unread.is_empty() {
        let count = inspection.unread.len();
        writeln!(
            out,
            r#"  <testsuite name="not read" tests="{count}" failures="0" errors="{count}">"#
        )?;
        for unread in &inspection.unread {
            error(&unread.path, &unread.detail, "not read", out)?;
        }
        writeln!(out, "  </testsuite>")?;
    }
    writeln!(out, "</testsuites>")
}

/// Segments with a problem that counts.
fn failed(wal: &Wal, is_strict: bool) -> usize {
    let mut segments: Vec<usize> = wal
        .problems
        .iter()
        .filter(|problem| counts(problem, is_strict))
        .map(|problem| problem.segment)
        .collect();
    segments.sort_unstable();
    segments.dedup();
    segments.len()
}

fn suite(wal: &Wal, is_strict: bool, out: &mut dyn Write) -> io::Result<()> {
    let name = escape(&wal.path);
    let (tests, failures, errors) = (
        wal.segments.len() + wal.unread.len(),
        failed(wal, is_strict),
        wal.unread.len(),
    );
    writeln!(
        out,
        r#"  <testsuite name="{name}" tests="{tests}" failures="{failures}" errors="{errors}">"#
    )?;
    let mut problems = wal.problems.iter().peekable();
    for (n, segment) in wal.segments.iter().enumerate() {
        let mut failures = String::new();
        let mut residue = String::new();
        while let Some(problem) = problems.next_if(|problem| problem.segment == n) {
            let text = format!(
                "{}: {}. {}",
                place(wal, problem),
                problem.detail,
                problem.consequence
            );
            let (kind, text) = (problem.kind.word(), escape(&text));
            let line = if counts(problem, is_strict) {
                writeln!(
                    failures,
                    r#"      <failure type="{kind}" message="{text}"/>"#
                )
            } else {
                writeln!(residue, "      <system-out>{kind}: {text}</system-out>")
            };
            line.map_err(io::Error::other)?;
        }
        let file = escape(&segment.file);
        let class = escape(&format!("{}.{}", wal.layout, wal.node));
        if failures.is_empty() && residue.is_empty() {
            writeln!(out, r#"    <testcase classname="{class}" name="{file}"/>"#)?;
        } else {
            writeln!(out, r#"    <testcase classname="{class}" name="{file}">"#)?;
            write!(out, "{failures}{residue}")?;
            writeln!(out, "    </testcase>")?;
        }
    }
    for unread in &wal.unread {
        error(&unread.path, &unread.detail, &wal.layout, out)?;
    }
    writeln!(out, "  </testsuite>")
}

fn error(path: &str, detail: &str, class: &str, out: &mut dyn Write) -> io::Result<()> {
    let (path, detail, class) = (escape(path), escape(detail), escape(class));
    writeln!(
        out,
        r#"    <testcase classname="{class}" name="{path}"><error message="{detail}"/></testcase>"#
    )
}

/// Text for an attribute or an element; characters that XML 1.0 cannot hold are replaced.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\r' | '\t' => escaped.push(' '),
            '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => {
                escaped.push('\u{fffd}');
            }
            c => escaped.push(c),
        }
    }
    escaped
}
