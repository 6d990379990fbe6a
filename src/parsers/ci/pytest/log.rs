//! The report log of pytest (`--report-log`): JSON lines, one for each phase of each test.
//!
//! ```text
//! {"nodeid": "tests/test_x.py::test_y", "when": "call", "outcome": "failed", ..., "$report_type": "TestReport"}
//! ```

use crate::record::split_lines;
use crate::vocab::several;
use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::super::case::{Case, Cases, note};
use super::super::failure::Failure;
use super::super::model::{
    Duration, Frame, Incomplete, Moment, NAME_BYTES_MAX, Place, RemarkKind, Running, TestRun,
    bounded,
};
use super::super::{Form, Line, LineReader, Reading};
use super::dotted;

pub(crate) fn claims(sample: &[u8]) -> bool {
    let line = split_lines(sample).next().unwrap_or_default();
    line.starts_with(b"{") && memchr::memmem::find(line, b"\"$report_type\"").is_some()
}

pub(crate) fn reader() -> Box<dyn LineReader> {
    Box::new(PytestLog {
        cases: Cases::joined(),
        ..PytestLog::default()
    })
}

/// What is read of a line; all else in it is passed over.
#[derive(Debug, Deserialize)]
struct Report<'a> {
    #[serde(borrow, rename = "$report_type")]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    nodeid: Cow<'a, str>,
    #[serde(borrow, default)]
    outcome: Cow<'a, str>,
    #[serde(borrow, default)]
    when: Option<Cow<'a, str>>,
    #[serde(default)]
    duration: Option<f64>,
    #[serde(default)]
    start: Option<f64>,
    #[serde(default)]
    stop: Option<f64>,
    #[serde(default)]
    wasxfail: Option<String>,
    #[serde(default)]
    exitstatus: Option<i64>,
    #[serde(borrow, default)]
    longrepr: Option<Long<'a>>,
    #[serde(borrow, default)]
    pytest_version: Option<Cow<'a, str>>,
}

/// Why a phase did not pass: a traceback, the place and reason of a skip, or a text.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Long<'a> {
    Traceback {
        reprcrash: Option<Crash>,
        #[serde(borrow, default)]
        reprtraceback: Option<Traceback<'a>>,
    },
    Skip(IgnoredAny, IgnoredAny, #[serde(borrow)] Cow<'a, str>),
    Text(#[serde(borrow)] Cow<'a, str>),
    Other(IgnoredAny),
}

#[derive(Debug, Deserialize)]
struct Crash {
    path: String,
    lineno: u64,
    message: String,
}

#[derive(Debug, Deserialize)]
struct Traceback<'a> {
    #[serde(borrow, default)]
    reprentries: Vec<Entry<'a>>,
}

#[derive(Debug, Deserialize)]
struct Entry<'a> {
    #[serde(borrow, default)]
    data: Option<Data<'a>>,
}

#[derive(Debug, Deserialize)]
struct Data<'a> {
    #[serde(borrow, default)]
    lines: Vec<Cow<'a, str>>,
    #[serde(default)]
    reprfileloc: Option<Location>,
}

#[derive(Debug, Deserialize)]
struct Location {
    path: String,
    lineno: u64,
    #[serde(default)]
    message: String,
}

/// A test between its phases.
#[derive(Debug)]
struct Open {
    outcome: &'static str,
    failure: Failure,
    reason: String,
    seconds: f64,
    began: Option<Moment>,
    ended: Option<Moment>,
    tries: u64,
    place: Place,
    /// Whether this try is to be repeated.
    reruns: bool,
    /// Whether a subtest of it failed, which it may pass beside.
    has_failed_subtest: bool,
    is_done: bool,
}

/// Tests that run at a time: one for each worker, and those whose end was lost.
const OPEN_MAX: usize = 50_000;

#[derive(Debug, Default)]
struct PytestLog {
    is_sure: bool,
    cases: Cases,
    open: BTreeMap<String, Open>,
    exit: Option<i64>,
    is_ended: bool,
    first: Option<Moment>,
    last: Option<Moment>,
    bad: u64,
    bad_at: Place,
    is_cut: bool,
    attributes: BTreeMap<String, String>,
}

