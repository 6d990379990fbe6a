//! What the text of a failure says: the class of the exception, the assertion, the message, the place in the tests' code.
//!
//! Reports of several tools carry the same texts: a traceback of Python stands in a log, in XML and in JSON. So they are read
//! here, by their shape, whatever brought them.

use super::model::{Frame, Leaf, MESSAGE_BYTES_MAX, bounded};

/// What was found in a text; what it does not say is empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) exception: Option<String>,
    pub(super) assertion: Option<String>,
    pub(super) message: String,
    pub(super) own: Option<Frame>,
    /// What further failures of the same test say.
    pub(super) also: Vec<String>,
}

impl Failure {
    /// Reads a failure from the message that the report gives apart and from its full text; either may be empty.
    pub(super) fn read(message: &str, text: &str) -> Self {
        let mut found = python(text)
            .or_else(|| native(text))
            .or_else(|| panic(text))
            .or_else(|| panic(message))
            .or_else(|| java(text))
            .or_else(|| google(text))
            .unwrap_or_default();
        let shown = [message, found.message.as_str(), text]
            .into_iter()
            .find(|it| !it.trim().is_empty())
            .unwrap_or_default();
        // The message that stands apart may say only that a process ended.
        let shown = if found.message.is_empty() || !says_little(message) {
            shown.to_owned()
        } else {
            found.message.clone()
        };
        let (class, rest) = exception(&shown);
        if let Some(class) = class {
            found.exception = Some(class.to_owned());
        }
        found.message = bounded(without_threads(rest.trim()).as_str(), MESSAGE_BYTES_MAX);
        found
    }

    /// Writes it into a leaf.
    pub(super) fn describe(self, leaf: &mut Leaf) {
        leaf.exception = self.exception;
        leaf.assertion = self.assertion;
        leaf.message = self.message;
        leaf.own = self.own;
        leaf.also = self.also;
    }

    /// Its class, message and place on one line.
    pub(super) fn words(&self) -> String {
        let class = self.exception.iter().map(|class| format!("{class}: "));
        let place = self
            .own
            .iter()
            .map(|own| format!(" at {}:{}", own.file, own.line));
        let message = self.message.lines().map(str::trim).collect::<Vec<_>>();
        let parts = class.chain([message.join(" ")]).chain(place);
        parts.collect::<String>()
    }
}

/// Whether a message says that something failed and not what.
fn says_little(message: &str) -> bool {
    let message = message.trim();
    message.is_empty()
        || google(message).is_some()
        || message == "collection failure"
        || message.starts_with("test failure with exit code")
        || (message.starts_with("thread '")
            && message.contains(" panicked at ")
            && !message.contains('\n'))
        || message.starts_with("failed on setup with")
        || message.starts_with("failed on teardown with")
}

/// The class of an exception in front of a message, and what follows it.
pub(super) fn exception(message: &str) -> (Option<&str>, &str) {
    let first = message.lines().next().unwrap_or_default();
    let (class, rest) = match message.split_once(": ") {
        Some((class, rest)) if class.len() < first.len() => (class, rest),
        _ if is_class(first) => (first, &message[first.len()..]),
        _ => return (None, message),
    };
    if is_class(class) {
        (Some(class), rest)
    } else {
        (None, message)
    }
}

/// `ValueError`, `java.lang.AssertionError`, `docker.errors.NotFound`, `Failed`: a path whose last name begins with a capital.
fn is_class(word: &str) -> bool {
    let last = word.rsplit(['.', ':', '$']).next().unwrap_or_default();
    let ends_like_one = [
        "Error",
        "Exception",
        "Failure",
        "Failed",
        "Exit",
        "Interrupt",
        "Warning",
        "Timeout",
        "Exceeded",
    ]
    .iter()
    .any(|end| last.ends_with(end));
    let is_path = word
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b':' | b'$'));
    is_path
        && last.starts_with(|c: char| c.is_ascii_uppercase())
        && (ends_like_one || word.contains('.'))
        && word.len() < 200
}

/// Takes out the numbers of threads in panics: `thread 'x' (13634) panicked`; they differ in every run.
pub(super) fn without_threads(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("thread '") {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let name_end = from[8..].find('\'').map_or(from.len(), |end| 8 + end + 1);
        let (name, after) = from.split_at(name_end);
        out.push_str(name);
        let number = after.strip_prefix(" (").and_then(|it| it.split_once(')'));
        rest = match number {
            Some((digits, after)) if digits.bytes().all(|b| b.is_ascii_digit()) => after,
            _ => after,
        };
    }
    out.push_str(rest);
    out
}

/// A traceback as Python itself prints it.
fn native(text: &str) -> Option<Failure> {
    text.contains("Traceback (most recent call last):")
        .then(|| {
            let read = super::python::explain(text);
            let class = read
                .exception
                .map_or_else(String::new, |class| format!("{class}: "));
            Failure {
                assertion: read.assertion,
                message: format!("{class}{}", read.message),
                own: read.own,
                ..Failure::default()
            }
        })
}

