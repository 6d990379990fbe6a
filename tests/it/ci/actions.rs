//! Logs of GitHub Actions. Right values: `expected.json`, made with another program.

use std::collections::BTreeMap;
use std::io::BufReader;

use casdiag::intake::{Bounds, walk};
use casdiag::parsers::ci::jobs::files::join;
use casdiag::parsers::ci::{EventKind, Form, Incomplete, Reading, sniff};
use casdiag::time::Zone;

use super::{case, expected};
use crate::product::Folder;

/// Every log of a job below a path, read.
fn logs(path: &std::path::Path) -> Vec<(String, Reading)> {
    let found = walk(&[path.to_path_buf()], Bounds::default(), &|_, _| u64::MAX).unwrap();
    let mut all = Vec::new();
    for artifact in &found.artifacts {
        let (sample, _) = artifact.sample().unwrap();
        let Some(form) = sniff(&sample) else { continue };
        let (reader, _) = artifact.open().unwrap();
        if form.form == Form::ActionsLog {
            all.push((
                artifact.path.clone(),
                form.read(&mut BufReader::new(reader)),
            ));
        }
    }
    all
}

/// Joins files and takes out those that repeat others; how many these are.
fn joined(files: &mut Vec<(String, Reading)>) -> usize {
    let mut repeats = join(files).into_iter();
    let all = files.len();
    files.retain(|_| !repeats.next().unwrap());
    all - files.len()
}

fn by_job(files: Vec<(String, Reading)>) -> BTreeMap<String, Reading> {
    files
        .into_iter()
        .map(|(_, reading)| (reading.attributes["job"].clone(), reading))
        .collect()
}

#[test]
fn a_zip_counts_each_line_once_and_names_the_failed_step() {
    let mut files = logs(&case("github").join("logs_12345678901.zip"));
    assert_eq!(files.len(), 13, "all members are logs of jobs");
    let left_out = joined(&mut files);
    assert_eq!((files.len(), left_out), (2, 11));
    let jobs = by_job(files);
    let right = expected("github");
    for (name, job) in right["jobs"].as_object().unwrap() {
        let reading = &jobs[name];
        let digest = reading.digest.unwrap();
        assert_eq!(digest.lines, job["lines"].as_u64().unwrap(), "{name}");
        let texts: Vec<String> = reading
            .events
            .iter()
            .map(|it| format!("##[error]{}", it.text))
            .collect();
        let errors: Vec<String> = job["errors"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it.as_str().unwrap().to_owned())
            .collect();
        assert_eq!(texts, errors, "{name}");
        for (key, attribute) in [("groups", "log.groups"), ("endgroups", "log.endgroups")] {
            if let Some(count) = job[key].as_u64() {
                assert_eq!(
                    reading.attributes[attribute],
                    count.to_string(),
                    "{name} {key}"
                );
            }
        }
        for (key, attribute) in [("warnings", "log.warnings"), ("notices", "log.notices")] {
            let count = job[key].as_array().map_or(0, Vec::len);
            assert_eq!(
                reading.attributes[attribute],
                count.to_string(),
                "{name} {key}"
            );
        }
        if let Some(first) = job["first"].as_str() {
            let iso = |at: Option<casdiag::parsers::ci::Moment>| at.unwrap().at.iso(Zone::Unknown);
            assert_eq!(iso(digest.first), first[..26], "{name}");
            assert_eq!(
                iso(digest.last),
                job["last"].as_str().unwrap()[..26],
                "{name}"
            );
        }
        if let Some(step) = job["failed_step"].as_str() {
            let (_, step) = step.split_once('_').unwrap();
            assert_eq!(reading.events[0].subject, step);
            assert_eq!(reading.events[0].kind, EventKind::StepFailed);
        }
    }
    let lost = &jobs["LedgerSoak / ledger_soak"];
    assert_eq!(lost.events[0].kind, EventKind::RunnerLost);
}

#[test]
fn tests_inside_a_job_are_read_by_the_reader_of_their_form() {
    let mut files = logs(&case("github").join("logs_12345678901.zip"));
    joined(&mut files);
    let jobs = by_job(files);
    let reading = &jobs["LedgerCopySegment / ledger_copy_segment"];
    assert_eq!(reading.runs.len(), 1);
    let run = &reading.runs[0];
    assert_eq!((run.form, run.exit_code), (Form::TestFlowsText, Some(1)));
    assert_eq!(
        run.part,
        "LedgerCopySegment / ledger_copy_segment / 🧪 Run ledger suite"
    );
    // 46 scenarios (20 ok, 19 failed, 1 skipped, 2 errored, 1 null, 1 xfail, 1 xerror, 1 xnull)
    let scenarios = run
        .stated
        .iter()
        .find(|total| total.level == "scenario")
        .unwrap();
    assert_eq!(scenarios.units, 46);
    // No test ran there, and the job did not pass.
    let lost = &jobs["LedgerSoak / ledger_soak"].runs[0];
    assert_eq!(lost.form, Form::ActionsLog);
    assert_eq!(lost.incomplete, [Incomplete::Stopped]);
    assert!(lost.faults[0].contains("lost communication"));
}

