//! `cargo test`, `clickhouse-test` and praktika. Right values: their own sums, and counts by hand.

use casdiag::parsers::ci::{EventKind, Incomplete, RemarkKind, TestRun};

use super::junit::{counts, leaf, pairs};
use super::{case, read, run};

fn stated(run: &TestRun) -> Vec<(String, u64)> {
    run.stated
        .iter()
        .flat_map(|total| total.by.clone())
        .collect()
}

#[test]
fn cargo_test_is_counted_over_its_binaries_and_not_over_what_tests_print() {
    let run = run(&case("rust").join("cargo-test.txt"));
    // test result: 3 passed; 2 failed; 1 ignored, and 1 passed; 2 failed, and a doc-test binary without tests.
    let expected = pairs(&[("ok", 4), ("failed", 4), ("ignored", 1)]);
    assert_eq!(counts(&run), expected);
    assert_eq!(stated(&run), expected);
    assert_eq!((run.exit_code, run.is_complete()), (Some(101), true));
    let copies = leaf(&run, "copies::replicated");
    assert_eq!(
        copies.message,
        "assertion `left == right` failed: node3 lost 2 rows\n  left: 3\n right: 5"
    );
    assert_eq!(
        copies.own.as_ref().map(|own| (own.file.as_str(), own.line)),
        Some(("src/lib.rs", 6))
    );
    assert_eq!(copies.feature, "unittests src/lib.rs");
    let joins = leaf(&run, "joins");
    assert!(
        joins.message.starts_with("lost ") && joins.message.ends_with(" <b>"),
        "{}",
        joins.message
    );
    assert!(run.remarks.iter().any(|it| {
        it.text
            .starts_with("1 runs of tests stand in what tests print")
    }));
}

#[test]
fn a_binary_that_dies_is_told_and_the_next_one_counts() {
    let text = "     Running tests/a.rs (target/debug/deps/a-1)\n\nrunning 3 tests\ntest one ... ok\ntest two ... \n\
        error: test failed, to rerun pass `--test a`\n\nCaused by:\n  process didn't exit successfully: `a` (signal: 11, SIGSEGV)\n\
             Running tests/b.rs (target/debug/deps/b-1)\n\nrunning 1 test\ntest three ... FAILED\n\nfailures:\n\n---- three stdout ----\nlost\n\n\
        failures:\n    three\n\ntest result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
    let folder = crate::product::Folder::with("out.txt", text);
    let run = run(&folder.path().join("out.txt"));
    assert_eq!(counts(&run), pairs(&[("ok", 1), ("failed", 1)]));
    assert!(
        run.incomplete.contains(&Incomplete::Stopped)
            && run.incomplete.contains(&Incomplete::TestsRunning)
    );
    assert_eq!(run.running[0].name, "two");
}

#[test]
fn clickhouse_test_sums_of_processes_are_added() {
    let run = run(&case("others").join("test_result.txt"));
    let expected = pairs(&[("OK", 2), ("FAIL", 2), ("SKIPPED", 1), ("BROKEN", 1)]);
    assert_eq!(counts(&run), expected);
    assert_eq!(stated(&run), expected);
    assert!(run.is_complete());
    let names: Vec<&str> = run.leaves.iter().map(|leaf| leaf.name.as_str()).collect();
    assert_eq!(names, ["02346_ledger_copies", "02347_ledger_rows.sql"]);
    assert!(
        run.leaves[0].message.starts_with("return code:  210\n"),
        "{}",
        run.leaves[0].message
    );
    assert!(!run.leaves[0].message.contains("Settings used"));
    assert!(
        run.leaves[1]
            .message
            .starts_with("result differs with reference\n")
    );
    assert!(run.leaves[1].message.contains("-row 2") && !run.leaves[1].message.contains("+0545"));
    assert_eq!(
        run.known[0].reason.as_deref(),
        Some("result differs with reference:")
    );
    assert_eq!(
        run.leaves[0].ended.unwrap().at.short(),
        "2026-03-14 23:18:03"
    );
}

#[test]
fn a_limit_of_failures_is_no_death_of_a_server() {
    let died = read(&case("others").join("server-died.txt"));
    assert_eq!(
        died.events.iter().map(|it| it.kind).collect::<Vec<_>>(),
        [EventKind::ServerDied]
    );
    assert_eq!(
        died.runs[0].incomplete,
        [Incomplete::NoEnd, Incomplete::Stopped]
    );
    let limit = read(&case("others").join("max-failures.txt"));
    assert!(limit.events.is_empty());
    assert!(
        limit.runs[0]
            .remarks
            .iter()
            .any(|it| it.text.contains("limit of failures"))
    );
    assert_eq!(counts(&limit.runs[0]), counts(&died.runs[0]));
}

#[test]
fn praktika_checks_are_no_tests_and_any_status_is_read() {
    let reading = read(&case("others").join("result_stateless_tests.json"));
    let run = &reading.runs[0];
    let expected = [
        ("OK", 2),
        ("FAIL", 2),
        ("SKIPPED", 1),
        ("BROKEN", 1),
        ("SOMETHING_NEW", 1),
        ("ERROR", 1),
    ];
    assert_eq!(counts(run), pairs(&expected));
    let checks: Vec<(&str, &str)> = run
        .checks
        .iter()
        .map(|it| (it.name.as_str(), it.outcome.as_str()))
        .collect();
    assert_eq!(checks[0], ("Install ClickHouse", "success"));
    assert_eq!(checks[1], ("Server died", "FAIL"));
    assert_eq!(checks.len(), 3);
    assert_eq!(reading.events[0].kind, EventKind::ServerDied);
    assert_eq!(run.result.as_deref(), Some("failure"));
    assert_eq!((run.retries.passed_after, run.leaves.len()), (1, 3));
    let error = leaf(run, "test_copies[a-b]");
    assert_eq!(
        (error.exception.as_deref(), error.feature.as_str()),
        (Some("AssertionError"), "test_ledger/test.py")
    );
    assert_eq!(error.own.as_ref().map(|own| own.line), Some(25));
}

#[test]
fn the_file_of_a_workflow_gives_no_totals_of_what_passed() {
    let run = run(&case("others").join("result_pr.json"));
    assert_eq!(counts(&run), pairs(&[("FAIL", 1)]));
    assert_eq!(
        run.leaves[0].path,
        ["Stateless tests (arm_asan, 1/2)", "02346_ledger_copies"]
    );
    assert!(
        run.remarks
            .iter()
            .any(|it| it.kind == RemarkKind::LeavesOut)
    );
    assert_eq!(
        run.checks
            .iter()
            .filter(|it| it.outcome == "dropped")
            .count(),
        1
    );
}

#[test]
fn json_that_is_cut_or_no_result_is_said_to_be() {
    let whole = std::fs::read(case("others").join("result_stateless_tests.json")).unwrap();
    let folder = crate::product::Folder::with("r.json", &whole[..whole.len() / 2]);
    let run = run(&folder.path().join("r.json"));
    assert_eq!(run.incomplete, [Incomplete::CutLine]);
    let deep = format!(
        "{{\"name\":\"x\",\"status\":\"OK\",\"start_time\":1,\"results\":{}",
        "[{\"results\":".repeat(100_000)
    );
    let folder = crate::product::Folder::with("r.json", deep);
    let run = super::run(&folder.path().join("r.json"));
    assert!(!run.is_complete());
}
