//! Logs of GitHub Actions jobs, as a run's zip holds them, as the API gives them, or as `gh run view --log` prints them.
//!
//! ```text
//! 2026-03-14T23:18:09.5311954Z ##[group]Run python3 -u regression.py
//! 2026-03-14T23:18:09.5356902Z shell: /usr/bin/bash -e {0}
//! 2026-03-14T23:18:09.5413087Z ##[endgroup]
//! 2026-03-15T01:25:26.6232791Z ##[error]Process completed with exit code 1.
//! ```
//!
//! What a step prints is handed, without the stamps, to the reader of every form of lines; each of them knows its own.
//! A zip holds the lines of a job twice: see [`super::files`].

use crate::record::split_lines;
use std::collections::BTreeMap;
use std::hash::Hasher;

use rustc_hash::FxHasher;

use super::super::case::note;
use super::super::model::{
    Event, EventKind, Incomplete, MESSAGE_BYTES_MAX, NAME_BYTES_MAX, TestRun, bounded,
};
use super::super::{Digest, FORMS, Form, How, Line, LineReader, Reading, Spec};
use super::course::{Course, Told, fails, names_action};
use super::unstamp::{job_line, plain};

/// Events that are kept of a job.
const EVENTS_MAX: usize = 10_000;

pub(crate) fn claims(sample: &[u8]) -> bool {
    let sample = sample.strip_prefix(b"\xef\xbb\xbf").unwrap_or(sample);
    let mut lines = split_lines(sample).map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    lines.next().is_some_and(|line| job_line(line).is_some())
}

pub(crate) fn reader() -> Box<dyn LineReader> {
    Box::new(Job::default())
}

/// What a line of a log tells of the machinery: words, and what they say. The first that fits has it.
const ERRORS: &[(&str, EventKind)] = &[
    ("Process completed with exit code", EventKind::StepFailed),
    ("The operation was canceled", EventKind::Cancelled),
    ("The run was canceled", EventKind::Cancelled),
    ("exceeded the maximum execution time", EventKind::TimedOut),
    ("has timed out after", EventKind::TimedOut),
    ("lost communication with the server", EventKind::RunnerLost),
    ("received a shutdown signal", EventKind::RunnerLost),
    ("No space left on device", EventKind::NoSpace),
];

/// Words that tell of the machinery wherever they stand; each is told once a step.
const ANYWHERE: &[(&str, EventKind)] = &[
    ("No space left on device", EventKind::NoSpace),
    (
        "Cannot connect to the Docker daemon",
        EventKind::Infrastructure,
    ),
    ("toomanyrequests", EventKind::Infrastructure),
    (
        "Temporary failure in name resolution",
        EventKind::Infrastructure,
    ),
];

#[derive(Default)]
struct Job {
    name: String,
    step: String,
    /// The title of a group that may begin a step.
    group: Option<String>,
    readers: Vec<Box<dyn LineReader>>,
    runs: Vec<TestRun>,
    events: Vec<Event>,
    attributes: BTreeMap<String, String>,
    exit_code: Option<i64>,
    /// What the log says of how the step ended: the first of what ended it.
    ending: Option<Event>,
    /// The first error that the step marked and that need not have ended it.
    marked: Option<Event>,
    /// Whether the step is a script: only of those a log says by what exit code they failed.
    is_script: bool,
    is_stopped: bool,
    /// Whether each line names its step.
    has_columns: bool,
    /// How far the job itself came.
    course: Course,
    told: Vec<&'static str>,
    /// Commands that `retry.sh` repeats, and how often each was seen.
    repeated: BTreeMap<String, u64>,
    counts: Counts,
    digest: Digest,
}

/// Marks in a log.
#[derive(Debug, Default)]
struct Counts {
    errors: u64,
    warnings: u64,
    notices: u64,
    groups: u64,
    ended_groups: u64,
}

