//! The verdict and the findings behind it.

use crate::report::chains::Chain;
use crate::report::counts::has_several_runs;
use crate::report::escape::terminal;
use crate::report::figures::{
    asked_for, cited_at, killed_beside, names, nothing_found, searched, unexplained,
    window_in_seconds,
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
                "{}nothing above LOW found in {} ({low} low, {info} info){errors}",
                killed_beside(report),
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
    let place = width::cut_start(&place, page.width() * 2 / 5);
    let room = page.width().saturating_sub(width::columns(&place) + 6);
    let line = format!("    {place}  {}", gist(&evidence.text, room));
    page.painted_line(&line, line.len(), Paint::Dim);
}

/// What of a head tells most in few columns: its level and message; where that is too long, the code with what it says, or
/// else what follows the logger and the function.
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
    let (_, message) = whole.split_once(": ").unwrap_or(("", &inert));
    let told = coded(whole).unwrap_or_else(|| unsigned(message).to_owned());
    format!("{level} … {}", terminal(&told))
}

/// The first code of a text with what it says, without the words around it.
fn coded(text: &str) -> Option<String> {
    let (_, text) = text.split_once("Code: ")?;
    let end = text.find(|c: char| !c.is_ascii_digit())?;
    let (code, told) = text.split_at(end);
    let told = told.trim_start_matches(['.', ',', ' ']);
    let cause = told.strip_prefix("e.code() = ");
    let cause = cause.and_then(|it| it.split_once(", "));
    let (cause, told) = cause.map_or((String::new(), told), |(number, told)| {
        (format!(" ({number})"), told)
    });
    let told = told.strip_prefix("e.displayText() = ").unwrap_or(told);
    let told = match told.split_once("Exception: ") {
        Some((class, told)) if !class.contains(' ') => told,
        Some(_) | None => told,
    };
    (!code.is_empty()).then(|| format!("Code {code}{cause}: {told}"))
}

/// A message without what stands in parentheses before it, and without the C++ function that it names first.
fn unsigned(message: &str) -> &str {
    let mut depth = 0_usize;
    let begins = message.find(|c| match c {
        '(' => {
            depth += 1;
            false
        }
        ')' => {
            depth = depth.saturating_sub(1);
            false
        }
        _ => depth == 0 && c != ' ',
    });
    let message = begins.map_or(message, |at| &message[at..]);
    match message.split_once(": ") {
        Some((function, told)) if function.contains("::") && function.contains('(') => told,
        Some(_) | None => message,
    }
}

fn of_severity(report: &Report, severity: Severity) -> usize {
    report
        .findings
        .iter()
        .filter(|it| it.severity == severity)
        .count()
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
        assert_eq!(gist(head, 40), "<Error> … Code 210: Source a did not");
        let old = "2026.11.29 16:38:52.6 [ 6 ] {} <Error> shop.orders (S): DB::S::queueTask()::<lambda(DB::S::LogEntryPtr&)>: Poco::Exception. Code: 1000, e.code() = 104, e.displayText() = Connection reset by peer, e.what() = x";
        assert_eq!(
            gist(old, 40),
            "<Error> … Code 1000 (104): Connection reset by peer, e.what() = x"
        );
        let old = "2026.11.29 16:38:52.6 [ 6 ] {} <Error> executeQuery: Code: 60, e.displayText() = DB::Exception: No table, e.what() = x";
        assert_eq!(gist(old, 40), "<Error> … Code 60: No table, e.what() = x");
        let crash = "x <Fatal> BaseDaemon: (version 21.2.3.15 (official build), build id: 7B1E) (from thread 38807) (no query) Received signal Segmentation fault (11)";
        assert_eq!(
            gist(crash, 60),
            "<Fatal> … Received signal Segmentation fault (11)"
        );
        let signed = "x <Error> shop.t (S): void DB::S::run(int, X&): Cannot go on at all, whatever is tried";
        assert_eq!(
            gist(signed, 40),
            "<Error> … Cannot go on at all, whatever is tried"
        );
        assert_eq!(
            gist("x <Debug> Logger: a long message", 20),
            "<Debug> … a long message"
        );
        assert_eq!(gist("no level: here", 5), "no level: here");
    }
}
