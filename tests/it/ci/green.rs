//! What failed without a failing test in any list is never green: results, exit codes, sums, checks, lost machines.

use super::flow::Flow;
use super::{case, ci};
use crate::product::{Folder, binary};

/// A source as its only file: the exit code, and what the terminal is told.
fn told(name: &str, text: &str) -> (Option<i32>, String) {
    let folder = Folder::with(name, text);
    let ran = ci(folder.path(), &[]);
    (ran.code, ran.out + &ran.err)
}

fn praktika(status: &str, results: &str) -> String {
    format!(
        "{{\"name\": \"Stateless tests\", \"status\": \"{status}\", \"start_time\": 1773530000.0, \"duration\": 60.0, \
         \"results\": [{results}], \"files\": [], \"links\": [], \"info\": \"\", \"ext\": {{}}}}"
    )
}

#[test]
fn a_praktika_job_that_failed_by_its_status_or_a_check_is_red() {
    let ok = "{\"name\": \"02345_x\", \"status\": \"OK\", \"start_time\": null, \"duration\": 1.0, \"results\": []}";
    let check = |name: &str| {
        format!(
            "{ok}, {{\"name\": \"{name}\", \"status\": \"FAIL\", \"results\": [], \"info\": \"x\"}}"
        )
    };
    for (status, results, code, words) in [
        ("success", ok.to_owned(), 0, "no unexpected failing test"),
        (
            "failure",
            ok.to_owned(),
            1,
            "the result of the whole is failure",
        ),
        (
            "error",
            String::new(),
            1,
            "the result of the whole is error",
        ),
        ("failure", check("Server died"), 1, "Server died: FAIL"),
        ("success", check("OOM in dmesg"), 1, "OOM in dmesg: FAIL"),
    ] {
        let (found, out) = told("result.json", &praktika(status, &results));
        assert_eq!(found, Some(code), "{status} {results}: {out}");
        assert!(out.contains(words), "{status} {results}: {out}");
    }
}

#[test]
fn a_check_that_failed_is_told_beside_failing_tests_in_every_output() {
    let result = |name: &str, status: &str, info: &str| {
        format!(
            "{{\"name\": \"{name}\", \"status\": \"{status}\", \"results\": [], \"info\": \"{info}\"}}"
        )
    };
    let results = [
        result("00002_b", "FAIL", "result differs"),
        result("Check errors", "failure", "Server died\\nat once"),
        result("Hung check failed", "OK", ""),
    ];
    let folder = Folder::with("result.json", praktika("failure", &results.join(", ")));
    for format in [
        "text", "markdown", "bug", "html", "github", "junit", "sarif",
    ] {
        let ran = ci(folder.path(), &["--format", format]);
        assert_eq!(ran.code, Some(1), "{format}");
        assert!(
            ran.out.contains("Check errors: failure: Server died"),
            "{format}: {}",
            ran.out
        );
        assert!(!ran.out.contains("Hung check failed: OK"), "{format}");
    }
}

/// A step with a session of pytest that passed.
const SESSION: &str = "\
##[group]Run pytest
shell: /usr/bin/bash -e {0}
##[endgroup]
============================= test session starts ==============================
tests/test_x.py ..                                                       [100%]
============================== 2 passed in 0.02s ===============================
";

/// Lines of a job's log, each with what stands before its stamp.
fn stamped(before: &str, lines: &str) -> String {
    let lines = lines.lines().enumerate();
    let lines =
        lines.map(|(at, line)| format!("{before}2026-03-14T23:18:{at:02}.0001237Z {line}\n"));
    lines.collect::<Vec<String>>().concat()
}

/// A job's log with that session, and how its step ended.
fn job(ending: &str) -> String {
    stamped("", &format!("{SESSION}{ending}"))
}

#[test]
fn a_step_that_ended_badly_after_its_tests_passed_is_red_and_says_its_own_code() {
    let (code, out) = told("job.txt", &job(""));
    assert_eq!(code, Some(0), "{out}");
    let (code, out) = told(
        "job.txt",
        &job("##[error]Process completed with exit code 139."),
    );
    assert_eq!(code, Some(1), "{out}");
    assert!(out.contains("exit code 139: ended by signal 11"), "{out}");
    assert!(!out.contains("exit code 0"), "{out}");
    let timed_out = "##[error]The job running on runner x has exceeded the maximum execution time of 60 minutes.";
    let (code, out) = told("job.txt", &job(timed_out));
    assert_eq!(code, Some(1), "{out}");
}

