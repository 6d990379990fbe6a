//! What google test prints.
//!
//! ```text
//! [==========] Running 2 tests from 1 test suite.
//! [ RUN      ] Ledger.Copies
//! ledger.cpp:6: Failure
//! Expected equality of these values:
//! [  FAILED  ] Ledger.Copies (0 ms)
//! [==========] 2 tests from 1 test suite ran. (0 ms total)
//! [  PASSED  ] 1 test.
//! [  FAILED  ] 1 test, listed below:
//! [  FAILED  ] Ledger.Copies
//!   YOU HAVE 1 DISABLED TEST
//! ```
//!
//! A test prints what it likes, also such lines, and need not end its last line: only its own name ends it. A process that dies
//! leaves the test that ran without a result and prints no sums.

use std::collections::{BTreeMap, BTreeSet};

use super::case::{Case, Cases, note};
use super::failure::Failure;
use super::jobs::unstamp::plain;
use super::model::{
    Duration, Incomplete, Moment, NAME_BYTES_MAX, Place, RemarkKind, Running, TestRun, bounded,
};
use super::{Form, Line, LineReader, Reading};
use crate::record::split_lines;

/// What a test printed, as far as it is read.
const OUTPUT_BYTES_MAX: usize = 64 * 1024;

/// Further failures of one test that are kept.
const FAILURES_MAX: usize = 20;

/// Names of tests that are kept.
const KEPT_MAX: usize = 200_000;

const BAR: &str = "[==========] ";

/// The signs of outcomes and what they say.
const SIGNS: &[(&str, &str)] = &[
    ("[       OK ] ", "passed"),
    ("[  PASSED  ] ", "passed"),
    ("[  FAILED  ] ", "failed"),
    ("[  SKIPPED ] ", "skipped"),
];

pub(super) fn claims(sample: &[u8]) -> bool {
    if memchr::memmem::find(sample, BAR.trim_end().as_bytes()).is_none() {
        return false;
    }
    split_lines(sample).any(|line| {
        let line = plain(line.trim_ascii_end());
        let text = std::str::from_utf8(&line).unwrap_or_default();
        text.strip_prefix(BAR)
            .is_some_and(|rest| is_head(rest) || is_end(rest))
    })
}

pub(super) fn reader() -> Box<dyn LineReader> {
    Box::new(GoogleText::default())
}

/// `Running 7 tests from 3 test suites.`
fn is_head(rest: &str) -> bool {
    rest.starts_with("Running ") && rest.contains(" from ")
}

/// `7 tests from 3 test suites ran. (0 ms total)`
fn is_end(rest: &str) -> bool {
    rest.starts_with(|c: char| c.is_ascii_digit()) && rest.contains(" ran.")
}

/// The test that runs.
#[derive(Debug)]
struct Open {
    name: String,
    output: String,
    began: Option<Moment>,
    place: Place,
}

#[derive(Debug, Default)]
struct GoogleText {
    runs: Vec<TestRun>,
    run: Option<TestRun>,
    open: Option<Open>,
    /// What was printed outside of tests: with `--gtest_brief` of tests whose beginning is not told.
    loose: String,
    cases: Cases,
    counted: BTreeMap<&'static str, u64>,
    names: BTreeSet<String>,
    sums: BTreeMap<&'static str, u64>,
    disabled: u64,
    is_ended: bool,
}

impl LineReader for GoogleText {
    fn line(&mut self, line: &Line<'_>) {
        let bytes = plain(line.bytes);
        let text = String::from_utf8_lossy(&bytes);
        let text = text.trim_end();
        if let Some(rest) = text.strip_prefix(BAR) {
            self.bar(rest, line);
            return;
        }
        if self.is_ended {
            self.behind(text, line);
            return;
        }
        if self.open.is_none()
            && let Some(name) = text.strip_prefix("[ RUN      ] ")
        {
            self.begin(name, line);
            return;
        }
        if let Some((before, outcome, name)) = self.outcome(text) {
            self.end(before, outcome, name, line);
            return;
        }
        // The lines around suites are google test's own.
        if text.starts_with("[----------] ") || text.starts_with("[ DISABLED ] ") {
            self.loose.clear();
            return;
        }
        let is_loose = self.open.is_none();
        let to = self
            .open
            .as_mut()
            .map_or(&mut self.loose, |it| &mut it.output);
        if to.len() + text.len() < OUTPUT_BYTES_MAX {
            to.push_str(text);
            to.push('\n');
        } else if is_loose {
            // Far before a failure stands nothing of it.
            to.clear();
        }
    }

