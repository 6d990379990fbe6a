//! What the soak harness of a content-addressed cluster prints, read for its verdict.
//!
//! ```text
//! [soak.run] base_time=... (needed for replay) seed=1 phase=1 ops=200 workers=6 checkpoint_every=50
//! [soak.run] checkpoint at executed=50 (op_id=49)
//! [soak.run] checkpoint OK: now=... count=... fsck reachable=... dangling=0 stale_edge=0 dryrun_count=0
//! TRANSPORT FAILURE: [Errno 54] Connection reset by peer
//! ```
//!
//! Only a label with `OK:` is a passed checkpoint. The line that ends in `dangling=0 dryrun_subset=ok` is a constant text: it
//! is printed also where the gates were skipped, so it is evidence of nothing.

use super::super::case::note;
use super::super::jobs::unstamp::plain;
use super::super::model::{
    Check, Clock, Event, EventKind, FailingTest, Incomplete, Leaf, MESSAGE_BYTES_MAX, Moment,
    NAME_BYTES_MAX, Place, RemarkKind, TestRun, bounded,
};
use super::super::{Form, Line, LineReader, Reading};
use super::dump::{DUMP_BYTES_MAX, STARTED_LAST, read_dump};
use super::{Kind as Fault, failure, fsck, key_values};
use crate::record::split_lines;

const PREFIX: &str = "[soak.run] ";

/// Events that are kept: a soak of days may retry hundreds of thousands of times.
const EVENTS_MAX: usize = 10_000;

pub(crate) fn claims(sample: &[u8]) -> bool {
    split_lines(sample).any(|line| {
        let line = plain(line);
        line.starts_with(PREFIX.as_bytes()) || verdict(&String::from_utf8_lossy(&line)).is_some()
    })
}

pub(crate) fn reader() -> Box<dyn LineReader> {
    Box::new(Soak::default())
}

#[derive(Debug, Default)]
struct Soak {
    run: Option<TestRun>,
    events: Vec<Event>,
    /// The checkpoint that began, its operations and its line.
    open: Option<(String, Place)>,
    gates_skipped: u64,
    constant_lines: u64,
    dangling: u64,
    verdict: Option<Verdict>,
    /// The JSON that follows a failure.
    dump: Option<String>,
    transport: Vec<(String, u64)>,
}

/// The last word of a soak.
#[derive(Debug)]
struct Verdict {
    word: String,
    text: String,
    is_failure: bool,
    place: Place,
    at: Option<Moment>,
}

impl LineReader for Soak {
    fn line(&mut self, line: &Line<'_>) {
        let bytes = plain(line.bytes);
        let text = String::from_utf8_lossy(&bytes);
        let text = text.trim_end();
        if let Some(dump) = &mut self.dump {
            if dump.len() + text.len() < DUMP_BYTES_MAX {
                dump.push_str(text);
                dump.push('\n');
            }
            return;
        }
        if let Some((word, rest)) = verdict(text) {
            let is_failure = !word.ends_with("OK");
            self.begin(line);
            self.verdict = Some(Verdict {
                word: word.to_owned(),
                text: rest.to_owned(),
                is_failure,
                place: line.place,
                at: line.printed,
            });
            // What stands below a failure is its dump; in the log of a job it ends with the step.
            self.dump = is_failure.then(String::new);
            return;
        }
        let Some(text) = text.strip_prefix(PREFIX) else {
            return;
        };
        self.begin(line);
        self.own(text, line);
    }

