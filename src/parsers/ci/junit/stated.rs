//! What the attributes of a report count, beside what its cases show.

use quick_xml::events::BytesStart;

use super::super::case::note;
use super::super::model::{Incomplete, Place, RemarkKind, TestRun};
use super::element::attribute;
use crate::vocab::several;

/// Counts that a suite states.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Stated {
    pub(super) tests: u64,
    pub(super) failures: u64,
    pub(super) errors: u64,
    pub(super) skipped: u64,
}

impl Stated {
    /// Failures and errors.
    pub(super) fn failed(&self) -> u64 {
        self.failures.saturating_add(self.errors)
    }
}

/// Adds what the attributes of an element count, if they do.
pub(super) fn sum(stated: &mut Option<Stated>, tag: &BytesStart<'_>) {
    let count = |name: &str| attribute(tag, name).and_then(|it| it.trim().parse::<u64>().ok());
    let failed = [count("failures"), count("errors")];
    if count("tests").is_none() && failed.iter().all(Option::is_none) {
        return;
    }
    let stated = stated.get_or_insert_with(Stated::default);
    let skipped = count("skipped").or_else(|| count("skips")).unwrap_or(0);
    let skipped = skipped.saturating_add(count("disabled").unwrap_or(0));
    for (to, one) in [
        (&mut stated.tests, count("tests").unwrap_or(0)),
        (&mut stated.failures, failed[0].unwrap_or(0)),
        (&mut stated.errors, failed[1].unwrap_or(0)),
        (&mut stated.skipped, skipped),
    ] {
        *to = to.saturating_add(one);
    }
}

/// What the elements of a report show.
#[derive(Debug, Default)]
pub(super) struct Shown {
    /// Tests, each once.
    pub(super) tests: u64,
    /// Elements of cases: a test that ran again may have several.
    pub(super) cases: u64,
    /// Elements that say that a test failed, tries that were repeated among them.
    pub(super) failures: u64,
    /// Whether its writer counts other things as tests than those that have a case of their own.
    pub(super) counts_apart: bool,
}

/// Whether a suite is of a writer whose `tests` are the assertions: `Catch2` names no host and says so, `doctest` its version.
pub(super) fn counts_assertions(tag: &BytesStart<'_>) -> bool {
    attribute(tag, "hostname").is_some_and(|host| host == "tbd")
        || attribute(tag, "doctest_version").is_some()
}

/// Says where a report counts other than it shows: of its outermost suites, and of the whole.
pub(super) fn compare(stated: [Option<Stated>; 2], shown: &Shown, run: &mut TestRun) {
    if let Some(it) = stated[0].filter(|it| it.tests != shown.tests) {
        let text = format!(
            "its attributes count {} ({}, {}, {} skipped): reruns and failures of teardown apart; each test counts once here",
            several(it.tests, "test", "tests"),
            several(it.failures, "failure", "failures"),
            several(it.errors, "error", "errors"),
            it.skipped
        );
        run.remark(RemarkKind::Reading, text, Place::default());
    }
    let stated = || stated.into_iter().flatten();
    // A writer may count its reruns among the failures, so those elements count as well.
    let most = stated().max_by_key(Stated::failed);
    if let Some(it) = most.filter(|it| it.failed() > shown.failures) {
        run.faults.push(format!(
            "its attributes count {} failures and {} errors, its cases show {}",
            it.failures, it.errors, shown.failures
        ));
    }
    // Each failure may be that of a further try or of a teardown, which some count as a test more.
    let tests = stated().map(|it| it.tests).max().unwrap_or(0);
    if run.is_complete()
        && !shown.counts_apart
        && tests > shown.cases.saturating_add(shown.failures)
    {
        note(run, Incomplete::Unlisted);
    }
}
