//! What nextest and google test print. Right values: their own summaries, and counts by hand.

use casdiag::parsers::ci::{Incomplete, TestRun};

use super::junit::{counts, leaf, pairs};
use super::{case, ci, run};

fn stated(run: &TestRun) -> Vec<(String, u64)> {
    let by = run.stated.iter().flat_map(|total| total.by.clone());
    by.collect()
}

#[test]
fn nextest_counts_a_test_once_whatever_its_tries() {
    let run = run(&case("rust").join("nextest-text.txt"));
    // 7 tests run: 3 passed (1 flaky), 3 failed, 1 timed out, 1 skipped
    let expected = pairs(&[("passed", 3), ("failed", 4)]);
    assert_eq!((counts(&run), stated(&run)), (expected.clone(), expected));
    assert_eq!((run.filtered_out, run.is_complete()), (1, true));
    // Five tests were tried twice, all but one in vain.
    let retries = (
        run.retries.tries,
        run.retries.failed,
        run.retries.passed_after,
    );
    assert_eq!(retries, (10, 5, 1));
    let copies = leaf(&run, "copies::replicated");
    assert_eq!(
        copies.message,
        "assertion `left == right` failed: node3 lost 2 rows\n  left: 3\n right: 5"
    );
    let own = copies.own.as_ref().unwrap();
    assert_eq!((own.file.as_str(), own.line), ("src/lib.rs", 4));
    assert_eq!(
        (copies.feature.as_str(), copies.failed_tries),
        ("ledger", 1)
    );
    assert_eq!(
        leaf(&run, "copies::aborts").message,
        "test aborted with signal 6: SIGABRT"
    );
    assert_eq!(
        leaf(&run, "copies::exits").message,
        "test failed with exit code 3"
    );
    assert_eq!(leaf(&run, "copies::hangs").message, "test timed out");
    assert_eq!(run.leaves.len(), 4);
    assert!(run.faults.is_empty(), "{:?}", run.faults);
}

#[test]
fn nextest_without_capture_hides_passes_and_shows_what_binaries_print() {
    let path = case("rust").join("nextest-no-capture.txt");
    let run = run(&path);
    // 3 tests run: 1 passed, 2 failed, 5 skipped; a test printed a line like those of nextest.
    assert_eq!(counts(&run), pairs(&[("passed", 1), ("failed", 2)]));
    assert_eq!(run.leaves.len(), 2);
    // In a job's log the output of the binaries is no run of cargo's beside it.
    let text = std::fs::read_to_string(&path).unwrap();
    let stamped = text
        .lines()
        .map(|line| format!("2026-03-14T23:18:02.0001237Z {line}\n"));
    let stamped: Vec<String> = stamped.collect();
    let folder = crate::product::Folder::with("1_job.txt", stamped.concat());
    let report = ci(folder.path(), &["--format", "json"]).report();
    let forms: Vec<&str> = report
        .tests
        .runs
        .iter()
        .map(|row| row.form.as_str())
        .collect();
    assert_eq!(forms, ["nextest"]);
}

#[test]
fn nextest_that_stops_early_says_so() {
    let stopped = run(&case("rust").join("nextest-fail-fast.txt"));
    // 1/6 tests run: 0 passed, 1 failed, 2 skipped
    assert_eq!(counts(&stopped), pairs(&[("failed", 1)]));
    let says = |run: &TestRun, text: &str| run.remarks.iter().any(|it| it.text.contains(text));
    assert!(says(&stopped, "1 of 6 tests were run") && says(&stopped, "test failure"));
    let interrupted = run(&case("rust").join("nextest-interrupted.txt"));
    assert_eq!(interrupted.incomplete, [Incomplete::Stopped]);
    let text = std::fs::read_to_string(case("rust").join("nextest-text.txt")).unwrap();
    let cut = text.find("TRY 1 TRMNTG").unwrap();
    let folder = crate::product::Folder::with("out.txt", &text[..cut]);
    let cut = run(&folder.path().join("out.txt"));
    assert_eq!(
        cut.incomplete,
        [Incomplete::NoEnd, Incomplete::TestsRunning]
    );
    assert_eq!(cut.running[0].name, "ledger copies::hangs");
    let none = "    Starting 0 tests across 2 binaries (8 tests skipped)\n     Summary [   0.000s] 0 tests run: 0 passed, 8 skipped\n\
                error: no tests to run\n";
    let folder = crate::product::Folder::with("out.txt", none);
    let none = ci(folder.path(), &[]);
    assert!(
        none.code == Some(1) && none.out.contains("no tests to run"),
        "{}",
        none.out
    );
}

#[test]
fn google_test_is_read_by_the_names_of_the_tests_that_run() {
    let run = run(&case("others").join("gtest-text.txt"));
    // 7 tests ran: 3 passed, 1 skipped, 3 failed; 1 disabled. A test printed that another one failed.
    let expected = pairs(&[("passed", 3), ("failed", 3), ("skipped", 2)]);
    assert_eq!((counts(&run), stated(&run)), (expected.clone(), expected));
    assert!(run.is_complete());
    let copies = leaf(&run, "Ledger.Copies");
    let equality =
        "Expected equality of these values:\n  rows(1)\n    Which is: 3\n  5\nnode3 lost rows";
    assert_eq!(copies.message, equality);
    let own = copies.own.as_ref().unwrap();
    assert_eq!(
        (own.file.as_str(), own.line, copies.also.len()),
        ("t.cpp", 6, 1)
    );
    assert!(copies.also[0].contains("second"), "{:?}", copies.also);
    assert!(leaf(&run, "Zdies.Throws").message.contains("lost copy"));
    let mut names: Vec<&str> = run.leaves.iter().map(|it| it.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "Keys/Partition.Rows/1 (\"b\")",
            "Ledger.Copies",
            "Zdies.Throws"
        ]
    );
}

#[test]
fn google_test_whose_process_died_names_the_test_that_ran() {
    let path = case("others").join("gtest-text-died.txt");
    let run = run(&path);
    assert_eq!(
        run.incomplete,
        [Incomplete::NoEnd, Incomplete::TestsRunning]
    );
    assert_eq!(run.running[0].name, "Zdies.Aborts");
    assert_eq!(
        counts(&run),
        pairs(&[("passed", 1), ("failed", 2), ("skipped", 1)])
    );
    let green = "[==========] Running 2 tests from 1 test suite.\n[ RUN      ] A.B\n[       OK ] A.B (0 ms)\n[ RUN      ] A.C\n";
    let folder = crate::product::Folder::with("out.txt", green);
    assert_eq!(ci(folder.path(), &[]).code, Some(3));
}

#[test]
fn google_test_in_brief_shows_failures_and_sums_alone() {
    let run = run(&case("others").join("gtest-text-brief.txt"));
    // 3 tests ran: 1 passed, 1 skipped, and the one that is shown; 1 disabled.
    assert_eq!(
        counts(&run),
        pairs(&[("passed", 1), ("failed", 1), ("skipped", 2)])
    );
    assert!(
        leaf(&run, "Ledger.Copies")
            .message
            .starts_with("Expected equality")
    );
}
