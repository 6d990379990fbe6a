//! What pytest prints, plain or in colors, of one process or of many (xdist).
//!
//! ```text
//! tests/test_x.py .F.E                                       [100%]
//! ____________ test_y[a] ____________
//! E       AssertionError: lost 2 rows
//! FAILED tests/test_x.py::test_y[a] - Asse...
//! = 1 failed, 2 passed, 1 error in 1.22s =
//! ```
//!
//! pytest counts outcomes: a test that passed and could not be cleaned up is in its counts twice. Here each test counts once,
//! with its worst outcome; what pytest counts is kept beside it. Messages in the short summary are cut to the terminal's
//! width, so they are taken from the tracebacks.

use std::collections::{BTreeMap, BTreeSet};

use super::case::{Case, Cases, note};
use super::failure::Failure;
use super::model::{
    Duration, Incomplete, Moment, NAME_BYTES_MAX, Place, RemarkKind, Running, TestRun, bounded,
};
use super::pytest_lines::{Kind, ending, kind, outcome_of_letter};
use super::unstamp::plain;
use super::{Form, Line, LineReader, Reading};

/// Bytes of a traceback that are read; its end is looked for no further.
const BLOCK_BYTES_MAX: usize = 256 * 1024;

/// Failing tests, and tests that run, that are kept.
const KEPT_MAX: usize = 20_000;

pub(super) fn claims(sample: &[u8]) -> bool {
    let mut weak = 0;
    for line in sample.split(|&byte| byte == b'\n') {
        let line = plain(line);
        let Ok(text) = std::str::from_utf8(&line) else {
            continue;
        };
        match kind(text.trim_end_matches('\r')) {
            Kind::Banner("test session starts" | "short test summary info") => return true,
            Kind::Banner("ERRORS" | "FAILURES") => weak += 1,
            Kind::Banner(title) if ending(title).is_some() => return true,
            Kind::Letters(_) => weak += 1,
            _ => {}
        }
    }
    weak > 1
}

pub(super) fn reader() -> Box<dyn LineReader> {
    Box::new(PytestText::default())
}

#[derive(Debug, Default)]
struct PytestText {
    session: Option<Session>,
    runs: Vec<TestRun>,
}

/// Which error of a test a traceback shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Call,
    Setup,
    Teardown,
    Collect,
}

/// A traceback.
#[derive(Debug)]
struct Block {
    title: String,
    phase: Phase,
    text: String,
    place: Place,
    is_closed: bool,
}

/// A traceback that is read.
#[derive(Debug)]
struct Told {
    title: String,
    phase: Phase,
    failure: Failure,
    place: Place,
    is_used: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Section {
    #[default]
    Progress,
    Errors,
    Failures,
    Summary,
    Other,
}

#[derive(Debug, Default)]
struct Session {
    section: Section,
    /// Whether it is sure that this is pytest.
    is_sure: bool,
    place: Place,
    first: Option<Moment>,
    last: Option<Moment>,
    /// Outcomes in the progress.
    counted: BTreeMap<&'static str, u64>,
    stated: Option<(Vec<(String, u64)>, f64)>,
    running: BTreeSet<String>,
    reruns: BTreeSet<String>,
    passed_after: u64,
    /// When failing tests ended, by id.
    ended: BTreeMap<String, Moment>,
    block: Option<Block>,
    told: Vec<Told>,
    summary: Vec<(&'static str, String, String, Place)>,
    stop: Option<String>,
    internal_error: bool,
    usage_error: bool,
    attributes: BTreeMap<String, String>,
}

impl LineReader for PytestText {
    fn line(&mut self, line: &Line<'_>) {
        let bytes = plain(line.bytes);
        let text = String::from_utf8_lossy(&bytes);
        let kind = kind(&text);
        if let Kind::Banner("test session starts") = kind {
            self.close();
        }
        let opens = match kind {
            Kind::Banner(
                "test session starts" | "ERRORS" | "FAILURES" | "short test summary info",
            ) => true,
            Kind::Letters(letters) => text.trim_end().ends_with("%]") && letters.len() > 1,
            _ => false,
        };
        if opens && self.session.is_none() {
            self.session = Some(Session {
                place: line.place,
                ..Session::default()
            });
        }
        let Some(session) = &mut self.session else {
            return;
        };
        session.note(line.printed);
        if session.take(&text, &kind, line) {
            self.close();
        }
    }

    fn finish(mut self: Box<Self>) -> Reading {
        self.close();
        Reading {
            runs: self.runs,
            ..Reading::default()
        }
    }
}

impl PytestText {
    fn close(&mut self) {
        if let Some(session) = self.session.take()
            && session.is_sure
        {
            self.runs.push(session.finish());
        }
    }
}

impl Session {
    fn note(&mut self, printed: Option<Moment>) {
        if printed.is_some() {
            self.first = self.first.or(printed);
            self.last = printed;
        }
    }

    /// Takes a line; whether it is the last of the session.
    fn take(&mut self, text: &str, kind: &Kind<'_>, line: &Line<'_>) -> bool {
        match kind {
            Kind::Banner(title) => return self.banner(title),
            Kind::Block(title) => self.open_block(title, line.place),
            Kind::Captured => {
                if let Some(block) = &mut self.block {
                    block.is_closed = true;
                }
            }
            Kind::Stop(why) => self.stop = Some((*why).to_owned()),
            Kind::Outcome(word, id, message) if self.is_listing() => {
                self.outcome(word, id, message, line)
            }
            Kind::Begins(id)
                if self.section == Section::Progress && self.running.len() < KEPT_MAX =>
            {
                self.running.insert((*id).to_owned());
            }
            Kind::Letters(letters) if self.section == Section::Progress => {
                for word in letters.chars().filter_map(outcome_of_letter) {
                    *self.counted.entry(word).or_default() += 1;
                }
            }
            _ => return self.other(text),
        }
        false
    }

