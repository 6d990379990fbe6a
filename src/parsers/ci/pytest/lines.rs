//! Lines of pytest's text output, each on its own.

/// What a line is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind<'a> {
    /// `=== title ===`.
    Banner(&'a str),
    /// `___ title ___`: what follows is about one test.
    Block(&'a str),
    /// `!!! why it stopped !!!`.
    Stop(&'a str),
    /// `--- Captured stdout call ---`.
    Captured,
    /// A test's outcome, in capitals, with its id: a line of progress or of the summary.
    Outcome(&'static str, &'a str, &'a str),
    /// A test begins: its id alone.
    Begins(&'a str),
    /// Outcomes as letters.
    Letters(&'a str),
    Other,
}

/// The words of outcomes, and the letters of progress.
const WORDS: &[(&str, char, &str)] = &[
    ("PASSED", '.', "passed"),
    ("FAILED", 'F', "failed"),
    ("ERROR", 'E', "error"),
    ("SKIPPED", 's', "skipped"),
    ("XFAIL", 'x', "xfailed"),
    ("XPASS", 'X', "xpassed"),
    ("RERUN", 'R', "rerun"),
];

/// The words of outcomes of subtests, which are told beside that of their test, and the letters of progress.
const OF_SUBTESTS: &[(&str, char, &str)] = &[
    ("SUBFAILED", 'u', SUBFAILED),
    ("SUBFAIL", 'u', SUBFAILED),
    ("SUBPASSED", ',', "subpassed"),
    ("SUBPASS", ',', "subpassed"),
    ("SUBSKIPPED", '-', "subskipped"),
    ("SUBSKIP", '-', "subskipped"),
];

/// The outcome of a test of which a subtest failed.
pub(crate) const SUBFAILED: &str = "subfailed";

/// The outcome that a letter of progress stands for.
pub(crate) fn outcome_of_letter(letter: char) -> Option<&'static str> {
    let mut known = WORDS.iter().chain(OF_SUBTESTS);
    known.find(|it| it.1 == letter).map(|it| it.2)
}

/// Tells what a line is.
pub(crate) fn kind(line: &str) -> Kind<'_> {
    let text = line.trim_end();
    match text.as_bytes().first() {
        Some(b'=') => framed(text, '=').map_or(Kind::Other, Kind::Banner),
        Some(b'_') => framed(text, '_').map_or(Kind::Other, Kind::Block),
        Some(b'!') => framed(text, '!').map_or(Kind::Other, Kind::Stop),
        Some(b'-') => match framed(text, '-') {
            Some(title) if title.starts_with("Captured ") => Kind::Captured,
            _ => Kind::Other,
        },
        Some(b'[') => parallel(text).unwrap_or(Kind::Other),
        Some(_) => progress(text).unwrap_or(Kind::Other),
        None => Kind::Other,
    }
}

/// The text between two rows of a sign.
fn framed(text: &str, sign: char) -> Option<&str> {
    let inner = text.trim_start_matches(sign).strip_prefix(' ')?;
    let title = inner.trim_end_matches(sign).strip_suffix(' ')?;
    let is_title = !title.is_empty() && !title.starts_with(sign) && inner.len() > title.len() + 1;
    is_title.then_some(title.trim())
}

/// `[gw1] [ 13%] FAILED tests/x.py::test_y`.
fn parallel(text: &str) -> Option<Kind<'_>> {
    let (_, rest) = text.strip_prefix("[gw")?.split_once("] ")?;
    let rest = match rest.strip_prefix('[') {
        Some(percent) => percent.split_once("] ")?.1,
        None => rest,
    };
    let (word, id) = rest.split_once(' ')?;
    Some(Kind::Outcome(outcome(word)?, id.trim(), ""))
}

fn outcome(word: &str) -> Option<&'static str> {
    WORDS.iter().find(|it| it.0 == word).map(|it| it.2)
}

/// A line of progress or of the summary.
fn progress(text: &str) -> Option<Kind<'_>> {
    let (first, rest) = text.split_once(' ').unwrap_or((text, ""));
    if let Some(word) = outcome(first) {
        // `FAILED id - message`; ids hold ` - ` only within the brackets of their parameters.
        let (id, message) = split_id(rest.trim_start());
        return (!id.is_empty()).then_some(Kind::Outcome(word, id, message));
    }
    if let Some(found) = of_subtest(text) {
        return Some(found);
    }
    if let Some(letters) = letters(text) {
        return Some(Kind::Letters(letters));
    }
    if !text.contains("::") {
        return None;
    }
    // `tests/x.py::test_y[a b] PASSED   [ 4%]`, with a reason after SKIPPED or XFAIL.
    let body = match text.rsplit_once(" [") {
        Some((body, percent)) if percent.ends_with("%]") => body.trim_end(),
        _ => text,
    };
    for (word, _, name) in WORDS.iter().chain(OF_SUBTESTS) {
        let at = body.rfind(&format!(" {word}"));
        if let Some(at) = at {
            let (id, after) = (&body[..at], &body[at + 1 + word.len()..]);
            let is_subtest = word.starts_with("SUB") && after.starts_with(['(', '[']);
            if is_id(id) && (after.is_empty() || after.starts_with(" (") || is_subtest) {
                return Some(Kind::Outcome(name, id.trim_end(), ""));
            }
        }
    }
    (is_id(body) && !body.contains(": ")).then_some(Kind::Begins(body))
}

