//! pytest's text and its report log. Right values: the last line of the text.

use casdiag::parsers::ci::{Incomplete, RemarkKind};

use super::junit::{counts, leaf, pairs};
use super::{case, ci, read, run};

const TEXTS: &[&str] = &[
    "pytest-text.txt",
    "pytest-text-color.txt",
    "pytest-text-xdist.txt",
    "pytest-text-xunit1-tbshort.txt",
];

#[test]
fn each_test_counts_once_in_every_form_of_the_text() {
    for file in TEXTS {
        let run = run(&case("pytest").join(file));
        // 9 passed and 3 errors are outcomes: one test passed and could not be cleaned up, one failed and neither.
        let expected = [
            ("passed", 8),
            ("failed", 9),
            ("error", 2),
            ("skipped", 2),
            ("xfailed", 1),
            ("xpassed", 1),
        ];
        assert_eq!(counts(&run), pairs(&expected), "{file}");
        let said = "pytest states 3 error, 9 failed, 9 passed, 2 skipped, 1 xfailed, 1 xpassed:";
        assert!(
            run.remarks.iter().any(|it| it.text.starts_with(said)),
            "{file}"
        );
        assert_eq!(run.retries.failed, 2, "{file}");
        assert_eq!(run.exit_code, Some(1), "{file}");
        assert!(run.is_complete(), "{file}");
        assert_eq!(run.leaves.len(), 11, "{file}");
    }
}

#[test]
fn messages_are_taken_from_the_tracebacks_and_not_from_the_cut_summary() {
    for file in TEXTS {
        let run = run(&case("pytest").join(file));
        let copies = leaf(&run, "test_copy_segment[intDiv(a,2)-replicated]");
        assert_eq!(
            copies.exception.as_deref(),
            Some("AssertionError"),
            "{file}"
        );
        assert!(
            copies.message.starts_with("node3 lost 2 rows"),
            "{file}: {}",
            copies.message
        );
        assert_eq!(
            copies.id, "tests.test_ledger.test_copy_segment[intDiv(a,2)-replicated]",
            "{file}"
        );
        assert_eq!(
            leaf(&run, "test_known_for_another_error")
                .exception
                .as_deref(),
            Some("TimeoutError"),
            "{file}"
        );
        assert_eq!(
            leaf(&run, "test_unexpected_pass_strict").message,
            "[XPASS(strict)] strict",
            "{file}"
        );
        assert_eq!(
            leaf(&run, "test_hangs").message,
            "Timeout (>1.0s) from pytest-timeout.",
            "{file}"
        );
        let stop = leaf(&run, "test_teardown_error");
        assert_eq!(
            (stop.outcome.as_str(), stop.exception.as_deref()),
            ("error", Some("RuntimeError")),
            "{file}"
        );
    }
}

#[test]
fn places_are_those_of_the_tests_own_code() {
    for file in ["pytest-text.txt", "pytest-text-xunit1-tbshort.txt"] {
        let run = run(&case("pytest").join(file));
        let own = leaf(&run, "test_insert").own.as_ref().unwrap();
        assert_eq!(
            (own.file.as_str(), own.line, own.function.as_str()),
            ("tests/test_ledger.py", 25, "check_replicas"),
            "{file}"
        );
    }
}

#[test]
fn the_last_lines_give_the_exit_code() {
    let code = |file: &str| run(&case("pytest").join(file)).exit_code;
    // A plugin may end a session that passed with a code of its own.
    assert_eq!(code("pytest-text-clean.txt"), None);
    assert_eq!(code("pytest-text-no-tests.txt"), Some(5));
    assert_eq!(code("pytest-text-collection-error.txt"), Some(2));
    let none = run(&case("pytest").join("pytest-text-no-tests.txt"));
    assert_eq!((none.filtered_out, none.totals.len()), (2, 0));
    let broken = run(&case("pytest").join("pytest-text-collection-error.txt"));
    assert_eq!(counts(&broken), pairs(&[("error", 1)]));
    assert_eq!(
        broken.leaves[0].exception.as_deref(),
        Some("ModuleNotFoundError")
    );
    assert_eq!(broken.leaves[0].id, "tests.test_broken_module");
    assert!(
        broken
            .remarks
            .iter()
            .any(|it| it.text.contains("Interrupted: 1 error during collection"))
    );
}

#[test]
fn a_session_that_breaks_off_names_what_was_running() {
    let text = std::fs::read_to_string(case("pytest").join("pytest-text-xdist.txt")).unwrap();
    let upto = text.find("[gw1] [ 13%]").unwrap();
    let folder = crate::product::Folder::with("out.txt", &text[..upto]);
    let run = run(&folder.path().join("out.txt"));
    assert_eq!(
        run.incomplete,
        [Incomplete::NoEnd, Incomplete::TestsRunning]
    );
    let names: Vec<&str> = run.running.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "tests/test_ledger.py::test_copy_segment[(a%2,b%2)-replicated]",
            "tests/test_ledger.py::test_copy_segment[intDiv(a,2)-replicated]",
        ]
    );
    assert_eq!(
        (run.exit_code, counts(&run)),
        (None, pairs(&[("passed", 2)]))
    );
}