impl LineReader for Job {
    fn line(&mut self, line: &Line<'_>) {
        let Some(stamped) = job_line(line.bytes) else {
            self.digest.unstamped += 1;
            return;
        };
        let mut hasher = FxHasher::default();
        hasher.write(stamped.text);
        hasher.write_i64(stamped.at.at.0);
        self.digest.lines += 1;
        self.digest.sum = self.digest.sum.wrapping_add(hasher.finish());
        self.digest.first = self.digest.first.or(Some(stamped.at));
        self.digest.last = Some(stamped.at);
        if let Some((job, step)) = stamped.columns {
            self.columns(
                &String::from_utf8_lossy(job),
                &String::from_utf8_lossy(step),
            );
        }
        let bytes = plain(stamped.text);
        let text = String::from_utf8_lossy(&bytes);
        let inner = Line {
            bytes: stamped.text,
            place: line.place,
            printed: Some(stamped.at),
            is_cut: line.is_cut,
        };
        if let Some(rest) = text.strip_prefix("##[") {
            self.command(rest, &inner);
        } else {
            self.plain_line(&text, &inner, stamped.text.starts_with(b"\x1b[36;1m"));
        }
        if self.readers.is_empty() {
            // A job's shell says of any process that it was killed or aborted; a server's own output is not in it.
            let is_inner =
                |spec: &&Spec| !matches!(spec.form, Form::ActionsLog | Form::ServerStderr);
            self.readers = FORMS
                .iter()
                .filter(is_inner)
                .filter_map(|spec| match spec.how {
                    How::Lines(new) => Some(new()),
                    How::Bytes(_) => None,
                })
                .collect();
        }
        for reader in &mut self.readers {
            reader.line(&inner);
        }
    }

    fn finish(mut self: Box<Self>) -> Reading {
        self.end_step();
        // Where each line names its step, files of single steps were put together, and some may have been missing.
        let course = std::mem::take(&mut self.course);
        let unfinished = course.finish(&self.runs, !self.has_columns);
        self.runs.extend(unfinished.map(|mut run| {
            run.part.clone_from(&self.name);
            run
        }));
        for (command, count) in std::mem::take(&mut self.repeated) {
            if count > 1 {
                self.attribute(&format!("tries of {command}"), &count.to_string());
            }
        }
        let counts = &self.counts;
        let numbers = [
            ("log.errors", counts.errors),
            ("log.warnings", counts.warnings),
            ("log.notices", counts.notices),
            ("log.groups", counts.groups),
            ("log.endgroups", counts.ended_groups),
        ];
        for (name, count) in numbers {
            self.attributes.insert(name.to_owned(), count.to_string());
        }
        self.events.sort_by_key(|event| event.place);
        Reading {
            runs: self.runs,
            events: self.events,
            attributes: self.attributes,
            digest: Some(self.digest),
            ..Reading::default()
        }
    }
}

impl Job {
    /// The job and the step that stand in front of the stamp.
    fn columns(&mut self, job: &str, step: &str) {
        self.has_columns = true;
        if job != self.name || step != self.step {
            self.end_step();
            self.name = bounded(job, NAME_BYTES_MAX);
            self.step = bounded(step, NAME_BYTES_MAX);
            self.attributes.insert("job".to_owned(), self.name.clone());
        }
    }

    /// A line that begins with `##[`.
    fn command(&mut self, rest: &str, line: &Line<'_>) {
        let Some((command, text)) = rest.split_once(']') else {
            return;
        };
        match command {
            "group" => {
                self.counts.groups += 1;
                self.group = text
                    .strip_prefix("Run ")
                    .map(|it| bounded(it, NAME_BYTES_MAX));
            }
            "endgroup" => {
                self.counts.ended_groups += 1;
                // An action without inputs has an empty group.
                if let Some(title) = self.group.take().filter(|it| names_action(it)) {
                    self.begin_step(&format!("Run {title}"));
                }
            }
            "error" => {
                self.counts.errors += 1;
                self.error(text, line);
            }
            "warning" => self.counts.warnings += 1,
            "notice" => self.counts.notices += 1,
            _ => {}
        }
    }

