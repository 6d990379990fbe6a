//! Whose folder a listing lists: what headings, prompts, paths and names of files say of it.
//!
//! ```text
//! ==> keeper-1 <==
//! root@keeper-1:~# ls -l /srv/log
//! /backup/keeper-1/log:
//! ```
//!
//! A name that ends in a number is a node's, but for words that say what is kept somewhere: two disks of one node are no two nodes.

/// What folders and files are called after that are no nodes.
const NO_NODES: &[&str] = &[
    "backup",
    "case",
    "changelog",
    "changelogs",
    "copy",
    "data",
    "day",
    "db",
    "dir",
    "disk",
    "file",
    "files",
    "hdd",
    "incident",
    "list",
    "listing",
    "log",
    "logs",
    "ls",
    "mnt",
    "mount",
    "new",
    "nvme",
    "old",
    "out",
    "part",
    "release",
    "run",
    "sd",
    "segment",
    "shard",
    "snapshot",
    "snapshots",
    "ssd",
    "step",
    "store",
    "table",
    "test",
    "tmp",
    "user",
    "v",
    "version",
    "vol",
    "volume",
    "wal",
    "wals",
];

/// What stands beside a node's name in the name of a listing's file.
const BESIDE: &[&str] = &[
    "changelog",
    "changelogs",
    "coordination",
    "dir",
    "du",
    "files",
    "find",
    "folder",
    "list",
    "listing",
    "log",
    "logs",
    "ls",
    "names",
    "tar",
    "tree",
    "wal",
    "wals",
];

/// How many words a heading has: more are a text.
const WORDS_MAX: usize = 8;

/// The node's name that a word is, without what stands around it and without its domain.
fn node(word: &str) -> Option<&str> {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    let host = word.split('.').next().unwrap_or(word);
    let name = host.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-' || c == '_');
    let is_numbered = host.ends_with(|c: char| c.is_ascii_digit());
    let is_name = name.starts_with(char::is_alphabetic)
        && name
            .chars()
            .all(|c| c.is_alphabetic() || matches!(c, '-' | '_'));
    (is_numbered && is_name && is_no_other(name)).then_some(host)
}

/// Whether a word does not say what is kept somewhere.
fn is_no_other(name: &str) -> bool {
    let last = name.rsplit(['-', '_']).next().unwrap_or(name);
    !NO_NODES.contains(&last.to_ascii_lowercase().as_str())
}

/// The node that a folder's path names: the innermost, where several could be.
pub(super) fn of_path(folder: &str) -> Option<&str> {
    folder
        .rsplit('/')
        .find_map(|part| node(part).filter(|name| *name == part))
}

/// The node that the name of a listing's file names: `keeper-1.ls.txt`, `wal-ls-keeper-1.txt`.
pub fn of_file(path: &str) -> Option<&str> {
    let file = path.rsplit('/').next().unwrap_or(path);
    file.split(['.', ' ']).find_map(|part| {
        let mut name = part;
        while let Some((word, rest)) = name.split_once(['-', '_']) {
            if !BESIDE.contains(&word.to_ascii_lowercase().as_str()) {
                break;
            }
            name = rest;
        }
        while let Some((rest, word)) = name.rsplit_once(['-', '_']) {
            if !BESIDE.contains(&word.to_ascii_lowercase().as_str()) {
                break;
            }
            name = rest;
        }
        node(name)
    })
}

/// The node that a line between two lists names.
pub(super) fn of_heading(line: &str) -> Option<&str> {
    let words = || line.split_whitespace();
    if words().count() > WORDS_MAX {
        return None;
    }
    let named = words().find_map(|word| {
        let word = word.trim_end_matches(':');
        if word.contains('/') {
            of_path(word).or_else(|| of_file(word))
        } else {
            node(word).or_else(|| of_file(word))
        }
    });
    // `==> amber <==`: a name alone, between signs.
    let letters = |word: &&str| word.contains(char::is_alphanumeric);
    let mut told = words().filter(letters);
    let alone = told.next().filter(|_| told.next().is_none());
    let alone = alone.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    let is_marked = line.trim().starts_with(['#', '=', '-', '*', '>', '[']);
    let is_name = |name: &&str| name.chars().all(char::is_alphabetic) && is_no_other(name);
    named.or_else(|| alone.filter(|name| is_marked && is_name(name)))
}

