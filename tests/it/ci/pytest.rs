//! pytest's text and its report log. Right values: the last line of the text.

use casdiag::parsers::ci::{Incomplete, RemarkKind};

use super::junit::{counts, leaf, pairs};
use super::{case, read, run};

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
    assert_eq!(code("pytest-text-clean.txt"), Some(0));
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
