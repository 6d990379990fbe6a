//! What `cargo test` prints: the tests of each binary, then what the failing ones printed.
//!
//! ```text
//!      Running tests/cluster.rs (target/debug/deps/cluster-0a1b)
//! running 2 tests
//! test copies ... FAILED
//! ---- copies stdout ----
//! thread 'copies' (13634) panicked at tests/cluster.rs:11:13:
//! test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s
//! ```
//!
//! A test may run `cargo test` itself and print what that prints: such lines are its output and count no test.

use super::case::{Case, Cases, note};
use super::failure::Failure;
use super::jobs::unstamp::plain;
use super::model::{
    Duration, Incomplete, Moment, NAME_BYTES_MAX, Place, RemarkKind, Running, TestRun, bounded,
};
use super::{Form, Line, LineReader, Reading};
use crate::record::split_lines;

/// What a failing test printed, as far as it is read.
const OUTPUT_BYTES_MAX: usize = 64 * 1024;

/// Failing tests whose output is awaited.
const KEPT_MAX: usize = 20_000;

pub(super) fn claims(sample: &[u8]) -> bool {
    let mut lines = split_lines(sample).map(|line| plain(line.trim_ascii_end()));
    let is_head = |line: &[u8]| running(std::str::from_utf8(line).unwrap_or_default()).is_some();
    lines.any(|line| is_head(&line)) && lines.any(|line| line.starts_with(b"test "))
}

pub(super) fn reader() -> Box<dyn LineReader> {
    Box::new(CargoText::default())
}

/// A test binary that runs.
#[derive(Debug)]
struct Binary {
    name: String,
    expected: u64,
    told: u64,
    failed: Vec<(Case, String)>,
    /// Which failing test's output is being read.
    output: Option<usize>,
    cut: Option<(String, Place)>,
}

#[derive(Debug, Default)]
struct CargoText {
    /// What cargo said it runs, until it runs.
    announced: String,
    binary: Option<Binary>,
    /// Runs of tests that a test prints.
    nested: u64,
    nested_all: u64,
    cases: Cases,
    run: Option<TestRun>,
    seconds: f64,
    died: u64,
    is_ended: bool,
    first: Option<Moment>,
    last: Option<Moment>,
}

impl LineReader for CargoText {
    fn line(&mut self, line: &Line<'_>) {
        let bytes = plain(line.bytes);
        let text = String::from_utf8_lossy(&bytes);
        let text = text.trim_end();
        let inner = text.trim_start();
        if let Some(what) = inner
            .strip_prefix("Running ")
            .or_else(|| inner.strip_prefix("Doc-tests "))
            && text.len() > inner.len()
        {
            self.close(false);
            self.announced = bounded(what.split(" (").next().unwrap_or_default(), NAME_BYTES_MAX);
            return;
        }
        if let Some(expected) = running(text) {
            self.open(expected, line);
            return;
        }
        if self.run.is_none() {
            return;
        }
        if self.binary.is_some() {
            self.last = line.printed.or(self.last);
        }
        // In what a failing test printed such a line is that test's.
        let is_output =
            self.nested == 0 && self.binary.as_ref().is_some_and(|it| it.output.is_some());
        if text.starts_with("test result: ") && !is_output {
            self.result(text);
        } else if text.starts_with("error: test failed")
            || text.starts_with("error: doctest failed")
        {
            self.close(false);
        } else if self.nested == 0 {
            self.inside(text, line);
        }
    }

    fn finish(mut self: Box<Self>) -> Reading {
        self.close(true);
        let Some(mut run) = self.run.take() else {
            return Reading::default();
        };
        self.cases.fill(&mut run);
        if self.seconds > 0.0 {
            run.durations.push(Duration {
                seconds: self.seconds,
                rule: "the times of its binaries, added",
            });
        }
        for moment in [self.first, self.last].into_iter().flatten() {
            run.note_moment(moment);
        }
        let is_bad = self.died > 0 || !run.failing.is_empty();
        run.exit_code = run.is_complete().then_some(if is_bad { 101 } else { 0 });
        if self.nested_all > 0 {
            let text = format!(
                "{} runs of tests stand in what tests print, and are not counted",
                self.nested_all
            );
            run.remark(RemarkKind::Reading, text, Place::default());
        }
        Reading {
            runs: vec![run],
            ..Reading::default()
        }
    }
}

impl CargoText {
    fn open(&mut self, expected: u64, line: &Line<'_>) {
        let is_inside = self
            .binary
            .as_ref()
            .is_some_and(|it| it.told < it.expected || it.output.is_some());
        if is_inside {
            self.nested += 1;
            self.nested_all += 1;
            return;
        }
        self.close(false);
        self.first = self.first.or(line.printed);
        self.last = line.printed.or(self.last);
        self.is_ended = false;
        self.run.get_or_insert_with(|| {
            let mut run = TestRun::new(Form::CargoText);
            "cargo test".clone_into(&mut run.name);
            run.place = line.place;
            run
        });
        self.binary = Some(Binary {
            name: std::mem::take(&mut self.announced),
            expected,
            told: 0,
            failed: Vec::new(),
            output: None,
            cut: None,
        });
    }

