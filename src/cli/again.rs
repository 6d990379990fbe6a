//! Findings run again: in a report, or from a kept one.

use std::fs::File;
use std::io::{BufReader, Write};

use super::replay::Format;
use super::{Failure, Outcome};
use crate::replay::{Verdict, replay, write};
use crate::report::json;
use crate::report::model::Report;

/// Adds what comes of running a report's findings again.
pub(super) fn add(report: &mut Report) {
    for one in replay(report) {
        report.replays.push(one.value());
    }
}

/// `casdiag replay REPORT.json`.
pub(super) fn run(path: &str, format: Format, out: &mut dyn Write) -> Result<Outcome, Failure> {
    let named = |error: &dyn std::fmt::Display| format!("{path}: {error}");
    let source = File::open(path).map_err(|error| named(&error))?;
    let report = json::read(BufReader::new(source)).map_err(|error| named(&error))?;
    let replayed = replay(&report);
    if replayed.is_empty() {
        return Err(named(&"no finding in it can be run again").into());
    }
    match format {
        Format::Text => write(&replayed, out)?,
        Format::Json => json::write_inert(&replayed, out)?,
    }
    let is_whole = replayed.iter().all(|it| it.verdict == Verdict::Reproduced);
    Ok(if is_whole {
        Outcome::Clean
    } else {
        Outcome::Partial
    })
}
