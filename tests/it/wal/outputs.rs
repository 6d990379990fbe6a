//! JSON, `JUnit` and SARIF of the same check, and names that would write to a terminal.

use std::path::Path;

use casdiag::layout::ProblemKind;

use super::writer::{entries, reference, reference_record};
use super::{Folder, casdiag, check, document, json, output};
use crate::product;

/// Two nodes: one with misfiled records, one with a torn end.
fn nodes() -> Folder {
    let folder = Folder::new();
    let first = [entries(1..=9, 1), entries(20..=25, 2)].concat();
    folder.write("a/seg-0000000000000001.wal", &reference(1, 7, &first));
    folder.write(
        "a/seg-000000000000000a.wal",
        &reference(10, 7, &entries(10..=19, 1)),
    );
    let torn = [
        reference(1, 7, &entries(1..=9, 1)).as_slice(),
        &reference_record(10, 1, b"torn")[..20],
    ]
    .concat();
    folder.write("b/seg-0000000000000001.wal", &torn);
    folder
}

#[test]
fn json_has_the_shape_of_the_report() {
    let folder = nodes();
    let report = json(&check(folder.path()));
    assert_eq!(
        (&report["schema"], &report["complete"]),
        (&"casdiag.report/1".into(), &true.into())
    );
    assert_eq!(report["tool"]["name"], "casdiag");
    let wal = &report["wal"][0];
    assert_eq!(
        (&wal["layout"], &wal["verdict"], &wal["records"]),
        (&"reference".into(), &"damaged".into(), &25.into())
    );
    assert!(Path::new(wal["path"].as_str().unwrap()).ends_with("a"));
    let segment = &wal["segments"][0];
    assert_eq!(segment["file"], "seg-0000000000000001.wal");
    for (key, value) in [
        ("name_lsn", 1),
        ("first_lsn", 1),
        ("last_lsn", 25),
        ("records", 15),
        ("entries", 15),
    ] {
        assert_eq!(segment[key], value, "{key}");
    }
    let problem = &wal["problems"][0];
    assert_eq!(
        (&problem["kind"], &problem["severity"]),
        (&"misfiled".into(), &"damage".into())
    );
    assert_eq!(
        (&problem["lsn"], &problem["lsn_to"], &problem["expected"]),
        (&20.into(), &25.into(), &10.into())
    );
    assert_eq!(problem["belongs_in"], "seg-0000000000000014.wal");
    let torn = &report["wal"][1];
    assert_eq!(
        (&torn["verdict"], &torn["problems"][0]["kind"]),
        (&"crash-residue".into(), &"torn-tail".into())
    );
    assert_eq!(torn["problems"][0]["severity"], "crash-residue");
    let stall = &report["nodes"][0]["stalls"][0];
    assert_eq!(
        (&stall["primary"], &stall["standby"], &stall["lacks"][0]),
        (&"a".into(), &"b".into(), &20.into())
    );
}

