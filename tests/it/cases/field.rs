//! `cases/field`: what a real cluster logged while a fault was injected. When, where and what are written down from the
//! injection, not from a report.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use casdiag::report::model::{Finding, Report};
use casdiag::vocab::Severity;
use serde_json::Value;

use super::{expected, folders, is_within, name, numbers};
use crate::product::{self, Folder, findings};

/// The most that one case may take.
const CASE_BYTES_MAX: u64 = 300_000;

fn names(value: &Value) -> Vec<String> {
    let list = value.as_array().unwrap().iter();
    list.map(|it| it.as_str().unwrap().to_owned()).collect()
}

fn sorted(mut names: Vec<String>) -> Vec<String> {
    names.sort();
    names
}

/// Every file below `folder`.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(files(&path));
        } else {
            all.push(path);
        }
    }
    all.sort();
    all
}

/// A file's bytes, unpacked.
fn bytes(path: &Path) -> Vec<u8> {
    let bytes = fs::read(path).unwrap();
    if path.extension().is_none_or(|end| end != "gz") {
        return bytes;
    }
    let mut text = Vec::new();
    let mut unpacked = flate2::read::MultiGzDecoder::new(&bytes[..]);
    unpacked.read_to_end(&mut text).unwrap();
    text
}

fn severity(value: &Value) -> Severity {
    serde_json::from_value(value.clone()).unwrap()
}

/// The finding that a case asks for.
fn found<'r>(id: &str, report: &'r Report, wanted: &Value) -> &'r Finding {
    let (rule, reporters) = (wanted["rule"].as_str().unwrap(), &wanted["reported_by"]);
    let reporters = names(reporters);
    let of_rule = findings(report, rule);
    let fits: Vec<_> = of_rule
        .iter()
        .filter(|it| sorted(it.reported_by.clone()) == reporters)
        .collect();
    assert_eq!(fits.len(), 1, "{id} {rule}: {of_rule:?}");
    fits[0]
}

#[test]
fn every_incident_is_found_with_what_when_and_where() {
    for folder in folders("field") {
        let (id, expected, report) = (name(&folder), expected(&folder), product::report(&folder));
        for wanted in expected["must"].as_array().unwrap() {
            let finding = found(id, &report, wanted);
            let rule = &finding.rule;
            assert_eq!(
                finding.severity,
                severity(&wanted["severity"]),
                "{id} {rule}"
            );
            let accused = sorted(finding.accused.clone());
            assert_eq!(accused, names(&wanted["accused"]), "{id} {rule}");
            let edge = |key: &str| wanted["window"][key].as_str().unwrap();
            let grace = wanted["grace_s"].as_i64().unwrap();
            assert!(
                is_within(finding, edge("from"), edge("to"), grace),
                "{id} {rule}: {:?} leaves {}",
                finding.window,
                wanted["window"]
            );
            if let Some(title) = wanted["title"].as_str() {
                assert!(finding.title.contains(title), "{id}: {}", finding.title);
            }
            let causes: Vec<&str> = report
                .findings
                .iter()
                .filter(|it| finding.caused_by.contains(&it.id))
                .map(|it| it.rule.as_str())
                .collect();
            let follows = wanted["follows_from"].as_str();
            assert_eq!(causes, Vec::from_iter(follows), "{id} {rule}");
        }
    }
}

#[test]
fn nothing_is_said_beside_what_was_injected() {
    for folder in folders("field") {
        let (id, expected, report) = (name(&folder), expected(&folder), product::report(&folder));
        let wanted = |rule: &str| {
            let all = expected["must"].as_array().unwrap();
            all.iter().filter(|it| it["rule"] == rule).count()
        };
        for finding in &report.findings {
            let rule = finding.rule.as_str();
            let allowed = expected["may"].get(rule).map(severity);
            let known = wanted(rule) == findings(&report, rule).len();
            let harmless = allowed.is_some_and(|most| finding.severity <= most);
            assert!(known || harmless, "{id}: {rule} {}", finding.title);
        }
    }
}