#[test]
fn the_text_of_the_api_is_the_file_of_the_job() {
    let mut files = logs(&case("github").join("job-log-api.txt"));
    let api = files[0].1.clone();
    files.extend(logs(&case("github").join("logs_12345678901.zip")));
    let left_out = joined(&mut files);
    assert_eq!((files.len(), left_out), (2, 12));
    let jobs = by_job(files);
    let joined = &jobs["LedgerCopySegment / ledger_copy_segment"];
    assert_eq!(api.digest, joined.digest);
    assert_eq!(api.runs[0].totals, joined.runs[0].totals);
    assert_eq!(joined.events[0].subject, "🧪 Run ledger suite");
}

fn text(lines: &[&str]) -> Reading {
    let stamped: Vec<String> = lines
        .iter()
        .enumerate()
        .map(|(at, line)| format!("2026-03-14T23:18:{at:02}.0000000Z {line}\n"))
        .collect();
    let stamped = stamped.concat();
    let folder = Folder::with("0_job.txt", format!("\u{feff}{stamped}"));
    super::read(&folder.path().join("0_job.txt"))
}

#[test]
fn a_pytest_in_a_job_is_stopped_with_its_step() {
    let reading = text(&[
        "##[group]Run pytest tests",
        "\u{1b}[36;1mpytest tests\u{1b}[0m",
        "shell: /usr/bin/bash -e {0}",
        "##[endgroup]",
        "============================= test session starts ==============================",
        "collected 3 items",
        "",
        "tests/test_a.py::test_one PASSED                                         [ 33%]",
        "tests/test_a.py::test_two ",
        "##[error]The operation was canceled.",
        "Cleaning up orphan processes",
    ]);
    let run = &reading.runs[0];
    assert_eq!(run.form, Form::PytestText);
    assert_eq!(
        run.incomplete,
        [
            Incomplete::NoEnd,
            Incomplete::TestsRunning,
            Incomplete::Stopped
        ]
    );
    assert_eq!(run.running[0].name, "tests/test_a.py::test_two");
    assert_eq!(run.part, "Run pytest tests");
    assert_eq!(run.last.unwrap().at.short(), "2026-03-14 23:18:09");
    assert_eq!(reading.events[0].kind, EventKind::Cancelled);
}

#[test]
fn ends_of_steps_are_told_apart() {
    let kinds = |line: &str| {
        text(&["x", line])
            .events
            .iter()
            .map(|it| it.kind)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        kinds("##[error]Process completed with exit code 137."),
        [EventKind::StepFailed, EventKind::Killed]
    );
    assert_eq!(
        kinds("##[error]Process completed with exit code 143."),
        [EventKind::StepFailed, EventKind::Cancelled]
    );
    assert_eq!(
        kinds(
            "##[error]The job running on runner x has exceeded the maximum execution time of 360 minutes."
        ),
        [EventKind::TimedOut]
    );
    assert_eq!(kinds("##[error]src/a.rs: bad"), [EventKind::Annotation]);
    assert_eq!(
        kinds("cp: error writing: No space left on device"),
        [EventKind::NoSpace]
    );
    assert_eq!(kinds("::error file=a::b"), []);
}

#[test]
fn commands_that_are_retried_are_counted() {
    let reading = text(&[
        "##[group]Run retry",
        "\u{1b}[36;1m.github/retry.sh 3 10 docker pull example/ledger\u{1b}[0m",
        "shell: /usr/bin/bash -e {0}",
        "##[endgroup]",
        "docker pull example/ledger",
        "toomanyrequests: slow down",
        "docker pull example/ledger",
        "toomanyrequests: slow down",
    ]);
    assert_eq!(
        reading.attributes["tries of docker pull example/ledger"],
        "2"
    );
    assert_eq!(reading.events.len(), 1, "a cause is told once a step");
    assert_eq!(reading.events[0].kind, EventKind::Infrastructure);
}

#[test]
fn what_the_command_line_prints_has_the_names_of_job_and_step() {
    let folder = Folder::with(
        "run.txt",
        "build / a\tRun tests\t\u{feff}2026-03-14T23:18:02.0000000Z running 1 test\n\
        build / a\tRun tests\t2026-03-14T23:18:03.0000000Z test one ... ok\n\
        build / a\tRun tests\t2026-03-14T23:18:03.0000000Z test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s\n\
        build / b\tRun tests\t2026-03-14T23:18:04.0000000Z ##[error]Process completed with exit code 1.\n",
    );
    let reading = super::read(&folder.path().join("run.txt"));
    // The step of job b failed and ran no test.
    let parts = reading
        .runs
        .iter()
        .map(|run| (run.part.as_str(), run.form, run.exit_code));
    assert_eq!(
        parts.collect::<Vec<_>>(),
        [
            // Nothing says how the process of job a ended.
            ("build / a / Run tests", Form::CargoText, None),
            ("build / b / Run tests", Form::ActionsLog, Some(1)),
        ]
    );
    assert_eq!(reading.events.len(), 1);
    assert_eq!(reading.attributes["job"], "build / b");
}
