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
//!
//! Tests that run at once write over each other, and `--quiet` prints a letter for each, so the list below `failures:` names those
//! that failed, and the sums count those that no line tells. Nothing here says how cargo itself ended, so no exit code is given;
//! what it says of a target that failed is.

use super::super::case::{Cases, note};
use super::super::jobs::unstamp::plain;
use super::super::model::{
    Duration, Incomplete, Moment, NAME_BYTES_MAX, Place, RemarkKind, Running, TestRun, bounded,
};
use super::super::{Form, Line, LineReader, Reading};
use super::binary::{Binary, End, Sums};
use super::nextest;
use crate::record::split_lines;
use crate::vocab::several;

/// What a failing test printed, as far as it is read.
const OUTPUT_BYTES_MAX: usize = 64 * 1024;

/// Failing tests whose output is awaited.
pub(super) const KEPT_MAX: usize = 20_000;

pub(crate) fn claims(sample: &[u8]) -> bool {
    let mut lines = split_lines(sample).map(|line| plain(line.trim_ascii_end()));
    let text = |line: &[u8]| String::from_utf8_lossy(line).into_owned();
    let is_head = |line: &[u8]| running(&text(line)).is_some() || is_broken(&text(line));
    let Some(head) = lines.find(|line| is_head(line)) else {
        return false;
    };
    is_broken(&text(&head)) || lines.any(|line| line.starts_with(b"test "))
}

pub(crate) fn reader() -> Box<dyn LineReader> {
    Box::new(CargoText {
        is_summed_up: true,
        ..CargoText::default()
    })
}

#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
struct CargoText {
    /// What cargo said it runs, until it runs.
    announced: String,
    binary: Option<Binary>,
    /// Runs of tests that a test prints.
    nested: u64,
    nested_all: u64,
    /// What cargo, or a cargo that a test runs, says failed while tests that print runs of tests are read.
    nested_error: Option<String>,
    cases: Cases,
    /// Whether every binary has its sums.
    is_summed_up: bool,
    /// Tests that the sums count and no line or list names.
    unnamed: Sums,
    /// Whether a listed test explains that the target that was run last failed, and any that one failed.
    is_explained: bool,
    is_any_explained: bool,
    /// Whether what a process ended by may follow the last fault.
    awaits_cause: bool,
    /// Whether nextest runs, which prints what its binaries print.
    is_nextest: bool,
    run: Option<TestRun>,
    seconds: f64,
    first: Option<Moment>,
    last: Option<Moment>,
}

impl LineReader for CargoText {
    fn line(&mut self, line: &Line<'_>) {
        let bytes = plain(line.bytes);
        let text = String::from_utf8_lossy(&bytes);
        let text = text.trim_end();
        let inner = text.trim_start();
        self.is_nextest |= nextest::begins(text);
        if self.is_nextest {
            self.is_nextest = nextest::summary(text).is_none();
            return;
        }
        if let Some(what) = inner
            .strip_prefix("Running ")
            .or_else(|| inner.strip_prefix("Doc-tests "))
            && text.len() > inner.len()
        {
            self.close(End::Left);
            self.is_explained = false;
            self.announced = bounded(what.split(" (").next().unwrap_or_default(), NAME_BYTES_MAX);
            return;
        }
        if let Some(expected) = running(text) {
            self.open(expected, line);
            return;
        }
        // In what a failing test printed such a line is that test's.
        let is_output =
            self.nested == 0 && self.binary.as_ref().is_some_and(|it| it.output.is_some());
        if is_error(text) && !is_output && self.is_known(text) {
            self.error(text, line);
            return;
        }
        if self.run.is_none() {
            return;
        }
        if self.binary.is_some() {
            self.last = line.printed.or(self.last);
        }
        if text.starts_with("test result: ") && !is_output {
            self.result(text);
        } else if self.binary.is_none() {
            self.cause(inner);
        } else if self.nested == 0 {
            self.inside(text, line);
        }
    }

