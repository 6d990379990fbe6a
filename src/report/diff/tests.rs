//! Failing tests by name, and failures by what they have in common.
//!
//! A test that is in no list of failures passed only if its run was told to the end and lists all that failed.

use std::collections::BTreeMap;

use crate::report::figures::length;
use crate::report::model::Report;
use crate::report::model::tests::TestRun;
use crate::report::testing::{faults, ran_nothing, speakers};

use super::{Change, Direction, Kind, Measure, Pair, Place};

/// Whether a report has results of tests.
pub(super) fn has_any(report: &Report) -> bool {
    speakers(report).next().is_some()
}

/// Whether tests may fail in the new report that it does not list: a run broke off, lists too many, is not
/// there, or ran none.
pub(super) fn may_hide_failures(pair: &Pair<'_>) -> bool {
    let is_whole = |row: &TestRun| row.complete && row.leaves_left_out == 0;
    let is_gone = |has: fn(&Report) -> bool| has(pair.base) && !has(pair.new);
    !speakers(pair.new).all(is_whole) || is_gone(has_any) || is_gone(|report| !ran_nothing(report))
}

/// Something that fails: in runs of which name, how often, and what is known of it.
#[derive(Debug, Default)]
struct Failing {
    run: String,
    count: u64,
    title: String,
    of_run: bool,
}

/// Failing leaves by name.
pub(super) fn compare_tests(pair: &Pair<'_>) -> Vec<Change> {
    compared(pair, Kind::Test, |report| {
        let mut found: BTreeMap<String, Failing> = BTreeMap::new();
        for group in &report.tests.groups {
            for leaf in &group.leaves {
                let failing = found.entry(leaf.test.clone()).or_default();
                failing.run = name_of(report, &leaf.run);
                failing.count += 1;
                failing.title.clone_from(&group.signature);
            }
        }
        found
    })
}

/// Groups of failing leaves by signature, and what says of a run that it failed.
pub(super) fn compare_failures(pair: &Pair<'_>) -> Vec<Change> {
    compared(pair, Kind::Failure, |report| {
        let mut found: BTreeMap<String, Failing> = BTreeMap::new();
        for group in &report.tests.groups {
            let failing = found.entry(group.signature.clone()).or_default();
            let run = group.leaves.first().map_or("", |leaf| leaf.run.as_str());
            failing.run = name_of(report, run);
            failing.count += length(&group.leaves);
            failing.title.clone_from(&group.why);
        }
        for (row, fault) in faults(report) {
            let what = format!("{} says that it failed: {}", named(row), fault.says);
            let failing = found.entry(what).or_default();
            failing.run.clone_from(&row.name);
            failing.count += 1;
            failing.of_run = true;
        }
        found
    })
}

fn named(row: &TestRun) -> &str {
    if row.name.is_empty() {
        &row.form
    } else {
        &row.name
    }
}

fn name_of(report: &Report, run: &str) -> String {
    let row = speakers(report).find(|row| row.run == run);
    row.map_or_else(String::new, |row| row.name.clone())
}

fn compared(
    pair: &Pair<'_>,
    kind: Kind,
    failing: impl Fn(&Report) -> BTreeMap<String, Failing>,
) -> Vec<Change> {
    let (base, new) = (failing(pair.base), failing(pair.new));
    let mut names: Vec<&String> = base.keys().chain(new.keys()).collect();
    names.sort_unstable();
    names.dedup();
    let change = |name: &String| {
        let (before, after) = (base.get(name), new.get(name));
        let told = after.or(before)?;
        let measure = |one: Option<&Failing>, report: &Report| Measure {
            count: one
                .map(|one| one.count)
                .or_else(|| shows_all(report, &told.run).then_some(0)),
            per_hour: None,
            severity: None,
            healing: None,
        };
        let (left, right) = (measure(before, pair.base), measure(after, pair.new));
        Some(Change {
            kind,
            direction: match (left.count, right.count) {
                (None, _) | (_, None) => Direction::Unknown,
                (Some(0), Some(_)) => Direction::New,
                (Some(_), Some(0)) => Direction::Gone,
                (Some(a), Some(b)) if a < b => Direction::More,
                (Some(a), Some(b)) if a > b => Direction::Less,
                _ => Direction::Same,
            },
            what: name.clone(),
            node: None,
            severity: None,
            title: (!told.title.is_empty()).then(|| told.title.clone()),
            base: left,
            new: right,
            unhealed: false,
            of_run: told.of_run,
            place: Place::default(),
        })
    };
    names.into_iter().filter_map(change).collect()
}

/// Whether a report lists every test that failed in runs of a name, so that what it does not list did not fail.
fn shows_all(report: &Report, run: &str) -> bool {
    let mut runs = speakers(report).filter(|row| row.name == run).peekable();
    runs.peek().is_some() && runs.all(|row| row.complete && row.leaves_left_out == 0)
}
