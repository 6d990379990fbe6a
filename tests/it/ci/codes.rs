//! Exit codes: which source's speaks of a run, and what is said where two disagree.

use super::flow::Flow;
use super::{case, ci};
use crate::product::{Folder, Ran};

/// A run of one scenario.
fn raw(result: &str) -> String {
    let mut flow = Flow::new(1_788_220_800.0);
    let mut root = flow.root("suite");
    let scenario = flow.begin(&mut root, "scenario", "Test", "Scenario");
    flow.end(&scenario, result, Some("said"));
    flow.end(&root, result, Some("said"));
    flow.stop(&root);
    flow.text
}

fn junit(inner: &str) -> String {
    format!(
        "<testsuite name=\"s\"><testcase classname=\"t\" name=\"a\">{inner}</testcase></testsuite>"
    )
}

/// What is said of files, and each disagreement with what both sides say.
fn told(files: &[(&str, &str)]) -> (Ran, Vec<(String, String, String)>) {
    let folder = Folder::new();
    for (path, text) in files {
        folder.put(path, text);
    }
    let report = ci(folder.path(), &["--format", "json"]).report();
    let said = report.tests.disagreements.into_iter();
    let said = said.map(|it| (it.what, it.left.says, it.right.says));
    (ci(folder.path(), &[]), said.collect())
}

fn disagreement(left: &str, right: &str) -> Vec<(String, String, String)> {
    vec![("exit code".to_owned(), left.to_owned(), right.to_owned())]
}

#[test]
fn the_exit_code_in_a_file_is_that_of_the_run_beside_it() {
    let failure = "<failure message=\"boom\"/>";
    for (name, text, code, exit, said) in [
        ("raw.log", raw("OK"), "0\n", 0, Vec::new()),
        (
            "raw.log",
            raw("OK"),
            "1\n",
            1,
            disagreement("result OK", "exit code 1"),
        ),
        ("raw.log", raw("Fail"), "1", 1, Vec::new()),
        (
            "raw.log",
            raw("Fail"),
            "0\r\n",
            1,
            disagreement("result Fail", "exit code 0"),
        ),
        ("report.xml", junit(""), "0", 0, Vec::new()),
        (
            "report.xml",
            junit(""),
            "139",
            1,
            disagreement("no failing test", "exit code 139"),
        ),
        ("report.xml", junit(failure), "1", 1, Vec::new()),
        (
            "report.xml",
            junit(failure),
            "0",
            1,
            disagreement("failing tests", "exit code 0"),
        ),
    ] {
        let (ran, found) = told(&[(name, &text), ("exitcode.txt", code)]);
        assert_eq!(ran.code, Some(exit), "{name} {code}: {}", ran.out);
        assert_eq!(found, said, "{name} {code}");
        let is_said = ran.out.contains("sources of T1 disagree on exit code");
        assert_eq!(is_said, !said.is_empty(), "{name} {code}: {}", ran.out);
        assert!(!ran.out.contains("T2"), "{name} {code}: {}", ran.out);
    }
    let (ran, _) = told(&[("report.xml", &junit("")), ("exitcode.txt", "139")]);
    assert!(
        ran.out.contains("exit code 139: ended by signal 11"),
        "{}",
        ran.out
    );
}

#[test]
fn an_exit_code_that_may_be_of_several_runs_is_of_none() {
    let two = [("a.xml", junit("")), ("raw.log", raw("OK"))];
    let with = |code: &'static str| {
        let mut files: Vec<(&str, &str)> = two.iter().map(|(a, b)| (*a, b.as_str())).collect();
        files.push(("exitcode.txt", code));
        told(&files).0
    };
    assert_eq!(with("0").code, Some(0));
    let ran = with("2");
    assert_eq!(ran.code, Some(1), "{}", ran.out);
    assert!(
        ran.out.contains(" says that it failed: exit code 2"),
        "{}",
        ran.out
    );
    // What lies elsewhere is of another process.
    let (ran, said) = told(&[("a/raw.log", &raw("OK")), ("b/exitcode.txt", "1")]);
    assert_eq!((ran.code, said.len()), (Some(1), 0), "{}", ran.out);
    let (ran, said) = told(&[("a/raw.log", &raw("Fail")), ("b/exitcode.txt", "0")]);
    assert_eq!((ran.code, said.len()), (Some(1), 0), "{}", ran.out);
}