/// A traceback as pytest prints it: lines of the error begin with `E`, places are `file:line: class` or `file:line: in function`.
fn python(text: &str) -> Option<Failure> {
    let mut found = Failure::default();
    let mut errors: Vec<&str> = Vec::new();
    let mut function = "";
    let mut assertion: Option<&str> = None;
    let mut pending: Option<&str> = None;
    let mut is_settled = false;
    for line in text.lines() {
        if let Some(error) = error_line(line) {
            // A chain of exceptions ends with the one that reached the test.
            if std::mem::take(&mut is_settled) {
                errors.clear();
            }
            errors.push(error);
            assertion = pending.take().or(assertion);
            continue;
        }
        let inner = line.trim_start();
        if let Some(name) = inner
            .strip_prefix("def ")
            .or_else(|| inner.strip_prefix("async def "))
        {
            function = name.split('(').next().unwrap_or_default();
        } else if let Some(source) = line.strip_prefix("> ") {
            pending = Some(source.trim());
        } else if let Some((file, number, what)) = place(line) {
            let named = what.strip_prefix("in ");
            if !is_foreign(file) || found.own.is_none() {
                found.own = Some(Frame {
                    file: file.to_owned(),
                    line: number,
                    function: named.unwrap_or(function).to_owned(),
                });
            }
            function = "";
            pending = None;
            is_settled = !errors.is_empty();
        } else if found.own.is_some() && line.starts_with("    ") && errors.is_empty() {
            // With short tracebacks the source stands below its place.
            pending = Some(inner);
        }
    }
    if errors.is_empty() {
        return None;
    }
    found.assertion = assertion
        .filter(|source| source.starts_with("assert ") || source.starts_with("assert("))
        .map(str::to_owned);
    found.message = errors.join("\n");
    Some(found)
}

/// The text behind `E   ` at the start of a line, however deep it is indented.
fn error_line(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("E  ")?;
    Some(
        rest.strip_prefix("     ")
            .or_else(|| rest.strip_prefix(' '))
            .unwrap_or(rest)
            .trim_end(),
    )
}

/// `tests/test_x.py:25: what follows`.
pub(super) fn place(line: &str) -> Option<(&str, u64, &str)> {
    let (file, rest) = line.split_once(".py:")?;
    let (number, what) = rest.split_once(':')?;
    let file = &line[..file.len() + 3];
    let fits = !file.starts_with(char::is_whitespace) && file.len() < 1000;
    fits.then_some((file, number.parse().ok()?, what.trim()))
}

/// Whether a file belongs to the language or to a library.
fn is_foreign(file: &str) -> bool {
    file.contains("/site-packages/")
        || file.contains("/lib/python")
        || file.contains("/dist-packages/")
}

/// `thread 'name' (17) panicked at src/lib.rs:11:13:` and the message below it.
fn panic(text: &str) -> Option<Failure> {
    let at = text.find("panicked at ")?;
    let (line, below) = text[at + 12..]
        .split_once('\n')
        .unwrap_or((&text[at + 12..], ""));
    let line = line.trim_end().trim_end_matches(':');
    // Up to 1.72 the message stood in quotes in front of the place.
    let (quoted, line) = match line.strip_prefix('\'').and_then(|it| it.rsplit_once("', ")) {
        Some((message, place)) => (message, place),
        None => ("", line),
    };
    let mut parts = line.rsplitn(3, ':');
    let (_, number, file) = (parts.next()?, parts.next()?, parts.next()?);
    let shown: Vec<&str> = below
        .lines()
        .take_while(|line| !line.starts_with("note: ") && !line.starts_with("stack backtrace:"))
        .collect();
    let message = if quoted.is_empty() {
        shown.join("\n")
    } else {
        quoted.to_owned()
    };
    let first = message.lines().next().unwrap_or_default();
    Some(Failure {
        assertion: first.starts_with("assertion").then(|| first.to_owned()),
        message: message.trim().to_owned(),
        own: Some(Frame {
            file: file.to_owned(),
            line: number.parse().ok()?,
            function: String::new(),
        }),
        ..Failure::default()
    })
}

/// A stack trace of a Java machine: its first frame outside of the language and the test framework.
fn java(text: &str) -> Option<Failure> {
    let frames = text.lines().filter_map(|line| {
        let (function, rest) = line.trim().strip_prefix("at ")?.split_once('(')?;
        let (file, number) = rest.strip_suffix(')')?.split_once(':')?;
        Some((function, file, number.parse::<u64>().ok()?))
    });
    let frameworks = [
        "java.",
        "jdk.",
        "sun.",
        "org.junit.",
        "org.testng.",
        "org.opentest4j.",
        "org.assertj.",
        "org.hamcrest.",
        "kotlin.",
    ];
    let mut all = frames.peekable();
    let first = *all.peek()?;
    let own = all
        .find(|(function, ..)| !frameworks.iter().any(|it| function.starts_with(it)))
        .unwrap_or(first);
    let head: Vec<&str> = text
        .lines()
        .take_while(|line| !line.trim_start().starts_with("at "))
        .collect();
    Some(Failure {
        message: head.join("\n"),
        own: Some(Frame {
            file: own.1.to_owned(),
            line: own.2,
            function: own.0.to_owned(),
        }),
        ..Failure::default()
    })
}

