//! Where it happened: versions, nodes, zones, and what was read.

use crate::analysis::SEGMENT;
use crate::report::REDACTED;
use crate::report::clocks;
use crate::report::counts::node_name;
use crate::report::escape::{markdown_inline, markdown_span};
use crate::report::figures::{in_prose, names, span, thousands};
use crate::report::model::{Environment, Input, Node, Report, Role};

use super::page::Page;

/// Rows of a table.
const ROWS_MAX: usize = 40;

/// Problems told.
const PROBLEMS_MAX: usize = 20;

/// Pairs of nodes whose clocks are told.
const CLOCKS_MAX: usize = 12;

/// Process starts named.
const STARTS_MAX: usize = 3;

/// Writes the environment.
pub(super) fn write(report: &Report, page: &mut Page) {
    page.section("Environment");
    page.block(&format!(
        "{} {}",
        markdown_inline(&report.tool.name),
        markdown_inline(&report.tool.version)
    ));
    if report.redacted {
        page.block(&format!("Masked: {REDACTED}."));
    }
    if !report.nodes.is_empty() {
        let header = [
            "Node",
            "Records:",
            "Version",
            "Build",
            "Started",
            "Log from level",
            "Zone",
        ];
        let rows: Vec<Vec<String>> = report
            .nodes
            .iter()
            .take(ROWS_MAX)
            .map(|it| node(report, it))
            .collect();
        page.table(&header.map(str::to_owned), &rows);
        page.left_out(report.nodes.len(), ROWS_MAX, "nodes");
    }
    let clocks = clocks::sentences(report);
    if !clocks.is_empty() {
        page.block("Clocks, by records that two nodes have of one event:");
        let items: Vec<String> = clocks
            .iter()
            .take(CLOCKS_MAX)
            .map(|it| markdown_inline(it))
            .collect();
        page.list(&items);
        page.left_out(clocks.len(), CLOCKS_MAX, "pairs of clocks");
    }
    // A WAL has a table of its own.
    let inputs = report.inputs.iter().filter(|it| it.format != SEGMENT);
    if report.inputs.is_empty() {
        page.block("No input file.");
        return;
    }
    let header = [
        "Input",
        "Format",
        "Node",
        "Records:",
        "First and last record",
    ];
    let rows = inputs.clone().take(ROWS_MAX).map(|it| input(report, it));
    let rows: Vec<Vec<String>> = rows.collect();
    if !rows.is_empty() {
        page.table(&header.map(str::to_owned), &rows);
    }
    page.left_out(inputs.count(), ROWS_MAX, "inputs");
    problems(report, page);
}

fn node(report: &Report, node: &Node) -> Vec<String> {
    let environment = report
        .environment
        .iter()
        .find(|it| it.run == node.run && it.node == node.id);
    let said = |what: fn(&Environment) -> Option<&str>| {
        environment
            .and_then(what)
            .map_or_else(|| "not said".to_owned(), markdown_inline)
    };
    let mut name = markdown_inline(&node_name(report, &node.run, &node.id));
    if !node.aliases.is_empty() {
        name = format!(
            "{name} (also {})",
            markdown_inline(&names(&node.aliases, STARTS_MAX))
        );
    }
    let starts = environment.map_or(&[][..], |it| &it.starts).iter();
    let starts: Vec<String> = starts.map(|it| in_prose(it).to_owned()).collect();
    let level = environment
        .and_then(|it| it.log_level)
        .map_or("not said", |it| it.class().key());
    vec![
        name,
        match node.role {
            Role::Reporter => thousands(node.records),
            Role::Peer => "no log here".to_owned(),
        },
        said(|it| it.version.as_deref()),
        said(|it| it.build.as_deref()),
        if starts.is_empty() {
            "not said".to_owned()
        } else {
            markdown_inline(&names(&starts, STARTS_MAX))
        },
        level.to_owned(),
        said(|it| it.zone.as_deref()),
    ]
}

fn input(report: &Report, input: &Input) -> Vec<String> {
    vec![
        markdown_inline(&input.path),
        markdown_inline(&input.kind()),
        markdown_inline(&node_name(report, &input.run, &input.node)),
        thousands(input.records),
        span(input.first.as_deref(), input.last.as_deref())
            .map_or_else(|| "no stamp".to_owned(), |it| markdown_inline(&it)),
    ]
}

fn problems(report: &Report, page: &mut Page) {
    let mut items = Vec::new();
    for input in &report.inputs {
        for problem in &input.problems {
            let place = problem
                .line
                .map_or_else(|| input.path.clone(), |it| format!("{}:{it}", input.path));
            let kind = markdown_inline(&problem.kind);
            items.push(format!(
                "{} {kind}: {}",
                markdown_span(&place),
                markdown_inline(&problem.detail)
            ));
        }
    }
    if items.is_empty() {
        return;
    }
    page.block("Problems of the inputs:");
    let all = items.len();
    items.truncate(PROBLEMS_MAX);
    page.list(&items);
    page.left_out(all, PROBLEMS_MAX, "problems");
}
