//! A test binary as `cargo test` shows it: its tests, what those that failed printed, and its sums.

use super::super::Line;
use super::super::case::Case;
use super::super::failure::Failure;
use super::super::model::{NAME_BYTES_MAX, Place, bounded};
use super::text::KEPT_MAX;

/// A test binary that runs.
#[derive(Debug)]
pub(super) struct Binary {
    pub(super) name: String,
    pub(super) expected: u64,
    /// Tests told by a line, by result.
    pub(super) told: Sums,
    pub(super) failed: Vec<Case>,
    /// What failing tests printed, by the name in its head.
    pub(super) sections: Vec<(String, String)>,
    /// Which of them is being read.
    pub(super) output: Option<usize>,
    /// The names in the last list below `failures:`, and whether it is being read.
    pub(super) listed: Vec<String>,
    pub(super) is_listing: bool,
    pub(super) cut: Option<(String, Place)>,
}

impl Binary {
    pub(super) fn new(name: String, expected: u64) -> Self {
        Self {
            name,
            expected,
            told: Sums::default(),
            failed: Vec::new(),
            sections: Vec::new(),
            output: None,
            listed: Vec::new(),
            is_listing: false,
            cut: None,
        }
    }

    pub(super) fn case(&self, name: &str, outcome: &'static str, line: Option<&Line<'_>>) -> Case {
        Case {
            name: bounded(name, NAME_BYTES_MAX),
            suites: vec![self.name.clone()],
            outcome: outcome.into(),
            ended: line.and_then(|line| line.printed),
            place: line.map_or_else(Place::default, |line| line.place),
            ..Case::default()
        }
    }

    /// Adds tests that failed by the list alone, as many as failed by the sums.
    pub(super) fn add_listed(&mut self, sums: Option<Sums>, place: Place) {
        let most = sums.map_or(
            self.expected
                .saturating_sub(self.told.passed + self.told.ignored),
            |sums| sums.failed,
        );
        // A log that is cut before the list still has what failing tests printed.
        if sums.is_none() && self.listed.is_empty() {
            self.listed = self.sections.iter().map(|it| it.0.clone()).collect();
        }
        for name in std::mem::take(&mut self.listed) {
            let is_known = self.failed.iter().any(|case| case.name == name);
            if is_known || self.told.failed >= most || self.failed.len() >= KEPT_MAX {
                continue;
            }
            let case = self.case(&name, "failed", None);
            self.failed.push(Case { place, ..case });
            self.told.failed += 1;
        }
    }

    /// The failing tests with what they printed.
    pub(super) fn take_failed(&mut self) -> Vec<Case> {
        let mut failed = std::mem::take(&mut self.failed);
        for case in &mut failed {
            let output = self.sections.iter().find(|it| it.0 == case.name);
            case.failure = Failure::read("", output.map_or("", |it| &it.1));
            case.id = format!("{} {}", self.name, case.name);
        }
        failed
    }
}

/// Tests by result, as a binary sums them up.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sums {
    pub(super) passed: u64,
    pub(super) failed: u64,
    pub(super) ignored: u64,
}

impl Sums {
    pub(super) fn all(self) -> u64 {
        self.passed + self.failed + self.ignored
    }

    /// Those that another one counts and this one does not.
    pub(super) fn missing_of(self, other: Self) -> Self {
        Self {
            passed: other.passed.saturating_sub(self.passed),
            failed: other.failed.saturating_sub(self.failed),
            ignored: other.ignored.saturating_sub(self.ignored),
        }
    }
}

/// How a binary ended.
#[derive(Debug, Clone, Copy)]
pub(super) enum End {
    /// With its sums.
    Summed(Sums),
    /// Cargo went on without them.
    Left,
    /// With the source.
    OfSource,
}