    fn finish(mut self: Box<Self>) -> Reading {
        let Some(mut run) = self.run.take() else {
            return Reading::default();
        };
        if let Some(dump) = self.dump.take() {
            read_dump(&dump, &mut run);
        }
        let unfinished = self.open.take();
        if let Some(verdict) = self.verdict.take() {
            self.conclude(&mut run, &verdict, unfinished);
        } else {
            note(&mut run, Incomplete::NoEnd);
            note(&mut run, Incomplete::NoResult);
            if let Some((label, place)) = unfinished {
                let text = format!("{label} began and has no result");
                run.remark(RemarkKind::LeavesOut, text, place);
            }
        }
        if self.constant_lines > 0 {
            let why = if self.gates_skipped > 0 {
                "; gates were skipped in this run"
            } else {
                ""
            };
            let text = format!(
                "`dangling=0 dryrun_subset=ok` is a constant text, printed also where the gates were skipped{why}; only lines with `OK:` are taken"
            );
            run.remark(RemarkKind::NotTrusted, text, Place::default());
        }
        if self.gates_skipped > 0 {
            let text = format!(
                "{} checkpoints skipped their gates: they passed nothing",
                self.gates_skipped
            );
            run.remark(RemarkKind::NotTrusted, text, Place::default());
        }
        for (node, count) in &self.transport {
            if *count > 1 {
                let text =
                    format!("{count} operations failed on the way to {node} and were repeated");
                run.remark(RemarkKind::Reading, text, Place::default());
            }
        }
        Reading {
            runs: vec![run],
            events: self.events,
            ..Reading::default()
        }
    }
}

impl Soak {
    fn begin(&mut self, line: &Line<'_>) {
        let run = self.run.get_or_insert_with(|| {
            let mut run = TestRun::new(Form::SoakText);
            "soak".clone_into(&mut run.name);
            run.place = line.place;
            run
        });
        if let Some(at) = line.printed {
            run.note_moment(at);
        }
    }

    fn event(&mut self, kind: EventKind, subject: &str, text: &str, line: &Line<'_>) {
        if self.events.len() < EVENTS_MAX {
            self.events.push(Event {
                kind,
                subject: bounded(subject, NAME_BYTES_MAX),
                at: line.printed,
                text: bounded(text, MESSAGE_BYTES_MAX),
                place: line.place,
            });
        }
    }

    /// A line of the harness, without its prefix.
    fn own(&mut self, text: &str, line: &Line<'_>) {
        if text.starts_with("base_time=") {
            self.header(text);
        } else if let Some((label, rest)) = checkpoint_start(text) {
            self.open = Some((format!("{label} {rest}").trim().to_owned(), line.place));
        } else if let Some((label, rest)) = text.split_once(" OK: ")
            && label.contains("checkpoint")
        {
            self.passed(label, rest, line);
        } else if let Some((label, rest)) = text.split_once(" GATE-SKIPPED: ") {
            self.gates_skipped += 1;
            self.checked(label, "GATE-SKIPPED", rest, line);
            self.event(EventKind::GateSkipped, label, text, line);
        } else if text.ends_with("dangling=0 dryrun_subset=ok") {
            self.constant_lines += 1;
        } else if let Some((node, rest)) = gc_phases(text) {
            if rest.starts_with("unavailable") {
                // Another node's probe: it says that its table could not be read, not that it is down.
                let why = format!(
                    "GC phases of {node} are unavailable: a gap of the probe and no evidence that the node is down"
                );
                if let Some(run) = &mut self.run {
                    run.remark(RemarkKind::NotTrusted, why, line.place);
                }
            }
        } else if let Some(rest) = text.strip_prefix("WARNING [B146/B154]") {
            self.gates_skipped += 1;
            self.event(EventKind::GateSkipped, "fsck", rest.trim(), line);
        } else if text.contains(" transport failure on ") {
            self.retried(text, line);
        } else if text.starts_with("CHAOS firing fault ") {
            let target = text.split_once("s: ").map_or("", |(_, rest)| rest);
            if let Some(run) = &mut self.run {
                run.attributes
                    .insert("last_fault".to_owned(), bounded(target, NAME_BYTES_MAX));
            }
        } else if text.starts_with("FSCK GATES:")
            || text.starts_with("AVAILABILITY:")
            || text.starts_with("LATE-PUT FENCING:")
        {
            self.checked(
                text.split(':').next().unwrap_or_default(),
                "stated",
                text,
                line,
            );
        }
    }

