//! Listings of several nodes: one node's files fill no hole of another's, whatever says whose they are.

use casdiag::report::model::Report;

use super::listing::{log, long};
use crate::product::{Folder, findings};

/// The first lacks 101..200, the second has it and nothing is missing there, and the third begins later.
const NODES: [(&str, &[(u64, u64)]); 3] = [
    ("keeper1", &[(1, 100), (201, 300)]),
    ("keeper2", &[(1, 100), (101, 200), (201, 300)]),
    ("keeper3", &[(201, 300)]),
];

/// The nodes in whose listing there is a hole.
fn holes(report: &Report) -> Vec<&str> {
    let found = findings(report, "wal-listing-gap").into_iter();
    found
        .flat_map(|it| it.reported_by.iter().map(String::as_str))
        .collect()
}

/// One text of all of them, each behind what `heading` gives of its name.
fn together(heading: impl Fn(&str) -> String) -> String {
    let of =
        |(node, ranges): &(&str, &[(u64, u64)])| format!("{}{}\n", heading(node), long(ranges));
    NODES.iter().map(of).collect()
}

#[test]
fn listings_in_one_folder_are_told_apart_by_the_names_of_their_files() {
    for (before, behind) in [
        ("", ".ls.txt"),
        ("ls-", ".txt"),
        ("", "_wal.ls"),
        ("", "-coordination-log.txt"),
    ] {
        for folder in ["", "listings/", "logs/"] {
            let all = Folder::new();
            for (node, ranges) in NODES {
                all.put(&format!("{folder}{before}{node}{behind}"), long(ranges));
            }
            assert_eq!(
                holes(&all.report()),
                ["keeper1"],
                "{folder}{before}NODE{behind}"
            );
            // Beside the logs of the nodes, in their folders or flat.
            for log_of in ["NODE/clickhouse-keeper.log", "NODE.log"] {
                for (node, _) in NODES {
                    all.put(&log_of.replace("NODE", node), log());
                }
                assert_eq!(
                    holes(&all.report()),
                    ["keeper1"],
                    "{folder}{before}NODE{behind} {log_of}"
                );
            }
        }
    }
}

#[test]
fn listings_in_one_text_are_told_apart_by_what_stands_above_them() {
    let headings: [&dyn Fn(&str) -> String; 12] = [
        &|node| format!("==> {node} <==\n"),
        &|node| format!("==> {node}.ls.txt <==\n"),
        &|node| format!("# {node}\n"),
        &|node| format!("{node}:\n"),
        &|node| format!("{node}\n"),
        &|node| format!("=== {node} (10.0.0.1) ===\n"),
        &|node| format!("{node} | CHANGED | rc=0 >>\n"),
        &|node| format!("root@{node}:~# ls -l /srv/log\n"),
        &|node| format!("[root@{node} log]# ls -l\n"),
        &|node| format!("$ ssh {node} ls -l /srv/log\n"),
        &|node| format!("$ kubectl exec {node} -- ls -l /srv/log\n"),
        &|node| format!("/backup/{node}/coordination/log:\n"),
    ];
    for heading in headings {
        let text = together(heading);
        let mut folder = Folder::with("listings.txt", &text);
        assert_eq!(holes(&folder.report()), ["keeper1"], "{text}");
        folder = Folder::with("keeper2/clickhouse-keeper.log", log());
        folder.put("keeper2/listings.txt", &text);
        assert_eq!(holes(&folder.report()), ["keeper1"], "{text}");
    }
}

#[test]
fn listings_of_paths_are_told_apart_by_their_folders() {
    let paths = |path: &dyn Fn(&str, u64, u64) -> String| -> String {
        let of = |(node, ranges): &(&str, &[(u64, u64)])| -> String {
            ranges
                .iter()
                .map(|(from, to)| path(node, *from, *to))
                .collect()
        };
        NODES.iter().map(of).collect()
    };
    for text in [
        paths(&|node, from, to| format!("./{node}/log/changelog_{from}_{to}.bin.zstd\n")),
        paths(&|node, from, to| format!("21M\t/srv/{node}/changelog_{from}_{to}.bin.zstd\n")),
        paths(&|node, from, to| {
            format!(
                "-rw-r----- keeper/keeper 7 2026-07-20 02:10 {node}/log/changelog_{from}_{to}.bin\n"
            )
        }),
    ] {
        assert_eq!(
            holes(&Folder::with("all.txt", &text).report()),
            ["keeper1"],
            "{text}"
        );
    }
}

#[test]
fn disks_of_one_node_stay_one_log() {
    let (first, second) = (long(&[(1, 100), (201, 300)]), long(&[(101, 200)]));
    for (one, other) in [
        ("disk1.txt", "disk2.txt"),
        ("keeper-1-disk.txt", "ls.txt"),
        ("keeper1.ls.txt", "keeper1.old.ls.txt"),
    ] {
        let folder = Folder::with("k1/clickhouse-keeper.log", log());
        folder.put(&format!("k1/{one}"), &first);
        folder.put(&format!("k1/{other}"), &second);
        assert_eq!(holes(&folder.report()), [""; 0], "{one}, {other}");
    }
    let folder = Folder::with(
        "k1/ls.txt",
        format!("/mnt/disk1/log:\n{first}\n/mnt/disk2/log:\n{second}"),
    );
    assert_eq!(holes(&folder.report()), [""; 0]);
}