impl LineReader for PytestLog {
    fn line(&mut self, line: &Line<'_>) {
        if line.bytes.first() != Some(&b'{') {
            return;
        }
        match serde_json::from_slice::<Report<'_>>(line.bytes) {
            Ok(report) => self.report(&report, line.place),
            // Lines of other things stand in a job's log; here they count once it is known what this is.
            Err(_) if self.is_sure => {
                self.is_cut |= line.is_cut;
                if self.bad == 0 {
                    self.bad_at = line.place;
                }
                self.bad += 1;
            }
            Err(_) => {}
        }
    }

    fn finish(mut self: Box<Self>) -> Reading {
        if !self.is_sure {
            return Reading::default();
        }
        let mut run = TestRun::new(Form::PytestLog);
        "pytest".clone_into(&mut run.name);
        run.exit_code = self.exit;
        run.first = self.first;
        run.last = self.last;
        if let (Some(first), Some(last)) = (self.first, self.last) {
            #[expect(
                clippy::cast_precision_loss,
                reason = "a span of microseconds is far below 2^53"
            )]
            let seconds = (last.at.0 - first.at.0) as f64 / 1e6;
            run.durations.push(Duration {
                seconds,
                rule: "from the first phase to the last",
            });
        }
        if !self.is_ended {
            note(&mut run, Incomplete::NoEnd);
        }
        if self.is_cut {
            note(&mut run, Incomplete::CutLine);
        }
        // Interrupted, or an error of pytest itself: tests were left out that nothing names.
        if matches!(self.exit, Some(2 | 3)) {
            note(&mut run, Incomplete::Stopped);
        }
        if self.bad > 0 {
            let text = several(self.bad, "line is", "lines are") + " no JSON of a report log";
            run.remark(RemarkKind::Unreadable, text, self.bad_at);
        }
        for (name, open) in std::mem::take(&mut self.open) {
            if open.is_done || self.is_ended {
                self.cases.add(case(name, open));
                continue;
            }
            note(&mut run, Incomplete::TestsRunning);
            run.running.push(Running {
                name,
                level: "test".to_owned(),
                began: open.began,
                is_innermost: true,
                place: open.place,
            });
        }
        run.attributes = std::mem::take(&mut self.attributes);
        self.cases.fill(&mut run);
        Reading {
            runs: vec![run],
            ..Reading::default()
        }
    }
}

impl PytestLog {
    fn report(&mut self, report: &Report<'_>, place: Place) {
        match report.kind.as_ref() {
            "SessionStart" => {
                self.is_sure = true;
                if let Some(version) = &report.pytest_version {
                    self.attributes
                        .insert("pytest".to_owned(), bounded(version, 100));
                }
            }
            "SessionFinish" => {
                self.is_ended = true;
                self.exit = report.exitstatus;
            }
            "CollectReport" => {
                self.is_sure = true;
                if report.outcome == "failed" {
                    let mut open = opened(place);
                    open.outcome = "error";
                    open.failure = failure(report.longrepr.as_ref());
                    self.cases
                        .add(case(bounded(&report.nodeid, NAME_BYTES_MAX), open));
                }
            }
            "TestReport" | "SubTestReport" => {
                self.is_sure = true;
                self.phase(report, place);
            }
            _ => {}
        }
    }

