//! The same incident from folders of other shapes, and with files in them that are no logs: the same nodes, one run, the
//! same verdict.

use std::fs;

use crate::product::{Folder, findings, repository};

/// Copies a file of the sample incidents.
fn copy(folder: &Folder, from: &str, to: &str) {
    let bytes = fs::read(repository("samples/incidents").join(from)).unwrap();
    folder.put(to, bytes);
}

/// The logs of both controllers and the primary's WAL.
fn stalled(log: &dyn Fn(u8) -> String, wal: &str) -> Folder {
    let folder = Folder::new();
    for node in [1, 2] {
        copy(&folder, &format!("report-003/ctrl-{node}.log"), &log(node));
    }
    for segment in ["seg-0000000000000001.wal", "seg-00000000000000eb.wal"] {
        let from = format!("report-003/data/ctrl-2/{segment}");
        copy(&folder, &from, &format!("{wal}/{segment}"));
    }
    folder
}

/// One run, two nodes, and the stall caused by the segment.
fn assert_tied(folder: &Folder, shape: &str) {
    let report = folder.report();
    let nodes: Vec<(&str, &str)> = report.nodes.iter().map(|n| (&*n.run, &*n.id)).collect();
    assert_eq!(nodes, [(".", "ctrl-1"), (".", "ctrl-2")], "{shape}");
    let stall = findings(&report, "catch-up-stall");
    let segment = findings(&report, "misfiled-segment");
    assert_eq!((stall.len(), segment.len()), (1, 1), "{shape}");
    assert_eq!(stall[0].caused_by, [segment[0].id.clone()], "{shape}");
}

#[test]
fn controllers_logs_and_wals_are_one_run_in_whatever_folders_they_lie() {
    type Shape<'s> = (&'s str, &'s dyn Fn(u8) -> String, &'s str);
    let shapes: [Shape<'_>; 6] = [
        ("flat", &|n| format!("ctrl-{n}.log"), "data/ctrl-2"),
        (
            "own folders",
            &|n| format!("ctrl-{n}/ctrl-{n}.log"),
            "ctrl-2/wal",
        ),
        ("one name", &|n| format!("ctrl-{n}/ctrl.log"), "ctrl-2/data"),
        (
            "logs apart",
            &|n| format!("ctrl-{n}/logs/ctrl-{n}.log"),
            "ctrl-2/data",
        ),
        ("hosts", &|n| format!("host-{n}/ctrl-{n}.log"), "host-2/wal"),
        ("together", &|n| format!("ctrl-{n}/ctrl-{n}.log"), "ctrl-2"),
    ];
    for (shape, log, wal) in shapes {
        assert_tied(&stalled(log, wal), shape);
    }
}

#[test]
fn files_that_are_no_logs_name_no_node_and_no_run() {
    for other in [
        "data/ctrl-2/LOCK",
        "data/ctrl-2/notes.txt",
        "data/ctrl-2/snapshot.db",
        "ctrl-9.json",
    ] {
        let folder = stalled(&|n| format!("ctrl-{n}.log"), "data/ctrl-2");
        folder.put(other, "x\n");
        assert_tied(&folder, other);
    }
    for other in [
        "ch1/notes.txt",
        "ch1/.DS_Store",
        "ch1/etc/config.xml",
        "etc/ch1/config.xml",
        "ch1/data/a.bin",
        "uptime",
    ] {
        let folder = Folder::new();
        for node in ["ch1", "ch2"] {
            for log in ["clickhouse-server.log", "clickhouse-server.err.log"] {
                let path = format!("{node}/{log}");
                copy(&folder, &format!("report-000/{path}"), &path);
            }
        }
        folder.put(other, "x\n");
        let report = folder.report();
        let counted: Vec<(&str, &str, u64)> = report
            .nodes
            .iter()
            .map(|node| (&*node.run, &*node.id, node.records))
            .collect();
        assert_eq!(counted, [(".", "ch1", 298), (".", "ch2", 297)], "{other}");
    }
}