/// What GitHub prints where a step is an action and not a script.
const UPLOAD: &str = "##[group]Run actions/upload-artifact@v4\nwith:\n  name: logs\n##[endgroup]\n";

#[test]
fn a_full_disk_ends_a_step_and_is_a_failure() {
    let (code, out) = told("job.txt", &job("##[error]No space left on device"));
    assert_eq!(code, Some(1), "{out}");
    assert!(
        out.contains("it says that it failed: No space left on device"),
        "{out}"
    );
}

#[test]
fn an_error_that_an_action_marks_leaves_its_end_open() {
    let marked = "##[error]Failed to CreateArtifact: Received non-retryable error";
    let (code, out) = told("job.txt", &job(&format!("{UPLOAD}{marked}")));
    assert_eq!(code, Some(3), "{out}");
    assert!(
        out.contains("beside: annotation in Run actions/upload-artifact@v4"),
        "{out}"
    );
    assert!(out.contains("Failed to CreateArtifact"), "{out}");
    assert!(out.contains("not told to the end"), "{out}");
    // A script that fails is told with its exit code, so one without passed.
    let (code, out) = told("job.txt", &job("##[error]tests/test_x.py:3: slow"));
    assert_eq!(code, Some(0), "{out}");
    let (code, out) = told(
        "job.txt",
        &job(&format!("{UPLOAD}Artifact logs has been uploaded")),
    );
    assert_eq!(code, Some(0), "{out}");
    // Where each line names its step, the step is the same from its first line to its last.
    let script =
        "##[group]Run make lint\nshell: /usr/bin/bash -e {0}\n##[endgroup]\n##[error]a.c:3: slow";
    for (step, code) in [(format!("{UPLOAD}{marked}"), 3), (script.to_owned(), 0)] {
        let text = stamped("build\tTest\t", SESSION) + &stamped("build\tOther\t", &step);
        let (found, out) = told("run.txt", &text);
        assert_eq!(found, Some(code), "{step}: {out}");
    }
}

#[test]
fn a_step_that_was_cancelled_did_not_fail_and_is_not_told_to_its_end() {
    for ending in [
        "##[error]Process completed with exit code 143.",
        "##[error]The operation was canceled.",
    ] {
        let (code, out) = told("job.txt", &job(ending));
        assert_eq!(code, Some(3), "{ending}: {out}");
        assert!(out.contains("what ran the tests was stopped"), "{out}");
        let alone = format!("2026-03-14T23:18:02.0001237Z {ending}\n");
        let (code, out) = told("1_soak.txt", &alone);
        assert_eq!(code, Some(3), "{ending}: {out}");
        assert!(!out.contains("it says that it failed"), "{out}");
    }
}

#[test]
fn a_step_without_tests_that_failed_is_red_and_is_told_everywhere() {
    let lost = "2026-03-14T23:18:01.0001237Z Current runner version: '2.332.0'\n2026-03-14T23:18:02.0001237Z ##[error]The self-hosted \
                runner lost communication with the server. Verify the machine is running.\n";
    let folder = Folder::with("1_soak.txt", lost);
    for format in [
        "text", "markdown", "html", "github", "junit", "json", "sarif",
    ] {
        let ran = ci(folder.path(), &["--format", format]);
        assert_eq!(ran.code, Some(1), "{format}: {}", ran.err);
        assert!(
            ran.out.contains("runner lost communication"),
            "{format}: {}",
            ran.out
        );
        assert!(!ran.err.contains("recognised"), "{format}: {}", ran.err);
    }
    let killed = "2026-03-14T23:18:01.0001237Z ##[group]Run make soak\n2026-03-14T23:18:01.1001237Z shell: /usr/bin/bash -e {0}\n\
                  2026-03-14T23:18:02.0001237Z ##[error]Process completed with exit code 137.\n";
    let folder = Folder::with("1_soak.txt", killed);
    let text = ci(folder.path(), &[]).out;
    assert!(text.contains("killed in Run make soak"), "{text}");
    let cancelled = "2026-03-14T23:18:02.0001237Z ##[error]The operation was canceled.\n";
    let (code, out) = told("1_soak.txt", cancelled);
    assert_eq!(
        code,
        Some(3),
        "what was cancelled did not fail, and is not told to its end: {out}"
    );
}

