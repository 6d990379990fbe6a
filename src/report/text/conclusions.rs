//! The verdict and the findings behind it.

use crate::report::chains::Chain;
use crate::report::counts::has_several_runs;
use crate::report::escape::terminal;
use crate::report::figures::{
    asked_for, cited_at, counted, names, nothing_found, unexplained, window_in_seconds,
};
use crate::report::model::{Evidence, Finding, Report};
use crate::report::{width, worst};
use crate::vocab::Severity;

use super::page::{Page, Paint};

/// Names in a row.
const NAMES_MAX: usize = 4;

/// Levels as they stand in a head.
const LEVELS: [&str; 8] = [
    "<Fatal>",
    "<Critical>",
    "<Error>",
    "<Warning>",
    "<Notice>",
    "<Information>",
    "<Debug>",
    "<Trace>",
];

/// Writes the worst finding in words, or that there is none.
pub(super) fn verdict(report: &Report, page: &mut Page) {
    match worst(report) {
        Some(finding) if finding.severity > Severity::Low => {
            let word = finding.severity.word().to_uppercase();
            headline(
                &format!(
                    "{word}{}: {}",
                    of_run(report, finding),
                    terminal(&finding.title)
                ),
                word.len(),
                finding.severity,
                page,
            );
        }
        Some(finding) => {
            let (low, info) = (
                of_severity(report, Severity::Low),
                of_severity(report, Severity::Info),
            );
            let errors = unexplained(report).map_or_else(String::new, |it| format!("; {it}"));
            let text = format!(
                "nothing above LOW found in {} ({low} low, {info} info){errors}",
                searched(report)
            );
            headline(&text, text.len(), finding.severity, page);
        }
        None => {
            let mut text = nothing_found(report);
            if report.records.total > 0 {
                text = format!("{text} in {}", searched(report));
            }
            headline(&text, 0, Severity::Info, page);
        }
    }
    if let Some(asked) = asked_for(report) {
        page.line(&asked);
    }
    if !report.complete {
        page.painted_line(
            "PARTIAL: not everything recognised could be read whole, see problems",
            7,
            Paint::Bold,
        );
    }
}

/// Writes the worst incident and the findings, the first of them with evidence.
pub(super) fn findings(report: &Report, page: &mut Page) {
    if report.findings.is_empty() {
        return;
    }
    page.gap();
    chains(report, page);
    let (grave, slight): (Vec<&Finding>, Vec<&Finding>) = report
        .findings
        .iter()
        .partition(|it| it.severity > Severity::Low);
    let (told, others) = grave.split_at(grave.len().min(page.room().told));
    for finding in told {
        tell(report, finding, page);
    }
    let others: Vec<&Finding> = others.iter().copied().chain(slight).collect();
    for finding in others.iter().take(page.room().mentioned) {
        let head = head_of(report, finding);
        let title = terminal(&finding.title);
        page.painted(
            &format!("{head}: {title}"),
            head.len(),
            Paint::Severity(finding.severity),
            page.room().title_lines,
        );
    }
    page.leave_out(
        others.len().saturating_sub(page.room().mentioned),
        "finding",
        "findings",
    );
}

fn headline(text: &str, painted: usize, severity: Severity, page: &mut Page) {
    page.painted(text, painted, Paint::Severity(severity), 2);
}

/// Writes which findings follow from which.
fn chains(report: &Report, page: &mut Page) {
    let chains: Vec<String> = report
        .incidents
        .iter()
        .filter(|it| it.findings.len() > 1)
        .map(|it| terminal(&Chain::of(&report.findings, it).words()))
        .collect();
    if !chains.is_empty() {
        page.wrapped(&chains.join("; "), 0, 1);
    }
}

fn tell(report: &Report, finding: &Finding, page: &mut Page) {
    let head = head_of(report, finding);
    let line = format!("{head}  {}", terminal(&finding.rule));
    page.painted_line(&line, head.len(), Paint::Severity(finding.severity));
    // The title of the worst is the verdict above.
    let is_worst = worst(report).is_some_and(|it| it.id == finding.id);
    if !is_worst {
        let lines_max = page.room().title_lines;
        page.wrapped(&terminal(&finding.title), 4, lines_max);
    }
    let reporters = terminal(&names(&finding.reported_by, NAMES_MAX));
    let accused = if finding.accused.is_empty() {
        String::new()
    } else {
        format!(
            "; accused: {}",
            terminal(&names(&finding.accused, NAMES_MAX))
        )
    };
    let window = window_in_seconds(&finding.window)
        .map_or_else(String::new, |it| format!("{}; ", terminal(&it)));
    let who = format!("{window}reported by {reporters}{accused}");
    page.wrapped(&who, 4, if is_worst { 2 } else { 1 });
    for evidence in finding
        .evidence
        .iter()
        .take(if is_worst { page.room().evidence } else { 1 })
    {
        cite(evidence, page);
    }
}

fn head_of(report: &Report, finding: &Finding) -> String {
    format!(
        "{} {}, {}{}",
        terminal(&finding.id),
        finding.severity.word(),
        finding.confidence.word(),
        of_run(report, finding)
    )
}

/// The run of a finding, where there are several.
fn of_run(report: &Report, finding: &Finding) -> String {
    if has_several_runs(report) {
        format!(" in {}", terminal(&finding.run))
    } else {
        String::new()
    }
}

fn cite(evidence: &Evidence, page: &mut Page) {
    let place = terminal(&cited_at(evidence));
    let place = width::cut_start(&place, page.width() / 2);
    let room = page.width().saturating_sub(width::columns(&place) + 6);
    let line = format!("    {place}  {}", gist(&evidence.text, room));
    page.painted_line(&line, line.len(), Paint::Dim);
}

/// What of a head tells most in few columns: its level and message; where that is too long, what follows the logger,
/// or the text of the exception.
fn gist(text: &str, room: usize) -> String {
    let level = LEVELS
        .iter()
        .filter_map(|it| text.find(it).map(|at| (at, *it)))
        .min();
    let Some((at, level)) = level else {
        return terminal(text);
    };
    let whole = text.get(at..).unwrap_or(text);
    let inert = terminal(whole);
    if width::columns(&inert) <= room {
        return inert;
    }
    let message = whole
        .split_once("Exception: ")
        .or_else(|| whole.split_once(": "));
    message.map_or(inert, |(_, message)| {
        format!("{level} … {}", terminal(message))
    })
}

fn of_severity(report: &Report, severity: Severity) -> usize {
    report
        .findings
        .iter()
        .filter(|it| it.severity == severity)
        .count()
}

fn searched(report: &Report) -> String {
    let nodes = u64::try_from(report.records.by_node.len()).unwrap_or(u64::MAX);
    format!(
        "{} of {}",
        counted(report.records.total, "record", "records"),
        counted(nodes, "node", "nodes")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gist_of_a_head_begins_where_it_tells_most() {
        let head = "2026.09.01 23:28:20.8 [ 648 ] {} <Error> default.t: run(): Code: 210. DB::Exception: Source a did not";
        assert_eq!(
            gist(head, 100),
            "<Error> default.t: run(): Code: 210. DB::Exception: Source a did not"
        );
        assert_eq!(gist(head, 40), "<Error> … Source a did not");
        assert_eq!(
            gist("x <Debug> Logger: a long message", 20),
            "<Debug> … a long message"
        );
        assert_eq!(gist("no level: here", 5), "no level: here");
    }
}
