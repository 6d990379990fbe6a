//! Runs, nodes and logs, named from paths and never invented.
//!
//! ```text
//! soak-3/_instances/ch1/logs/clickhouse-server.err.log.2.gz
//! ^run              ^node    ^log              ^role  ^piece
//! ```
//!
//! Folders whose names only say what is inside (`logs`, `_instances`, `input`) name nothing. A file's own name names the
//! node where it is not one of the usual names of a log. What names no node is [`UNNAMED`].

use std::collections::{BTreeMap, BTreeSet};

use super::Artifact;
use super::file_name::{Role, Rotation, split_name};
use super::given::{Names, as_given};

/// The node of files whose path names none.
pub const UNNAMED: &str = "(unnamed)";

/// Folders that say what they hold, not whose it is.
const GENERIC_FOLDERS: &[&str] = &[
    "input",
    "inputs",
    "log",
    "logs",
    "_instances",
    "instances",
    "artifacts",
    "artifact",
    "var",
    "data",
    "tmp",
    "output",
    "out",
    "clickhouse-server",
    "clickhouse-keeper",
    "clickhouse",
    "server",
    "docker",
    "opt",
    "srv",
    "home",
    "etc",
];

/// File stems that say what they hold, not whose it is.
const GENERIC_STEMS: &[&str] = &[
    "clickhouse-server",
    "clickhouse-keeper",
    "clickhouse",
    "server",
    "keeper",
    "debug",
    "trace",
    "stderr",
    "stdout",
    "stdin",
    "console",
    "output",
    "log",
    "zookeeper",
    "etcd",
    "nats",
    "nats-server",
    "mongod",
    "mongos",
    "mongodb",
    "cockroach",
    "tikv",
    "tikv-server",
    "pd",
    "consul",
    "vault",
    "nomad",
    "soak",
    "harness",
    "clickhouse-server-stderr",
    "clickhouse-server-stdout",
];

/// Stems of files that people write what they found in a log into.
const EXCERPT_STEMS: &[&str] = &[
    "error", "errors", "excerpt", "extract", "grep", "matches", "out", "snippet", "tail",
    "warnings", "zgrep",
];

/// Where an artifact belongs, told by its path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The run: the path above the node, `.` when there is nothing.
    pub run: String,
    /// The node, or [`UNNAMED`].
    pub node: String,
    /// The log's own name: pieces of one log share it.
    pub log: String,
    /// Main log or err.log.
    pub role: Role,
    /// Which rotated piece it is; `None` is the file being written.
    pub piece: Option<Rotation>,
}

impl Place {
    /// Whether a log's name says that somebody wrote into its file what they found in a log.
    pub fn is_excerpt_name(log: &str) -> bool {
        // `errors-210`, `grep2`: the number says what was looked for, or which try it was.
        let word = log.trim_end_matches(|c: char| c.is_ascii_digit());
        let word = word.trim_end_matches(['-', '_', '.']);
        EXCERPT_STEMS.contains(&word.to_ascii_lowercase().as_str())
    }

    /// Whether a log's name says what writes it, and not whose it is or what somebody looked for.
    pub fn is_usual_name(log: &str) -> bool {
        GENERIC_STEMS.contains(&log)
    }
}

/// Places every log. When all have the same run, it is called `.`.
///
/// `told` is the node that the lines of each log name, where they do.
pub fn place_all(artifacts: &[&Artifact], told: &[Option<&str>], names: &Names) -> Vec<Place> {
    let mut places: Vec<Place> = artifacts
        .iter()
        .zip(told)
        .map(|(artifact, told)| place(artifact, *told, names))
        .collect();
    if names.runs.is_empty() {
        join_nodes_folders(told, &mut places);
    }
    leave_out_descriptions(&mut places);
    keep_folders_apart(artifacts, &mut places);
    know_runs_from_nodes(&mut places);
    let one_run = places.windows(2).all(|pair| pair[0].run == pair[1].run);
    if one_run {
        for place in &mut places {
            ".".clone_into(&mut place.run);
        }
    }
    places
}