#[test]
fn a_report_whose_attributes_count_more_failures_than_its_cases_show_is_red() {
    let case = "<testcase classname=\"c\" name=\"n\"/>";
    let failing = "<testcase classname=\"c\" name=\"f\"><failure message=\"boom\"/></testcase>";
    for (xml, code, words) in [
        (format!("<testsuite name=\"s\" tests=\"1\" failures=\"0\" errors=\"0\">{case}</testsuite>"), 0, "no unexpected"),
        ("<testsuite name=\"s\" tests=\"3\" failures=\"3\" errors=\"0\"/>".to_owned(), 1, "count 3 failures and 0 errors"),
        (format!("<testsuite name=\"s\" tests=\"2\" failures=\"0\" errors=\"1\">{case}</testsuite>"), 1, "count 0 failures and 1 errors"),
        (format!("<testsuites failures=\"1\"><testsuite name=\"s\">{case}</testsuite></testsuites>"), 1, "count 1 failures"),
        (format!("<testsuite name=\"s\" tests=\"3\" failures=\"2\">{failing}</testsuite>"), 1, "its cases show 1"),
        ("<testsuite name=\"s\" tests=\"1\"><testcase name=\"n\" status=\"failed\"/></testsuite>".to_owned(), 1, "1 failing leaf"),
    ] {
        let (found, out) = told("report.xml", &xml);
        assert_eq!(found, Some(code), "{xml}: {out}");
        assert!(out.contains(words), "{xml}: {out}");
    }
}

#[test]
fn an_error_of_a_suite_is_of_no_case_and_is_red() {
    let case = "<testcase classname=\"c\" name=\"n\"/>";
    for (error, words) in [
        (
            "<error message=\"no such column\"/>",
            "an error of the suite s: no such column",
        ),
        (
            "<error>\n  set-up failed\n  at line 3</error>",
            "an error of the suite s: set-up failed",
        ),
        (
            "<failure type=\"Crash\"/>",
            "an error of the suite s: Crash",
        ),
        ("<error/>", "an error of the suite s"),
    ] {
        for attributes in ["", " tests=\"1\" failures=\"0\" errors=\"1\""] {
            let xml = format!("<testsuite name=\"s\"{attributes}>{case}{error}</testsuite>");
            let (code, out) = told("report.xml", &xml);
            assert_eq!(code, Some(1), "{xml}: {out}");
            assert!(out.contains(words), "{xml}: {out}");
            assert!(!out.contains("its cases show"), "{xml}: {out}");
        }
    }
    let skipped = format!("<testsuite name=\"s\">{case}<skipped message=\"x\"/></testsuite>");
    assert_eq!(told("report.xml", &skipped).0, Some(0));
}

#[test]
fn a_case_below_many_suites_is_read() {
    let open: Vec<String> = (0..300)
        .map(|depth| format!("<testsuite name=\"s{depth}\">"))
        .collect();
    let (open, close) = (open.concat(), "</testsuite>".repeat(300));
    let xml = format!(
        "<testsuites>{open}<testcase name=\"deep\"><failure message=\"boom\"/></testcase>{close}<testsuite name=\"t\"><testcase name=\"flat\"/></testsuite></testsuites>"
    );
    let folder = Folder::with("report.xml", xml);
    let ran = ci(folder.path(), &["--format", "json"]);
    assert_eq!(ran.code, Some(1));
    let report = ran.report();
    assert!(report.tests.runs[0].complete);
    assert_eq!(report.tests.runs[0].totals["test"]["passed"], 1);
    let leaf = &report.tests.groups[0].leaves[0];
    assert!(leaf.test.ends_with("deep"), "{}", leaf.test);
}

