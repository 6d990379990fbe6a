//! Runs and nodes of folders that hold no log, such as a node's data folder: told by their paths, and by the logs near them.

use std::collections::{BTreeMap, BTreeSet};

use super::Artifact;
use super::given::{Names, given_node};
use super::naming::{Place, is_generic, named_place};

/// Folders of a server's data that say what they hold, not whose it is.
pub(super) const DATA_FOLDERS: &[&str] = &[
    "wal",
    "member",
    "txnlog",
    "version-2",
    "datalog",
    "coordination",
    "raft",
    "pg_wal",
    "pg_xlog",
    "pgdata",
    "archive",
    "db",
    "rocksdb",
    "jetstream",
];

/// Places folders beside logs: each is given by one of its files, and by how many folders at the end of its path say what it is and
/// not whose. A folder belongs to the run of the nearest log of its
/// node, or else of the nearest log; where two runs are as near, and where there is no log, its own path names the run.
///
/// Gives runs and nodes, in the order of `folders`. Without logs, a run that all folders share is called `.`.
pub fn place_beside(
    folders: &[(&Artifact, usize)],
    logs: &[(&Artifact, &Place)],
    names: &Names,
) -> Vec<(String, String)> {
    let (by_folder, by_node) = by_folder(logs);
    let mut placed: Vec<(String, String)> = Vec::new();
    for (artifact, own) in folders {
        let mut folder = parts(&artifact.relative);
        folder.truncate(folder.len().saturating_sub(*own));
        let owned = folder
            .iter()
            .copied()
            .filter(|name| !DATA_FOLDERS.contains(name) && !is_generic(name));
        let given = names.folder.as_deref().into_iter();
        let owned: Vec<&str> = given.chain(owned).collect();
        let (own_run, mut node) = named_place(artifact, &folder, &owned, names);
        let (shared, near) = nearest(&by_folder, &artifact.relative);
        // Named by a folder that the nearest log is in too, which names another node: the folder is a host.
        let named_at = folder.iter().position(|name| *name == node);
        if named_at.is_some_and(|at| at < shared)
            && let Some(of) = near.and_then(|near| only(&near.nodes))
        {
            of.clone_into(&mut node);
        }
        let of_node = by_node.get(node.as_str());
        let of_node = of_node.and_then(|logs| nearest(logs, &artifact.relative).1);
        let only_run =
            |near: Option<&Near<'_>>| near.and_then(|near| only(&near.runs)).map(str::to_owned);
        let run = only_run(of_node)
            .or_else(|| only_run(near))
            .unwrap_or(own_run);
        placed.push((run, node));
    }
    let runs: BTreeSet<&String> = placed.iter().map(|(run, _)| run).collect();
    if logs.is_empty() && runs.len() == 1 {
        for (run, _) in &mut placed {
            ".".clone_into(run);
        }
    }
    placed
}

/// Folders that say that they hold exported tables, not whose.
pub(super) const TABLE_FOLDERS: &[&str] = &[
    "tables",
    "system",
    "system_tables",
    "system-tables",
    "dump",
    "dumps",
    "export",
    "exports",
    "queries",
];

