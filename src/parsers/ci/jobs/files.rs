//! The files of one run's log zip: a job's own file, and a folder with a file for each of its steps that hold the same lines.
//!
//! ```text
//! 0_LedgerCopySegment  ledger_copy_segment.txt
//! LedgerCopySegment  ledger_copy_segment/6_Run ledger suite.txt
//! LedgerCopySegment  ledger_copy_segment/system.txt
//! ```
//!
//! Lines are compared by a sum over them, not by names alone: the API gives a job's file under any name, and the names in a zip
//! are cut and cleaned by whoever wrote it. Only the job's file is kept; the folder tells how its steps are called.

use super::super::model::{Event, Incomplete, TestRun};
use super::super::{Digest, Form, Reading};
use super::course::fails;

/// What is to be read of a file beside others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// It stands for itself.
    Whole,
    /// It repeats the file at this place.
    Copy(usize),
    /// It is a step of the job at this place.
    Step(usize),
}

/// What happened before a job ran.
const SYSTEM: &str = "system.txt";

/// Leaves one reading of each line: readings of steps go into their job's, and of equal files the first stays.
///
/// `files` are sources with their paths; what is no log of a job is left alone. Returns which of them repeat others: these
/// have nothing left to say.
pub fn join(files: &mut [(String, Reading)]) -> Vec<bool> {
    let mut parts: Vec<Part> = (0..files.len()).map(|at| step(files, at)).collect();
    for at in 0..files.len() {
        if parts[at] == Part::Whole
            && let Some(earlier) = equal(files, &parts, at)
        {
            parts[at] = Part::Copy(earlier);
        }
    }
    for at in 0..files.len() {
        let Part::Step(job) = parts[at] else { continue };
        let job = match parts[job] {
            Part::Copy(earlier) => earlier,
            Part::Whole | Part::Step(_) => job,
        };
        let title = step_title(&files[at].0);
        let lines = files[at].1.lines;
        let step = std::mem::replace(
            &mut files[at].1,
            Reading {
                lines,
                ..Reading::default()
            },
        );
        name_steps(&mut files[job].1, step, &title);
    }
    for (file, part) in files.iter_mut().zip(&parts) {
        if *part != Part::Whole {
            let lines = file.1.lines;
            file.1 = Reading {
                lines,
                ..Reading::default()
            };
        }
    }
    parts.iter().map(|part| *part != Part::Whole).collect()
}

/// Whether a file is a step of a job whose own file lies beside the step's folder.
fn step(files: &[(String, Reading)], at: usize) -> Part {
    let (path, reading) = &files[at];
    let (Some(digest), Some((folder, name))) = (reading.digest, path.rsplit_once('/')) else {
        return Part::Whole;
    };
    // What happened before the job ran is told here only.
    let is_system = name == SYSTEM;
    if !is_system && !is_numbered(name) {
        return Part::Whole;
    }
    let above = folder.rsplit_once('/').unwrap_or(("", folder));
    let job = files.iter().position(|(other, reading)| {
        let beside = other.rsplit_once('/').unwrap_or(("", other));
        let is_larger = |it: &Digest| is_system || it.lines >= digest.lines;
        reading.digest.as_ref().is_some_and(is_larger)
            && beside.0 == above.0
            && is_numbered(beside.1)
            && is_same_name(beside.1, above.1)
    });
    job.map_or(Part::Whole, Part::Step)
}

/// The first file of the same lines.
fn equal(files: &[(String, Reading)], parts: &[Part], at: usize) -> Option<usize> {
    let digest = files[at].1.digest.filter(|it| it.lines > 0)?;
    let is_equal = |it: &Digest| it.lines == digest.lines && it.sum == digest.sum;
    (0..at).find(|&other| {
        parts[other] == Part::Whole && files[other].1.digest.as_ref().is_some_and(is_equal)
    })
}

