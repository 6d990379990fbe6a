//! Which artifacts are pieces of which log, and in which order they are read.

use std::collections::{BTreeMap, BTreeSet};

use crate::intake::{Place, Role, Rotation};
use crate::parsers::Format;

/// One artifact of a recognised format.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own about how a file came to be"
)]
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
    /// Whether somebody took it from a log, which may be here as well: it is wrapped, or its file is not called like a log.
    pub is_collected: bool,
    /// Whether a collector took all of it.
    pub is_whole: bool,
    /// Whether only some of its lines are here.
    pub is_excerpt: bool,
    /// Whether its records, or some of them, are known to stand in another log of its node.
    pub is_taken: bool,
    /// Whether it is read whole before the log that it is a view of: so the order of its records is its own affair.
    pub is_held: bool,
    /// Whether the pieces' numbers say that one before it is absent.
    pub follows_hole: bool,
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
    let mut logs: BTreeMap<Key, Pieces> = BTreeMap::new();
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
        let (written, apart) = set_apart(pieces);
        for pieces in [written, apart] {
            let log = log(&key, pieces);
            if !log.views.is_empty() {
                views.push(log);
            } else if log.main != Stream::default() || log.err != Stream::default() {
                planned.push(log);
            }
        }
    }
    for collected in take_collected(&mut planned) {
        place_views(&mut planned, collected);
    }
    for view in views {
        place_views(&mut planned, view);
    }
    planned.sort_by(|a, b| (&a.run, &a.node, &a.name).cmp(&(&b.run, &b.node, &b.name)));
    planned
}

/// Files of one log, with their places.
type Pieces = Vec<(Place, Source)>;

/// Sets apart what somebody took from the very log beside which it lies: it has the place of a piece, and is none.
fn set_apart(pieces: Pieces) -> (Pieces, Pieces) {
    let is_whole = |source: &Source| !source.is_excerpt && !source.is_taken;
    let has_whole = pieces.iter().any(|(_, source)| is_whole(source));
    let written = pieces.iter().filter(|(_, source)| !source.is_collected);
    let written: BTreeSet<_> = written
        .map(|(place, _)| (place.role, place.piece))
        .collect();
    let is_apart = |(place, source): &(Place, Source)| {
        let repeats = written.contains(&(place.role, place.piece));
        source.is_collected && (repeats || !is_whole(source) && has_whole)
    };
    let (apart, written) = pieces.into_iter().partition(is_apart);
    (written, apart)
}

/// Takes out what was collected of nodes whose log of the same format is here as it was written: whatever it was taken with, it
/// is a view of it. What the log lacks counts all the same.
fn take_collected(planned: &mut Vec<Log>) -> Vec<Log> {
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
    let programs = |is_of: fn(&Source) -> bool| {
        let mut programs: BTreeMap<_, BTreeSet<Option<Program>>> = BTreeMap::new();
        for log in planned.iter() {
            let own = sources(log).into_iter();
            for source in own.filter(|source| is_of(source) && is_dated(source)) {
                let programs = programs.entry(key(log, source.format)).or_default();
                programs.insert(program(&log.name));
            }
        }
        programs
    };
    let (written, whole) = (
        programs(|source| !source.is_collected),
        programs(|source| source.is_whole && !source.is_taken),
    );
    let is_view = |log: &Log| {
        let repeats = |source: &Source| {
            // Where no log is here as it was written, what a collector took of all of it is the log.
            let of = key(log, source.format);
            let whole = || whole.get(&of).filter(|_| !source.is_whole);
            let programs = written.get(&of).or_else(whole);
            let mut programs = programs.into_iter().flatten();
            let is_of = programs.any(|it| may_be_one(*it, program(&log.name)));
            source.is_collected && (is_of || source.is_taken && is_dated(source))
        };
        sources(log).iter().all(repeats)
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
    // Of a server and a keeper the server has system tables.
    let is_table = |view: &Source| !view.is_collected;
    let of = if exported.views.iter().any(is_table) {
        Some(Program::Server)
    } else {
        program(&exported.name)
    };
    let is_of = |log: &&mut Log| {
        let sources = log.main.pieces.iter().chain(&log.err.pieces);
        let mut formats = sources.map(|source| source.format);
        (&log.run, &log.node) == (&exported.run, &exported.node)
            && formats.next() == exported.views.first().map(|view| view.format)
            && may_be_one(program(&log.name), of)
    };
    let of_node = planned.iter_mut().filter(is_of);
    // The log of that name comes first, then one that says whose it is, and the server's before others.
    let best = of_node.min_by_key(|log| {
        let fit = match program(&log.name) {
            Some(writer) if writer == of.unwrap_or(Program::Server) => 0,
            None if !Place::is_excerpt_name(&log.name) => 1,
            Some(_) => 2,
            None => 3,
        };
        (log.name != exported.name, fit)
    });
    if let Some(log) = best {
        log.views.append(&mut exported.views);
        return;
    }
    let main = exported.views.remove(0);
    exported.main.pieces.push(main);
    planned.push(exported);
}

/// Who writes a log: a server and a keeper may run on one node, and neither log is a view of the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Program {
    Server,
    Keeper,
}

