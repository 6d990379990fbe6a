//! What is said of tests in every output for people: verdicts, totals, and why counts differ.

use crate::report::figures::{counted, is_empty, length, nothing_found, thousands};
use crate::report::model::Report;
use crate::report::model::tests::{
    TestCheck, TestEvent, TestGroup, TestRemark, TestRun, TestSaying,
};

/// The rows that speak for their runs.
pub(super) fn speakers(report: &Report) -> impl Iterator<Item = &TestRun> {
    report.tests.runs.iter().filter(|row| row.speaks)
}

/// Failing leaves of all runs.
pub(super) fn failing_leaves(report: &Report) -> u64 {
    speakers(report).map(|row| row.failing_leaves).sum()
}

/// What says that a run failed without a listed test that would explain it, with the run.
pub(super) fn faults(report: &Report) -> impl Iterator<Item = (&TestRun, &TestSaying)> {
    speakers(report).flat_map(|row| row.faults.iter().map(move |fault| (row, fault)))
}

/// The verdict on tests that fail: where there are such, a report leads with it.
pub(super) fn failing(report: &Report) -> Option<String> {
    verdict(report).filter(|_| fail(report))
}

/// Whether a test failed that was not expected to, or a run says that it failed.
pub(super) fn fail(report: &Report) -> bool {
    failing_leaves(report) > 0 || faults(report).next().is_some()
}

/// Events that may explain why tests failed or did not run; others are states and things that passed. Errors that a step
/// marked come last: they may have ended it, or not.
pub(super) fn telling_events(report: &Report) -> impl Iterator<Item = &TestEvent> {
    const TELLING: [&str; 9] = [
        "server-died",
        "unreachable",
        "out-of-memory",
        "no-space",
        "timed-out",
        "cancelled",
        "killed",
        "runner-lost",
        "infrastructure",
    ];
    let events = report.tests.events.iter();
    let marked = events.clone().filter(|event| event.kind == "annotation");
    events
        .filter(|event| TELLING.contains(&event.kind.as_str()))
        .chain(marked)
}

/// What says of a run that it failed; of a check with the first line of what it found.
pub(super) fn fault_words(row: &TestRun, fault: &TestSaying) -> String {
    let is_it = |check: &&TestCheck| fault.says == format!("{}: {}", check.name, check.result);
    let detail = row.checks.iter().find(is_it).map(|it| it.detail.as_str());
    match detail.and_then(|it| it.lines().next()) {
        None | Some("") => fault.says.clone(),
        Some(detail) => format!("{}: {detail}", fault.says),
    }
}

/// `runner-lost in Run suite, 2026-03-14T23:18:02Z: The runner lost communication`.
pub(super) fn event_words(event: &TestEvent) -> String {
    let subject = if event.subject.is_empty() {
        String::new()
    } else {
        format!(" in {}", event.subject)
    };
    let at = event
        .at
        .as_deref()
        .map_or_else(String::new, |at| format!(", {at}"));
    format!("{}{subject}{at}: {}", event.kind, event.text)
}

/// What must be known of a source to judge what it says: what could not be read, what it leaves out, what is not to be trusted.
pub(super) fn warnings(row: &TestRun) -> impl Iterator<Item = &TestRemark> {
    let remarks = row.remarks.iter();
    remarks.filter(|remark| !matches!(remark.kind.as_str(), "" | "reading"))
}

/// `53 of 66 tries failed (of tests 2 of 3, the others of steps)`; nothing where no try failed.
pub(super) fn retries(row: &TestRun) -> Option<String> {
    let retries = &row.retries;
    if retries.failed == 0 {
        return None;
    }
    let all = format!(
        "{} of {} failed",
        thousands(retries.failed),
        counted(retries.tries, "try", "tries")
    );
    let is_by_name = row.form == "testflows-text";
    Some(match (retries.step_tries, retries.step_failed) {
        (Some(tries), Some(failed)) if tries > 0 => format!(
            "{all} (of tests {} of {}, the others of steps)",
            thousands(retries.failed - failed.min(retries.failed)),
            thousands(retries.tries - tries.min(retries.tries)),
        ),
        (None, _) if is_by_name => format!("{all}, of tests (this source shows no tries of steps)"),
        _ => all,
    })
}