#[test]
fn a_session_that_was_interrupted_or_ran_nothing_is_red() {
    let text = |rest: &str| {
        format!(
            "============================= test session starts ==============================\n{rest}"
        )
    };
    let interrupted = text(
        "tests/test_x.py .                                                        [ 50%]\n\
         !!!!!!!!!!!!!!!!!!!!!!!!!!!!!!! KeyboardInterrupt !!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!\n\
         ============================== 1 passed in 0.02s ===============================\n",
    );
    let (code, out) = told("pytest.txt", &interrupted);
    assert_eq!(code, Some(1), "{out}");
    assert!(out.contains("exit code 2: pytest was interrupted"), "{out}");
    assert!(out.contains("not told to its end"), "{out}");
    let nothing = text(
        "collected 0 items\n\n============================ no tests ran in 0.01s =============================\n",
    );
    let (code, out) = told("pytest.txt", &nothing);
    assert_eq!(code, Some(1), "{out}");
    assert!(out.contains("exit code 5: no test ran"), "{out}");
    let xml = case("pytest").join("pytest-junit-no-tests.xml");
    let (code, out) = told("junit.xml", &std::fs::read_to_string(xml).unwrap());
    assert_eq!(code, Some(1), "the same session in its report: {out}");
    assert!(out.contains("it says that it failed: no test ran"), "{out}");
    let (code, out) = told(
        "junit.xml",
        "<testsuites tests=\"0\"><testsuite name=\"AllTests\" tests=\"0\"/></testsuites>",
    );
    assert_eq!(
        code,
        Some(3),
        "other tools pass it, and nothing is judged: {out}"
    );
    assert!(out.contains("no test ran"), "{out}");
    let log = "{\"pytest_version\": \"8.3\", \"$report_type\": \"SessionStart\"}\n{\"exitstatus\": 2, \"$report_type\": \"SessionFinish\"}\n";
    let (code, out) = told("report.jsonl", log);
    assert_eq!(code, Some(1), "{out}");
    assert!(out.contains("not told to its end"), "{out}");
}

#[test]
fn sums_that_count_failures_without_a_list_are_red() {
    let totals =
        "1 module (1 failed)\n46 scenarios (20 ok, 19 failed, 7 skipped)\n\nTotal time 1h 53m\n";
    let (code, out) = told("totals.txt", totals);
    assert_eq!(code, Some(1), "{out}");
    assert!(
        out.contains("count 19 failing at the level scenario"),
        "{out}"
    );
}

#[test]
fn more_failing_tests_than_are_listed_are_counted_and_said() {
    let cases: Vec<String> = (0..20_010)
        .map(|at| {
            format!(
                "<testcase classname=\"c\" name=\"n{at}\"><failure message=\"boom\"/></testcase>\n"
            )
        })
        .collect();
    let cases = cases.concat();
    let xml =
        format!("<testsuite name=\"s\" tests=\"20010\" failures=\"20010\">{cases}</testsuite>");
    let lines: Vec<String> = (0..20_005)
        .map(|at| format!("✘ 1s [ Fail ] /a/b{at}/c\n    AssertionError\n"))
        .collect();
    let lines = lines.concat();
    let text = format!(
        "{lines}✘ 1s [ Fail ] /a/b7\n    AssertionError\n✘ 1s [ Fail ] /a\n    AssertionError\n"
    );
    for (name, source, tests, leaves, over) in [
        ("report.xml", xml, 20_010, 20_010, 10),
        ("fails.log.txt", text, 20_007, 20_005, 5),
    ] {
        let folder = Folder::with(name, source);
        let ran = ci(folder.path(), &["--format", "json"]);
        assert_eq!(ran.code, Some(1), "{name}");
        let report = ran.report();
        let run = &report.tests.runs[0];
        assert_eq!(
            (run.failing_tests, run.failing_leaves),
            (tests, leaves),
            "{name}"
        );
        assert_eq!(run.leaves_left_out, over, "{name}");
        let listed: usize = report
            .tests
            .groups
            .iter()
            .map(|group| group.leaves.len())
            .sum();
        assert_eq!(listed, 20_000, "{name}");
        let by_level: u64 = run.failing_by_level.iter().map(|level| level.leaves).sum();
        assert_eq!(by_level, leaves, "{name}");
        let text = ci(folder.path(), &[]).out;
        assert!(
            text.contains(&format!("{over} counted and in no group")),
            "{name}: {text}"
        );
    }
}

