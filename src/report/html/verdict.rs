//! The verdict first: of tests that fail, or the worst finding, in one sentence, what was read, and how the findings hang together.

use crate::report::chains::Chain;
use crate::report::counts::has_several_runs;
use crate::report::diagnosis;
use crate::report::figures::{
    asked_for, beyond_cap, counted, killed_beside, length, names, nothing_found, sentence, share,
    thousands, window, window_in_seconds,
};
use crate::report::model::{Finding, Incident, Report};
use crate::report::testing::failing;
use crate::report::{REDACTED, worst};
use crate::vocab::Severity;

use super::markup::Markup;
use super::sheet::Sheet;

/// Incidents told, and the bytes for them.
const INCIDENTS_MAX: usize = 40;
const INCIDENT_BYTES: usize = 60_000;

/// Findings that follow from one, and how many follow one from another.
const CHAIN_MAX: usize = 12;
const DEPTH_MAX: usize = 6;

/// Names in a row.
pub(super) const NAMES_MAX: usize = 8;

/// The verdict in one sentence, without markup.
pub(super) fn title(report: &Report) -> String {
    if let Some(failing) = failing(report) {
        return sentence(&failing);
    }
    match worst(report) {
        Some(finding) if finding.severity > Severity::Low => finding.title.clone(),
        Some(finding) => sentence(&format!(
            "{}nothing above low found; the most is: {}",
            killed_beside(report),
            finding.title
        )),
        // A finding's title may begin with a node's name; this begins with a word.
        None => sentence(&nothing_found(report)),
    }
}

/// Writes the verdict and the incidents.
pub(super) fn write(sheet: &Sheet<'_>, page: &mut Markup) {
    let report = sheet.report;
    let fails = failing(report).is_some();
    let severity = worst(report).map(|it| it.severity);
    let severity = severity.max(fails.then_some(Severity::High));
    page.el("section", &[("id", "verdict")], |page| {
        let class = format!("hero sev-{}", severity.map_or("none", Severity::word));
        page.el("div", &[("class", &class)], |page| {
            page.el("p", &[("class", "badges")], |page| {
                if fails {
                    page.link("tests", &[("class", "sev high")], |page| {
                        page.text("tests fail");
                    });
                } else {
                    badges(worst(report), page);
                }
            });
            page.prose_in("h1", &[], &title(report));
            if let Some(finding) = worst(report) {
                if fails {
                    page.el("p", &[("class", "badges")], |page| {
                        badges(Some(finding), page);
                        page.prose_in("span", &[], &finding.title);
                    });
                }
                page.leaf("p", &[("class", "who")], &who(sheet, finding));
            }
            remarks(report, page);
        });
        figures(report, page);
    });
    incidents(sheet, page);
    in_order(report, page);
}

/// Writes which finding answers which question of a diagnosis.
fn in_order(report: &Report, page: &mut Markup) {
    let answered = diagnosis::answered(report);
    if answered.is_empty() {
        return;
    }
    page.section("diagnosis", "In the order of a diagnosis", |page| {
        page.el("ol", &[], |page| {
            for step in &answered {
                page.leaf("li", &[], &format!("{} {}", step.asks, step.answer));
            }
        });
        let unanswered = diagnosis::unanswered(report);
        if !unanswered.is_empty() {
            let text = format!("No rule fired on: {}", unanswered.join(" "));
            page.leaf("p", &[("class", "sub")], &text);
        }
    });
}

/// How bad the worst finding is, how sure that is, and where it is told.
fn badges(finding: Option<&Finding>, page: &mut Markup) {
    let Some(finding) = finding else {
        return page.leaf("span", &[("class", "sev none")], "no finding");
    };
    badge(page, finding.severity);
    page.leaf("span", &[("class", "sure")], finding.confidence.word());
    page.link(&finding.id, &[("class", "ref")], |page| {
        page.text(&finding.id);
    });
    page.leaf("code", &[], &finding.rule);
}

/// The severity as a badge.
pub(super) fn badge(page: &mut Markup, severity: Severity) {
    let class = format!("sev {}", severity.word());
    page.leaf("span", &[("class", &class)], severity.word());
}

fn who(sheet: &Sheet<'_>, finding: &Finding) -> String {
    let mut parts = vec![format!(
        "Reported by {}",
        names(&sheet.names(finding, &finding.reported_by), NAMES_MAX)
    )];
    if !finding.accused.is_empty() {
        parts.push(format!(
            "accused: {}",
            names(&sheet.names(finding, &finding.accused), NAMES_MAX)
        ));
    }
    if has_several_runs(sheet.report) {
        parts.push(format!("run {}", finding.run));
    }
    parts.extend(window_in_seconds(&finding.window));
    parts.join(" · ")
}

fn remarks(report: &Report, page: &mut Markup) {
    if !report.complete {
        page.leaf(
            "p",
            &[("class", "warn")],
            "Partial: not everything recognised could be read whole; see the problems of the inputs.",
        );
    }
    if report.redacted {
        page.leaf("p", &[("class", "sub")], &format!("Masked: {REDACTED}."));
    }
    if let Some(asked) = asked_for(report) {
        page.leaf("p", &[("class", "warn")], &format!("Asked for: {asked}."));
    }
    if let Some(beyond) = beyond_cap(report) {
        let text = format!("Beyond --max-subjects: {beyond}.");
        page.leaf("p", &[("class", "warn")], &text);
    }
}