#[test]
fn the_report_log_agrees_with_the_text() {
    let reading = read(&case("pytest").join("pytest-report.jsonl"));
    let run = &reading.runs[0];
    let expected = [
        ("passed", 8),
        ("failed", 9),
        ("error", 2),
        ("skipped", 2),
        ("xfailed", 1),
        ("xpassed", 1),
    ];
    assert_eq!(counts(run), pairs(&expected));
    assert_eq!(
        (run.retries.failed, run.retries.passed_after, run.exit_code),
        (2, 1, Some(1))
    );
    assert!(run.is_complete());
    let text = super::run(&case("pytest").join("pytest-text.txt"));
    for leaf in &run.leaves {
        let other = text.leaves.iter().find(|it| it.id == leaf.id).unwrap();
        assert_eq!(
            (&leaf.name, &leaf.exception, &leaf.outcome),
            (&other.name, &other.exception, &other.outcome)
        );
        assert!(
            leaf.ended.is_some() && leaf.began.is_some(),
            "{}",
            leaf.name
        );
    }
    assert_eq!(run.leaves.len(), 11);
}

#[test]
fn a_report_log_that_is_cut_is_incomplete() {
    let whole = std::fs::read(case("pytest").join("pytest-report.jsonl")).unwrap();
    let folder = crate::product::Folder::with("x", &whole[..whole.len() / 2]);
    let run = run(&folder.path().join("x"));
    assert!(
        run.incomplete.contains(&Incomplete::NoEnd)
            && run.incomplete.contains(&Incomplete::CutLine)
    );
    assert!(
        run.remarks
            .iter()
            .any(|it| it.kind == RemarkKind::Unreadable && it.place.line > 1)
    );
}

#[test]
fn the_short_output_of_quiet_sessions_is_read() {
    let quiet = run(&case("pytest").join("pytest-text-quiet.txt"));
    // 2 passed in 0.01s
    assert_eq!(counts(&quiet), pairs(&[("passed", 2)]));
    assert!(quiet.is_complete() && quiet.faults.is_empty());
    let failing = run(&case("pytest").join("pytest-text-quiet-failing.txt"));
    // 3 failed, 1 passed, 1 skipped, 1 xfailed, 1 error, 3 rerun: the error is at the teardown of one that failed.
    let expected = [("passed", 1), ("failed", 3), ("skipped", 1), ("xfailed", 1)];
    assert_eq!(counts(&failing), pairs(&expected));
    assert_eq!(failing.retries.failed, 3);
    let mut names: Vec<&str> = failing.leaves.iter().map(|it| it.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "test_xf.py::test_p",
            "test_xf.py::test_r",
            "test_xf.py::test_td"
        ]
    );
}

#[test]
fn a_gate_of_coverage_fails_a_session_whose_tests_passed() {
    for file in ["pytest-text-coverage.txt", "pytest-text-quiet-coverage.txt"] {
        let path = case("pytest").join(file);
        let run = run(&path);
        assert_eq!(counts(&run), pairs(&[("passed", 2)]), "{file}");
        let said = "FAIL Required test coverage of 100% not reached. Total coverage: 5.08%";
        assert_eq!(run.faults, [said], "{file}");
        let ran = ci(&path, &[]);
        assert_eq!(ran.code, Some(1), "{file}: {}", ran.out);
        assert!(ran.out.contains(said), "{file}: {}", ran.out);
        // In a job's log the step's code is what the gate says, and contradicts nothing.
        let text = std::fs::read_to_string(&path).unwrap();
        let lines = [
            "##[group]Run pytest",
            "shell: /usr/bin/bash -e {0}",
            "##[endgroup]",
        ];
        let end = ["##[error]Process completed with exit code 1."];
        let lines = lines.into_iter().chain(text.lines()).chain(end);
        let stamped = lines.map(|line| format!("2026-03-14T23:18:02.0001237Z {line}\n"));
        let stamped: Vec<String> = stamped.collect();
        let folder = crate::product::Folder::with("1_job.txt", stamped.concat());
        let report = ci(folder.path(), &["--format", "json"]).report();
        let told = &report.tests;
        assert_eq!(
            (told.runs.len(), told.disagreements.len()),
            (1, 0),
            "{file}"
        );
        assert_eq!(told.runs[0].exit_code, Some(1), "{file}");
    }
}