/// What is said where results of tests were asked for and none were found.
pub(super) const NONE_FOUND: &str =
    "no results of tests were recognised, so nothing is known of them";

/// Whether results of tests were asked for and none were found.
fn none_found(report: &Report) -> bool {
    report.tests.wanted && report.tests.runs.is_empty()
}

/// Whether results of tests were asked for and none were found, or a run of tests is not told to its end.
pub(super) fn is_partial(report: &Report) -> bool {
    none_found(report) || ran_nothing(report) || speakers(report).any(|row| !row.complete)
}

/// Whether there are results of tests, and in none of them a test or a word on how the run ended.
pub(super) fn ran_nothing(report: &Report) -> bool {
    let is_empty = |row: &TestRun| {
        let counts = row.totals.values().flat_map(|level| level.values());
        counts.sum::<u64>() == 0
            && row.result.is_none()
            && row.exit_code.is_none()
            && row.faults.is_empty()
    };
    let mut rows = speakers(report).peekable();
    rows.peek().is_some() && rows.all(is_empty)
}

/// Why a report that found nothing must not be taken for a good one; nothing where all was read and judged.
pub(super) fn unjudged(report: &Report) -> Option<String> {
    let unread = || {
        let is_cut = !report.complete;
        is_cut.then(|| "not everything recognised could be read whole".to_owned())
    };
    let untold = || {
        let is_partial = is_partial(report);
        let why = if ran_nothing(report) {
            "no test ran"
        } else {
            "a run of tests is not told to its end"
        };
        is_partial.then(|| why.to_owned())
    };
    unread().or_else(|| unrecognised(report)).or_else(untold)
}

/// What was not found among the inputs, so that nothing is judged.
pub(super) fn unrecognised(report: &Report) -> Option<String> {
    if is_empty(report) {
        Some(nothing_found(report))
    } else {
        none_found(report).then(|| NONE_FOUND.to_owned())
    }
}

/// The word before the verdict on the tests.
pub(super) fn word(report: &Report) -> &'static str {
    if fail(report) {
        "TESTS FAIL"
    } else if none_found(report) {
        "NO TESTS"
    } else if is_partial(report) {
        "TESTS PARTIAL"
    } else {
        "TESTS"
    }
}

/// The verdict on the tests in one sentence; nothing where there are none and none were asked for.
pub(super) fn verdict(report: &Report) -> Option<String> {
    let runs: Vec<&TestRun> = speakers(report).collect();
    if runs.is_empty() {
        return report.tests.wanted.then(|| NONE_FOUND.to_owned());
    }
    let partial: u64 = runs.iter().filter(|row| !row.complete).map(|_| 1).sum();
    let partial = match partial {
        0 => String::new(),
        1 if runs.len() == 1 => "; the run is not told to its end".to_owned(),
        count => format!(
            "; {} not told to the end",
            counted(count, "run is", "runs are")
        ),
    };
    let leaves = failing_leaves(report);
    let failed = failed_runs(report);
    if leaves == 0 && !failed.is_empty() {
        return Some(format!("no failing test is listed, but {failed}{partial}"));
    }
    if leaves == 0 {
        if ran_nothing(report) {
            return Some(format!("no test ran: the results hold none{partial}"));
        }
        let of = counted(u64::try_from(runs.len()).unwrap_or(u64::MAX), "run", "runs");
        return Some(format!(
            "no unexpected failing test in {of} of tests{partial}"
        ));
    }
    let (telling, silent): (Vec<_>, Vec<_>) = report
        .tests
        .groups
        .iter()
        .partition(|group| !is_silent(group));
    let mut failures = counted(length(&telling), "failure", "failures") + " by signature";
    let unsaid: u64 = silent.iter().map(|group| length(&group.leaves)).sum();
    if unsaid > 0 {
        let unsaid = counted(unsaid, "leaf", "leaves");
        failures = format!(
            "{failures}, {unsaid} without a message in {} source",
            if unsaid.starts_with("1 ") {
                "its"
            } else {
                "their"
            }
        );
    }
    let leaves = counted(leaves, "failing leaf", "failing leaves");
    let failed = if failed.is_empty() {
        String::new()
    } else {
        format!("; {failed}")
    };
    Some(format!(
        "{leaves}, {failures}; {}{failed}{partial}",
        causes(report)
    ))
}

