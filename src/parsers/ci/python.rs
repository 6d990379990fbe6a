//! What a failure's text says: the exception that a Python traceback ends in, the assertion, the place in the tests' own code.
//!
//! Beside plain tracebacks it knows the explanation that `testflows.asserts` adds to an assertion: the source line that did
//! not hold, a description, the values, a difference of two of them, and where it stands.

use super::model::{Frame, MENTIONS_MAX, MESSAGE_BYTES_MAX, bounded};

/// What was read from the text of a failure.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Failure {
    /// The class of the exception.
    pub exception: Option<String>,
    /// The assertion that did not hold, on one line.
    pub assertion: Option<String>,
    /// The message, without the class before it.
    pub message: String,
    /// Where in the tests' own code: the last frame that is no library's.
    pub own: Option<Frame>,
    /// Rows of a difference, without the sign before them.
    pub rows: Vec<String>,
}

/// How much of a text is looked at: the end, where an exception stands.
const TEXT_BYTES_MAX: usize = 256 * 1024;

const TRACEBACK: &str = "Traceback (most recent call last):";

/// Reads the text of a failure.
pub fn explain(text: &str) -> Failure {
    let mut start = text.len().saturating_sub(TEXT_BYTES_MAX);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    let lines: Vec<&str> = text[start..].lines().collect();
    let mut failure = Failure::default();
    let body = match lines
        .iter()
        .rposition(|line| line.trim().ends_with(TRACEBACK))
    {
        Some(at) => traceback(&lines[at + 1..], &mut failure),
        None => untraced(&lines, &mut failure),
    };
    failure.assertion =
        block(&body, "The following assertion was not satisfied").map(|lines| lines.join(" "));
    if failure.assertion.is_some() {
        let said = block(&body, "Description").unwrap_or_default();
        failure.message = bounded(&said.join("\n"), MESSAGE_BYTES_MAX);
    }
    if let Some(place) = block(&body, "Where").and_then(|lines| place(lines.first()?)) {
        failure.own = Some(place);
    }
    failure.rows = rows(&body);
    failure
}

/// Reads frames and the exception below them; the lines from there on.
fn traceback<'t>(lines: &[&'t str], failure: &mut Failure) -> Vec<&'t str> {
    let is_frame = |line: &&str| line.trim_start().starts_with("File \"");
    let first = lines.iter().find(|line| is_frame(line));
    let base = first.map_or(0, |line| indent(line).saturating_sub(2));
    let ends = |line: &str| !line.trim().is_empty() && indent(line) <= base && !is_frame(&line);
    let end = lines
        .iter()
        .position(|line| ends(line))
        .unwrap_or(lines.len());
    let frames = lines[..end].iter().filter_map(|line| frame(line));
    failure.own = frames.rev().find(|frame| is_own(&frame.file));
    let body: Vec<&str> = lines[end..]
        .iter()
        .map(|line| line.get(base.min(indent(line))..).unwrap_or(line))
        .collect();
    if let Some((head, rest)) = body.split_first() {
        let (class, said) = classed(head);
        failure.exception = class;
        let mut message = said.to_owned();
        for line in rest {
            message.push('\n');
            message.push_str(line);
        }
        failure.message = bounded(message.trim_end(), MESSAGE_BYTES_MAX);
    }
    body
}

/// A text without a traceback: perhaps a class alone, or before the rest.
fn untraced<'t>(lines: &[&'t str], failure: &mut Failure) -> Vec<&'t str> {
    let body: Vec<&str> = lines.iter().map(|line| line.trim_end()).collect();
    if let Some((head, rest)) = body.split_first() {
        let (class, said) = classed(head.trim());
        let is_class = class.as_deref().is_some_and(is_exception_name);
        let mut message: Vec<&str> = Vec::new();
        if is_class {
            failure.exception = class;
            message.extend((!said.is_empty()).then_some(said));
        } else {
            message.push(head);
        }
        message.extend(rest);
        let text: Vec<&str> = message.iter().map(|line| line.trim()).collect();
        failure.message = bounded(text.join("\n").trim(), MESSAGE_BYTES_MAX);
    }
    body
}

fn is_exception_name(class: &str) -> bool {
    const ENDS: &[&str] = &[
        "Error",
        "Exception",
        "Timeout",
        "Failure",
        "Interrupt",
        "Exit",
        "Expired",
        "Failed",
    ];
    ENDS.iter().any(|end| class.ends_with(end))
}

/// The class that a line begins with, and what it says.
fn classed(line: &str) -> (Option<String>, &str) {
    let end = line
        .find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.')))
        .unwrap_or(line.len());
    let (class, rest) = line.split_at(end);
    let begins = class.starts_with(|c: char| c.is_alphabetic() || c == '_');
    match rest.strip_prefix(':') {
        Some(said) if begins => (Some(class.to_owned()), said.trim_start()),
        None if begins && rest.is_empty() => (Some(class.to_owned()), ""),
        _ => (None, line),
    }
}

