//! What says that a run failed although no failing test is listed that would explain it.
//!
//! A run without a failing test is not a run that passed: a server may have died under it, its process may have been killed, and
//! a report may count failures that it does not list. Each of these is said with the source that says it.

use crate::parsers::ci::{Check, Class, Form, TestRun, Total};

use super::Row;

/// A source, and what it says that failed.
pub type Fault = (String, String);

/// What the rows of a run say that failed beside its listed tests. The first row speaks for the run.
pub(super) fn faults<'r>(rows: impl Iterator<Item = &'r Row>) -> Vec<Fault> {
    let rows: Vec<&Row> = rows.collect();
    let listed = rows.first().map_or(0, |row| row.run.failing_leaves());
    let mut found: Vec<Fault> = Vec::new();
    for row in &rows {
        let mut say = |text: String| {
            if found.iter().all(|(_, known)| *known != text) {
                found.push((row.path.clone(), text));
            }
        };
        row.run.faults.iter().cloned().for_each(&mut say);
        // A list of earlier runs says nothing of this one.
        if row.run.form == Form::RunHistory {
            continue;
        }
        let checks = failed_checks(&row.run);
        if listed == 0 {
            of_the_whole(&row.run, !checks.is_empty())
                .into_iter()
                .for_each(&mut say);
        }
        // No test explains that a check failed.
        checks.into_iter().for_each(say);
    }
    found
}

/// The checks of a source that failed: what more they say may differ from run to run.
fn failed_checks(run: &TestRun) -> Vec<String> {
    let checks = run.checks.iter().filter(|check| fails(&check.outcome));
    let words = |check: &Check| format!("{}: {}", check.name, check.outcome);
    checks.take(CHECKS_MAX).map(words).collect()
}

/// What a source says of the whole that a listed test would explain, if there were one. `is_said`: whether a check that failed
/// says it as well.
fn of_the_whole(run: &TestRun, is_said: bool) -> Vec<String> {
    let mut said = Vec::new();
    match run.failing_leaves() {
        0 => {}
        1 => said.push("1 failing test, which the source that tells most does not have".to_owned()),
        many => said.push(format!(
            "{many} failing tests, which the source that tells most does not have"
        )),
    }
    if let Some(code) = run.exit_code.filter(|code| *code != 0) {
        said.push(exit(run.form, code));
    }
    // What is counted one by one is listed where it is a test that failed.
    let sums = run.stated.iter().filter(|total| total.is_of_tests());
    let failing = sums.map(failed).filter(|(_, count)| *count > 0);
    if let Some((level, count)) = failing.max_by_key(|it| it.1) {
        said.push(format!(
            "its sums count {count} failing at the level {level}"
        ));
    }
    // The word alone, where nothing says more.
    if let Some(result) = run.result.as_deref().filter(|it| fails(it))
        && said.is_empty()
        && !is_said
        && run.faults.is_empty()
    {
        said.push(format!("the result of the whole is {result}"));
    }
    said
}

/// Failing checks named of a source.
const CHECKS_MAX: usize = 20;

fn fails(word: &str) -> bool {
    matches!(Class::of(word), Class::Failed | Class::Errored)
}

/// A level, and how many of it failed.
fn failed(total: &Total) -> (&str, u64) {
    let failing = total
        .by
        .iter()
        .filter(|(word, _)| Class::of(word).is_failing());
    (&total.level, failing.map(|(_, count)| count).sum())
}

/// An exit code in words: above 128 stands the signal that ended the process.
fn exit(form: Form, code: i64) -> String {
    let is_pytest = matches!(form, Form::PytestText | Form::PytestLog);
    match code {
        2 if is_pytest => "exit code 2: pytest was interrupted".to_owned(),
        3 if is_pytest => "exit code 3: an error of pytest itself".to_owned(),
        4 if is_pytest => "exit code 4: pytest was called wrongly".to_owned(),
        5 if is_pytest => "exit code 5: no test ran".to_owned(),
        129..=192 => format!("exit code {code}: ended by signal {}", code - 128),
        _ => format!("exit code {code}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parsers::ci::Place;

    fn said(change: impl Fn(&mut TestRun)) -> Vec<String> {
        let mut run = TestRun::new(Form::Praktika);
        change(&mut run);
        let row = Row {
            artifact: 0,
            path: "a".to_owned(),
            place: String::new(),
            run,
        };
        faults([&row].into_iter())
            .into_iter()
            .map(|(_, text)| text)
            .collect()
    }

    #[test]
    fn a_run_without_a_failing_test_fails_by_result_code_sums_and_checks() {
        assert_eq!(said(|run| run.count("test", "OK")), Vec::<String>::new());
        assert_eq!(
            said(|run| run.result = Some("failure".to_owned())),
            ["the result of the whole is failure"]
        );
        assert_eq!(
            said(|run| run.exit_code = Some(139)),
            ["exit code 139: ended by signal 11"]
        );
        assert_eq!(said(|run| run.exit_code = Some(0)), Vec::<String>::new());
        assert_eq!(
            said(|run| {
                run.state("feature", "failed", 1);
                run.state("scenario", "failed", 19);
                run.state("step", "failed", 40);
            }),
            ["its sums count 19 failing at the level scenario"]
        );
        assert_eq!(
            said(|run| {
                run.state("scenario", "ok", 1);
                for level in ["retry", "step", "paragraph"] {
                    run.state(level, "failed", 2);
                }
                run.count("retry", "Fail");
            }),
            Vec::<String>::new(),
            "tries and steps fail in tests that pass"
        );
        assert_eq!(
            said(|run| run.result = Some("cancelled".to_owned())),
            Vec::<String>::new()
        );
    }

    #[test]
    fn a_listed_test_does_not_explain_that_a_check_failed() {
        let said = said(|run| {
            run.result = Some("failure".to_owned());
            run.count_unlisted("test", 1, 1);
            for (name, outcome) in [("Check errors", "failure"), ("fsck", "OK")] {
                run.checks.push(Check {
                    name: name.to_owned(),
                    outcome: outcome.to_owned(),
                    detail: "Server died".to_owned(),
                    place: Place::default(),
                });
            }
        });
        assert_eq!(said, ["Check errors: failure"]);
    }

    #[test]
    fn a_listed_test_explains_what_the_whole_says() {
        let said = said(|run| {
            run.result = Some("failure".to_owned());
            run.exit_code = Some(1);
            run.count_unlisted("test", 1, 1);
            run.faults
                .push("3 failures are counted, 1 is listed".to_owned());
        });
        assert_eq!(said, ["3 failures are counted, 1 is listed"]);
    }
}
