//! What the container tool says of containers: `docker inspect`, `docker ps`, `docker compose ps`, these also with
//! `--format json`.
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
    is_row(sample.trim_ascii_start())
        || lines.any(|line| Columns::of(&String::from_utf8_lossy(line)).is_some())
}

/// Whether a text begins with a container as JSON, alone or in a list.
fn is_row(text: &[u8]) -> bool {
    let text = text.strip_prefix(b"[").unwrap_or(text);
    let row = &text[..memchr::memchr(b'\n', text).unwrap_or(text.len())];
    let has = |key: &[u8]| memchr::memmem::find(row, key).is_some();
    row.starts_with(b"{\"")
        && has(b"\"State\":\"")
        && has(b"\"Image\":")
        && (has(b"\"Names\":\"") || has(b"\"Service\":\""))
}

/// A container as `docker ps --format json` and `docker compose ps --format json` write it.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct Row {
    name: String,
    names: String,
    state: String,
    status: String,
    health: String,
    exit_code: i64,
}

impl Row {
    fn name(&self) -> &str {
        if self.names.is_empty() {
            &self.name
        } else {
            &self.names
        }
    }

    /// `Exited (137) 2 minutes ago`: older ones of compose have the parts alone.
    fn status(&self) -> String {
        match (self.status.as_str(), self.state.as_str()) {
            ("", "exited") => format!("Exited ({})", self.exit_code),
            ("", state) if self.health.is_empty() => state.to_owned(),
            ("", state) => format!("{state} ({})", self.health),
            (status, _) => status.to_owned(),
        }
    }
}

/// What a signal ended, by the code with which a container exited, and was not asked to end: SIGINT and SIGTERM ask.
fn is_killed(code: i64) -> bool {
    (129..=192).contains(&code) && !matches!(code, 129 | 130 | 143)
}

/// The code in `Exited (137) 5 minutes ago`, `exited (137)`.
fn exit_code(status: &str) -> Option<i64> {
    let (word, rest) = status.split_once(" (")?;
    word.eq_ignore_ascii_case("exited")
        .then(|| rest.split_once(')')?.0.parse().ok())
        .flatten()
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
    } else if is_killed(exit) && state.status != "running" {
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
        let json = bytes.trim_ascii();
        if json.starts_with(b"{") || json.starts_with(b"[{") {
            self.json(json, line);
            return;
        }
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
        self.container(name, status, line);
    }

    fn finish(self: Box<Self>) -> Reading {
        Reading {
            events: self.events,
            ..Reading::default()
        }
    }
}

impl Table {
    fn json(&mut self, json: &[u8], line: &Line<'_>) {
        if !is_row(json) {
            return;
        }
        let rows = if json.starts_with(b"[") {
            serde_json::from_slice::<Vec<Row>>(json)
        } else {
            serde_json::from_slice::<Row>(json).map(|row| vec![row])
        };
        for row in rows.unwrap_or_default() {
            self.container(row.name(), &row.status(), line);
        }
    }

    fn container(&mut self, name: &str, status: &str, line: &Line<'_>) {
        if self.events.len() >= ROWS_MAX {
            return;
        }
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
        if exit_code(status).is_some_and(is_killed) {
            event(EventKind::Killed);
        }
    }
}
