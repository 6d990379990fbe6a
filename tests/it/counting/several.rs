//! What somebody took from several logs at once, as `grep -h` does: each record counts once, for the node whose log has it, and what no
//! log has counts once too. Every expected value is counted by hand.

use casdiag::report::model::Report;

use crate::counting::refused;
use crate::product::{self, Folder, record};

const FIRST: &str = "n1/clickhouse-server.log";
const SECOND: &str = "n2/clickhouse-server.log";

/// Refusals, one a minute from 10:00 on, by their numbers.
fn refusals(numbers: impl IntoIterator<Item = u32>) -> String {
    let time = |it: u32| format!("{}:{:02}:00.000000", 10 + it / 60, it % 60);
    let numbers = numbers.into_iter();
    numbers.map(|it| refused(&time(it), "n2")).collect()
}

/// The records of each node.
fn by_node(report: &Report) -> Vec<(&str, u64)> {
    let nodes = report.records.by_node.iter();
    nodes.map(|(node, count)| (node.as_str(), *count)).collect()
}

/// Two nodes: ten refusals of the one, and ten of the other.
fn two_nodes() -> Folder {
    let folder = Folder::with(FIRST, refusals(0..10));
    folder.put(SECOND, refusals(30..40));
    folder
}

#[test]
fn a_record_that_no_log_has_counts_once_in_however_many_excerpts_it_is() {
    let foreign = refusals([50]);
    let small = refusals([1, 31]) + &foreign;
    let large = refusals([1, 2, 31, 32]) + &foreign;
    let turned = foreign.clone() + &refusals([2, 1, 32, 31]);
    for [first, second] in [
        ["x.txt", "y.txt"],
        ["errors.txt", "tail.txt"],
        ["errors.log", "grep.log"],
        ["errors.log", "errors.txt"],
        ["errors.txt", "errors.log"],
    ] {
        for texts in [[&small, &large], [&large, &small], [&large, &turned]] {
            let folder = two_nodes();
            folder.put(first, texts[0]);
            folder.put(second, texts[1]);
            let report = folder.report();
            let expected = [("(unnamed)", 1), ("n1", 10), ("n2", 10)];
            assert_eq!(by_node(&report), expected, "{first} and {second}");
            // Each with one of its own, and a third that has both.
            folder.put(first, refusals([51]) + texts[0]);
            folder.put(second, refusals([52]) + texts[1]);
            folder.put("out.txt", refusals([3, 33, 51]) + &foreign);
            let report = folder.report();
            let expected = [("(unnamed)", 3), ("n1", 10), ("n2", 10)];
            assert_eq!(by_node(&report), expected, "{first} and {second}");
        }
    }
}

#[test]
fn a_record_that_no_log_has_counts_once_in_excerpts_of_one_log_and_of_several() {
    let foreign = refusals([50]);
    // The larger one of the two says whose it is.
    for (of_one, node) in [(refusals([1]), "(unnamed)"), (refusals(0..9), "n1")] {
        let folder = two_nodes();
        folder.put("errors.txt", of_one + &foreign);
        folder.put("grep.txt", refusals([1, 2, 31, 32]) + &foreign);
        let report = folder.report();
        assert_eq!(report.records.total, 21);
        assert_eq!(report.records.by_node["n2"], 10);
        assert!(report.records.by_node.contains_key(node));
    }
}

#[test]
fn excerpts_of_logs_that_are_not_here_count_once_and_name_one_node() {
    // The second one has all of the first one.
    let folder = Folder::with("errors.txt", refusals([1, 31]));
    folder.put("grep.txt", refusals([1, 2, 31, 32]));
    assert_eq!(by_node(&folder.report()), [("(unnamed)", 4)]);
    // One of what is left of another one.
    let folder = two_nodes();
    folder.put("stuff.txt", refusals([50]));
    folder.put("errors.txt", refusals([1, 31, 50, 51]));
    let expected = [("(unnamed)", 2), ("n1", 10), ("n2", 10)];
    assert_eq!(by_node(&folder.report()), expected);
}

