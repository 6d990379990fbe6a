//! What a session of pytest printed, put together: listed tests with their tracebacks, and counts.

use std::collections::{BTreeMap, BTreeSet};

use super::super::Form;
use super::super::case::{Case, Cases, note};
use super::super::failure::Failure;
use super::super::model::{Duration, Incomplete, Place, RemarkKind, Running, TestRun};
use super::dotted;
use super::lines::{SUBFAILED, sum};
use super::text::{Phase, Session, Told};
use crate::vocab::several;

impl Session {
    /// The exit code that the last lines imply.
    fn implied_code(&self) -> Option<i64> {
        let (counts, _) = self.stated.as_ref()?;
        let has = |word: &str| counts.iter().any(|(it, count)| it == word && *count > 0);
        let ran = ["passed", "skipped", "xfailed", "xpassed"];
        let stopped = self.stop.as_deref().unwrap_or_default();
        Some(if self.internal_error {
            3
        } else if self.usage_error {
            4
        } else if stopped.contains("Interrupted") || stopped.contains("KeyboardInterrupt") {
            2
        } else if has("failed") || has("error") {
            1
        } else if self.gate.is_some() {
            return None;
        } else if ran.iter().any(|word| has(word)) {
            0
        } else {
            5
        })
    }

    pub(super) fn finish(mut self) -> TestRun {
        self.close_block();
        let mut run = TestRun::new(Form::PytestText);
        "pytest".clone_into(&mut run.name);
        run.place = self.place;
        run.implied_code = self.implied_code();
        // A plugin may end a session that passed with a code of its own, so that nought is implied and not told.
        run.exit_code = run.implied_code.filter(|code| *code != 0);
        for moment in [self.first, self.last].into_iter().flatten() {
            run.note_moment(moment);
        }
        if let Some((counts, seconds)) = &self.stated {
            run.durations.push(Duration {
                seconds: *seconds,
                rule: "the last line of pytest",
            });
            for (word, count) in counts {
                match word.as_str() {
                    "deselected" => run.filtered_out = *count,
                    "warning" | "rerun" | "subtests passed" | "subtests failed"
                    | "subtests skipped" => {}
                    word => run.state("test", word, *count),
                }
            }
            // Without the end of the progress a line that a test printed may stand in the last one's place.
            let told = sum(counts);
            if let Some(collected) = self.collected
                && !self.is_through
                && self.stop.is_none()
                && told < collected
            {
                note(&mut run, Incomplete::NoEnd);
                let tests = several(collected, "test was", "tests were");
                let text = format!("{tests} to run, and the last line counts {told}");
                run.remark(RemarkKind::LeavesOut, text, self.place);
            }
        } else {
            note(&mut run, Incomplete::NoEnd);
            run.faults.extend(self.death.take());
        }
        run.faults.extend(self.gate.take());
        if let Some(why) = &self.stop {
            run.remark(
                RemarkKind::Reading,
                format!("pytest stopped: {why}"),
                self.place,
            );
        }
        // What was interrupted left tests out that nothing names.
        if matches!(run.exit_code, Some(2 | 3)) {
            note(&mut run, Incomplete::Stopped);
        }
        run.attributes = std::mem::take(&mut self.attributes);
        self.fill(&mut run);
        run
    }

    /// Outcomes as pytest counts them: from the last line, or from the progress where there is none. What a test prints may
    /// look like progress, so the last line is believed.
    fn outcomes(&self) -> BTreeMap<String, u64> {
        if let Some((counts, _)) = &self.stated {
            return counts.iter().cloned().collect();
        }
        let counted = self.counted.iter();
        counted
            .map(|(word, count)| ((*word).to_owned(), *count))
            .collect()
    }