    fn finish(mut self: Box<Self>) -> Reading {
        self.close();
        Reading {
            runs: self.runs,
            ..Reading::default()
        }
    }
}

impl GoogleText {
    fn bar(&mut self, rest: &str, line: &Line<'_>) {
        if is_head(rest) {
            self.close();
            self.start(line);
        } else if is_end(rest) && !self.is_ended {
            self.start(line);
            self.is_ended = true;
            let milliseconds = rest
                .split_once('(')
                .and_then(|(_, it)| it.split_once(" ms total)"))
                .and_then(|(number, _)| number.parse::<u32>().ok());
            if let (Some(run), Some(milliseconds)) = (&mut self.run, milliseconds) {
                run.durations.push(Duration {
                    seconds: f64::from(milliseconds) / 1e3,
                    rule: "as google test states it",
                });
            }
        }
    }

    fn start(&mut self, line: &Line<'_>) {
        let run = self.run.get_or_insert_with(|| {
            let mut run = TestRun::new(Form::GoogleText);
            // As its own reports name the root.
            "AllTests".clone_into(&mut run.name);
            run.place = line.place;
            run
        });
        if let Some(printed) = line.printed {
            run.note_moment(printed);
        }
    }

    fn begin(&mut self, name: &str, line: &Line<'_>) {
        self.start(line);
        self.loose.clear();
        self.open = Some(Open {
            name: bounded(name, NAME_BYTES_MAX),
            output: String::new(),
            began: line.printed,
            place: line.place,
        });
    }

    /// What a line prints before an outcome, the outcome, and the test with what follows its name.
    fn outcome<'t>(&self, text: &'t str) -> Option<(&'t str, &'static str, &'t str)> {
        if self.open.is_none() && !text.starts_with('[') {
            return None;
        }
        SIGNS.iter().find_map(|(sign, outcome)| {
            let at = text.rfind(sign)?;
            let rest = &text[at + sign.len()..];
            let is_own = match &self.open {
                Some(open) => rest.strip_prefix(open.name.as_str()).is_some_and(|it| {
                    it.is_empty() || it.starts_with(" (") || it.starts_with(", where ")
                }),
                None => at == 0 && self.run.is_none() && rest.ends_with(" ms)"),
            };
            is_own.then_some((&text[..at], *outcome, rest))
        })
    }

    fn end(&mut self, before: &str, outcome: &'static str, rest: &str, line: &Line<'_>) {
        let (rest, milliseconds) = match rest.rsplit_once(" (") {
            Some((name, time)) if time.ends_with(" ms)") => (name, time.strip_suffix(" ms)")),
            _ => (rest, None),
        };
        let open = self.open.take();
        let mut output = std::mem::take(&mut self.loose);
        let (mut began, mut place) = (None, line.place);
        if let Some(open) = open {
            (output, began, place) = (open.output, open.began, open.place);
        }
        output.push_str(before);
        let seconds = milliseconds.and_then(|it| it.parse::<u32>().ok());
        let case = case(rest, outcome, &output);
        *self.counted.entry(outcome).or_default() += 1;
        if self.names.len() < KEPT_MAX {
            self.names.insert(case.name.clone());
        }
        if let (Some(run), Some(printed)) = (&mut self.run, line.printed) {
            run.note_moment(printed);
        }
        self.cases.add(Case {
            seconds: seconds.map(|it| f64::from(it) / 1e3),
            began,
            ended: line.printed,
            place,
            ..case
        });
    }

    /// The sums, and the list of the tests that failed.
    fn behind(&mut self, text: &str, line: &Line<'_>) {
        if let Some(count) = text.strip_prefix("  YOU HAVE ") {
            self.disabled = number(count).unwrap_or(0);
            return;
        }
        let Some((outcome, rest)) = SIGNS
            .iter()
            .find_map(|(sign, outcome)| Some((*outcome, text.strip_prefix(sign)?)))
        else {
            return;
        };
        let sum = number(rest).filter(|_| rest.contains(" test"));
        if let Some(count) = sum {
            self.sums.insert(outcome, count);
        } else if outcome == "failed" {
            let case = case(rest, outcome, "");
            let is_new = self.names.len() < KEPT_MAX && !self.names.contains(&case.name);
            if rest.contains(": SetUpTestSuite or TearDownTestSuite") {
                self.fault(rest);
            } else if is_new {
                self.names.insert(case.name.clone());
                *self.counted.entry(outcome).or_default() += 1;
                let place = line.place;
                self.cases.add(Case { place, ..case });
            }
        }
    }

    fn fault(&mut self, text: &str) {
        if let Some(run) = &mut self.run {
            run.faults.push(bounded(text, NAME_BYTES_MAX));
        }
    }

    fn close(&mut self) {
        let open = self.open.take();
        self.loose.clear();
        let cases = std::mem::take(&mut self.cases);
        let counted = std::mem::take(&mut self.counted);
        let sums = std::mem::take(&mut self.sums);
        let disabled = std::mem::take(&mut self.disabled);
        let is_ended = std::mem::take(&mut self.is_ended);
        self.names.clear();
        let Some(mut run) = self.run.take() else {
            return;
        };
        cases.fill(&mut run);
        if !is_ended {
            note(&mut run, Incomplete::NoEnd);
        }
        if let Some(open) = open {
            note(&mut run, Incomplete::TestsRunning);
            run.running.push(Running {
                name: open.name,
                level: "test".to_owned(),
                began: open.began,
                is_innermost: true,
                place: open.place,
            });
        }
        // In brief there is no sum of those that failed.
        let is_summed_up = counted.keys().all(|outcome| sums.contains_key(outcome));
        for (outcome, count) in sums {
            if is_summed_up {
                run.state("test", outcome, count);
            }
            let rest = count.saturating_sub(counted.get(outcome).copied().unwrap_or(0));
            if rest > 0 {
                run.count_many("test", outcome, rest);
            }
            if rest > 0 && outcome == "failed" {
                run.count_unlisted("test", rest, rest);
                let text = format!("{rest} failing tests are counted and not named");
                run.remark(RemarkKind::LeavesOut, text, Place::default());
            }
        }
        if disabled > 0 {
            if is_summed_up {
                run.state("test", "skipped", disabled);
            }
            run.count_many("test", "skipped", disabled);
        }
        self.runs.push(run);
    }
}

