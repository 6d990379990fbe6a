//! What `cargo nextest run` prints: a line for each test and try, what failing ones printed, and a summary that repeats some.
//!
//! ```text
//!  Nextest run ID ... with nextest profile: default
//!     Starting 7 tests across 2 binaries (1 test skipped)
//!         PASS [   0.004s] (3/7) ledger copies::plain
//!   TRY 1 FAIL [   0.178s] (───) ledger copies::replicated
//!   stderr ───
//!
//!     thread 'copies::replicated' panicked at src/lib.rs:4:52:
//!      Summary [   4.025s] 7 tests run: 3 passed (1 flaky), 3 failed, 1 timed out, 1 skipped
//! error: test run failed
//! ```
//!
//! Words stand right-aligned before the bracket, so that what a test prints is told from them by its column. `--status-level`
//! leaves lines out; the summary counts those.

use std::collections::BTreeMap;

use super::super::case::{Case, Cases, note};
use super::super::failure::Failure;
use super::super::jobs::unstamp::plain;
use super::super::model::{
    Duration, Incomplete, NAME_BYTES_MAX, Place, RemarkKind, Running, TestRun, bounded,
};
use super::super::{Form, Line, LineReader, Reading};
use crate::record::split_lines;

/// What a failing test printed, as far as it is read.
const OUTPUT_BYTES_MAX: usize = 64 * 1024;

/// Tests that are kept by name.
const KEPT_MAX: usize = 200_000;

/// Where the bracket with the time stands in a line of a test.
const BRACKET: usize = 13;

pub(crate) fn claims(sample: &[u8]) -> bool {
    let has = |word: &[u8]| memchr::memmem::find(sample, word).is_some();
    if !(has(b"Nextest run") || has(b"Starting") || has(b"Summary")) {
        return false;
    }
    split_lines(sample).any(|line| {
        let line = plain(line.trim_ascii_end());
        std::str::from_utf8(&line).is_ok_and(|text| begins(text) || summary(text).is_some())
    })
}

pub(crate) fn reader() -> Box<dyn LineReader> {
    Box::new(NextestText::default())
}

/// Whether a run begins with this line. Older versions give no id.
pub(super) fn begins(text: &str) -> bool {
    text.starts_with(" Nextest run ID ")
        || text.starts_with("    Starting ") && text.contains(" across ") && text.contains(" binar")
}

/// What follows the time in the line that sums up a run.
pub(super) fn summary(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("     Summary [")?;
    let (_, counts) = rest.split_once("] ")?;
    counts.contains("run: ").then_some(counts)
}

/// A line of a test.
struct Status<'a> {
    /// `PASS`, `FAIL`, `SIGABRT`, without what says which try it is.
    word: &'a str,
    seconds: Option<f64>,
    /// How many of how many tests; newer versions show it.
    is_counted: bool,
    /// The binary and the test.
    name: &'a str,
}

fn status(text: &str) -> Option<Status<'_>> {
    let (word, rest) = (text.get(..BRACKET)?, text.get(BRACKET..)?);
    let word = word.strip_suffix(' ')?.trim_start();
    let (time, rest) = rest.strip_prefix('[')?.split_once("] ")?;
    let (is_counted, name) = match rest.strip_prefix('(').and_then(|it| it.split_once(") ")) {
        Some((_, name)) => (true, name),
        None => (false, rest),
    };
    let word = match word.strip_prefix("TRY ").and_then(|it| it.split_once(' ')) {
        Some((_, word)) => word,
        None => word,
    };
    let is_word = word.starts_with(|c: char| c.is_ascii_uppercase());
    let time = time.trim_start_matches('>').trim();
    let seconds = time.strip_suffix('s').and_then(|it| it.parse().ok());
    // Before a test began, and for the scripts before all, there is no time.
    let is_time = seconds.is_some() || time.is_empty() || time.contains('/');
    (is_word && is_time && !name.trim().is_empty()).then(|| Status {
        word,
        seconds,
        is_counted,
        name: name.trim(),
    })
}

/// What a word says of a test; nothing where it only runs.
fn outcome(word: &str) -> Option<&'static str> {
    let first = word.split(' ').next().unwrap_or_default();
    match first {
        "START" | "SLOW" | "TERMINATING" | "TRMNTG" | "RETRY" | "DELAY" | "SKIP" | "SETUP" => None,
        "PASS" | "LEAK" | "FLAKY" | "TIMEOUT-PASS" | "TMPASS" => Some("passed"),
        _ => Some("failed"),
    }
}

#[derive(Debug)]
struct Told {
    outcome: &'static str,
    /// The word, where it says more than that it failed.
    word: String,
    failed_tries: u64,
    output: String,
    case: Case,
}

