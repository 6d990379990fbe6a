//! The kernel's log (`dmesg`, `kern.log`, `journalctl -k`): what it killed for memory, and which processes crashed.
//!
//! ```text
//! [ 5123.456789] Out of memory: Killed process 4711 (clickhouse-serv) total-vm:12345kB, anon-rss:1234kB
//! [Sat Mar 14 23:18:02 2026] Memory cgroup out of memory: Killed process 4711 (clickhouse-serv) ...
//! 2026-03-14T23:18:02,123456+00:00 Out of memory: Killed process 4711 (clickhouse-serv) ...
//! Mar 14 23:18:02 runner-1 kernel: [ 5123.456789] oom_reaper: reaped process 4711 (clickhouse-serv), ...
//! ```
//!
//! The kernel tells of one death in several lines; of a process it is told once, by the line that says most.

use std::cmp::Ordering;

use super::super::jobs::unstamp::plain;
use super::super::model::{Clock, Event, EventKind, MESSAGE_BYTES_MAX, Moment, bounded};
use super::super::moments::iso;
use super::super::{Line, LineReader, Reading};
use crate::record::split_lines;
use crate::time::Timestamp;

/// Events that are kept; a machine without memory kills hundreds of processes.
const EVENTS_MAX: usize = 1000;

pub(crate) fn claims(sample: &[u8]) -> bool {
    let lines = split_lines(sample).filter(|line| !line.is_empty());
    let (mut stamped, mut all) = (0, 0);
    for line in lines.take(50) {
        all += 1;
        stamped += usize::from(body(&String::from_utf8_lossy(line)).is_some_and(|it| it.is_sure));
    }
    stamped > 0 && stamped * 2 > all || has_event(sample)
}

/// Whether a line is the kernel's by what it says: its other lines, and the system's, may look like those of any log.
fn has_event(sample: &[u8]) -> bool {
    let has = |words: &[u8]| memchr::memmem::find(sample, words).is_some();
    let may_tell = WORDS.iter().any(|words| has(words.as_bytes()));
    may_tell
        && split_lines(sample).any(|line| {
            let line = String::from_utf8_lossy(line);
            body(&line).is_some_and(|it| told(it.text).is_some())
        })
}

pub(crate) fn reader() -> Box<dyn LineReader> {
    Box::new(Kernel::default())
}

#[derive(Debug, Default)]
struct Kernel {
    /// What is told, and the process.
    events: Vec<(Event, Told)>,
}

/// What a line says.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Told {
    kind: EventKind,
    name: String,
    /// The number of the process; empty where it is not said.
    process: String,
    /// How much the line says of a death against other lines of the same.
    weight: u8,
}

impl LineReader for Kernel {
    fn line(&mut self, line: &Line<'_>) {
        let bytes = plain(line.bytes);
        let has = |words: &str| memchr::memmem::find(&bytes, words.as_bytes()).is_some();
        if !WORDS.iter().any(|words| has(words)) {
            return;
        }
        let text = String::from_utf8_lossy(&bytes);
        let Some(body) = body(&text) else { return };
        let Some(told) = told(body.text) else { return };
        let event = Event {
            kind: told.kind,
            subject: bounded(&told.name, 200),
            at: body.at.or(line.printed),
            text: bounded(body.text.trim(), MESSAGE_BYTES_MAX),
            place: line.place,
        };
        let same = |it: &(Event, Told)| {
            it.1.kind == told.kind && !told.process.is_empty() && it.1.process == told.process
        };
        let known = self.events.iter().rposition(same);
        match known.map(|at| (at, told.weight.cmp(&self.events[at].1.weight))) {
            Some((at, Ordering::Greater)) => self.events[at] = (event, told),
            // As many of one weight as there are lines: a number comes again in a long log.
            Some((_, Ordering::Equal)) | None if self.events.len() < EVENTS_MAX => {
                self.events.push((event, told));
            }
            _ => {}
        }
    }

    fn finish(self: Box<Self>) -> Reading {
        Reading {
            events: self.events.into_iter().map(|it| it.0).collect(),
            ..Reading::default()
        }
    }
}

/// Words of which each line that is told has one.
const WORDS: &[&str] = &[
    "illed process",
    "ill process",
    "oom-kill:",
    "reaped process",
    "segfault at",
    "traps: ",
];

