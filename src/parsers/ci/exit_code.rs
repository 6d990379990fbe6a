//! The exit code of the process that ran the tests, as a step keeps it: `exitcode.txt`, which holds the number alone.
//!
//! A number in a file says nothing by itself, so this is the one form that needs the file's name.

use std::io::{BufRead, Read};

use super::model::{Incomplete, Place, TestRun};
use super::{Form, Reading};

/// What such a file is called.
const NAME: &str = "exitcode.txt";

/// What systems have as exit codes: a byte, less than nought for a signal by Python, 32 bits on Windows.
const RANGE: std::ops::RangeInclusive<i64> = i32::MIN as i64..=u32::MAX as i64;

/// Bytes of a file that are looked at: three digits and an end of line, with room for blanks.
const BYTES_MAX: u64 = 64;

/// Whether a file is called as an exit code is kept.
pub(super) fn is_named(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    name.eq_ignore_ascii_case(NAME)
}

/// Whether a file that is called so may hold an exit code by its length. If it does not, that is told: nobody knows how the process ended.
pub(super) fn may_be(bytes: &[u8]) -> bool {
    bytes.len() as u64 <= BYTES_MAX
}

/// The exit code, if these bytes are one and nothing else.
pub(super) fn value(bytes: &[u8]) -> Option<i64> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let code: i64 = std::str::from_utf8(bytes.trim_ascii()).ok()?.parse().ok()?;
    RANGE.contains(&code).then_some(code)
}

pub(super) fn read(reader: &mut dyn BufRead) -> Reading {
    let mut bytes = Vec::new();
    let error = reader.take(BYTES_MAX).read_to_end(&mut bytes).err();
    let mut run = TestRun::new(Form::ExitCode);
    run.place = Place { line: 1, offset: 0 };
    run.exit_code = value(&bytes);
    if error.is_some() {
        run.incomplete.push(Incomplete::Torn);
    } else if run.exit_code.is_none() {
        run.incomplete.push(Incomplete::NoResult);
    }
    Reading {
        lines: 1,
        runs: vec![run],
        error: error.map(|error| error.to_string()),
        ..Reading::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_alone_is_an_exit_code() {
        for (text, code) in [
            ("0", Some(0)),
            ("1\n", Some(1)),
            ("139 \r\n", Some(139)),
            ("255", Some(255)),
            ("256", Some(256)),
            ("-9\n", Some(-9)),
            ("3221225477", Some(3_221_225_477)),
            ("\u{feff}1\r\n", Some(1)),
            (" 1", Some(1)),
            ("", None),
            ("4294967296", None),
            ("1\n2\n", None),
            ("exit code: 1", None),
        ] {
            assert_eq!(value(text.as_bytes()), code, "{text:?}");
        }
        let names = [
            "a/exitcode.txt",
            "exitcode.txt",
            "a/report-results.exit",
            "exitcode.txt/a",
        ];
        assert_eq!(names.map(is_named), [true, true, false, false]);
    }
}