/// The lines below a heading, trimmed, up to the next empty one.
fn block(lines: &[&str], heading: &str) -> Option<Vec<String>> {
    let at = lines.iter().position(|line| line.trim() == heading)?;
    let below = lines[at + 1..].iter().map(|line| line.trim());
    Some(
        below
            .take_while(|line| !line.is_empty())
            .map(str::to_owned)
            .collect(),
    )
}

/// `File '...', line N in 'function'`.
fn place(line: &str) -> Option<Frame> {
    let (file, rest) = line.trim().strip_prefix("File '")?.split_once("', line ")?;
    let (number, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    Some(Frame {
        file: file.to_owned(),
        line: number.parse().ok()?,
        function: rest.trim_start_matches("in ").trim_matches('\'').to_owned(),
    })
}

/// `File "...", line N, in function`.
fn frame(line: &str) -> Option<Frame> {
    let (file, rest) = line
        .trim()
        .strip_prefix("File \"")?
        .split_once("\", line ")?;
    let (number, function) = rest.split_once(", in ").unwrap_or((rest, ""));
    Some(Frame {
        file: file.to_owned(),
        line: number.trim().parse().ok()?,
        function: function.to_owned(),
    })
}

/// Whether a file is the tests' own, by where libraries are installed.
fn is_own(file: &str) -> bool {
    const LIBRARIES: &[&str] = &[
        "site-packages",
        "dist-packages",
        "/lib/python",
        "<frozen ",
        "/testflows/",
    ];
    !LIBRARIES.iter().any(|library| file.contains(library))
}

/// The rows of every difference: lines after `@@ ... @@` that begin with a sign at its column.
fn rows(lines: &[&str]) -> Vec<String> {
    let mut rows = Vec::new();
    let mut column = None;
    for line in lines {
        if line.trim_start().starts_with("@@ ") && line.trim_end().ends_with(" @@") {
            column = Some(indent(line));
            continue;
        }
        let Some(at) = column else { continue };
        match line.get(at..) {
            Some(row) if indent(line) == at && row.starts_with(['-', '+']) => {
                super::Mentions::note(&mut rows, &row[1..]);
            }
            _ => column = None,
        }
        if rows.len() >= MENTIONS_MAX {
            break;
        }
    }
    rows
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_explained_assertion_gives_its_line_its_place_and_the_rows_that_differ() {
        let text = "AssertionError\nTraceback (most recent call last):\n  File \"/usr/lib/python3.11/threading.py\", line 995, in run\n    \
                    self._target()\n  File \"/w/ledger/check.py\", line 93, in same_rows\n    assert a == b, error()\n           \
                    ^^^^^^\nAssertionError: Oops! Assertion failed\n\nThe following assertion was not satisfied\n  assert (\n      a == b\n  \
                    ), error()\n\nDescription\n  rows differ\n\nAssertion values\n  assert a == b\n         ^ is = False\n    \
                    @@ -3 +2,0 @@\n    -13\t18\t1004\n  assert a == b\n\nWhere\n  File '/w/ledger/check.py', line 94 in 'same_rows'\n\n85|  x\n";
        let failure = explain(text);
        assert_eq!(failure.exception.as_deref(), Some("AssertionError"));
        assert_eq!(
            failure.assertion.as_deref(),
            Some("assert ( a == b ), error()")
        );
        assert_eq!(failure.message, "rows differ");
        assert_eq!(failure.rows, ["13\t18\t1004"]);
        let own = failure.own.unwrap();
        assert_eq!(
            (own.file.as_str(), own.line, own.function.as_str()),
            ("/w/ledger/check.py", 94, "same_rows")
        );
    }

    #[test]
    fn a_plain_traceback_gives_the_last_frame_that_is_no_library() {
        let text = "Traceback (most recent call last):\n  File \"/w/a.py\", line 7, in test\n    run()\n  File \
                    \"/usr/lib/python3/dist-packages/x.py\", line 9, in run\n    raise T('no')\nx.TimeoutError: no: answer\nmore";
        let failure = explain(text);
        assert_eq!(failure.exception.as_deref(), Some("x.TimeoutError"));
        assert_eq!(failure.message, "no: answer\nmore");
        assert_eq!(failure.own.map(|own| own.line), Some(7));
    }

    #[test]
    fn a_text_that_is_no_traceback_is_the_message() {
        let said = explain("iteration 1 fails");
        assert_eq!(
            (said.exception, said.message.as_str()),
            (None, "iteration 1 fails")
        );
        let alone = explain("AssertionError");
        assert_eq!(
            (alone.exception.as_deref(), alone.message.as_str()),
            (Some("AssertionError"), "")
        );
        let with_code = explain("ClickHouseError\n    Code: 499. DB::Exception: Timeout");
        assert_eq!(with_code.exception.as_deref(), Some("ClickHouseError"));
        assert_eq!(with_code.message, "Code: 499. DB::Exception: Timeout");
    }
}
