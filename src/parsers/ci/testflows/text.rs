//! The reports that `tfs` prints: `fails.log.txt`, `nice-new-fails.log.txt`, classic and nice output, the lists of `tfs show`.
//!
//! A failing test stands in it up to twice: with its message where it ended, and in the list under `Failing`. Levels of tests
//! are in the lines of totals only. Stamps are in the zone of whoever made the report, which it does not name.

use std::collections::BTreeMap;

use super::above::{Above, all_above, repeated};
use super::shapes::{is_in_try, is_try, listed, plain, result, started, unstable};
use super::tests_open::Begun;
use super::{seconds, totals_line};
use crate::parsers::ci::case::note;
use crate::parsers::ci::model::{
    Class, Duration, FailingTest, Incomplete, KnownFail, Leaf, Moment, Place, RemarkKind, TestRun,
    Total,
};
use crate::parsers::ci::moments::after;
use crate::parsers::ci::{Form, KEPT_MAX, Line, LineReader, Reading, python};
use crate::vocab::several;

/// What ends every report.
const FRAMEWORK: &str = "TestFlows.com Open-Source Software Testing Framework v";

/// Bytes of the lines below a result that are kept: an exception with its stack.
const SAID_BYTES_MAX: usize = 64 * 1024;

/// Whether a source begins with such a report, in part or whole.
pub(in crate::parsers::ci) fn claims(sample: &[u8]) -> bool {
    let text = String::from_utf8_lossy(sample);
    let mut lines = text
        .lines()
        .map(plain)
        .filter(|line| !line.trim().is_empty());
    let mut first = lines.by_ref().take(40);
    let is_summed = text.contains(FRAMEWORK) || text.contains("\nTotal time ");
    first.any(|line| {
        result(&line).is_some()
            || started(&line).is_some()
            || listed(&line).is_some()
            || is_summed && totals_line(&line).is_some()
    })
}

/// A reader of such reports.
pub(in crate::parsers::ci) fn reader() -> Box<dyn LineReader> {
    Box::new(Report::new())
}

/// A failing test with the lines below its result.
struct Said {
    name: String,
    outcome: String,
    seconds: Option<f64>,
    /// When its result was printed, where a job's log says so.
    ended: Option<Moment>,
    place: Place,
    text: String,
    /// Whether an exception was seen in its log, and is over.
    exception: Option<bool>,
    tries: u64,
}

