//! What is not told whole is never green: jobs whose logs break off, lists that are too short, lines that are unreadable.

use super::ci;
use super::flow::Flow;
use crate::product::{Folder, record};

/// A job of one step, in which a session of pytest passes.
const SESSION: &str = "\
Current runner version: '2.330.0'
Complete job name: Build
##[group]Run pytest
shell: /usr/bin/bash -e {0}
##[endgroup]
============================= test session starts ==============================
tests/test_x.py ..                                                       [100%]
============================== 2 passed in 0.02s ===============================
";

/// How every job ends.
const END: &str = "Post job cleanup.\nCleaning up orphan processes\n";

/// Lines of a job's log, each with what stands before its stamp.
fn stamped(before: &str, lines: &str) -> String {
    let lines = lines.lines().enumerate();
    let lines =
        lines.map(|(at, line)| format!("{before}2026-03-14T23:18:{at:02}.0001237Z {line}\n"));
    lines.collect::<Vec<String>>().concat()
}

/// The exit code of these files, and what the terminal is told.
fn told(files: &[(&str, &str)]) -> (Option<i32>, String) {
    let folder = Folder::new();
    for (path, text) in files {
        folder.put(path, text);
    }
    let ran = ci(folder.path(), &[]);
    (ran.code, ran.out)
}

#[test]
fn the_log_of_a_job_that_breaks_off_is_not_green() {
    let whole = stamped("", &format!("{SESSION}{END}"));
    let (code, out) = told(&[("0_Build.txt", &whole)]);
    assert_eq!(code, Some(0), "{out}");
    let (code, out) = told(&[("0_Build.txt", &stamped("", SESSION))]);
    assert_eq!(code, Some(3), "{out}");
    assert!(out.contains("nothing says that the run ended"), "{out}");
    // A failing step is told by its own run, and the job's is not told beside it.
    let failing = format!("{SESSION}##[error]Process completed with exit code 2.\n");
    let (code, out) = told(&[("0_Build.txt", &stamped("", &failing))]);
    assert_eq!(code, Some(1), "{out}");
    assert!(!out.contains("T2"), "{out}");
    // The set-up alone is a file of its own in a zip, and is whole.
    let head = "Current runner version: '2.330.0'\nComplete job name: Build\n";
    let step = SESSION.strip_prefix(head).unwrap();
    let files = [
        ("Build/1_Set up job.txt", &*stamped("", head)),
        ("Build/2_Run pytest.txt", &*stamped("", step)),
    ];
    let (code, out) = told(&files);
    assert_eq!(code, Some(0), "{out}");
    // So are single steps that were put together.
    let columns = stamped("Build\tSet up job\t", head) + &stamped("Build\tRun pytest\t", step);
    let (code, out) = told(&[("run.txt", &columns)]);
    assert_eq!(code, Some(0), "{out}");
}

#[test]
fn a_job_that_no_runner_took_is_not_green() {
    let waits = "Requested labels: x64\nJob defined at: a/b/.github/workflows/c.yml@refs/heads/main\nWaiting for a runner to pick up this job...\n";
    let whole = stamped("", &format!("{SESSION}{END}"));
    let job = ("0_Build.txt", whole.as_str());
    let (code, out) = told(&[job, ("Other/system.txt", &stamped("", waits))]);
    assert_eq!(code, Some(3), "{out}");
    assert!(out.contains("no runner took it"), "{out}");
    let taken = format!(
        "{waits}Job is about to start running on the hosted runner: GitHub Actions 2 (hosted)\n"
    );
    let (code, out) = told(&[job, ("Other/system.txt", &stamped("", &taken))]);
    assert_eq!(code, Some(0), "{out}");
    // The runner's own log says that it ran, wherever its parts stand.
    let (code, out) = told(&[job, ("Build/system.txt", &stamped("", waits))]);
    assert_eq!(code, Some(0), "{out}");
    let turned = stamped("", &format!("{SESSION}{END}{waits}"));
    let (code, out) = told(&[("0_Build.txt", &turned)]);
    assert_eq!(code, Some(0), "{out}");
}