#[test]
fn a_session_that_python_died_in_says_of_what() {
    let text = "============================= test session starts ==============================\ncollected 3 items\n\n\
                test_crash.py .Fatal Python error: Aborted\n\nThread 0x00007fdf781746c0 (most recent call first):\n";
    let folder = crate::product::Folder::with("out.txt", text);
    let died = run(&folder.path().join("out.txt"));
    assert_eq!(died.faults, ["Fatal Python error: Aborted"]);
    assert_eq!(died.incomplete, [Incomplete::NoEnd]);
    // A worker's death is told with its test.
    let worker = run(&case("pytest").join("pytest-text-worker-crash.txt"));
    assert!(worker.faults.is_empty(), "{:?}", worker.faults);
}

#[test]
fn a_worker_that_crashes_is_told_with_the_test_that_it_ran() {
    for file in [
        "pytest-text-worker-crash.txt",
        "pytest-report-worker-crash.jsonl",
    ] {
        let run = run(&case("pytest").join(file));
        assert_eq!(
            counts(&run),
            pairs(&[("passed", 2), ("failed", 1)]),
            "{file}"
        );
        let leaf = &run.leaves[0];
        assert_eq!(
            (leaf.id.as_str(), run.leaves.len()),
            ("test_crash.test_c", 1),
            "{file}"
        );
        let said = "worker 'gw1' crashed while running 'test_crash.py::test_c'";
        assert_eq!(leaf.message, said, "{file}");
    }
}

#[test]
fn what_tests_print_is_neither_a_sum_nor_a_test() {
    // Both end with: 1 failed, 1 passed. The first shows what passed with -rA, the second what is printed at once.
    for file in [
        "pytest-text-printed-sums.txt",
        "pytest-text-printed-live.txt",
    ] {
        let run = run(&case("pytest").join(file));
        assert_eq!(
            counts(&run),
            pairs(&[("passed", 1), ("failed", 1)]),
            "{file}"
        );
        let names: Vec<&str> = run.leaves.iter().map(|it| it.id.as_str()).collect();
        assert_eq!(names, ["test_print.test_p"], "{file}");
        assert_eq!(run.leaves[0].message, "x\nassert 0", "{file}");
        assert!(run.is_complete(), "{file}: {:?}", run.incomplete);
    }
}

#[test]
fn a_test_whose_subtest_failed_failed_once() {
    for file in ["pytest-text-subtests.txt", "pytest-report-subtests.jsonl"] {
        let run = run(&case("pytest").join(file));
        // Three tests: in two a subtest failed, one of which pytest counts as passed.
        assert_eq!(
            counts(&run),
            pairs(&[("passed", 1), ("failed", 2)]),
            "{file}"
        );
        let mut names: Vec<&str> = run.leaves.iter().map(|it| it.id.as_str()).collect();
        names.sort_unstable();
        assert_eq!(names, ["test_sub.T.test_u", "test_sub.test_s"], "{file}");
        assert_eq!(leaf(&run, "test_s").message, "assert 1 != 1", "{file}");
        assert!(leaf(&run, "test_u").message.ends_with("1 == 1"), "{file}");
        assert!(run.is_complete(), "{file}");
    }
    let log = run(&case("pytest").join("pytest-report-subtests.jsonl"));
    // 0.000336 s of its setup, 0.048445 s of its call, which holds its subtests, 0.000119 s of its teardown.
    let seconds = leaf(&log, "test_s").seconds.unwrap();
    assert!((seconds - 0.048_899).abs() < 1e-6, "{seconds}");
}

/// One failure as pytest prints it in colors.
const IN_COLORS: &str = "\
\x1b[31m\x1b[1m____ test_x ____\x1b[0m
>       \x1b[94massert\x1b[39;49;00m f()
\x1b[1m\x1b[31mE       AssertionError: assert 0 == 2\x1b[0m
\x1b[1m\x1b[31mE        +  where 1 = f()\x1b[0m
\x1b[1m\x1b[31mtest_a.py\x1b[0m:3: AssertionError
";

#[test]
fn a_job_whose_pytest_prints_in_colors_is_no_log_of_a_server() {
    let text = [
        "##[group]Run pytest\nshell: /usr/bin/bash -e {0}\n##[endgroup]\n",
        "============================= test session starts ==============================\n",
        "collected 12 items\n\ntest_a.py FFFFFFFFFFFF [100%]\n",
        "=================================== FAILURES ===================================\n",
        &IN_COLORS.repeat(12),
        "============================= \x1b[31m\x1b[1m12 failed\x1b[0m in 0.10s ==============================\n",
        "##[error]Process completed with exit code 1.\n",
    ]
    .concat();
    let lines = text.lines();
    let stamped: String = lines
        .flat_map(|line| ["2026-03-01T10:00:00.1234567Z ", line, "\n"])
        .collect();
    let folder = crate::product::Folder::with("job.txt", stamped);
    let report = ci(folder.path(), &["--format", "json"]).report();
    assert_eq!(report.inputs[0].format, "actions-log");
    assert_eq!(report.records.total, 0);
    assert_eq!(report.tests.runs[0].totals["test"]["failed"], 12);
}
