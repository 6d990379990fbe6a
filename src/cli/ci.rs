//! `casdiag ci`: what became of the tests of a job, and what the servers logged meanwhile.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use super::analyze::{self, Arguments};
use super::{Failure, Outcome};
use crate::report::model::Report;
use crate::report::{step_summary, tests_fail, tests_ran_nothing};

/// Where a step of a GitHub workflow writes what its job's page shows.
const SUMMARY: &str = "GITHUB_STEP_SUMMARY";

pub(super) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<Outcome, Failure> {
    let (report, judged) = analyze::analyzed(arguments, true, out)?;
    let has_tests = !report.tests.runs.is_empty();
    if judged && !has_tests && !arguments.input.read.quiet {
        super::complain_of(
            "no results of tests were recognised, only logs: name the folder, archive or file that holds them (a raw.log, JUnit XML, the job's log), \
             or read the logs alone with casdiag analyze; what was taken for what stands in the inputs of --format json",
        );
    }
    if let Some(path) = std::env::var_os(SUMMARY).filter(|path| !path.is_empty()) {
        // What became of the tests must not be hidden by a file that cannot be written.
        if let Err(error) = summarize(&report, &path) {
            super::complain_of(&format!("no summary was written: {error}"));
        }
    }
    Ok(outcome(&report, judged && has_tests, arguments))
}

fn outcome(report: &Report, judged: bool, arguments: &Arguments) -> Outcome {
    let told = report
        .tests
        .runs
        .iter()
        .filter(|run| run.speaks)
        .all(|run| run.complete)
        && !tests_ran_nothing(report);
    let found = analyze::outcome(report, judged, arguments.fail_on);
    if tests_fail(report) {
        Outcome::Found
    } else if matches!(found, Outcome::Clean) && !told {
        Outcome::Partial
    } else {
        found
    }
}

/// Adds the summary to what the step has written there so far.
fn summarize(report: &Report, path: &OsStr) -> Result<(), String> {
    let path = Path::new(path);
    let named = |error: io::Error| format!("{SUMMARY} {}: {error}", path.display());
    let mut file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .map_err(named)?;
    let written = file.metadata().map_err(named)?.len();
    // What stands there need not end its last line, and behind it our heading would be none.
    let end = if is_line_open(path) { "\n" } else { "" };
    let size = written + u64::try_from(end.len()).unwrap_or(0);
    let text = step_summary(report, size).map_err(named)?;
    file.write_all(format!("{end}{text}").as_bytes())
        .map_err(named)?;
    Ok(())
}

/// Whether a file's last line has no end. What cannot be read is taken to end well.
fn is_line_open(path: &Path) -> bool {
    let last = || -> io::Result<u8> {
        let mut file = File::open(path)?;
        file.seek(SeekFrom::End(-1))?;
        let mut byte = [0];
        file.read_exact(&mut byte)?;
        Ok(byte[0])
    };
    last().is_ok_and(|byte| byte != b'\n')
}
