//! A comparison to paste into an issue or a summary of a workflow run.

use std::io::{self, Write};

use crate::report::Style;
use crate::report::escape::{markdown_inline, markdown_line};
use crate::report::figures::{counted, names};
use crate::report::markdown::page::Page;

use super::{
    Change, Diff, HEADINGS, Kind, NODES_MAX, duration, subject, summary, verdict, word, written,
};

/// Rows of a table.
const ROWS_MAX: usize = 50;

pub(super) fn write(diff: &Diff, _style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::default();
    page.title(&markdown_line(&verdict(diff)));
    let sides = [("Base", &diff.base), ("New", &diff.new)].map(|(label, side)| {
        let time = side.node_seconds.map(duration);
        vec![
            label.to_owned(),
            markdown_inline(&side.name),
            counted(side.records, "record", "records"),
            markdown_inline(&names(&side.nodes, NODES_MAX)),
            time.unwrap_or_else(|| "not known".to_owned()),
        ]
    });
    let header = ["", "Report", "Records:", "Nodes", "Logs:"];
    page.table(&header.map(str::to_owned), &sides);
    if !diff.same_length {
        page.block(
            "The logs are of other lengths, so counts are compared by the hour of a node's log.",
        );
    }
    for (kind, heading) in HEADINGS {
        section(diff, *kind, heading, &mut page);
    }
    if !diff.remarks.is_empty() {
        page.section("Beware");
        let remarks: Vec<String> = diff.remarks.iter().map(|it| markdown_line(it)).collect();
        page.list(&remarks);
    }
    out.write_all(page.text().as_bytes())
}

fn section(diff: &Diff, kind: Kind, heading: &str, page: &mut Page) {
    let changes = diff.differing(kind);
    let same = diff.same(kind);
    if changes.is_empty() && same == 0 && matches!(kind, Kind::Test | Kind::Failure) {
        return;
    }
    let mut rest = heading.chars();
    let first = rest.next().map(|it| it.to_ascii_uppercase());
    page.section(&first.into_iter().chain(rest).collect::<String>());
    let told = summary(&changes).unwrap_or_else(|| "No difference".to_owned());
    page.block(&format!("{told}; {same} as before."));
    if changes.is_empty() {
        return;
    }
    let header = ["", "What", "Base:", "New:", "Meaning"];
    let shown = changes.iter().take(ROWS_MAX);
    let rows: Vec<Vec<String>> = shown.map(|it| row(it, !diff.same_length)).collect();
    page.table(&header.map(str::to_owned), &rows);
    page.left_out(changes.len(), ROWS_MAX, heading);
}

fn row(change: &Change, by_hour: bool) -> Vec<String> {
    vec![
        word(change.direction).to_owned(),
        markdown_inline(&subject(change)),
        written(&change.base, by_hour),
        written(&change.new, by_hour),
        markdown_inline(change.title.as_deref().unwrap_or_default()),
    ]
}
