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
    is_stopped: bool,
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
                self.group = None;
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
        self.exit_code = code.or(self.exit_code);
        // 128 and the number of the signal: SIGKILL and SIGTERM.
        self.is_stopped |= matches!(code, Some(137 | 143))
            || matches!(
                kind,
                EventKind::Cancelled | EventKind::TimedOut | EventKind::RunnerLost
            );
        self.event(kind, text, line);
        match code {
            Some(137) => self.event(EventKind::Killed, text, line),
            Some(143) => self.event(EventKind::Cancelled, text, line),
            _ => {}
        }
    }

    fn event(&mut self, kind: EventKind, text: &str, line: &Line<'_>) {
        if self.events.len() < EVENTS_MAX {
            self.events.push(Event {
                kind,
                subject: self.step.clone(),
                at: line.printed,
                text: bounded(text, MESSAGE_BYTES_MAX),
                place: line.place,
            });
        }
    }

    fn plain_line(&mut self, text: &str, line: &Line<'_>, is_script: bool) {
        let heads_step = text.starts_with("shell: ") || text == "with:" || text == "env:";
        if heads_step && let Some(title) = self.group.take() {
            self.begin_step(&format!("Run {title}"));
        } else if text == "Post job cleanup." {
            self.begin_step("Post job cleanup");
        } else if text == "Cleaning up orphan processes" {
            self.begin_step("Complete job");
        } else if let Some(name) = text.strip_prefix("Complete job name: ") {
            self.name = bounded(name.trim(), NAME_BYTES_MAX);
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

    fn begin_step(&mut self, name: &str) {
        self.end_step();
        self.step = bounded(name, NAME_BYTES_MAX);
    }

    /// Takes what the readers found in the step that ends.
    fn end_step(&mut self) {
        let part = [self.name.as_str(), self.step.as_str()]
            .into_iter()
            .filter(|it| !it.is_empty());
        let part = part.collect::<Vec<_>>().join(" / ");
        for reader in std::mem::take(&mut self.readers) {
            let reading = reader.finish();
            for mut run in reading.runs {
                run.part.clone_from(&part);
                run.exit_code = run.exit_code.or(self.exit_code);
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
            let room = EVENTS_MAX.saturating_sub(self.events.len());
            self.events.extend(reading.events.into_iter().take(room));
        }
        self.runs.sort_by_key(|run: &TestRun| (run.place, run.form));
        self.exit_code = None;
        self.is_stopped = false;
        self.told.clear();
    }
}
