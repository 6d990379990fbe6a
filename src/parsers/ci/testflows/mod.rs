//! `TestFlows`: the messages of a run, the reports made of them, and what the framework's words and bits mean.
//!
//! Facts are of testflows.core 2.0.250110: bits of flags, the order in which a test's level is decided, and which failures
//! its own reports list.

mod above;
mod message;
pub mod page;
pub mod raw;
mod shapes;
mod tests_open;
pub mod text;

/// Bits of `test_flags` and `test_cflags` (the latter with what a test inherits); they need 64 bits.
pub(super) mod flags {
    /// Not chosen to run, where the result is `Skip`.
    pub(crate) const SKIP: u64 = 1 << 2;
    /// A try that is repeated until it passes, or below one.
    pub(crate) const RETRY: u64 = 1 << 42;
    /// In a try within a try: its failures are summed up as `Retried`.
    pub(crate) const NESTED_RETRY: u64 = 1 << 43;
}

/// The level that a test is counted at, by its type and subtype: the first that fits.
pub(super) fn level(kind: &str, subtype: Option<&str>) -> &'static str {
    let subtype = subtype.unwrap_or_default();
    match subtype {
        "Example" => return "example",
        "Outline" => return "outline",
        "Iteration" => return "iteration",
        "RetryIteration" => return "retry",
        "Combination" => return "combination",
        "Sketch" => return "sketch",
        _ => {}
    }
    match (kind, subtype) {
        ("Module", "Book") => "book",
        ("Module", _) => "module",
        ("Suite", "Feature") => "feature",
        ("Suite", "Chapter") => "chapter",
        ("Suite", _) => "suite",
        ("Step", "Paragraph") => "paragraph",
        ("Step", _) => "step",
        ("Outline", _) => "outline",
        ("Iteration", _) => "iteration",
        ("RetryIteration", _) => "retry",
        (_, "Scenario") => "scenario",
        (_, "Check") => "check",
        (_, "Critical") => "critical",
        (_, "Major") => "major",
        (_, "Minor") => "minor",
        (_, "Recipe") => "recipe",
        (_, "Document") => "document",
        (_, "Page") => "page",
        (_, "Section") => "section",
        _ => "test",
    }
}

/// Whether a type is a test or holds tests: steps and what old logs call iterations are below.
pub(super) fn is_test_or_above(kind: &str) -> bool {
    matches!(kind, "Test" | "Suite" | "Module")
}

/// The result that a plural word of a line of totals stands for, as results are stored.
pub(super) fn result_of_word(word: &str) -> Option<&'static str> {
    Some(match word {
        "ok" => "OK",
        "failed" => "Fail",
        "errored" => "Error",
        "skipped" => "Skip",
        "null" => "Null",
        "xok" => "XOK",
        "xfail" => "XFail",
        "xerror" => "XError",
        "xnull" => "XNull",
        "retried" => "Retried",
        _ => return None,
    })
}

/// The level that a word of a line of totals stands for.
pub(super) fn level_of_word(word: &str) -> Option<&'static str> {
    const LEVELS: &[(&str, &str)] = &[
        ("book", "books"),
        ("module", "modules"),
        ("chapter", "chapters"),
        ("suite", "suites"),
        ("feature", "features"),
        ("scenario", "scenarios"),
        ("test", "tests"),
        ("check", "checks"),
        ("critical", "criticals"),
        ("major", "majors"),
        ("minor", "minors"),
        ("recipe", "recipes"),
        ("document", "documents"),
        ("page", "pages"),
        ("section", "sections"),
        ("sketch", "sketches"),
        ("combination", "combinations"),
        ("outline", "outlines"),
        ("example", "examples"),
        ("iteration", "iterations"),
        ("retry", "retries"),
        ("paragraph", "paragraphs"),
        ("step", "steps"),
    ];
    let known = LEVELS
        .iter()
        .find(|(one, many)| *one == word || *many == word);
    known.map(|(one, _)| *one)
}

/// Level, units, and counts by result.
pub(super) type Totals = (&'static str, u64, Vec<(&'static str, u64)>);

/// A line of totals, such as `46 scenarios (20 ok, 19 failed)`: level, units, and counts by result.
pub(super) fn totals_line(line: &str) -> Option<Totals> {
    let (units, rest) = line.trim().split_once(' ')?;
    let units = units.parse().ok()?;
    let (word, counts) = rest.split_once(" (")?;
    let level = level_of_word(word)?;
    let mut by = Vec::new();
    for count in counts.strip_suffix(')')?.split(", ") {
        let (number, word) = count.split_once(' ')?;
        by.push((result_of_word(word)?, number.parse().ok()?));
    }
    Some((level, units, by))
}

/// Seconds of a time that is cut to two units: `1h 53m`, `21s 33ms`, `2d 3h`.
pub(super) fn seconds(text: &str) -> Option<f64> {
    let mut total = 0.0;
    for part in text.split_whitespace() {
        let digits = part.find(|c: char| !c.is_ascii_digit())?;
        let number: u32 = part[..digits].parse().ok()?;
        let unit = match &part[digits..] {
            "d" => 86_400.0,
            "h" => 3_600.0,
            "m" => 60.0,
            "s" => 1.0,
            "ms" => 0.001,
            "us" => 0.000_001,
            _ => return None,
        };
        total += f64::from(number) * unit;
    }
    (!text.trim().is_empty()).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_totals_has_a_level_and_results() {
        let (level, units, by) = totals_line("46 scenarios (20 ok, 19 failed, 1 xerror)").unwrap();
        assert_eq!((level, units), ("scenario", 46));
        assert_eq!(by, [("OK", 20), ("Fail", 19), ("XError", 1)]);
        assert_eq!(totals_line("1 retry (1 ok)").map(|it| it.0), Some("retry"));
        assert_eq!(totals_line("0 requirements ()"), None);
        assert_eq!(totals_line("2 scenarios (two ok)"), None);
    }

    #[test]
    fn a_cut_time_is_read_in_its_units() {
        assert_eq!(seconds("1h 53m"), Some(6780.0));
        assert_eq!(seconds("4s 216ms"), Some(4.216));
        assert_eq!(seconds("539ms"), Some(0.539));
        assert_eq!((seconds(""), seconds("5 m")), (None, None));
    }

    #[test]
    fn a_subtype_decides_before_a_type() {
        assert_eq!(level("Step", Some("RetryIteration")), "retry");
        assert_eq!(level("Test", Some("Example")), "example");
        assert_eq!(level("Suite", None), "suite");
        assert_eq!(level("Step", Some("Given")), "step");
        assert_eq!(level("Test", None), "test");
    }
}