/// `SUBFAILED[message](i=1, j=2) tests/x.py::test_y - assert 1 != 1`: what names the subtest may hold blanks.
fn of_subtest(text: &str) -> Option<Kind<'_>> {
    let (word, _, name) = OF_SUBTESTS.iter().find(|it| {
        let rest = text.strip_prefix(it.0);
        rest.is_some_and(|rest| rest.starts_with(['(', '[', ' ']))
    })?;
    let rest = &text[word.len()..];
    let mut ids = rest.match_indices(' ').map(|(at, _)| &rest[at + 1..]);
    let id = ids.find(|rest| is_id(rest.split(" - ").next().unwrap_or_default()))?;
    let (id, message) = split_id(id);
    Some(Kind::Outcome(name, id, message))
}

/// Whether a path is that of a file with tests.
fn is_source(path: &str) -> bool {
    std::path::Path::new(path)
        .extension()
        .is_some_and(|it| it == "py")
}

/// Whether a text has the shape of an id: a file, `::`, a name.
fn is_id(text: &str) -> bool {
    text.split_once("::").is_some_and(|(file, name)| {
        !file.is_empty() && !file.contains(' ') && is_source(file) && !name.is_empty()
    })
}

/// An id and the message behind ` - `, outside of brackets.
fn split_id(text: &str) -> (&str, &str) {
    let mut from = 0;
    while let Some(at) = text[from..].find(" - ") {
        let at = from + at;
        let before = &text[..at];
        let is_inside = before.contains('[') && !before.ends_with(']');
        let closes_later = text[at..].contains(']');
        if !(is_inside && closes_later) {
            return (before, &text[at + 3..]);
        }
        from = at + 3;
    }
    (text, "")
}

/// The letters of a line of progress: `tests/x.py .F.s  [ 50%]`, or letters alone.
fn letters(text: &str) -> Option<&str> {
    let (body, has_percent) = match text.rsplit_once('[') {
        Some((body, percent)) if percent.ends_with("%]") => (body.trim_end(), true),
        _ => (text, false),
    };
    let (file, letters) = match body.split_once(' ') {
        Some((file, letters)) if is_source(file) => (true, letters.trim()),
        Some(_) => return None,
        None => (false, body),
    };
    let fits = letters.chars().all(|it| outcome_of_letter(it).is_some());
    // A line of dots alone may be anything; one with other letters and no percentage is a word.
    (fits && !letters.is_empty() && (has_percent || file)).then_some(letters)
}

/// Counts of the last line: `9 failed, 2 passed, 1 warning in 1.22s`, and the seconds.
pub(crate) fn ending(text: &str) -> Option<(Vec<(String, u64)>, f64)> {
    let (counts, time) = text.trim().rsplit_once(" in ")?;
    let seconds = time.split_once('s').map(|(seconds, _)| seconds)?;
    let seconds: f64 = seconds.parse().ok().filter(|it: &f64| it.is_finite())?;
    if counts == "no tests ran" {
        return Some((Vec::new(), seconds));
    }
    let mut all = Vec::new();
    for part in counts.split(", ") {
        let (number, word) = part.split_once(' ')?;
        let known = [
            "passed",
            "failed",
            "error",
            "skipped",
            "xfailed",
            "xpassed",
            "deselected",
            "warning",
            "rerun",
            "subtests passed",
            "subtests failed",
        ];
        let word = if known.contains(&word) {
            word
        } else {
            word.strip_suffix('s')?
        };
        if !known.contains(&word) {
            return None;
        }
        all.push((word.to_owned(), number.parse().ok()?));
    }
    Some((all, seconds))
}