fn figures(report: &Report, page: &mut Markup) {
    let coverage = &report.coverage;
    let by_severity: Vec<String> = [
        Severity::Critical,
        Severity::High,
        Severity::Medium,
        Severity::Low,
        Severity::Info,
    ]
    .into_iter()
    .filter_map(|severity| {
        let found = report.findings.iter().filter(|it| it.severity == severity);
        let count = found.count();
        (count > 0).then(|| format!("{count} {}", severity.word()))
    })
    .collect();
    let errors = if coverage.error_records == 0 {
        "no Error record".to_owned()
    } else {
        format!(
            "{} of {} Error and Fatal records",
            thousands(coverage.explained),
            thousands(coverage.error_records)
        )
    };
    let explained = if coverage.error_records == 0 {
        "—".to_owned()
    } else {
        share(coverage.explained, coverage.error_records)
    };
    let nodes = u64::try_from(report.records.by_node.len()).unwrap_or(u64::MAX);
    let suspect = if report.records.suspect > 0 {
        format!("{} may be forged", thousands(report.records.suspect))
    } else {
        counted(
            report.records.continuation_lines,
            "continuation line",
            "continuation lines",
        )
    };
    let rows = [
        (
            "Findings",
            thousands(length(&report.findings)),
            by_severity.join(", "),
        ),
        ("Records", thousands(report.records.total), suspect),
        ("Nodes with records", thousands(nodes), runs(report)),
        (
            "Inputs",
            thousands(length(&report.inputs)),
            unknown_inputs(report),
        ),
        ("Explained", explained, errors),
    ];
    page.el("dl", &[("class", "figures")], |page| {
        for (what, figure, more) in rows {
            page.el("div", &[], |page| {
                page.leaf("dt", &[], what);
                page.leaf("dd", &[("class", "figure")], &figure);
                page.leaf("dd", &[("class", "more")], &more);
            });
        }
    });
}

fn runs(report: &Report) -> String {
    let mut runs: Vec<&str> = report.nodes.iter().map(|it| it.run.as_str()).collect();
    runs.sort_unstable();
    runs.dedup();
    counted(length(&runs), "run", "runs")
}

fn unknown_inputs(report: &Report) -> String {
    let unknown = report.inputs.iter().filter(|it| it.format == "unknown");
    let unknown = u64::try_from(unknown.count()).unwrap_or(u64::MAX);
    if unknown == 0 {
        "all recognised".to_owned()
    } else {
        format!("{} of unknown kind", thousands(unknown))
    }
}

fn incidents(sheet: &Sheet<'_>, page: &mut Markup) {
    let incidents = &sheet.report.incidents;
    if incidents.is_empty() {
        return;
    }
    page.section("incidents", "Incidents", |page| {
        let mut left = 0;
        page.el("ol", &[("class", "incidents")], |page| {
            left = page.bounded(
                incidents,
                INCIDENTS_MAX,
                INCIDENT_BYTES,
                |page, incident| {
                    one_incident(sheet, incident, page);
                },
            );
        });
        page.left_out(left, "incidents");
    });
}

fn one_incident(sheet: &Sheet<'_>, incident: &Incident, page: &mut Markup) {
    let chain = Chain::of(&sheet.report.findings, incident);
    let findings = chain.findings.iter();
    let worst = findings.clone().map(|it| it.severity).max();
    let names = findings.flat_map(|it| sheet.names(it, &it.nodes));
    let names: Vec<String> = names.collect();
    let places = sheet.places(names.iter().map(String::as_str));
    let rank = worst.map_or(0, rank).to_string();
    let attributes = [
        ("class", "it"),
        ("data-n", places.as_str()),
        ("data-s", rank.as_str()),
    ];
    page.el("li", &attributes, |page| {
        page.leaf("span", &[("class", "incident-id")], &incident.id);
        page.el("div", &[("class", "chains")], |page| {
            let roots: Vec<&Finding> = chain.roots().collect();
            let left = page.bounded(roots, CHAIN_MAX, INCIDENT_BYTES, |page, it| {
                one_chain(&chain, it, DEPTH_MAX, page);
            });
            page.left_out(left + chain.left, "findings");
        });
    });
}

/// Writes a finding, and what follows from it each with what follows from that.
fn one_chain(chain: &Chain<'_>, cause: &Finding, depth_max: usize, page: &mut Markup) {
    page.el("div", &[("class", "chain")], |page| {
        card(cause, page);
        let below = chain.below(cause);
        if below.is_empty() {
            return;
        }
        let Some(deeper) = depth_max.checked_sub(1) else {
            return page.left_out(below.len(), "findings");
        };
        page.el("div", &[("class", "leads")], |page| {
            page.leaf("span", &[], "leads to");
        });
        page.el("div", &[("class", "effects")], |page| {
            let left = page.bounded(below, CHAIN_MAX, INCIDENT_BYTES, |page, it| {
                one_chain(chain, it, deeper, page);
            });
            page.left_out(left, "findings");
        });
    });
}

fn card(finding: &Finding, page: &mut Markup) {
    let class = format!("card sev-{}", finding.severity.word());
    page.link(&finding.id, &[("class", &class)], |page| {
        page.el("span", &[("class", "card-head")], |page| {
            page.leaf("b", &[], &finding.id);
            badge(page, finding.severity);
            page.leaf("span", &[("class", "sure")], finding.confidence.word());
        });
        page.prose_in("span", &[("class", "card-title")], &finding.title);
        if let Some(window) = window_in_seconds(&finding.window) {
            page.leaf("span", &[("class", "when")], &window);
        }
    });
}

/// Severities as numbers, for the filter.
pub(super) fn rank(severity: Severity) -> u8 {
    match severity {
        Severity::Info => 0,
        Severity::Low => 1,
        Severity::Medium => 2,
        Severity::High => 3,
        Severity::Critical => 4,
    }
}

/// A finding's window with all digits.
pub(super) fn whole_window(finding: &Finding) -> String {
    window(&finding.window).unwrap_or_else(|| "no time stamp".to_owned())
}
