//! What the container tool says of containers: `docker inspect`, `docker ps`, `docker compose ps`.
//!
//! A container that is up, or healthy, says nothing of the server in it: the check may be an `echo`, and the main process need
//! not be the server. So a state is told as a state.

use crate::record::split_lines;
use std::io::{BufRead, Read};

use serde::Deserialize;
use serde_json::Value;

use super::super::jobs::unstamp::plain;
use super::super::model::{Event, EventKind, MESSAGE_BYTES_MAX, NAME_BYTES_MAX, Place, bounded};
use super::super::moments::iso;
use super::super::praktika::DOCUMENT_BYTES_MAX;
use super::super::{Line, LineReader, Reading};

/// Containers of a table; a machine runs hundreds.
const ROWS_MAX: usize = 10_000;

pub(crate) fn claims_inspect(sample: &[u8]) -> bool {
    let start = sample.trim_ascii_start();
    let has = |key: &[u8]| memchr::memmem::find(&start[..start.len().min(8192)], key).is_some();
    start.starts_with(b"[") && has(b"\"State\"") && has(b"\"OOMKilled\"")
}

pub(crate) fn claims_table(sample: &[u8]) -> bool {
    let mut lines = split_lines(sample).take(20);
    lines.any(|line| Columns::of(&String::from_utf8_lossy(line)).is_some())
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct Container {
    name: String,
    state: State,
    restart_count: Value,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct State {
    status: String,
    #[serde(rename = "OOMKilled")]
    oom_killed: bool,
    exit_code: Value,
    started_at: String,
    finished_at: String,
    error: String,
    health: Option<Health>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct Health {
    status: String,
}

/// Reads what `docker inspect` prints.
pub(crate) fn read_inspect(reader: &mut dyn BufRead) -> Reading {
    let mut limited = Read::take(reader, DOCUMENT_BYTES_MAX);
    let mut json = serde_json::Deserializer::from_reader(std::io::BufReader::new(&mut limited));
    let mut reading = Reading::default();
    match Vec::<Container>::deserialize(&mut json) {
        Ok(all) => {
            for container in all.iter().take(ROWS_MAX) {
                inspect(container, &mut reading.events);
            }
        }
        Err(error) => reading.error = Some(error.to_string()),
    }
    reading
}

fn inspect(container: &Container, events: &mut Vec<Event>) {
    let state = &container.state;
    let exit = state.exit_code.as_i64().unwrap_or(0);
    let moment = |text: &str| {
        iso(text.as_bytes())
            .map(|(at, _)| at)
            .filter(|at| at.at.0 > 0)
    };
    let health = state
        .health
        .as_ref()
        .map_or("no health check", |it| it.status.as_str());
    let restarts = container.restart_count.as_u64().unwrap_or(0);
    let text = format!(
        "{}, {health}, exit code {exit}, killed for memory: {}, restarts {restarts}, started {}, finished {} {}",
        state.status,
        if state.oom_killed { "yes" } else { "no" },
        state.started_at,
        state.finished_at,
        state.error
    );
    let ended = (state.status != "running")
        .then(|| moment(&state.finished_at))
        .flatten();
    let mut event = |kind: EventKind, at| {
        events.push(Event {
            kind,
            subject: bounded(container.name.trim_start_matches('/'), NAME_BYTES_MAX),
            at,
            text: bounded(text.trim(), MESSAGE_BYTES_MAX),
            place: Place::default(),
        });
    };
    event(EventKind::Container, ended);
    if state.oom_killed {
        event(EventKind::OutOfMemory, moment(&state.finished_at));
    } else if exit == 137 && state.status != "running" {
        event(EventKind::Killed, ended);
    }
}

pub(crate) fn table_reader() -> Box<dyn LineReader> {
    Box::new(Table::default())
}

#[derive(Debug, Default)]
struct Table {
    columns: Option<Columns>,
    events: Vec<Event>,
}

/// Where the status and the name begin in the lines of a table.
#[derive(Debug, Clone, Copy)]
struct Columns {
    name: usize,
    status: usize,
}

impl Columns {
    fn of(line: &str) -> Option<Self> {
        let line = line.trim_end();
        let is_head = line.starts_with("CONTAINER ID ") || line.starts_with("NAME ");
        let status = line.find("STATUS")?;
        let name = if line.starts_with("NAME ") {
            0
        } else {
            line.find("NAMES")?
        };
        (is_head && line.contains("COMMAND")).then_some(Self { name, status })
    }
}

impl LineReader for Table {
    fn line(&mut self, line: &Line<'_>) {
        let bytes = plain(line.bytes);
        if self.columns.is_none()
            && !bytes.starts_with(b"CONTAINER ID ")
            && !bytes.starts_with(b"NAME ")
        {
            return;
        }
        let text = String::from_utf8_lossy(&bytes);
        if let Some(columns) = Columns::of(&text) {
            self.columns = Some(columns);
            return;
        }
        let Some(columns) = self.columns else { return };
        // The fields of a row are cut at the columns of the head, which are two spaces apart at least.
        let field = |at: usize| {
            text.get(at..)
                .map(|rest| rest.split("  ").next().unwrap_or_default().trim())
        };
        let (Some(name), Some(status)) = (field(columns.name), field(columns.status)) else {
            self.columns = None;
            return;
        };
        let is_state = [
            "Up ",
            "Exited ",
            "Restarting ",
            "Created",
            "Dead",
            "Paused",
            "running",
            "exited",
        ];
        if name.is_empty() || !is_state.iter().any(|start| status.starts_with(start)) {
            self.columns = None;
            return;
        }
        if self.events.len() < ROWS_MAX {
            let mut event = |kind: EventKind| {
                self.events.push(Event {
                    kind,
                    subject: bounded(name, NAME_BYTES_MAX),
                    at: line.printed,
                    text: bounded(status, MESSAGE_BYTES_MAX),
                    place: line.place,
                });
            };
            event(EventKind::Container);
            if status.starts_with("Exited (137)") {
                event(EventKind::Killed);
            }
        }
    }

    fn finish(self: Box<Self>) -> Reading {
        Reading {
            events: self.events,
            ..Reading::default()
        }
    }
}