#[test]
fn junit_has_a_case_per_segment_and_counts_residue_only_when_strict() {
    let folder = nodes();
    let (code, text) = casdiag(&["wal-layout-check", folder.text(), "--format", "junit"]);
    assert_eq!(code, 1);
    assert!(
        text.contains(r#"tests="3" failures="1" errors="0""#),
        "{text}"
    );
    assert_eq!(text.matches("<testcase ").count(), 3);
    assert!(
        text.contains(r#"<failure type="misfiled" message="seg-0000000000000001.wal, offset"#),
        "{text}"
    );
    assert!(text.contains("<system-out>torn-tail: "), "{text}");
    let (_, strict) = casdiag(&[
        "wal-layout-check",
        folder.text(),
        "--format",
        "junit",
        "--strict",
    ]);
    assert!(strict.contains(r#"tests="3" failures="2""#), "{strict}");
}

#[test]
fn sarif_places_each_problem_at_a_byte() {
    let folder = nodes();
    let report: serde_json::Value =
        serde_json::from_str(&output("sarif", &check(folder.path()))).unwrap();
    assert_eq!(report["version"], "2.1.0");
    let run = &report["runs"][0];
    assert_eq!(run["invocations"][0]["executionSuccessful"], true);
    let result = &run["results"][0];
    assert_eq!(
        (&result["ruleId"], &result["level"]),
        (&"misfiled".into(), &"error".into())
    );
    let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
    assert_eq!(run["tool"]["driver"]["rules"][index]["id"], "misfiled");
    let place = &result["locations"][0]["physicalLocation"];
    assert!(
        place["artifactLocation"]["uri"]
            .as_str()
            .unwrap()
            .ends_with("/a/seg-0000000000000001.wal")
    );
    assert_eq!(
        place["region"]["byteOffset"],
        reference(1, 7, &entries(1..=9, 1)).len()
    );
    assert_eq!(run["results"][1]["level"], "note");
}

#[test]
fn the_same_folder_gives_the_same_bytes() {
    let folder = nodes();
    for format in ["text", "json", "junit", "sarif"] {
        let run = || casdiag(&["wal-layout-check", folder.text(), "--format", format]).1;
        assert_eq!(run(), run(), "{format}");
    }
}

#[test]
fn names_cannot_write_to_a_terminal_or_break_out_of_xml() {
    let folder = Folder::new();
    folder.write(
        "<a&\"\u{1b}[31m>/seg-0000000000000001.wal",
        &reference(2, 7, &entries(2..=9, 1)),
    );
    folder.write("<a&\"\u{1b}[31m>/\u{1b}]0;title\u{7}\u{202e}.txt", b"x");
    for format in ["text", "json", "junit", "sarif"] {
        let (code, text) = casdiag(&["wal-layout-check", folder.text(), "--format", format]);
        assert_eq!(code, 1, "{text}");
        assert!(!text.contains(['\u{1b}', '\u{7}']), "{format}: {text}");
        assert!(
            format == "json" || !text.contains('\u{202e}'),
            "{format}: {text}"
        );
    }
    let (_, junit) = casdiag(&["wal-layout-check", folder.text(), "--format", "junit"]);
    assert!(junit.contains("&lt;a&amp;&quot;\\x1b[31m&gt;"), "{junit}");
}

#[test]
fn what_another_command_reads_is_pointed_to_it() {
    let listing = super::listing::long(&[(1, 100), (101, 200)]);
    for (name, text, what) in [
        ("ls.txt", listing.as_str(), "a listing of a folder"),
        ("wal.tar.gz", "\x1f\u{8b}", "an archive or a packed file"),
        ("notes.txt", "nothing of the kind\n", ""),
    ] {
        let folder = product::Folder::with(name, text);
        let paths = [folder.path().join(name), folder.path().to_path_buf()];
        for path in paths {
            let ran = product::casdiag(&["wal-layout-check", path.to_str().unwrap()]);
            assert_eq!(ran.code, Some(3), "{name}");
            let said = format!("{what} is not read here");
            assert_eq!(ran.err.contains(&said), !what.is_empty(), "{}", ran.err);
            assert_eq!(ran.err.contains("casdiag analyze"), !what.is_empty());
        }
    }
}

#[test]
fn a_closed_pipe_ends_quietly() {
    use std::process::{Command, Stdio};
    let folder = Folder::new();
    for first in 1..=2000_u64 {
        folder.write(
            &format!("seg-{first:016x}.wal"),
            &reference(first, 7, &[(first, 1)]),
        );
    }
    let mut child = Command::new(env!("CARGO_BIN_EXE_casdiag"))
        .args(["wal-layout-check", folder.text(), "--format", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let ended = child.wait_with_output().unwrap();
    assert_eq!(
        (
            ended.status.code(),
            String::from_utf8(ended.stderr).unwrap()
        ),
        (Some(0), String::new())
    );
}

#[test]
fn every_kind_of_problem_stands_in_the_documentation() {
    let text = document("docs/wal-layout-check.md");
    for kind in ProblemKind::ALL {
        let row = format!("| `{}` | {} |", kind.word(), kind.meaning());
        assert!(text.contains(&row), "no row {row}");
    }
}

/// The folders name a customer and a host; positions, segments and problems stay what they are.
#[test]
fn a_masked_check_names_nobody_and_says_the_same_of_positions() {
    let folder = Folder::new();
    let whole = [entries(1..=234, 20), entries(306..=348, 21)].concat();
    let under = "acme/prod/vega-1/data";
    folder.write(
        &format!("{under}/seg-0000000000000001.wal"),
        &reference(1, 7, &whole),
    );
    folder.write(
        &format!("{under}/seg-00000000000000eb.wal"),
        &reference(235, 7, &entries(235..=305, 20)),
    );
    for format in ["text", "json", "junit", "sarif"] {
        let check = |more: &[&str]| {
            let all = [
                &["wal-layout-check", folder.text(), "--format", format],
                more,
            ]
            .concat();
            casdiag(&all)
        };
        let ((plain_code, plain), (code, masked)) = (check(&[]), check(&["--redact"]));
        assert_eq!(plain_code, code);
        assert!(
            plain.contains("acme") && plain.contains("vega-1"),
            "{plain}"
        );
        assert!(
            !masked.contains("acme") && !masked.contains("vega"),
            "{masked}"
        );
        for kept in ["seg-0000000000000001.wal", "306", "348", "misfiled"] {
            assert!(masked.contains(kept), "{format}: {kept}: {masked}");
        }
    }
}