/// Folders beside each other, each with the log of one node that its lines name, and each of another one, are hosts of one
/// run and not runs.
fn join_nodes_folders(told: &[Option<&str>], places: &mut [Place]) {
    let mut nodes: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut other: BTreeSet<&str> = BTreeSet::new();
    for (place, told) in places.iter().zip(told) {
        nodes.entry(&place.run).or_default().insert(&place.node);
        if told.is_none() {
            other.insert(&place.run);
        }
    }
    let above = |run: &str| match run.rsplit_once('/') {
        Some((above, _)) => above.to_owned(),
        None => ".".to_owned(),
    };
    let mut hosts: BTreeMap<String, Vec<(&str, &BTreeSet<&str>)>> = BTreeMap::new();
    for (run, of) in nodes.iter().filter(|(run, _)| **run != ".") {
        hosts.entry(above(run)).or_default().push((run, of));
    }
    let mut joined: BTreeMap<String, String> = BTreeMap::new();
    for (run, hosts) in hosts {
        let of: BTreeSet<&str> = hosts
            .iter()
            .flat_map(|(_, of)| of.iter().copied())
            .collect();
        let one_each = hosts
            .iter()
            .all(|(host, of)| of.len() == 1 && !other.contains(host));
        if one_each && of.len() == hosts.len() && hosts.len() > 1 {
            joined.extend(
                hosts
                    .iter()
                    .map(|(host, _)| ((*host).to_owned(), run.clone())),
            );
        }
    }
    for place in places {
        if let Some(run) = joined.get(&place.run) {
            place.run.clone_from(run);
        }
    }
}

/// A name with one dot is a node's and a word on what is in the file (`ch1.console.log`), unless other logs begin alike.
fn leave_out_descriptions(places: &mut [Place]) {
    let name = |place: &Place| {
        let (name, word) = place
            .node
            .split_once('.')
            .filter(|_| place.node == place.log)?;
        let is_word = !name.is_empty() && !word.is_empty() && !word.contains('.');
        let is_named =
            is_word && !GENERIC_STEMS.contains(&name) && node_of_stem(name) == Some(name);
        is_named.then(|| name.to_owned())
    };
    let mut logs: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
    for place in places.iter() {
        let node = name(place).unwrap_or_else(|| place.node.clone());
        logs.entry((place.run.clone(), node))
            .or_default()
            .insert(place.log.clone());
    }
    for place in places {
        let Some(name) = name(place) else { continue };
        let alone = logs
            .get(&(place.run.clone(), name.clone()))
            .is_some_and(|logs| logs.len() == 1);
        if alone {
            place.node = name;
        }
    }
}

/// The pod whose container's log Kubernetes keeps under such a path: `NAMESPACE_POD_UID/CONTAINER/0.log`, or
/// `POD_NAMESPACE_CONTAINER-ID.log`.
fn pod<'p>(folders: &[&'p str], stem: &'p str) -> Option<&'p str> {
    let above = folders.iter().rev().nth(1);
    above.and_then(|folder| pod_of_folder(folder)).or_else(|| {
        let mut parts = stem.split('_');
        let (pod, _, container) = (parts.next()?, parts.next()?, parts.next()?);
        let (_, id) = container.rsplit_once('-')?;
        (parts.next().is_none() && id.len() == 64 && is_id(id)).then_some(pod)
    })
}

/// The pod of a folder `NAMESPACE_POD_UID`.
fn pod_of_folder(folder: &str) -> Option<&str> {
    let mut parts = folder.split('_');
    let (_, pod, uid) = (parts.next()?, parts.next()?, parts.next()?);
    (parts.next().is_none() && uid.len() >= 32 && is_id(uid)).then_some(pod)
}

fn is_id(text: &str) -> bool {
    text.bytes()
        .all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}

