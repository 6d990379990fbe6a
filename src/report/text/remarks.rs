//! What stands below the counts: levels, codes, books that do not balance, what is not explained, what could not be
//! read and what could not be seen.

use std::collections::BTreeMap;

use crate::report::REDACTED;
use crate::report::clocks;
use crate::report::counts::{self, has_several_runs, node_name};
use crate::report::diagnosis;
use crate::report::escape::terminal;
use crate::report::exported;
use crate::report::figures::{beyond_cap, counted, difference, length, names, share, thousands};
use crate::report::model::{BalanceSide, Report};
use crate::report::width;
use crate::vocab::LevelClass;

use super::page::Page;

/// Names in a row.
const NAMES_MAX: usize = 3;

/// Lines of what became of a finding that was run again: it names what was not as predicted.
const REPLAY_LINES: usize = 6;

/// Pairs of nodes whose clocks are told apart.
const CLOCKS_MAX: usize = 3;

/// Writes the remarks.
pub(super) fn write(report: &Report, page: &mut Page) {
    page.gap();
    in_order(report, page);
    levels(report, page);
    codes(report, page);
    balances(report, page);
    if let Some(beyond) = beyond_cap(report) {
        page.remark(
            "beyond cap",
            &terminal(&format!("{beyond}: --max-subjects")),
            2,
        );
    }
    coverage(report, page);
    let counters = exported::sentences(report);
    for sentence in counters.iter().take(1) {
        page.remark("counters", &terminal(sentence), 2);
    }
    page.leave_out(
        counters.len().saturating_sub(1),
        "node's error counters",
        "nodes' error counters",
    );
    let clocks = clocks::sentences(report);
    for sentence in clocks.iter().take(CLOCKS_MAX) {
        page.remark("clocks", &terminal(sentence), 2);
    }
    page.leave_out(
        clocks.len().saturating_sub(CLOCKS_MAX),
        "pair of clocks",
        "pairs of clocks",
    );
    not_observable(report, page);
    inputs(report, page);
    if report.redacted {
        page.remark("masked", REDACTED, 2);
    }
    elsewhere(report, page);
}

/// Which finding answers which step of a diagnosis, and which issue knows any.
fn in_order(report: &Report, page: &mut Page) {
    let steps = diagnosis::answered(report);
    let steps: Vec<String> = steps
        .iter()
        .map(|it| format!("{}: {}", terminal(it.step), terminal(&it.answer)))
        .collect();
    if !steps.is_empty() {
        page.remark("in order", &steps.join("; "), 3);
    }
    for row in &report.coverage.ignored {
        page.remark("left out", &terminal(&diagnosis::ignored(row)), 2);
    }
}

fn levels(report: &Report, page: &mut Page) {
    if report.records.total == 0 {
        return;
    }
    let classes = [
        LevelClass::Fatal,
        LevelClass::Error,
        LevelClass::Warning,
        LevelClass::Info,
        LevelClass::Debug,
        LevelClass::Trace,
        LevelClass::None,
    ];
    let mut parts: Vec<String> = classes
        .iter()
        .filter_map(|class| {
            let count = report
                .records
                .by_level
                .get(class.key())
                .copied()
                .unwrap_or(0);
            let word = if *class == LevelClass::None {
                "no level"
            } else {
                class.key()
            };
            (count > 0 || *class == LevelClass::Fatal)
                .then(|| format!("{} {word}", thousands(count)))
        })
        .collect();
    if report.records.suspect > 0 {
        parts.push(format!("{} suspect", thousands(report.records.suspect)));
    }
    if report.records.unparsed_lines > 0 {
        parts.push(counted(
            report.records.unparsed_lines,
            "unparsed line",
            "unparsed lines",
        ));
    }
    page.remark("levels", &parts.join(", "), 2);
}

fn codes(report: &Report, page: &mut Page) {
    let mut rows = counts::codes(report, &report.codes).rows;
    if rows.is_empty() {
        return;
    }
    rows.sort_by_key(|it| std::cmp::Reverse(it.total));
    let mut text = String::new();
    let mut named = 0;
    for row in &rows {
        let part = format!("{}: {}", terminal(&row.label), thousands(row.total));
        let next = if named == 0 {
            part
        } else {
            format!("{text}; {part}")
        };
        if named > 0 && width::columns(&next) > page.remark_width() {
            break;
        }
        text = next;
        named += 1;
    }
    page.remark("codes", &text, 1);
    page.leave_out(rows.len() - named, "code", "codes");
}

