//! Which artifacts are pieces of which log, and in which order they are read.

use std::collections::{BTreeMap, BTreeSet};

use crate::intake::{Place, Role};
use crate::parsers::Format;

/// One artifact of a recognised format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Source {
    /// The index of the artifact.
    pub artifact: usize,
    /// Which of its logs, where a wrapper holds several.
    pub stream: usize,
    /// Its format.
    pub format: Format,
    /// Whether its stamps name the second alone.
    pub coarse: bool,
    /// Whether it was wrapped when it was collected, so that the log itself may be here as well.
    pub is_wrapped: bool,
    /// Whether only some of its lines are here.
    pub is_excerpt: bool,
}

/// The pieces of one log file, oldest first.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Stream {
    /// The pieces.
    pub pieces: Vec<Source>,
}

/// A log and the err.log that repeats its worse records.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Log {
    /// The run.
    pub run: String,
    /// The node.
    pub node: String,
    /// The log's own name.
    pub name: String,
    /// The main log; empty where only the err.log is there.
    pub main: Stream,
    /// The err.log; often empty.
    pub err: Stream,
    /// Exports of `system.text_log` beside it and what a collector took of it, each a view of its own of the same records.
    pub views: Vec<Source>,
}

impl Log {
    /// Whether a record of it may stand in the err.log, too.
    pub fn has_twins(&self) -> bool {
        !self.main.pieces.is_empty() && !self.err.pieces.is_empty()
    }
}

/// What tells one log from another.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    run: String,
    node: String,
    name: String,
    format: Format,
}

/// Joins the placed sources into logs, ordered by run, node and name.
pub fn plan(placed: impl IntoIterator<Item = (Place, Source)>) -> Vec<Log> {
    let mut logs: BTreeMap<Key, Vec<(Place, Source)>> = BTreeMap::new();
    for (place, source) in placed {
        let (run, node, name) = (place.run.clone(), place.node.clone(), place.log.clone());
        let key = Key {
            run,
            node,
            name,
            format: source.format,
        };
        logs.entry(key).or_default().push((place, source));
    }
    let mut planned: Vec<Log> = Vec::new();
    let mut views: Vec<Log> = Vec::new();
    for (key, pieces) in logs {
        let log = log(key, pieces);
        if log.views.is_empty() {
            planned.push(log);
        } else {
            views.push(log);
        }
    }
    for wrapped in take_wrapped(&mut planned) {
        place_views(&mut planned, wrapped);
    }
    for view in views {
        place_views(&mut planned, view);
    }
    planned.sort_by(|a, b| (&a.run, &a.node, &a.name).cmp(&(&b.run, &b.node, &b.name)));
    planned
}

/// Takes out the wrapped logs of nodes whose log of the same format is here as it was written: whatever collected them, they
/// are views of it. What it lacks counts all the same.
fn take_wrapped(planned: &mut Vec<Log>) -> Vec<Log> {
    let sources = |log: &Log| {
        let pieces = log.main.pieces.iter().chain(&log.err.pieces);
        pieces.copied().collect::<Vec<_>>()
    };
    let key = |log: &Log, format| (log.run.clone(), log.node.clone(), format);
    // Records without a stamp of their own cannot be told from others.
    let is_dated = |source: &Source| {
        let spec = source.format.spec();
        spec.counts_records && !spec.dateless && !spec.nodes_in_lines
    };
    let mut written = BTreeSet::new();
    for log in planned.iter() {
        let own = sources(log)
            .into_iter()
            .filter(|source| !source.is_wrapped && is_dated(source));
        written.extend(own.map(|source| key(log, source.format)));
    }
    let is_view = |log: &Log| {
        sources(log)
            .iter()
            .all(|source| source.is_wrapped && written.contains(&key(log, source.format)))
    };
    let (views, rest) = std::mem::take(planned).into_iter().partition(is_view);
    *planned = rest;
    let as_views = |log: Log| {
        let views = sources(&log);
        Log {
            main: Stream::default(),
            err: Stream::default(),
            views,
            ..log
        }
    };
    Vec::into_iter(views).map(as_views).collect()
}

/// Puts exports beside the log of their node that they repeat. Where it has none, the first one is the log.
fn place_views(planned: &mut Vec<Log>, mut exported: Log) {
    let is_of = |log: &&mut Log| {
        let sources = log.main.pieces.iter().chain(&log.err.pieces);
        let mut formats = sources.map(|source| source.format);
        (&log.run, &log.node) == (&exported.run, &exported.node)
            && formats.next() == exported.views.first().map(|view| view.format)
    };
    // Of a server and a keeper the server has the table.
    let of_node = planned.iter_mut().filter(is_of);
    let best = of_node.min_by_key(|log| !log.name.contains("server"));
    if let Some(log) = best {
        log.views.append(&mut exported.views);
        return;
    }
    let main = exported.views.remove(0);
    exported.main.pieces.push(main);
    planned.push(exported);
}

fn log(key: Key, mut pieces: Vec<(Place, Source)>) -> Log {
    // The file being written is the youngest.
    pieces.sort_by_key(|(place, source)| (place.piece.is_none(), place.piece, source.artifact));
    let of = |role| Stream {
        pieces: pieces
            .iter()
            .filter(|(place, _)| place.role == role)
            .map(|(_, s)| *s)
            .collect(),
    };
    let (main, err, views) = (of(Role::Main), of(Role::Err), of(Role::View).pieces);
    Log {
        run: key.run,
        node: key.node,
        name: key.name,
        main,
        err,
        views,
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;

    use super::*;
    use crate::intake::Rotation;

    #[test]
    fn dated_pieces_are_older_the_earlier_their_date() {
        let place = |day: u64| Place {
            run: ".".into(),
            node: "n".into(),
            log: "server".into(),
            role: Role::Main,
            piece: (day > 0).then_some(Rotation::Date(day)),
        };
        let source = |artifact| Source {
            artifact,
            stream: 0,
            format: Format::CLICKHOUSE,
            coarse: false,
            is_wrapped: false,
            is_excerpt: false,
        };
        let logs = plan([
            (place(0), source(0)),
            (place(20_261_129), source(1)),
            (place(20_261_128), source(2)),
        ]);
        let order: Vec<usize> = logs[0].main.pieces.iter().map(|s| s.artifact).collect();
        assert_eq!(order, [2, 1, 0]);
    }

    #[test]
    fn pieces_are_joined_oldest_first_and_the_err_log_apart() {
        let place = |role, number: Option<u32>| Place {
            run: ".".into(),
            node: "n".into(),
            log: "server".into(),
            role,
            piece: number.map(|number| Rotation::Number(Reverse(number))),
        };
        let source = |artifact| Source {
            artifact,
            stream: 0,
            format: Format::CLICKHOUSE,
            coarse: false,
            is_wrapped: false,
            is_excerpt: false,
        };
        let logs = plan([
            (place(Role::Main, None), source(0)),
            (place(Role::Main, Some(0)), source(1)),
            (place(Role::Main, Some(10)), source(2)),
            (place(Role::Main, Some(2)), source(3)),
            (place(Role::Err, None), source(4)),
        ]);
        let order: Vec<usize> = logs[0].main.pieces.iter().map(|s| s.artifact).collect();
        assert_eq!((logs.len(), order), (1, vec![2, 3, 1, 0]));
        assert_eq!(logs[0].err.pieces, [source(4)]);
    }
}
