//! Every order of events among three controllers, within stated bounds, over the very functions that runs use.

mod small;
mod words;

use std::io::{self, Write};
use std::time::Duration;

use serde::Serialize;
use stateright::{Checker, Expectation, HasDiscoveries, Model};

pub use small::Bounds;
use small::Small;

use super::names::Violation;
use super::setup::Variant;

/// A search ends after this, finished or not.
const TIME_MAX: Duration = Duration::from_mins(10);

/// What a search found of one promise or one possibility.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What is asked.
    pub what: &'static str,
    /// Whether it must always hold; otherwise it is a possibility.
    pub is_promise: bool,
    /// The shortest way to a state that breaks the promise or shows the possibility, in words.
    pub trace: Option<Vec<String>>,
}

/// What a search found.
#[derive(Debug, Clone, Serialize)]
pub struct Checked {
    /// The defects that are there.
    pub variant: String,
    /// Different states seen.
    pub states: usize,
    /// The longest way to one of them.
    pub depth: usize,
    /// Whether all states within the bounds were seen.
    pub is_complete: bool,
    /// Promises and possibilities.
    pub findings: Vec<Finding>,
}

impl Checked {
    /// Whether no promise is broken.
    pub fn is_sound(&self) -> bool {
        self.findings
            .iter()
            .all(|it| !it.is_promise || it.trace.is_none())
    }

    /// Prints it for machines.
    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, self)?;
        writeln!(out)
    }

    /// Prints it for people.
    pub fn write_text(&self, bounds: Bounds, out: &mut dyn Write) -> io::Result<()> {
        writeln!(
            out,
            "{}: {} states, at most {} steps deep; 3 controllers with 3 entries, {} more written, {} killed, {} elections, {} turns of a primary, {} messages lost",
            self.variant,
            self.states,
            self.depth,
            bounds.writes,
            bounds.kills,
            bounds.elections,
            bounds.ticks,
            bounds.losses
        )?;
        if !self.is_complete {
            writeln!(out, "Not all states within these bounds were seen.")?;
        }
        for finding in &self.findings {
            let word = match (finding.is_promise, &finding.trace) {
                (true, None) => "none found within these bounds that breaks",
                (true, Some(_)) => "BROKEN",
                (false, None) => "never seen",
                (false, Some(_)) => "possible",
            };
            writeln!(out, "\n{word}: {}", finding.what)?;
            for (place, step) in finding.trace.iter().flatten().enumerate() {
                writeln!(out, "  {:>2}. {step}", place + 1)?;
            }
        }
        Ok(())
    }
}

/// Searches until all states within the bounds are seen, or more than `most`.
pub fn check(variant: Variant, bounds: Bounds, most: usize, threads: usize) -> Checked {
    let small = Small {
        variant,
        bounds,
        only: None,
    };
    let properties = small.properties();
    let checker = small
        .checker()
        .threads(threads)
        .target_state_count(most)
        .timeout(TIME_MAX)
        .spawn_bfs()
        .join();
    let mut findings = Vec::new();
    for property in properties {
        let is_found = checker.discovery(property.name).is_some();
        findings.push(Finding {
            what: property.name,
            is_promise: property.expectation == Expectation::Always,
            trace: is_found.then(|| shortest(small, property.name)),
        });
    }
    Checked {
        variant: variant.name(),
        states: checker.unique_state_count(),
        depth: checker.max_depth(),
        is_complete: checker.state_count() < most,
        findings,
    }
}

/// The shortest way to a broken promise, in words; empty if there is none within the bounds.
pub fn shortest_way(variant: Variant, bounds: Bounds, violation: Violation) -> Vec<String> {
    let small = Small {
        variant,
        bounds,
        only: None,
    };
    shortest(small, violation.promise())
}

/// The shortest way to an answer: a search with one question ends at the first.
fn shortest(small: Small, what: &'static str) -> Vec<String> {
    let small = Small {
        only: Some(what),
        ..small
    };
    let checker = small
        .checker()
        .timeout(TIME_MAX)
        .finish_when(HasDiscoveries::Any)
        .spawn_bfs()
        .join();
    let path = checker.discovery(what);
    path.map_or_else(Vec::new, |path| words::tell(path.into_vec()))
}
