//! The steps of a diagnosis, known issues and what was left out, in words that the outputs share.

use super::figures::{counted, names};
use super::model::{Applies, IgnoredRow, Known, Report};

/// Findings named for one step.
const NAMED_MAX: usize = 12;

/// A step that is answered: its id, its question, and the answer.
pub(super) struct Answered<'r> {
    pub(super) step: &'r str,
    pub(super) asks: &'r str,
    pub(super) answer: String,
}

/// The steps that anything answers, in order.
pub(super) fn answered(report: &Report) -> Vec<Answered<'_>> {
    let steps = report.diagnosis.iter().filter_map(|row| {
        let mut parts = Vec::new();
        if !row.findings.is_empty() {
            parts.push(names(&row.findings, NAMED_MAX));
        }
        parts.extend(row.known.iter().map(known));
        (!parts.is_empty()).then(|| Answered {
            step: &row.step,
            asks: &row.asks,
            answer: parts.join("; "),
        })
    });
    steps.collect()
}

/// The questions that no rule answered.
pub(super) fn unanswered(report: &Report) -> Vec<&str> {
    let steps = report.diagnosis.iter();
    let empty = steps.filter(|row| row.findings.is_empty() && row.known.is_empty());
    empty.map(|row| row.asks.as_str()).collect()
}

/// An issue, the version that mends it, and whether it applies here.
pub(super) fn known(one: &Known) -> String {
    let fixed = one.fixed_in.as_ref();
    let fixed = fixed.map_or_else(String::new, |it| format!(", fixed in {it}"));
    let applies = match one.applies {
        Applies::Yes => ", which a version here is older than",
        Applies::No => ", which all versions here have",
        Applies::Unknown => "",
    };
    format!("known as {}{fixed}{applies}", one.reference)
}

/// What an entry left out, and why.
pub(super) fn ignored(row: &IgnoredRow) -> String {
    let (one, many) = if row.rule.is_some() {
        ("finding", "findings")
    } else {
        ("record", "records")
    };
    let until = format!("by {} until {}: {}", row.id, row.expires, row.because);
    let expired = format!(
        "{} not left out {until} (it has expired by then, or there is no date)",
        counted(row.expired, one, many)
    );
    if row.count == 0 {
        return expired;
    }
    let left_out = format!("{} left out {until}", counted(row.count, one, many));
    if row.expired == 0 {
        left_out
    } else {
        format!("{left_out}; {expired}")
    }
}