/// The number in front of a text.
fn number(text: &str) -> Option<u64> {
    text.split(' ').next()?.parse().ok()
}

/// `Keys/Partition.Rows/1, where GetParam() = "b"`: named as the reports in JSON and XML name it.
fn case(rest: &str, outcome: &'static str, output: &str) -> Case {
    let (name, parameter) = match rest.split_once(", where ") {
        Some((name, what)) => (name, what.split_once(" = ")),
        None => (rest, None),
    };
    let name = match parameter {
        Some(("GetParam()", value)) => format!("{name} ({value})"),
        Some((_, kind)) => format!("{name} <{kind}>"),
        None => name.to_owned(),
    };
    let name = bounded(&name, NAME_BYTES_MAX);
    let suite = name.split('.').next().unwrap_or_default().to_owned();
    Case {
        id: name.clone(),
        suites: vec![suite],
        outcome: outcome.into(),
        failure: if outcome == "failed" {
            failure(output)
        } else {
            Failure::default()
        },
        name,
        ..Case::default()
    }
}

/// The first failure in what a test printed, with what the others say: each stands below the place of its expectation.
fn failure(output: &str) -> Failure {
    let mut failures: Vec<String> = Vec::new();
    for line in output.lines() {
        if let Some(place) = line.trim_end().strip_suffix(": Failure") {
            // A test need not end the line that it printed before.
            let place = place.rsplit(' ').next().filter(|_| place != "unknown file");
            failures.push(place.unwrap_or("unknown file").to_owned());
        } else if let Some(last) = failures.last_mut() {
            last.push('\n');
            last.push_str(line);
        }
    }
    let Some((first, others)) = failures.split_first() else {
        return Failure::read("", output);
    };
    let others = others.iter().take(FAILURES_MAX);
    Failure {
        also: others.map(|it| Failure::read("", it).words()).collect(),
        ..Failure::read("", first)
    }
}
