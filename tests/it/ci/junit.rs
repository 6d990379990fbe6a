//! `JUnit` XML of several tools. Right values: the text that pytest printed in the same run, nextest's own summary, and counts by
//! hand of the reports of Maven and google test.

use std::io::{BufReader, Read};

use casdiag::parsers::ci::{Incomplete, Leaf, Reading, RemarkKind, TestRun, sniff};

use super::{case, run};

fn of(text: &[u8]) -> TestRun {
    read(text).runs.remove(0)
}

fn read(text: &[u8]) -> Reading {
    let form = sniff(&text[..text.len().min(64 << 10)]).unwrap();
    form.read(&mut BufReader::new(text))
}

/// Outcomes of tests with their counts.
pub(super) fn counts(run: &TestRun) -> Vec<(String, u64)> {
    let total = run.totals.iter().find(|total| total.level == "test");
    let by = total.map(|total| total.by.clone()).unwrap_or_default();
    by.into_iter().collect()
}

pub(super) fn pairs(expected: &[(&str, u64)]) -> Vec<(String, u64)> {
    let mut all: Vec<(String, u64)> = expected
        .iter()
        .map(|(word, count)| ((*word).to_owned(), *count))
        .collect();
    all.sort();
    all
}

pub(super) fn leaf<'a>(run: &'a TestRun, end: &str) -> &'a Leaf {
    let found = run.leaves.iter().find(|leaf| leaf.name.ends_with(end));
    found.unwrap_or_else(|| {
        panic!(
            "no {end} among {:?}",
            run.leaves.iter().map(|it| &it.name).collect::<Vec<_>>()
        )
    })
}

#[test]
fn each_test_of_pytest_counts_once_though_reruns_and_teardowns_are_cases() {
    for file in [
        "pytest-junit.xml",
        "pytest-junit-xunit1.xml",
        "pytest-junit-xdist.xml",
    ] {
        let run = run(&case("pytest").join(file));
        // 23 tests; the report has 26 cases and says 24. An unexpected pass looks like a pass.
        let expected = [
            ("passed", 9),
            ("failed", 9),
            ("error", 2),
            ("skipped", 2),
            ("xfailed", 1),
        ];
        assert_eq!(counts(&run), pairs(&expected), "{file}");
        assert_eq!(
            (run.retries.failed, run.retries.passed_after),
            (2, 1),
            "{file}"
        );
        let text = "its attributes count 24 tests (9 failures, 3 errors, 3 skipped)";
        assert!(
            run.remarks.iter().any(|it| it.text.starts_with(text)),
            "{file}"
        );
        assert!(run.is_complete(), "{file}");
        assert_eq!(
            run.known[0].reason.as_deref(),
            Some("https://github.com/example/ledger/issues/62764")
        );
        let failed = leaf(&run, "test_fail_and_teardown_error");
        assert_eq!(failed.outcome, "failed", "{file}");
        assert!(
            run.remarks
                .iter()
                .any(|it| it.kind == RemarkKind::Reading && it.text.starts_with("2 cases"))
        );
    }
}

#[test]
fn a_leaf_of_pytest_has_class_assertion_message_and_place() {
    let run = run(&case("pytest").join("pytest-junit.xml"));
    let leaf = leaf(&run, "test_copy_segment[intDiv(a,2)-replicated]");
    assert_eq!(leaf.exception.as_deref(), Some("AssertionError"));
    assert_eq!(
        leaf.assertion.as_deref(),
        Some("assert a == b, f\"node3 lost {lost} rows\"")
    );
    assert!(
        leaf.message.starts_with("node3 lost 2 rows\nassert ["),
        "{}",
        leaf.message
    );
    let own = leaf.own.as_ref().unwrap();
    assert_eq!(
        (own.file.as_str(), own.line, own.function.as_str()),
        ("tests/test_ledger.py", 25, "check_replicas")
    );
    assert_eq!(leaf.feature, "tests.test_ledger");
    let setup = super::junit::leaf(&run, "test_setup_error");
    assert_eq!(setup.exception.as_deref(), Some("ConnectionRefusedError"));
    assert_eq!(setup.message, "[Errno 111] Connection refused: node2:9000");
}

#[test]
fn a_report_with_files_names_tests_as_pytest_takes_them() {
    let run = run(&case("pytest").join("pytest-junit-xunit1.xml"));
    let leaf = leaf(&run, "test_insert");
    assert_eq!(leaf.name, "tests/test_ledger.py::TestRbac::test_insert");
    assert_eq!(leaf.id, "tests.test_ledger.TestRbac.test_insert");
}