#[test]
fn a_failure_that_only_the_file_of_a_step_tells_is_red() {
    let job = stamped("", &format!("{SESSION}{END}"));
    let failed = "##[group]Run make package\nshell: /usr/bin/bash -e {0}\n##[endgroup]\n##[error]Process completed with exit code 4.\n";
    let (code, out) = told(&[
        ("0_Build.txt", &job),
        ("Build/3_Package.txt", &stamped("", failed)),
    ]);
    assert_eq!(code, Some(1), "{out}");
    assert!(out.contains("Build / Package"), "{out}");
    assert!(out.contains("exit code 4"), "{out}");
    // What both tell is told once.
    let both = stamped("", &format!("{SESSION}{failed}{END}"));
    let shown: Vec<&str> = both.split_inclusive('\n').skip(8).take(4).collect();
    let shown = shown.concat();
    let (code, out) = told(&[("0_Build.txt", &both), ("Build/3_Package.txt", &shown)]);
    assert_eq!(code, Some(1), "{out}");
    assert!(out.contains("exit code 4") && !out.contains("T3"), "{out}");
    // The file of a step that holds the job's beginning as well does not say that the job breaks off.
    let (code, out) = told(&[
        ("0_Build.txt", &job),
        ("Build/2_Run pytest.txt", &stamped("", SESSION)),
    ]);
    assert_eq!(code, Some(0), "{out}");
}

#[test]
fn a_session_that_was_cancelled_behind_one_that_passed_is_not_green() {
    let begun = SESSION.lines().skip(5).take(2);
    let begun: Vec<&str> = begun
        .chain(["##[error]The operation was canceled."])
        .collect();
    let text = format!("{SESSION}{}\n{END}", begun.join("\n"));
    // All in one second, as a log may be that was handed over late.
    let lines = text.lines();
    let lines = lines.map(|line| format!("2026-03-14T23:18:02.0001237Z {line}\n"));
    let text = lines.collect::<Vec<String>>().concat();
    let (code, out) = told(&[("0_Build.txt", &text)]);
    assert_eq!(code, Some(3), "{out}");
}

#[test]
fn an_action_without_inputs_is_a_step_of_its_own() {
    let marked =
        format!("{SESSION}##[group]Run a/upload@v1\n##[endgroup]\n##[error]no such host\n{END}");
    let (code, out) = told(&[("0_Build.txt", &stamped("", &marked))]);
    assert_eq!(code, Some(3), "{out}");
    assert!(out.contains("annotation in Run a/upload@v1"), "{out}");
}

#[test]
fn a_report_that_counts_more_tests_than_it_lists_is_not_green() {
    let case = "<testcase classname=\"c\" name=\"n\"/>";
    let again = "<testcase classname=\"c\" name=\"m\"><rerunFailure/><rerunFailure/></testcase>";
    for (attributes, cases, right) in [
        ("tests=\"1\"", case, 0),
        ("tests=\"2\"", case, 3),
        ("tests=\"5\" failures=\"0\" errors=\"0\"", case, 3),
        // Each of its tries is a test to its writer.
        ("tests=\"4\"", &*format!("{case}{again}"), 0),
        ("tests=\"5\"", &*format!("{case}{again}"), 3),
        // Writers that count assertions.
        ("hostname=\"tbd\" tests=\"133\"", case, 0),
        ("doctest_version=\"2.4.11\" tests=\"133\"", case, 0),
    ] {
        let xml = format!(
            "<testsuites><testsuite name=\"s\" {attributes}>{cases}</testsuite></testsuites>"
        );
        let (code, out) = told(&[("report.xml", &xml)]);
        assert_eq!(code, Some(right), "{xml}: {out}");
        assert_eq!(
            out.contains("it counts more tests than it lists"),
            right == 3,
            "{out}"
        );
    }
    let json = |tests: u64| {
        format!(
            "{{\"tests\":{tests},\"failures\":0,\"disabled\":0,\"errors\":0,\"name\":\"AllTests\",\"testsuites\":[{{\"name\":\"S\",\
             \"testsuite\":[{{\"name\":\"B\",\"status\":\"RUN\",\"result\":\"COMPLETED\",\"classname\":\"S\"}}]}}]}}"
        )
    };
    assert_eq!(told(&[("g.json", &json(1))]).0, Some(0));
    let (code, out) = told(&[("g.json", &json(5))]);
    assert_eq!(code, Some(3), "{out}");
}

