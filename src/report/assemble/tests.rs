//! What became of tests, for the report.

use std::collections::BTreeMap;

use super::Context;
use crate::outcome::{self, Group, JoinedRun};
use crate::parsers::ci::{self, Clock, Moment, RemarkKind, names::readable};
use crate::report::model::tests::{
    FailingLevel, KnownFail, Retries, RunningTest, TestAbove, TestCheck, TestClock,
    TestDisagreement, TestDuration, TestEvent, TestGroup, TestLeaf, TestRemark, TestRun,
    TestSaying, TestTie, Tests, Unstable,
};
use crate::time::Zone;

/// Parts listed of a tie.
const PARTS_MAX: usize = 20;

impl Context<'_> {
    pub(super) fn tests(&self) -> Tests {
        let tests = &self.analysis.tests;
        let runs = tests.runs.iter().flat_map(|run| {
            let rows = run.rows.iter().enumerate();
            rows.filter_map(|(at, row)| Some(row_of(run, at == 0, tests.rows.get(*row)?)))
        });
        let groups = tests.groups.iter().zip(1..);
        Tests {
            wanted: false,
            runs: runs.collect(),
            groups: groups
                .map(|(group, number)| self.group(group, number))
                .collect(),
            disagreements: tests.runs.iter().flat_map(disagreements).collect(),
            events: tests.events.iter().map(event).collect(),
            clocks: tests.clocks.iter().map(clock).collect(),
            primary: tests.primary.clone(),
        }
    }

    fn group(&self, group: &Group, number: u64) -> TestGroup {
        let tests = &self.analysis.tests;
        let leaves: Vec<TestLeaf> = group
            .leaves
            .iter()
            .filter_map(|at| leaf_of(tests, *at))
            .collect();
        let signature = &group.signature;
        let own = signature.own.as_ref();
        let tries = || leaves.iter().map(|leaf| leaf.failed_tries);
        let spans = group
            .leaves
            .iter()
            .filter_map(|at| tests.leaf(*at)?.tries_span);
        TestGroup {
            id: format!("G{number}"),
            signature: signature.words(),
            result: signature.outcome.clone(),
            exception: signature.exception.clone(),
            text: signature.text.clone(),
            file: own.map(|own| own.file.clone()),
            line: own.map_or(0, |own| own.line),
            function: own.map(|own| own.function.clone()),
            role: group.role.word().to_owned(),
            cause: group.cause.clone(),
            why: group.why.clone(),
            representative: leaves
                .first()
                .map_or_else(String::new, |leaf| leaf.test.clone()),
            by_feature: group.by_feature.clone(),
            by_area: group.by_area.clone(),
            failed_tries: (tries().min().unwrap_or(0), tries().max().unwrap_or(0)),
            tries_span_s: spans.reduce(f64::max),
            ties: group.ties.iter().map(|tie| self.tie(tie)).collect(),
            above: above_of(tests, group),
            leaves,
        }
    }

    fn tie(&self, tie: &outcome::Tie) -> TestTie {
        let parts = tie.by_part().into_iter().take(PARTS_MAX);
        TestTie {
            finding: tie.finding.clone(),
            how: tie.how.word().to_owned(),
            leaves: tie.leaves,
            parts: parts
                .map(|(part, count)| (part.to_owned(), count))
                .collect(),
            records: tie.records,
            code: tie.code,
            same_text: tie.is_same_text,
            timed: tie.is_timed,
            evidence: tie.evidence.as_ref().map(|one| self.evidence(one)),
        }
    }
}

fn row_of(run: &JoinedRun, speaks: bool, row: &outcome::Row) -> TestRun {
    let told = &row.run;
    let totals_are_stated = told.totals.is_empty() && !told.stated.is_empty();
    let totals = if totals_are_stated {
        &told.stated
    } else {
        &told.totals
    };
    TestRun {
        run: run.id.clone(),
        speaks,
        source: row.path.clone(),
        form: told.form.name().to_owned(),
        name: readable(&told.name),
        part: told.part.clone(),
        complete: told.is_complete(),
        incomplete: incomplete(told),
        result: told.result.clone(),
        exit_code: told.exit_code,
        duration_s: told.durations.first().map(|duration| duration.seconds),
        durations: told.durations.iter().map(duration).collect(),
        first: told.first.map(stamp),
        last: told.last.map(stamp),
        totals: totals
            .iter()
            .map(|total| (total.level.clone(), lower(&total.by)))
            .collect(),
        levels: totals.iter().map(|total| total.level.clone()).collect(),
        totals_are_stated,
        failing_tests: told.failing_tests(),
        failing_leaves: told.failing_leaves(),
        failing_by_level: by_level(told),
        known: told.known.iter().map(known).collect(),
        retries: Retries {
            tries: told.retries.tries,
            failed: told.retries.failed,
            step_tries: told.retries.of_steps.map(|of| of.0),
            step_failed: told.retries.of_steps.map(|of| of.1),
            passed_after: told.retries.passed_after,
        },
        filtered_out: told.filtered_out,
        unstable: told.unstable.iter().map(unstable).collect(),
        running: told.running.iter().map(running).collect(),
        attributes: told.attributes.clone(),
        checks: told.checks.iter().map(check).collect(),
        remarks: told.remarks.iter().map(remark).collect(),
        faults: if speaks {
            run.faults.iter().map(saying).collect()
        } else {
            Vec::new()
        },
        left_out: told.unlisted.iter().map(|it| it.tests).sum(),
        leaves_left_out: told.failing_leaves()
            - count(told.leaves.len()).min(told.failing_leaves()),
        known_left_out: told.known_unlisted,
    }
}

