//! Tests: the verdict on them, runs with their totals, groups with what ties them, the scope by feature, what stands apart.

use crate::report::escape::{markdown_inline, markdown_line, markdown_span};
use crate::report::figures::{counted, length, sentence, thousands};
use crate::report::model::Report;
use crate::report::model::tests::{TestGroup, TestRun};
use crate::report::testing as tests;

use super::page::Page;

/// Runs, groups, areas of a group, leaves of a group, and other things listed.
const RUNS_MAX: usize = 20;
const GROUPS_MAX: usize = 20;
const AREAS_MAX: usize = 12;
const LEAVES_MAX: usize = 5;
const ITEMS_MAX: usize = 10;

/// Writes the tests and what happened beside them, if there is any of it.
pub(super) fn write(report: &Report, page: &mut Page) {
    let happened = || tests::telling_events(report).next();
    let none = || happened().map(|_| "no run of tests is told".to_owned());
    let Some(verdict) = tests::verdict(report).or_else(none) else {
        return;
    };
    page.section("Tests");
    page.block(&format!("**{}.**", markdown_inline(&sentence(&verdict))));
    let speakers: Vec<&TestRun> = tests::speakers(report).collect();
    for row in speakers.iter().take(RUNS_MAX) {
        run(row, page);
    }
    page.left_out(speakers.len(), RUNS_MAX, "runs of tests");
    disagreements(report, page);
    groups(report, page);
    for row in speakers.iter().take(RUNS_MAX) {
        apart(row, page);
    }
    events(report, page);
    clocks(report, page);
}

fn run(row: &TestRun, page: &mut Page) {
    page.block(&format!(
        "{}, from {}",
        markdown_inline(&tests::run_words(row)),
        markdown_span(&row.source)
    ));
    let mut items: Vec<String> = tests::totals(row)
        .iter()
        .map(|total| markdown_inline(total))
        .collect();
    items.extend(tests::counted_differently(row).map(|why| markdown_inline(&why)));
    items.extend(row.faults.iter().map(|fault| {
        format!(
            "**it says that it failed**: {}, in {}",
            markdown_inline(&tests::fault_words(row, fault)),
            markdown_span(&fault.path)
        )
    }));
    items.extend(tests::retries(row).map(|retries| markdown_inline(&retries)));
    if row.leaves_left_out > 0 {
        items.push(format!(
            "{} are counted and in no group: there are too many to list, or the source does not name them",
            counted(row.leaves_left_out, "failing leaf", "failing leaves")
        ));
    }
    for duration in row.durations.iter().skip(1) {
        items.push(format!(
            "{} by another rule: {}",
            tests::time(duration.seconds),
            markdown_line(&duration.rule)
        ));
    }
    page.list(&items);
}

fn disagreements(report: &Report, page: &mut Page) {
    if report.tests.disagreements.is_empty() {
        return;
    }
    page.block("Sources of one run disagree:");
    let items = report
        .tests
        .disagreements
        .iter()
        .take(ITEMS_MAX)
        .map(|one| {
            format!(
                "{} of {}: {} in {}, {} in {}",
                markdown_inline(&one.what),
                markdown_inline(&one.run),
                markdown_inline(&one.left.says),
                markdown_span(&one.left.path),
                markdown_inline(&one.right.says),
                markdown_span(&one.right.path),
            )
        });
    page.list(&items.collect::<Vec<_>>());
    page.left_out(report.tests.disagreements.len(), ITEMS_MAX, "disagreements");
}

fn groups(report: &Report, page: &mut Page) {
    let groups = &report.tests.groups;
    if groups.is_empty() {
        return;
    }
    let header = ["Group", "Role", "Leaves:", "Signature", "Finding"].map(str::to_owned);
    let rows = groups.iter().take(GROUPS_MAX).map(|group| {
        vec![
            markdown_inline(&group.id),
            markdown_inline(&group.role),
            thousands(length(&group.leaves)),
            markdown_inline(&group.signature),
            group
                .cause
                .as_deref()
                .map_or_else(|| "unknown".to_owned(), markdown_inline),
        ]
    });
    page.table(&header, &rows.collect::<Vec<_>>());
    page.left_out(groups.len(), GROUPS_MAX, "groups");
    for group in groups.iter().take(GROUPS_MAX) {
        told(group, page);
    }
}