#[test]
fn a_collection_that_failed_is_an_error_and_no_tests_are_no_tests() {
    let broken = run(&case("pytest").join("pytest-junit-collection-error.xml"));
    assert_eq!(counts(&broken), pairs(&[("error", 1)]));
    assert_eq!(
        broken.leaves[0].exception.as_deref(),
        Some("ModuleNotFoundError")
    );
    let none = run(&case("pytest").join("pytest-junit-no-tests.xml"));
    assert!(none.totals.is_empty() && none.is_complete());
    assert!(none.remarks.iter().any(|it| it.text == "no test ran"));
    let clean = run(&case("pytest").join("pytest-junit-clean.xml"));
    assert_eq!(counts(&clean), pairs(&[("passed", 2)]));
}

#[test]
fn nextest_reports_are_counted_like_its_own_summary() {
    // 8 tests run: 3 passed (1 flaky), 4 failed, 1 timed out; of the failed one aborted.
    let run = run(&case("rust").join("nextest-junit.xml"));
    let expected = [("passed", 3), ("failed", 3), ("aborted", 1), ("timeout", 1)];
    assert_eq!(counts(&run), pairs(&expected));
    // Five tests failed in three tries each, one passed in its third.
    assert_eq!(
        (
            run.retries.tries,
            run.retries.failed,
            run.retries.passed_after
        ),
        (18, 12, 1)
    );
    let failed = leaf(&run, "copies::replicated");
    assert_eq!(failed.name, "ledger copies::replicated");
    assert_eq!(
        failed.message,
        "assertion `left == right` failed: node3 lost 2 rows\n  left: 3\n right: 5"
    );
    assert_eq!(
        failed.own.as_ref().map(|own| (own.file.as_str(), own.line)),
        Some(("src/lib.rs", 6))
    );
    assert_eq!(failed.failed_tries, 2);
    assert_eq!(leaf(&run, "joins").feature, "ledger::cluster");
}

#[test]
fn maven_counts_every_rerun_and_here_each_test_counts_once() {
    let run = run(&case("others").join("TEST-com.example.LedgerTest.xml"));
    assert_eq!(
        counts(&run),
        pairs(&[("passed", 2), ("failed", 1), ("error", 1), ("skipped", 1)])
    );
    // Its attributes count each run of a test: three of the one that settles and of the one that never does.
    let text = "its attributes count 9 tests (5 failures, 1 error, 1 skipped)";
    assert!(run.remarks.iter().any(|it| it.text.starts_with(text)));
    assert_eq!(run.faults, Vec::<String>::new(), "every failure is shown");
    let sample = std::fs::read_to_string(case("others").join("TEST-com.example.LedgerTest.xml"));
    let more = sample.unwrap().replace("failures=\"5\"", "failures=\"6\"");
    assert_eq!(
        of(more.as_bytes()).faults,
        ["its attributes count 6 failures and 1 errors, its cases show 6"]
    );
    assert_eq!((run.retries.failed, run.retries.passed_after), (4, 1));
    let failed = leaf(&run, "copies");
    assert_eq!(
        (failed.exception.as_deref(), failed.message.as_str()),
        (Some("java.lang.AssertionError"), "lost 2 rows")
    );
    assert_eq!(
        failed.own.as_ref().map(|own| (own.file.as_str(), own.line)),
        Some(("LedgerTest.java", 42))
    );
    let error = leaf(&run, "connects");
    assert_eq!(
        error.own.as_ref().map(|own| own.function.as_str()),
        Some("com.example.Cluster.open")
    );
    assert!((run.durations[0].seconds - 1000.25).abs() < 1e-9);
    assert!(
        !format!("{run:?}").contains("s3cr3t"),
        "properties hold secrets"
    );
}

#[test]
fn google_test_says_the_same_in_xml_and_in_json() {
    for file in ["gtest.xml", "gtest.json"] {
        let run = run(&case("others").join(file));
        assert_eq!(
            counts(&run),
            pairs(&[("passed", 2), ("failed", 2), ("skipped", 2)]),
            "{file}"
        );
        let names: Vec<&str> = run.leaves.iter().map(|leaf| leaf.name.as_str()).collect();
        assert_eq!(
            names,
            ["Ledger.Copies", "Keys/Partition.Rows/1 (\"b\")"],
            "{file}"
        );
        let own = run.leaves[0].own.as_ref().unwrap();
        assert_eq!(
            (own.file.as_str(), own.line),
            ("gtest_ledger.cpp", 42),
            "{file}"
        );
        assert!(
            run.leaves[0]
                .message
                .starts_with("Expected equality of these values:"),
            "{file}"
        );
    }
}