/// Results in lower case; words that differ in case alone are one.
fn lower(by: &BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for (word, count) in by {
        *counts.entry(word.to_lowercase()).or_default() += count;
    }
    counts
}

fn by_level(run: &ci::TestRun) -> Vec<FailingLevel> {
    let mut levels: BTreeMap<(usize, &str), (u64, u64)> = BTreeMap::new();
    let listed = run
        .failing
        .iter()
        .map(|test| (test.level.as_str(), 1, u64::from(test.is_leaf)));
    let unlisted = run
        .unlisted
        .iter()
        .map(|it| (it.level.as_str(), it.tests, it.leaves));
    for (level, tests, leaves) in listed.chain(unlisted) {
        let of_level = levels
            .entry((ci::Total::new(level).rank(), level))
            .or_default();
        of_level.0 += tests;
        of_level.1 += leaves;
    }
    let level = |((_, level), (tests, leaves)): ((usize, &str), (u64, u64))| FailingLevel {
        level: level.to_owned(),
        tests,
        leaves,
    };
    levels.into_iter().map(level).collect()
}

fn leaf_of(tests: &outcome::Tests, (row, at): (usize, usize)) -> Option<TestLeaf> {
    let leaf = tests.leaf((row, at))?;
    let run = tests.runs.iter().find(|run| run.rows.contains(&row))?;
    Some(TestLeaf {
        run: run.id.clone(),
        test: leaf.readable.clone(),
        stored: leaf.name.clone(),
        level: leaf.level.clone(),
        feature: readable(&leaf.feature),
        path: tests.rows.get(row)?.path.clone(),
        source_line: leaf.place.line,
        began: leaf.began.map(stamp),
        ended: leaf.ended.map(stamp),
        seconds: leaf.seconds,
        failed_tries: leaf.failed_tries,
        message: leaf.message.clone(),
        also: leaf.also.clone(),
    })
}

/// What stands above the first leaf that says nothing itself.
fn above_of(tests: &outcome::Tests, group: &Group) -> Option<TestAbove> {
    let mut leaves = group.leaves.iter();
    let (row, above) = leaves.find_map(|at| Some((at.0, tests.leaf(*at)?.above.as_ref()?)))?;
    Some(TestAbove {
        test: readable(&above.name),
        path: tests.rows.get(row)?.path.clone(),
        line: above.place.line,
        message: above.message.clone(),
    })
}

/// A moment; one of UTC with its offset.
fn stamp(at: Moment) -> String {
    let zone = match at.clock {
        Clock::Utc => Zone::from_name("UTC").unwrap_or_default(),
        Clock::Local => Zone::Unknown,
    };
    at.at.iso(zone)
}

fn saying((path, says): &(String, String)) -> TestSaying {
    TestSaying {
        path: path.clone(),
        says: says.clone(),
    }
}

fn disagreements(run: &JoinedRun) -> Vec<TestDisagreement> {
    let of = |one: &outcome::Disagreement| TestDisagreement {
        run: run.id.clone(),
        what: one.what.clone(),
        left: saying(&one.left),
        right: saying(&one.right),
    };
    run.disagreements.iter().map(of).collect()
}

fn event((path, event): &(String, ci::Event)) -> TestEvent {
    TestEvent {
        kind: event.kind.word().to_owned(),
        path: path.clone(),
        line: event.place.line,
        at: event.at.map(stamp),
        subject: event.subject.clone(),
        text: event.text.clone(),
    }
}

fn clock(clock: &outcome::NodeClock) -> TestClock {
    TestClock {
        run: clock.run.clone(),
        node: clock.node.clone(),
        how: clock.how.clone(),
    }
}

fn duration(duration: &ci::Duration) -> TestDuration {
    TestDuration {
        seconds: duration.seconds,
        rule: duration.rule.to_owned(),
    }
}

fn known(known: &ci::KnownFail) -> KnownFail {
    KnownFail {
        test: readable(&known.name),
        result: known.outcome.clone(),
        level: known.level.clone(),
        reason: known.reason.clone(),
        line: known.place.line,
    }
}

fn unstable(unstable: &ci::Unstable) -> Unstable {
    Unstable {
        test: readable(&unstable.name),
        passed: unstable.passed,
        failed: unstable.failed,
    }
}

fn running(running: &ci::Running) -> RunningTest {
    RunningTest {
        test: readable(&running.name),
        level: running.level.clone(),
        since: running.began.map(stamp),
        innermost: running.is_innermost,
        line: running.place.line,
    }
}

fn check(check: &ci::Check) -> TestCheck {
    TestCheck {
        name: check.name.clone(),
        result: check.outcome.clone(),
        detail: check.detail.clone(),
    }
}

/// Why a run is not told whole, in words.
fn incomplete(told: &ci::TestRun) -> Vec<String> {
    if told.incomplete.is_empty() && !told.is_complete() {
        return vec!["not all of it can be read".to_owned()];
    }
    let reasons = told.incomplete.iter();
    reasons.map(|why| why.words().to_owned()).collect()
}

fn remark(remark: &ci::Remark) -> TestRemark {
    let (kind, head) = match remark.kind {
        RemarkKind::Unreadable => ("unreadable", "not readable: "),
        RemarkKind::Inconsistent => ("inconsistent", "inconsistent: "),
        RemarkKind::LeavesOut => ("leaves-out", "leaves out: "),
        RemarkKind::Reading => ("reading", ""),
        RemarkKind::NotTrusted => ("not-trusted", "not to be trusted: "),
    };
    TestRemark {
        kind: kind.to_owned(),
        text: format!("{head}{}", remark.text),
        line: remark.place.line,
    }
}

fn count(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}