    fn fill(mut self, run: &mut TestRun) {
        let mut counts = self.outcomes();
        let reruns = counts.remove("rerun").unwrap_or(0);
        let known: u64 = u64::try_from(self.reruns.len()).unwrap_or(0);
        run.retries.failed = reruns;
        run.retries.tries = reruns + known;
        run.retries.passed_after = self.passed_after;
        let (repeated, hidden) = self.subtests();
        let (cases, twice, cleaned) = self.cases();
        cases.fill(run);
        let less = |counts: &mut BTreeMap<String, u64>, word: &str, by: u64| {
            if let Some(count) = counts.get_mut(word) {
                *count = count.saturating_sub(by);
            }
        };
        less(&mut counts, "error", twice);
        less(&mut counts, "passed", cleaned + hidden);
        less(&mut counts, "failed", repeated);
        for word in ["failed", "error", "skipped", "xfailed", "xpassed", "passed"] {
            let listed: u64 = run.totals.iter().map(|total| total.of(&[word])).sum();
            let rest = counts
                .get(word)
                .copied()
                .unwrap_or(0)
                .saturating_sub(listed);
            if rest > 0 {
                run.count_many("test", word, rest);
                if matches!(word, "failed" | "error") {
                    run.count_unlisted("test", rest, rest);
                    let is_one = rest == 1;
                    let (tests, are) = if is_one {
                        ("test", "is")
                    } else {
                        ("tests", "are")
                    };
                    let text = format!("{rest} {tests} with the outcome {word} {are} not named");
                    run.remark(RemarkKind::LeavesOut, text, Place::default());
                }
            }
        }
        let mut why = Vec::new();
        if twice + cleaned > 0 {
            why.push("a test that could not be cleaned up is in it twice; it counts once here");
        }
        if repeated + hidden > 0 {
            why.push("a subtest that failed is in it beside its test; the test counts once here");
        }
        if !why.is_empty() {
            let said = run.stated.iter().flat_map(|total| &total.by);
            let said: Vec<String> = said
                .map(|(word, count)| format!("{count} {word}"))
                .collect();
            let text = format!("pytest states {}: {}", said.join(", "), why.join("; "));
            run.remark(RemarkKind::Reading, text, Place::default());
            run.stated.clear();
        }
        if self.stated.is_none() && !self.running.is_empty() {
            note(run, Incomplete::TestsRunning);
            let running = std::mem::take(&mut self.running).into_iter();
            run.running.extend(running.map(|name| Running {
                name,
                level: "test".to_owned(),
                began: None,
                is_innermost: true,
                place: Place::default(),
            }));
        }
    }

    /// How many lines tell of a subtest whose test is told by another one, and how many tests with such a subtest pytest counts as
    /// passed.
    fn subtests(&self) -> (u64, u64) {
        let told = |word: &str| -> BTreeSet<&str> {
            let lines = self.summary.iter().filter(|it| it.0 == word);
            lines.map(|it| it.1.as_str()).collect()
        };
        let (tests, failed, errors) = (told(SUBFAILED), told("failed"), told("error"));
        let lines = self.summary.iter().filter(|it| it.0 == SUBFAILED).count();
        let alone = tests.difference(&failed).count();
        let hidden = tests
            .iter()
            .filter(|it| !failed.contains(*it) && !errors.contains(*it));
        let count = |it: usize| u64::try_from(it).unwrap_or(u64::MAX);
        (count(lines - alone), count(hidden.count()))
    }