    /// A line of the binary itself.
    fn inside(&mut self, text: &str, line: &Line<'_>) {
        let Some(binary) = &mut self.binary else {
            return;
        };
        if let Some(name) = text
            .strip_prefix("---- ")
            .and_then(|it| it.strip_suffix(" stdout ----"))
        {
            binary.output = binary.failed.iter().position(|(case, _)| case.name == name);
            return;
        }
        if text == "failures:" {
            binary.output = None;
            return;
        }
        if let Some(at) = binary.output {
            let (_, output) = &mut binary.failed[at];
            if output.len() + text.len() < OUTPUT_BYTES_MAX {
                output.push_str(text);
                output.push('\n');
            }
            return;
        }
        let Some(rest) = text.strip_prefix("test ") else {
            return;
        };
        let Some((name, outcome)) = rest.rsplit_once(" ... ") else {
            if let Some(name) = rest.strip_suffix(" ...") {
                binary.cut = Some((bounded(name, NAME_BYTES_MAX), line.place));
            }
            return;
        };
        binary.cut = None;
        let outcome = match outcome.split([',', ' ', ':']).next().unwrap_or_default() {
            "ok" | "bench" => "ok",
            "FAILED" => "failed",
            "ignored" => "ignored",
            _ => return,
        };
        binary.told += 1;
        let case = Case {
            name: bounded(
                name.strip_suffix(" - should panic").unwrap_or(name),
                NAME_BYTES_MAX,
            ),
            suites: vec![binary.name.clone()],
            outcome: outcome.into(),
            ended: line.printed,
            place: line.place,
            ..Case::default()
        };
        if outcome == "failed" && binary.failed.len() < KEPT_MAX {
            binary.failed.push((case, String::new()));
        } else {
            self.cases.add(case);
        }
    }

    /// `test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s`.
    fn result(&mut self, text: &str) {
        if self.nested > 0 {
            self.nested -= 1;
            return;
        }
        let Some(run) = &mut self.run else { return };
        let (counts, seconds) = text.rsplit_once("finished in ").unwrap_or((text, ""));
        let counts = counts.split_once(". ").map_or("", |(_, counts)| counts);
        for part in counts.split("; ") {
            let Some((number, word)) = part.trim().split_once(' ') else {
                continue;
            };
            let Ok(number) = number.parse::<u64>() else {
                continue;
            };
            match word.trim_end_matches(';') {
                "passed" => run.state("test", "ok", number),
                "failed" => run.state("test", "failed", number),
                "ignored" => run.state("test", "ignored", number),
                "filtered out" => run.filtered_out += number,
                _ => {}
            }
        }
        let seconds: f64 = seconds.trim_end_matches('s').parse().unwrap_or(0.0);
        self.seconds += if seconds.is_finite() { seconds } else { 0.0 };
        self.is_ended = true;
        self.close(true);
    }

    /// Ends the binary that runs: its tests are told, or what ran them died or was cut.
    fn close(&mut self, is_end: bool) {
        self.nested = 0;
        let (Some(binary), Some(run)) = (self.binary.take(), &mut self.run) else {
            return;
        };
        for (mut case, output) in binary.failed {
            case.failure = Failure::read("", &output);
            case.id = format!("{} {}", binary.name, case.name);
            self.cases.add(case);
        }
        if std::mem::take(&mut self.is_ended) {
            return;
        }
        let missing = binary.expected.saturating_sub(binary.told);
        let place = binary.cut.as_ref().map_or(run.place, |it| it.1);
        if is_end {
            note(run, Incomplete::NoEnd);
        } else {
            // Cargo went on: the process of this binary ended without its result.
            self.died += 1;
            note(run, Incomplete::Stopped);
            let text = format!(
                "{} ended without a result; {missing} of its tests have none",
                binary.name
            );
            run.remark(RemarkKind::LeavesOut, text, place);
        }
        if let Some((name, place)) = binary.cut {
            note(run, Incomplete::TestsRunning);
            run.running.push(Running {
                name,
                level: "test".to_owned(),
                began: None,
                is_innermost: true,
                place,
            });
        }
    }
}

/// `running 3 tests`.
fn running(text: &str) -> Option<u64> {
    let rest = text.strip_prefix("running ")?;
    let number = rest
        .strip_suffix(" tests")
        .or_else(|| rest.strip_suffix(" test"))?;
    number.parse().ok()
}
