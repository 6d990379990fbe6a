//! Every order of events in a small world, within stated bounds.
//!
//! The search uses the very function that simulated runs use, [`World::apply`](super::World::apply): a wait becomes a
//! choice instead of a time.

mod small;
mod words;

use std::io::{self, Write};
use std::time::Duration;

use serde::Serialize;
use stateright::{Checker, Expectation, HasDiscoveries, Model};

use small::Small;
pub use small::{ARRIVES, Bounds, IN_VAIN, IN_VAIN_AND_ARRIVES, STUCK};

use super::variant::Variant;

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
    /// The protocol.
    pub variant: String,
    /// Different states seen.
    pub states: usize,
    /// The longest way to one of them.
    pub depth: usize,
    /// How far the search went, in words.
    pub bounds: String,
    /// Whether all states within the bounds were seen.
    pub is_complete: bool,
    /// Promises and possibilities.
    pub findings: Vec<Finding>,
}

impl Checked {
    /// Prints it for machines.
    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, self)?;
        writeln!(out)
    }

    /// Whether no promise is broken.
    pub fn is_sound(&self) -> bool {
        self.findings
            .iter()
            .all(|it| !it.is_promise || it.trace.is_none())
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
        bounds: small.words(),
        is_complete: checker.state_count() < most,
        findings,
    }
}

/// The shortest way to an answer: a search with several questions keeps the last way that it finds, one with a single
/// question ends at the first.
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
