//! Elements of a report: what an attribute says, and what the elements under a case say of it.

use quick_xml::XmlVersion;
use quick_xml::events::BytesStart;

use super::super::model::{Moment, Place};

/// What an element under a case says of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Failure,
    Error,
    Skipped,
    /// A try that failed; the test passed later or not.
    Rerun,
}

pub(super) fn verdict(name: &str) -> Option<Verdict> {
    Some(match name {
        "failure" => Verdict::Failure,
        "error" => Verdict::Error,
        "skipped" => Verdict::Skipped,
        "rerunFailure" | "rerunError" | "flakyFailure" | "flakyError" => Verdict::Rerun,
        _ => return None,
    })
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
            let is_out = case.state.split(' ').any(|word| not_run.contains(&word));
            if is_out { "skipped" } else { "passed" }
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
