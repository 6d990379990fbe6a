//! The result files of praktika, the CI of `ClickHouse` and its builds: results in results, tests innermost.
//!
//! ```text
//! {"name": "Stateless tests", "status": "failure", "start_time": ..., "duration": ..., "results": [{"name": "02345_x", "status": "FAIL", ...}],
//!  "info": "Failures: 1/20", "ext": {"labels": ["retry_ok"]}}
//! ```
//!
//! Statuses are any strings. Beside tests stand results of checks, such as `Fatal messages`; they are no tests. A file of a
//! whole workflow holds only what failed of each job, so nothing can be summed up from it.

use std::io::{BufRead, Read};

use serde::Deserialize;

use super::case::{Case, Cases, note};
use super::failure::Failure;
use super::model::{
    Check, Class, Duration, Event, EventKind, Incomplete, MESSAGE_BYTES_MAX, Moment,
    NAME_BYTES_MAX, Place, RemarkKind, TestRun, bounded,
};
use super::moments::after;
use super::{Form, Reading};
use crate::vocab::several;

/// How much of a document is read: results of 10,000 tests are a few megabytes.
pub(super) const DOCUMENT_BYTES_MAX: u64 = 64 << 20;

pub(super) fn claims(sample: &[u8]) -> bool {
    let start = sample.trim_ascii_start();
    let head = &start[..start.len().min(4096)];
    let has = |key: &[u8]| memchr::memmem::find(head, key).is_some();
    start.starts_with(b"{")
        && has(b"\"status\"")
        && has(b"\"name\"")
        && has(b"\"results\"")
        && has(b"\"start_time\"")
}

#[derive(Debug, Deserialize, Default)]
#[serde(default)]
struct Node {
    name: Option<String>,
    status: Option<String>,
    start_time: Option<f64>,
    duration: Option<f64>,
    results: Option<Vec<Node>>,
    info: Option<String>,
    ext: Option<Ext>,
}

#[derive(Debug, Deserialize, Default)]
#[serde(default)]
struct Ext {
    labels: Option<Vec<Label>>,
    result_tree_path: Option<serde::de::IgnoredAny>,
}

/// A label, or something else in its place.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Label {
    Text(String),
    Other(serde::de::IgnoredAny),
}

/// Results that are checks of the machinery, whatever their place: what the runners of functional tests add.
const CHECKS: &[&str] = &[
    "Fatal messages",
    "Sanitizer assert",
    "Exception in test runner",
    "Lost s3 keys",
    "S3_ERROR No such key thrown",
    "OOM in dmesg",
    "Server died",
    "Killed by signal",
    "Logical error thrown",
    "Hung check failed",
    "Check errors",
];

pub(super) fn read(reader: &mut dyn BufRead) -> Reading {
    let mut bounded_reader = Read::take(reader, DOCUMENT_BYTES_MAX);
    let mut json =
        serde_json::Deserializer::from_reader(std::io::BufReader::new(&mut bounded_reader));
    let mut reading = Reading::default();
    let mut run = TestRun::new(Form::Praktika);
    match Node::deserialize(&mut json) {
        Ok(root) => fill(&mut run, root, &mut reading.events),
        Err(error) if error.is_io() => {
            note(&mut run, Incomplete::Torn);
            reading.error = Some(error.to_string());
        }
        Err(error) => {
            let why = if error.is_eof() {
                Incomplete::CutLine
            } else {
                Incomplete::NoEnd
            };
            note(&mut run, why);
            let place = Place {
                line: u64::try_from(error.line()).unwrap_or(0),
                offset: 0,
            };
            run.remark(RemarkKind::Unreadable, error.to_string(), place);
        }
    }
    reading.runs.push(run);
    reading
}

fn fill(run: &mut TestRun, root: Node, events: &mut Vec<Event>) {
    run.name = bounded(root.name.as_deref().unwrap_or_default(), NAME_BYTES_MAX);
    run.result = root.status.as_deref().map(|it| bounded(it, 100));
    if let Some(began) = root.start_time.and_then(Moment::from_epoch) {
        run.note_moment(began);
        if let Some(ended) = root.duration.and_then(|seconds| after(began, seconds)) {
            run.note_moment(ended);
        }
    }
    if let Some(seconds) = root.duration.filter(|it| it.is_finite() && *it >= 0.0) {
        run.durations.push(Duration {
            seconds,
            rule: "as praktika states it",
        });
    }
    match root.status.as_deref().unwrap_or_default() {
        "running" | "pending" => note(run, Incomplete::NoEnd),
        "dropped" => note(run, Incomplete::Stopped),
        "" => note(run, Incomplete::NoResult),
        _ => {}
    }
    let is_workflow = has_tree(&root);
    let mut walk = Walk {
        run,
        events,
        cases: Cases::default(),
        retried: 0,
        infra: 0,
    };
    for node in root.results.unwrap_or_default() {
        walk.node(node, &mut Vec::new(), is_workflow);
    }
    let Walk {
        cases,
        retried,
        infra,
        ..
    } = walk;
    if is_workflow {
        let text =
            "the file of a workflow keeps only failures of its jobs: what passed is in no total";
        run.remark(RemarkKind::LeavesOut, text, Place::default());
    }
    if infra > 0 {
        let tests = several(infra, "test was", "tests were");
        let text = format!("{tests} skipped by praktika as failures of the infrastructure");
        run.remark(RemarkKind::Reading, text, Place::default());
    }
    run.retries.passed_after += retried;
    run.retries.failed += retried;
    run.retries.tries += 2 * retried;
    cases.fill(run);
}