/// Places exported tables, each given with the node that its file's name seems to name. That is believed where a log is of
/// that node or of one that is called alike, or where there are no logs. Otherwise a table is of the node of the nearest log.
///
/// Gives runs and nodes, in the order of `tables`.
pub fn place_tables(
    tables: &[(&Artifact, Option<&str>)],
    logs: &[(&Artifact, &Place)],
    names: &Names,
) -> Vec<(String, String)> {
    let (by_folder, by_node) = by_folder(logs);
    let kind = |name: &str| name.trim_matches(|c: char| c.is_ascii_digit()).to_owned();
    let kinds: BTreeSet<String> = by_node.keys().map(|node| kind(node)).collect();
    let mut placed: Vec<(String, String)> = Vec::new();
    for &(artifact, named) in tables {
        let folder = parts(&artifact.relative);
        let owned = folder.iter().copied();
        let owned = owned.filter(|name| !TABLE_FOLDERS.contains(name) && !is_generic(name));
        let given = names.folder.as_deref().into_iter();
        let owned: Vec<&str> = given.chain(owned).collect();
        let (own_run, own_node) = named_place(artifact, &folder, &owned, names);
        let near = nearest(&by_folder, &artifact.relative).1;
        let believed = named.filter(|name| logs.is_empty() || kinds.contains(&kind(name)));
        let node = given_node(artifact, names)
            .or(believed)
            .or_else(|| near.and_then(|near| only(&near.nodes)))
            .unwrap_or(&own_node)
            .to_owned();
        let of_node = by_node.get(node.as_str());
        let of_node = of_node.and_then(|logs| nearest(logs, &artifact.relative).1);
        let only_run =
            |near: Option<&Near<'_>>| near.and_then(|near| only(&near.runs)).map(str::to_owned);
        let above = |run: String| match run.strip_suffix(&node) {
            // A folder of the node's own name is the node's, and no run.
            Some("") => ".".to_owned(),
            Some(above) if above.ends_with('/') => above.trim_end_matches('/').to_owned(),
            Some(_) | None => run,
        };
        let run = only_run(of_node)
            .or_else(|| only_run(near))
            .unwrap_or_else(|| above(own_run));
        placed.push((run, node));
    }
    let runs: BTreeSet<&String> = placed.iter().map(|(run, _)| run).collect();
    if logs.is_empty() && runs.len() == 1 {
        for (run, _) in &mut placed {
            ".".clone_into(run);
        }
    }
    placed
}

/// The logs below each folder, all of them and those of each node.
fn by_folder<'p>(
    logs: &[(&'p Artifact, &'p Place)],
) -> (ByFolder<'p>, BTreeMap<&'p str, ByFolder<'p>>) {
    let mut by_folder = ByFolder::new();
    let mut by_node: BTreeMap<&str, ByFolder<'_>> = BTreeMap::new();
    for (artifact, place) in logs {
        let of_node = by_node.entry(&place.node).or_default();
        for folder in above(&artifact.relative) {
            for logs in [&mut by_folder, &mut *of_node] {
                let near = logs.entry(folder).or_default();
                near.runs.insert(&place.run);
                near.nodes.insert(&place.node);
            }
        }
    }
    (by_folder, by_node)
}

/// The folders of a path, without the file.
fn parts(path: &str) -> Vec<&str> {
    let folders = path.rsplit_once('/').map_or("", |(folders, _)| folders);
    folders.split('/').filter(|part| !part.is_empty()).collect()
}

/// Runs and nodes of the logs below each folder.
type ByFolder<'p> = BTreeMap<&'p str, Near<'p>>;

/// Runs and nodes of some logs.
#[derive(Default)]
struct Near<'p> {
    runs: BTreeSet<&'p str>,
    nodes: BTreeSet<&'p str>,
}

/// How many folders of a path are looked at: a path that was made to be deep must not cost more.
const DEPTH_MAX: usize = 64;

/// The folders above a file, the outermost first, which has no name.
fn above(path: &str) -> impl Iterator<Item = &str> {
    let ends = memchr::memchr_iter(b'/', path.as_bytes());
    std::iter::once("").chain(ends.take(DEPTH_MAX).map(|end| &path[..end]))
}

/// The logs that share most of a path, and how many folders they share.
fn nearest<'n, 'p>(logs: &'n ByFolder<'p>, path: &str) -> (usize, Option<&'n Near<'p>>) {
    let found = above(path).map_while(|folder| logs.get(folder));
    found
        .enumerate()
        .last()
        .map_or((0, None), |(shared, near)| (shared, Some(near)))
}

