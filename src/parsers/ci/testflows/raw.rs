//! `raw.log`: the messages of a run, one JSON object a line, in the order in which they were flushed.
//!
//! Nine of ten messages are what shells printed. Of those only the head is read, which the framework writes with its fields in
//! a fixed order, and the text only where it may name a table. Memory holds the tests that run and those that failed.

use crate::record::split_lines;

use super::above::{all_above, parent, parents};
use super::flags;
use super::message::{Head, Message, START, head, message_text};
use super::tests_open::{Open, OpenTests};
use crate::parsers::ci::model::{
    Class, Duration, FailingTest, Incomplete, KnownFail, Leaf, Mentions, Moment, NAME_BYTES_MAX,
    Place, RemarkKind, TestRun, Unstable, bounded,
};
use crate::parsers::ci::{Form, Line, LineReader, Reading, python, statements};
use crate::vocab::several;

/// Whether a source begins with messages of a run.
pub(in crate::parsers::ci) fn claims(sample: &[u8]) -> bool {
    let text = sample.strip_prefix(b"\xef\xbb\xbf").unwrap_or(sample);
    let lines = split_lines(text).take(20);
    lines.into_iter().any(|line| {
        line.starts_with(START) && memchr::memmem::find(line, b"\"message_hash\"").is_some()
    })
}

/// A reader of messages.
pub(in crate::parsers::ci) fn reader() -> Box<dyn LineReader> {
    Box::new(Raw::new())
}

struct Raw {
    run: TestRun,
    open: OpenTests,
    /// The ids of [`TestRun::failing`], in its order.
    failing: Vec<Box<[u8]>>,
    keywords: Vec<(Box<[u8]>, u64)>,
    messages: u64,
    unreadable: (u64, Place),
    missing: (u64, Place),
    first_time: Option<f64>,
    last_time: Vec<u8>,
    last_rtime: f64,
    stopped: bool,
    /// Seconds of the root's own clock.
    root_seconds: Option<f64>,
    last_is_cut: bool,
}

impl LineReader for Raw {
    fn line(&mut self, line: &Line<'_>) {
        self.last_is_cut = false;
        if line.bytes.is_empty() {
            return;
        }
        let is_whole = line.bytes.last() == Some(&b'}');
        match head(line.bytes) {
            Some(head) if is_whole => self.message(&head, line),
            _ => self.unusual(line),
        }
    }

    fn finish(self: Box<Self>) -> Reading {
        self.finished()
    }
}

impl Raw {
    fn new() -> Self {
        Self {
            run: TestRun::new(Form::TestFlowsRaw),
            open: OpenTests::default(),
            failing: Vec::new(),
            keywords: Vec::new(),
            messages: 0,
            unreadable: (0, Place::default()),
            missing: (0, Place::default()),
            first_time: None,
            last_time: Vec::new(),
            last_rtime: 0.0,
            stopped: false,
            root_seconds: None,
            last_is_cut: false,
        }
    }

    fn unreadable(&mut self, line: &Line<'_>) {
        if self.unreadable.0 == 0 {
            self.unreadable.1 = line.place;
        }
        self.unreadable.0 += 1;
        self.last_is_cut = line.is_cut;
    }

