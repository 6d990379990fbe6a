//! The issue with a front matter of YAML, for a tracker that keeps bugs as files: what its lists sort and filter by, from
//! the finding that the verdict names.

use std::io::{self, Write};

use crate::report::escape::capped;
use crate::report::model::{Finding, Report};
use crate::report::{Style, json, markdown, testing, worst};

/// Files named, and other issues.
const ITEMS_MAX: usize = 20;

/// Writes the front matter and the issue.
pub(super) fn write(report: &Report, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "---")?;
    if let Some(finding) = worst(report) {
        front_matter(finding, out)?;
    } else {
        let status = match testing::unjudged(report) {
            _ if testing::fail(report) => "tests-failed",
            Some(_) => "partial",
            None => "nothing-found",
        };
        field("status", status, out)?;
    }
    if let Some(why) = testing::unjudged(report) {
        field("partial", &why, out)?;
    }
    let tool = format!("{} {}", report.tool.name, report.tool.version);
    field("found_by", &tool, out)?;
    writeln!(out, "---\n")?;
    markdown::write(report, style, out)
}

fn front_matter(finding: &Finding, out: &mut dyn Write) -> io::Result<()> {
    field("id", &finding.rule, out)?;
    field("status", "open", out)?;
    field(
        "component",
        finding.fix_goes_in.as_ref().unwrap_or(&finding.category),
        out,
    )?;
    field("severity", finding.severity.word(), out)?;
    field("confidence", finding.confidence.word(), out)?;
    for (name, stamp) in [
        ("timestamp", &finding.window.first),
        ("last_seen", &finding.window.last),
    ] {
        if let Some(stamp) = stamp {
            field(name, stamp, out)?;
        }
    }
    writeln!(out, "occurrences: {}", finding.runs.k)?;
    let mut files: Vec<&str> = Vec::new();
    for path in finding.evidence.iter().map(|it| it.path.as_str()) {
        if !files.contains(&path) {
            files.push(path);
        }
    }
    list("files", &files, out)?;
    let nodes = finding.nodes.iter().map(String::as_str);
    let tags: Vec<&str> = [finding.category.as_str()]
        .into_iter()
        .chain(nodes)
        .collect();
    list("tags", &tags, out)?;
    let known: Vec<&str> = finding
        .known
        .iter()
        .map(|it| it.reference.as_str())
        .collect();
    list("related", &known, out)
}

/// A field with one text. A string of JSON is one of YAML.
fn field(name: &str, text: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{name}: {}", json::quoted(&capped(text))?)
}

fn list(name: &str, texts: &[&str], out: &mut dyn Write) -> io::Result<()> {
    let quoted: io::Result<Vec<String>> = texts
        .iter()
        .take(ITEMS_MAX)
        .map(|it| json::quoted(&capped(it)))
        .collect();
    writeln!(out, "{name}: [{}]", quoted?.join(", "))
}