/// Two files that claim the same place from different folders are of different runs, named by those folders.
fn keep_folders_apart(artifacts: &[&Artifact], places: &mut [Place]) {
    let folder = |at: usize| {
        artifacts[at]
            .whole
            .rsplit_once('/')
            .map_or("", |(folder, _)| folder)
    };
    let mut claims: BTreeMap<&Place, &str> = BTreeMap::new();
    let mut torn: BTreeSet<(String, String)> = BTreeSet::new();
    for (at, place) in places.iter().enumerate() {
        if *claims.entry(place).or_insert_with(|| folder(at)) != folder(at) {
            torn.insert((place.run.clone(), place.node.clone()));
        }
    }
    for (at, place) in places.iter_mut().enumerate() {
        if torn.contains(&(place.run.clone(), place.node.clone())) {
            place.run = if folder(at).is_empty() {
                ".".to_owned()
            } else {
                folder(at).to_owned()
            };
        }
    }
}

/// A folder that holds nodes is a run: a file that lies in it beside them is of that run and of no node of its name.
fn know_runs_from_nodes(places: &mut [Place]) {
    let runs: BTreeSet<String> = places.iter().map(|place| place.run.clone()).collect();
    for place in places {
        let folder = match place.run.as_str() {
            "." => place.node.clone(),
            run => format!("{run}/{}", place.node),
        };
        if runs.contains(&folder) {
            place.run = folder;
            UNNAMED.clone_into(&mut place.node);
        }
    }
}

fn place(artifact: &Artifact, told: Option<&str>, names: &Names) -> Place {
    let (folders, file) = match artifact.relative.rsplit_once('/') {
        Some((folders, file)) => (folders.split('/').collect(), file),
        None => (Vec::new(), artifact.relative.as_str()),
    };
    let (stem, role, piece) = split_name(file);
    let own = folders
        .iter()
        .copied()
        .filter(|name| !is_generic(name) && !name.is_empty());
    let named: Vec<&str> = names.folder.as_deref().into_iter().chain(own).collect();
    let named_by = told
        .or_else(|| pod(&folders, stem))
        .or_else(|| node_of_stem(stem));
    let (run, node) = match named_by {
        Some(node) => {
            // A folder of the node's own name is the node's, and no run.
            let is_own = |folder: &&str| *folder == node || pod_of_folder(folder) == Some(node);
            let own = named.iter().position(is_own);
            let run = &named[..own.unwrap_or(named.len())];
            as_given(artifact, &folders, run, node, names)
        }
        None => named_place(artifact, &folders, &named, names),
    };
    Place {
        run,
        node,
        log: stem.to_owned(),
        role,
        piece,
    }
}

/// Whether a folder says what it holds, not whose it is.
pub(super) fn is_generic(folder: &str) -> bool {
    GENERIC_FOLDERS.contains(&folder)
}

/// Run and node of a folder: `folders` is its path, `named` what of it is not generic.
pub(super) fn named_place(
    artifact: &Artifact,
    folders: &[&str],
    named: &[&str],
    names: &Names,
) -> (String, String) {
    let (run, node) = match named.split_last() {
        Some((node, run)) => (run, *node),
        None => (&[][..], UNNAMED),
    };
    as_given(artifact, folders, run, node, names)
}