#[derive(Debug, Default)]
struct NextestText {
    runs: Vec<TestRun>,
    run: Option<TestRun>,
    told: Vec<Told>,
    by_name: BTreeMap<String, usize>,
    /// Tests that began, where that is shown, or run long.
    running: BTreeMap<String, Place>,
    /// Which test's output is being read.
    output: Option<usize>,
    /// The test of the line before, whose output may follow.
    before: Option<usize>,
    is_counted: bool,
    /// Tests by result, as summed up.
    sums: Option<BTreeMap<&'static str, u64>>,
}

impl LineReader for NextestText {
    fn line(&mut self, line: &Line<'_>) {
        let bytes = plain(line.bytes);
        let text = String::from_utf8_lossy(&bytes);
        let text = text.trim_end();
        if begins(text) {
            if self.sums.is_some() || !self.told.is_empty() {
                self.close();
            }
            self.open(line);
            return;
        }
        if self.run.is_none() && summary(text).is_none() {
            return;
        }
        if let Some(counts) = summary(text) {
            self.open(line);
            self.sum_up(text, counts);
        } else if let Some(status) = status(text) {
            self.status(&status, line);
        } else if self.sums.is_some() {
            self.behind(text);
        } else {
            self.between(text);
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

impl NextestText {
    fn open(&mut self, line: &Line<'_>) {
        let run = self.run.get_or_insert_with(|| {
            let mut run = TestRun::new(Form::NextestText);
            // As its XML has it.
            "nextest-run".clone_into(&mut run.name);
            run.place = line.place;
            run
        });
        if let Some(printed) = line.printed {
            run.note_moment(printed);
        }
    }

    fn status(&mut self, status: &Status<'_>, line: &Line<'_>) {
        // Where tests are counted, a line without that is what a test prints.
        if self.is_counted && !status.is_counted && !status.word.starts_with("SETUP") {
            return;
        }
        self.is_counted |= status.is_counted;
        self.output = None;
        self.before = None;
        if let (Some(run), Some(printed)) = (&mut self.run, line.printed) {
            run.note_moment(printed);
        }
        if let Some(how) = status.word.strip_prefix("SETUP ") {
            let is_bad = outcome(how) == Some("failed");
            if let Some(run) = self.run.as_mut().filter(|_| is_bad) {
                let text = format!("the setup script {} ended with {how}", status.name);
                run.faults.push(bounded(&text, NAME_BYTES_MAX));
            }
            return;
        }
        let Some(outcome) = outcome(status.word) else {
            if self.running.len() < KEPT_MAX && self.sums.is_none() {
                let name = bounded(status.name, NAME_BYTES_MAX);
                self.running.entry(name).or_insert(line.place);
            }
            return;
        };
        self.running.remove(status.name);
        self.tell(status, outcome, line);
    }

    fn tell(&mut self, status: &Status<'_>, outcome: &'static str, line: &Line<'_>) {
        if let Some(at) = self.by_name.get(status.name).copied() {
            // Below the summary stands what is told already.
            if self.sums.is_none() {
                let told = &mut self.told[at];
                told.failed_tries += u64::from(told.outcome == "failed");
                told.outcome = outcome;
                status.word.clone_into(&mut told.word);
                told.output.clear();
                told.case.seconds = status.seconds;
                told.case.ended = line.printed;
                told.case.place = line.place;
                self.before = Some(at);
            }
            return;
        }
        if self.told.len() >= KEPT_MAX {
            return;
        }
        let name = bounded(status.name, NAME_BYTES_MAX);
        let (binary, test) = name.split_once(' ').unwrap_or(("", &name));
        self.before = Some(self.told.len());
        self.by_name.insert(name.clone(), self.told.len());
        let case = Case {
            name: test.to_owned(),
            id: format!("{binary}.{test}"),
            suites: vec![binary.to_owned()],
            seconds: status.seconds,
            ended: line.printed,
            place: line.place,
            ..Case::default()
        };
        // A flaky test that is first told below the summary failed once at least.
        let failed_tries = u64::from(status.word.starts_with("FLAKY"));
        self.told.push(Told {
            outcome,
            word: status.word.to_owned(),
            failed_tries,
            output: String::new(),
            case,
        });
    }

    /// A line between those of tests: what a failing one printed.
    fn between(&mut self, text: &str) {
        let is_head = [
            "  stdout ───",
            "  stderr ───",
            "  output ───",
            "--- STDOUT: ",
            "--- STDERR: ",
        ]
        .iter()
        .any(|start| text.starts_with(start));
        if is_head {
            self.output = self.output.or(self.before);
            return;
        }
        if let Some(how) = text.strip_prefix("  Cancelling due to ") {
            self.output = None;
            if let Some(run) = &mut self.run {
                let is_stopped = how.starts_with("interrupt") || how.starts_with("signal");
                if is_stopped {
                    note(run, Incomplete::Stopped);
                }
                let text = format!("cancelled due to {}", how.trim_end_matches([':', ' ']));
                run.remark(RemarkKind::Reading, text, Place::default());
            }
            return;
        }
        if let Some(at) = self.output {
            let told = &mut self.told[at];
            let text = text.strip_prefix("    ").unwrap_or(text);
            if told.output.len() + text.len() < OUTPUT_BYTES_MAX {
                told.output.push_str(text);
                told.output.push('\n');
            }
        }
    }

    /// `7 tests run: 3 passed (1 flaky), 3 failed, 1 timed out, 1 skipped`, or `1/6 tests run: ...`.
    fn sum_up(&mut self, text: &str, counts: &str) {
        let Some(run) = &mut self.run else { return };
        self.output = None;
        let (head, counts) = counts.split_once(": ").unwrap_or((counts, ""));
        let of = head.split(' ').next().unwrap_or_default();
        if let Some((ran, all)) = of.split_once('/') {
            let text = format!("{ran} of {all} tests were run");
            run.remark(RemarkKind::LeavesOut, text, Place::default());
        }
        let mut sums: BTreeMap<&'static str, u64> = BTreeMap::new();
        for part in without_brackets(counts).split(", ") {
            let Some((number, word)) = part.trim().split_once(' ') else {
                continue;
            };
            let Ok(number) = number.parse::<u64>() else {
                continue;
            };
            match word.trim() {
                "passed" => *sums.entry("passed").or_default() += number,
                "skipped" => run.filtered_out = number,
                "failed" | "timed out" | "exec failed" => {
                    *sums.entry("failed").or_default() += number;
                }
                _ => {}
            }
        }
        for (word, count) in &sums {
            run.state("test", word, *count);
        }
        self.sums = Some(sums);
        let seconds = text.split(['[', ']']).nth(1).unwrap_or_default().trim();
        if let Some(seconds) = seconds
            .strip_suffix('s')
            .and_then(|it| it.parse::<f64>().ok())
            && seconds.is_finite()
        {
            run.durations.push(Duration {
                seconds,
                rule: "as nextest states it",
            });
        }
    }

    /// What is said below the summary: why the run failed where no test did.
    fn behind(&mut self, text: &str) {
        let Some(run) = &mut self.run else { return };
        let is_explained = text == "error: test run failed"
            && self.told.iter().any(|told| told.outcome == "failed");
        if text.starts_with("error: ") && !is_explained && run.faults.is_empty() {
            run.faults.push(bounded(text, NAME_BYTES_MAX));
        }
    }

    fn close(&mut self) {
        let Some(mut run) = self.run.take() else {
            return;
        };
        let mut counted: BTreeMap<&'static str, u64> = BTreeMap::new();
        let mut cases = Cases::default();
        for mut told in std::mem::take(&mut self.told) {
            *counted.entry(told.outcome).or_default() += 1;
            if told.outcome == "failed" {
                told.case.failure = failure(&told);
            }
            cases.add(Case {
                outcome: told.outcome.into(),
                failed_tries: told.failed_tries,
                ..told.case
            });
        }
        cases.fill(&mut run);
        self.by_name.clear();
        let running = std::mem::take(&mut self.running);
        if let Some(sums) = self.sums.take() {
            for (word, count) in sums {
                let told = counted.get(word).copied().unwrap_or(0);
                let rest = count.saturating_sub(told);
                if rest > 0 {
                    run.count_many("test", word, rest);
                    if word == "failed" {
                        run.count_unlisted("test", rest, rest);
                    }
                }
            }
        } else {
            note(&mut run, Incomplete::NoEnd);
            if !running.is_empty() {
                note(&mut run, Incomplete::TestsRunning);
            }
            run.running = running
                .into_iter()
                .map(|(name, place)| Running {
                    name,
                    level: "test".to_owned(),
                    began: None,
                    is_innermost: true,
                    place,
                })
                .collect();
        }
        self.is_counted = false;
        self.output = None;
        self.before = None;
        self.runs.push(run);
    }
}

/// What a failing test printed, and how it ended where it printed no panic: `(test aborted with signal 6: SIGABRT)`.
fn failure(told: &Told) -> Failure {
    let said = told.output.lines().rev().find_map(|line| {
        let line = line.trim();
        line.strip_prefix('(')?
            .strip_suffix(')')
            .filter(|it| it.starts_with("test "))
    });
    let by_word = match told.word.as_str() {
        "FAIL" => String::new(),
        "TIMEOUT" | "TMT" => "test timed out".to_owned(),
        word => format!("test ended with {word}"),
    };
    let panicked = Failure::read("", &told.output);
    if panicked.own.is_some() {
        return panicked;
    }
    Failure::read(said.unwrap_or(&by_word), &told.output)
}

/// A text without what stands in round brackets.
fn without_brackets(text: &str) -> String {
    let mut depth = 0_u32;
    let keep = |c: &char| {
        depth += u32::from(*c == '(');
        let is_kept = depth == 0;
        depth = depth.saturating_sub(u32::from(*c == ')'));
        is_kept
    };
    text.chars().filter(keep).collect()
}
