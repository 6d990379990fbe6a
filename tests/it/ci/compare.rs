//! `casdiag diff` of runs of tests: which fail now, which fail no more, and what cannot be said.

use serde_json::Value;

use crate::product::{Folder, Ran, casdiag};

/// A report of tests called by letters: a capital fails.
fn report(tests: &str) -> String {
    let cases: Vec<String> = tests
        .chars()
        .map(|test| {
            let failure = if test.is_uppercase() {
                "<failure message=\"boom\"/>"
            } else {
                ""
            };
            let name = test.to_ascii_lowercase();
            format!("<testcase classname=\"t\" name=\"{name}\">{failure}</testcase>")
        })
        .collect();
    let cases = cases.concat();
    format!("<testsuite name=\"s\">{cases}</testsuite>")
}

fn diff(base: &Folder, new: &Folder, flags: &[&str]) -> Ran {
    let path = |it: &Folder| it.path().to_str().unwrap().to_owned();
    let (base, new) = (path(base), path(new));
    casdiag(&[&["diff", base.as_str(), new.as_str()], flags].concat())
}

fn changes(base: &Folder, new: &Folder, kind: &str) -> Vec<(String, String)> {
    let ran = diff(base, new, &["--format", "json"]);
    let json: Value = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}", ran.err));
    let changes = json["changes"].as_array().unwrap().iter();
    let of_kind = changes.filter(|it| it["kind"] == kind);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    of_kind
        .map(|it| (text(&it["direction"]), text(&it["what"])))
        .collect()
}

fn named(direction: &str, what: &str) -> (String, String) {
    (direction.to_owned(), what.to_owned())
}

#[test]
fn tests_are_new_gone_and_as_before() {
    let base = Folder::with("report.xml", report("aBC"));
    let new = Folder::with("report.xml", report("AbC"));
    assert_eq!(
        changes(&base, &new, "test"),
        [
            named("new", "t.a"),
            named("gone", "t.b"),
            named("same", "t.c")
        ]
    );
    let ran = diff(&base, &new, &[]);
    assert_eq!(ran.code, Some(1), "{}", ran.out);
    let first = ran.out.lines().next().unwrap();
    assert!(
        first.starts_with("1 test fails that did not in the base, 1 test fails no more"),
        "{first}"
    );
    assert_eq!(diff(&base, &new, &["--fail-on", "never"]).code, Some(0));
    assert_eq!(diff(&base, &base, &[]).code, Some(0));
    let markdown = diff(&base, &new, &["--format", "markdown"]).out;
    assert!(
        markdown.contains("## Failing tests") && markdown.contains("| new | t.a |"),
        "{markdown}"
    );
}

#[test]
fn a_failure_has_more_or_fewer_tests() {
    let base = Folder::with("report.xml", report("aBc"));
    let new = Folder::with("report.xml", report("ABC"));
    assert_eq!(
        changes(&base, &new, "failure"),
        [named("more", "failed: boom")]
    );
    assert_eq!(
        changes(&new, &base, "failure"),
        [named("less", "failed: boom")]
    );
}

#[test]
fn what_a_side_could_not_have_shown_is_neither_new_nor_gone() {
    let whole = Folder::with("report.xml", report("aB"));
    let torn = Folder::with("report.xml", report("aB").replace("</testsuite>", ""));
    let red = Folder::with("report.xml", report("AB"));
    let none = Folder::with(
        "clickhouse-server.log",
        crate::product::record("10:00:00.000000", "Information", "Application", "begins"),
    );
    assert_eq!(
        changes(&torn, &red, "test"),
        [named("unknown", "t.a"), named("same", "t.b")]
    );
    assert_eq!(diff(&torn, &red, &[]).code, Some(3));
    assert_eq!(changes(&none, &whole, "test"), [named("unknown", "t.b")]);
    let ran = diff(&none, &whole, &[]);
    assert!(
        ran.out.contains("the base has no results of tests"),
        "{}",
        ran.out
    );
}

#[test]
fn a_run_that_fails_without_a_failing_test_is_new_as_well() {
    let base = Folder::with("report.xml", report("ab"));
    let new = Folder::with(
        "report.xml",
        report("ab").replace("name=\"s\"", "name=\"s\" tests=\"3\" errors=\"1\""),
    );
    let ran = diff(&base, &new, &[]);
    assert_eq!(ran.code, Some(1), "{}", ran.out);
    assert!(
        ran.out.contains("1 failure of tests not in the base"),
        "{}",
        ran.out
    );
}

#[test]
fn a_step_that_failed_beside_the_same_green_tests_leaves_it_open() {
    let base = Folder::with("report.xml", report("ab"));
    let new = Folder::with("report.xml", report("ab"));
    new.put(
        "1_soak.txt",
        "2026-03-14T23:18:01.0001237Z ##[group]Run make soak\n2026-03-14T23:18:01.1001237Z shell: /usr/bin/bash -e {0}\n\
         2026-03-14T23:18:02.0001237Z ##[error]Process completed with exit code 139.\n",
    );
    let ran = diff(&base, &new, &[]);
    assert_eq!(ran.code, Some(3), "{}", ran.out);
    let first = ran.out.lines().next().unwrap();
    assert!(
        first.starts_with("1 failure of a run that one side could not have shown"),
        "{first}"
    );
    assert_eq!(diff(&new, &new, &[]).code, Some(0), "it failed before too");
}

#[test]
fn a_test_that_fails_with_another_message_failed_before() {
    let base = Folder::with("report.xml", report("Ab"));
    let new = Folder::with("report.xml", report("Ab").replace("boom", "bang"));
    assert_eq!(
        changes(&base, &new, "failure"),
        [named("new", "failed: bang"), named("gone", "failed: boom")]
    );
    let ran = diff(&base, &new, &[]);
    assert_eq!(ran.code, Some(0), "{}", ran.out);
    assert!(
        ran.out.starts_with("1 failure of tests not in the base"),
        "{}",
        ran.out
    );
    let more = Folder::with("report.xml", report("AB").replace("boom", "bang"));
    assert_eq!(diff(&base, &more, &[]).code, Some(1));
}

#[test]
fn a_run_that_broke_off_may_hide_what_fails() {
    let base = Folder::with("report.xml", report("ab"));
    let torn = Folder::with("report.xml", report("ab").replace("</testsuite>", ""));
    let ran = diff(&base, &torn, &[]);
    assert_eq!(ran.code, Some(3), "{}", ran.out);
    assert!(
        ran.out.contains("may fail that are not listed"),
        "{}",
        ran.out
    );
    let none = Folder::with(
        "clickhouse-server.log",
        crate::product::record("10:00:00.000000", "Information", "Application", "begins"),
    );
    let ran = diff(&base, &none, &[]);
    assert_eq!(ran.code, Some(3), "{}", ran.out);
    // Nothing fails in the new one, so what the base broke off in is no matter.
    assert_eq!(diff(&torn, &base, &[]).code, Some(0));
}
