//! Every kept folder with its right answer: verdict, segments, problems, and what must not be a problem.

use std::path::{Path, PathBuf};

use serde_json::Value;
use walkdir::WalkDir;

use super::{cases, check, check_with, json, unpack};

/// Names of a segment's fields in the answers and in the output.
const SEGMENT_FIELDS: &[(&str, &str)] = &[
    ("file", "file"),
    ("name_seq", "name_seq"),
    ("name_number", "name_seq"),
    ("name_id", "name_seq"),
    ("name_lsn", "name_lsn"),
    ("name_from", "name_lsn"),
    ("name_to", "name_last"),
    ("size", "size"),
    ("records", "records"),
    ("entries", "entries"),
    ("first_lsn", "first_lsn"),
    ("last_lsn", "last_lsn"),
    ("max_lsn", "max_lsn"),
    ("end_offset", "end_offset"),
    ("tail", "tail"),
    ("zero_tail_bytes", "zero_tail_bytes"),
    ("commit", "commit"),
];

#[test]
fn every_case_has_its_verdict_segments_problems_and_notes() {
    let mut faults = Vec::new();
    let mut seen = 0;
    for path in answers() {
        let answer = read(&path);
        seen += 1;
        compare(&path, &answer, &mut faults);
    }
    assert!(seen >= 27, "only {seen} cases are there");
    assert!(
        faults.is_empty(),
        "{} faults:\n{}",
        faults.len(),
        faults.join("\n")
    );
}

fn answers() -> Vec<PathBuf> {
    let files = WalkDir::new(cases())
        .sort_by_file_name()
        .into_iter()
        .map(|entry| entry.unwrap());
    let paths: Vec<PathBuf> = files
        .filter(|entry| entry.file_name() == "expected.json")
        .map(walkdir::DirEntry::into_path)
        .collect();
    assert!(!paths.is_empty());
    paths
}

#[expect(
    clippy::disallowed_methods,
    reason = "the cases are the repository's own and small"
)]
fn read(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

fn compare(path: &Path, answer: &Value, faults: &mut Vec<String>) {
    let folder = path.parent().unwrap();
    let archive = folder.join("data.tar.gz");
    let unpacked = archive.exists().then(|| unpack(&archive));
    let root = unpacked.as_ref().map_or(folder, |folder| folder.path());
    let layout = folder.parent().unwrap().join("layout.toml");
    let inspection = if layout.exists() {
        check_with(root, &layout)
    } else {
        check(root)
    };
    let report = json(&inspection);
    let case = format!("{}/{}", text(answer, "system"), text(answer, "case"));
    if text(&report, "verdict") != text(answer, "verdict") {
        faults.push(format!(
            "{case}: verdict {}, right is {}",
            report["verdict"], answer["verdict"]
        ));
    }
    let folders = answer["dirs"].as_object().unwrap();
    assert_eq!(list(&report, "wal").len(), folders.len(), "{case}");
    for (name, right) in folders {
        let is_it = |wal: &&Value| {
            Path::new(text(wal, "path"))
                .strip_prefix(root)
                .is_ok_and(|inner| inner.starts_with(name))
        };
        let Some(wal) = list(&report, "wal").iter().find(is_it) else {
            faults.push(format!("{case}: {name} not found"));
            continue;
        };
        compare_wal(&format!("{case} {name}"), wal, right, faults);
    }
}

fn compare_wal(case: &str, wal: &Value, right: &Value, faults: &mut Vec<String>) {
    if !right["verdict"].is_null() && wal["verdict"] != right["verdict"] {
        faults.push(format!(
            "{case}: verdict {}, right is {}",
            wal["verdict"], right["verdict"]
        ));
    }
    let (segments, right_segments) = (list(wal, "segments"), list(right, "segments"));
    if segments.len() != right_segments.len() {
        faults.push(format!(
            "{case}: {} segments, right are {}",
            segments.len(),
            right_segments.len()
        ));
    }
    if !right["record_count"].is_null() && wal["records"] != right["record_count"] {
        faults.push(format!(
            "{case}: {} records, right are {}",
            wal["records"], right["record_count"]
        ));
    }
    for (segment, right) in segments.iter().zip(right_segments) {
        for (key, field) in SEGMENT_FIELDS
            .iter()
            .filter(|(key, _)| !right[*key].is_null())
        {
            if segment[*field] != right[*key] {
                faults.push(format!(
                    "{case} {}: {field} {}, right is {}",
                    right["file"], segment[*field], right[*key]
                ));
            }
        }
    }
    let (problems, right_problems) = (list(wal, "problems"), list(right, "problems"));
    for right in right_problems {
        if !problems.iter().any(|problem| fits(problem, right)) {
            faults.push(format!(
                "{case}: not found: {right}; found are {problems:?}"
            ));
        }
    }
    for problem in problems {
        if !right_problems.iter().any(|right| fits(problem, right)) {
            faults.push(format!("{case}: found, and not right: {problem}"));
        }
    }
    for right in list(right, "notes") {
        let is_at = |row: &&Value| {
            row["segment"] == right["segment"]
                && (right["lsn"].is_null() || row["lsn"] == right["lsn"])
        };
        if let Some(problem) = problems.iter().find(is_at) {
            faults.push(format!("{case}: legal, and reported: {problem}"));
        }
        if !list(wal, "notes")
            .iter()
            .any(|note| note["kind"] == right["kind"] && is_at(&note))
        {
            faults.push(format!(
                "{case}: no note {right}; notes are {}",
                wal["notes"]
            ));
        }
    }
}

/// Whether a problem is the one in the answer: the same in every field, or one of the other names of the same fault.
fn fits(problem: &Value, right: &Value) -> bool {
    // A segment that is not there is named, and the problem stands at the one behind it.
    let is_named = right["kind"] == "missing-segment" && problem["belongs_in"] == right["segment"];
    if problem["segment"] != right["segment"] && !is_named {
        return false;
    }
    let given = |key: &str| right[key].is_null() || problem[key] == right[key];
    if problem["kind"] == right["kind"] {
        return [
            "lsn",
            "lsn_to",
            "expected",
            "severity",
            "belongs_in",
            "offset",
        ]
        .iter()
        .all(|key| given(key));
    }
    list(right, "also_ok").contains(&problem["kind"])
        && (problem["lsn"] == right["lsn"] || problem["expected"] == right["lsn"])
}