/// The only one of some names; `None` where there are several or none.
fn only<'n>(names: &BTreeSet<&'n str>) -> Option<&'n str> {
    names.first().copied().filter(|_| names.len() == 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intake::{UNNAMED, place_all};

    fn placed(logs: &[&str], folder: &str) -> (String, String) {
        let logs: Vec<Artifact> = logs
            .iter()
            .map(|path| Artifact::in_memory(path, &[]))
            .collect();
        let logs: Vec<&Artifact> = logs.iter().collect();
        let places = place_all(&logs, &vec![None; logs.len()], &Names::default());
        let beside: Vec<(&Artifact, &Place)> = logs.iter().copied().zip(&places).collect();
        let segment = Artifact::in_memory(folder, &[]);
        place_beside(&[(&segment, 0)], &beside, &Names::default()).remove(0)
    }

    #[test]
    fn a_table_is_of_the_node_that_its_name_or_the_nearest_log_names() {
        for (logs, table, named, node) in [
            (
                &["m1/clickhouse-server.log"][..],
                "m1/tables/errors.tsv",
                None,
                "m1",
            ),
            (
                &["n1/clickhouse-server.log", "n2/clickhouse-server.log"],
                "n2/errors.tsv",
                None,
                "n2",
            ),
            (&["ch1.log"], "ch2_errors.tsv", Some("ch2"), "ch2"),
            (&["ch1.log"], "before_errors.tsv", Some("before"), "ch1"),
            (
                &[
                    "logs/n1/clickhouse-server.log",
                    "logs/n2/clickhouse-server.log",
                ],
                "tables/n2/errors.tsv",
                None,
                "n2",
            ),
            (&[], "input/wren-1.errors.txt", Some("wren-1"), "wren-1"),
            (&[], "errors.tsv", None, UNNAMED),
        ] {
            let logs: Vec<Artifact> = logs
                .iter()
                .map(|path| Artifact::in_memory(path, &[]))
                .collect();
            let logs: Vec<&Artifact> = logs.iter().collect();
            let places = place_all(&logs, &vec![None; logs.len()], &Names::default());
            let beside: Vec<(&Artifact, &Place)> = logs.iter().copied().zip(&places).collect();
            let artifact = Artifact::in_memory(table, &[]);
            let placed = place_tables(&[(&artifact, named)], &beside, &Names::default());
            let expected = (".".to_owned(), node.to_owned());
            assert_eq!(placed, [expected], "{table} beside {logs:?}");
        }
    }

    #[test]
    fn a_data_folder_is_of_the_run_of_its_nodes_log() {
        for (logs, segment, run, node) in [
            (
                &["ctrl-1.log", "ctrl-2.log"][..],
                "data/ctrl-2/seg",
                ".",
                "ctrl-2",
            ),
            (&["logs/ctrl-2.log"], "ctrl-2/wal/seg", ".", "ctrl-2"),
            (&["paste.log"], "data/ctrl-2/seg", ".", "ctrl-2"),
            (
                &["soak-1/ctrl-2.log", "soak-2/ctrl-2.log"],
                "soak-2/data/ctrl-2/seg",
                "soak-2",
                "ctrl-2",
            ),
            (
                &["soak-1/ctrl-2.log", "soak-2/ctrl-2.log"],
                "soak-2/data/ctrl-9/seg",
                "soak-2",
                "ctrl-9",
            ),
            // As near to both: whose it is cannot be told, and is not guessed.
            (
                &["a/ctrl-2.log", "b/ctrl-2.log"],
                "disks/ctrl-2/seg",
                "disks",
                "ctrl-2",
            ),
            (
                &["clickhouse-server.log"],
                "coordination/log/changelog",
                ".",
                UNNAMED,
            ),
            (
                &["n1/clickhouse-server.log", "n2/clickhouse-server.log"],
                "n2/coordination/log/changelog",
                ".",
                "n2",
            ),
            (&["host-a/ctrl-1.log"], "host-a/wal/seg", ".", "ctrl-1"),
            (&[], "etcd-1/member/wal/segment", ".", "etcd-1"),
        ] {
            let expected = (run.to_owned(), node.to_owned());
            assert_eq!(placed(logs, segment), expected, "{segment} beside {logs:?}");
        }
    }
}