    fn finish(mut self: Box<Self>) -> Reading {
        self.close(End::OfSource);
        let Some(mut run) = self.run.take() else {
            return Reading::default();
        };
        if !self.announced.is_empty() {
            note(&mut run, Incomplete::NoEnd);
            let text = format!("nothing says how {} ended", self.announced);
            run.remark(RemarkKind::LeavesOut, text, Place::default());
        }
        if !self.is_summed_up {
            // Sums of some binaries are none of all.
            run.stated.clear();
        }
        self.cases.fill(&mut run);
        let Sums {
            passed,
            failed,
            ignored,
        } = self.unnamed;
        for (word, count) in [("ok", passed), ("failed", failed), ("ignored", ignored)] {
            if count > 0 {
                run.count_many("test", word, count);
            }
        }
        if failed > 0 {
            run.count_unlisted("test", failed, failed);
            let text = format!("{failed} failing tests are counted and not named");
            run.remark(RemarkKind::LeavesOut, text, Place::default());
        }
        if self.seconds > 0.0 {
            run.durations.push(Duration {
                seconds: self.seconds,
                rule: "the times of its binaries, added",
            });
        }
        for moment in [self.first, self.last].into_iter().flatten() {
            run.note_moment(moment);
        }
        if self.nested_all > 0 {
            let text = format!(
                "{} in what tests print, and not counted",
                several(self.nested_all, "run of tests is", "runs of tests are")
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
    fn run(&mut self, line: &Line<'_>) -> &mut TestRun {
        self.run.get_or_insert_with(|| {
            let mut run = TestRun::new(Form::CargoText);
            "cargo test".clone_into(&mut run.name);
            run.place = line.place;
            run
        })
    }

    /// Whether an error is one of a run of tests, and not of another command of cargo.
    fn is_known(&self, text: &str) -> bool {
        self.run.is_some() || !self.announced.is_empty() || is_broken(text)
    }

    fn open(&mut self, expected: u64, line: &Line<'_>) {
        let is_inside = self
            .binary
            .as_ref()
            .is_some_and(|it| it.told.all() < it.expected || it.output.is_some());
        if is_inside {
            self.nested += 1;
            self.nested_all += 1;
            return;
        }
        self.close(End::Left);
        self.first = self.first.or(line.printed);
        self.last = line.printed.or(self.last);
        self.run(line);
        let name = std::mem::take(&mut self.announced);
        self.binary = Some(Binary::new(name, expected));
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
            binary.is_listing = false;
            binary.output = None;
            if binary.sections.len() < KEPT_MAX {
                binary.output = Some(binary.sections.len());
                let name = bounded(name, NAME_BYTES_MAX);
                binary.sections.push((name, String::new()));
            }
            return;
        }
        if text == "failures:" {
            binary.output = None;
            binary.is_listing = true;
            binary.listed.clear();
            return;
        }
        if let Some(at) = binary.output {
            let (_, output) = &mut binary.sections[at];
            if output.len() + text.len() < OUTPUT_BYTES_MAX {
                output.push_str(text);
                output.push('\n');
            }
            return;
        }
        if binary.is_listing
            && binary.listed.len() < KEPT_MAX
            && let Some(name) = text.strip_prefix("    ")
        {
            binary.listed.push(bounded(name, NAME_BYTES_MAX));
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
        let (outcome, told) = match outcome.split([',', ' ', ':']).next().unwrap_or_default() {
            "ok" | "bench" => ("ok", &mut binary.told.passed),
            "FAILED" => ("failed", &mut binary.told.failed),
            "ignored" => ("ignored", &mut binary.told.ignored),
            _ => return,
        };
        *told += 1;
        let name = name.strip_suffix(" - should panic").unwrap_or(name);
        let case = binary.case(name, outcome, Some(line));
        if outcome == "failed" && binary.failed.len() < KEPT_MAX {
            binary.failed.push(case);
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
        let mut sums = Sums::default();
        let mut filtered_out = 0;
        for part in counts.split("; ") {
            let Some((number, word)) = part.trim().split_once(' ') else {
                continue;
            };
            let Ok(number) = number.parse::<u64>() else {
                continue;
            };
            match word.trim_end_matches(';') {
                "passed" | "measured" => sums.passed += number,
                "failed" => sums.failed += number,
                "ignored" => sums.ignored += number,
                "filtered out" => filtered_out = number,
                _ => {}
            }
        }
        // A test may print the end of another run: its own binary has as many results as tests.
        let expected = self.binary.as_ref().map_or(0, |it| it.expected);
        if text.starts_with("test result: ok") && sums.all() < expected {
            return;
        }
        run.filtered_out += filtered_out;
        run.state("test", "ok", sums.passed);
        run.state("test", "failed", sums.failed);
        run.state("test", "ignored", sums.ignored);
        let seconds: f64 = seconds.trim_end_matches('s').parse().unwrap_or(0.0);
        self.seconds += if seconds.is_finite() { seconds } else { 0.0 };
        self.is_explained = sums.failed > 0;
        self.is_any_explained |= self.is_explained;
        self.close(End::Summed(sums));
    }

    /// What cargo says that failed: a target, or what was to be built.
    fn error(&mut self, text: &str, line: &Line<'_>) {
        if self.nested > 0 {
            self.nested_error = Some(bounded(text, NAME_BYTES_MAX));
            return;
        }
        self.awaits_cause = false;
        let announced = std::mem::take(&mut self.announced);
        let says = match &self.binary {
            Some(binary) => format!("{} ended without a result: {text}", binary.name),
            None if announced.is_empty() => text.to_owned(),
            None => format!("{announced}: {text}"),
        };
        let is_build = text.starts_with("error: could not compile");
        let is_sum = text.ends_with("failed:");
        let is_said = self.run.as_ref().is_some_and(|run| !run.faults.is_empty());
        let is_explained = !is_build
            && self.binary.is_none()
            && announced.is_empty()
            && (self.is_explained || is_sum && (self.is_any_explained || is_said));
        self.close(End::Left);
        if !is_explained {
            self.run(line).faults.push(bounded(&says, NAME_BYTES_MAX));
            self.awaits_cause = true;
        }
    }

    /// `process didn't exit successfully: ... (signal: 6, SIGABRT: process abort signal)`, below what failed.
    fn cause(&mut self, inner: &str) {
        if !self.awaits_cause || !inner.starts_with("process didn't exit successfully: ") {
            return;
        }
        self.awaits_cause = false;
        let how = inner.rsplit_once(" (").map(|(_, how)| how);
        let fault = self.run.as_mut().and_then(|run| run.faults.last_mut());
        if let (Some(how), Some(fault)) = (how, fault) {
            *fault = bounded(&format!("{fault} ({how}"), NAME_BYTES_MAX);
        }
    }

    /// Ends the binary that runs: its tests are told, or what ran them died or was cut.
    fn close(&mut self, end: End) {
        self.nested = 0;
        let error = self.nested_error.take();
        let (Some(mut binary), Some(run)) = (self.binary.take(), &mut self.run) else {
            return;
        };
        let sums = match end {
            End::Summed(sums) => Some(sums),
            End::Left | End::OfSource => None,
        };
        binary.add_listed(sums, run.place);
        for case in binary.take_failed() {
            self.cases.add(case);
        }
        if let Some(sums) = sums {
            let missing = binary.told.missing_of(sums);
            self.unnamed.passed += missing.passed;
            self.unnamed.failed += missing.failed;
            self.unnamed.ignored += missing.ignored;
            return;
        }
        self.is_summed_up = false;
        // What stood among the prints of tests was cargo's own: the binary never ended.
        run.faults.extend(error);
        let missing = binary.expected.saturating_sub(binary.told.all());
        let place = binary.cut.as_ref().map_or(run.place, |it| it.1);
        if matches!(end, End::OfSource) {
            note(run, Incomplete::NoEnd);
        } else {
            // Cargo went on: the process of this binary ended without its result.
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

/// Whether cargo says on a line that a target, or what was to be built for it, failed.
fn is_error(text: &str) -> bool {
    let Some(what) = text.strip_prefix("error: ") else {
        return false;
    };
    let is_sum = what.ends_with(" target failed:") || what.ends_with(" targets failed:");
    is_sum
        || [
            "test failed",
            "doctest failed",
            "could not compile",
            "failed to run custom build",
        ]
        .iter()
        .any(|start| what.starts_with(start))
}

/// Whether tests could not be built: `error: could not compile `a` (lib test) due to 1 previous error`.
fn is_broken(text: &str) -> bool {
    text.strip_prefix("error: could not compile `")
        .and_then(|rest| rest.split_once(')'))
        .is_some_and(|(target, _)| target.ends_with(" test") || target.contains("(test "))
}

/// `running 3 tests`.
fn running(text: &str) -> Option<u64> {
    let rest = text.strip_prefix("running ")?;
    let number = rest
        .strip_suffix(" tests")
        .or_else(|| rest.strip_suffix(" test"))?;
    number.parse().ok()
}
