//! Elements of a report: what an attribute says, and what the elements under a case say of it.

use quick_xml::XmlVersion;
use quick_xml::events::BytesStart;

use super::super::model::{MESSAGE_BYTES_MAX, Moment, Place, bounded};

/// What an element under a case says of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Failure,
    Error,
    Skipped,
    /// A try that failed; the test passed later or not.
    Rerun,
}

fn verdict(name: &str) -> Option<Verdict> {
    Some(match name {
        "failure" => Verdict::Failure,
        "error" => Verdict::Error,
        "skipped" => Verdict::Skipped,
        "rerunFailure" | "rerunError" | "flakyFailure" | "flakyError" => Verdict::Rerun,
        _ => return None,
    })
}

/// What an open element is; one byte, since a document may hold as many of them as it likes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Element {
    Suites,
    Suite,
    Case,
    Verdict(Verdict),
    Other,
}

impl Element {
    pub(super) fn of(name: &str) -> Self {
        match name {
            "testsuites" => Self::Suites,
            "testsuite" => Self::Suite,
            "testcase" => Self::Case,
            other => verdict(other).map_or(Self::Other, Self::Verdict),
        }
    }
}

/// Errors of suites and of none of their cases that are kept.
const SUITE_ERRORS_MAX: usize = 20;

/// Errors of suites and of none of their cases: such a suite did not run as it should.
#[derive(Debug, Default)]
pub(super) struct SuiteErrors {
    /// The one that is being read: its message, and what stands in the element.
    open: Option<(String, String)>,
    /// What they say, each with its suite.
    pub(super) said: Vec<String>,
}

impl SuiteErrors {
    pub(super) fn begin(&mut self, tag: &BytesStart<'_>) {
        let message = attribute(tag, "message").or_else(|| attribute(tag, "type"));
        self.open = Some((message.unwrap_or_default(), String::new()));
    }

    /// Takes text, if it stands in such an element.
    pub(super) fn text(&mut self, text: &str) {
        if let Some((_, into)) = &mut self.open {
            let room = MESSAGE_BYTES_MAX.saturating_sub(into.len());
            into.push_str(&text[..text.floor_char_boundary(room)]);
        }
    }

    pub(super) fn end(&mut self, suite: Option<&String>) {
        let Some((message, text)) = self.open.take() else {
            return;
        };
        let mut lines = text.lines().map(str::trim);
        let said = match message.trim() {
            "" => lines.find(|line| !line.is_empty()).unwrap_or_default(),
            message => message,
        };
        let suite = suite.filter(|name| !name.is_empty());
        let what = suite.map_or_else(String::new, |name| format!(" {name}"));
        let colon = if said.is_empty() { "" } else { ": " };
        if self.said.len() < SUITE_ERRORS_MAX {
            let text = format!("an error of the suite{what}{colon}{said}");
            self.said.push(bounded(&text, MESSAGE_BYTES_MAX));
        }
    }
}

/// A case that is being read.
#[derive(Debug, Default)]
pub(super) struct Open {
    pub(super) name: String,
    pub(super) class: String,
    pub(super) file: String,
    pub(super) state: String,
    pub(super) seconds: Option<f64>,
    pub(super) began: Option<Moment>,
    pub(super) place: Place,
    pub(super) first: Option<(Verdict, String)>,
    pub(super) message: String,
    pub(super) text: String,
    /// Failures beyond the first: the message, and what stands in the element.
    pub(super) others: Vec<(String, String)>,
    pub(super) reruns: u64,
}

/// The outcome of a case.
pub(super) fn outcome(case: &Open) -> &'static str {
    match &case.first {
        Some((Verdict::Failure, kind)) if kind.starts_with("test timeout") => "timeout",
        Some((Verdict::Failure, kind)) if kind.starts_with("test abort") => "aborted",
        Some((Verdict::Failure, _)) => "failed",
        Some((Verdict::Error, _)) => "error",
        Some((Verdict::Skipped, kind)) if kind.contains("xfail") => "xfailed",
        Some(_) => "skipped",
        None => {
            let not_run = ["notrun", "disabled", "suppressed", "skipped", "ignored"];
            let says = |words: &[&str]| case.state.split(' ').any(|word| words.contains(&word));
            if says(&["fail", "failed", "failure"]) {
                "failed"
            } else if says(&["error", "errored"]) {
                "error"
            } else if says(&not_run) {
                "skipped"
            } else {
                "passed"
            }
        }
    }
}

/// The name that pytest takes, where the report has the file.
pub(super) fn node_id(case: &Open) -> Option<String> {
    let module = case.file.strip_suffix(".py")?.replace(['/', '\\'], ".");
    let classes = case
        .class
        .strip_prefix(&module)?
        .trim_start_matches('.')
        .replace('.', "::");
    let parts = [case.file.as_str(), classes.as_str(), case.name.as_str()];
    let parts: Vec<&str> = parts.into_iter().filter(|it| !it.is_empty()).collect();
    Some(parts.join("::"))
}

pub(super) fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let mut all = tag.attributes();
    let found = all
        .with_checks(false)
        .flatten()
        .find(|it| it.key.local_name().as_ref() == name)?;
    let value = found.normalized_value(XmlVersion::Implicit1_0);
    Some(value.map_or_else(|_| found.value.to_string(), std::borrow::Cow::into_owned))
}

/// Seconds, which some locales write with a comma between thousands.
pub(super) fn number(tag: &BytesStart<'_>, name: &str) -> Option<f64> {
    let text = attribute(tag, name)?.replace(',', "");
    text.trim()
        .parse()
        .ok()
        .filter(|it: &f64| it.is_finite() && *it >= 0.0)
}
