//! What a session of pytest printed, put together: listed tests with their tracebacks, and counts.

use std::collections::{BTreeMap, BTreeSet};

use super::super::Form;
use super::super::case::{Case, Cases, note};
use super::super::failure::Failure;
use super::super::model::{Duration, Incomplete, Place, RemarkKind, Running, TestRun};
use super::dotted;
use super::text::{Phase, Session, Told};

impl Session {
    /// The exit code that follows from the last lines.
    fn exit_code(&self) -> Option<i64> {
        let (counts, _) = self.stated.as_ref()?;
        let has = |word: &str| counts.iter().any(|(it, count)| it == word && *count > 0);
        let stopped = self.stop.as_deref().unwrap_or_default();
        Some(if self.internal_error {
            3
        } else if self.usage_error {
            4
        } else if stopped.contains("Interrupted") || stopped.contains("KeyboardInterrupt") {
            2
        } else if has("failed") || has("error") {
            1
        } else if ["passed", "skipped", "xfailed", "xpassed"]
            .iter()
            .any(|word| has(word))
        {
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
        run.exit_code = self.exit_code();
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
                    "warning" | "rerun" => {}
                    word => run.state("test", word, *count),
                }
            }
        } else {
            note(&mut run, Incomplete::NoEnd);
        }
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

    /// Outcomes as pytest counts them: from the progress, or from the last line where there is none.
    fn outcomes(&self) -> BTreeMap<String, u64> {
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        let stated = self.stated.as_ref().map_or(&[][..], |it| &it.0[..]);
        for (word, count) in stated {
            counts.insert(word.clone(), *count);
        }
        for (word, count) in &self.counted {
            // A summary that says less than the progress was cut.
            let most = counts.entry((*word).to_owned()).or_default();
            *most = (*most).max(*count);
        }
        counts
    }

    fn fill(mut self, run: &mut TestRun) {
        let mut counts = self.outcomes();
        let reruns = counts.remove("rerun").unwrap_or(0);
        let known: u64 = u64::try_from(self.reruns.len()).unwrap_or(0);
        run.retries.failed = reruns;
        run.retries.tries = reruns + known;
        run.retries.passed_after = self.passed_after;
        let (cases, twice, cleaned) = self.cases();
        cases.fill(run);
        let less = |counts: &mut BTreeMap<String, u64>, word: &str, by: u64| {
            if let Some(count) = counts.get_mut(word) {
                *count = count.saturating_sub(by);
            }
        };
        less(&mut counts, "error", twice);
        less(&mut counts, "passed", cleaned);
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
                    let text = format!("{rest} tests with the outcome {word} are not named");
                    run.remark(RemarkKind::LeavesOut, text, Place::default());
                }
            }
        }
        if twice + cleaned > 0 {
            let said = run.stated.iter().flat_map(|total| &total.by);
            let said: Vec<String> = said
                .map(|(word, count)| format!("{count} {word}"))
                .collect();
            let text = format!(
                "pytest states {}: a test that could not be cleaned up is in it twice; it counts once here",
                said.join(", ")
            );
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

    /// The tests that are listed, how many of them stand in two outcomes, and how many passed and could not be cleaned up.
    fn cases(&mut self) -> (Cases, u64, u64) {
        let mut cases = Cases::joined();
        let summary = std::mem::take(&mut self.summary);
        let failed: BTreeSet<String> = summary
            .iter()
            .filter(|it| it.0 == "failed")
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
            cases.add(self.case(word, told.title, told.failure, String::new(), told.place));
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

/// How a traceback names a test: without its file, classes and function separated by dots.
fn tail(id: &str) -> String {
    let (names, parameters) = id.split_at(id.find('[').unwrap_or(id.len()));
    let tail = names.split_once("::").map_or(names, |(_, tail)| tail);
    format!("{}{parameters}", tail.replace("::", "."))
}
