//! What failed without a failing test in any list is never green: results, exit codes, sums, checks, lost machines.

use super::ci;
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

/// A job's log with a session of pytest that passed, and how its step ended.
fn job(ending: &str) -> String {
    let lines = [
        "##[group]Run pytest",
        "shell: /usr/bin/bash -e {0}",
        "##[endgroup]",
        "============================= test session starts ==============================",
        "tests/test_x.py ..                                                       [100%]",
        "============================== 2 passed in 0.02s ===============================",
    ];
    let lines = lines.iter().copied().chain(ending.lines());
    let stamped = |(at, line)| format!("2026-03-14T23:18:{at:02}.0001237Z {line}\n");
    lines
        .enumerate()
        .map(stamped)
        .collect::<Vec<String>>()
        .concat()
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
