//! Rows as evidence: counters, entries of queues, and what a report says of files that hold tables.

use std::collections::BTreeMap;

use casdiag::report::model::Role;

use crate::product::{self, Folder, findings, repository};

/// Values by code, those that other servers reported included.
fn values(report: &casdiag::report::model::Report) -> BTreeMap<u32, i128> {
    let mut values = BTreeMap::new();
    for row in &report.counters {
        *values.entry(row.code.unwrap()).or_default() += row.value;
    }
    values
}

#[test]
fn error_counters_pasted_from_a_client_are_counters() {
    let report = product::report(&repository(
        "tests/cases/logs/h13-system-errors-vertical/input",
    ));
    // From the case's expected.json: value_totals and rows.
    let expected = [
        (47, 118_204),
        (49, 1),
        (210, 1951),
        (234, 12_422),
        (241, 16),
        (242, 9),
        (252, 0),
        (279, 40),
        (999, 188),
    ];
    assert_eq!(values(&report), BTreeMap::from(expected));
    let rows = |path: &str| product::input(&report, path).table.as_ref().unwrap().rows;
    assert_eq!(
        (rows("wren-1.errors.txt"), rows("wren-2.errors.txt")),
        (10, 5)
    );
    assert_eq!(report.records.total, 0, "rows are no records");
    assert!(
        report.codes.is_empty() && report.codes_nested.is_empty(),
        "echoes are no codes"
    );
    let nodes: Vec<(&str, Role)> = report
        .nodes
        .iter()
        .map(|it| (it.id.as_str(), it.role))
        .collect();
    assert_eq!(
        nodes,
        [("wren-1", Role::Reporter), ("wren-2", Role::Reporter)]
    );
    let mut stamps: Vec<&str> = Vec::new();
    for input in &report.inputs {
        stamps.extend([
            input.first.as_deref().unwrap(),
            input.last.as_deref().unwrap(),
        ]);
    }
    stamps.sort_unstable();
    assert_eq!(stamps.first(), Some(&"2025-07-03T09:51:06.000000"));
    assert_eq!(stamps.last(), Some(&"2025-07-03T10:51:28.000000"));
    let missing = findings(&report, "missing-parts-counted");
    assert_eq!(missing[0].counts["missing"], 9317 + 3105);
    let lost = findings(&report, "coordination-loss-counted");
    assert_eq!(
        (lost[0].counts["keeper"], lost[0].counts["read-only"]),
        (141 + 47, 9)
    );
    let unreachable = findings(&report, "unreachable-servers-counted");
    assert_eq!(unreachable[0].counts["failed"], 40);
    assert_eq!(unreachable[0].reported_by, ["wren-1"]);
    let queries = findings(&report, "query-errors-counted");
    assert_eq!(queries[0].counts["refused"], 118_204);
    assert!(
        queries[0].title.contains("no fault of a server"),
        "{}",
        queries[0].title
    );
    // Row 3 of the first file stands at its 29th line.
    let evidence = &missing[0].evidence[0];
    assert_eq!(
        (evidence.line, evidence.path.ends_with("wren-1.errors.txt")),
        (29, true)
    );
    assert!(evidence.text.contains("value=9317"), "{}", evidence.text);
    assert!(!evidence.text.contains('\t'), "{}", evidence.text);
}

#[test]
fn one_run_as_logs_and_as_tables_counts_once_and_says_what_the_log_lacks() {
    let folder = repository("tests/cases/clickhouse/m1-errors-textlog/m1");
    let report = product::report(&folder);
    // From the case's expected.json: 1874 records, 15 of Code 241, 13 of Code 252.
    assert_eq!(report.records.total, 1874);
    let codes = product::codes(&report);
    assert_eq!((codes[&241], codes[&252], codes.get(&73)), (15, 13, None));
    let counter = |code| {
        report
            .counters
            .iter()
            .find(|row| row.code == Some(code))
            .unwrap()
    };
    assert_eq!((counter(252).value, counter(252).records), (26, Some(13)));
    assert_eq!((counter(73).value, counter(73).records), (5, Some(0)));
    // 17 rows in TSV; the same in another form is not read.
    assert_eq!(report.counters.len(), 17);
    let read = product::input(&report, "tables/errors.tsv");
    let left = product::input(&report, "tables/errors.jsonl");
    assert_eq!((read.format.as_str(), read.records), ("system-table", 0));
    assert_eq!(product::problems(left), [("duplicate-piece", None)]);
    let text_log = product::input(&report, "tables/text_log.tsv");
    assert_eq!(
        (text_log.format.as_str(), text_log.records),
        ("clickhouse", 232)
    );
    let said = product::analyze(&folder, &["--fail-on", "never"]).out;
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let unseen = "the logs have no record of UNKNOWN_FORMAT (73): 5, UNKNOWN_FILE_SIZE (631): 1";
    assert!(said.contains(unseen), "{said}");
}

