//! Logs in wrappers: the same records, counts and places as without them.

mod clocks;
mod forms;
mod hostile;
mod incident;
mod json_logger;
mod seven;
mod sharing;
mod writers;

use crate::product::{Folder, record};

/// Lines of two services as compose prints them, one between the lines of a record of the other.
const INTERLEAVED: &str = "\
Attaching to ch-1, keeper-1
ch-1      | 2026.09.01 10:00:00.000001 [ 7 ] {} <Error> a: Code: 210. DB::NetException: x, Stack trace:
ch-1      |
keeper-1  | 2026.09.01 10:00:00.000002 [ 8 ] {} <Error> b: Code: 999. Coordination::Exception: y
ch-1      | 0. DB::f() @ 0x1
ch-1      | 2026.09.01 10:00:00.000003 [ 7 ] {} <Error> a: Code: 241. DB::Exception: z
";

#[test]
fn a_record_between_whose_lines_another_service_wrote_is_one_record_of_its_own_node() {
    let report = Folder::with("compose.log", INTERLEAVED).report();
    let nodes: Vec<(&str, u64)> = report
        .records
        .by_node
        .iter()
        .map(|(node, n)| (node.as_str(), *n))
        .collect();
    assert_eq!(nodes, [("ch-1", 2), ("keeper-1", 1)]);
    assert_eq!(report.records.continuation_lines, 2);
    assert_eq!(report.records.unparsed_lines, 1);
    let codes: Vec<(u32, &str)> = report
        .codes
        .iter()
        .map(|row| (row.code, row.node.as_str()))
        .collect();
    assert_eq!(codes, [(210, "ch-1"), (241, "ch-1"), (999, "keeper-1")]);
}

#[test]
fn a_record_is_cited_where_it_stands_in_the_file() {
    let report = Folder::with("compose.log", INTERLEAVED).report();
    let unexplained = report
        .coverage
        .unexplained
        .iter()
        .filter_map(|it| it.example.as_ref());
    let signals = report.signals.iter().flat_map(|row| &row.evidence);
    let cited: Vec<(u64, u64)> = unexplained
        .chain(signals)
        .map(|it| (it.line, it.offset))
        .collect();
    assert!(!cited.is_empty());
    for (line, offset) in cited {
        let before = &INTERLEAVED[..usize::try_from(offset).unwrap()];
        assert_eq!(before.matches('\n').count() as u64 + 1, line);
        assert!(before.ends_with('\n'));
    }
}

#[test]
fn a_plain_log_that_quotes_wrapped_lines_stays_plain() {
    let quoting = record("10:00:00.000001", "Error", "a", "b") + INTERLEAVED;
    let own = record("10:00:01.000001", "Error", "a", "b");
    let folder = Folder::with("n1/clickhouse-server.log", quoting + &own.repeat(9));
    let report = folder.report();
    assert_eq!(report.records.total, 10);
    assert_eq!(report.nodes.len(), 1);
}
