//! The folder that is given names the node where nothing in it does.

use crate::product::{Folder, analyze, casdiag, record};

fn log() -> String {
    record(
        "10:00:00.000000",
        "Error",
        "Application",
        "Something is wrong.",
    )
}

/// The nodes that an analysis of the folder names.
fn nodes(folder: &Folder, below: &str) -> Vec<String> {
    let ran = analyze(
        &folder.path().join(below),
        &["--format", "json", "--fail-on", "never"],
    );
    let report = ran.report();
    report.nodes.iter().map(|node| node.id.clone()).collect()
}

#[test]
fn a_folder_given_alone_names_the_node_as_the_one_above_it_does() {
    let folder = Folder::with("keeper-2/logs/clickhouse-keeper.log", log());
    folder.put("keeper-2/errors.txt", log());
    folder.put("keeper-2/config.d/keeper.xml", "<clickhouse/>");
    for below in [
        "",
        "keeper-2",
        "keeper-2/",
        "keeper-2/.",
        "keeper-2/logs",
        "keeper-2/logs/../",
    ] {
        assert_eq!(nodes(&folder, below), ["keeper-2"], "{below}");
    }
}

#[test]
fn a_file_given_alone_is_of_the_node_that_its_folder_is_called_after() {
    let folder = Folder::with("keeper-2/logs/clickhouse-keeper.log", log());
    folder.put("keeper-2/logs/ch1.log", log());
    for (file, node) in [("clickhouse-keeper.log", "keeper-2"), ("ch1.log", "ch1")] {
        let file = format!("keeper-2/logs/{file}");
        assert_eq!(nodes(&folder, &file), [node]);
    }
    // Several of one folder, as a shell gives them, and of two.
    folder.put("keeper-2/logs/clickhouse-keeper.err.log", log());
    folder.put("keeper-3/clickhouse-keeper.log", log());
    let path = |name: &str| folder.path().join(name).into_os_string();
    let of = |files: [&str; 2]| {
        let [first, second] = files.map(path);
        let arguments = ["analyze".into(), first, second];
        let format = ["--format", "json", "--fail-on", "never"].map(Into::into);
        let report = casdiag(&[&arguments[..], &format].concat()).report();
        let nodes = report.nodes.into_iter().map(|node| node.id);
        nodes.collect::<Vec<String>>()
    };
    let log = "keeper-2/logs/clickhouse-keeper.log";
    assert_eq!(
        of([log, "keeper-2/logs/clickhouse-keeper.err.log"]),
        ["keeper-2"]
    );
    assert_eq!(
        of([log, "keeper-3/clickhouse-keeper.log"]),
        ["keeper-2", "keeper-3"]
    );
    // What says where files are kept names none.
    folder.put("case-7/clickhouse-server.log", self::log());
    assert_eq!(nodes(&folder, "case-7/clickhouse-server.log"), [""; 0]);
}

#[test]
fn a_folder_whose_name_begins_like_what_is_collected_may_be_a_node() {
    for name in ["master1", "support1", "test-ch1", "ünode"] {
        let folder = Folder::with(&format!("{name}/clickhouse-server.log"), log());
        assert_eq!(nodes(&folder, name), [name]);
    }
    for name in ["run1", "incident-42", "test-7"] {
        let folder = Folder::with(&format!("{name}/clickhouse-server.log"), log());
        assert_eq!(nodes(&folder, name), [""; 0], "{name}");
    }
}

#[test]
fn a_folder_that_holds_nodes_or_says_what_it_holds_names_none() {
    let folder = Folder::with("bundle-a/input/clickhouse-server.log", log());
    assert_eq!(nodes(&folder, "bundle-a/input"), [""; 0]);
    let folder = Folder::with("rack/ch1.log", log());
    folder.put("rack/clickhouse-server.log", log());
    assert_eq!(nodes(&folder, "rack"), ["ch1"]);
}

#[test]
fn of_two_folders_that_are_compared_neither_is_a_node() {
    let folder = Folder::with("amber/clickhouse-server.log", log());
    folder.put("violet/clickhouse-server.log", log());
    let side = |name: &str| folder.path().join(name).into_os_string();
    let ran = casdiag(&["diff".into(), side("amber"), side("violet")]);
    for node in ["has amber", "has violet"] {
        assert!(!ran.out.contains(node), "{}", ran.out);
    }
}