/// Who writes a log of that name, if the name says it.
fn program(name: &str) -> Option<Program> {
    if name.contains("keeper") {
        Some(Program::Keeper)
    } else if name.contains("server") {
        Some(Program::Server)
    } else {
        None
    }
}

/// Whether two logs may be the same program's, as far as their names say.
fn may_be_one(a: Option<Program>, b: Option<Program>) -> bool {
    a == b || a.is_none() || b.is_none()
}

fn log(key: &Key, mut pieces: Pieces) -> Log {
    // The file being written is the youngest.
    pieces.sort_by_key(|(place, source)| (place.piece.is_none(), place.piece, source.artifact));
    let of = |role| {
        let pieces = pieces.iter().filter(|(place, _)| place.role == role);
        let mut before = None;
        let pieces = pieces.map(|(place, source)| Source {
            follows_hole: before
                .replace(place.piece)
                .is_some_and(|before| is_hole(before, place.piece)),
            ..*source
        });
        Stream {
            pieces: pieces.collect(),
        }
    };
    let (main, err, views) = (of(Role::Main), of(Role::Err), of(Role::View).pieces);
    Log {
        run: key.run.clone(),
        node: key.node.clone(),
        name: key.name.clone(),
        main,
        err,
        views,
    }
}

/// Whether the numbers of two pieces that follow each other say that one between them is absent. The youngest has the number 0,
/// or 1, as whatever moves them away begins to count.
fn is_hole(before: Option<Rotation>, piece: Option<Rotation>) -> bool {
    match (before, piece) {
        (Some(Rotation::Number(before)), Some(Rotation::Number(piece))) => {
            before.0.abs_diff(piece.0) > 1
        }
        (Some(Rotation::Number(before)), None) => before.0 > 1,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;

    use super::*;

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
            is_collected: false,
            is_whole: false,
            is_excerpt: false,
            is_taken: false,
            is_held: false,
            follows_hole: false,
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
            is_collected: false,
            is_whole: false,
            is_excerpt: false,
            is_taken: false,
            is_held: false,
            follows_hole: false,
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
        // Between 10 and 2 seven are absent, and one between 2 and 0.
        let holes: Vec<bool> = logs[0].main.pieces.iter().map(|s| s.follows_hole).collect();
        assert_eq!(holes, [false, true, true, false]);
    }

    #[test]
    fn logs_of_a_server_and_a_keeper_are_no_views_of_each_other() {
        let place = |log: &str, role| Place {
            run: ".".into(),
            node: "n".into(),
            log: log.into(),
            role,
            piece: None,
        };
        let source = |artifact, is_collected| Source {
            artifact,
            stream: 0,
            format: Format::CLICKHOUSE,
            coarse: false,
            is_collected,
            is_whole: false,
            is_excerpt: false,
            is_taken: false,
            is_held: false,
            follows_hole: false,
        };
        let (server, keeper) = ("clickhouse-server", "clickhouse-keeper");
        // What is written, what is collected or exported beside it, and the number of logs.
        for (written, beside, role, is_collected, logs) in [
            (server, server, Role::Main, true, 1),
            (keeper, keeper, Role::Main, true, 1),
            (server, "journal", Role::Main, true, 1),
            (keeper, "journal", Role::Main, true, 1),
            (server, keeper, Role::Main, true, 2),
            (keeper, server, Role::Main, true, 2),
            (server, "text_log", Role::View, false, 1),
            (keeper, "text_log", Role::View, false, 2),
        ] {
            let found = plan([
                (place(written, Role::Main), source(0, false)),
                (place(beside, role), source(1, is_collected)),
            ]);
            assert_eq!(found.len(), logs, "{beside} beside {written}");
        }
        // Beside both, what says nothing is the server's, and what says keeper the keeper's.
        let found = plan([
            (place(keeper, Role::Main), source(0, false)),
            (place(server, Role::Main), source(1, false)),
            (place("journal", Role::Main), source(2, true)),
            (place("keeper-journal", Role::Main), source(3, true)),
        ]);
        let views: Vec<(&str, usize)> = found
            .iter()
            .flat_map(|log| {
                log.views
                    .iter()
                    .map(|view| (log.name.as_str(), view.artifact))
            })
            .collect();
        assert_eq!(views, [(keeper, 3), (server, 2)]);
    }
}
