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

use crate::record::split_lines;
use std::collections::{BTreeMap, BTreeSet};

use super::super::failure::{Failure, place};
use super::super::jobs::unstamp::plain;
use super::super::model::{Moment, NAME_BYTES_MAX, Place, TestRun, bounded};
use super::super::{Line, LineReader, Reading};
use super::lines::{
    Kind, SUBFAILED, ending, is_unframed_end, is_usage_error, kind, outcome_of_letter, selected,
    sum,
};
use super::session::tail;

/// Bytes of a traceback that are read; its end is looked for no further.
const BLOCK_BYTES_MAX: usize = 256 * 1024;

/// Failing tests, and tests that run, that are kept.
const KEPT_MAX: usize = 20_000;

/// Columns that a line of progress has at least where one letter is enough.
const PROGRESS_COLUMNS: usize = 60;

pub(crate) fn claims(sample: &[u8]) -> bool {
    let mut weak = 0;
    for line in split_lines(sample) {
        let line = plain(line);
        let Ok(text) = std::str::from_utf8(&line) else {
            continue;
        };
        let text = text.trim_end();
        // With -q the last line has no frame.
        if weak > 0 && text.ends_with(['s', ')']) && is_unframed_end(text) {
            return true;
        }
        // Most files are not of this form: what cannot count is not looked at further.
        if !(text.starts_with('=') || text.ends_with(']') || text.contains(".py ")) {
            continue;
        }
        match kind(text) {
            Kind::Banner("test session starts" | "short test summary info") => return true,
            Kind::Banner("ERRORS" | "FAILURES" | "tests coverage") | Kind::Letters(_) => weak += 1,
            Kind::Banner(title) if ending(title).is_some() => return true,
            Kind::Banner(_)
            | Kind::Block(_)
            | Kind::Stop(_)
            | Kind::Captured
            | Kind::Outcome(..)
            | Kind::Begins(_)
            | Kind::Other => {}
        }
    }
    weak > 1
}

pub(crate) fn reader() -> Box<dyn LineReader> {
    Box::new(PytestText::default())
}

#[derive(Debug, Default)]
struct PytestText {
    session: Option<Session>,
    runs: Vec<TestRun>,
}

/// Which error of a test a traceback shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Call,
    Setup,
    Teardown,
    Collect,
}

