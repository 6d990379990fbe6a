//! Which artifacts are pieces of which log, and in which order they are read.

use std::collections::BTreeMap;

use crate::intake::{Place, Role};
use crate::parsers::Format;

/// One artifact of a recognised format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Source {
    /// The index of the artifact.
    pub artifact: usize,
    /// Its format.
    pub format: Format,
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
}

/// Joins the placed sources into logs, ordered by run, node and name.
pub fn plan(placed: impl IntoIterator<Item = (Place, Source)>) -> Vec<Log> {
    let mut logs: BTreeMap<(String, String, String, Format), Vec<(Place, Source)>> = BTreeMap::new();
    for (place, source) in placed {
        let key = (place.run.clone(), place.node.clone(), place.log.clone(), source.format);
        logs.entry(key).or_default().push((place, source));
    }
    let make = |((run, node, name, _), mut pieces): ((String, String, String, Format), Vec<(Place, Source)>)| {
        // The file being written is the youngest, then piece 0, 1, ...
        pieces.sort_by_key(|(place, source)| (std::cmp::Reverse(place.piece.map_or(0, |n| u64::from(n) + 1)), source.artifact));
        let of = |role| Stream { pieces: pieces.iter().filter(|(p, _)| p.role == role).map(|(_, s)| *s).collect() };
        Log { run, node, name, main: of(Role::Main), err: of(Role::Err) }
    };
    logs.into_iter().map(make).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_joined_oldest_first_and_the_err_log_apart() {
        let place = |role, piece| Place { run: ".".into(), node: "n".into(), log: "server".into(), role, piece };
        let source = |artifact| Source { artifact, format: Format::ClickHouse };
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
