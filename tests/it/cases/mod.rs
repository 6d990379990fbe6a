//! Inputs with right answers: every folder below `tests/cases` is read and compared with the `expected.json` beside it.
//!
//! What holds for every case of a kind is derived from `expected.json`; what its `expect` and `must_not` say in prose is
//! asserted by a function registered under the case's id.

mod clickhouse;
mod dialects;
mod field;
mod logs;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::product::repository;

/// The folders of a kind of cases, in order.
fn folders(kind: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(repository("tests/cases").join(kind)).unwrap();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    folders.retain(|path| path.is_dir());
    folders.sort();
    assert!(!folders.is_empty(), "{kind}");
    folders
}

fn expected(folder: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(folder.join("expected.json")).unwrap()).unwrap()
}

fn name(folder: &Path) -> &str {
    folder.file_name().unwrap().to_str().unwrap()
}

fn number(value: &Value) -> u64 {
    value
        .as_u64()
        .unwrap_or_else(|| panic!("{value} is no number"))
}

fn numbers(value: &Value) -> std::collections::BTreeMap<String, u64> {
    let object = value
        .as_object()
        .unwrap_or_else(|| panic!("{value} is no object"));
    object
        .iter()
        .map(|(key, value)| (key.clone(), number(value)))
        .collect()
}

/// Everything that a reader of the report is told in prose.
fn prose(report: &casdiag::report::model::Report) -> String {
    let told = report
        .findings
        .iter()
        .map(|it| format!("{} {} {}", it.rule, it.category, it.title));
    told.collect::<Vec<_>>().join("\n")
}

/// Microseconds of the day of `2026-11-29T19:02:43.178891+00:00`, and of the same with a blank or with less behind the
/// second.
fn micros(stamp: &str) -> i64 {
    let time = &stamp[11..stamp.len().min(26)];
    let (clock, fraction) = time.split_once('.').unwrap_or((time, ""));
    let parts = clock.split(':').map(|part| part.parse::<i64>().unwrap());
    let seconds = parts.fold(0, |sum, part| sum * 60 + part);
    seconds * 1_000_000 + format!("{fraction:0<6}").parse::<i64>().unwrap()
}

/// Whether a finding's window lies within what was injected on that day, `grace` seconds before and after included.
fn is_within(finding: &casdiag::report::model::Finding, from: &str, to: &str, grace: i64) -> bool {
    let edges = [&finding.window.first, &finding.window.last];
    let [first, last] = edges.map(|stamp| stamp.as_deref().unwrap());
    assert!(
        first[..10] == from[..10] && last[..10] == to[..10],
        "{first} {last}"
    );
    let grace = grace * 1_000_000;
    micros(from) - grace <= micros(first) && micros(last) <= micros(to) + grace
}
