//! `JUnit` XML: the frame that all of its writers share.
//!
//! Readers differ in what they accept, so the file keeps to what all of them do: a case has at most one `error` or
//! `failure`, then at most one `system-out`.

mod rules;
mod tests;

use std::io::{self, Write};

use crate::report::escape::{xml, xml_lines};

pub(super) use rules::write;

/// Several cases.
pub(super) struct Suite {
    /// Its name.
    pub(super) name: String,
    /// In their order.
    pub(super) cases: Vec<Case>,
}

/// One thing that was checked.
#[derive(Default)]
pub(super) struct Case {
    /// What groups it with others.
    pub(super) class: String,
    /// Its name.
    pub(super) name: String,
    /// Why it could not be checked; then it is an error and no failure.
    pub(super) error: Option<String>,
    /// What failed; it passed if nothing did.
    pub(super) failures: Vec<Failure>,
    /// What is worth knowing and no failure.
    pub(super) output: Vec<String>,
}

/// Why a case failed.
pub(super) struct Failure {
    /// Of which kind.
    pub(super) kind: String,
    /// In one sentence.
    pub(super) message: String,
    /// More, in lines.
    pub(super) text: String,
}

/// Writes a document.
pub(super) fn write_suites(name: &str, suites: &[Suite], out: &mut dyn Write) -> io::Result<()> {
    let counts = counts(suites.iter().flat_map(|suite| &suite.cases));
    writeln!(out, r#"<?xml version="1.0" encoding="UTF-8"?>"#)?;
    writeln!(out, r#"<testsuites name="{}" {counts}>"#, xml(name))?;
    for suite in suites {
        let counts = self::counts(&suite.cases);
        writeln!(out, r#"  <testsuite name="{}" {counts}>"#, xml(&suite.name))?;
        for case in &suite.cases {
            write_case(case, out)?;
        }
        writeln!(out, "  </testsuite>")?;
    }
    writeln!(out, "</testsuites>")
}

fn counts<'c>(cases: impl IntoIterator<Item = &'c Case>) -> String {
    let (mut tests, mut failures, mut errors) = (0_u64, 0_u64, 0_u64);
    for case in cases {
        tests += 1;
        errors += u64::from(case.error.is_some());
        failures += u64::from(case.error.is_none() && !case.failures.is_empty());
    }
    format!(r#"tests="{tests}" failures="{failures}" errors="{errors}""#)
}

fn write_case(case: &Case, out: &mut dyn Write) -> io::Result<()> {
    let (class, name) = (xml(&case.class), xml(&case.name));
    write!(out, r#"    <testcase classname="{class}" name="{name}""#)?;
    if case.error.is_none() && case.failures.is_empty() && case.output.is_empty() {
        return writeln!(out, "/>");
    }
    writeln!(out, ">")?;
    if let Some(error) = &case.error {
        writeln!(out, r#"      <error message="{}"/>"#, xml(error))?;
    } else if let Some((first, others)) = case.failures.split_first() {
        let (kind, message) = (xml(&first.kind), xml(&first.message));
        write!(out, r#"      <failure type="{kind}" message="{message}""#)?;
        let others = others
            .iter()
            .map(|it| format!("{}: {}\n{}", it.kind, it.message, it.text));
        let texts: Vec<String> = std::iter::once(first.text.clone()).chain(others).collect();
        let text = texts.join("\n");
        if text.is_empty() {
            writeln!(out, "/>")?;
        } else {
            writeln!(out, ">{}</failure>", xml_lines(text.trim()))?;
        }
    }
    if !case.output.is_empty() {
        let text = xml_lines(&case.output.join("\n"));
        writeln!(out, "      <system-out>{text}</system-out>")?;
    }
    writeln!(out, "    </testcase>")
}
