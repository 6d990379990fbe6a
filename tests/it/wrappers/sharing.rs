//! Files that hold the logs of several nodes, read in one pass: the same report as where each log is read for itself.

use std::fmt::Write as _;

use casdiag::intake::Limits;
use casdiag::pipeline::Plan;

use super::incident::{essence, nodes};
use super::writers;
use crate::product::{self, Folder, plan, record, report_of};

/// What is counted and said, with blocks so small that the file is many of them, or so large that it is one.
fn report(folder: &Folder, block_bytes: usize, threads: usize) -> String {
    let limits = Limits {
        block_bytes,
        ..Limits::default()
    };
    let plan = Plan {
        limits,
        threads,
        ..plan(folder.path())
    };
    let report = report_of(&plan);
    let input = &report.inputs[0];
    let read = (
        input.records,
        &input.first,
        &input.last,
        product::problems(input),
    );
    format!("{read:?}\n{}", essence(&report, false))
}

fn is_the_same_in_one_pass(name: &str, folder: &Folder) {
    // What is no longer than a block is read for each log.
    let apart = report(folder, 64 << 20, 1);
    for (block_bytes, threads) in [(1 << 10, 1), (1 << 10, 2), (16 << 10, 3)] {
        let together = report(folder, block_bytes, threads);
        let differs = together.lines().zip(apart.lines()).find(|(a, b)| a != b);
        assert!(together == apart, "{name} {block_bytes}: {differs:#?}");
    }
}

#[test]
fn services_that_take_turns() {
    let compose = writers::interleaved(&nodes(), |node, line| {
        format!("{:12}  | {line}\n", node.name)
    });
    is_the_same_in_one_pass("compose", &Folder::with("compose.log", compose));
    let kubectl = writers::interleaved(&nodes(), |node, line| {
        format!("[pod/{}/clickhouse] {line}\n", node.name)
    });
    is_the_same_in_one_pass("kubectl", &Folder::with("pods.log", kubectl));
}

#[test]
fn files_one_after_another_a_log_and_its_err_log_among_them() {
    let mut found = String::new();
    for node in nodes() {
        for file in ["clickhouse-server.log", "clickhouse-server.err.log"] {
            let records = writers::records(&node).into_iter();
            let is_here =
                |record: &Vec<&str>| !file.contains("err") || record[0].contains(" <Error> ");
            for line in records.filter(is_here).flatten() {
                writeln!(found, "logs/{}/{file}:{line}", node.name).unwrap();
            }
        }
    }
    is_the_same_in_one_pass("grep", &Folder::with("found.txt", found));
}

#[test]
fn two_files_that_share_nodes_and_are_read_in_another_order_by_each() {
    // What each of them reads first the other one reads last.
    let folder = Folder::new();
    for file in ["a.log", "b.log"] {
        let mut text = String::new();
        for second in 0..59 {
            for node in ["n1", "n2"] {
                let time = format!("10:00:{second:02}.000001");
                let line = record(&time, "Error", file, "Code: 241. DB::Exception: x");
                let path = if (file == "a.log") == (node == "n1") {
                    "a"
                } else {
                    "z"
                };
                write!(text, "{node}/{path}-server.log:{line}").unwrap();
            }
        }
        folder.put(file, text);
    }
    is_the_same_in_one_pass("crosswise", &folder);
}
