//! `JUnit`: a case per rule and run, read back by an XML parser.

use std::collections::BTreeMap;

use quick_xml::Reader;
use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};

use super::hostile;
use crate::product::{Folder, analyze, repository};

/// A case as read: its suite, its class, the attributes of a failure or an error, and all text in it.
#[derive(Debug, Default)]
struct Case {
    suite: String,
    class: String,
    failure: Option<BTreeMap<String, String>>,
    error: Option<BTreeMap<String, String>>,
    text: String,
}

fn attributes(element: &BytesStart<'_>) -> BTreeMap<String, String> {
    let pairs = element.attributes().map(|it| it.unwrap());
    pairs
        .map(|it| {
            let key = it.key.as_ref().to_owned();
            let value = it.normalized_value(XmlVersion::Implicit1_0).unwrap();
            (key, value.into_owned())
        })
        .collect()
}

/// The cases by name, and the totals that the document claims.
fn read(text: &str) -> (BTreeMap<String, Case>, BTreeMap<String, String>) {
    let mut reader = Reader::from_str(text);
    reader.config_mut().check_end_names = true;
    let (mut cases, mut totals) = (BTreeMap::new(), BTreeMap::new());
    let (mut suite, mut name, mut case) = (String::new(), String::new(), Case::default());
    loop {
        let event = reader.read_event().unwrap();
        let is_empty = matches!(event, Event::Empty(_));
        match event {
            Event::Eof => return (cases, totals),
            Event::Start(element) | Event::Empty(element) => {
                let mut found = attributes(&element);
                match element.name().as_ref() {
                    "testsuites" => totals = found,
                    "testsuite" => suite = found.remove("name").unwrap(),
                    "testcase" => {
                        name = found.remove("name").unwrap();
                        case = Case {
                            suite: suite.clone(),
                            class: found.remove("classname").unwrap(),
                            ..Case::default()
                        };
                        if is_empty {
                            cases.insert(format!("{suite}/{name}"), std::mem::take(&mut case));
                        }
                    }
                    "failure" => assert!(case.failure.replace(found).is_none(), "one at most"),
                    "error" => assert!(case.error.replace(found).is_none(), "one at most"),
                    "system-out" => {}
                    other => panic!("{other}"),
                }
            }
            Event::End(element) if element.name().as_ref() == "testcase" => {
                cases.insert(format!("{suite}/{name}"), std::mem::take(&mut case));
            }
            Event::Text(text) => case.text.push_str(&text),
            Event::GeneralRef(name) => {
                case.text.push('&');
                case.text.push_str(&name);
            }
            Event::End(_)
            | Event::CData(_)
            | Event::Comment(_)
            | Event::Decl(_)
            | Event::PI(_)
            | Event::DocType(_) => {}
        }
    }
}

#[test]
fn a_rule_is_a_case_and_fails_from_the_level_on_that_fails_the_command() {
    let sample = repository("samples/incidents/report-001");
    for (level, failing) in [
        ("never", &[][..]),
        ("high", &["./code-210-storm", "./unproven-confirms"]),
    ] {
        let ran = analyze(&sample, &["--format", "junit", "--fail-on", level]);
        assert_eq!(ran.code, Some(i32::from(!failing.is_empty())));
        let (cases, totals) = read(&ran.out);
        let failed: Vec<&str> = cases
            .iter()
            .filter(|(_, case)| case.failure.is_some())
            .map(|(name, _)| name.as_str())
            .collect();
        assert_eq!(failed, failing);
        assert_eq!(totals["tests"], cases.len().to_string());
        assert_eq!(totals["failures"], failing.len().to_string());
        assert_eq!(totals["errors"], "0");
        let storm = &cases["./code-210-storm"];
        assert_eq!(
            (storm.suite.as_str(), storm.class.as_str()),
            (".", "casdiag.liveness")
        );
        assert!(
            storm
                .text
                .contains("next: compare row counts of the affected tables"),
            "{storm:?}"
        );
        assert!(cases["./disk-full"].failure.is_none());
    }
}

