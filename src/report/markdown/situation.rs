//! What happened, in words and numbers.

use serde_json::Value;

use crate::report::chains::Chain;
use crate::report::counts::{has_several_runs, node_name};
use crate::report::diagnosis;
use crate::report::escape::{markdown_inline, markdown_line, markdown_span};
use crate::report::figures::{
    asked_for, beyond_cap, counted, denied, fraction, killed_beside, length, names, nothing_found,
    searched, sentence, thousands, unexplained, window,
};
use crate::report::model::{Finding, Report};
use crate::report::testing::{failing, unjudged};
use crate::report::worst;
use crate::vocab::Severity;

use super::page::Page;
use super::{FINDINGS_MAX, told};

/// Names in a row.
const NAMES_MAX: usize = 8;

/// Writes the title: of failing tests, or of the worst finding.
pub(super) fn title(report: &Report, page: &mut Page) {
    let is_serious = worst(report).is_some_and(|it| it.severity > Severity::Low);
    let text = match (failing(report), unjudged(report)) {
        (Some(failing), _) => markdown_line(&sentence(&failing)),
        // What was not read must not look like what is good.
        (None, Some(why)) if !is_serious => {
            format!("Partial: {}", markdown_line(&why))
        }
        (None, _) => of_findings(report),
    };
    page.title(&text);
}

/// Writes what happened.
pub(super) fn write(report: &Report, page: &mut Page) {
    page.section("Describe the situation");
    if !report.complete {
        page.block("**Partial:** not everything recognised could be read whole; see the problems under Environment.");
    }
    if let Some(beyond) = beyond_cap(report) {
        page.block(&format!(
            "Beyond `--max-subjects`: {}.",
            markdown_inline(&beyond)
        ));
    }
    if report.findings.is_empty() && report.records.total == 0 && !report.tests.runs.is_empty() {
        page.block(&format!(
            "Among {} no log of a server was found, so what the servers did while the tests ran is not known.",
            counted(length(&report.inputs), "file", "files")
        ));
        return;
    }
    if report.findings.is_empty() {
        let verdict = if report.records.total == 0 {
            "Without a record there is nothing to judge.".to_owned()
        } else {
            let errors = unexplained(report).map_or_else(String::new, |it| format!("{it}. "));
            format!("No rule of casdiag found anything in them. {errors}The counts are below.")
        };
        page.block(&format!("{} {verdict}", read(report)));
        return;
    }
    page.block(&read(report));
    for incident in report.incidents.iter().filter(|it| it.findings.len() > 1) {
        let chain = Chain::of(&report.findings, incident);
        page.block(&format!("**{}**", markdown_inline(&chain.words())));
    }
    for finding in told(report) {
        page.block(&paragraph(report, finding));
    }
    page.left_out(report.findings.len(), FINDINGS_MAX, "findings");
    in_order(report, page);
    if let Some(worst) = worst(report) {
        page.block("This issue:");
        page.list(&bullets(report, worst));
    }
}

/// Writes which finding answers which question of a diagnosis.
fn in_order(report: &Report, page: &mut Page) {
    let mut items: Vec<String> = diagnosis::answered(report)
        .iter()
        .map(|it| format!("{} {}", markdown_line(it.asks), markdown_line(&it.answer)))
        .collect();
    if items.is_empty() {
        return;
    }
    let unanswered = diagnosis::unanswered(report);
    if !unanswered.is_empty() {
        let asked = markdown_line(&unanswered.join(" "));
        items.push(format!("No rule fired on: {asked}"));
    }
    page.block("In the order of a diagnosis:");
    page.list(&items);
}

fn of_findings(report: &Report) -> String {
    match worst(report) {
        Some(finding) if finding.severity > Severity::Low => markdown_line(&finding.title),
        Some(finding) => sentence(&format!(
            "{}nothing above low found; the most is: {}",
            markdown_line(&killed_beside(report)),
            markdown_line(&finding.title)
        )),
        None => sentence(&nothing_found(report)),
    }
}

fn read(report: &Report) -> String {
    let asked = asked_for(report).map_or_else(String::new, |it| format!(", {it}"));
    format!(
        "casdiag read {} in {}{asked}.",
        searched(report),
        counted(length(&report.inputs), "file", "files"),
    )
}