    /// Whether lines with an outcome are pytest's own and not part of a traceback.
    fn is_listing(&self) -> bool {
        matches!(self.section, Section::Progress | Section::Summary)
    }

    fn banner(&mut self, title: &str) -> bool {
        self.close_block();
        let (section, is_sure) = match title {
            "test session starts" => (Section::Progress, true),
            "ERRORS" => (Section::Errors, self.is_sure),
            "FAILURES" => (Section::Failures, self.is_sure),
            "short test summary info" => (Section::Summary, true),
            other => {
                if let Some(stated) = ending(other) {
                    self.is_sure = true;
                    self.stated = Some(stated);
                    return true;
                }
                (Section::Other, self.is_sure)
            }
        };
        self.section = section;
        self.is_sure = is_sure;
        false
    }

    fn other(&mut self, text: &str) -> bool {
        if let Some(block) = &mut self.block {
            if !block.is_closed && block.text.len() + text.len() < BLOCK_BYTES_MAX {
                block.text.push_str(text);
                block.text.push('\n');
            }
            return false;
        }
        if self.section == Section::Progress {
            self.header(text);
        }
        // With -q the last line has no frame.
        if text.starts_with(|it: char| it.is_ascii_digit() || it == 'n')
            && let Some(stated) = ending(text)
        {
            self.is_sure = true;
            self.stated = Some(stated);
            return true;
        }
        self.internal_error |= text.starts_with("INTERNALERROR>");
        self.usage_error |= text.starts_with("ERROR: usage:")
            || text.starts_with("ERROR: file or directory not found");
        false
    }

    fn header(&mut self, text: &str) {
        if let Some(rest) = text.strip_prefix("platform ") {
            for part in rest
                .split([',', ' '])
                .filter(|it| it.starts_with("pytest-"))
            {
                self.attributes
                    .insert("pytest".to_owned(), bounded(&part[7..], 100));
            }
        } else if let Some(rest) = text.strip_prefix("rootdir: ") {
            self.attributes
                .insert("rootdir".to_owned(), bounded(rest.trim(), NAME_BYTES_MAX));
        }
    }

    fn open_block(&mut self, title: &str, place: Place) {
        self.close_block();
        let (phase, title) = match (self.section, title) {
            (Section::Failures, title) => (Phase::Call, title),
            (Section::Errors, title) => {
                let known = [
                    ("ERROR at setup of ", Phase::Setup),
                    ("ERROR at teardown of ", Phase::Teardown),
                    ("ERROR collecting ", Phase::Collect),
                ];
                let found = known
                    .iter()
                    .find_map(|(start, phase)| Some((*phase, title.strip_prefix(start)?)));
                found.unwrap_or((Phase::Setup, title))
            }
            _ => return,
        };
        self.block = Some(Block {
            title: bounded(title, NAME_BYTES_MAX),
            phase,
            text: String::new(),
            place,
            is_closed: false,
        });
    }

    fn close_block(&mut self) {
        if let Some(block) = self.block.take()
            && self.told.len() < KEPT_MAX
        {
            self.told.push(Told {
                failure: Failure::read("", &block.text),
                title: block.title,
                phase: block.phase,
                place: block.place,
                is_used: false,
            });
        }
    }

    fn outcome(&mut self, word: &'static str, id: &str, message: &str, line: &Line<'_>) {
        let id = bounded(id, NAME_BYTES_MAX);
        if self.section == Section::Summary {
            let is_listed = matches!(word, "failed" | "error" | "xfailed");
            if is_listed && self.summary.len() < KEPT_MAX {
                self.summary
                    .push((word, id, bounded(message, NAME_BYTES_MAX), line.place));
            }
            return;
        }
        // Progress: an `ERROR file` of a collection stands there too, and is listed again below.
        *self.counted.entry(word).or_default() += 1;
        self.running.remove(&id);
        match word {
            "rerun" => {
                self.reruns.insert(id);
            }
            "passed" => self.passed_after += u64::from(self.reruns.contains(&id)),
            "failed" | "error" if self.ended.len() < KEPT_MAX => {
                if let Some(at) = line.printed {
                    self.ended.insert(id, at);
                }
            }
            _ => {}
        }
    }

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

    fn finish(mut self) -> TestRun {
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
                    let text = format!("{rest} tests with the outcome {word} are not named");
                    run.remark(RemarkKind::LeavesOut, text, Place::default());
                }
            }
        }
        if twice + cleaned > 0 {
            let text =
                "pytest counts a test twice that could not be cleaned up; it counts once here";
            run.remark(RemarkKind::Reading, text, Place::default());
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
        rest.retain(|told| !told.is_used);
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

/// The id of a test as the XML of pytest has it: module, classes and function separated by dots.
pub(super) fn dotted(id: &str) -> String {
    let (names, parameters) = id.split_at(id.find('[').unwrap_or(id.len()));
    let (file, rest) = names.split_once("::").unwrap_or((names, ""));
    let Some(module) = file.strip_suffix(".py") else {
        return id.to_owned();
    };
    let module = module.replace(['/', '\\'], ".");
    let rest = rest.replace("::", ".");
    let dot = if rest.is_empty() { "" } else { "." };
    format!("{module}{dot}{rest}{parameters}")
}