    fn header(&mut self, text: &str) {
        let Some(run) = &mut self.run else { return };
        for (key, value) in key_values(text) {
            if [
                "base_time",
                "seed",
                "phase",
                "ops",
                "workers",
                "checkpoint_every",
            ]
            .contains(&key)
            {
                run.attributes
                    .insert(key.to_owned(), bounded(value, NAME_BYTES_MAX));
            }
        }
    }

    fn passed(&mut self, label: &str, rest: &str, line: &Line<'_>) {
        let checked = fsck(rest);
        if let Some(dangling) = checked.dangling {
            self.dangling += dangling;
        }
        // A line that says OK of what was not measured says nothing.
        let outcome = if checked.is_measured {
            "OK"
        } else {
            "GATE-SKIPPED"
        };
        if !checked.is_measured {
            self.gates_skipped += 1;
            self.event(EventKind::GateSkipped, label, rest, line);
        }
        let at = key_values(rest)
            .find(|(key, _)| *key == "now")
            .and_then(|(_, value)| value.parse().ok());
        let at = at
            .and_then(Moment::from_epoch)
            .filter(|it| it.clock == Clock::Utc && it.at.0 > 1_000_000_000_000_000);
        if let (Some(at), Some(run)) = (at, &mut self.run) {
            run.note_moment(at);
        }
        let named = self.checked(label, outcome, rest, line);
        if outcome == "OK" {
            self.event(EventKind::Passed, &named, rest, line);
        }
    }

    /// Counts a checkpoint, and returns how it is called.
    fn checked(&mut self, label: &str, outcome: &str, detail: &str, line: &Line<'_>) -> String {
        let name = match &self.open {
            Some((open, _)) if open.starts_with(label) => {
                self.open.take().map_or_else(String::new, |(open, _)| open)
            }
            _ => label.to_owned(),
        };
        let name = bounded(&name, NAME_BYTES_MAX);
        if let Some(run) = &mut self.run {
            if label.contains("checkpoint") {
                run.count("checkpoint", outcome);
            }
            if run.checks.len() < super::super::model::KEPT_MAX {
                run.checks.push(Check {
                    name: name.clone(),
                    outcome: outcome.to_owned(),
                    detail: bounded(detail, MESSAGE_BYTES_MAX),
                    place: line.place,
                });
            }
        }
        name
    }

    /// `INSERT op_id=7 transport failure on Node(localhost:8123) (attempt 1); rerouting/retrying. ...`
    fn retried(&mut self, text: &str, line: &Line<'_>) {
        let node = text
            .split_once(" on Node(")
            .and_then(|(_, rest)| rest.split_once(')'));
        let Some((node, _)) = node else { return };
        if let Some((_, count)) = self.transport.iter_mut().find(|(known, _)| known == node) {
            *count += 1;
        } else if self.transport.len() < 100 {
            self.transport.push((node.to_owned(), 1));
            self.event(EventKind::Unreachable, node, text, line);
        }
    }

