//! What the user said about names: by options, and by the folder that was given.

use std::net::Ipv4Addr;
use std::path::{Component, Path, PathBuf};

use globset::GlobMatcher;

use super::Artifact;
use super::beside::{DATA_FOLDERS, TABLE_FOLDERS};
use super::naming::is_generic;

/// A `NAME=GLOB` of `--node`, or a `GLOB` of `--run` with its own text as the name.
#[derive(Debug, Clone)]
pub struct NodeGlob {
    /// The node's name.
    pub name: String,
    /// What the artifact's path must match.
    pub glob: GlobMatcher,
}

/// What the user said about names.
#[derive(Debug, Clone, Default)]
pub struct Names {
    /// `--node`, first match wins.
    pub nodes: Vec<NodeGlob>,
    /// `--run`: folders that match are runs of their own.
    pub runs: Vec<GlobMatcher>,
    /// The one folder that was given, where that may be called after a node: it is the node of logs that nothing else names.
    pub folder: Option<String>,
}

impl Names {
    /// The node that the user calls an artifact's.
    pub fn node_of(&self, artifact: &Artifact) -> Option<&str> {
        given_node(artifact, self)
    }
}

/// Run and node as the user calls them, or else these.
pub(super) fn as_given(
    artifact: &Artifact,
    folders: &[&str],
    run: &[&str],
    node: &str,
    names: &Names,
) -> (String, String) {
    let given = given_node(artifact, names);
    let run = match run.split_last() {
        Some((last, above)) if given == Some(*last) => above,
        Some(_) | None => run,
    };
    let node = given.unwrap_or(node);
    let own = || {
        if run.is_empty() {
            ".".to_owned()
        } else {
            run.join("/")
        }
    };
    let run = given_run(folders, names).unwrap_or_else(own);
    (run, node.to_owned())
}

/// The node that the user calls an artifact's.
pub(super) fn given_node<'n>(artifact: &Artifact, names: &'n Names) -> Option<&'n str> {
    let mut nodes = names.nodes.iter();
    let given = nodes.find(|given| {
        given.glob.is_match(&artifact.path) || given.glob.is_match(&artifact.relative)
    });
    given.map(|given| given.name.as_str())
}

/// The outermost folder that a `--run` glob matches: a `*` of a glob may stand for several folders.
fn given_run(folders: &[&str], names: &Names) -> Option<String> {
    (1..=folders.len())
        .map(|n| folders[..n].join("/"))
        .find(|folder| names.runs.iter().any(|glob| glob.is_match(folder)))
}

/// Folders that lie in a node's and say what they hold.
const WITHIN: &[&str] = &[
    "log",
    "logs",
    "var",
    "clickhouse",
    "clickhouse-server",
    "clickhouse-keeper",
];

/// What folders are called after that somebody collects files in: what happened, when, what for, or which of two it is.
const COLLECTED: &[&str] = &[
    "after",
    "archive",
    "archives",
    "attachments",
    "backup",
    "bad",
    "base",
    "baseline",
    "before",
    "branch",
    "broken",
    "bug",
    "build",
    "bundle",
    "case",
    "ci",
    "collected",
    "current",
    "debug",
    "desktop",
    "diag",
    "diagnostics",
    "documents",
    "downloads",
    "dump",
    "evidence",
    "example",
    "files",
    "first",
    "fixed",
    "good",
    "incident",
    "issue",
    "job",
    "last",
    "main",
    "master",
    "new",
    "nightly",
    "old",
    "pr",
    "previous",
    "reference",
    "release",
    "report",
    "repro",
    "results",
    "run",
    "sample",
    "samples",
    "second",
    "soak",
    "stable",
    "support",
    "temp",
    "test",
    "tests",
    "ticket",
    "upload",
    "upstream",
    "work",
    "workspace",
];

/// The name of the one folder that was given, or in which all files lie that were, or of the one that it is the log folder of, unless
/// it says what was collected or where people keep files.
pub(super) fn folder_name(roots: &[PathBuf]) -> Option<String> {
    if let [root] = roots
        && std::fs::metadata(root).ok()?.is_dir()
    {
        return name_of(root);
    }
    let is_file = |root: &PathBuf| std::fs::metadata(root).is_ok_and(|meta| meta.is_file());
    let folder = roots.first()?.parent();
    let are_in_it = roots.iter().all(|it| it.parent() == folder && is_file(it));
    are_in_it.then(|| folder_of(roots.first()?)).flatten()
}