#[test]
fn each_run_is_a_suite() {
    let folder = Folder::new();
    for (run, count) in [("run-1", 12), ("run-2", 2)] {
        folder.put(
            &format!("{run}/n1/clickhouse-server.log"),
            super::super::cli::refusals(count),
        );
    }
    let ran = analyze(folder.path(), &["--format", "junit", "--run", "**/run-*"]);
    let (cases, _) = read(&ran.out);
    let suites: Vec<&String> = cases
        .values()
        .filter(|it| it.failure.is_some())
        .map(|it| &it.suite)
        .collect();
    assert!(
        suites.iter().all(|it| it.ends_with("run-1")) && !suites.is_empty(),
        "{suites:?}"
    );
    assert!(
        cases.values().any(|it| it.suite.ends_with("run-2")),
        "{}",
        ran.out
    );
}

#[test]
fn what_was_not_read_whole_is_an_error() {
    let folder = Folder::with("n1/clickhouse-server.log.0.gz", [0x1f, 0x8b, 0x08, 0, 1, 2]);
    let (cases, totals) = read(&analyze(folder.path(), &["--format", "junit"]).out);
    assert_eq!(totals["errors"], "1");
    let case = &cases["inputs/read whole"];
    assert!(
        case.error.is_some() && case.text.contains("clickhouse-server.log.0.gz"),
        "{case:?}"
    );
}

#[test]
fn strangers_text_is_text() {
    let folder = hostile();
    let ran = analyze(folder.path(), &["--format", "junit"]);
    crate::hostile::is_inert(&ran.out);
    let (cases, _) = read(&ran.out);
    let failed: Vec<_> = cases
        .values()
        .filter_map(|it| it.failure.as_ref())
        .collect();
    assert!(!failed.is_empty());
    assert!(!ran.out.contains("<b"), "no element of a stranger's");
}

/// The cases as a second parser has them: the messages of failure and error, and all text.
fn read_again(text: &str) -> BTreeMap<String, (String, Option<String>, Option<String>, String)> {
    let document = roxmltree::Document::parse(text).unwrap();
    let cases = document
        .descendants()
        .filter(|it| it.has_tag_name("testcase"));
    let read = |case: roxmltree::Node<'_, '_>| {
        let suite = case
            .parent()
            .filter(|it| it.has_tag_name("testsuite"))
            .unwrap();
        let message = |name| {
            let found = case.children().find(|it| it.has_tag_name(name));
            found.map(|it| it.attribute("message").unwrap_or_default().to_owned())
        };
        let said: String = case
            .descendants()
            .filter(roxmltree::Node::is_text)
            .filter_map(|it| it.text())
            .collect();
        let name = format!(
            "{}/{}",
            suite.attribute("name").unwrap(),
            case.attribute("name").unwrap()
        );
        let class = case.attribute("classname").unwrap().to_owned();
        (name, (class, message("failure"), message("error"), said))
    };
    cases.map(read).collect()
}

/// Text without what parsers may leave out or write in their own way.
fn letters(text: &str) -> String {
    let plain = [
        ("&lt", "<"),
        ("&gt", ">"),
        ("&amp", "&"),
        ("&quot", "\""),
        ("&#39", "'"),
    ];
    let text = plain
        .iter()
        .fold(text.to_owned(), |text, (name, c)| text.replace(name, c));
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

#[test]
fn two_parsers_read_the_same_cases() {
    let hostile = hostile();
    let torn = Folder::with("n1/clickhouse-server.log.0.gz", [0x1f, 0x8b, 0x08, 0, 1, 2]);
    let samples = repository("samples/incidents");
    let mut texts: Vec<String> = [samples.as_path(), hostile.path(), torn.path()]
        .iter()
        .map(|it| analyze(it, &["--format", "junit"]).out)
        .collect();
    let data = samples.join("report-003/data");
    let data = data.to_str().unwrap();
    texts.push(crate::product::casdiag(&["wal-layout-check", data, "--format", "junit"]).out);
    for text in &texts {
        let (first, totals) = read(text);
        let second = read_again(text);
        assert!(!first.is_empty());
        assert_eq!(
            first.keys().collect::<Vec<_>>(),
            second.keys().collect::<Vec<_>>()
        );
        let mut failures = 0;
        for (name, case) in &first {
            let (class, failure, error, said) = &second[name];
            assert_eq!(case.class, *class);
            let message = |it: &Option<BTreeMap<String, String>>| {
                it.as_ref()
                    .map(|it| it.get("message").cloned().unwrap_or_default())
            };
            assert_eq!(message(&case.failure), *failure, "{name}");
            assert_eq!(message(&case.error), *error, "{name}");
            assert_eq!(letters(&case.text), letters(said), "{name}");
            failures += usize::from(failure.is_some());
        }
        assert_eq!(totals["failures"], failures.to_string());
    }
}