/// The node that a file's stem names: `ch1`, or the `ch1` of `clickhouse-server-ch1`.
fn node_of_stem(stem: &str) -> Option<&str> {
    if GENERIC_STEMS.contains(&stem) || Place::is_excerpt_name(stem) {
        return None;
    }
    let tail = [
        "clickhouse-server-",
        "clickhouse-server.",
        "clickhouse-server_",
        "clickhouse-keeper-",
    ];
    let node = tail
        .iter()
        .find_map(|prefix| stem.strip_prefix(prefix))
        .unwrap_or(stem);
    (!node.is_empty()).then_some(node)
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;

    use super::super::given::NodeGlob;
    use super::*;

    fn placed(relative: &str, names: &Names) -> (String, String, String, Role, Option<Rotation>) {
        let artifact = Artifact::in_memory(relative, &[]);
        let place = place(&artifact, None, names);
        (place.run, place.node, place.log, place.role, place.piece)
    }

    #[test]
    fn paths_name_runs_nodes_roles_and_pieces() {
        for (path, run, node, log, role, piece) in [
            (
                "soak-3/_instances/ch1/logs/clickhouse-server.err.log.2.gz",
                "soak-3",
                "ch1",
                "clickhouse-server",
                Role::Err,
                Some(Rotation::Number(Reverse(2))),
            ),
            (
                "ch1/clickhouse-server.log",
                ".",
                "ch1",
                "clickhouse-server",
                Role::Main,
                None,
            ),
            (
                "archive_4g/ch2.err.log",
                "archive_4g",
                "ch2",
                "ch2",
                Role::Err,
                None,
            ),
            (
                "clickhouse-server.log.0",
                ".",
                UNNAMED,
                "clickhouse-server",
                Role::Main,
                Some(Rotation::Number(Reverse(0))),
            ),
            (
                "input/clickhouse-server.log",
                ".",
                UNNAMED,
                "clickhouse-server",
                Role::Main,
                None,
            ),
            (
                "clickhouse-server-n7.log",
                ".",
                "n7",
                "clickhouse-server-n7",
                Role::Main,
                None,
            ),
            ("n1/stderr.log", ".", "n1", "stderr", Role::Main, None),
            ("srv-7.log", ".", "srv-7", "srv-7", Role::Main, None),
        ] {
            let expected = (run.to_owned(), node.to_owned(), log.to_owned(), role, piece);
            assert_eq!(placed(path, &Names::default()), expected, "{path}");
        }
    }

    #[test]
    fn what_the_user_says_wins() {
        let glob = |text: &str| globset::Glob::new(text).unwrap().compile_matcher();
        let names = Names {
            nodes: vec![NodeGlob {
                name: "web".to_owned(),
                glob: glob("**/10.0.0.1/*"),
            }],
            runs: vec![glob("jobs/*")],
            folder: None,
        };
        let (run, node, ..) = placed("jobs/b7/10.0.0.1/clickhouse-server.log", &names);
        assert_eq!((run.as_str(), node.as_str()), ("jobs/b7", "web"));
    }

    #[test]
    fn nodes_that_lines_name_are_of_one_run_in_whatever_folders_they_lie() {
        for paths in [
            ["ctrl-1/ctrl-1.log", "ctrl-2/ctrl-2.log"],
            ["ctrl-1/ctrl.log", "ctrl-2/ctrl.log"],
            ["ctrl-1/logs/ctrl.log", "ctrl-2/logs/ctrl.log"],
            ["host-a/ctrl-1.log", "host-b/ctrl-2.log"],
            ["ctrl-1.log", "ctrl-2.log"],
        ] {
            let artifacts = paths.map(|path| Artifact::in_memory(path, &[]));
            let artifacts: Vec<&Artifact> = artifacts.iter().collect();
            let told = [Some("ctrl-1"), Some("ctrl-2")];
            let placed = place_all(&artifacts, &told, &Names::default());
            let placed: Vec<(&str, &str)> = placed.iter().map(|p| (&*p.run, &*p.node)).collect();
            assert_eq!(placed, [(".", "ctrl-1"), (".", "ctrl-2")], "{paths:?}");
        }
        // The same node in two folders: those are runs.
        let artifacts = ["a/ctrl-1.log", "b/ctrl-1.log"].map(|path| Artifact::in_memory(path, &[]));
        let artifacts: Vec<&Artifact> = artifacts.iter().collect();
        let placed = place_all(&artifacts, &[Some("ctrl-1"); 2], &Names::default());
        assert_eq!((&*placed[0].run, &*placed[1].run), ("a", "b"));
    }

    #[test]
    fn a_file_beside_nodes_is_of_their_run() {
        let paths = ["soak-1/ch1/server.log", "soak-1/soak.log", "soak-2/ch1.log"];
        let artifacts = paths.map(|path| Artifact::in_memory(path, &[]));
        let artifacts: Vec<&Artifact> = artifacts.iter().collect();
        let named: Vec<(String, String)> = place_all(&artifacts, &[None; 3], &Names::default())
            .into_iter()
            .map(|place| (place.run, place.node))
            .collect();
        let expected = [("soak-1", "ch1"), ("soak-1", UNNAMED), ("soak-2", "ch1")];
        assert_eq!(named, expected.map(|(a, b)| (a.to_owned(), b.to_owned())));
    }
}