    fn error(&mut self, text: &str, line: &Line<'_>) {
        let known = ERRORS.iter().find(|(words, _)| text.contains(words));
        let kind = known.map_or(EventKind::Annotation, |(_, kind)| *kind);
        let code = text
            .strip_prefix("Process completed with exit code ")
            .and_then(|it| it.trim_end_matches('.').parse::<i64>().ok());
        // What is asked to end because its job is cancelled did not fail.
        let is_cancelled = code == Some(CANCELLED);
        self.exit_code = code.filter(|_| !is_cancelled).or(self.exit_code);
        // 128 and the number of the signal: SIGKILL and SIGTERM.
        self.is_stopped |= matches!(code, Some(137 | CANCELLED))
            || matches!(
                kind,
                EventKind::Cancelled | EventKind::TimedOut | EventKind::RunnerLost
            );
        self.event(kind, text, line);
        let ends = if is_cancelled {
            EventKind::Cancelled
        } else {
            kind
        };
        let known = self.ending.as_ref().map(|ending| ending.kind);
        if kind == EventKind::Annotation {
            let made = self.made(kind, text, line);
            self.marked.get_or_insert(made);
        } else if known.is_none_or(|known| known == EventKind::Cancelled) {
            self.ending = Some(self.made(ends, text, line));
        }
        match code {
            Some(137) => self.event(EventKind::Killed, text, line),
            Some(CANCELLED) => self.event(EventKind::Cancelled, text, line),
            _ => {}
        }
    }

    fn event(&mut self, kind: EventKind, text: &str, line: &Line<'_>) {
        if self.events.len() < EVENTS_MAX {
            let event = self.made(kind, text, line);
            self.events.push(event);
        }
    }

    /// An event of the step that runs.
    fn made(&self, kind: EventKind, text: &str, line: &Line<'_>) -> Event {
        Event {
            kind,
            subject: self.step.clone(),
            at: line.printed,
            text: bounded(text, MESSAGE_BYTES_MAX),
            place: line.place,
        }
    }

    fn plain_line(&mut self, text: &str, line: &Line<'_>, is_script: bool) {
        if let Some(told) = Told::of(text) {
            let event = self.made(EventKind::Infrastructure, text, line);
            self.course.take(told, event);
        }
        let heads_step = text.starts_with("shell: ") || text == "with:" || text == "env:";
        if heads_step && let Some(title) = self.group.take() {
            self.begin_step(&format!("Run {title}"));
            self.is_script = text.starts_with("shell: ");
        } else if text == "Post job cleanup." {
            self.begin_step("Post job cleanup");
        } else if text == "Cleaning up orphan processes" {
            self.begin_step("Complete job");
        } else if let Some(name) = text.strip_prefix("Complete job name: ") {
            if !self.has_columns {
                self.name = bounded(name.trim(), NAME_BYTES_MAX);
            }
            self.attribute("job", name.trim());
        } else if let Some(name) = text.strip_prefix("Runner name: ") {
            self.attribute("runner", name.trim().trim_matches('\''));
        } else if let Some(place) = text.strip_prefix("Job defined at: ") {
            self.attribute("workflow", place.trim());
        }
        if is_script {
            if let Some((_, command)) = text.split_once("retry.sh ") {
                let is_number = |c: char| c.is_ascii_digit() || c == ' ';
                let command = command
                    .trim_start_matches(is_number)
                    .trim_end_matches(';')
                    .trim();
                if !command.is_empty() && self.repeated.len() < 100 {
                    self.repeated.insert(bounded(command, NAME_BYTES_MAX), 0);
                }
            }
            return;
        }
        if let Some(count) = self
            .repeated
            .get_mut(text.strip_prefix("+ ").unwrap_or(text))
        {
            *count += 1;
        }
        for (words, kind) in ANYWHERE {
            if text.contains(words) && !self.told.contains(words) {
                self.told.push(words);
                self.event(*kind, text, line);
            }
        }
    }

    fn attribute(&mut self, name: &str, value: &str) {
        if self.attributes.len() < 1000 {
            self.attributes
                .entry(bounded(name, NAME_BYTES_MAX))
                .or_insert_with(|| bounded(value, NAME_BYTES_MAX));
        }
    }