fn told(group: &TestGroup, page: &mut Page) {
    page.part(&format!(
        "{} {}",
        markdown_inline(&group.id),
        markdown_inline(&group.role)
    ));
    let tries =
        tests::tries(group).map_or_else(String::new, |tries| format!(" {}.", sentence(&tries)));
    page.block(&format!(
        "{}.{tries}",
        markdown_inline(group.why.trim_end_matches('.'))
    ));
    if group.leaves.len() > 1 {
        let mut areas: Vec<(&String, &u64)> = group.by_area.iter().collect();
        areas.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
        let rows = areas
            .iter()
            .take(AREAS_MAX)
            .map(|(area, count)| vec![thousands(**count), markdown_inline(area)]);
        page.table(
            &["Leaves:", "Feature"].map(str::to_owned),
            &rows.collect::<Vec<_>>(),
        );
        page.left_out(areas.len(), AREAS_MAX, "features");
    }
    if let Some(above) = &group.above {
        page.block(&format!(
            "{} ({}:{}) stands above and repeats one of its failing children; it says:",
            markdown_span(&above.test),
            markdown_inline(&above.path),
            above.line
        ));
        page.list(&lines_of(&above.message));
    }
    let leaves = group.leaves.iter().take(LEAVES_MAX).map(|leaf| {
        let message = leaf.message.lines().next().unwrap_or_default();
        let message = if message.is_empty() {
            String::new()
        } else {
            format!(": {}", markdown_inline(message))
        };
        let also = match leaf.also.len() {
            0 => String::new(),
            more => format!("; it has {more} further failures"),
        };
        format!(
            "{} ({}:{}){message}{also}",
            markdown_span(&leaf.test),
            markdown_inline(&leaf.path),
            leaf.source_line
        )
    });
    page.list(&leaves.collect::<Vec<_>>());
    page.left_out(group.leaves.len(), LEAVES_MAX, "leaves");
}

/// Lines of a message as items of a list.
fn lines_of(message: &str) -> Vec<String> {
    let lines = message
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty());
    lines.take(LEAVES_MAX).map(markdown_inline).collect()
}

/// What is no unexpected failure: known fails, unstable tests, tests that ran when the log broke off.
fn apart(row: &TestRun, page: &mut Page) {
    if !row.known.is_empty() {
        page.block(&format!(
            "Known in {}: {}.",
            markdown_inline(&row.run),
            counted(
                length(&row.known) + row.known_left_out,
                "failure",
                "failures"
            )
        ));
        let items = row.known.iter().take(ITEMS_MAX).map(|known| {
            let reason = known.reason.as_deref().map_or_else(String::new, |reason| {
                format!(": {}", markdown_inline(reason))
            });
            format!(
                "{} {}{reason}",
                markdown_inline(&known.result),
                markdown_span(&known.test)
            )
        });
        page.list(&items.collect::<Vec<_>>());
        page.left_out(row.known.len(), ITEMS_MAX, "known failures");
    }
    if !row.unstable.is_empty() {
        page.block("Passing and failing repetitions:");
        let items = row.unstable.iter().take(ITEMS_MAX);
        let items = items.map(|one| {
            format!(
                "{}: {} passed, {} failed",
                markdown_span(&one.test),
                one.passed,
                one.failed
            )
        });
        page.list(&items.collect::<Vec<_>>());
    }
    let running: Vec<_> = row.running.iter().filter(|test| test.innermost).collect();
    if !running.is_empty() {
        page.block(&format!(
            "Still running when {} broke off:",
            markdown_inline(&row.run)
        ));
        let items = running.iter().take(ITEMS_MAX).map(|test| {
            let since = test.since.as_deref().map_or_else(String::new, |since| {
                format!(" since {}", markdown_inline(since))
            });
            format!("{}{since}", markdown_span(&test.test))
        });
        page.list(&items.collect::<Vec<_>>());
        page.left_out(running.len(), ITEMS_MAX, "tests");
    }
    let remarks = row
        .remarks
        .iter()
        .take(ITEMS_MAX)
        .map(|remark| markdown_line(&remark.text));
    page.list(&remarks.collect::<Vec<_>>());
}

fn events(report: &Report, page: &mut Page) {
    let events = &report.tests.events;
    if events.is_empty() {
        return;
    }
    page.block("Beside the tests:");
    let others = events
        .iter()
        .filter(|event| tests::telling_events(report).all(|it| !std::ptr::eq(it, *event)));
    let ordered = tests::telling_events(report).chain(others);
    let items = ordered.take(ITEMS_MAX).map(|event| {
        format!(
            "{} ({}:{})",
            markdown_inline(&tests::event_words(event)),
            markdown_inline(&event.path),
            event.line
        )
    });
    page.list(&items.collect::<Vec<_>>());
    page.left_out(events.len(), ITEMS_MAX, "events");
}

fn clocks(report: &Report, page: &mut Page) {
    let clocks = report.tests.clocks.iter().take(ITEMS_MAX);
    let items: Vec<String> = clocks
        .map(|clock| {
            format!(
                "{}: {}",
                markdown_inline(&clock.node),
                markdown_inline(&clock.how)
            )
        })
        .collect();
    if !items.is_empty() {
        page.block("Clocks of nodes against those of the tests, which are UTC:");
        page.list(&items);
    }
}
