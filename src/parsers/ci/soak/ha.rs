//! Verdicts of the soak of an HA controller, which stand among its clients' lines or alone.
//!
//! ```text
//! worker: xcecli failover: cluster not ready after 21 attempts (last status=-10013)
//! [xce-test-ha] FAIL: round 19: worker-resync job x: worker never logged a fresh rejoin (pre=18 post=18)
//! ```

use super::super::jobs::unstamp::plain;
use super::super::model::{
    Event, EventKind, FailingTest, Incomplete, Leaf, MESSAGE_BYTES_MAX, NAME_BYTES_MAX, TestRun,
    bounded,
};
use super::super::{Form, Line, LineReader, Reading};
use crate::record::split_lines;

pub(crate) fn claims(sample: &[u8]) -> bool {
    split_lines(sample).any(|line| {
        let text = String::from_utf8_lossy(line);
        tagged(text.trim_end()).is_some_and(|(_, rest)| verdict(rest).is_some())
    })
}

pub(crate) fn reader() -> Box<dyn LineReader> {
    Box::new(HaSoak::default())
}

#[derive(Debug, Default)]
struct HaSoak {
    run: Option<TestRun>,
    events: Vec<Event>,
    is_ended: bool,
    rounds: u64,
}

impl LineReader for HaSoak {
    fn line(&mut self, line: &Line<'_>) {
        let bytes = plain(line.bytes);
        let text = String::from_utf8_lossy(&bytes);
        // Reports quote such lines in tables.
        let text = text.trim().trim_matches('|').trim();
        if let Some((tool, rest)) = tagged(text) {
            self.harness(tool, rest, line);
        } else if text.starts_with("worker: xcecli ")
            && text.contains("not ready")
            && self.events.len() < 1000
        {
            self.events.push(Event {
                kind: EventKind::Unreachable,
                subject: String::new(),
                at: line.printed,
                text: bounded(text, MESSAGE_BYTES_MAX),
                place: line.place,
            });
        }
    }

    fn finish(self: Box<Self>) -> Reading {
        let Some(mut run) = self.run else {
            return Reading::default();
        };
        if self.rounds > 0 {
            run.attributes
                .insert("rounds".to_owned(), self.rounds.to_string());
        }
        if !self.is_ended {
            run.incomplete.push(Incomplete::NoResult);
        }
        Reading {
            runs: vec![run],
            events: self.events,
            ..Reading::default()
        }
    }
}

impl HaSoak {
    fn harness(&mut self, tool: &str, rest: &str, line: &Line<'_>) {
        let run = self.run.get_or_insert_with(|| {
            let mut run = TestRun::new(Form::HaSoak);
            run.name = bounded(tool, NAME_BYTES_MAX);
            run.place = line.place;
            run
        });
        if let Some(at) = line.printed {
            run.note_moment(at);
        }
        self.rounds = self.rounds.max(round(rest).unwrap_or(0));
        let Some((is_failure, word, what)) = verdict(rest) else {
            return;
        };
        if !is_failure {
            // The whole passed where no round is named.
            if round(what).is_none() {
                self.is_ended = true;
                run.result.get_or_insert_with(|| word.to_owned());
            } else {
                run.count("round", word);
            }
            return;
        }
        self.is_ended = true;
        run.result = Some(word.to_owned());
        run.count("round", word);
        let (round, what) = match what.split_once(": ") {
            Some((round, what)) if round.starts_with("round ") => (round, what),
            _ => ("", what),
        };
        let (name, message) = what.split_once(": ").unwrap_or((what, ""));
        let full = [round, name]
            .into_iter()
            .filter(|it| !it.is_empty())
            .collect::<Vec<_>>()
            .join("/");
        run.keep_failing(FailingTest {
            name: bounded(&full, NAME_BYTES_MAX),
            outcome: word.to_owned(),
            level: "round".to_owned(),
            is_leaf: true,
            seconds: None,
            place: line.place,
        });
        let mut leaf = Leaf::new(&full, word);
        "round".clone_into(&mut leaf.level);
        leaf.feature = bounded(name, NAME_BYTES_MAX);
        leaf.message = bounded(
            if message.is_empty() { name } else { message },
            MESSAGE_BYTES_MAX,
        );
        leaf.ended = line.printed;
        leaf.place = line.place;
        run.keep_leaf(leaf);
    }
}

/// `[xce-test-ha] text`: the tool and the text.
fn tagged(text: &str) -> Option<(&str, &str)> {
    let (tool, rest) = text.strip_prefix('[')?.split_once("] ")?;
    (tool.starts_with("xce-") && !tool.contains(' ')).then_some((tool, rest))
}

/// Whether a text says that something failed or passed: which, its word, and what.
fn verdict(rest: &str) -> Option<(bool, &str, &str)> {
    let (word, what) = rest.split_once(": ").unwrap_or((rest, ""));
    match word.trim() {
        word @ ("FAIL" | "FAILED" | "ERROR") => Some((true, word, what)),
        word @ ("PASS" | "PASSED" | "OK") => Some((false, word, what)),
        _ => None,
    }
}

/// The number in `round 19`.
fn round(text: &str) -> Option<u64> {
    let (_, rest) = text.split_once("round ")?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    rest[..digits].parse().ok()
}