/// Whether a result or one directly below it says that it was cut to its failures.
fn has_tree(node: &Node) -> bool {
    let own = |node: &Node| {
        node.ext
            .as_ref()
            .is_some_and(|ext| ext.result_tree_path.is_some())
    };
    own(node) || node.results.iter().flatten().any(own)
}

struct Walk<'a> {
    run: &'a mut TestRun,
    events: &'a mut Vec<Event>,
    cases: Cases,
    retried: u64,
    infra: u64,
}

impl Walk<'_> {
    /// Takes a result: one with results of its own holds tests, others are tests or checks.
    fn node(&mut self, node: Node, above: &mut Vec<String>, is_workflow: bool) {
        let name = bounded(node.name.as_deref().unwrap_or_default(), NAME_BYTES_MAX);
        let status = bounded(node.status.as_deref().unwrap_or_default(), 100);
        let inner = node.results.unwrap_or_default();
        if !inner.is_empty() {
            above.push(name);
            for one in inner {
                self.node(one, above, is_workflow);
            }
            above.pop();
            return;
        }
        let info = node.info.unwrap_or_default();
        let labels: Vec<String> = node
            .ext
            .and_then(|ext| ext.labels)
            .unwrap_or_default()
            .into_iter()
            .filter_map(|label| match label {
                Label::Text(text) => Some(text),
                Label::Other(_) => None,
            })
            .collect();
        let has = |label: &str| labels.iter().any(|it| it == label);
        self.note_open(&name, &status);
        if is_check(&name, &status, is_workflow, above) {
            self.check(name, status, &info);
            return;
        }
        self.retried += u64::from(has("retry_ok"));
        self.infra += u64::from(has("infra"));
        let began = node.start_time.and_then(Moment::from_epoch);
        let is_known = has("xfail");
        self.cases.add(Case {
            id: format!("{}/{name}", above.join("/")),
            suites: suites(&name, above),
            name,
            outcome: if is_known {
                "XFAIL".into()
            } else {
                status.into()
            },
            failure: Failure::read("", &info),
            reason: bounded(&info, NAME_BYTES_MAX),
            seconds: node.duration.filter(|it| it.is_finite()),
            began,
            failed_tries: u64::from(has("retry_failed")),
            ..Case::default()
        });
    }

    /// A job or a test that has not ended, or never ran since another one failed: what is told is not the whole.
    fn note_open(&mut self, name: &str, status: &str) {
        match status.to_ascii_lowercase().as_str() {
            "pending" | "running" => {
                note(self.run, Incomplete::NoEnd);
                let text = format!("{name} is {}", status.to_ascii_lowercase());
                self.run
                    .remark(RemarkKind::LeavesOut, text, Place::default());
            }
            "dropped" => {
                note(self.run, Incomplete::Stopped);
                let text = format!("{name} was dropped");
                self.run
                    .remark(RemarkKind::LeavesOut, text, Place::default());
            }
            _ => {}
        }
    }

    fn check(&mut self, name: String, status: String, info: &str) {
        if Class::of(&status).is_failing() {
            let kind = match name.as_str() {
                "Server died" => Some(EventKind::ServerDied),
                "OOM in dmesg" => Some(EventKind::OutOfMemory),
                _ => None,
            };
            if let Some(kind) = kind {
                self.events.push(Event {
                    kind,
                    subject: String::new(),
                    at: None,
                    text: bounded(&format!("{name}: {status}"), MESSAGE_BYTES_MAX),
                    place: Place::default(),
                });
            }
        }
        if self.run.checks.len() < super::model::KEPT_MAX {
            self.run.checks.push(Check {
                name,
                outcome: status,
                detail: bounded(info, MESSAGE_BYTES_MAX),
                place: Place::default(),
            });
        }
    }
}

/// Whether a result without results is a check and no test. Jobs and steps carry the words of jobs, tests those of tests.
fn is_check(name: &str, status: &str, is_workflow: bool, above: &[String]) -> bool {
    let job_words = ["success", "failure", "dropped", "pending", "running"];
    let is_named = CHECKS
        .iter()
        .any(|check| name == *check || name.starts_with(&format!("{check} ")));
    is_named || job_words.contains(&status) || (is_workflow && above.is_empty())
}

/// What holds a test: the results above it, and the file of an integration test.
fn suites(name: &str, above: &[String]) -> Vec<String> {
    let mut suites = above.to_vec();
    if let Some((file, _)) = name.split_once("::") {
        suites.push(file.to_owned());
    }
    suites
}