fn paragraph(report: &Report, finding: &Finding) -> String {
    let accused = if finding.accused.is_empty() {
        String::new()
    } else {
        format!(
            "; accused: {}",
            node_names(report, finding, &finding.accused)
        )
    };
    let window = window(&finding.window).map_or_else(String::new, |it| {
        let it = markdown_inline(&it);
        match it.split_once(" .. ") {
            _ if finding.window.of_counters => format!("; {it}"),
            Some((first, last)) => format!("; from {first} to {last}"),
            None => format!("; at {it}"),
        }
    });
    let run = if has_several_runs(report) {
        format!("; run {}", markdown_span(&finding.run))
    } else {
        String::new()
    };
    let counts: Vec<String> = finding
        .counts
        .iter()
        .map(|(name, count)| counted_by_node(finding, name, *count))
        .collect();
    let counts = if counts.is_empty() {
        String::new()
    } else {
        format!(" Counts: {}.", counts.join("; "))
    };
    format!(
        "**{}: {}** ({} severity, {}; rule {}{run}). Reported by {}{accused}{window}.{counts}",
        markdown_inline(&finding.id),
        markdown_line(&finding.title),
        finding.severity.word(),
        finding.confidence.word(),
        markdown_span(&finding.rule),
        node_names(report, finding, &finding.reported_by),
    )
}

fn counted_by_node(finding: &Finding, name: &str, count: u64) -> String {
    let by_node: Vec<String> = finding
        .counts_by_node
        .iter()
        .filter_map(|(node, counts)| counts.get(name).filter(|it| **it > 0).map(|it| (node, it)))
        .take(NAMES_MAX)
        .map(|(node, count)| format!("{} {}", markdown_inline(node), thousands(*count)))
        .collect();
    let by_node = if by_node.len() > 1 {
        format!(" ({})", by_node.join(", "))
    } else {
        String::new()
    };
    format!("{} {}{by_node}", markdown_inline(name), thousands(count))
}

fn bullets(report: &Report, worst: &Finding) -> Vec<String> {
    let mut bullets = vec![format!(
        "Is {} by its consequence, and {}{}",
        worst.severity.word(),
        worst.confidence.word(),
        if worst.category.is_empty() {
            String::new()
        } else {
            format!("; category: {}", markdown_inline(&worst.category))
        },
    )];
    if let Some(place) = &worst.fix_goes_in {
        bullets.push(format!("A fix goes in: {}", markdown_inline(place)));
    }
    if !worst.accused.is_empty() {
        bullets.push(format!(
            "Is reported by {} and accuses {}",
            node_names(report, worst, &worst.reported_by),
            node_names(report, worst, &worst.accused),
        ));
    }
    if worst.runs.n > 1 {
        bullets.push(format!(
            "Shows in {} of {} runs",
            worst.runs.k, worst.runs.n
        ));
    }
    for (name, share) in &worst.shares {
        bullets.push(format!(
            "Share \"{}\": {}",
            markdown_inline(name),
            fraction(*share)
        ));
    }
    for (name, value) in worst.subjects.iter().take(NAMES_MAX) {
        bullets.push(format!(
            "Is about {}: {}",
            markdown_inline(name),
            markdown_span(&subject(value))
        ));
    }
    if !worst.caused_by.is_empty() {
        bullets.push(format!(
            "Follows from {}",
            markdown_inline(&names(&worst.caused_by, NAMES_MAX))
        ));
    }
    let followers: Vec<String> = report
        .findings
        .iter()
        .filter(|it| it.caused_by.contains(&worst.id))
        .map(|it| it.id.clone())
        .collect();
    if !followers.is_empty() {
        bullets.push(format!(
            "Is followed by {}",
            markdown_inline(&names(&followers, NAMES_MAX))
        ));
    }
    bullets.extend(
        worst
            .not_this
            .iter()
            .map(|it| format!("Is {}", markdown_line(&denied(it)))),
    );
    bullets
}

/// The names of a finding's nodes as the counts table has them.
fn node_names(report: &Report, finding: &Finding, nodes: &[String]) -> String {
    let named: Vec<String> = nodes
        .iter()
        .map(|node| {
            let is_own = report
                .nodes
                .iter()
                .any(|it| it.run == finding.run && it.id == *node);
            if is_own {
                node_name(report, &finding.run, node)
            } else {
                node.clone()
            }
        })
        .collect();
    markdown_inline(&names(&named, NAMES_MAX))
}

/// A subject: text as it is, a value with its count, of a list the first few.
fn subject(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            if let [Value::String(text), Value::Number(count)] = items.as_slice() {
                let times = if count.as_u64() == Some(1) {
                    "time"
                } else {
                    "times"
                };
                return format!("{text} ({count} {times})");
            }
            let items: Vec<String> = items.iter().map(subject).collect();
            names(&items, NAMES_MAX)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => value.to_string(),
    }
}