#[test]
fn every_error_of_the_field_is_explained_or_listed() {
    for folder in folders("field") {
        let (id, expected, report) = (name(&folder), expected(&folder), product::report(&folder));
        let errors = numbers(&expected["errors"]);
        for (node, &count) in &errors {
            let log = bytes(&folder.join(node).join("clickhouse-server.log.gz"));
            let text = String::from_utf8_lossy(&log);
            let heads = text.lines().filter(|line| line.contains("} <Error> "));
            assert_eq!(u64::try_from(heads.count()).unwrap(), count, "{id} {node}");
        }
        let coverage = &report.coverage;
        assert_eq!(coverage.error_records, errors.values().sum::<u64>(), "{id}");
        let listed: u64 = coverage.unexplained.iter().map(|it| it.count).sum();
        assert_eq!(coverage.explained + listed, coverage.error_records, "{id}");
        assert_eq!(listed, 0, "{id}: {:?}", coverage.unexplained);
        if coverage.error_records == 0 {
            continue;
        }
        let share = format!(
            "explained {0} of {0} Error and Fatal records (100.0 %)",
            coverage.error_records
        );
        let printed = product::analyze(&folder, &[]);
        assert!(printed.out.contains(&share), "{id}: {}", printed.out);
    }
}

#[test]
fn codes_of_the_field_are_as_measured() {
    for folder in folders("field") {
        let (id, expected, report) = (name(&folder), expected(&folder), product::report(&folder));
        let mut found: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
        for row in &report.codes {
            let of_node = found.entry(row.node.clone()).or_default();
            *of_node.entry(row.code.to_string()).or_default() += row.count;
        }
        let measured: BTreeMap<_, _> = expected["codes"]
            .as_object()
            .unwrap()
            .iter()
            .map(|(node, codes)| (node.clone(), numbers(codes)))
            .collect();
        assert_eq!(found, measured, "{id}");
    }
}

#[test]
fn the_exit_code_says_whether_anything_was_wrong() {
    for folder in folders("field") {
        let must = expected(&folder)["must"].clone();
        let must = must.as_array().unwrap().iter();
        let wrong = must.filter(|it| severity(&it["severity"]) > Severity::Low);
        let code = i32::from(wrong.count() > 0);
        let ran = product::analyze(&folder, &["--fail-on", "medium"]);
        assert_eq!(ran.code, Some(code), "{}: {}", name(&folder), ran.err);
    }
}

/// An err.log shows neither starts nor silences: what only their absence could tell is not told.
#[test]
fn err_logs_alone_give_no_conclusion_from_absence() {
    for (id, silent, told) in [
        ("c-pause", "process-paused", Some("coordination-lost")),
        ("b-kill9", "process-killed", None),
        ("d-zk-outage", "machine-paused", Some("coordination-lost")),
    ] {
        let case = product::repository("tests/cases/field").join(id);
        let folder = Folder::new();
        for node in ["n1", "n2"] {
            let log = case.join(node).join("clickhouse-server.err.log.gz");
            if log.exists() {
                folder.put(&format!("{node}/clickhouse-server.err.log"), bytes(&log));
            }
        }
        let report = folder.report();
        assert!(findings(&report, silent).is_empty(), "{id}");
        if let Some(rule) = told {
            assert_eq!(findings(&report, rule).len(), 1, "{id} {rule}");
        }
    }
}

/// A fetch is named by a record at Debug and by one at Trace, and is begun once.
#[test]
fn a_fetch_is_begun_once() {
    for folder in folders("field") {
        let (id, report) = (name(&folder), product::report(&folder));
        let mut all = 0;
        for row in report
            .signals
            .iter()
            .filter(|it| it.signal == "queue-entry-begun")
        {
            let log = bytes(&folder.join(&row.node).join("clickhouse-server.log.gz"));
            let text = String::from_utf8_lossy(&log);
            let is_begun = |line: &&str| {
                let is_replace = line.contains("): Found ") && line.contains(" could be cloned ");
                line.contains("): Fetching part ") || is_replace
            };
            let begun = u64::try_from(text.lines().filter(is_begun).count()).unwrap();
            assert_eq!(row.count, begun, "{id} {}", row.node);
            all += begun;
        }
        assert!(all > 0, "{id}");
    }
}

#[test]
fn every_case_is_small_says_its_origin_and_names_no_machine() {
    for folder in folders("field") {
        let id = name(&folder);
        let case = fs::read_to_string(folder.join("case.md")).unwrap();
        for part in [
            &format!("# {id}\n")[..],
            "**Injected:**",
            "must say:**",
            "must not say:**",
        ] {
            assert!(case.contains(part), "{id}: {part}");
        }
        let files = files(&folder);
        let size: u64 = files
            .iter()
            .map(|file| file.metadata().unwrap().len())
            .sum();
        assert!(size <= CASE_BYTES_MAX, "{id}: {size}");
        for file in files {
            let bytes = bytes(&file);
            let text = String::from_utf8_lossy(&bytes);
            for path in ["/home/", "/root/"] {
                assert!(!text.contains(path), "{}: {path}", file.display());
            }
        }
    }
}
