//! The kernel's log (`dmesg`): what it killed for memory, and which processes crashed.
//!
//! ```text
//! [ 5123.456789] Out of memory: Killed process 4711 (clickhouse-serv) total-vm:12345kB, anon-rss:1234kB
//! [Sat Mar 14 23:18:02 2026] Memory cgroup out of memory: Killed process 4711 (clickhouse-serv) ...
//! ```

use super::super::jobs::unstamp::plain;
use super::super::model::{Clock, Event, EventKind, MESSAGE_BYTES_MAX, Moment, bounded};
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
        stamped += usize::from(body(&String::from_utf8_lossy(line)).is_some());
    }
    stamped > 0 && stamped * 2 > all
}

pub(crate) fn reader() -> Box<dyn LineReader> {
    Box::new(Kernel::default())
}

#[derive(Debug, Default)]
struct Kernel {
    events: Vec<Event>,
}

impl LineReader for Kernel {
    fn line(&mut self, line: &Line<'_>) {
        let bytes = plain(line.bytes);
        if bytes.first() != Some(&b'[') && memchr::memmem::find(&bytes, b"kernel: ").is_none() {
            return;
        }
        let text = String::from_utf8_lossy(&bytes);
        let journal = || text.split_once("kernel: ").map(|(_, body)| (None, body));
        let Some((at, body)) = body(&text).or_else(journal) else {
            return;
        };
        let Some((kind, subject)) = told(body) else {
            return;
        };
        if self.events.len() < EVENTS_MAX {
            self.events.push(Event {
                kind,
                subject: bounded(subject, 200),
                at: at.or(line.printed),
                text: bounded(body.trim(), MESSAGE_BYTES_MAX),
                place: line.place,
            });
        }
    }

    fn finish(self: Box<Self>) -> Reading {
        Reading {
            events: self.events,
            ..Reading::default()
        }
    }
}

/// What a line says that happened, and to which process.
fn told(body: &str) -> Option<(EventKind, &str)> {
    let lower = body.to_ascii_lowercase();
    if lower.contains("out of memory: killed process")
        || lower.contains("out of memory: kill process")
    {
        let name = body
            .split_once('(')
            .and_then(|(_, rest)| rest.split_once(')'));
        return Some((EventKind::OutOfMemory, name.map_or("", |(name, _)| name)));
    }
    if let Some((name, rest)) = body.split_once('[')
        && let Some((_, rest)) = rest.split_once("]: ")
        && rest.starts_with("segfault at")
    {
        return Some((EventKind::Killed, name.trim()));
    }
    None
}

/// The text behind `[seconds since the start] ` or `[a date] `, and the moment where it is a date.
fn body(line: &str) -> Option<(Option<Moment>, &str)> {
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
