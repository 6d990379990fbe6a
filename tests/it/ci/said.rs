//! What outputs say beside the verdict: parents' messages, further failures, what could not be read, what stands beside tests.

use super::{case, ci};
use crate::product::Folder;

const H12: &str = "\
✘ 1m 47s    [  Fail  ] /alter/part 1/simple/attach a
    AssertionError
✘ 2m 11s    [  Fail  ] /alter/part 1/simple/attach b
    AssertionError
✘ 10m 58s   [  Fail  ] /alter/part 1/simple
    AssertionError
✘ 41m 9s    [  Fail  ] /alter/part 1
    AssertionError
    Traceback (most recent call last):
      File \"alter/simple.py\", line 142, in check
        assert r.exitcode == exitcode, error(r.output)
    AssertionError: Oops! Assertion failed

    The following assertion was not satisfied
      assert r.exitcode == exitcode, error(r.output)

    Description
      Code: 210. DB::Exception: Received from n3:9000. DB::Exception: Source n1 did not prove it. (NETWORK_ERROR)
✘ 41m 10s   [  Fail  ] /alter
    AssertionError
";

#[test]
fn what_a_parent_says_is_told_beside_leaves_that_say_nothing() {
    let folder = Folder::with("fails.log.txt", H12);
    let report = ci(folder.path(), &["--format", "json"]).report();
    assert_eq!(report.tests.groups.len(), 1);
    let group = &report.tests.groups[0];
    let above = group.above.as_ref().unwrap();
    assert_eq!((above.test.as_str(), above.line), ("/alter/part 1", 7));
    assert!(above.message.contains("Source n1 did not prove it"));
    // It is said of one of the two, so it ties neither.
    assert!(group.leaves.iter().all(|leaf| leaf.message.is_empty()));
    assert!(
        group.signature.contains("its source has no message"),
        "{}",
        group.signature
    );
    assert_eq!(group.by_area["/alter/part 1/simple"], 2);
    for format in ["text", "markdown", "html", "github"] {
        let out = ci(folder.path(), &["--format", format]).out;
        assert!(out.contains("did not prove it"), "{format}: {out}");
    }
    let text = ci(folder.path(), &[]).out;
    assert!(
        text.contains("2 leaves without a message in their source"),
        "{text}"
    );
    assert!(
        text.contains("whether they are one failure is not known"),
        "{text}"
    );
}

#[test]
fn further_failures_of_a_case_are_kept() {
    let xml = "<testsuite><testcase classname=\"A\" name=\"b\">\
               <failure message=\"a.cc:1&#10;first\">a.cc:1&#10;first</failure>\
               <failure message=\"a.cc:9&#10;second\">a.cc:9&#10;second</failure></testcase></testsuite>";
    let json = "{\"tests\": 1, \"failures\": 1, \"disabled\": 0, \"errors\": 0, \"name\": \"All\", \"testsuites\": [{\"name\": \"A\", \"testsuite\": [\
                {\"name\": \"b\", \"status\": \"RUN\", \"result\": \"COMPLETED\", \"time\": \"0.01s\", \
                \"failures\": [{\"failure\": \"a.cc:1\\nfirst\"}, {\"failure\": \"a.cc:9\\nsecond\"}]}]}]}";
    for (name, source) in [("report.xml", xml), ("report.json", json)] {
        let folder = Folder::with(name, source);
        let report = ci(folder.path(), &["--format", "json"]).report();
        let leaf = &report.tests.groups[0].leaves[0];
        assert_eq!(leaf.message, "first", "{name}");
        assert_eq!(leaf.also, ["second at a.cc:9"], "{name}");
    }
}

#[test]
fn a_document_type_that_is_refused_is_told_in_every_output() {
    let xml = "<?xml version=\"1.0\"?><!DOCTYPE x [<!ENTITY y \"z\">]><testsuite><testcase name=\"n\"/></testsuite>";
    let folder = Folder::with("report.xml", xml);
    for format in ["text", "markdown", "html", "github", "junit", "json"] {
        let ran = ci(folder.path(), &["--format", format]);
        assert_eq!(ran.code, Some(3), "{format}: {}", ran.err);
        assert!(
            ran.out.contains("a document type is refused"),
            "{format}: {}",
            ran.out
        );
    }
}

#[test]
fn an_encoding_of_one_byte_a_character_is_read_from_a_file() {
    let xml = b"<?xml version='1.0' encoding='ISO-8859-1'?>\n<testsuite><testcase name=\"caf\xe9\"><failure message=\"d\xe9j\xe0\"/></testcase></testsuite>";
    let folder = Folder::with("report.xml", xml);
    let report = ci(folder.path(), &["--format", "json"]).report();
    let leaf = &report.tests.groups[0].leaves[0];
    assert_eq!(
        (leaf.test.as_str(), leaf.message.as_str()),
        ("caf\u{e9}", "d\u{e9}j\u{e0}")
    );
}

#[test]
fn tries_are_counted_of_tests_and_of_steps_apart() {
    let path = case("testflows-failing");
    // 66 tries, 53 failed; three of them, of which two failed, are tests and not steps: the ones that classic output shows.
    let raw = ci(&path.join("raw.log"), &[]).out;
    assert!(
        raw.contains("53 of 66 tries failed (of tests 2 of 3, the others of steps)"),
        "{raw}"
    );
    let text = ci(&path.join("stdout.log.txt"), &[]).out;
    assert!(
        text.contains("2 of 3 tries failed, of tests (this source shows no tries of steps)"),
        "{text}"
    );
}

#[test]
fn without_a_log_of_a_server_the_summary_says_so_and_counts_no_records() {
    let folder = Folder::with("fails.log.txt", H12);
    let markdown = ci(folder.path(), &["--format", "markdown"]).out;
    assert!(
        markdown.contains("Among 1 file no log of a server was found"),
        "{markdown}"
    );
    assert!(
        !markdown.contains("0 records") && !markdown.contains("no record to count"),
        "{markdown}"
    );
    let junit = ci(folder.path(), &["--format", "junit"]).out;
    assert!(junit.contains("<testsuites name=\"casdiag\""), "{junit}");
}
