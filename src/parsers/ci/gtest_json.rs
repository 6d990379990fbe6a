//! The JSON that google test writes with `--gtest_output=json`.
//!
//! ```text
//! {"tests": 3, "failures": 1, "disabled": 0, "errors": 0, "name": "AllTests", "testsuites": [{"name": "Ledger", "testsuite": [
//!   {"name": "Copies", "file": "gtest_ledger.cpp", "line": 42, "status": "RUN", "result": "COMPLETED", "time": "0.01s", "classname": "Ledger",
//!    "failures": [{"failure": "gtest_ledger.cpp:43\nExpected equality...", "type": ""}]}]}]}
//! ```

use std::io::{BufRead, Read};

use serde::Deserialize;

use super::case::{Case, Cases, note};
use super::failure::Failure;
use super::model::{Duration, Incomplete, NAME_BYTES_MAX, Place, RemarkKind, TestRun, bounded};
use super::moments::iso;
use super::praktika::DOCUMENT_BYTES_MAX;
use super::{Form, Reading};

/// Further failures of one test that are kept.
const FAILURES_MAX: usize = 20;

pub(super) fn claims(sample: &[u8]) -> bool {
    let start = sample.trim_ascii_start();
    let head = &start[..start.len().min(4096)];
    let has = |key: &[u8]| memchr::memmem::find(head, key).is_some();
    start.starts_with(b"{") && has(b"\"testsuites\"") && has(b"\"disabled\"")
}

#[derive(Debug, Deserialize, Default)]
#[serde(default)]
struct Root {
    name: String,
    tests: u64,
    failures: u64,
    disabled: u64,
    errors: u64,
    timestamp: String,
    time: String,
    testsuites: Vec<Suite>,
}

#[derive(Debug, Deserialize, Default)]
#[serde(default)]
struct Suite {
    name: String,
    testsuite: Vec<Test>,
}

#[derive(Debug, Deserialize, Default)]
#[serde(default)]
struct Test {
    name: String,
    value_param: Option<String>,
    type_param: Option<String>,
    status: String,
    result: String,
    timestamp: String,
    time: String,
    failures: Vec<Fault>,
    skipped: Vec<Skip>,
}

#[derive(Debug, Deserialize, Default)]
#[serde(default)]
struct Fault {
    failure: String,
}

#[derive(Debug, Deserialize, Default)]
#[serde(default)]
struct Skip {
    message: String,
}

pub(super) fn read(reader: &mut dyn BufRead) -> Reading {
    let mut limited = Read::take(reader, DOCUMENT_BYTES_MAX);
    let mut json = serde_json::Deserializer::from_reader(std::io::BufReader::new(&mut limited));
    let mut run = TestRun::new(Form::GoogleTest);
    let mut reading = Reading::default();
    match Root::deserialize(&mut json) {
        Ok(root) => fill(&mut run, root),
        Err(error) => {
            let why = if error.is_io() {
                Incomplete::Torn
            } else {
                Incomplete::CutLine
            };
            note(&mut run, why);
            let place = Place {
                line: u64::try_from(error.line()).unwrap_or(0),
                offset: 0,
            };
            run.remark(RemarkKind::Unreadable, error.to_string(), place);
            reading.error = error.is_io().then(|| error.to_string());
        }
    }
    reading.runs.push(run);
    reading
}

fn fill(run: &mut TestRun, root: Root) {
    run.name = bounded(&root.name, NAME_BYTES_MAX);
    if let Some((began, _)) = iso(root.timestamp.as_bytes()) {
        run.note_moment(began);
    }
    if let Some(seconds) = seconds(&root.time) {
        run.durations.push(Duration {
            seconds,
            rule: "as google test states it",
        });
    }
    let failed = root.failures.saturating_add(root.errors);
    run.state(
        "test",
        "passed",
        root.tests
            .saturating_sub(failed)
            .saturating_sub(root.disabled),
    );
    run.state("test", "failed", failed);
    run.state("test", "skipped", root.disabled);
    let mut cases = Cases::default();
    for suite in root.testsuites {
        let suite_name = bounded(&suite.name, NAME_BYTES_MAX);
        for test in suite.testsuite {
            let parameter = match (&test.value_param, &test.type_param) {
                (Some(value), _) => format!(" ({value})"),
                (None, Some(kind)) => format!(" <{kind}>"),
                (None, None) => String::new(),
            };
            let name = format!("{suite_name}.{}{parameter}", test.name);
            let is_out = test.status.eq_ignore_ascii_case("NOTRUN")
                || test.result.eq_ignore_ascii_case("SKIPPED")
                || test.result.eq_ignore_ascii_case("SUPPRESSED");
            let first = test.failures.first();
            cases.add(Case {
                id: name.clone(),
                name: bounded(&name, NAME_BYTES_MAX),
                suites: vec![suite_name.clone()],
                outcome: match (first, is_out) {
                    (Some(_), _) => "failed".into(),
                    (None, true) => "skipped".into(),
                    (None, false) => "passed".into(),
                },
                failure: failure(&test.failures),
                reason: test
                    .skipped
                    .first()
                    .map_or_else(String::new, |it| bounded(&it.message, NAME_BYTES_MAX)),
                seconds: seconds(&test.time),
                began: iso(test.timestamp.as_bytes()).map(|(at, _)| at),
                ..Case::default()
            });
        }
    }
    if root.tests > cases.len() as u64 {
        note(run, Incomplete::Unlisted);
    }
    cases.fill(run);
}

/// The first failure, with what the others say.
fn failure(failures: &[Fault]) -> Failure {
    let Some((first, others)) = failures.split_first() else {
        return Failure::default();
    };
    let others = others.iter().take(FAILURES_MAX);
    Failure {
        also: others
            .map(|it| Failure::read("", &it.failure).words())
            .collect(),
        ..Failure::read("", &first.failure)
    }
}

/// `0.012s`.
fn seconds(text: &str) -> Option<f64> {
    text.strip_suffix('s')?
        .parse()
        .ok()
        .filter(|it: &f64| it.is_finite() && *it >= 0.0)
}