/// The same of the folder that a file lies in.
pub fn folder_of(file: &Path) -> Option<String> {
    let folder = file.parent()?;
    let is_here = folder.as_os_str().is_empty();
    name_of(if is_here { Path::new(".") } else { folder })
}

fn name_of(folder: &Path) -> Option<String> {
    let is_detour = folder.components().any(|part| part == Component::ParentDir);
    let whole = if is_detour {
        folder.canonicalize()
    } else {
        std::path::absolute(folder)
    };
    node_of_folder(&whole.ok()?)
}

fn node_of_folder(path: &Path) -> Option<String> {
    let parts = path.components().rev().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_str()),
        Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => {
            None
        }
    });
    let is_within = |name: &str| {
        let mut within = [WITHIN, DATA_FOLDERS, TABLE_FOLDERS].into_iter();
        within.any(|names| names.contains(&name)) && !COLLECTED.contains(&name)
    };
    let mut parts = parts.skip_while(|part| part.is_some_and(is_within));
    let name = parts.next()??;
    let above = parts.next().flatten();
    let is_home = above.is_some_and(|above| matches!(above, "home" | "Users"));
    let word = name.split(|c: char| !c.is_alphabetic()).next()?;
    let is_collected = is_collected(word) && !is_host(name);
    let is_address = name.parse::<Ipv4Addr>().is_ok();
    let is_node = !word.is_empty() && !is_collected && !is_generic(name) && !is_home;
    (is_node || is_address).then(|| name.to_owned())
}

/// Whether a word says what was collected.
fn is_collected(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    let one = lower.strip_suffix('s');
    COLLECTED.contains(&lower.as_str()) || one.is_some_and(|one| COLLECTED.contains(&one))
}

/// Words that say what a host does, too, where a number stands right behind: `master1`, but not `run1` or `master-2`.
const ROLES: &[&str] = &[
    "archive",
    "backup",
    "build",
    "ci",
    "main",
    "master",
    "reference",
    "support",
    "work",
];

/// Whether a name that begins with what was collected is a host's: `master1`, and `test-ch1`, where a name with a number of its own
/// stands behind.
fn is_host(name: &str) -> bool {
    let mut parts = name.split(['-', '_', '.']);
    let numbered = |part: &str| {
        let word = part.trim_end_matches(|c: char| c.is_ascii_digit());
        let is_one =
            !word.is_empty() && word.len() < part.len() && word.chars().all(char::is_alphabetic);
        is_one.then(|| word.to_ascii_lowercase())
    };
    let first = parts.next().and_then(numbered);
    let behind = parts.filter_map(numbered);
    first.is_some_and(|word| ROLES.contains(&word.as_str()))
        || behind
            .into_iter()
            .any(|word| word.chars().count() > 1 && !is_collected(&word) && word != "rc")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_called_after_a_node_or_says_what_it_holds() {
        for (path, node) in [
            ("/cases/42/keeper-2", Some("keeper-2")),
            ("/cases/42/keeper-2/logs", Some("keeper-2")),
            ("/cases/42/ch1/var/log/clickhouse-server", Some("ch1")),
            ("/cases/42/keeper-2/coordination/log", Some("keeper-2")),
            ("/cases/42/10.0.0.7", Some("10.0.0.7")),
            ("/home/jane/chi-main-0-1-0", Some("chi-main-0-1-0")),
            ("/cases/42/master1", Some("master1")),
            ("/cases/42/support1", Some("support1")),
            ("/cases/42/test-ch1", Some("test-ch1")),
            ("/cases/42/ünode", Some("ünode")),
            ("/cases/42/run1", None),
            ("/cases/42/master-2", None),
            ("/cases/42/release-v26", None),
            ("/cases/42/test-run7", None),
            ("/var/log/clickhouse-server", None),
            ("/home/jane/logs", None),
            ("/tmp", None),
            ("/srv/data", None),
            ("/cases/42/input", None),
            ("/cases/keeper-2/input", None),
            ("/builds/artifacts", None),
            ("/home/jane/Downloads", None),
            ("/home/jane/incident-42", None),
            ("/home/jane/2026-11-29", None),
            ("/home/jane/before", None),
            ("/home/jane/nightly-7", None),
            ("/tmp/.tmpA7d2", None),
            ("/", None),
        ] {
            assert_eq!(node_of_folder(Path::new(path)).as_deref(), node, "{path}");
        }
    }
}
