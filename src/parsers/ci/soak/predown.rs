//! What is dumped of a server's tables before its container goes down: a manifest, and tables with their names in the first row.
//!
//! ```text
//! # node=ch1 label=audit taken=2026-07-29T07:56:00Z
//! # window ...
//! gc_log.tsv 152 lines  ok
//! errors.tsv 0 lines  QUERY-FAILED
//! ```

use super::super::model::{
    Check, Event, EventKind, KEPT_MAX, MESSAGE_BYTES_MAX, NAME_BYTES_MAX, RemarkKind, TestRun,
    bounded,
};
use super::super::{Form, Line, LineReader, Reading};
use super::key_values;
use crate::record::split_lines;

/// The first rows of tables that count errors: how often, and what.
const TABLES: &[(&str, usize, usize)] = &[
    ("occurrences\tfirst_seen\tlast_seen\tshape", 0, 3),
    ("event\tvalue\tdescription", 1, 0),
];

pub(crate) fn claims(sample: &[u8]) -> bool {
    let mut lines =
        split_lines(sample).map(|line| String::from_utf8_lossy(line).trim_end().to_owned());
    let first = lines.next().unwrap_or_default();
    if TABLES.iter().any(|(head, ..)| first.starts_with(head)) {
        return true;
    }
    let second = lines.next().unwrap_or_default();
    first.starts_with("# ") && second.starts_with("# ") && lines.any(|line| entry(&line).is_some())
}

pub(crate) fn reader() -> Box<dyn LineReader> {
    Box::new(Dump::default())
}

#[derive(Debug, Default)]
struct Dump {
    is_begun: bool,
    table: Option<(usize, usize)>,
    run: Option<TestRun>,
    events: Vec<Event>,
    counters: u64,
}

impl LineReader for Dump {
    fn line(&mut self, line: &Line<'_>) {
        let text = line.text();
        let text = text.trim_end();
        let is_first = !std::mem::replace(&mut self.is_begun, true);
        if let Some((_, count, what)) = TABLES.iter().find(|(head, ..)| text.starts_with(head)) {
            self.table = Some((*count, *what));
            self.begin(line);
            return;
        }
        if let Some((count, what)) = self.table {
            self.row(text, count, what, line);
        } else if is_first && text.starts_with("# ") {
            let run = self.begin(line);
            for (key, value) in key_values(text) {
                run.attributes
                    .insert(bounded(key, 100), bounded(value, NAME_BYTES_MAX));
            }
        } else if let (Some((file, verdict)), Some(run)) = (entry(text), &mut self.run) {
            if run.checks.len() < KEPT_MAX {
                run.checks.push(Check {
                    name: bounded(file, NAME_BYTES_MAX),
                    outcome: bounded(verdict, 100),
                    detail: bounded(text, MESSAGE_BYTES_MAX),
                    place: line.place,
                });
            }
            if verdict == "QUERY-FAILED" && self.events.len() < KEPT_MAX {
                self.events.push(Event {
                    kind: EventKind::GateSkipped,
                    subject: bounded(file, NAME_BYTES_MAX),
                    at: None,
                    text: bounded(text, MESSAGE_BYTES_MAX),
                    place: line.place,
                });
            }
        }
    }

    fn finish(self: Box<Self>) -> Reading {
        let Some(mut run) = self.run else {
            return Reading::default();
        };
        if self.counters > 0 {
            let text = format!(
                "{} counters of the server are 0 and left out",
                self.counters
            );
            run.remark(RemarkKind::LeavesOut, text, run.place);
        }
        Reading {
            runs: vec![run],
            events: self.events,
            ..Reading::default()
        }
    }
}

impl Dump {
    fn begin(&mut self, line: &Line<'_>) -> &mut TestRun {
        self.run.get_or_insert_with(|| {
            let mut run = TestRun::new(Form::PredownDump);
            "pre-down dump".clone_into(&mut run.name);
            run.place = line.place;
            run
        })
    }

    /// A row of a table of counts.
    fn row(&mut self, text: &str, count: usize, what: usize, line: &Line<'_>) {
        let cells: Vec<&str> = text.split('\t').take(10).collect();
        let (Some(count), Some(what), Some(run)) =
            (cells.get(count), cells.get(what), &mut self.run)
        else {
            return;
        };
        let Ok(number) = count.parse::<u64>() else {
            return;
        };
        if number == 0 {
            self.counters += 1;
        } else if run.checks.len() < KEPT_MAX {
            run.checks.push(Check {
                name: bounded(what, NAME_BYTES_MAX),
                outcome: "counted".to_owned(),
                detail: number.to_string(),
                place: line.place,
            });
        }
    }
}

/// `gc_log.tsv 152 lines  ok`: the file and the verdict.
fn entry(text: &str) -> Option<(&str, &str)> {
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let [file, count, "lines", verdict] = words[..] else {
        return None;
    };
    let fits = count.bytes().all(|b| b.is_ascii_digit())
        && matches!(verdict, "ok" | "ok(no-rows)" | "QUERY-FAILED");
    fits.then_some((file, verdict))
}
