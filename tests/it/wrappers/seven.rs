//! One incident of three nodes in seven forms: the same signals, counts and findings from each, to the number.

use casdiag::report::model::Report;

use super::incident::{essence, nodes};
use super::writers::{self, Node, interleaved, journal_json, json_logger};
use crate::product::{self, Folder};
use crate::tables::write::{self, Logged};

/// The files of a form: each a path and what is in it.
type Files = Vec<(String, Vec<u8>)>;

/// A file for each node, in a folder of its name.
fn each(file: &str, write: impl Fn(&Node) -> Vec<u8>) -> Files {
    let path = |node: &Node| format!("{}/{file}", node.name);
    nodes()
        .iter()
        .map(|node| (path(node), write(node)))
        .collect()
}

/// The rows that a node's log is in `system.text_log`.
fn rows(node: &Node) -> Vec<Logged> {
    write::records(&node.lines.join("\n"))
}

fn forms() -> [(&'static str, Files); 7] {
    let text = |node: &Node| (node.lines.join("\n") + "\n").into_bytes();
    let compose = interleaved(&nodes(), |node, line| {
        format!("{:12}  | {line}\n", node.name)
    });
    [
        ("text", each("clickhouse-server.log", text)),
        (
            "JSON logger",
            each("clickhouse-server.log", |node| {
                json_logger(node).into_bytes()
            }),
        ),
        (
            "TSV",
            each("text_log.tsv", |node| {
                write::tsv(&rows(node), false).into_bytes()
            }),
        ),
        (
            "JSONEachRow",
            each("text_log.jsonl", |node| {
                write::json_each_row(&rows(node)).into_bytes()
            }),
        ),
        (
            "Parquet",
            each("text_log.parquet", |node| write::parquet(&rows(node))),
        ),
        (
            "compose",
            vec![("compose.log".to_owned(), compose.into_bytes())],
        ),
        (
            "journald",
            each("journal.json", |node| journal_json(node).into_bytes()),
        ),
    ]
}

/// What `grep` counts of a text in records of the logs: the incident's own numbers, known without the program.
fn by_hand(texts: &[&str]) -> u64 {
    let lines = nodes().into_iter().flat_map(|node| node.lines);
    lines
        .filter(|line| writers::is_head(line) && texts.iter().all(|text| line.contains(text)))
        .count() as u64
}

fn report(files: &Files) -> Report {
    let folder = Folder::new();
    for (path, bytes) in files {
        folder.put(path, bytes);
    }
    folder.report()
}

#[test]
fn one_incident_in_seven_forms_gives_the_same_signals_counts_and_findings() {
    let forms = forms();
    let text = report(&forms[0].1);
    let refused = by_hand(&["<Error>", "DB::Exception: Source clickhouse"]);
    assert!(refused > 0);
    assert_eq!(product::total(&text, "relink-refused"), refused);
    assert_eq!(text.records.total, by_hand(&[" [ "]));
    assert!(!product::findings(&text, "code-210-storm").is_empty());
    let expected = essence(&text, false);
    for (form, files) in &forms {
        let found = essence(&report(files), false);
        let differs = found.lines().zip(expected.lines()).find(|(a, b)| a != b);
        assert!(found == expected, "{form}: {differs:#?}");
    }
}

#[test]
fn a_record_in_the_log_and_in_what_was_collected_of_it_counts_once() {
    let forms = forms();
    let expected = essence(&report(&forms[0].1), false);
    for (form, files) in forms
        .iter()
        .filter(|(form, _)| ["compose", "journald"].contains(form))
    {
        let folder = Folder::new();
        for (path, bytes) in forms[0].1.iter().chain(files) {
            folder.put(path, bytes);
        }
        let found = essence(&folder.report(), false);
        let differs = found.lines().zip(expected.lines()).find(|(a, b)| a != b);
        assert!(found == expected, "{form}: {differs:#?}");
    }
}