#[test]
fn a_line_that_is_unreadable_leaves_a_log_open() {
    let mut flow = Flow::new(1_788_220_800.0);
    let mut root = flow.root("suite");
    let scenario = flow.begin(&mut root, "scenario", "Test", "Scenario");
    flow.end(&scenario, "OK", None);
    flow.end(&root, "OK", None);
    flow.stop(&root);
    let (code, out) = told(&[("raw.log", &flow.text)]);
    assert_eq!(code, Some(0), "{out}");
    let (first, rest) = flow.text.split_once('\n').unwrap();
    let broken = format!("{first}\n{{\"message_keyword\":\"NO\n{rest}");
    let (code, out) = told(&[("raw.log", &broken)]);
    assert_eq!(code, Some(3), "{out}");
    assert!(
        out.contains("incomplete: not all of it can be read"),
        "{out}"
    );
    assert!(out.contains("1 line is no message of a run"), "{out}");
}

#[test]
fn a_result_whose_name_is_cut_names_no_test() {
    let begun = "\
➤ Mar 14,2026 23:31:49 /ledger
➤ Mar 14,2026 23:38:59 /ledger/copy
➤ Mar 14,2026 23:39:00 /ledger/copy/segment
";
    for (cut, right, words) in [
        (
            "✘ 5m 30s    [  Fail  ] /ledge",
            1,
            "a test ended with Fail, and its name is cut: /ledge…",
        ),
        ("✔ 5m 30s    [   OK   ] /ledge", 3, "the last line is cut"),
    ] {
        let (code, out) = told(&[("stdout.log.txt", &format!("{begun}{cut}"))]);
        assert_eq!(code, Some(right), "{out}");
        assert!(out.contains(words), "{out}");
        assert!(!out.contains("T1 /ledge:"), "{out}");
        assert!(out.contains("still running: /ledger/copy/segment"), "{out}");
    }
    // A try may fail where its test passes.
    let tries = "➤ Mar 14,2026 23:39:00 /ledger/copy/segment/try #0\n";
    let text = format!("{begun}{tries}✘ 5m 30s    [  Fail  ] /ledger/copy/segment/tr");
    let (code, out) = told(&[("stdout.log.txt", &text)]);
    assert_eq!(code, Some(3), "{out}");
    // A name of a test that runs is whole: only the end of the line is missing.
    let text = format!("{begun}✘ 5m 30s    [  Fail  ] /ledger/copy/segment");
    let (code, out) = told(&[("stdout.log.txt", &text)]);
    assert_eq!(code, Some(1), "{out}");
    assert!(out.contains("1 failing leaf"), "{out}");
}

#[test]
fn a_server_that_died_comes_before_tests_that_passed() {
    let fatal = record(
        "10:00:00.000000",
        "Fatal",
        "BaseDaemon",
        "(version 26.6.2, build id: A, git hash: B) (from thread 2) (no query) Received signal Segmentation fault (11)",
    );
    let passed = "<testsuite name=\"s\"><testcase classname=\"c\" name=\"n\"/></testsuite>";
    let (code, out) = told(&[("report.xml", passed), ("clickhouse-server.log", &fatal)]);
    assert_eq!(code, Some(1), "{out}");
    let first = out.lines().next().unwrap();
    assert!(first.starts_with("CRITICAL"), "{first}");
    assert!(out.contains("TESTS: no unexpected failing test"), "{out}");
    // Where a test fails, that comes first.
    let failed = passed.replace(
        "/></testsuite>",
        "><failure message=\"boom\"/></testcase></testsuite>",
    );
    let (code, out) = told(&[("report.xml", &failed), ("clickhouse-server.log", &fatal)]);
    assert_eq!(code, Some(1), "{out}");
    assert!(out.starts_with("TESTS FAIL"), "{out}");
}
