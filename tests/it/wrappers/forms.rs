//! What single wrappers do with lines that are cut, left out, interleaved or of no log.

use std::fmt::Write as _;

use crate::product::{Folder, problems, record};

fn error(time: &str, message: &str) -> String {
    record(time, "Error", "a", message)
}

#[test]
fn pieces_of_two_outputs_are_put_together_apart() {
    let piece = |text: &str, stream: &str| {
        format!("{{\"log\":{text:?},\"stream\":\"{stream}\",\"time\":\"2026-09-01T10:00:00Z\"}}\n")
    };
    let (first, last) = (
        "2026.09.01 10:00:00.000001 [ 7 ] {} <Err",
        "or> a: Code: 241. DB::Exception: x\n",
    );
    let other = "2026.09.01 10:00:00.000002 [ 8 ] {} <Warning> b: c\n";
    let log = piece(first, "stderr") + &piece(other, "stdout") + &piece(last, "stderr");
    let report = Folder::with("n1/clickhouse-server.log", log).report();
    assert_eq!(report.records.by_level["error"], 1);
    assert_eq!(report.records.by_level["warning"], 1);
    assert_eq!(report.codes[0].code, 241);
}

#[test]
fn a_piece_without_an_end_is_read_at_the_end_of_the_file() {
    let log = "2026-09-01T10:00:00Z stderr P 2026.09.01 10:00:00.000001 [ 7 ] {} <Error> a: Code: 241. x\n";
    let report = Folder::with("n1/clickhouse-server.log", log).report();
    assert_eq!((report.records.total, report.codes[0].code), (1, 241));
}

#[test]
fn lines_between_two_groups_of_grep_continue_no_record() {
    let log = "\
a/clickhouse-server.log-11-0. DB::f() @ 0x1
a/clickhouse-server.log:12:2026.09.01 10:00:00.000001 [ 7 ] {} <Error> a: Code: 210. x
a/clickhouse-server.log-13-0. DB::f() @ 0x1
--
a/clickhouse-server.log-40-7. DB::g() @ 0x1
a/clickhouse-server.log:41:2026.09.01 10:00:00.000002 [ 7 ] {} <Error> a: Code: 241. y
--
b/clickhouse-server.log:9:2026.09.01 10:00:00.000003 [ 7 ] {} <Error> a: Code: 241. z
";
    let report = Folder::with("found.txt", log).report();
    let by_node: Vec<(&str, u64)> = report
        .records
        .by_node
        .iter()
        .map(|(node, n)| (node.as_str(), *n))
        .collect();
    assert_eq!(by_node, [("a", 2), ("b", 1)]);
    // Line 13 continues the record before it, lines 11 and 40 records that are not here.
    assert_eq!(
        (
            report.records.continuation_lines,
            report.records.unparsed_lines
        ),
        (1, 2)
    );
}

#[test]
fn paths_in_one_output_of_grep_tell_nodes_and_err_logs() {
    let error = "2026.09.01 10:00:00.000002 [ 7 ] {} <Error> a: Code: 210. x";
    let log = format!(
        "/var/log/ch1/clickhouse-server.log:{error}\n/var/log/ch1/clickhouse-server.err.log:{error}\n\
         /var/log/ch2/clickhouse-server.log:{error}\n"
    );
    let report = Folder::with("found.txt", log).report();
    assert_eq!(report.inputs[0].records, 3);
    assert_eq!(report.records.by_node.get("ch1"), Some(&1));
    assert_eq!(report.records.by_node.get("ch2"), Some(&1));
}

#[test]
fn a_service_that_speaks_late_is_read_too() {
    let mut log = String::new();
    for at in 0..2000 {
        write!(
            log,
            "early-1  | {}",
            error(&format!("10:00:00.{at:06}"), "Code: 210. x")
        )
        .unwrap();
    }
    write!(
        log,
        "late-1   | {}",
        error("10:00:01.000000", "Code: 241. y")
    )
    .unwrap();
    assert!(log.len() > 100 * 1024);
    let report = Folder::with("compose.log", log).report();
    assert_eq!(report.records.by_node["early-1"], 2000);
    assert_eq!(report.records.by_node["late-1"], 1);
}

#[test]
fn a_few_lines_of_no_wrapper_are_counted_where_they_stand() {
    let line = format!("ch-1  | {}", error("10:00:00.000001", "Code: 210. x"));
    let log = line.repeat(3) + "no bar here\n" + &line.repeat(3) + "nor here\n";
    let report = Folder::with("compose.log", log).report();
    assert_eq!(
        (report.records.total, report.records.unparsed_lines),
        (6, 2)
    );
    assert_eq!(problems(&report.inputs[0]), [("unparsed-lines", Some(4))]);
}

#[test]
fn another_programs_lines_in_a_journal_are_no_faults_of_the_log() {
    let server = |at: u32| {
        format!(
            "Sep 01 10:00:00 h clickhouse-server[7]: {}",
            error(&format!("10:00:00.{at:06}"), "Code: 210. x")
        )
    };
    let mut log = String::new();
    for at in 0..50 {
        log += &server(at);
        log += "Sep 01 10:00:00 h sshd[9]: Accepted publickey for root\n";
        log += "Sep 01 10:00:00 h kernel: audit: backlog limit exceeded\n";
    }
    let report = Folder::with("messages", log).report();
    assert_eq!(report.records.by_node["h"], 50);
    assert_eq!(
        report.records.continuation_lines + report.records.unparsed_lines,
        0
    );
    assert!(report.inputs[0].problems.is_empty());
}

