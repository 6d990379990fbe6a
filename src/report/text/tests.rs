//! Tests: the verdict on them, each run with its totals, each group with what it goes back to.

use crate::report::escape::terminal;
use crate::report::figures::{counted, length};
use crate::report::model::Report;
use crate::report::model::tests::{TestGroup, TestRun};
use crate::report::testing as tests;
use crate::report::width;
use crate::vocab::Severity;

use super::page::{Page, Paint};

/// Areas named of a group.
const AREAS_MAX: usize = 2;

/// Columns for a name.
const NAME_WIDTH: usize = 70;

/// Writes the tests, if there are any.
pub(super) fn write(report: &Report, page: &mut Page) {
    let Some(verdict) = tests::verdict(report) else {
        return;
    };
    let fails = tests::fail(report);
    let word = tests::word(report);
    let severity = if fails {
        Severity::High
    } else if tests::is_partial(report) {
        Severity::Medium
    } else {
        Severity::Info
    };
    page.painted(
        &format!("{word}: {}", terminal(&verdict)),
        word.len(),
        Paint::Severity(severity),
        2,
    );
    let room = page.room().tests;
    let speakers: Vec<&TestRun> = tests::speakers(report).collect();
    for (at, row) in speakers.iter().take(room).enumerate() {
        page.line(&format!("  {}", terminal(&tests::run_words(row))));
        // Where much is to be said, of one run all is told.
        if at == 0 || page.room().draws {
            run(row, page);
        }
        said_of(row, page);
    }
    page.leave_out(
        speakers.len().saturating_sub(room),
        "run of tests",
        "runs of tests",
    );
    if !speakers.is_empty() {
        events("beside", report, page);
    }
    for one in report.tests.disagreements.iter().take(room) {
        let text = format!(
            "sources of {} disagree on {}: {} in {}, {} in {}",
            one.run, one.what, one.left.says, one.left.path, one.right.says, one.right.path
        );
        page.wrapped(&terminal(&text), 2, page.room().title_lines);
    }
    page.leave_out(
        report.tests.disagreements.len().saturating_sub(room),
        "disagreement",
        "disagreements",
    );
    for one in report.tests.groups.iter().take(room) {
        group(one, page);
    }
    page.leave_out(
        report.tests.groups.len().saturating_sub(room),
        "group of failures",
        "groups of failures",
    );
    page.gap();
}

/// Writes what machines tell where there is no run of tests beside which it would stand.
pub(super) fn write_events_alone(report: &Report, page: &mut Page) {
    if tests::speakers(report).next().is_none() && events("event", report, page) {
        page.gap();
    }
}

/// What happened beside the tests; whether anything did.
fn events(what: &str, report: &Report, page: &mut Page) -> bool {
    let room = page.room().tests;
    let is_told = |text: &str| tests::faults(report).any(|(_, fault)| fault.says == text);
    let events = tests::telling_events(report).filter(|event| !is_told(&event.text));
    let events: Vec<_> = events.collect();
    for event in events.iter().take(room) {
        let text = format!("{what}: {}", tests::event_words(event));
        page.wrapped(&terminal(&text), 2, page.room().title_lines);
    }
    page.leave_out(events.len().saturating_sub(room), "event", "events");
    !events.is_empty()
}

/// What says that a run failed, and what must be known of its source.
fn said_of(row: &TestRun, page: &mut Page) {
    let shown = page.room().title_lines;
    let faults = row.faults.iter();
    let faults: Vec<String> = faults.map(|it| tests::fault_words(row, it)).collect();
    if !faults.is_empty() {
        let text = format!("it says that it failed: {}", faults.join("; "));
        page.wrapped(&terminal(&text), 4, shown);
    }
    for warning in tests::warnings(row).take(shown) {
        page.wrapped(&terminal(&warning.text), 4, shown);
    }
}

fn run(row: &TestRun, page: &mut Page) {
    let totals = tests::totals(row);
    let telling: Vec<&String> = totals
        .iter()
        .filter(|total| !total.contains(" step") && !total.contains(" retr"))
        .collect();
    let telling: Vec<&str> = telling.iter().map(|total| total.as_str()).collect();
    if !telling.is_empty() {
        page.wrapped(&terminal(&telling.join("; ")), 4, 2);
    }
    if let Some(why) = tests::counted_differently(row) {
        page.wrapped(&terminal(&why), 4, 2);
    }
    let mut aside = Vec::new();
    let known = length(&row.known) + row.known_left_out;
    if known > 0 {
        aside.push(format!("{known} known"));
    }
    aside.extend(tests::retries(row));
    if row.filtered_out > 0 {
        aside.push(format!("{} not chosen to run", row.filtered_out));
    }
    if !row.unstable.is_empty() {
        aside.push(format!("{} unstable", length(&row.unstable)));
    }
    if !aside.is_empty() {
        page.line(&format!("    apart: {}", terminal(&aside.join(", "))));
    }
    let innermost: Vec<&str> = row
        .running
        .iter()
        .filter(|test| test.innermost)
        .map(|test| test.test.as_str())
        .collect();
    if let Some(first) = innermost.first() {
        let name = width::cut(&terminal(first), NAME_WIDTH);
        let more = innermost.len() - 1;
        let more = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        page.line(&format!("    still running: {name}{more}"));
    }
}

fn group(group: &TestGroup, page: &mut Page) {
    let leaves = counted(length(&group.leaves), "leaf", "leaves");
    let cause = group
        .cause
        .as_ref()
        .map_or_else(String::new, |cause| format!(" {cause}"));
    let head = format!("{} {}{cause}", group.id, group.role);
    let tries = tests::tries(group).map_or_else(String::new, |tries| format!(" ({tries})"));
    let text = format!("{head}: {leaves}: {}{tries}", group.signature);
    let severity = match group.role.as_str() {
        "cause" | "separate" | "unknown" => Severity::High,
        _ => Severity::Medium,
    };
    page.painted(
        &terminal(&text),
        head.len(),
        Paint::Severity(severity),
        page.room().title_lines,
    );
    page.wrapped(&terminal(&group.why), 4, page.room().title_lines);
    if let Some(above) = &group.above {
        let lines: Vec<&str> = above.message.lines().map(str::trim).collect();
        let text = format!("above, {} says: {}", above.test, lines.join(" "));
        page.wrapped(&terminal(&text), 4, page.room().title_lines + 1);
    }
    let mut areas: Vec<(&String, &u64)> = group.by_area.iter().collect();
    areas.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    if page.room().draws {
        let named: Vec<String> = areas
            .iter()
            .take(AREAS_MAX)
            .map(|(area, count)| format!("{count} {area}"))
            .collect();
        let more = areas.len().saturating_sub(AREAS_MAX);
        let more = if more > 0 {
            format!("; {more} more areas")
        } else {
            String::new()
        };
        page.wrapped(&terminal(&format!("in {}{more}", named.join("; "))), 4, 1);
    }
}
