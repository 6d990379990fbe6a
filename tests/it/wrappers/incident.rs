//! One incident of three nodes in every wrapper: the same signals, counts and findings as from the plain logs.

use std::fs;

use casdiag::report::model::Report;

use super::writers::{self, Node};
use crate::product::{Folder, repository};

/// The main logs of a bundled incident.
pub(super) fn nodes() -> Vec<Node> {
    let read = |name: &str| {
        let path = format!("samples/incidents/report-001/{name}/clickhouse-server.log");
        let text = fs::read_to_string(repository(&path)).unwrap();
        Node {
            name: name.to_owned(),
            lines: text.lines().map(str::to_owned).collect(),
        }
    };
    ["clickhouse1", "clickhouse2", "clickhouse3"]
        .map(read)
        .to_vec()
}

/// What must not depend on the wrapper. Where only some of the log's lines may be there, how sure a finding is does.
pub(super) fn essence(report: &Report, is_excerpt: bool) -> String {
    let records = &report.records;
    let totals = (records.total, &records.by_level, &records.by_node);
    let mut lines = vec![format!(
        "{totals:?} {} {}",
        records.continuation_lines, records.suspect
    )];
    for row in &report.codes {
        let key = (row.code, &row.family, &row.node, row.count);
        lines.push(format!("{key:?} {:?} {:?}", row.first, row.last));
    }
    for row in report.signals.iter().filter(|row| row.count > 0) {
        let key = (&row.signal, &row.node, row.count, &row.first, &row.last);
        lines.push(format!("{key:?} {:?} {:?}", row.by, row.top));
    }
    for it in &report.findings {
        let key = (&it.rule, it.severity, &it.counts, &it.window.first);
        let who = (&it.reported_by, &it.accused, &it.nodes);
        let sure = (!is_excerpt).then_some((it.confidence, &it.title));
        lines.push(format!("{key:?} {who:?} {sure:?}"));
    }
    lines.join("\n")
}

fn plain() -> Report {
    let folder = Folder::new();
    for node in nodes() {
        folder.put(
            &format!("{}/clickhouse-server.log", node.name),
            node.lines.join("\n") + "\n",
        );
    }
    folder.report()
}

/// Asserts that wrapped logs in files of a folder say what the plain ones say.
fn says_the_same(name: &str, files: &[(String, String)]) {
    compare(name, files, false);
}

/// The same where the wrapper leaves open which lines are there.
fn an_excerpt_says_the_same(name: &str, files: &[(String, String)]) {
    let report = compare(name, files, true);
    let missing = report.not_observable.iter();
    assert!(
        missing
            .into_iter()
            .any(|it| it.why.contains("only some lines")),
        "{name}"
    );
}

fn compare(name: &str, files: &[(String, String)], is_excerpt: bool) -> Report {
    let folder = Folder::new();
    for (path, text) in files {
        folder.put(path, text);
    }
    let report = folder.report();
    let expected = plain();
    assert!(expected.records.total > 400 && expected.findings.len() > 1);
    let found = essence(&report, is_excerpt);
    let expected = essence(&expected, is_excerpt);
    let differs = found.lines().zip(expected.lines()).find(|(a, b)| a != b);
    assert!(found == expected, "{name}: {differs:#?}");
    for evidence in report.findings.iter().flat_map(|it| &it.evidence) {
        is_cited_in_place(files, &evidence.path, evidence.line, evidence.offset);
    }
    report
}

/// Asserts that a cited byte begins the cited line.
fn is_cited_in_place(files: &[(String, String)], path: &str, line: u64, offset: u64) {
    let (_, text) = files
        .iter()
        .find(|(name, _)| path.ends_with(name.as_str()))
        .unwrap();
    let before = &text.as_bytes()[..usize::try_from(offset).unwrap()];
    let ends = before.split(|byte| *byte == b'\n').count() - 1;
    assert_eq!(ends as u64 + 1, line, "{path}");
    let begins = before.is_empty() || before.ends_with(b"\n") || before == b"\xef\xbb\xbf";
    assert!(begins, "{path}:{line}");
}

/// Each node's log in a file of its own.
fn apart(write: impl Fn(&Node) -> String) -> Vec<(String, String)> {
    let file = |node: &Node| (format!("{}/clickhouse-server.log", node.name), write(node));
    nodes().iter().map(file).collect()
}

/// All nodes' lines in one file, a few of each in turn.
fn together(write: impl Fn(&Node, &str) -> String) -> Vec<(String, String)> {
    vec![(
        "wrapped.log".to_owned(),
        writers::interleaved(&nodes(), write),
    )]
}

#[test]
fn in_the_json_logger_of_each_node() {
    says_the_same("json-logger", &apart(writers::json_logger));
}

#[test]
fn in_compose_of_both_versions_with_services_interleaved() {
    says_the_same(
        "compose v2",
        &together(|node, line| format!("{:12}  | {line}\n", node.name)),
    );
    let colored = |node: &Node, line: &str| format!("\x1b[36m{:14} |\x1b[0m {line}\n", node.name);
    says_the_same("compose v1", &together(colored));
}