    fn conclude(
        &mut self,
        run: &mut TestRun,
        verdict: &Verdict,
        unfinished: Option<(String, Place)>,
    ) {
        run.result = Some(verdict.word.clone());
        run.exit_code = Some(i64::from(verdict.is_failure));
        if !verdict.is_failure {
            return;
        }
        let op = run.attributes.get("last_op").cloned();
        let during = unfinished.filter(|_| verdict.word.starts_with("CHECKPOINT"));
        let name = match (&during, &op) {
            (Some((label, _)), _) => label.clone(),
            (None, Some(op)) => op.clone(),
            (None, None) => "workload".to_owned(),
        };
        if during.is_some() {
            run.count("checkpoint", "failed");
        }
        leaf(
            run,
            &name,
            &verdict.word,
            &verdict.text,
            verdict.place,
            verdict.at,
        );
        let fault = failure(&verdict.text);
        if verdict.word.starts_with("TRANSPORT") {
            run.attributes
                .insert("transport".to_owned(), fault.word().to_owned());
        }
        if op.is_some() && during.is_none() {
            run.remark(RemarkKind::Reading, STARTED_LAST, verdict.place);
        }
        if let (Some(kind), true) = (event_kind(fault), verdict.word.starts_with("TRANSPORT")) {
            let subject = run.attributes.get("target").cloned().unwrap_or_default();
            self.events.push(Event {
                kind,
                subject,
                at: verdict.at,
                text: bounded(
                    &format!("{}: {}", verdict.word, verdict.text),
                    MESSAGE_BYTES_MAX,
                ),
                place: verdict.place,
            });
        }
    }
}

/// The one failing test of a soak that failed: the operation or the checkpoint that ended it.
pub(crate) fn leaf(
    run: &mut TestRun,
    name: &str,
    word: &str,
    text: &str,
    place: Place,
    at: Option<Moment>,
) {
    let level = if name.contains("checkpoint") {
        "checkpoint"
    } else {
        "operation"
    };
    if level == "operation" {
        run.count("operation", "failed");
    }
    run.keep_failing(FailingTest {
        name: name.to_owned(),
        outcome: "failed".to_owned(),
        level: level.to_owned(),
        is_leaf: true,
        seconds: None,
        place,
    });
    let mut leaf = Leaf::new(name, "failed");
    level.clone_into(&mut leaf.level);
    leaf.path = vec!["soak".to_owned(), name.to_owned()];
    "soak".clone_into(&mut leaf.feature);
    name.clone_into(&mut leaf.id);
    leaf.exception = Some(word.to_owned());
    leaf.message = bounded(text.trim(), MESSAGE_BYTES_MAX);
    leaf.ended = at;
    leaf.place = place;
    if let Some(node) = run.attributes.get("target") {
        leaf.mentions.nodes.push(node.clone());
    }
    run.keep_leaf(leaf);
}

/// What a failure of the transport tells of the server behind it.
pub(crate) fn event_kind(fault: Fault) -> Option<EventKind> {
    match fault {
        Fault::Refused | Fault::Reset => Some(EventKind::Unreachable),
        Fault::TimedOut => Some(EventKind::TimedOut),
        Fault::Other => None,
    }
}

/// `PHASE1 OK`, `TRANSPORT FAILURE: text`: the line that ends a soak.
fn verdict(text: &str) -> Option<(&str, &str)> {
    if let Some(phase) = text
        .strip_prefix("PHASE")
        .and_then(|it| it.strip_suffix(" OK"))
        && phase.len() == 1
    {
        return Some((text, ""));
    }
    let (word, rest) = text.split_once(": ")?;
    [
        "CHECKPOINT FAILURE",
        "WORKLOAD FAILURE",
        "TRANSPORT FAILURE",
    ]
    .contains(&word)
    .then_some((word, rest))
}

/// `checkpoint at executed=50 (op_id=49)`; a stage's end has a label alone.
fn checkpoint_start(text: &str) -> Option<(&str, &str)> {
    if let Some((label, rest)) = text.split_once(" at executed=") {
        let count = rest.split(' ').next().unwrap_or_default();
        return label.ends_with("checkpoint").then(|| {
            (
                label,
                &text[label.len() + 1..text.len() - rest.len() + count.len()],
            )
        });
    }
    let is_label = text.ends_with(" checkpoint") && !text.contains(':') && text.len() < 80;
    is_label.then_some((text, ""))
}

/// `checkpoint GC PHASES [Node(localhost:8124)]: unavailable (...)`: the node, and what follows.
fn gc_phases(text: &str) -> Option<(&str, &str)> {
    let (_, rest) = text.split_once(" GC PHASES [Node(")?;
    rest.split_once(")]: ")
}