#[test]
fn an_exit_code_alone_is_no_result_of_tests() {
    for (code, exit) in [("0\n", 3), ("137\n", 1), ("256\n", 1), ("1 of 2\n", 3)] {
        let (ran, _) = told(&[("exitcode.txt", code)]);
        assert_eq!(ran.code, Some(exit), "{code}: {}", ran.out);
    }
    // A number is an exit code by the name of its file alone.
    let (ran, said) = told(&[("raw.log", &raw("OK")), ("report.exit", "1\n")]);
    assert_eq!((ran.code, said.len()), (Some(0), 0), "{}", ran.out);
    let report = ci(&case("testflows-failing"), &["--format", "json"]).report();
    let format = |end: &str| {
        let mut inputs = report.inputs.iter();
        inputs
            .find(|it| it.path.ends_with(end))
            .map(|it| it.format.clone())
    };
    assert_eq!(format("/exitcode.txt").as_deref(), Some("exit-code"));
    assert_eq!(
        format("tfs/report-results.exit").as_deref(),
        Some("unknown")
    );
}

#[test]
fn the_exit_code_of_a_step_comes_before_the_one_that_its_tests_imply() {
    let job = |session: &str, code: i64| {
        let head = "##[group]Run pytest\nshell: /usr/bin/bash -e {0}\n##[endgroup]\n\
                    ============================= test session starts ==============================\n";
        let end = format!("##[error]Process completed with exit code {code}.");
        let lines = format!("{head}{session}{end}");
        let stamped = lines.lines().enumerate();
        let stamped =
            stamped.map(|(at, line)| format!("2026-03-14T23:18:{at:02}.0001237Z {line}\n"));
        stamped.collect::<Vec<String>>().concat()
    };
    let failing = "tests/test_x.py .F                                                       [100%]\n\
                   =========================== short test summary info ============================\n\
                   FAILED tests/test_x.py::test_b - boom\n\
                   ========================= 1 failed, 1 passed in 0.02s ==========================\n";
    let passing = "tests/test_x.py ..                                                       [100%]\n\
                   ============================== 2 passed in 0.02s ===============================\n";
    for (session, code, implied) in [
        (failing, 137, Some("1 by what it printed")),
        (failing, 1, None),
        (passing, 139, Some("0 by what it printed")),
    ] {
        let text = job(session, code);
        let folder = Folder::with("job.txt", &text);
        let report = ci(folder.path(), &["--format", "json"]).report();
        assert_eq!(report.tests.runs[0].exit_code, Some(code));
        let (ran, said) = told(&[("job.txt", &text)]);
        assert_eq!(ran.code, Some(1), "{}", ran.out);
        let right = implied.map(|left| disagreement(left, &format!("exit code {code}")));
        assert_eq!(said, right.unwrap_or_default(), "{code}");
        assert!(
            ran.out.contains(&format!("exit code {code}")),
            "{}",
            ran.out
        );
    }
}

#[test]
fn a_code_below_nought_is_a_failure_and_one_that_is_none_leaves_the_run_open() {
    let passing = raw("OK");
    for (code, exit) in [
        ("0\n", 0),
        ("-9\n", 1),
        ("3221225477\n", 1),
        ("", 3),
        ("exit code: 1\n", 3),
    ] {
        let (ran, _) = told(&[("raw.log", &passing), ("exitcode.txt", code)]);
        assert_eq!(ran.code, Some(exit), "{code:?}: {}", ran.out);
    }
}

#[test]
fn results_without_a_test_are_not_green() {
    for text in [
        "<testsuites></testsuites>",
        "<testsuite name=\"s\" tests=\"0\"></testsuite>",
    ] {
        let (ran, _) = told(&[("junit.xml", text)]);
        assert_eq!(ran.code, Some(3), "{text}: {}", ran.out);
        assert!(ran.out.contains("no test ran"), "{}", ran.out);
        // Beside results with tests an empty one says nothing.
        let (ran, _) = told(&[("junit.xml", text), ("a/junit.xml", &junit(""))]);
        assert_eq!(ran.code, Some(0), "{text}: {}", ran.out);
    }
}