#[test]
fn the_wrapper_is_named_beside_the_format() {
    let log = format!("ch-1  | {}", error("10:00:00.000001", "Code: 210. x")).repeat(4);
    let report = Folder::with("compose.log", log).report();
    assert_eq!(report.inputs[0].format, "clickhouse");
    assert_eq!(report.inputs[0].wrapper.as_deref(), Some("docker-compose"));
    let plain = Folder::with("n1/clickhouse-server.log", error("10:00:00.000001", "x")).report();
    assert_eq!(plain.inputs[0].wrapper, None);
}

#[test]
fn a_byte_order_mark_costs_no_record() {
    let log = format!(
        "\u{feff}{}",
        error("10:00:00.000001", "Code: 210. x").repeat(2)
    );
    let report = Folder::with("n1/clickhouse-server.log", log).report();
    assert_eq!(
        (report.records.total, report.records.unparsed_lines),
        (2, 0)
    );
}

#[test]
fn explain_finds_a_record_of_the_service_whose_line_it_is() {
    let log = "\
ch-1      | 2026.09.01 10:00:00.000001 [ 7 ] {} <Error> a: Code: 210. x
keeper-1  | 2026.09.01 10:00:00.000002 [ 8 ] {} <Error> b: Code: 999. y
ch-1      | 0. DB::f() @ 0x1
";
    let folder = Folder::with("compose.log", log);
    let path = folder.path().join("compose.log");
    for (line, head) in [(1, 1), (2, 2), (3, 1)] {
        let found = casdiag::pipeline::record_at(&path, line, crate::product::base()).unwrap();
        assert_eq!(found.line, head, "{line}");
    }
}

#[test]
fn the_pod_is_read_from_the_paths_that_kubernetes_keeps() {
    let line = format!(
        "2026-09-01T10:00:00Z stderr F {}",
        error("10:00:00.000001", "Code: 210. x")
    );
    let uid = "1b2c3d4e-0000-4000-8000-0123456789ab";
    let folder = Folder::with(&format!("pods/ns_chi-0_{uid}/clickhouse/0.log"), &line);
    folder.put(
        &format!("pods/ns_chi-1_{uid}/clickhouse/0.log"),
        line.repeat(2),
    );
    let report = folder.report();
    let nodes: Vec<&str> = report.nodes.iter().map(|node| node.id.as_str()).collect();
    assert_eq!(nodes, ["chi-0", "chi-1"]);
    let id = "0".repeat(64);
    let folder = Folder::with(&format!("containers/chi-0_ns_clickhouse-{id}.log"), &line);
    assert_eq!(folder.report().nodes[0].id, "chi-0");
}

#[test]
fn lines_that_loki_kept_are_read_behind_their_labels() {
    // Newest first, as logcli prints them unless it is asked otherwise, padded to the longest labels.
    let log = "\
2026-09-01T10:00:02Z {app=\"keeper\", level=\"warn\", pod=\"ch-1\"}  2026.09.01 10:00:02.000000 [ 8 ] {} <Warning> b: c
2026-09-01T10:00:01Z {app=\"ch\", level=\"error\", pod=\"ch-0\"}     2026.09.01 10:00:01.000000 [ 7 ] {} <Error> a: Code: 241. DB::Exception: y
2026-09-01T10:00:00Z {app=\"ch\", level=\"\", pod=\"ch-0\"}          0. DB::f() @ 0x1
2026-09-01T10:00:00Z {app=\"ch\", level=\"error\", pod=\"ch-0\"}     2026.09.01 10:00:00.000000 [ 7 ] {} <Error> a: Code: 210. DB::Exception: x
";
    let oldest_first: String = log.lines().rev().flat_map(|line| [line, "\n"]).collect();
    for log in [log, &oldest_first] {
        let report = Folder::with("logcli.txt", log).report();
        let by_node = report.records.by_node.iter();
        let by_node: Vec<(&str, u64)> = by_node.map(|(node, n)| (node.as_str(), *n)).collect();
        assert_eq!(by_node, [("ch-0", 2), ("ch-1", 1)]);
        assert_eq!(report.records.continuation_lines, 1);
        assert_eq!(report.records.unparsed_lines, 0);
        let codes: Vec<u32> = report.codes.iter().map(|row| row.code).collect();
        assert_eq!(codes, [210, 241]);
        let wrapper = report.inputs[0].wrapper.as_deref();
        assert_eq!(wrapper, Some("stamped-lines, loki-labels"));
    }
}

#[test]
fn labels_without_a_node_leave_it_to_the_folder() {
    let line = |at: u32, level: &str| {
        let time = format!("10:00:{at:02}.000000");
        let record = record(&time, level, "a", "b");
        format!("2026-09-01T10:00:{at:02}.000000000Z {{app=\"ch\"}} {record}")
    };
    let log: String = (0..40)
        .map(|at| line(at, if at % 4 == 0 { "Error" } else { "Debug" }))
        .collect();
    let report = Folder::with("ch1/clickhouse-server.log", log).report();
    assert_eq!(report.records.by_node.len(), 1);
    assert_eq!(report.records.by_node["ch1"], 40);
    assert_eq!(report.records.by_level["error"], 10);
}
