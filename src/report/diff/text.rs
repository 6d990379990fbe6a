//! A comparison for a terminal: what is new first, each kind of thing in a table as wide as the terminal.

use std::io::{self, Write};

use crate::report::Style;
use crate::report::escape::terminal;
use crate::report::figures::{counted, names, thousands};
use crate::report::text::page::{Page, Paint, Room};
use crate::report::width;
use crate::vocab::Severity;

use super::{
    Change, Diff, Direction, HEADINGS, Kind, NODES_MAX, Side, duration, subject, summary, verdict,
    word, written,
};

/// Columns for how a thing differs.
const MARGIN: usize = 9;

/// Rows of a kind.
const ROWS_MAX: usize = 20;

/// Columns for what is compared: at most, and where the terminal is narrow.
const WHAT_MAX: usize = 60;
const WHAT_MIN: usize = 16;

pub(super) fn write(diff: &Diff, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::new(*style, Room::WIDE);
    let paint = if diff.fails() {
        Paint::Severity(Severity::High)
    } else {
        Paint::Bold
    };
    let verdict = terminal(&verdict(diff));
    page.painted(&verdict, verdict.len(), paint, 3);
    page.gap();
    for (label, side) in [("base", &diff.base), ("new", &diff.new)] {
        page.remark(label, &terminal(&of_side(side)), 2);
    }
    if !diff.same_length {
        let text =
            "the logs are of other lengths, so counts are compared by the hour of a node's log";
        page.remark("", text, 2);
    }
    for (kind, heading) in HEADINGS {
        section(diff, *kind, heading, &mut page);
    }
    if !diff.remarks.is_empty() {
        page.gap();
    }
    for remark in &diff.remarks {
        page.remark("beware", &terminal(remark), 3);
    }
    page.print(out)
}

fn of_side(side: &Side) -> String {
    let nodes = if side.nodes.is_empty() {
        "no node".to_owned()
    } else {
        names(&side.nodes, NODES_MAX)
    };
    let records = counted(side.records, "record", "records");
    let time = side.node_seconds.map(duration);
    let added = if side.nodes.len() > 1 {
        ", all nodes added up"
    } else {
        ""
    };
    let time = time.map_or_else(String::new, |it| format!(", {it} of logs{added}"));
    format!("{}: {records} of {nodes}{time}", side.name)
}

fn section(diff: &Diff, kind: Kind, heading: &str, page: &mut Page) {
    let changes = diff.differing(kind);
    let same = diff.same(kind);
    if changes.is_empty() && same == 0 && matches!(kind, Kind::Test | Kind::Failure) {
        return;
    }
    let as_before = thousands(u64::try_from(same).unwrap_or(u64::MAX));
    let parts = [
        summary(&changes),
        (same > 0).then(|| format!("{as_before} as before")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let told = if parts.is_empty() {
        "none in either".to_owned()
    } else {
        parts.join(", ")
    };
    page.gap();
    page.painted_line(&format!("{heading}: {told}"), heading.len(), Paint::Bold);
    let shown = changes.get(..ROWS_MAX).unwrap_or(&changes);
    rows(shown, kind, !diff.same_length, page);
    if changes.len() > shown.len() {
        let left = changes.len() - shown.len();
        page.line(&format!("{:MARGIN$}{left} more: --format json", ""));
    }
}

fn rows(changes: &[&Change], kind: Kind, by_hour: bool, page: &mut Page) {
    let rows: Vec<[String; 3]> = changes.iter().map(|it| row(it, by_hour)).collect();
    let widest = |at: usize| {
        let cells = rows.iter().map(|it| width::columns(&it[at]));
        cells.max().unwrap_or(0)
    };
    let (base, new) = (widest(1), widest(2));
    let room = page.width().saturating_sub(MARGIN + 2 + base + 4 + new);
    let what = widest(0).min(room.clamp(WHAT_MIN, WHAT_MAX));
    for (row, change) in rows.iter().zip(changes) {
        let name = width::cut(&row[0], what);
        let blanks = what.saturating_sub(width::columns(&name));
        let how = word(change.direction);
        let line = format!(
            "{how:MARGIN$}{name}{:blanks$}  {:>base$} -> {:>new$}",
            "", row[1], row[2]
        );
        page.painted_line(&line, how.len(), paint(change));
        if let Some(title) = change.title.as_deref().filter(|_| kind == Kind::Finding) {
            page.wrapped(&terminal(title), MARGIN, 2);
        }
    }
}

/// What it is, and how much of it there was and is.
fn row(change: &Change, by_hour: bool) -> [String; 3] {
    [
        terminal(&subject(change)),
        written(&change.base, by_hour),
        written(&change.new, by_hour),
    ]
}

fn paint(change: &Change) -> Paint {
    match change.direction {
        Direction::New => Paint::Severity(change.severity.unwrap_or(Severity::Medium)),
        Direction::More => Paint::Severity(Severity::Medium),
        Direction::Unknown | Direction::Less | Direction::Gone | Direction::Same => Paint::Dim,
    }
}
