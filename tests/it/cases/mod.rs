//! Inputs with right answers: every folder below `tests/cases` is read and compared with the `expected.json` beside it.
//!
//! What holds for every case of a kind is derived from `expected.json`; what its `expect` and `must_not` say in prose is
//! asserted by a function registered under the case's id.

mod clickhouse;
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