/// The node on which a command is typed, by the prompt before it or by what takes it there; `at` is the word of the command.
pub(super) fn of_command<'l>(words: &[&'l str], at: usize) -> Option<&'l str> {
    let before = &words[..at.min(words.len())];
    let host = before.iter().find_map(|word| {
        let (_, host) = word.split_once('@')?;
        let end = host.find(|c: char| !c.is_alphanumeric() && !matches!(c, '-' | '_' | '.'));
        let host = &host[..end.unwrap_or(host.len())];
        host.split('.').next().filter(|host| !host.is_empty())
    });
    let prompted = || before.iter().rev().find_map(|word| node(word));
    let taken_to = || {
        let to = before.iter().position(|word| *word == "ssh")?;
        let host = before[to + 1..].iter().find(|word| !word.starts_with('-'));
        host.copied()
    };
    let packed = || {
        words
            .last()
            .filter(|_| words.get(at) == Some(&"tar"))
            .and_then(|file| of_file(file))
    };
    host.or_else(prompted).or_else(taken_to).or_else(packed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_and_folders_name_nodes() {
        for (file, node) in [
            ("keeper1.ls.txt", Some("keeper1")),
            ("keeper-2.txt", Some("keeper-2")),
            ("ls-keeper-2.txt", Some("keeper-2")),
            ("k1_coordination_log.ls", Some("k1")),
            ("chk-main-0-1-0.ls", Some("chk-main-0-1-0")),
            ("coordination-log.ls.txt", None),
            ("ls2.txt", None),
            ("disk1.txt", None),
            ("2026-11-29.txt", None),
            ("a.txt", None),
        ] {
            assert_eq!(of_file(file), node, "{file}");
        }
        for (folder, node) in [
            ("/backup/keeper1/log", Some("keeper1")),
            ("./keeper-2/coordination/log", Some("keeper-2")),
            ("/home/user1/ch3/log", Some("ch3")),
            ("/mnt/disk2/log", None),
            ("/var/lib/clickhouse/coordination/log", None),
        ] {
            assert_eq!(of_path(folder), node, "{folder}");
        }
    }

    #[test]
    fn headings_and_prompts_name_nodes() {
        for (line, node) in [
            ("==> keeper1 <==", Some("keeper1")),
            ("==> amber <==", Some("amber")),
            ("==> keeper-2.ls.txt <==", Some("keeper-2")),
            ("==> keeper-2/ls.txt <==", Some("keeper-2")),
            ("# keeper2", Some("keeper2")),
            ("--- keeper2 (10.0.0.2) ---", Some("keeper2")),
            (
                "[1] 10:00:00 [SUCCESS] keeper1.example.com",
                Some("keeper1"),
            ),
            ("keeper1 | CHANGED | rc=0 >>", Some("keeper1")),
            ("# disk2", None),
            ("and then it was gone", None),
        ] {
            assert_eq!(of_heading(line), node, "{line}");
        }
        for (line, node) in [
            ("root@keeper2:/srv# ls -l", Some("keeper2")),
            ("[root@amber log]# ls", Some("amber")),
            ("k1$ ls -lR /srv", Some("k1")),
            ("$ ssh amber ls /srv/log", Some("amber")),
            ("$ kubectl exec keeper-0 -- ls /srv/log", Some("keeper-0")),
            ("$ ls /srv/log", None),
            ("$ tar -tvf ch2.tar", Some("ch2")),
        ] {
            let words: Vec<&str> = line.split_whitespace().collect();
            let at = words
                .iter()
                .position(|word| matches!(*word, "ls" | "tar"))
                .unwrap();
            assert_eq!(of_command(&words, at), node, "{line}");
        }
    }
}