/// Whether the leaves of a group say no more than a class: they need not be one failure.
fn is_silent(group: &TestGroup) -> bool {
    group.text.is_empty() && group.file.is_none()
}

/// `T1 says that it failed: exit code 139`, and how many runs more; empty where none does.
fn failed_runs(report: &Report) -> String {
    let Some((row, first)) = faults(report).next() else {
        return String::new();
    };
    let runs = speakers(report)
        .filter(|row| !row.faults.is_empty())
        .count();
    let more = match runs {
        1 => String::new(),
        2 => ", and 1 more run does".to_owned(),
        runs => format!(", and {} more runs do", runs - 1),
    };
    let says = first.says.split(". ").next().unwrap_or(&first.says);
    format!("{} says that it failed: {says}{more}", row.run)
}

/// What the groups go back to, in one clause.
fn causes(report: &Report) -> String {
    let groups = &report.tests.groups;
    let count = |fits: &dyn Fn(&TestGroup) -> bool| -> u64 {
        let groups = groups.iter().filter(|group| fits(group));
        groups
            .map(|group| u64::try_from(group.leaves.len()).unwrap_or(u64::MAX))
            .sum()
    };
    let mut parts = Vec::new();
    if let Some(primary) = &report.tests.primary {
        let of = |role: &'static str| {
            count(&|group: &TestGroup| group.role == role && group.cause.as_ref() == Some(primary))
        };
        let (direct, collateral) = (of("cause"), of("collateral"));
        let and = if collateral > 0 {
            format!(" and {} collateral", thousands(collateral))
        } else {
            String::new()
        };
        if direct + collateral > 0 {
            parts.push(format!("{} go back to {primary}{and}", thousands(direct)));
        }
    }
    for (role, words) in [
        ("infrastructure", "infrastructure"),
        ("separate", "of other causes"),
        ("unknown", "of unknown cause"),
    ] {
        let count = count(&|group: &TestGroup| group.role == role);
        if count > 0 {
            parts.push(format!("{} {words}", thousands(count)));
        }
    }
    let elsewhere = count(&|group: &TestGroup| {
        group.role == "collateral" && group.cause.as_ref() != report.tests.primary.as_ref()
    }) + count(&|group: &TestGroup| {
        group.role == "collateral" && group.cause.is_none() && report.tests.primary.is_none()
    });
    if elsewhere > 0 {
        parts.push(format!("{} collateral", thousands(elsewhere)));
    }
    let unlisted: u64 = speakers(report).map(|row| row.leaves_left_out).sum();
    if unlisted > 0 {
        parts.push(format!("{} counted and in no group", thousands(unlisted)));
    }
    parts.join(", ")
}

/// `T1 /ledger: Error, 1h 53m`.
pub(super) fn run_words(row: &TestRun) -> String {
    let name = if row.name.is_empty() {
        &row.form
    } else {
        &row.name
    };
    let mut words = format!("{} {name}", row.run);
    if !row.part.is_empty() {
        words = format!("{words} ({})", row.part);
    }
    let mut facts = Vec::new();
    facts.extend(row.result.clone());
    facts.extend(row.exit_code.map(|code| format!("exit code {code}")));
    facts.extend(row.duration_s.map(time));
    if !row.complete {
        facts.push(format!("incomplete: {}", row.incomplete.join(", ")));
    }
    if let (false, Some(last)) = (row.complete, &row.last) {
        facts.push(format!("last message {last}"));
    }
    format!("{words}: {}", facts.join(", "))
}

/// `46 scenarios (20 ok, 19 fail)`, by level.
pub(super) fn totals(row: &TestRun) -> Vec<String> {
    let of = |level: &String| {
        let by = row.totals.get(level)?;
        let units: u64 = by.values().sum();
        let by: Vec<String> = by
            .iter()
            .map(|(word, count)| format!("{} {word}", thousands(*count)))
            .collect();
        Some(format!(
            "{} ({})",
            counted(units, level, &plural(level)),
            by.join(", ")
        ))
    };
    row.levels.iter().filter_map(of).collect()
}