    /// A line whose fields are in another order, or no message.
    fn unusual(&mut self, line: &Line<'_>) {
        let Ok(message) = serde_json::from_slice::<Message<'_>>(line.bytes) else {
            return self.unreadable(line);
        };
        self.count(message.message_keyword.as_bytes());
        let time = message.message_time;
        self.seen(message.test_id.as_bytes(), message.message_num, line.place);
        self.first_time.get_or_insert(time);
        self.last_time = time.to_string().into_bytes();
        self.told(&message, line.place);
    }

    fn message(&mut self, head: &Head<'_>, line: &Line<'_>) {
        if matches!(
            head.keyword,
            b"TEST" | b"RESULT" | b"ATTRIBUTE" | b"VERSION" | b"PROTOCOL" | b"STOP"
        ) {
            return match serde_json::from_slice::<Message<'_>>(line.bytes) {
                Ok(message) => {
                    self.count(head.keyword);
                    self.seen(head.id, head.number, line.place);
                    self.time(head.time);
                    self.told(&message, line.place);
                }
                Err(_) => self.unreadable(line),
            };
        }
        self.count(head.keyword);
        self.seen(head.id, head.number, line.place);
        self.time(head.time);
        if head.keyword == b"NONE" {
            self.printed(head);
        }
    }

    fn count(&mut self, keyword: &[u8]) {
        self.messages += 1;
        let known = self
            .keywords
            .iter_mut()
            .find(|(known, _)| **known == *keyword);
        if let Some((_, count)) = known {
            *count += 1;
        } else if self.keywords.len() < KEYWORDS_MAX {
            self.keywords.push((keyword.into(), 1));
        }
    }

    fn time(&mut self, time: &[u8]) {
        if self.first_time.is_none() {
            self.first_time = std::str::from_utf8(time)
                .ok()
                .and_then(|text| text.parse().ok());
        }
        self.last_time.clear();
        self.last_time
            .extend_from_slice(&time[..time.len().min(40)]);
    }

    /// Checks that a test's messages are numbered without a gap.
    fn seen(&mut self, id: &[u8], number: u64, place: Place) {
        let Some(open) = self.open.get(id) else {
            return;
        };
        if number > open.next {
            if self.missing.0 == 0 {
                self.missing.1 = place;
            }
            self.missing.0 += number - open.next;
        }
        open.next = number.saturating_add(1);
    }

    /// What a shell printed.
    fn printed(&mut self, head: &Head<'_>) {
        let Some(open) = self.open.get(head.id) else {
            return;
        };
        let node = head
            .stream
            .strip_prefix(b"\"")
            .and_then(|name| name.strip_suffix(b"\""));
        if let Some(Ok(node)) = node.map(std::str::from_utf8)
            && open.mentions.nodes.last().is_none_or(|last| last != node)
        {
            Mentions::note(&mut open.mentions.nodes, node);
        }
        if (open.waits() || statements::may_name_a_table(head.rest))
            && let Some(text) = message_text(head.rest)
        {
            open.said(&text);
        }
    }

    /// A message that says something of a test or the run.
    fn told(&mut self, message: &Message<'_>, place: Place) {
        self.last_rtime = message.message_rtime;
        match message.message_keyword.as_ref() {
            "TEST" => self.began(message, place),
            "RESULT" => self.ended(message, place),
            "STOP" => self.stopped = true,
            "ATTRIBUTE" if parent(message.test_id.as_bytes()).is_none() => {
                if let (Some(name), Some(value)) =
                    (&message.attribute_name, &message.attribute_value)
                {
                    let value = value
                        .as_str()
                        .map_or_else(|| value.to_string(), str::to_owned);
                    self.attribute(name, &value);
                }
            }
            "VERSION" => self.attribute(
                "framework",
                message.framework_version.as_deref().unwrap_or_default(),
            ),
            "PROTOCOL" => self.attribute(
                "protocol",
                message.protocol_version.as_deref().unwrap_or_default(),
            ),
            _ => {}
        }
    }

    fn attribute(&mut self, name: &str, value: &str) {
        // A run has some dozens; a hostile one must not fill the memory.
        if self.run.attributes.len() < 1000 {
            let name = bounded(name, NAME_BYTES_MAX);
            self.run
                .attributes
                .insert(name, bounded(value, NAME_BYTES_MAX));
        }
    }

    fn began(&mut self, message: &Message<'_>, place: Place) {
        let id = message.test_id.as_bytes();
        let name = bounded(&message.test_name, NAME_BYTES_MAX);
        if self.run.name.is_empty() && parent(id).is_none() {
            self.run.name.clone_from(&name);
            self.run.place = place;
        }
        if self.open.count() >= OPEN_MAX {
            return;
        }
        self.open.begin(Open {
            id: id.into(),
            name,
            level: message.level(),
            is_suite: matches!(message.test_type.as_ref(), "Suite" | "Module"),
            began: Moment::from_epoch(message.message_time - message.message_rtime),
            place,
            next: message.message_num.saturating_add(1),
            ..Open::default()
        });
    }

    fn ended(&mut self, message: &Message<'_>, place: Place) {
        let id = message.test_id.as_bytes();
        let open = self.open.end(id).unwrap_or_else(|| Open {
            id: id.into(),
            ..Open::default()
        });
        let outcome = message.result_type.as_deref().unwrap_or("no result");
        if outcome == "Skip" && message.test_flags & flags::SKIP != 0 {
            self.run.filtered_out += 1;
            return;
        }
        let (level, class) = (message.level(), Class::of(outcome));
        let is_retried = class.is_failing() && message.has(flags::NESTED_RETRY);
        let word = if is_retried { "Retried" } else { outcome };
        self.run.count(level, word);
        if parent(id).is_none() {
            self.run.result = Some(outcome.to_owned());
            self.root_seconds = Some(message.message_rtime);
        }
        match level {
            "retry" => self.tried(message, class, &open),
            "iteration" => {
                if let Some(above) = self.open.above(id) {
                    let counted = if class.is_failing() {
                        &mut above.repeated.1
                    } else {
                        &mut above.repeated.0
                    };
                    *counted += 1;
                }
            }
            _ => {}
        }
        if let (passed @ 1.., failed @ 1..) = open.repeated {
            self.run.unstable.push(Unstable {
                name: bounded(&message.test_name, NAME_BYTES_MAX),
                passed,
                failed,
            });
        }
        if outcome.starts_with('X') && !message.has(flags::RETRY) {
            self.run.keep_known(KnownFail {
                name: bounded(&message.test_name, NAME_BYTES_MAX),
                outcome: outcome.to_owned(),
                level: level.to_owned(),
                reason: message
                    .result_reason
                    .as_deref()
                    .map(|reason| bounded(reason, NAME_BYTES_MAX)),
                place,
            });
        }
        let fails = message.is_test() && class.is_failing();
        if (fails || open.fails_below)
            && let Some(above) = self.open.above(id)
        {
            above.fails_below = true;
        }
        if fails {
            self.failed(message, outcome, open, place);
        } else if !message.is_test() {
            self.open.hand_up(open);
        }
    }

    /// A try ended.
    fn tried(&mut self, message: &Message<'_>, class: Class, open: &Open) {
        let ended = message.message_time;
        let began = ended - message.message_rtime;
        let failed = u64::from(class.is_failing());
        self.run.retries.tries += 1;
        self.run.retries.failed += failed;
        let of_steps = self.run.retries.of_steps.get_or_insert((0, 0));
        if message.test_type == "Step" {
            of_steps.0 += 1;
            of_steps.1 += failed;
        }
        if let Some(above) = self.open.above(&open.id) {
            let passes_after = !class.is_failing() && above.tries.failed > 0;
            above.tries.add(began, ended, class.is_failing());
            self.run.retries.passed_after += u64::from(passes_after);
        }
    }

    fn failed(&mut self, message: &Message<'_>, outcome: &str, open: Open, place: Place) {
        let is_leaf = !open.fails_below;
        let seconds = Some(message.message_rtime);
        let kept = self.run.failing.len();
        self.run.keep_failing(FailingTest {
            name: bounded(&message.test_name, NAME_BYTES_MAX),
            outcome: outcome.to_owned(),
            level: message.level().to_owned(),
            is_leaf,
            seconds,
            place,
        });
        if self.run.failing.len() > kept {
            self.failing.push(open.id.clone());
        }
        if !is_leaf {
            return;
        }
        let mut leaf = Leaf::new(&message.test_name, outcome);
        leaf.feature = self.feature(&open.id, &leaf);
        leaf.id = message.test_id.clone().into_owned();
        message.level().clone_into(&mut leaf.level);
        let said = message
            .result_message
            .as_deref()
            .or(message.result_reason.as_deref())
            .unwrap_or_default();
        let failure = python::explain(said);
        leaf.exception = failure.exception;
        leaf.assertion = failure.assertion;
        leaf.message = failure.message;
        leaf.own = failure.own;
        leaf.ended = Moment::from_epoch(message.message_time);
        leaf.began = open
            .began
            .or_else(|| Moment::from_epoch(message.message_time - message.message_rtime));
        leaf.seconds = seconds;
        leaf.failed_tries = open.tries.failed;
        leaf.tries_span = open.tries.span.map(|(began, ended)| ended - began);
        leaf.mentions = open.mentions;
        leaf.mentions.rows = failure.rows;
        leaf.place = place;
        self.run.keep_leaf(leaf);
    }

    /// The innermost feature that a test lies in, or else suite, by what runs; else what its name says.
    fn feature(&mut self, id: &[u8], leaf: &Leaf) -> String {
        let mut suite = None;
        for above in parents(id) {
            if let Some(open) = self.open.get(above)
                && open.is_suite
            {
                if open.level == "feature" {
                    return open.name.clone();
                }
                suite.get_or_insert_with(|| open.name.clone());
            }
        }
        suite.unwrap_or_else(|| {
            let above = leaf.name.rsplit_once('/');
            above.map_or_else(String::new, |(above, _)| above.to_owned())
        })
    }

    fn finished(mut self) -> Reading {
        if self.messages == 0 {
            return Reading::default();
        }
        let last = std::str::from_utf8(&self.last_time)
            .ok()
            .and_then(|text| text.parse::<f64>().ok());
        self.run.first = self.first_time.and_then(Moment::from_epoch);
        self.run.last = last.and_then(Moment::from_epoch);
        self.settle_leaves();
        self.durations(last);
        for (is_so, why) in [
            (!self.stopped, Incomplete::NoEnd),
            (self.run.result.is_none(), Incomplete::NoResult),
            (self.open.count() > 0, Incomplete::TestsRunning),
            (self.last_is_cut, Incomplete::CutLine),
        ] {
            if is_so {
                self.run.incomplete.push(why);
            }
        }
        self.remark();
        self.run.running = self.open.running();
        self.run.running.truncate(crate::parsers::ci::KEPT_MAX);
        Reading {
            runs: vec![self.run],
            ..Reading::default()
        }
    }

    /// A test that ended before one below it failed is no leaf.
    fn settle_leaves(&mut self) {
        let above = all_above(self.failing.iter().map(|id| &**id));
        self.run
            .leaves
            .retain(|leaf| !above.contains(leaf.id.as_bytes()));
        for (test, id) in self.run.failing.iter_mut().zip(&self.failing) {
            test.is_leaf = !above.contains(&**id);
        }
    }

    fn durations(&mut self, last: Option<f64>) {
        let mut add = |seconds: f64, rule| self.run.durations.push(Duration { seconds, rule });
        if self.stopped {
            add(
                self.last_rtime,
                "the clock of the last message, as `tfs` prints it",
            );
        }
        if let Some(seconds) = self.root_seconds {
            add(seconds, "the root test's own clock");
        }
        if let (Some(first), Some(last)) = (self.first_time, last) {
            add(last - first, "from the first message to the last");
        }
    }

    fn remark(&mut self) {
        self.keywords
            .sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
        let words = self
            .keywords
            .iter()
            .map(|(word, count)| format!("{count} {}", String::from_utf8_lossy(word)));
        let words: Vec<String> = words.collect();
        let said = format!(
            "{}: {}",
            several(self.messages, "message", "messages"),
            words.join(", ")
        );
        let place = self.run.place;
        self.run.remark(RemarkKind::Reading, said, place);
        if let (count @ 1.., place) = self.unreadable {
            let said = format!(
                "{} of a run, the first of them line {}",
                several(count, "line is no message", "lines are no messages"),
                place.line
            );
            self.run.remark(RemarkKind::Unreadable, said, place);
        }
        if let (count @ 1.., place) = self.missing {
            let said = format!(
                "{} missing by the numbers of their tests, the first before line {}",
                several(count, "message is", "messages are"),
                place.line
            );
            self.run.remark(RemarkKind::Inconsistent, said, place);
        }
    }
}

/// Keywords that are counted apart: the framework has some two dozen.
const KEYWORDS_MAX: usize = 64;

/// Tests that may run at once before a log is taken for a forged one.
const OPEN_MAX: usize = 100_000;
