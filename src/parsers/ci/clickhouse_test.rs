//! What `clickhouse-test` prints, with a stamp before each line or without.
//!
//! ```text
//! 2026-03-14 23:18:02 02345_ledger:                [ FAIL ] 0.84 sec.
//! 2026-03-14 23:18:02 Reason: return code:  210
//! ...
//! 2026-03-14 23:18:02 Database: test_a1b2c3
//! 2026-03-14 23:18:02 Having 1 errors! 20 tests passed. 3 tests skipped. 0 broken tests. 12.34 s elapsed (Process-3).
//! ```
//!
//! Tests run in several processes, each of which prints its own sum; the sums are added.

use super::case::{Case, Cases, note};
use super::failure::Failure;
use super::jobs::unstamp::{plain, without_ts};
use super::model::{
    Check, Duration, Event, EventKind, Incomplete, MESSAGE_BYTES_MAX, Moment, Place, RemarkKind,
    TestRun, bounded,
};
use super::{Form, Line, LineReader, Reading};
use crate::record::split_lines;

/// What follows a failing test is read so far.
const BLOCK_BYTES_MAX: usize = 64 * 1024;

pub(super) fn claims(sample: &[u8]) -> bool {
    let lines = split_lines(sample);
    lines
        .filter(|line| {
            let line = plain(line);
            let line = Line {
                bytes: line.trim_ascii_end(),
                place: Place::default(),
                printed: None,
                is_cut: false,
            };
            test(&String::from_utf8_lossy(without_ts(&line).bytes)).is_some()
        })
        .take(2)
        .count()
        == 2
}

pub(super) fn reader() -> Box<dyn LineReader> {
    Box::new(Tests::default())
}

/// A failing test whose reason is being read.
#[derive(Debug)]
struct Open {
    case: Case,
    text: String,
}

#[derive(Debug, Default)]
struct Tests {
    run: Option<TestRun>,
    cases: Cases,
    open: Option<Open>,
    events: Vec<Event>,
    sums: u64,
    seconds: f64,
    is_finished: bool,
    is_stopped: bool,
    first: Option<Moment>,
    last: Option<Moment>,
}

impl LineReader for Tests {
    fn line(&mut self, line: &Line<'_>) {
        let line = without_ts(line);
        let bytes = plain(line.bytes);
        let text = String::from_utf8_lossy(&bytes);
        let text = text.trim_end();
        if let Some(found) = test(text) {
            self.test(&found, &line);
            return;
        }
        if self.run.is_none() {
            return;
        }
        self.last = line.printed.or(self.last);
        if let Some(open) = &mut self.open {
            if !text.starts_with("Database: ") && !is_of_the_whole(text) {
                if open.text.len() + text.len() < BLOCK_BYTES_MAX {
                    open.text.push_str(text);
                    open.text.push('\n');
                }
                return;
            }
            self.close();
        }
        self.whole(text, &line);
    }

    fn finish(mut self: Box<Self>) -> Reading {
        self.close();
        let Some(mut run) = self.run.take() else {
            return Reading::default();
        };
        for moment in [self.first, self.last].into_iter().flatten() {
            run.note_moment(moment);
        }
        if !self.is_finished {
            note(&mut run, Incomplete::NoEnd);
        }
        if self.is_stopped {
            note(&mut run, Incomplete::Stopped);
        }
        if self.seconds > 0.0 {
            let rule = "the longest of its processes";
            run.durations.push(Duration {
                seconds: self.seconds,
                rule,
            });
        }
        if self.sums > 1 {
            let text = format!(
                "{} processes sum up their tests; the sums are added",
                self.sums
            );
            run.remark(RemarkKind::Reading, text, Place::default());
        }
        self.cases.fill(&mut run);
        Reading {
            runs: vec![run],
            events: self.events,
            ..Reading::default()
        }
    }
}

impl Tests {
    fn test(&mut self, found: &Test<'_>, line: &Line<'_>) {
        self.close();
        self.first = self.first.or(line.printed);
        self.last = line.printed.or(self.last);
        self.run.get_or_insert_with(|| {
            let mut run = TestRun::new(Form::ClickHouseTest);
            "clickhouse-test".clone_into(&mut run.name);
            run.place = line.place;
            run
        });
        let case = Case {
            name: found.name.to_owned(),
            id: found.name.to_owned(),
            outcome: found.outcome.into(),
            seconds: found.seconds,
            ended: line.printed,
            place: line.place,
            ..Case::default()
        };
        if matches!(found.outcome, "FAIL" | "UNKNOWN" | "Timeout" | "BROKEN") {
            let text = String::new();
            self.open = Some(Open { case, text });
        } else {
            self.cases.add(case);
        }
    }

    fn close(&mut self) {
        let Some(Open { mut case, text }) = self.open.take() else {
            return;
        };
        let reason = text.lines().find_map(|line| line.strip_prefix("Reason: "));
        if case.outcome == "BROKEN" {
            case.reason = bounded(reason.unwrap_or_default(), MESSAGE_BYTES_MAX);
        } else {
            case.failure = Failure {
                message: message(reason, &text),
                ..Failure::default()
            };
        }
        self.cases.add(case);
    }

