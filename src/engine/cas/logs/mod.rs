//! The logs that the servers of a run would have written, in their own formats.

mod words;

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use super::names::{NodeId, Note, What};
use super::variant::Rule;
use super::world::World;
use crate::engine::sim::{Micros, SECOND};
use crate::time::{Timestamp, Zone};

use words::{Line, Teller, plain};

/// The release before the confirm looked at single references, and the first with it.
pub(super) const VERSIONS: [&str; 2] = [
    "26.6.2.20001.altinityantalya",
    "26.6.4.20001.altinityantalya",
];

/// One line in this time comes from the logger that limits itself.
const LIMITED: Micros = 30 * SECOND;

/// Writes the logs of a run.
pub struct Logs {
    begins: i64,
    is_soak: bool,
    nodes: Vec<NodeLogs>,
    failure: Option<io::Error>,
}

struct NodeLogs {
    main: BufWriter<File>,
    errors: BufWriter<File>,
    limited_until: Micros,
}

impl Logs {
    /// Makes `DIR/chN/` with both logs for each server; `begins` is the time of the first event, in microseconds of
    /// the epoch.
    pub fn create(dir: &Path, nodes: usize, begins: i64, is_soak: bool) -> io::Result<Self> {
        let mut all = Vec::new();
        for node in 0..nodes {
            let folder = dir.join(host(node));
            fs::create_dir_all(&folder)?;
            all.push(NodeLogs {
                main: BufWriter::new(File::create(folder.join("clickhouse-server.log"))?),
                errors: BufWriter::new(File::create(folder.join("clickhouse-server.err.log"))?),
                limited_until: 0,
            });
        }
        Ok(Self {
            begins,
            is_soak,
            nodes: all,
            failure: None,
        })
    }

    /// The first records of each server.
    pub fn start(&mut self, rule: Rule) {
        let version = VERSIONS[usize::from(rule == Rule::V2)];
        for node in 0..self.nodes.len() {
            let message = format!(
                "Starting ClickHouse {version} (revision: 54510, git hash: 0000000000000000000000000000000000000000, build id: REPLAY), PID 1"
            );
            self.write(0, node, &plain("Information", "Application", message));
            let ready = "Ready for connections.".to_owned();
            self.write(0, node, &plain("Information", "Application", ready));
        }
    }

    /// Takes a note down.
    pub fn note(&mut self, now: Micros, note: &Note, world: &World) {
        let is_limited = note.what == What::Wedged || note.what == What::Fenced;
        if is_limited && let Some(node) = self.nodes.get_mut(note.node) {
            if now < node.limited_until {
                return;
            }
            node.limited_until = now + LIMITED;
        }
        let teller = Teller {
            world,
            is_soak: self.is_soak,
        };
        for line in teller.lines(note) {
            self.write(now, note.node, &line);
        }
    }

    /// Writes what is still held back.
    pub fn finish(mut self) -> io::Result<()> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        for node in &mut self.nodes {
            node.main.flush()?;
            node.errors.flush()?;
        }
        Ok(())
    }

    fn write(&mut self, now: Micros, node: NodeId, line: &Line) {
        let at = Timestamp(self.begins + i64::try_from(now).unwrap_or(i64::MAX));
        let stamp = at.iso(Zone::Unknown).replace('-', ".").replace('T', " ");
        let thread = 600 + node;
        let mut text = format!(
            "{stamp} [ {thread} ] {{}} <{}> {}: {}\n",
            line.level, line.logger, line.message
        );
        for frame in line.trace {
            text.push_str(frame);
            text.push('\n');
        }
        let Some(logs) = self.nodes.get_mut(node) else {
            return;
        };
        let mut result = logs.main.write_all(text.as_bytes());
        if matches!(line.level, "Error" | "Warning" | "Notice" | "Fatal") {
            result = result.and_then(|()| logs.errors.write_all(text.as_bytes()));
        }
        if let Err(error) = result {
            self.failure.get_or_insert(error);
        }
    }
}

/// The host of a server, which is also its replica name.
pub fn host(node: NodeId) -> String {
    format!("ch{}", node + 1)
}