/// What a line says that happened, and to which process.
fn told(body: &str) -> Option<Told> {
    let made = |kind, name: &str, process: &str, weight| Told {
        kind,
        name: name.trim().to_owned(),
        process: process.to_owned(),
        weight,
    };
    // `Out of memory: Killed process 4711 (clickhouse-serv) ...`
    let named = |rest: &str, weight| {
        let (process, rest) = rest.split_once(" (")?;
        let is_number = process.bytes().all(|b| b.is_ascii_digit());
        let (name, _) = rest.split_once(')')?;
        is_number.then(|| made(EventKind::OutOfMemory, name, process, weight))
    };
    for (before, weight) in [
        ("Killed process ", 3),
        ("Kill process ", 2),
        ("killed process ", 3),
    ] {
        if let Some((start, rest)) = body.split_once(before)
            && start.to_ascii_lowercase().ends_with("out of memory: ")
        {
            return named(rest, weight);
        }
    }
    if let Some(rest) = body.strip_prefix("oom_reaper: reaped process ") {
        return named(rest, 1);
    }
    if let Some(rest) = body.strip_prefix("oom-kill:") {
        let field = |name: &str| {
            let at = rest.find(name)? + name.len();
            rest[at..].split(',').next()
        };
        return Some(made(
            EventKind::OutOfMemory,
            field(",task=")?,
            field(",pid=")?,
            0,
        ));
    }
    let process = body.strip_prefix("traps: ").unwrap_or(body);
    let (name, rest) = process.split_once('[')?;
    let (number, rest) = rest.split_once(']')?;
    let is_number = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    let rest = rest.trim_start_matches(':').trim_start();
    let is_crash = rest.starts_with("segfault at")
        || process.len() < body.len()
            && (rest.starts_with("trap ") || rest.starts_with("general protection"));
    (is_crash && is_number && !name.is_empty()).then(|| made(EventKind::Killed, name, number, 0))
}

/// A line without what stands before its text.
#[derive(Debug, Clone, Copy)]
struct Body<'t> {
    at: Option<Moment>,
    text: &'t str,
    /// Whether what stands before it is the kernel's alone.
    is_sure: bool,
}

/// The text behind `[seconds since the start] `, a date, or what a system's log writes before `kernel: `.
fn body(line: &str) -> Option<Body<'_>> {
    let line = line.trim_end();
    if let Some((at, text)) = bracketed(line) {
        return Some(Body {
            at,
            text,
            is_sure: true,
        });
    }
    let (at, rest) = match iso(line.as_bytes()) {
        Some((at, length)) => (Some(at), line.get(length..)?),
        None => (None, line),
    };
    if let Some((before, text)) = rest.split_once(" kernel: ") {
        // A date where none was read, and the machine.
        let words = before.split_ascii_whitespace().count();
        let is_head = if at.is_some() { words == 1 } else { words == 4 };
        let (inner, text) = bracketed(text).unwrap_or((None, text));
        return is_head.then_some(Body {
            at: at.or(inner),
            text,
            is_sure: true,
        });
    }
    let text = rest.strip_prefix(' ').filter(|_| at.is_some())?;
    Some(Body {
        at,
        text,
        is_sure: false,
    })
}

/// The text behind `[seconds since the start] ` or `[a date] `, and the moment where it is a date.
fn bracketed(line: &str) -> Option<(Option<Moment>, &str)> {
    let (stamp, body) = line.trim_end().strip_prefix('[')?.split_once("] ")?;
    let is_uptime = stamp.contains('.')
        && stamp
            .trim()
            .bytes()
            .all(|b| b.is_ascii_digit() || b == b'.');
    if is_uptime {
        return Some((None, body));
    }
    let words: Vec<&str> = stamp.split_ascii_whitespace().collect();
    let [_, month, day, time, year] = words[..] else {
        return None;
    };
    let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let month = months.iter().position(|it| *it == month)? + 1;
    let day: u8 = day.parse().ok()?;
    let text = format!("{year}-{month:02}-{day:02} {time}");
    let (at, _) = Timestamp::read(text.as_bytes())?;
    Some((
        Some(Moment {
            at,
            clock: Clock::Local,
        }),
        body,
    ))
}
