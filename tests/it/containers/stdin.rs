//! `-` is the standard input, whatever it holds.

use std::io::Write;
use std::process::Stdio;

use super::pack::{DEFLATED, tar, zip};
use super::{essence, incident, line, unpacked};
use crate::product::{Ran, binary, gzip};

fn piped(arguments: &[&str], bytes: &[u8]) -> Ran {
    let mut child = binary(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let bytes = bytes.to_vec();
    let writer = std::thread::spawn(move || drop(pipe.write_all(&bytes)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    Ran {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn an_archive_on_the_standard_input_gives_the_report_of_its_folder() {
    let files = incident("report-000");
    let folder = unpacked(&files);
    let expected = essence(&folder.report(), &format!("{}/", folder.path().display()));
    for bytes in [tar(&files), gzip(&tar(&files)), zip(&files, DEFLATED)] {
        let ran = piped(&["analyze", "-", "--format", "json"], &bytes);
        assert_eq!(essence(&ran.report(), "-!/"), expected);
    }
}

#[test]
fn a_log_on_the_standard_input_is_read_packed_or_not() {
    let text: String = (0..30).map(line).collect();
    for bytes in [text.clone().into_bytes(), gzip(text.as_bytes())] {
        let report = piped(&["analyze", "-", "--format", "json"], &bytes).report();
        assert_eq!(report.records.total, 30);
        let input = &report.inputs[0];
        assert_eq!(
            (input.path.as_str(), input.node.as_str()),
            ("-", "(unnamed)")
        );
        assert!(report.complete);
    }
}

#[test]
fn an_empty_or_an_endless_standard_input_is_said() {
    let ran = piped(&["analyze", "-"], b"");
    assert_eq!(ran.code, Some(3));
    assert!(ran.err.contains("nothing was recognised"), "{}", ran.err);
    let text: String = (0..3000).map(line).collect();
    let ran = piped(
        &["analyze", "-", "--format", "json", "--max-unpacked", "1000"],
        text.as_bytes(),
    );
    assert_eq!(ran.code, Some(3));
    let report = ran.report();
    assert!(!report.complete && report.records.total < 3000);
    assert!(ran.out.contains("--max-unpacked"), "{}", ran.out);
    let ran = piped(&["explain", "code-210-storm", "-:1"], b"");
    assert_eq!(ran.code, Some(2));
}