#[test]
fn a_summary_that_cannot_be_written_hides_no_failure() {
    let folder = Folder::with(
        "report.xml",
        "<testsuite><testcase name=\"n\"><failure message=\"boom\"/></testcase></testsuite>",
    );
    let path = folder.path().join("report.xml");
    let mut command = binary(&["ci", path.to_str().unwrap()]);
    command.env("GITHUB_STEP_SUMMARY", folder.path().join("none/summary.md"));
    let ran = command.output().unwrap();
    assert_eq!(ran.status.code(), Some(1));
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(
        said.contains("no summary was written: GITHUB_STEP_SUMMARY"),
        "{said}"
    );
    assert!(String::from_utf8_lossy(&ran.stdout).contains("1 failing leaf"));
}

/// A scenario that passes: its step in a second try, and a check in a second try of the scenario.
fn passing_after_tries() -> String {
    let mut flow = Flow::new(1_788_220_800.0);
    let mut root = flow.root("suite");
    let mut scenario = flow.begin(&mut root, "scenario", "Test", "Scenario");
    for result in ["Fail", "OK"] {
        let mut again = flow.begin(
            &mut scenario,
            &format!("try #{}", u8::from(result == "OK")),
            "Test",
            "RetryIteration",
        );
        let check = flow.begin(&mut again, "check", "Test", "Check");
        flow.end(&check, result, None);
        flow.end(&again, result, None);
    }
    let mut step = flow.begin(&mut scenario, "rows are there", "Step", "Then");
    for result in ["Error", "Fail", "OK"] {
        let again = flow.begin(&mut step, "try #0", "Step", "RetryIteration");
        flow.end(&again, result, None);
    }
    flow.end(&step, "OK", None);
    let expected = flow.begin(&mut scenario, "insert is refused", "Step", "When");
    flow.end(&expected, "Fail", None);
    flow.end(&scenario, "OK", None);
    flow.end(&root, "OK", None);
    flow.stop(&root);
    flow.text
}

#[test]
fn tries_and_steps_that_fail_in_a_test_that_passes_are_green() {
    let (code, out) = told("raw.log", &passing_after_tries());
    assert_eq!(code, Some(0), "{out}");
    assert!(
        out.contains("3 of 5 tries failed (of tests 1 of 2, the others of steps)"),
        "{out}"
    );
    let classic = "\
✘ 1s [ Fail ] /suite/scenario/try #0/check
    AssertionError
✘ 1s [ Fail ] /suite/scenario/try #0
    AssertionError
✔ 1s [ OK ] /suite/scenario/try #1
✔ 3s [ OK ] /suite/scenario
✔ 3s [ OK ] /suite
";
    let sums = "
1 module (1 ok)
1 scenario (1 ok)
5 retries (2 ok, 2 failed, 1 errored)
5 steps (3 ok, 1 failed, 1 errored)

Total time 3s
";
    let end = "
Executed on Mar 15,2026 1:25:26
TestFlows.com Open-Source Software Testing Framework v2.4.19
";
    for text in [
        format!("{classic}{sums}{end}"),
        format!("{classic}{end}"),
        format!("{sums}{end}"),
    ] {
        let (code, out) = told("fails.log.txt", &text);
        assert_eq!(code, Some(0), "{text}: {out}");
    }
    // The same with a scenario among what failed.
    let failed = sums.replace("1 scenario (1 ok)", "2 scenarios (1 ok, 1 failed)");
    let (code, out) = told("fails.log.txt", &format!("{failed}{end}"));
    assert_eq!(code, Some(1), "{out}");
    assert!(
        out.contains("count 1 failing at the level scenario"),
        "{out}"
    );
}

#[test]
fn a_test_that_could_not_be_judged_is_no_passing_test() {
    let text = "\
02345_ledger:                [ OK ] 0.84 sec.
02346_copies:                [ UNKNOWN ] 0.10 sec.
Reason: the client did not start
Database: test_a1b2c3
Having 0 errors! 1 tests passed. 0 tests skipped. 0 broken tests. 1.34 s elapsed (Process-3).
All tests have finished
";
    let (code, out) = told("test_result.txt", text);
    assert_eq!(code, Some(1), "{out}");
    assert!(
        out.contains("02346_copies") || out.contains("1 failing leaf"),
        "{out}"
    );
    let unknown =
        "{\"name\": \"02346_copies\", \"status\": \"UNKNOWN\", \"results\": [], \"info\": \"x\"}";
    let (code, out) = told("result.json", &praktika("success", unknown));
    assert_eq!(code, Some(1), "{out}");
}