    /// Begins a step by its first lines, unless each line names its step.
    fn begin_step(&mut self, name: &str) {
        if self.has_columns {
            return;
        }
        self.end_step();
        self.course.has_steps = true;
        self.step = bounded(name, NAME_BYTES_MAX);
    }

    /// Takes what the readers found in the step that ends.
    fn end_step(&mut self) {
        let part = [self.name.as_str(), self.step.as_str()]
            .into_iter()
            .filter(|it| !it.is_empty());
        let part = part.collect::<Vec<_>>().join(" / ");
        let mut runs: Vec<TestRun> = Vec::new();
        for reader in std::mem::take(&mut self.readers) {
            let reading = reader.finish();
            runs.extend(reading.runs);
            let room = EVENTS_MAX.saturating_sub(self.events.len());
            self.events.extend(reading.events.into_iter().take(room));
        }
        runs.sort_by_key(|run| (run.place, run.form));
        self.judge(&mut runs);
        for mut run in runs {
            run.part.clone_from(&part);
            if self.is_stopped && !run.is_complete() {
                note(&mut run, Incomplete::Stopped);
            }
            if !self.name.is_empty() {
                run.attributes
                    .entry("job.name".to_owned())
                    .or_insert_with(|| self.name.clone());
            }
            self.runs.push(run);
        }
        self.runs.sort_by_key(|run: &TestRun| (run.place, run.form));
        self.exit_code = None;
        self.ending = None;
        self.marked = None;
        self.is_script = false;
        self.is_stopped = false;
        self.told.clear();
    }

    /// Gives the step's end to the runs of tests in it. Where none of them explains it, the last one did not end well; where
    /// there is none, the step itself is what failed.
    fn judge(&self, runs: &mut Vec<TestRun>) {
        let is_explained = runs.iter().any(fails);
        let Some(ending) = &self.ending else {
            // An action may mark errors and go on, or fail by them: its log does not say.
            if let Some(marked) = self.marked.as_ref().filter(|_| !self.is_script)
                && !is_explained
            {
                match runs.last_mut() {
                    Some(last) => note(last, Incomplete::NoResult),
                    None => runs.push(step(marked, Some(Incomplete::NoResult))),
                }
            }
            return;
        };
        let is_cancelled = ending.kind == EventKind::Cancelled && self.exit_code.is_none();
        if let Some(code) = self.exit_code {
            // The code is that of what failed in the step, and of what ran last where nothing did.
            let last = runs.len().saturating_sub(1);
            for (at, run) in runs.iter_mut().enumerate() {
                if fails(run) || !is_explained && at == last {
                    let implied = run.exit_code.or(run.implied_code);
                    run.implied_code = implied.filter(|implied| *implied != code);
                    run.exit_code = Some(code);
                }
            }
        } else if let Some(last) = runs.last_mut() {
            if is_cancelled {
                note(last, Incomplete::Stopped);
            } else {
                last.faults.push(ending.text.clone());
            }
        }
        if !runs.is_empty() {
            return;
        }
        let mut run = step(ending, self.is_stopped.then_some(Incomplete::Stopped));
        run.exit_code = self.exit_code;
        let result = if is_cancelled { "cancelled" } else { "failure" };
        run.result = Some(result.to_owned());
        if self.exit_code.is_none() && !is_cancelled {
            run.faults.push(ending.text.clone());
        }
        runs.push(run);
    }
}

/// The exit code of a step that was asked to end: 128 and the number of SIGTERM.
const CANCELLED: i64 = 143;

/// A step without tests, by what is told of its end.
pub(super) fn step(told: &Event, why: Option<Incomplete>) -> TestRun {
    let mut run = TestRun::new(Form::ActionsLog);
    "job".clone_into(&mut run.name);
    run.place = told.place;
    run.incomplete.extend(why);
    if let Some(at) = told.at {
        run.note_moment(at);
    }
    run
}