#[test]
fn a_document_type_is_refused_and_no_entity_is_replaced() {
    let bomb = b"<?xml version=\"1.0\"?><!DOCTYPE x [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;\">]>\
        <testsuite name=\"s\"><testcase name=\"t\"><failure message=\"&b;\">&b;</failure></testcase></testsuite>";
    let run = of(bomb);
    assert_eq!(
        (run.leaves.len(), run.incomplete.as_slice()),
        (0, &[Incomplete::NoEnd][..])
    );
    assert!(
        run.remarks
            .iter()
            .any(|it| it.kind == RemarkKind::Unreadable && it.text.contains("document type"))
    );
    // Without a document type an entity stays as it is written.
    let run = of(b"<testsuite><testcase name=\"t\"><failure message=\"&b;\">&b; &lt;&#65;</failure></testcase></testsuite>");
    assert_eq!(run.leaves[0].message, "&b;");
}

#[test]
fn a_hundred_megabytes_of_output_are_passed_over() {
    let head: &[u8] = b"<testsuites><testsuite name=\"s\"><testcase name=\"a\" classname=\"c\"><failure message=\"lost\"/><system-out>";
    let tail: &[u8] =
        b"</system-out></testcase><testcase name=\"b\" classname=\"c\"/></testsuite></testsuites>";
    let body = std::io::repeat(b'x').take(100 << 20);
    let mut reader = BufReader::new(head.chain(body).chain(tail));
    let run = sniff(head).unwrap().read(&mut reader).runs.remove(0);
    assert_eq!(counts(&run), pairs(&[("passed", 1), ("failed", 1)]));
    assert!(
        run.is_complete()
            && run
                .remarks
                .iter()
                .any(|it| it.kind == RemarkKind::LeavesOut)
    );
    // The same within a section, where nothing is markup.
    let cdata = std::io::repeat(b'<').take(20 << 20);
    let head: &[u8] = b"<testsuite><testcase name=\"a\"><system-err><![CDATA[";
    let tail: &[u8] = b"]]></system-err><error message=\"e\"/></testcase></testsuite>";
    let run = sniff(head)
        .unwrap()
        .read(&mut BufReader::new(head.chain(cdata).chain(tail)))
        .runs
        .remove(0);
    assert_eq!(counts(&run), pairs(&[("error", 1)]));
}

#[test]
fn encodings_and_control_characters_are_read_as_far_as_they_are_text() {
    let latin = b"<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><testsuite><testcase name=\"na\xefve\"><failure/></testcase></testsuite>";
    assert_eq!(of(latin).leaves[0].name, "na\u{ef}ve");
    let wrong = b"<testsuite><testcase name=\"na\xefve\"><failure message=\"a\x00\x1b[31mb\"/></testcase></testsuite>";
    let run = of(wrong);
    assert_eq!(
        (run.leaves[0].name.as_str(), run.leaves[0].message.as_str()),
        ("na\u{fffd}ve", "a\0\u{1b}[31mb")
    );
    let text = "<testsuite><testcase name=\"caf\u{e9}\"><failure/></testcase></testsuite>";
    let wide: Vec<u8> = [0xff, 0xfe]
        .into_iter()
        .chain(text.encode_utf16().flat_map(u16::to_le_bytes))
        .collect();
    assert_eq!(of(&wide).leaves[0].name, "caf\u{e9}");
}

#[test]
fn a_cut_report_gives_what_stood_before_and_is_incomplete() {
    let whole = std::fs::read(case("pytest").join("pytest-junit.xml")).unwrap();
    let at = memchr_of(&whole, b"test_skipped");
    let run = of(&whole[..at]);
    assert_eq!(run.incomplete, [Incomplete::NoEnd]);
    assert_eq!(
        run.leaves.len(),
        8,
        "five copies and an insert, setup, teardown, and the one that failed twice: the last is cut in its name"
    );
}

fn memchr_of(text: &[u8], what: &[u8]) -> usize {
    text.windows(what.len()).position(|it| it == what).unwrap()
}

#[test]
fn several_roots_and_broken_markup_lose_nothing_that_can_be_read() {
    let two = b"<testsuite name=\"a\" tests=\"1\"><testcase name=\"x\"/></testsuite>\n<?xml version=\"1.0\"?>\n<testsuite name=\"b\" tests=\"1\"><testcase name=\"y\"><failure/></testcase></testsuite>";
    let run = of(two);
    assert_eq!(counts(&run), pairs(&[("passed", 1), ("failed", 1)]));
    assert_eq!(run.leaves[0].place.line, 3);
    let unclosed = b"<testsuite><testcase name=\"x\"><failure>a & b</wrong></testcase></testsuite><testsuite><testcase name=\"y\"/></testsuite>";
    assert_eq!(
        counts(&of(unclosed)),
        pairs(&[("passed", 1), ("failed", 1)])
    );
}
