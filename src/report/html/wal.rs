//! Write-ahead logs: each segment a bar over the positions that it holds, with what is missing and what lies elsewhere.

use serde_json::Value;

use crate::report::figures::{counted, thousands};
use crate::report::positions::{self, Range, about, held, list, position, text};

use super::lanes::WIDTH;
use super::markup::Markup;
use super::remainder::table;
use super::sheet::Sheet;

/// WALs, and the bytes for all of them.
const WALS_MAX: usize = 30;
const WAL_BYTES: usize = 100_000;

/// Segments and problems of a WAL.
const ITEMS_MAX: usize = 60;

/// Writes the WALs that the report has.
pub(super) fn write(sheet: &Sheet<'_>, page: &mut Markup) {
    let wals = positions::wals(sheet.report);
    if wals.is_empty() {
        return;
    }
    page.section("wal", "Write-ahead logs", |page| {
        let left = page.bounded(&wals, WALS_MAX, WAL_BYTES, |page, wal| one(wal, page));
        page.left_out(left, "write-ahead logs");
    });
}

fn one(wal: &Value, page: &mut Markup) {
    let verdict = text(wal, "verdict");
    let class = format!("wal it {verdict}");
    let segments = list(wal, "segments");
    let problems = list(wal, "problems");
    page.el("div", &[("class", &class)], |page| {
        page.el("h3", &[], |page| {
            page.leaf("code", &[], &text(wal, "path"));
            let class = format!("verdict {verdict}");
            page.leaf("span", &[("class", &class)], &verdict);
        });
        page.leaf("p", &[("class", "sub")], &summary(wal));
        if let Some(whole) = positions::whole(wal) {
            page.el("div", &[("class", "tl")], |page| {
                for segment in segments.iter().take(ITEMS_MAX) {
                    lane(segment, problems, whole, page);
                }
                missing(wal, whole, page);
                page.left_out(segments.len().saturating_sub(ITEMS_MAX), "segments");
            });
        }
        if !problems.is_empty() {
            let header = ["Kind", "Segment", "Position", "What", "Consequence"];
            table(&header, page, |page| {
                for problem in problems.iter().take(ITEMS_MAX) {
                    row(problem, page);
                }
            });
            page.left_out(problems.len().saturating_sub(ITEMS_MAX), "problems");
        }
    });
}

fn summary(wal: &Value) -> String {
    let segments = list(wal, "segments");
    let records = wal.get("records").and_then(Value::as_u64).unwrap_or(0);
    let count = u64::try_from(segments.len()).unwrap_or(u64::MAX);
    let first = segments
        .iter()
        .map(|it| text(it, "first_lsn"))
        .find(|it| !it.is_empty());
    let last = segments.iter().max_by_key(|it| position(it, "last_lsn"));
    let last = last
        .map(|it| text(it, "last_lsn"))
        .filter(|it| !it.is_empty());
    let reach = match (first, last) {
        (Some(first), Some(last)) => format!("; from position {first} to {last}"),
        _ => String::new(),
    };
    format!(
        "Layout {}; {} in {}{reach}. A dark line is where a segment begins by its name.",
        text(wal, "layout"),
        counted(records, "record", "records"),
        counted(count, "segment", "segments"),
    )
}

/// What no segment holds.
fn missing(wal: &Value, whole: Range, page: &mut Markup) {
    let missing = positions::missing(wal);
    if missing.is_empty() {
        return;
    }
    page.el("div", &[("class", "row")], |page| {
        page.leaf("span", &[("class", "name")], "in no segment");
        stretches(whole, page, |page| {
            for range in missing.iter().take(ITEMS_MAX) {
                bar("missing", *range, whole, page);
            }
        });
        let count = u64::try_from(missing.len()).unwrap_or(u64::MAX);
        page.leaf(
            "span",
            &[("class", "sum")],
            &counted(count, "hole", "holes"),
        );
    });
}

fn lane(segment: &Value, problems: &[Value], whole: Range, page: &mut Markup) {
    let file = text(segment, "file");
    page.el("div", &[("class", "row")], |page| {
        page.leaf("span", &[("class", "name")], &file);
        stretches(whole, page, |page| {
            if let Some(range) = held(segment) {
                bar("held", range, whole, page);
            }
            if let Some(at) = position(segment, "name_lsn") {
                bar("named", (at, at), whole, page);
            }
            for problem in problems.iter().filter(|it| text(it, "segment") == file) {
                if let Some(range) = about(problem) {
                    let is_damage = text(problem, "severity") == "damage";
                    let class = if is_damage { "damage" } else { "residue" };
                    bar(class, range, whole, page);
                }
            }
        });
        let entries = segment.get("entries").and_then(Value::as_u64);
        let entries = thousands(entries.unwrap_or(0));
        page.leaf("span", &[("class", "sum"), ("title", "entries")], &entries);
    });
}

fn stretches(whole: Range, page: &mut Markup, inner: impl FnOnce(&mut Markup)) {
    let label = format!("positions {} to {}", whole.0, whole.1);
    let attributes = [
        ("class", "positions"),
        ("viewBox", "0 0 1000 24"),
        ("preserveAspectRatio", "none"),
        ("role", "img"),
        ("aria-label", label.as_str()),
    ];
    page.el("svg", &attributes, inner);
}

fn bar(class: &str, range: Range, whole: Range, page: &mut Markup) {
    let length = u128::from(whole.1.saturating_sub(whole.0)) + 1;
    let width = u128::from(WIDTH.unsigned_abs());
    let x =
        |at: u64, behind: u128| (u128::from(at.saturating_sub(whole.0)) + behind) * width / length;
    let (left, right) = (x(range.0, 0), x(range.1.max(range.0), 1));
    let right = right.max(left + 3);
    let (y, height) = if class == "named" {
        ("2", "20")
    } else {
        ("6", "12")
    };
    let wide = if class == "named" { 2 } else { right - left };
    let attributes = [
        ("class", class),
        ("x", &*left.to_string()),
        ("y", y),
        ("width", &*wide.to_string()),
        ("height", height),
    ];
    page.leaf("rect", &attributes, "");
}

fn row(problem: &Value, page: &mut Markup) {
    page.el("tr", &[("class", "it")], |page| {
        page.el("td", &[], |page| {
            page.leaf("b", &[], &text(problem, "kind"));
            page.leaf("span", &[("class", "dim")], &text(problem, "severity"));
        });
        page.el("td", &[], |page| {
            page.leaf("code", &[("class", "log")], &text(problem, "segment"));
        });
        let positions: Vec<String> = ["lsn", "lsn_to"]
            .iter()
            .map(|key| text(problem, key))
            .filter(|it| !it.is_empty())
            .collect();
        page.leaf("td", &[], &positions.join(" .. "));
        page.prose_in("td", &[], &text(problem, "detail"));
        page.prose_in("td", &[], &text(problem, "consequence"));
    });
}