    fn phase(&mut self, report: &Report<'_>, place: Place) {
        // Nought is no moment: xdist writes it for a worker that is gone, unittest for its subtests.
        let moment = |seconds: Option<f64>| {
            let seconds = seconds.filter(|it| *it > 0.0);
            seconds.and_then(Moment::from_epoch)
        };
        let (began, ended) = (moment(report.start), moment(report.stop));
        self.first = self.first.into_iter().chain(began).min_by_key(|it| it.at);
        self.last = self.last.into_iter().chain(ended).max_by_key(|it| it.at);
        let name = bounded(&report.nodeid, NAME_BYTES_MAX);
        if self.open.len() >= OPEN_MAX && !self.open.contains_key(&name) {
            return;
        }
        let open = self
            .open
            .entry(name.clone())
            .or_insert_with(|| opened(place));
        open.began = open.began.or(began);
        if report.kind == "SubTestReport" {
            // Its time is in that of its test, whose phase follows.
            if report.outcome == "failed" && !open.has_failed_subtest {
                open.has_failed_subtest = true;
                open.fails("failed", report, ended, place);
            }
            return;
        }
        open.seconds += report.duration.unwrap_or(0.0);
        let when = report.when.as_deref().unwrap_or_default();
        match (report.outcome.as_ref(), when) {
            ("rerun", _) => {
                open.tries += 1;
                open.reruns = true;
                open.has_failed_subtest = false;
            }
            (_, "call") if open.has_failed_subtest => open.ended = ended.or(open.ended),
            // Of a worker that is gone no phase is known.
            ("failed", "call" | "???") => open.fails("failed", report, ended, place),
            // A failure of setup or teardown is an error, unless the test failed by itself.
            ("failed", _) if open.outcome != "failed" => {
                open.fails("error", report, ended, place);
            }
            ("skipped", _) if report.wasxfail.is_some() => {
                open.outcome = "xfailed";
                open.reason = report.wasxfail.clone().unwrap_or_default();
                open.place = place;
            }
            ("skipped", _) => open.outcome = "skipped",
            ("passed", "call") => {
                open.outcome = if report.wasxfail.is_some() {
                    "xpassed"
                } else {
                    "passed"
                };
            }
            _ => {}
        }
        // A try that is to be repeated ends with a teardown too; the next one begins with a setup.
        open.is_done = when == "teardown" && !open.reruns;
        open.reruns &= when != "teardown";
        if open.is_done
            && let Some(open) = self.open.remove(&name)
        {
            self.cases.add(case(name, open));
        }
    }
}

impl Open {
    fn fails(
        &mut self,
        outcome: &'static str,
        report: &Report<'_>,
        ended: Option<Moment>,
        place: Place,
    ) {
        self.outcome = outcome;
        self.failure = failure(report.longrepr.as_ref());
        self.ended = ended;
        self.place = place;
    }
}

fn opened(place: Place) -> Open {
    Open {
        outcome: "passed",
        failure: Failure::default(),
        reason: String::new(),
        seconds: 0.0,
        began: None,
        ended: None,
        tries: 0,
        place,
        reruns: false,
        has_failed_subtest: false,
        is_done: false,
    }
}

fn case(name: String, open: Open) -> Case {
    let file = name.split("::").next().unwrap_or_default().to_owned();
    Case {
        id: dotted(&name),
        suites: vec![file],
        name,
        outcome: open.outcome.into(),
        failure: open.failure,
        reason: bounded(&open.reason, NAME_BYTES_MAX),
        seconds: Some(open.seconds),
        began: open.began,
        ended: open.ended,
        failed_tries: open.tries,
        place: open.place,
    }
}

fn failure(long: Option<&Long<'_>>) -> Failure {
    match long {
        Some(Long::Traceback {
            reprcrash,
            reprtraceback,
        }) => {
            let mut text = String::new();
            for data in reprtraceback
                .iter()
                .flat_map(|it| &it.reprentries)
                .filter_map(|it| it.data.as_ref())
            {
                for line in &data.lines {
                    text.push_str(line);
                    text.push('\n');
                }
                if let Some(at) = &data.reprfileloc {
                    let line = format!("{}:{}: {}\n", at.path, at.lineno, at.message);
                    text.push_str(&line);
                }
            }
            let message = reprcrash.as_ref().map_or("", |it| it.message.as_str());
            let mut failure = Failure::read(message, &text);
            if let (None, Some(crash)) = (&failure.own, reprcrash) {
                failure.own = Some(Frame {
                    file: crash.path.clone(),
                    line: crash.lineno,
                    function: String::new(),
                });
            }
            failure
        }
        Some(Long::Skip(_, _, reason)) => Failure::read(reason, ""),
        Some(Long::Text(text)) => Failure::read("", text),
        Some(Long::Other(_)) | None => Failure::default(),
    }
}