struct Report {
    run: TestRun,
    /// Failing tests in the order in which they ended, with what stands below.
    said: Vec<Said>,
    /// The list under `Failing`.
    listed: Vec<Said>,
    /// The names above failing tests, which end before the tests that hold them.
    above: Above,
    known: Vec<KnownFail>,
    known_listed: Vec<KnownFail>,
    /// Whether lines belong to the last of `said`, or of `known`.
    below: Below,
    /// Results of lines by level and word: what is known where no totals are.
    results: BTreeMap<(&'static str, String), u64>,
    running: Begun,
    started: bool,
    ended: bool,
    any: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Below {
    Nothing,
    Failing,
    Known,
}

impl LineReader for Report {
    fn line(&mut self, line: &Line<'_>) {
        let text = line.text();
        let text = plain(&text);
        if let Some((time, word, name)) = result(&text) {
            if line.is_cut && self.started && !self.running.has(name) {
                return self.cut(word, name);
            }
            return self.result(time, word, name, line);
        }
        if text.starts_with([' ', '\t']) || text.trim().is_empty() {
            return self.below(&text);
        }
        self.below = Below::Nothing;
        if let Some(name) = started(&text) {
            self.any = true;
            self.started = true;
            if !line.is_cut {
                self.running.begin(name, line.place);
            }
        } else if let Some((time, word, name, reason)) = listed(&text) {
            self.any = true;
            self.listed(time, word, name, reason, line);
        } else if let Some(unstable) = unstable(&text) {
            self.any = true;
            if self.run.unstable.len() < KEPT_MAX && !self.run.unstable.contains(&unstable) {
                self.run.unstable.push(unstable);
            }
        } else {
            self.summed(&text);
        }
    }

    fn finish(self: Box<Self>) -> Reading {
        self.finished()
    }
}

impl Report {
    fn new() -> Self {
        Self {
            run: TestRun::new(Form::TestFlowsText),
            said: Vec::new(),
            listed: Vec::new(),
            above: Above::default(),
            known: Vec::new(),
            known_listed: Vec::new(),
            below: Below::Nothing,
            results: BTreeMap::new(),
            running: Begun::default(),
            started: false,
            ended: false,
            any: false,
        }
    }

    /// A test ended.
    fn result(&mut self, seconds: Option<f64>, word: &str, name: &str, line: &Line<'_>) {
        let place = line.place;
        if let Some(at) = line.printed {
            self.run.note_moment(at);
        }
        if !self.any {
            self.run.place = place;
        }
        self.any = true;
        // The root ends last, and its result is the run's.
        if name.rfind('/') == Some(0) {
            name.clone_into(&mut self.run.name);
            self.run.result = Some(word.to_owned());
        }
        let key = (if is_try(name) { "retry" } else { "test" }, word.to_owned());
        if self.results.len() < 100 || self.results.contains_key(&key) {
            *self.results.entry(key).or_default() += 1;
        }
        self.running.end(name);
        self.below = Below::Nothing;
        if is_try(name) {
            self.run.retries.tries += 1;
            self.run.retries.failed += u64::from(Class::of(word).is_failing());
        } else if is_in_try(name) {
            // What fails in a try is that try's failure.
        } else if word.starts_with('X') && self.known.len() < KEPT_MAX {
            self.below = Below::Known;
            self.known.push(known(word, name, None, place));
        } else if Class::of(word).is_failing() {
            let is_leaf = self.above.is_leaf(name);
            if self.said.len() < KEPT_MAX {
                self.below = Below::Failing;
                self.said.push(Said::new(seconds, word, name, line));
            } else {
                self.run.count_unlisted("test", 1, u64::from(is_leaf));
            }
        }
    }

    /// A result whose line breaks off in the name: that of one of the tests that run, if it is not known of which.
    fn cut(&mut self, word: &str, name: &str) {
        note(&mut self.run, Incomplete::CutLine);
        let names = self.running.beginning(name);
        let is_test = |name: &&str| !is_try(name) && !is_in_try(name);
        if Class::of(word).is_failing() && !names.is_empty() && names.iter().all(is_test) {
            self.run.faults.push(format!(
                "a test ended with {word}, and its name is cut: {name}…"
            ));
        }
    }

    /// A line of the lists after the run.
    fn listed(
        &mut self,
        seconds: Option<f64>,
        word: &str,
        name: &str,
        reason: Option<&str>,
        line: &Line<'_>,
    ) {
        if word.starts_with('X') && self.known_listed.len() < KEPT_MAX {
            self.known_listed
                .push(known(word, name, reason, line.place));
        } else if Class::of(word).is_failing() && self.listed.len() < KEPT_MAX {
            self.listed.push(Said::new(seconds, word, name, line));
        }
    }

    /// A line that belongs to the result before it.
    fn below(&mut self, text: &str) {
        match self.below {
            Below::Nothing => {}
            Below::Known => {
                let reason = self.known.last_mut().map(|known| &mut known.reason);
                if let Some(none @ None) = reason {
                    *none = Some(text.trim().to_owned());
                }
            }
            Below::Failing => {
                if let Some(said) = self.said.last_mut() {
                    said.take(text);
                }
            }
        }
    }

    /// A line of the sums at the end.
    fn summed(&mut self, text: &str) {
        if let Some((level, units, by)) = totals_line(text) {
            self.any = true;
            let mut total = Total::new(level);
            total.units = units;
            total.by = by
                .into_iter()
                .map(|(word, count)| (word.to_owned(), count))
                .collect();
            self.run.stated.retain(|known| known.level != level);
            let at = self
                .run
                .stated
                .partition_point(|known| known.rank() < total.rank());
            self.run.stated.insert(at, total);
        } else if let Some(time) = text.strip_prefix("Total time ").and_then(seconds) {
            self.run.durations = vec![Duration {
                seconds: time,
                rule: "`Total time` of the report, cut to two units",
            }];
        } else if let Some(version) = text.strip_prefix(FRAMEWORK) {
            self.ended = true;
            self.run
                .attributes
                .insert("framework".to_owned(), version.trim().to_owned());
        } else if let Some(stamp) = text.strip_prefix("Executed on ") {
            self.run
                .attributes
                .insert("executed on".to_owned(), stamp.trim().to_owned());
        }
    }

    fn finished(mut self) -> Reading {
        let has_totals = !self.run.stated.is_empty();
        if !self.any
            || self.said.is_empty()
                && self.listed.is_empty()
                && self.results.is_empty()
                && !has_totals
                && !self.started
        {
            return Reading::default();
        }
        self.compare_lists();
        let failing = if self.said.is_empty() {
            std::mem::take(&mut self.listed)
        } else {
            std::mem::take(&mut self.said)
        };
        self.leaves(failing);
        let known = if self.known.len() >= self.known_listed.len() {
            self.known
        } else {
            self.known_listed
        };
        for one in known {
            self.run.keep_known(one);
        }
        if !has_totals {
            let results = std::mem::take(&mut self.results);
            for ((level, word), count) in results {
                self.run.count_many(level, &word, count);
            }
            let said =
                "without a line of totals; tests of all levels above steps are counted together";
            let place = self.run.place;
            self.run.remark(RemarkKind::Reading, said, place);
        }
        if !self.ended {
            self.run.incomplete.push(Incomplete::NoEnd);
            self.run.running = self.running.running();
            if !self.run.running.is_empty() {
                self.run.incomplete.push(Incomplete::TestsRunning);
            }
        }
        Reading {
            runs: vec![self.run],
            ..Reading::default()
        }
    }

    /// Says where the two lists of one report disagree.
    fn compare_lists(&mut self) {
        let (said, listed) = (self.said.len(), self.listed.len());
        if said > 0 && listed > 0 && said != listed {
            let said = several(said, "test ends", "tests end");
            let text = format!("{said} in failure, the list under `Failing` has {listed}");
            let place = self.listed[0].place;
            self.run.remark(RemarkKind::Inconsistent, text, place);
        }
    }

    /// Tells leaves by their names: no other failing test's name goes on where a leaf's ends.
    fn leaves(&mut self, failing: Vec<Said>) {
        let above = all_above(failing.iter().map(|said| said.name.as_bytes()));
        let leaves = failing.iter().map(|it| !above.contains(it.name.as_bytes()));
        let leaves: Vec<bool> = leaves.collect();
        let mut parents = Vec::new();
        for (said, is_leaf) in failing.into_iter().zip(leaves) {
            if said.name.rfind('/') == Some(0) && self.run.name.is_empty() {
                self.run.name.clone_from(&said.name);
                self.run.result = Some(said.outcome.clone());
            }
            self.run.keep_failing(FailingTest {
                name: said.name.clone(),
                outcome: said.outcome.clone(),
                level: "test".to_owned(),
                is_leaf,
                seconds: said.seconds,
                place: said.place,
            });
            let leaf = said.leaf();
            if is_leaf {
                self.run.keep_leaf(leaf);
            } else {
                parents.push(leaf);
            }
        }
        repeated(&mut self.run.leaves, &parents);
    }
}

fn known(word: &str, name: &str, reason: Option<&str>, place: Place) -> KnownFail {
    KnownFail {
        name: name.to_owned(),
        outcome: word.to_owned(),
        level: "test".to_owned(),
        reason: reason.map(str::to_owned),
        place,
    }
}

impl Said {
    fn new(seconds: Option<f64>, word: &str, name: &str, line: &Line<'_>) -> Self {
        Self {
            name: name.to_owned(),
            outcome: word.to_owned(),
            seconds,
            ended: line.printed,
            place: line.place,
            text: String::new(),
            exception: None,
            tries: 0,
        }
    }

    /// A line below: of the message, or of the test's whole log, of which the last exception is kept, else what follows it.
    fn take(&mut self, line: &str) {
        const LOG: char = '⟥';
        let is_log = line.contains(LOG);
        if is_log && (line.contains(" Fail try #") || line.contains(" Error try #")) {
            self.tries += 1;
        }
        if let Some(at) = line.find("Exception: Traceback (most recent call last):") {
            self.text.clear();
            self.text.push_str(&line[at + "Exception: ".len()..]);
            self.text.push('\n');
            self.exception = Some(false);
        } else if is_log {
            match &mut self.exception {
                Some(ended) => *ended = true,
                None => self.text.clear(),
            }
        } else if self.exception != Some(true) && self.text.len() + line.len() < SAID_BYTES_MAX {
            self.text.push_str(line);
            self.text.push('\n');
        }
    }

    fn leaf(self) -> Leaf {
        let mut leaf = Leaf::new(&self.name, &self.outcome);
        let failure = python::explain(&self.text);
        leaf.exception = failure.exception;
        leaf.assertion = failure.assertion;
        leaf.message = failure.message;
        leaf.own = failure.own;
        leaf.mentions.rows = failure.rows;
        leaf.feature = self
            .name
            .rsplit_once('/')
            .map_or_else(String::new, |(above, _)| above.to_owned());
        leaf.seconds = self.seconds;
        leaf.ended = self.ended;
        leaf.began = self
            .ended
            .zip(self.seconds)
            .and_then(|(ended, seconds)| after(ended, -seconds));
        leaf.failed_tries = self.tries;
        leaf.place = self.place;
        leaf
    }
}