fn balances(report: &Report, page: &mut Page) {
    let mut open = report.balances.iter().filter(|it| it.remainder != 0);
    let Some(balance) = open.next() else {
        return;
    };
    let side = |it: &BalanceSide| format!("{} {}", thousands(it.count), terminal(&it.what));
    let right: Vec<String> = balance.right.iter().map(side).collect();
    let could_be = balance
        .could_be
        .first()
        .map_or_else(String::new, |it| format!("; could be: {}", terminal(it)));
    let run = if has_several_runs(report) {
        format!(" in {}", terminal(&balance.run))
    } else {
        String::new()
    };
    let text = format!(
        "{} left{run}: {} against {}{could_be}",
        difference(balance.remainder),
        side(&balance.left),
        right.join(" + "),
    );
    page.remark("balances", &text, 2);
    page.leave_out(open.count(), "open balance", "open balances");
}

fn coverage(report: &Report, page: &mut Page) {
    let coverage = &report.coverage;
    if coverage.error_records == 0 {
        return;
    }
    let explained = thousands(coverage.explained);
    let all = counted(
        coverage.error_records,
        "Error or Fatal record",
        "Error and Fatal records",
    );
    let part = share(coverage.explained, coverage.error_records);
    page.remark(
        "coverage",
        &format!("explained {explained} of {all} ({part})"),
        1,
    );
    for unexplained in coverage.unexplained.iter().take(page.room().templates) {
        let (count, level) = (
            thousands(unexplained.count),
            unexplained.level.class().key(),
        );
        page.remark(
            "",
            &format!("not: {count} {level}  {}", terminal(&unexplained.template)),
            1,
        );
    }
    let left = coverage
        .unexplained
        .len()
        .saturating_sub(page.room().templates);
    page.leave_out(left, "unexplained template", "unexplained templates");
    page.leave_out(coverage.near_misses.len(), "near miss", "near misses");
}

fn not_observable(report: &Report, page: &mut Page) {
    let mut nodes: BTreeMap<_, Vec<String>> = BTreeMap::new();
    for missed in &report.not_observable {
        nodes
            .entry((&missed.signal, &missed.why, &missed.collect))
            .or_default()
            .push(node_name(report, &missed.run, &missed.node));
    }
    if let Some(((signal, why, collect), on)) = nodes.first_key_value() {
        let on = names(on, NAMES_MAX);
        let text = format!("{signal} on {on}: {why}; collect {collect}");
        page.remark("not seen", &terminal(&text), 2);
    }
    page.leave_out(
        nodes.len().saturating_sub(1),
        "thing that could not be seen",
        "things that could not be seen",
    );
}

fn inputs(report: &Report, page: &mut Page) {
    let mut formats: Vec<(&str, u64)> = Vec::new();
    for input in &report.inputs {
        match formats
            .iter_mut()
            .find(|(format, _)| *format == input.format)
        {
            Some((_, count)) => *count += 1,
            None => formats.push((&input.format, 1)),
        }
    }
    formats.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let by_format: Vec<String> = formats
        .iter()
        .map(|(format, count)| format!("{} {}", thousands(*count), terminal(format)))
        .collect();
    let files = counted(length(&report.inputs), "file", "files");
    let tail = if by_format.is_empty() {
        String::new()
    } else {
        format!(": {}", by_format.join(", "))
    };
    let unknown: Vec<String> = report
        .inputs
        .iter()
        .filter(|it| it.format == "unknown")
        .map(|it| it.path.clone())
        .collect();
    let unknown = if unknown.is_empty() {
        String::new()
    } else {
        format!("; unknown: {}", terminal(&names(&unknown, NAMES_MAX)))
    };
    page.remark("inputs", &format!("{files}{tail}{unknown}"), 2);
    let problems: Vec<_> = report
        .inputs
        .iter()
        .flat_map(|input| input.problems.iter().map(move |it| (input, it)))
        .collect();
    let mut label = "problems";
    for (input, problem) in problems.iter().take(page.room().problems) {
        let line = problem.line.map_or_else(String::new, |it| format!(":{it}"));
        let text = format!("{}{line}  {}: {}", input.path, problem.kind, problem.detail);
        // What to do about it stands at its end.
        page.remark(label, &terminal(&text), 2);
        label = "";
    }
    page.leave_out(
        problems.len().saturating_sub(page.room().problems),
        "problem",
        "problems",
    );
}

fn elsewhere(report: &Report, page: &mut Page) {
    let summaries = report
        .replays
        .iter()
        .filter_map(|it| it["summary"].as_str());
    for summary in summaries {
        page.remark("replay", &terminal(summary), REPLAY_LINES);
    }
}