#[test]
fn in_docker_and_cri_with_long_lines_in_pieces() {
    says_the_same("docker", &apart(writers::docker_json));
    says_the_same("cri", &apart(writers::cri));
}

#[test]
fn behind_the_prefix_of_kubectl() {
    says_the_same(
        "kubectl",
        &together(|node, line| format!("[pod/{}/clickhouse] {line}\n", node.name)),
    );
}

#[test]
fn in_syslog_and_the_journal() {
    says_the_same("rsyslog", &apart(writers::rsyslog));
    let new = |node: &Node, line: &str| {
        let stamp = "2026-09-01T23:28:23.217753+00:00";
        format!("{stamp} {} clickhouse-server[670]: {line}\n", node.name)
    };
    says_the_same("rsyslog of RFC 3339", &together(new));
    let five = |node: &Node, line: &str| {
        format!(
            "<11>1 2026-09-01T23:28:23Z {} clickhouse-server 670 - - {line}\n",
            node.name
        )
    };
    says_the_same("RFC 5424", &together(five));
    says_the_same("journal", &apart(writers::journal_short));
    says_the_same("journal as JSON", &apart(writers::journal_json));
}

#[test]
fn behind_the_numbers_and_paths_of_grep() {
    let numbered = |node: &Node| {
        let lines = node.lines.iter().enumerate();
        let write = |(at, line): (usize, &String)| format!("{}:{line}\n", at + 1);
        lines.map(write).collect::<String>()
    };
    an_excerpt_says_the_same("grep -n", &apart(numbered));
    let path =
        |node: &Node, line: &str| format!("logs/{}/clickhouse-server.log:{line}\n", node.name);
    an_excerpt_says_the_same("grep -H", &together(path));
    let deep =
        |node: &Node, line: &str| format!("/x/{}/clickhouse-server.log.gz:{line}\n", node.name);
    an_excerpt_says_the_same("zgrep", &together(deep));
}

#[test]
fn behind_the_hosts_of_a_client() {
    // Further lines of a record have no host.
    let client = |node: &Node| {
        let line = |line: &String| {
            let host = if writers::is_head(line) {
                format!("[{}] ", node.name)
            } else {
                String::new()
            };
            format!("{host}{line}\n")
        };
        node.lines.iter().map(line).collect::<String>()
    };
    an_excerpt_says_the_same("client", &apart(client));
}

#[test]
fn with_colors_stamps_and_line_ends_of_other_systems() {
    let colored = |node: &Node| {
        let write = |line: &String| format!("\x1b[1;31m{line}\x1b[0m\n");
        node.lines.iter().map(write).collect::<String>()
    };
    says_the_same("colors", &apart(colored));
    let actions = |node: &Node| {
        let line = |line: &String| format!("2026-09-02T01:00:00.0001237Z {line}\r\n");
        format!(
            "\u{feff}{}",
            node.lines.iter().map(line).collect::<String>()
        )
    };
    says_the_same("GitHub Actions", &apart(actions));
}

#[test]
fn in_tables_with_bars_and_with_tabs() {
    let bars = |node: &Node| {
        let row = |line: &String| {
            format!(
                "  |   | 2026-09-02 01:00:00 | {}\n",
                line.replace('|', "\\|")
            )
        };
        format!(
            "Time | Line\n-- | --\n{}",
            node.lines.iter().map(row).collect::<String>()
        )
    };
    an_excerpt_says_the_same("bars", &apart(bars));
    let tabs = |node: &Node| {
        let write = |line: &String| format!("2026-09-02 01:00:00.123\t{line}\n");
        node.lines.iter().map(write).collect::<String>()
    };
    an_excerpt_says_the_same("tabs", &apart(tabs));
}

#[test]
fn with_the_newest_record_first() {
    let records = |node: &Node| {
        writers::records(node)
            .iter()
            .rev()
            .map(|record| record.join("\n") + "\n")
            .collect::<String>()
    };
    says_the_same("plain", &apart(records));
    // A row a line: those that continue a record stand before it.
    let rows = |node: &Node| {
        let row = |line: &String| format!("2026-09-02 01:00:00.123\t{line}\n");
        node.lines.iter().rev().map(row).collect::<String>()
    };
    an_excerpt_says_the_same("rows", &apart(rows));
}

#[test]
fn in_wrappers_that_stand_in_each_other() {
    let nested = |node: &Node, line: &str| {
        format!(
            "2026-09-02T01:00:00.0001237Z \x1b[36m{:14} |\x1b[0m {line}\n",
            node.name
        )
    };
    says_the_same("compose in Actions", &together(nested));
    let json = |node: &Node| {
        let objects = writers::json_logger(node);
        let line = |line: &str| {
            format!("{}: {line}\n", "Sep 02 04:27:35 h clickhouse-server[1]")
                .replace("h click", &format!("{} click", node.name))
        };
        objects.lines().map(line).collect::<String>()
    };
    says_the_same("the JSON logger in syslog", &apart(json));
}