fn plural(level: &str) -> String {
    match level.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None if level.ends_with('h') => format!("{level}es"),
        None => format!("{level}s"),
    }
}

/// Why the number of failing scenarios, or of failing tests, is not that of failing leaves.
pub(super) fn counted_differently(row: &TestRun) -> Option<String> {
    let levels = &row.failing_by_level;
    let scenarios = levels.iter().find(|level| level.level == "scenario");
    let others = levels
        .iter()
        .filter(|level| level.level != "scenario" && level.leaves > 0);
    let others: Vec<String> = others
        .map(|level| counted(level.leaves, &level.level, &plural(&level.level)))
        .collect();
    if let Some(scenarios) =
        scenarios.filter(|it| it.tests != row.failing_leaves || it.leaves != it.tests)
    {
        let parents = scenarios.tests - scenarios.leaves;
        let also = if others.is_empty() {
            String::new()
        } else {
            format!(" and {}", others.join(", "))
        };
        return Some(format!(
            "{} and {} are different counts: {} fail because a test below them does, the leaves are {}{also}",
            counted(scenarios.tests, "failing scenario", "failing scenarios"),
            counted(row.failing_leaves, "failing leaf", "failing leaves"),
            counted(parents, "of the scenarios", "of the scenarios"),
            counted(scenarios.leaves, "scenario", "scenarios"),
        ));
    }
    (row.failing_tests != row.failing_leaves).then(|| {
        format!(
            "{} and {} are different counts: {} because a test below does",
            counted(row.failing_tests, "failing test", "failing tests"),
            counted(row.failing_leaves, "failing leaf", "failing leaves"),
            counted(row.failing_tests - row.failing_leaves, "fails", "fail"),
        )
    })
}

/// `28 tries in 300 s`.
pub(super) fn tries(group: &TestGroup) -> Option<String> {
    let (fewest, most) = group.failed_tries;
    let tries = match (fewest, most) {
        (_, 0) => return None,
        (fewest, most) if fewest == most => counted(most, "failed try", "failed tries"),
        (fewest, most) => format!("{fewest} to {most} failed tries"),
    };
    let span = group
        .tries_span_s
        .map_or_else(String::new, |span| format!(" in up to {span:.0} s"));
    Some(format!("{tries} each{span}"))
}

/// Seconds in at most two units: `4h 44m`, `5m 30s`, `12s`.
pub(super) fn time(seconds: f64) -> String {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "cut to whole seconds, never negative"
    )]
    let whole = seconds.max(0.0) as u64;
    match whole {
        0..60 => format!("{seconds:.1}s"),
        60..3600 => format!("{}m {}s", whole / 60, whole % 60),
        3600..86_400 => format!("{}h {}m", whole / 3600, whole / 60 % 60),
        _ => format!("{}d {}h", whole / 86_400, whole / 3600 % 24),
    }
}

/// A file of the tests without the folders of the machine that ran them: a runner checks out below `work/NAME/NAME/`.
pub(super) fn own_file(file: &str) -> &str {
    let Some((_, below)) = file.split_once("/work/") else {
        return file.trim_start_matches('/');
    };
    let mut parts = below.splitn(3, '/');
    match (parts.next(), parts.next(), parts.next()) {
        (Some(a), Some(b), Some(rest)) if a == b => rest,
        _ => file.trim_start_matches('/'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_cut_to_two_units_and_files_to_the_repository() {
        assert_eq!(
            [time(17_040.9), time(330.6), time(12.34), time(200_000.0)],
            ["4h 44m", "5m 30s", "12.3s", "2d 7h"]
        );
        assert_eq!(
            own_file("/home/runner/work/ledger/ledger/ledger/check.py"),
            "ledger/check.py"
        );
        assert_eq!(own_file("/opt/work/a/b/c.py"), "opt/work/a/b/c.py");
    }
}
