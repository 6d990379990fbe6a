//! Write-ahead logs: each segment a bar over the positions that it holds, with what is missing and what lies elsewhere.

use serde_json::Value;

use crate::report::figures::{counted, thousands};

use super::lanes::WIDTH;
use super::markup::Markup;
use super::remainder::table;
use super::sheet::Sheet;

/// WALs, and the bytes for all of them.
const WALS_MAX: usize = 30;
const WAL_BYTES: usize = 200_000;

/// Segments and problems of a WAL.
const ITEMS_MAX: usize = 60;

/// Writes the WALs that the report has.
pub(super) fn write(sheet: &Sheet<'_>, page: &mut Markup) {
    // By key and not by type: a report from elsewhere may lack what this version writes.
    let Ok(Value::Array(wals)) = serde_json::to_value(&sheet.report.wal) else {
        return;
    };
    if wals.is_empty() {
        return;
    }
    page.section("wal", "Write-ahead logs", |page| {
        let left = page.bounded(&wals, WALS_MAX, WAL_BYTES, |page, wal| one(wal, page));
        page.left_out(left, "write-ahead logs");
    });
}

/// A range of positions, both ends in it.
type Range = (u64, u64);

fn one(wal: &Value, page: &mut Markup) {
    let verdict = text(wal, "verdict");
    let class = format!("wal it {verdict}");
    let segments = list(wal, "segments");
    let missing: Vec<Range> = list(wal, "missing").iter().filter_map(pair).collect();
    let problems = list(wal, "problems");
    let held: Vec<Range> = segments.iter().filter_map(held).collect();
    let named = segments.iter().filter_map(|it| position(it, "name_lsn"));
    let ends = held
        .iter()
        .chain(&missing)
        .flat_map(|(low, high)| [*low, *high]);
    let (low, high) = ends
        .chain(named)
        .fold((u64::MAX, 0), |(low, high), at| (low.min(at), high.max(at)));
    page.el("div", &[("class", &class)], |page| {
        page.el("h3", &[], |page| {
            page.leaf("code", &[], &text(wal, "path"));
            let class = format!("verdict {verdict}");
            page.leaf("span", &[("class", &class)], &verdict);
        });
        let records = wal.get("records").and_then(Value::as_u64).unwrap_or(0);
        let layout = format!(
            "Layout {}; {} in {}; positions {} .. {}",
            text(wal, "layout"),
            counted(records, "record", "records"),
            counted(
                u64::try_from(segments.len()).unwrap_or(0),
                "segment",
                "segments"
            ),
            thousands(low.min(high)),
            thousands(high),
        );
        page.leaf("p", &[("class", "sub")], &layout);
        page.el("div", &[("class", "tl")], |page| {
            for segment in segments.iter().take(ITEMS_MAX) {
                lane(segment, problems, (low, high), page);
            }
            if !missing.is_empty() {
                page.el("div", &[("class", "row")], |page| {
                    page.leaf("span", &[("class", "name")], "in no segment");
                    stretches((low, high), page, |page| {
                        for range in missing.iter().take(ITEMS_MAX) {
                            bar("missing", *range, (low, high), page);
                        }
                    });
                    let sum: u64 = missing.iter().map(|(a, b)| b.saturating_sub(*a) + 1).sum();
                    page.leaf("span", &[("class", "sum")], &thousands(sum));
                });
            }
            page.left_out(segments.len().saturating_sub(ITEMS_MAX), "segments");
        });
        if !problems.is_empty() {
            table(
                &["Kind", "Segment", "Position", "What", "Consequence"],
                page,
                |page| {
                    for problem in problems.iter().take(ITEMS_MAX) {
                        row(problem, page);
                    }
                },
            );
            page.left_out(problems.len().saturating_sub(ITEMS_MAX), "problems");
        }
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
                if let Some(at) = position(problem, "lsn") {
                    let to = position(problem, "lsn_to").unwrap_or(at);
                    let class = if text(problem, "severity") == "damage" {
                        "damage"
                    } else {
                        "residue"
                    };
                    bar(class, (at, to), whole, page);
                }
            }
        });
        let entries = segment.get("entries").and_then(Value::as_u64).unwrap_or(0);
        page.leaf("span", &[("class", "sum")], &thousands(entries));
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
            page.leaf("code", &[("class", "log")], &text(problem, "segment"))
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

fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    let found = value.get(key).and_then(Value::as_array);
    found.map_or(&[], Vec::as_slice)
}

/// A text or a number as text.
fn text(value: &Value, key: &str) -> String {
    match value.get(key) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        None | Some(Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_)) => {
            String::new()
        }
    }
}

/// The positions from a segment's first to its last record.
fn held(segment: &Value) -> Option<Range> {
    let (first, last) = (
        position(segment, "first_lsn")?,
        position(segment, "last_lsn")?,
    );
    Some((first.min(last), first.max(last)))
}

fn pair(value: &Value) -> Option<Range> {
    let [first, last] = value.as_array()?.as_slice() else {
        return None;
    };
    Some((number(first)?, number(last)?))
}

fn position(value: &Value, key: &str) -> Option<u64> {
    number(value.get(key)?)
}

/// A position: a number, or text where the system writes hexadecimal.
fn number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| {
        let text = value.as_str()?;
        let digits = text.strip_prefix("0x").unwrap_or(text);
        u64::from_str_radix(digits, 16).ok()
    })
}