/// The columns of `system.replication_queue` that matter, and a row.
fn queue(tries: u32, exception: &str) -> String {
    format!(
        "database\ttable\tnode_name\ttype\tcreate_time\tsource_replica\tnew_part_name\tnum_tries\tlast_exception\tlast_exception_time\n\
         shop\torders\tqueue-1\tMERGE_PARTS\t2026-09-01 09:00:00\tn2\t1_1_9_2\t0\t\t1970-01-01 00:00:00\n\
         shop\torders\tqueue-0\tGET_PART\t2026-09-01 09:00:00\tn2\t1_4_4_0\t{tries}\t{exception}\t2026-09-01 10:00:00\n"
    )
}

#[test]
fn an_entry_that_holds_up_a_queue_is_found_where_it_stands_and_its_echo_is_no_code() {
    let folder = Folder::new();
    let echo =
        "Code: 234. DB::Exception: No active replica has part 1_4_4_0. (NO_REPLICA_HAS_PART)";
    folder.put("n1/queue.tsv", queue(57, echo));
    folder.put(
        "n1/clickhouse-server.log",
        product::record("10:00:00.000000", "Debug", "a", "b"),
    );
    let report = folder.report();
    let stuck = findings(&report, "queue-stuck");
    assert_eq!(
        (stuck[0].counts["stuck"], stuck[0].counts["waiting"]),
        (1, 2)
    );
    assert_eq!(stuck[0].evidence[0].line, 3);
    assert_eq!(stuck[0].reported_by, ["n1"]);
    assert!(report.codes.is_empty());
    assert_eq!(report.records.total, 1);
    let rows = product::casdiag(&["lines", "queue-row-stuck", folder.path().to_str().unwrap()]);
    assert!(rows.out.contains("queue.tsv:3"), "{rows:?}");
    // Below the threshold nothing is said.
    let folder = Folder::with("n1/queue.tsv", queue(9, echo));
    assert!(findings(&folder.report(), "queue-stuck").is_empty());
}

#[test]
fn a_table_that_nobody_knows_is_listed_with_its_columns() {
    let text = "colour\tsides\nred\t4\ngreen\t5\n";
    let report = Folder::with("n1/shapes.tsv", text).report();
    let input = product::input(&report, "shapes.tsv");
    assert_eq!(input.format, "table");
    let table = input.table.as_ref().unwrap();
    assert_eq!(table.name, None);
    assert_eq!(table.columns, ["colour", "sides"]);
    let ran = product::analyze(Folder::with("n1/shapes.tsv", text).path(), &[]);
    assert_eq!(ran.code, Some(3), "nothing was recognised: {ran:?}");
}

#[test]
fn two_exports_of_one_counter_count_the_larger_value() {
    let errors = |value: u32| {
        format!(
            "name\tcode\tvalue\tlast_error_time\tremote\nNO_REPLICA_HAS_PART\t234\t{value}\t2026-09-01 10:00:00\t0\n"
        )
    };
    let folder = Folder::new();
    folder.put("n1/errors.before.tsv", errors(40));
    folder.put("n1/errors.later.tsv", errors(65));
    let report = folder.report();
    assert_eq!(report.counters.len(), 1);
    assert_eq!(report.counters[0].value, 65);
    assert_eq!(
        findings(&report, "missing-parts-counted")[0].counts["missing"],
        65
    );
}

/// `system.errors` as a server writes it: names, codes, counts, and when each grew last.
const COUNTED: &str = "name\tcode\tvalue\tlast_error_time\nNO_REPLICA_HAS_PART\t234\t9317\t2026-11-29 16:35:38\nKEEPER_EXCEPTION\t999\t7\t2026-11-29 16:38:00\n";

#[test]
fn a_counter_says_when_it_last_grew_and_not_when_it_counted() {
    let folder = Folder::with("wren-2.errors.tsv", COUNTED);
    let ran = product::analyze(folder.path(), &["--fail-on", "never"]);
    let said = "last counted 2026-11-29T16:35:38; reported by wren-2";
    assert!(ran.out.contains(said), "{}", ran.out);
    let report = folder.report();
    let row = product::signal(&report, "error-counted", "wren-2");
    assert!(row.is_none_or(|row| row.peak.is_none()), "{row:?}");
    assert!(
        report.timeline.series.is_empty(),
        "{:?}",
        report.timeline.series
    );
    let markdown = product::analyze(
        folder.path(),
        &["--fail-on", "never", "--format", "markdown"],
    );
    let read = "casdiag read 0 records and 2 rows of tables of 1 node in 1 file";
    assert!(markdown.out.contains(read), "{}", markdown.out);
    assert!(
        !markdown.out.contains("Busiest minutes"),
        "{}",
        markdown.out
    );
}

#[test]
fn an_export_is_of_the_node_that_its_name_or_folder_says() {
    for (path, node) in [
        ("wren-2.errors.tsv", "wren-2"),
        ("errors.wren-2.tsv", "wren-2"),
        ("errors/wren-2.tsv", "wren-2"),
        ("system.errors/wren-2.tsv", "wren-2"),
        ("wren-2/errors.tsv", "wren-2"),
        ("wren-2/system/errors.tsv", "wren-2"),
    ] {
        let report = Folder::with(path, COUNTED).report();
        assert_eq!(report.inputs[0].node, node, "{path}");
    }
}