/// Counts and seconds of the last line.
pub(super) type Stated = (Vec<(String, u64)>, f64);

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
pub(super) struct Told {
    pub(super) title: String,
    pub(super) phase: Phase,
    pub(super) failure: Failure,
    pub(super) place: Place,
    pub(super) is_used: bool,
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
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct Session {
    section: Section,
    /// Whether it is sure that this is pytest.
    pub(super) is_sure: bool,
    pub(super) place: Place,
    pub(super) first: Option<Moment>,
    pub(super) last: Option<Moment>,
    /// Outcomes in the progress.
    pub(super) counted: BTreeMap<&'static str, u64>,
    /// What the last line says; a test may print such a line, so the last of them counts.
    pub(super) stated: Option<Stated>,
    /// Whether nothing of the session follows that line so far.
    is_ended: bool,
    /// Tests that are to run, as the head says.
    pub(super) collected: Option<u64>,
    /// Whether the progress came to its end.
    pub(super) is_through: bool,
    /// What says that the session failed although its tests passed.
    pub(super) gate: Option<String>,
    /// What Python says that it died of, if the session did not go on to its end.
    pub(super) death: Option<String>,
    pub(super) running: BTreeSet<String>,
    pub(super) reruns: BTreeSet<String>,
    pub(super) passed_after: u64,
    /// When failing tests ended, by id.
    pub(super) ended: BTreeMap<String, Moment>,
    block: Option<Block>,
    pub(super) told: Vec<Told>,
    pub(super) summary: Vec<(&'static str, String, String, Place)>,
    pub(super) stop: Option<String>,
    pub(super) internal_error: bool,
    pub(super) usage_error: bool,
    pub(super) attributes: BTreeMap<String, String>,
}

impl LineReader for PytestText {
    fn line(&mut self, line: &Line<'_>) {
        let bytes = plain(line.bytes);
        let text = String::from_utf8_lossy(&bytes);
        let kind = kind(&text);
        if let Kind::Banner("test session starts") = kind {
            self.close();
        }
        let begins = [
            "test session starts",
            "ERRORS",
            "FAILURES",
            "short test summary info",
            // What coverage says in the middle of a quiet session's only line of progress may be all that stands before it.
            "tests coverage",
        ];
        // One letter and a percentage at the end of a wide line is the progress of a session of few tests.
        let is_progress = if let Kind::Letters(letters) = kind {
            let line = text.trim_end();
            line.ends_with("%]") && (letters.len() > 1 || line.len() >= PROGRESS_COLUMNS)
        } else {
            false
        };
        let opens = is_progress || matches!(kind, Kind::Banner(title) if begins.contains(&title));
        if is_progress && self.session.as_ref().is_some_and(Session::is_over) {
            self.close();
        }
        if opens && self.session.is_none() {
            self.session = Some(Session {
                place: line.place,
                ..Session::default()
            });
        }
        let Some(session) = &mut self.session else {
            return;
        };
        if session.is_ended && !opens && !session.goes_on(&text, &kind) {
            return;
        }
        session.note(line.printed);
        session.take(&text, &kind, line);
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
    /// Whether the last line tells the outcomes of all tests that were seen, so that what follows is another session.
    fn is_over(&self) -> bool {
        let told = self.stated.as_ref().map(|(counts, _)| sum(counts));
        let seen = self.counted.iter().filter(|(word, _)| **word != "rerun");
        let seen: u64 = seen.map(|(_, count)| *count).sum();
        self.is_ended && (self.section != Section::Progress || told == Some(seen))
    }

    /// Whether a line behind the last one is the session's all the same: that one was printed by a test.
    fn goes_on(&mut self, text: &str, kind: &Kind<'_>) -> bool {
        // A path that is not there is told behind the last line.
        self.usage_error |=
            is_usage_error(text) && self.stated.as_ref().is_some_and(|it| it.0.is_empty());
        match kind {
            Kind::Banner("PASSES" | "warnings summary") => true,
            Kind::Banner(title) => ending(title).is_some(),
            Kind::Block(_) | Kind::Captured => self.section != Section::Progress,
            Kind::Outcome(..) | Kind::Begins(_) | Kind::Letters(_) => {
                self.section == Section::Progress && !self.is_over()
            }
            Kind::Stop(_) | Kind::Other => is_unframed_end(text.trim_end()),
        }
    }

    fn note(&mut self, printed: Option<Moment>) {
        if printed.is_some() {
            self.first = self.first.or(printed);
            self.last = printed;
        }
    }

    /// Takes a line.
    fn take(&mut self, text: &str, kind: &Kind<'_>, line: &Line<'_>) {
        self.is_ended = false;
        if let Some(at) = text.find("Fatal Python error: ") {
            // It stands behind what was printed of the progress.
            self.death = Some(bounded(text[at..].trim_end(), NAME_BYTES_MAX));
        }
        let is_progress = matches!(kind, Kind::Outcome(..) | Kind::Letters(_));
        if is_progress && self.section == Section::Progress {
            self.gate = None;
            self.is_through = text.trim_end().ends_with("[100%]");
        }
        match kind {
            Kind::Banner(title) => self.banner(title),
            Kind::Block(title) => self.open_block(title, line.place),
            Kind::Captured => {
                if let Some(block) = &mut self.block {
                    block.is_closed = true;
                }
            }
            Kind::Stop(why) => self.stop = Some((*why).to_owned()),
            Kind::Outcome(word, id, message) if self.is_listing() => {
                self.outcome(word, id, message, line);
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
            Kind::Outcome(..) | Kind::Begins(_) | Kind::Letters(_) | Kind::Other => {
                self.other(text, line.place);
            }
        }
    }

    /// Whether lines with an outcome are pytest's own and not part of a traceback.
    fn is_listing(&self) -> bool {
        matches!(self.section, Section::Progress | Section::Summary)
    }

    fn banner(&mut self, title: &str) {
        if let Some(stated) = ending(title) {
            self.end(stated);
            return;
        }
        self.close_block();
        let (section, is_sure) = match title {
            "test session starts" => (Section::Progress, true),
            "ERRORS" => (Section::Errors, self.is_sure),
            "FAILURES" => (Section::Failures, self.is_sure),
            "short test summary info" => (Section::Summary, true),
            _ => (Section::Other, self.is_sure),
        };
        self.section = section;
        self.is_sure = is_sure;
    }

    /// Takes a last line. What is read of a test goes on, since the test may have printed it.
    fn end(&mut self, stated: Stated) {
        self.is_sure = true;
        self.is_ended = true;
        self.stated = Some(stated);
    }

    /// A line of a failure without a title (`--tb=line`): it ends with its place, or where the next one begins.
    fn untitled(&mut self, text: &str, at: Place) {
        let is_error = text.starts_with("E  ");
        let begins = match &self.block {
            None => true,
            Some(block) => is_error && (block.is_closed || !block.text.starts_with("E  ")),
        };
        if text.starts_with("[gw") && text.contains(" -- Python ") {
            self.close_block();
            return;
        }
        if begins && !text.is_empty() {
            self.close_block();
            self.block = Some(Block {
                title: String::new(),
                phase: Phase::Call,
                text: String::new(),
                place: at,
                is_closed: false,
            });
        }
        let is_end = place(text).is_some();
        if let Some(block) = &mut self.block
            && (is_end || !block.is_closed)
            && block.text.len() + text.len() < BLOCK_BYTES_MAX
            // A failure that is a text alone is printed as its place too.
            && block.text.trim_end() != text
        {
            block.text.push_str(text);
            block.text.push('\n');
        }
        if is_end {
            self.close_block();
        }
    }

    fn other(&mut self, text: &str, at: Place) {
        let is_untitled = self
            .block
            .as_ref()
            .is_none_or(|block| block.title.is_empty());
        if self.section == Section::Failures && is_untitled {
            self.untitled(text.trim_end(), at);
            return;
        }
        if let Some(block) = &mut self.block {
            // A plugin says what it wrote: `------- generated xml file: /a/j.xml -------`.
            block.is_closed |= text.starts_with("---") && text.trim_end().ends_with("---");
            let is_of_worker = text.starts_with("[gw") && text.contains(" -- Python ");
            if !block.is_closed && !is_of_worker && block.text.len() + text.len() < BLOCK_BYTES_MAX
            {
                block.text.push_str(text);
                block.text.push('\n');
            }
            return;
        }
        if self.section == Section::Progress {
            self.header(text);
        }
        if is_unframed_end(text.trim_end())
            && let Some(stated) = ending(text)
        {
            self.end(stated);
            return;
        }
        // What pytest-cov says below its table.
        if text.starts_with("FAIL Required test coverage of ") {
            self.gate = Some(bounded(text.trim_end(), NAME_BYTES_MAX));
        }
        self.internal_error |= text.starts_with("INTERNALERROR>");
        self.usage_error |= is_usage_error(text);
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
        } else if let Some(selected) = selected(text) {
            self.collected = Some(selected);
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

    pub(super) fn close_block(&mut self) {
        if let Some(block) = self.block.take()
            && self.told.len() < KEPT_MAX
        {
            // A worker that is gone is told with the file of the test that it ran, and not with its name.
            let crashed = block
                .text
                .split_once(" crashed while running '")
                .and_then(|(_, id)| id.split_once('\''));
            let title = crashed.map_or_else(|| block.title.clone(), |(id, _)| tail(id));
            self.told.push(Told {
                failure: Failure::read("", &block.text),
                title,
                phase: block.phase,
                place: block.place,
                is_used: false,
            });
        }
    }

    fn outcome(&mut self, word: &'static str, id: &str, message: &str, line: &Line<'_>) {
        let id = bounded(id, NAME_BYTES_MAX);
        if self.section == Section::Summary {
            let is_listed = matches!(word, "failed" | "error" | "xfailed" | SUBFAILED);
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
}