/// `6_Run suite.txt`, and the old `-6_Run suite.txt`.
fn is_numbered(name: &str) -> bool {
    let name = name.strip_prefix('-').unwrap_or(name);
    name.split_once('_').is_some_and(|(number, rest)| {
        !number.is_empty()
            && number.bytes().all(|b| b.is_ascii_digit())
            && std::path::Path::new(rest)
                .extension()
                .is_some_and(|it| it == "txt")
    })
}

/// Whether a job's file and a folder have the same name, but for signs that are cleaned away and for its cut end.
fn is_same_name(file: &str, folder: &str) -> bool {
    let bare = file.split_once('_').map_or(file, |(_, rest)| rest);
    let bare = bare.strip_suffix(".txt").unwrap_or(bare);
    let plain = |name: &str| -> String { name.chars().filter(|c| c.is_alphanumeric()).collect() };
    let (one, other) = (plain(bare), plain(folder));
    // Names are cut at 90 units of UTF-16, signs included.
    one == other
        || (one.len() > 60 && other.starts_with(&one))
        || (other.len() > 60 && one.starts_with(&other))
}

/// How a step is called, by the name of its file.
fn step_title(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or_default();
    let name = name.strip_suffix(".txt").unwrap_or(name);
    match name.split_once('_') {
        Some((number, title)) if number.bytes().all(|b| b.is_ascii_digit()) => title.to_owned(),
        _ => name.to_owned(),
    }
}

/// Writes a step's own name into what the job's file tells of it.
fn name_steps(job: &mut Reading, step: Reading, title: &str) {
    let is_same_event = |one: &Event, other: &Event| {
        one.kind == other.kind && one.at == other.at && one.text == other.text
    };
    for event in &mut job.events {
        if step.events.iter().any(|it| is_same_event(it, event)) {
            title.clone_into(&mut event.subject);
        }
    }
    let name = job.attributes.get("job").cloned().unwrap_or_default();
    let part = if name.is_empty() {
        title.to_owned()
    } else {
        format!("{name} / {title}")
    };
    let is_same_run = |one: &TestRun, other: &TestRun| {
        one.form == other.form
            && one.name == other.name
            && one.first == other.first
            && one.totals == other.totals
    };
    for run in &mut job.runs {
        if step.runs.iter().any(|it| is_same_run(it, run)) {
            run.part.clone_from(&part);
        }
    }
    // A step's file may say what the job's does not: that the step did not end well.
    let is_of_step = format!("{title}.txt") != SYSTEM;
    for mut run in step.runs {
        if is_of_step && is_bad(&run) && !job.runs.iter().any(|it| is_same_run(it, &run)) {
            run.part.clone_from(&part);
            job.runs.push(run);
        }
    }
    for mut event in step.events {
        if !job.events.iter().any(|it| is_same_event(it, &event)) {
            title.clone_into(&mut event.subject);
            job.events.push(event);
        }
    }
    for (key, value) in step.attributes {
        if !key.starts_with("log.") {
            job.attributes.entry(key).or_insert(value);
        }
    }
}

/// Whether a run says of itself that it failed or is not told whole. Where a job ends is told by its own file.
fn is_bad(run: &TestRun) -> bool {
    let is_job = run.form == Form::ActionsLog && run.incomplete == [Incomplete::NoEnd];
    !is_job && (fails(run) || !run.faults.is_empty() || !run.is_complete())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_without_the_signs_that_are_cleaned_away() {
        assert!(is_same_name("0_Ledger  copy.txt", "Ledger _ copy"));
        assert!(!is_same_name("0_Ledger copy.txt", "Ledger"));
        let long = "a".repeat(70);
        assert!(is_same_name(&format!("0_{long}.txt"), &format!("{long}bc")));
        assert!(is_numbered("19_Post Checkout.txt") && !is_numbered("system.txt"));
        assert_eq!(step_title("x/6_Run_suite.txt"), "Run_suite");
    }
}