    /// A line that is about no single test.
    fn whole(&mut self, text: &str, line: &Line<'_>) {
        let Some(run) = &mut self.run else { return };
        let mut event = |kind: EventKind, subject: &str| {
            self.events.push(Event {
                kind,
                subject: subject.to_owned(),
                at: line.printed,
                text: bounded(text, MESSAGE_BYTES_MAX),
                place: line.place,
            });
        };
        let check = |outcome: &str, name: &str| Check {
            name: name.to_owned(),
            outcome: outcome.to_owned(),
            detail: bounded(text, MESSAGE_BYTES_MAX),
            place: line.place,
        };
        if text.contains("Server died, terminating all processes") {
            event(EventKind::ServerDied, "");
            run.checks.push(check("FAIL", "server alive"));
            self.is_stopped = true;
        } else if text.contains("Server does not respond to health check") {
            event(EventKind::Unreachable, "");
            run.checks.push(check("FAIL", "server responds"));
            self.is_stopped = true;
        } else if text.contains("Found hung queries in processlist") {
            run.checks.push(check("FAIL", "no hung queries"));
        } else if text.contains("Test runs too long")
            || text.contains("Stop tests run because global time limit")
        {
            event(EventKind::TimedOut, "clickhouse-test");
            self.is_stopped = true;
        } else if text.contains("Some tests were restarted") {
            run.remark(
                RemarkKind::Reading,
                "clickhouse-test restarted some tests",
                line.place,
            );
        } else if text.contains("All tests have finished") || text.contains("No tests were run") {
            self.is_finished = true;
        } else if is_limit(text) {
            // The runner stopped by itself: nothing is said of the server.
            self.is_stopped = true;
            run.remark(
                RemarkKind::Reading,
                format!("the runner stopped at its limit of failures: {text}"),
                line.place,
            );
        } else if let Some(sum) = sum(text) {
            self.sums += 1;
            self.seconds = self.seconds.max(sum.seconds);
            for (outcome, count) in [
                ("OK", sum.passed),
                ("FAIL", sum.failed),
                ("SKIPPED", sum.skipped),
                ("BROKEN", sum.broken),
            ] {
                if count > 0 || outcome == "OK" {
                    run.state("test", outcome, count);
                }
            }
        }
    }
}

/// Whether a line is about the whole run and so ends what a test printed.
fn is_of_the_whole(text: &str) -> bool {
    sum(text).is_some()
        || is_limit(text)
        || [
            "Server died, terminating all processes",
            "Server does not respond to health check",
            "Found hung queries in processlist",
            "All tests have finished",
            "No tests were run",
            "Some tests were restarted",
            "Running ",
        ]
        .iter()
        .any(|start| text.starts_with(start))
}

/// The runner's own bound on failing tests, `--max-failures` and `--max-failures-chain`.
fn is_limit(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    lower.starts_with("max failures")
        || lower.starts_with("too many failures")
        || lower.contains("max-failures")
}

/// Why a test failed, in words that are the same wherever it fails so: the reason, and what stands below it.
fn message(reason: Option<&str>, text: &str) -> String {
    let reason = reason
        .unwrap_or_default()
        .trim()
        .trim_end_matches(':')
        .trim_end();
    let skipped = |line: &&str| {
        !line.is_empty()
            && !line.starts_with("Reason: ")
            && !line.starts_with("Settings used in the test")
            && !line.starts_with("--- ")
            && !line.starts_with("+++ ")
    };
    let rest: Vec<&str> = text
        .lines()
        .map(str::trim_end)
        .filter(skipped)
        .take_while(|line| !line.starts_with("Settings used"))
        .collect();
    let whole = if rest.is_empty() {
        reason.to_owned()
    } else {
        format!("{reason}\n{}", rest.join("\n"))
    };
    bounded(&whole, MESSAGE_BYTES_MAX)
}

/// A line that tells the outcome of a test.
#[derive(Debug, PartialEq)]
struct Test<'a> {
    name: &'a str,
    outcome: &'static str,
    seconds: Option<f64>,
}

/// `02345_name:      [ OK ] 0.84 sec.`
fn test(text: &str) -> Option<Test<'_>> {
    let (name, rest) = text.split_once(':')?;
    let digits = name.bytes().take_while(u8::is_ascii_digit).count();
    let fits = digits == 5
        && name[digits..].starts_with('_')
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'));
    if !fits {
        return None;
    }
    let (sign, after) = rest.trim_start().strip_prefix("[ ")?.split_once(" ]")?;
    let outcome = match sign.trim() {
        "OK" => "OK",
        "FAIL" => "FAIL",
        "UNKNOWN" => "UNKNOWN",
        "SKIPPED" => "SKIPPED",
        "BROKEN" => "BROKEN",
        "NOT_FAILED" => "NOT_FAILED",
        "Timeout!" => "Timeout",
        _ => return None,
    };
    let seconds = after
        .trim_start()
        .split(' ')
        .next()
        .and_then(|it| it.parse().ok());
    Some(Test {
        name,
        outcome,
        seconds,
    })
}

/// What a process sums up.
struct Sum {
    failed: u64,
    passed: u64,
    skipped: u64,
    broken: u64,
    seconds: f64,
}

/// `Having 1 errors! 20 tests passed. 3 tests skipped. 0 broken tests. 12.34 s elapsed (Process-3).`
fn sum(text: &str) -> Option<Sum> {
    let (errors, rest) = match text.strip_prefix("Having ") {
        Some(rest) => rest.split_once(" errors! ")?,
        None => ("0", text),
    };
    let (passed, rest) = rest.split_once(" tests passed. ")?;
    let skipped = rest.split_once(" tests skipped.").map(|(count, _)| count);
    let broken = rest
        .split_once(" broken tests.")
        .and_then(|(before, _)| before.rsplit(' ').next());
    let seconds = rest
        .split_once(" s elapsed")
        .and_then(|(before, _)| before.rsplit(' ').next());
    let count = |it: Option<&str>| it.and_then(|it| it.trim().parse().ok()).unwrap_or(0);
    Some(Sum {
        failed: errors.trim().parse().ok()?,
        passed: passed.trim().parse().ok()?,
        skipped: count(skipped),
        broken: count(broken),
        seconds: seconds.and_then(|it| it.parse().ok()).unwrap_or(0.0),
    })
}