#[test]
fn an_excerpt_of_a_servers_and_a_keepers_log_counts_what_both_lack_once() {
    let slow = |it: u32| {
        let time = format!("10:{it:02}:30.000000");
        record(&time, "Warning", "KeeperTCPHandler", "Keeper is slow")
    };
    let folder = Folder::with(FIRST, refusals(0..10));
    let keeper: String = (0..10).map(slow).collect();
    folder.put("n1/clickhouse-keeper.log", keeper);
    for name in [
        "n1/errors.txt",
        "n1/errors.log",
        "errors.txt",
        "n1/slow.txt",
    ] {
        let text = refusals([1, 2]) + &slow(3) + &slow(4) + &refusals([50]);
        folder.put(name, text);
        let report = folder.report();
        assert_eq!(by_node(&report), [("n1", 21)], "{name}");
        let input = product::input(&report, name);
        let problems = product::problems(input);
        assert_eq!(problems, [("further-view", None); 2], "{name}");
        std::fs::remove_file(folder.path().join(name)).unwrap();
    }
}

#[test]
fn one_record_of_a_second_log_among_many_of_a_first_counts_once() {
    let many = refusals((0..42).filter(|it| *it != 20));
    for name in ["errors.txt", "errors.log", "stuff.txt", "stuff.log"] {
        for packed in [false, true] {
            let folder = Folder::with(FIRST, &many);
            let second = refusals(60..80);
            if packed {
                let second = product::gzip(second.as_bytes());
                folder.put("n2/clickhouse-server.log.0.gz", second);
            } else {
                folder.put(SECOND, second);
            }
            // The second one of 42, which no sample of 16 has.
            let taken = refusals([0, 70]) + &refusals((1..41).filter(|it| *it != 20));
            folder.put(name, &taken);
            let report = folder.report();
            assert_eq!(by_node(&report), [("n1", 41), ("n2", 20)], "{name}");
            // And one that none has.
            folder.put(name, taken + &refusals([90]));
            let report = folder.report();
            let is_log = name == "stuff.log";
            if !is_log {
                assert_eq!(report.records.total, 62, "{name}");
                let expected = [("(unnamed)", 1), ("n1", 41), ("n2", 20)];
                assert_eq!(by_node(&report), expected, "{name}");
            }
        }
    }
}

#[test]
fn excerpts_that_differ_in_their_endings_are_no_pieces_of_one_log() {
    let folder = Folder::with(FIRST, refusals(0..10));
    folder.put(
        "n2/clickhouse-server.log.0.gz",
        product::gzip(refusals(30..40).as_bytes()),
    );
    folder.put("errors.txt", refusals([1, 31, 50]));
    folder.put("errors.log", refusals([1, 2, 3, 32, 51]));
    let expected = [("(unnamed)", 2), ("n1", 10), ("n2", 10)];
    assert_eq!(by_node(&folder.report()), expected);
}

/// Each line behind a prefix.
fn behind(prefix: &str, text: &str) -> String {
    let lines = text.split_inclusive('\n');
    lines.flat_map(|line| [prefix, line]).collect()
}

#[test]
fn an_excerpt_that_names_its_files_says_whose_a_record_is_that_no_log_has() {
    let foreign = refusals([50]);
    for padded in [0, 5] {
        // With and without the names, whichever is larger.
        let named = behind(
            "n2/clickhouse-server.log:",
            &(refusals(30..31 + padded) + &foreign),
        );
        let bare = refusals(0..7 - padded) + &foreign + &refusals([31]);
        for [first, second] in [
            ["errors.txt", "x.txt"],
            ["errors.txt", "errors.log"],
            ["found.log", "errors.log"],
        ] {
            let folder = two_nodes();
            folder.put(first, &named);
            folder.put(second, &bare);
            let report = folder.report();
            assert_eq!(
                by_node(&report),
                [("n1", 10), ("n2", 11)],
                "{first} {second}"
            );
        }
        // The numbers of lines say nothing.
        let folder = two_nodes();
        let count = 1 + padded;
        folder.put("errors.txt", behind("7:", &(refusals(0..count) + &foreign)));
        folder.put("x.txt", refusals(0..3) + &foreign);
        assert_eq!(by_node(&folder.report()), [("n1", 11), ("n2", 10)]);
    }
}

#[test]
fn an_excerpt_of_several_logs_in_one_file_counts_nothing_twice() {
    let compose = behind("ch-1  | ", &refusals(0..10)) + &behind("ch-2  | ", &refusals(30..40));
    for log in ["compose.log", "console.log"] {
        for (taken, more) in [(refusals([1, 31]), 0), (refusals([1, 31, 50]), 1)] {
            let folder = Folder::with(log, &compose);
            folder.put("errors.txt", taken);
            let report = folder.report();
            assert_eq!(report.records.total, 20 + more, "{log}");
            assert_eq!(report.records.by_node["ch-1"], 10);
            assert_eq!(report.records.by_node["ch-2"], 10);
        }
    }
}