/// `path/file.cc:42` in a line of its own, and the expectation below it.
fn google(text: &str) -> Option<Failure> {
    let (line, below) = text.trim_start().split_once('\n')?;
    let line = line.trim_end();
    let line = line.strip_suffix(": Failure").unwrap_or(line);
    if line == "unknown file" {
        // An exception that left the test.
        return Some(Failure {
            message: below.trim().to_owned(),
            ..Failure::default()
        });
    }
    let (file, number) = line.rsplit_once(':')?;
    let number: u64 = number.parse().ok()?;
    let fits = !file.is_empty() && !file.contains(char::is_whitespace);
    fits.then(|| Failure {
        message: below.trim().to_owned(),
        own: Some(Frame {
            file: file.to_owned(),
            line: number,
            function: String::new(),
        }),
        ..Failure::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_traceback_gives_class_assertion_message_and_place() {
        let text = "lost = 2\n\n    def check_replicas(lost):\n        a, b = rows()\n>       assert a == b, f\"lost {lost}\"\n\
            E       AssertionError: node3 lost 2 rows\nE       assert [1] == [2]\nE         \nE         - 1\n\ntests/test_x.py:25: AssertionError";
        let found = Failure::read("", text);
        assert_eq!(found.exception.as_deref(), Some("AssertionError"));
        assert_eq!(
            found.assertion.as_deref(),
            Some("assert a == b, f\"lost {lost}\"")
        );
        assert_eq!(
            found.message,
            "node3 lost 2 rows\nassert [1] == [2]\n\n  - 1"
        );
        let own = found.own.unwrap();
        assert_eq!(
            (own.file.as_str(), own.line, own.function.as_str()),
            ("tests/test_x.py", 25, "check_replicas")
        );
    }

    #[test]
    fn a_short_traceback_names_its_innermost_own_place() {
        let text = "tests/test_x.py:32: in test_copy\n    check()\ntests/test_x.py:25: in check\n    assert a == b\n\
            E   assert 1 == 2\n";
        let found = Failure::read("assert 1 == 2", text);
        let own = found.own.unwrap();
        assert_eq!((own.line, own.function.as_str()), (25, "check"));
        assert_eq!(found.assertion.as_deref(), Some("assert a == b"));
        assert_eq!(
            (found.exception, found.message.as_str()),
            (None, "assert 1 == 2")
        );
    }

    #[test]
    fn a_panic_gives_its_place_and_no_number_of_a_thread() {
        let text = "\nthread 'cluster::copies' (13634) panicked at src/lib.rs:11:13:\nassertion `left == right` failed\n  left: 1\n right: 2\nnote: run with `RUST_BACKTRACE=1`";
        let found = Failure::read(
            "thread 'cluster::copies' (13634) panicked at src/lib.rs:11:13",
            text,
        );
        assert_eq!(
            found.own.map(|own| (own.file, own.line)),
            Some(("src/lib.rs".to_owned(), 11))
        );
        assert_eq!(
            found.assertion.as_deref(),
            Some("assertion `left == right` failed")
        );
        assert_eq!(
            found.message,
            "assertion `left == right` failed\n  left: 1\n right: 2"
        );
        assert_eq!(
            without_threads("thread 'main' (7) panicked"),
            "thread 'main' panicked"
        );
    }

    #[test]
    fn a_java_trace_gives_the_first_frame_of_its_own() {
        let text = "java.lang.AssertionError: lost\n\tat org.junit.Assert.fail(Assert.java:89)\n\tat com.x.LedgerTest.copies(LedgerTest.java:42)\n";
        let found = Failure::read("lost", text);
        assert_eq!(
            found.own.map(|own| (own.file, own.line, own.function)),
            Some((
                "LedgerTest.java".to_owned(),
                42,
                "com.x.LedgerTest.copies".to_owned()
            ))
        );
    }

    #[test]
    fn a_message_without_a_class_stays_whole() {
        assert_eq!(
            exception("Code: 159. Timeout exceeded"),
            (None, "Code: 159. Timeout exceeded")
        );
        assert_eq!(
            exception("TimeoutError: Code: 159."),
            (Some("TimeoutError"), "Code: 159.")
        );
        assert_eq!(
            exception("Failed: Timeout (>1.0s)"),
            (Some("Failed"), "Timeout (>1.0s)")
        );
        assert_eq!(
            exception("java.lang.IllegalStateException"),
            (Some("java.lang.IllegalStateException"), "")
        );
        assert_eq!(exception(""), (None, ""));
    }

    #[test]
    fn an_expectation_of_google_test_gives_its_place() {
        let found = Failure::read(
            "",
            "src/tests/gtest_ledger.cpp:42\nExpected equality of these values:\n  a\n  b",
        );
        assert_eq!(
            found.own.map(|own| (own.file, own.line)),
            Some(("src/tests/gtest_ledger.cpp".to_owned(), 42))
        );
        assert!(found.message.starts_with("Expected equality"));
    }
}
