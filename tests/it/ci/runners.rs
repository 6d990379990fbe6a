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
    // Nothing in it says how cargo ended.
    assert_eq!((run.exit_code, run.is_complete()), (None, true));
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
    assert!(
        run.remarks
            .iter()
            .any(|it| { it.text.starts_with("1 run of tests is in what tests print") })
    );
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

fn text_of(text: &str) -> TestRun {
    let folder = crate::product::Folder::with("out.txt", text);
    run(&folder.path().join("out.txt"))
}

/// A binary of `cargo test` whose two tests passed.
const PASSED: &str = "     Running unittests src/lib.rs (target/debug/deps/a-1)\n\nrunning 2 tests\ntest t::a ... ok\ntest t::b ... ok\n\n\
    test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n";

#[test]
fn what_cargo_says_after_tests_that_passed_is_told() {
    let by_signal = "error: test failed, to rerun pass `--test x`\n\nCaused by:\n  process didn't exit successfully: \
                     `/a/x-1` (signal: 6, SIGABRT: process abort signal)\n";
    let of_own = "     Running tests/x.rs (target/debug/deps/x-1)\nthread 'main' panicked at tests/x.rs:1:1: boom\n";
    for (text, says) in [
        (
            "error: could not compile `b` (lib test) due to 1 previous error\n".to_owned(),
            "could not compile `b`",
        ),
        (
            "   Doc-tests a\nerror: doctest failed, to rerun pass `--doc`\n".to_owned(),
            "doctest failed",
        ),
        (format!("{of_own}{by_signal}"), "signal: 6, SIGABRT"),
        (
            "error: 1 target failed:\n    `--lib`\n".to_owned(),
            "1 target failed",
        ),
    ] {
        let run = text_of(&format!("{PASSED}{text}"));
        assert_eq!(counts(&run), pairs(&[("ok", 2)]), "{text}");
        assert_eq!(run.faults.len(), 1, "{text}: {:?}", run.faults);
        assert!(run.faults[0].contains(says), "{text}: {:?}", run.faults);
        assert_eq!(run.exit_code, None, "{text}");
    }
    let clean = text_of(PASSED);
    assert!(clean.faults.is_empty() && clean.is_complete());
    let broken = text_of(
        "   Compiling a v0.1.0 (/a)\nerror: could not compile `a` (lib test) due to 1 previous error\n",
    );
    assert_eq!(
        broken.faults,
        ["error: could not compile `a` (lib test) due to 1 previous error"]
    );
    let left = text_of(&format!(
        "{PASSED}     Running tests/x.rs (target/debug/deps/x-1)\n"
    ));
    assert_eq!(left.incomplete, [Incomplete::NoEnd]);
}

#[test]
fn the_end_of_another_run_that_a_test_prints_does_not_end_its_binary() {
    let printed = "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
    let of_three = |ends: &str| {
        format!("\nrunning 3 tests\ntest a ... ok\n{printed}test b ... ok\ntest c ... ok\n\n{ends}")
    };
    let ended = text_of(&of_three(&printed.replace("1 passed", "3 passed")));
    assert_eq!(
        (counts(&ended), ended.is_complete()),
        (pairs(&[("ok", 3)]), true)
    );
    let cut = text_of(&of_three(""));
    assert_eq!(cut.incomplete, [Incomplete::NoEnd]);
}

#[test]
fn a_listed_test_explains_what_cargo_says_of_its_target() {
    let failed = "     Running tests/x.rs (target/debug/deps/x-1)\n\nrunning 1 test\ntest c ... FAILED\n\nfailures:\n\n---- c stdout ----\nlost\n\n\
                  failures:\n    c\n\ntest result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n\
                  error: test failed, to rerun pass `--test x`\n";
    let run = text_of(&format!("{PASSED}{failed}"));
    assert_eq!(counts(&run), pairs(&[("ok", 2), ("failed", 1)]));
    assert!(run.faults.is_empty(), "{:?}", run.faults);
}

#[test]
fn tests_that_no_line_tells_are_named_by_the_list_and_counted_by_the_sums() {
    // Tests that run at once write over each other, and --quiet prints letters.
    let section = "---- t::c stdout ----\nthread 't::c' (12) panicked at src/lib.rs:11:13:\nboom\n\nfailures:\n    t::c\n\n";
    let sums = "test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
    for told in [
        "..F\n",
        "test t::a ... ok\ntest t::b ... ok\ntest t::c ... some output here\nFAILED\n",
        "test t::a ... test t::b has been running for over 60 seconds\nok\ntest t::b ... ok\n",
    ] {
        let run = text_of(&format!(
            "\nrunning 3 tests\n{told}\nfailures:\n\n{section}{sums}"
        ));
        assert_eq!(counts(&run), pairs(&[("ok", 2), ("failed", 1)]), "{told}");
        let leaf = leaf(&run, "t::c");
        assert_eq!(
            (leaf.message.as_str(), run.leaves.len()),
            ("boom", 1),
            "{told}"
        );
        assert!(run.is_complete(), "{told}");
    }
}

#[test]
fn a_praktika_job_that_waits_or_was_dropped_is_not_told_to_its_end() {
    let ok = "{\"name\": \"02345_x\", \"status\": \"OK\", \"start_time\": null, \"duration\": 1.0, \"results\": []}";
    let inner = |status: &str| {
        format!("{ok}, {{\"name\": \"Integration\", \"status\": \"{status}\", \"results\": []}}")
    };
    let file = |status: &str, results: &str| {
        format!(
            "{{\"name\": \"PR\", \"status\": \"{status}\", \"start_time\": 1773530000.0, \"duration\": null, \"results\": [{results}]}}"
        )
    };
    for (text, why) in [
        (file("success", ok), None),
        (file("pending", ""), Some(Incomplete::NoEnd)),
        (file("running", ok), Some(Incomplete::NoEnd)),
        (file("success", &inner("running")), Some(Incomplete::NoEnd)),
        (file("success", &inner("pending")), Some(Incomplete::NoEnd)),
        (file("success", &inner("PENDING")), Some(Incomplete::NoEnd)),
        (
            file("success", &inner("dropped")),
            Some(Incomplete::Stopped),
        ),
    ] {
        let folder = crate::product::Folder::with("result.json", &text);
        let run = run(&folder.path().join("result.json"));
        assert_eq!(run.incomplete, Vec::from_iter(why), "{text}");
        let code = super::ci(folder.path(), &[]).code;
        assert_eq!(code, Some(if why.is_some() { 3 } else { 0 }), "{text}");
    }
}