    /// The tests that are listed, how many of them stand in two outcomes, and how many passed and could not be cleaned up.
    fn cases(&mut self) -> (Cases, u64, u64) {
        let mut cases = Cases::joined();
        let summary = std::mem::take(&mut self.summary);
        let failed: BTreeSet<String> = summary
            .iter()
            .filter(|it| matches!(it.0, "failed" | SUBFAILED))
            .map(|it| it.1.clone())
            .collect();
        self.assign_untitled(&summary);
        let (mut twice, mut cleaned) = (0, 0);
        for (word, id, message, place) in summary {
            let told = self.told_of(word, &id);
            let phase = told.map_or(Phase::Call, |at| self.told[at].phase);
            if word == "error" && failed.contains(&id) {
                twice += 1;
            } else if phase == Phase::Teardown {
                cleaned += 1;
            }
            let (failure, place) = match told {
                Some(at) => (
                    std::mem::take(&mut self.told[at].failure),
                    self.told[at].place,
                ),
                None => (
                    Failure::read(if word == "xfailed" { "" } else { &message }, ""),
                    place,
                ),
            };
            let reason = if word == "xfailed" {
                message
            } else {
                String::new()
            };
            let word = if word == SUBFAILED { "failed" } else { word };
            cases.add(self.case(word, id, failure, reason, place));
        }
        // Without a short summary the tracebacks alone name tests.
        let mut rest: Vec<Told> = std::mem::take(&mut self.told);
        rest.retain(|told| !told.is_used && !told.title.is_empty());
        let failed: BTreeSet<String> = rest
            .iter()
            .filter(|told| told.phase == Phase::Call)
            .map(|told| told.title.clone())
            .collect();
        for told in rest {
            let word = if told.phase == Phase::Call {
                "failed"
            } else {
                "error"
            };
            if word == "error" && failed.contains(&told.title) {
                twice += 1;
            } else if told.phase == Phase::Teardown {
                cleaned += 1;
            }
            let title = without_subtest(&told.title).to_owned();
            cases.add(self.case(word, title, told.failure, String::new(), told.place));
        }
        (cases, twice, cleaned)
    }

    /// Gives failures without a title those of the tests listed as failed, in their order, if there are as many.
    fn assign_untitled(&mut self, summary: &[(&'static str, String, String, Place)]) {
        let failed = summary.iter().filter(|it| it.0 == "failed");
        let untitled = self.told.iter_mut().filter(|told| told.title.is_empty());
        let untitled: Vec<&mut Told> = untitled.collect();
        if untitled.len() == failed.clone().count() {
            for (told, (_, id, ..)) in untitled.into_iter().zip(failed) {
                told.title = tail(id);
            }
        }
    }

    /// The traceback of a listed test, which is then used up.
    fn told_of(&mut self, word: &str, id: &str) -> Option<usize> {
        let tail = tail(id);
        let at = self.told.iter().position(|told| {
            !told.is_used
                && match (word, told.phase) {
                    ("failed", Phase::Call) | ("error", Phase::Setup | Phase::Teardown) => {
                        told.title == tail
                    }
                    (SUBFAILED, Phase::Call) => without_subtest(&told.title) == tail,
                    ("error", Phase::Collect) => told.title == id,
                    _ => false,
                }
        })?;
        self.told[at].is_used = true;
        Some(at)
    }

    fn case(
        &self,
        outcome: &'static str,
        name: String,
        failure: Failure,
        reason: String,
        place: Place,
    ) -> Case {
        let file = name.split("::").next().unwrap_or_default();
        let has_file = file.len() < name.len()
            || std::path::Path::new(file)
                .extension()
                .is_some_and(|it| it == "py");
        Case {
            id: dotted(&name),
            suites: if has_file {
                vec![file.to_owned()]
            } else {
                Vec::new()
            },
            ended: self.ended.get(&name).copied(),
            name,
            outcome: outcome.into(),
            failure,
            reason,
            place,
            ..Case::default()
        }
    }
}

/// The title of a traceback of a subtest, `test_y [message] (i=1)`, without what names the subtest.
fn without_subtest(title: &str) -> &str {
    let mut marks = [" (", " ["].into_iter().filter_map(|mark| title.find(mark));
    let at = marks.next().into_iter().chain(marks).min();
    let is_end = title.ends_with([')', ']']);
    // In brackets without a blank before them stand parameters, which may hold blanks.
    let test = at.filter(|_| is_end).map(|at| &title[..at]);
    test.filter(|test| test.matches('[').count() == test.matches(']').count())
        .unwrap_or(title)
}

/// How a traceback names a test: without its file, classes and function separated by dots.
pub(super) fn tail(id: &str) -> String {
    let (names, parameters) = id.split_at(id.find('[').unwrap_or(id.len()));
    let tail = names.split_once("::").map_or(names, |(_, tail)| tail);
    format!("{}{parameters}", tail.replace("::", "."))
}