/// Whether a line is a last line without a frame, as `-q` prints it.
pub(super) fn is_unframed_end(text: &str) -> bool {
    text.starts_with(|it: char| it.is_ascii_digit() || it == 'n') && ending(text).is_some()
}

pub(super) fn is_usage_error(text: &str) -> bool {
    text.starts_with("ERROR: usage:") || text.starts_with("ERROR: file or directory not found")
}

/// Tests that a last line counts.
pub(super) fn sum(counts: &[(String, u64)]) -> u64 {
    let tests = ["passed", "failed", "error", "skipped", "xfailed", "xpassed"];
    let counts = counts.iter().filter(|it| tests.contains(&it.0.as_str()));
    counts.map(|it| it.1).sum()
}

/// `collected 5 items / 2 deselected / 3 selected`, and xdist's `2 workers [3 items]`: how many are to run.
pub(super) fn selected(text: &str) -> Option<u64> {
    let number = |text: &str| text.trim().split(' ').next()?.parse::<u64>().ok();
    if let Some(rest) = text.strip_prefix("collected ") {
        let selected = rest
            .split(" / ")
            .find(|it| it.trim_end().ends_with(" selected"));
        return number(selected.unwrap_or(rest));
    }
    let (workers, items) = text
        .split_once(" workers [")
        .or(text.split_once(" worker ["))?;
    let is_count = !workers.is_empty() && workers.bytes().all(|b| b.is_ascii_digit());
    number(items.split_once(" item")?.0).filter(|_| is_count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_what_it_is() {
        assert_eq!(kind("===== FAILURES ====="), Kind::Banner("FAILURES"));
        assert_eq!(
            kind("= 9 failed in 1.22s ="),
            Kind::Banner("9 failed in 1.22s")
        );
        assert_eq!(kind("____ test_a[x y] ____"), Kind::Block("test_a[x y]"));
        assert_eq!(kind("_ _ _ _ _ _"), Kind::Other);
        assert_eq!(kind("------ Captured stdout call ------"), Kind::Captured);
        assert_eq!(
            kind("!!! Interrupted: 1 error during collection !!!"),
            Kind::Stop("Interrupted: 1 error during collection")
        );
        assert_eq!(
            kind("[gw0] [ 17%] FAILED t/x.py::test_a[(a%2,b%2)-r] "),
            Kind::Outcome("failed", "t/x.py::test_a[(a%2,b%2)-r]", "")
        );
        assert_eq!(
            kind("t/x.py::T::test_a PASSED                  [  4%]"),
            Kind::Outcome("passed", "t/x.py::T::test_a", "")
        );
        assert_eq!(
            kind("t/x.py::test_a SKIPPED (needs two disks) [  4%]"),
            Kind::Outcome("skipped", "t/x.py::test_a", "")
        );
        assert_eq!(
            kind("t/x.py::test_a[a-b] "),
            Kind::Begins("t/x.py::test_a[a-b]")
        );
        assert_eq!(
            kind("FAILED t/x.py::test_a[a - b] - Assert..."),
            Kind::Outcome("failed", "t/x.py::test_a[a - b]", "Assert...")
        );
        assert_eq!(
            kind("SUBFAILED[a b](i=1, j=2) t/x.py::T::test_a - assert 1 != 1"),
            Kind::Outcome("subfailed", "t/x.py::T::test_a", "assert 1 != 1")
        );
        assert_eq!(
            kind("t/x.py::test_a SUBFAILED(i=1)      [ 50%]"),
            Kind::Outcome("subfailed", "t/x.py::test_a", "")
        );
        assert_eq!(kind("t/x.py uF..   [100%]"), Kind::Letters("uF.."));
        assert_eq!(kind("t/x.py .F.EsxXR    [100%]"), Kind::Letters(".F.EsxXR"));
        assert_eq!(kind(".F..   [ 50%]"), Kind::Letters(".F.."));
        assert_eq!(kind("..."), Kind::Other);
        assert_eq!(kind("Error at t/x.py::y: bad"), Kind::Other);
    }

    #[test]
    fn the_last_line_is_counts_and_seconds() {
        let (counts, seconds) =
            ending("9 failed, 2 passed, 3 errors, 1 warning, 2 rerun in 61.22s (0:01:01)").unwrap();
        assert_eq!(counts[2], ("error".to_owned(), 3));
        assert!((seconds - 61.22).abs() < 1e-9 && counts.len() == 5);
        assert_eq!(
            ending("no tests ran in 0.02s").map(|it| it.0.len()),
            Some(0)
        );
        assert_eq!(ending("2 apples in 3s"), None);
        assert_eq!(ending("test session starts"), None);
    }
}
