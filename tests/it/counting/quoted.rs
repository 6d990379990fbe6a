//! Rule 4 for every message that the rule base knows: where a query, or its data, quote it, it is no occurrence.

use std::collections::BTreeMap;

use casdiag::report::model::Report;
use casdiag::rules::BUILT_IN;

use crate::product::{Folder, casdiag, codes, record};

/// The ways in which servers print a query or its data: level, logger, and what stands around the quotation.
const WAYS: [(&str, &str, &str, &str); 14] = [
    (
        "Debug",
        "executeQuery",
        "(from [::1]:1, user: bob) (query 1, line 1) SELECT 1 WHERE message LIKE '%",
        "%' (stage: Complete)",
    ),
    (
        "Debug",
        "executeQuery",
        "(from 127.0.0.1:35276) INSERT INTO notes VALUES ('",
        "')",
    ),
    (
        "Error",
        "executeQuery",
        "Code: 60. DB::Exception: Table default.nope does not exist. (UNKNOWN_TABLE) (version 26.6.2.1) (from [::1]:1) (in query: SELECT 1 FROM nope WHERE message LIKE '%",
        "%'), Stack trace (when copying this message, always include the lines below):",
    ),
    (
        "Error",
        "executeQuery",
        "Code: 62. DB::Exception: Syntax error: failed at position 1 (x): ",
        " (SYNTAX_ERROR) (version 26.6.2.1)",
    ),
    (
        "Error",
        "executeQuery",
        "Code: 47. DB::Exception: Unknown expression identifier `a` in scope SELECT a WHERE message LIKE '%",
        "%'. (UNKNOWN_IDENTIFIER) (version 26.6.2.1)",
    ),
    (
        "Error",
        "TCPHandler",
        "Code: 27. DB::Exception: Cannot parse input: expected ',' before: '",
        "'. (CANNOT_PARSE_INPUT_ASSERTION_FAILED) (version 26.6.2.1)",
    ),
    (
        "Debug",
        "DDLWorker",
        "Processing task query-0000000001 (query: SELECT 1 WHERE message LIKE '%",
        "%', backup restore: false)",
    ),
    ("Trace", "HTTPHandler", "Request URI: /?query=SELECT '", "'"),
    (
        "Debug",
        "executeQuery",
        "(internal) SELECT '",
        "' (stage: Complete)",
    ),
    (
        "Debug",
        "DDLWorker",
        "Processing task query-0000000001 (INSERT INTO a SELECT '",
        "')",
    ),
    (
        "Debug",
        "MergeTreeWhereOptimizer",
        "MergeTreeWhereOptimizer: condition \"message = '",
        "'\" moved to PREWHERE",
    ),
    (
        "Debug",
        "a.b (SelectExecutor)",
        "Key condition: (column 0 in ['",
        "', +Inf))",
    ),
    (
        "Trace",
        "a.b",
        "Adding mutation 0000000001 for 1 partition (commands: UPDATE a = '",
        "' WHERE 1)",
    ),
    (
        "Debug",
        "AsynchronousInsertQueue",
        "Have 1 pending inserts with total 10 bytes of data for query 'INSERT INTO a SELECT '",
        "''",
    ),
];

/// The first lines of the messages of all samples in the server's own format.
fn messages() -> Vec<String> {
    let base: toml::Table = BUILT_IN.parse().unwrap();
    let mut found = Vec::new();
    for signal in base["signal"].as_array().unwrap() {
        let samples = signal.get("samples").and_then(toml::Value::as_array);
        for sample in samples.into_iter().flatten() {
            let line = sample.as_str().or_else(|| sample.get("line")?.as_str());
            let head = line.and_then(|it| it.lines().next()).unwrap_or_default();
            let message = head
                .split_once("> ")
                .filter(|it| it.0.contains("] {"))
                .and_then(|it| it.1.split_once(": "));
            found.extend(message.map(|it| it.1.to_owned()));
        }
    }
    found
}

/// A log in which everything is said in every way.
fn analyzed(said: &[String]) -> Report {
    let mut log = String::new();
    for (at, message) in said.iter().enumerate() {
        for (number, (level, logger, before, after)) in WAYS.iter().enumerate() {
            let time = format!("10:{:02}:{:02}.{number:06}", at / 60, at % 60);
            log += &record(&time, level, logger, &format!("{before}{message}{after}"));
        }
    }
    Folder::with("n1/clickhouse-server.log", log).report()
}

fn occurrences(report: &Report) -> BTreeMap<&str, u64> {
    let rows = report.signals.iter().filter(|it| it.count > 0);
    rows.map(|it| (it.signal.as_str(), it.count)).collect()
}

#[test]
fn what_a_query_quotes_is_no_occurrence_whichever_message_it_is() {
    let messages = messages();
    assert!(messages.len() > 200, "{}", messages.len());
    let quoted = analyzed(&messages);
    let plain = analyzed(&vec!["nothing".to_owned(); messages.len()]);
    assert_eq!(quoted.records.total, plain.records.total);
    assert_eq!(occurrences(&quoted), occurrences(&plain));
    assert_eq!(codes(&quoted), codes(&plain));
    let told = |report: &Report| -> Vec<String> {
        report.findings.iter().map(|it| it.rule.clone()).collect()
    };
    assert_eq!(told(&quoted), told(&plain));
}

#[test]
fn an_exception_behind_a_query_is_the_servers_own() {
    let message = "Failed insertion for query 'INSERT INTO a': Code: 241. DB::Exception: (total) memory limit exceeded: would use 9.00 GiB. (MEMORY_LIMIT_EXCEEDED)";
    let line = record(
        "10:00:00.000001",
        "Error",
        "AsynchronousInsertQueue",
        message,
    );
    let report = Folder::with("n1/clickhouse-server.log", line).report();
    assert_eq!(crate::product::total(&report, "memory-limit"), 1);
}

#[test]
fn a_search_for_a_text_that_stands_in_the_logger_finds_its_lines() {
    let rules = Folder::with(
        "own.toml",
        "[[signal]]\nid = \"alter-failed\"\nwhat = \"w\"\ntemplates = [\"{:text} (ReplicatedMergeTreeAlterThread): \", \"Cannot parse string\"]\n\
         samples = [{ line = \"2026.09.01 10:00:00.000001 [ 7 ] {} <Error> a.b (ReplicatedMergeTreeAlterThread): Code: 6. DB::Exception: Cannot parse string 'x'\" }]\n",
    );
    let line = record(
        "10:00:00.000001",
        "Error",
        "a.b (ReplicatedMergeTreeAlterThread)",
        "Code: 6. DB::Exception: Cannot read string 'x'",
    );
    let logs = Folder::with("n1/clickhouse-server.log", line.repeat(3));
    let rules = rules.path().join("own.toml");
    let ran = casdiag(&[
        "lines",
        "alter-failed",
        logs.path().to_str().unwrap(),
        "--rules",
        rules.to_str().unwrap(),
    ]);
    assert!(
        ran.out
            .contains("0 records are alter-failed\n3 lines: what a plain search finds"),
        "{}{}",
        ran.out,
        ran.err
    );
}

#[test]
fn a_declared_format_is_one_whatever_its_file_is_called() {
    let rules = Folder::with(
        "own.toml",
        "[[format]]\nname = \"events\"\npattern = '(?<time>\\S+)\\t(?<level>[a-z]+)\\t'\n\
         time = \"%Y-%m-%dT%H:%M:%SZ\"\nlevels = { info = \"information\", bad = \"error\" }\n\
         samples = [{ line = \"2026-09-01T10:00:00Z\\tbad\\tx\", message = \"x\" }]\n",
    );
    let rules = rules.path().join("own.toml");
    let text = "2026-09-01T10:00:00Z\tbad\tx\n2026-09-01T10:00:01Z\tinfo\ty\n";
    for name in ["a.log", "a.tsv", "a.csv", "a.json", "a.md"] {
        let logs = Folder::with(&format!("n1/{name}"), text);
        let ran = casdiag(&[
            "analyze",
            "--format",
            "json",
            logs.path().to_str().unwrap(),
            "--rules",
            rules.to_str().unwrap(),
        ]);
        assert_eq!(ran.report().records.total, 2, "{name}: {}", ran.err);
    }
}

#[test]
fn a_crash_within_a_query_is_the_servers_own() {
    let head = "(version 26.6.2.1, build id: 7B1E) (from thread 3104) (query_id: 4f-1)";
    for query in ["(query: SELECT 1)", "(no query)", "(query: )"] {
        let line = record(
            "10:00:00.000001",
            "Fatal",
            "BaseDaemon",
            &format!("{head} {query} Received signal Segmentation fault (11)"),
        );
        let report = Folder::with("n1/clickhouse-server.log", line).report();
        assert_eq!(crate::product::total(&report, "crash-report"), 1, "{query}");
    }
}

#[test]
fn a_query_on_a_later_line_is_a_query_too() {
    let message = "Code: 279. DB::Exception: All connection tries failed. Log: \n\n\
                   Code: 210. DB::NetException: Connection refused (ch2:9000). (NETWORK_ERROR)\n\n\
                   . (ALL_CONNECTION_TRIES_FAILED) (version 26.6.2.1) (from [::1]:1) (in query: SELECT 'Timeout (evilhost:9000) Code: 242. x'\n\
                   , 'Code: 777. y')";
    let line = record("10:00:00.000001", "Error", "TCPHandler", message);
    let report = Folder::with("n1/clickhouse-server.log", line).report();
    let row = crate::product::signal(&report, "all-tries-failed", "n1").unwrap();
    let peers: Vec<&str> = row.by["peer"].keys().map(String::as_str).collect();
    assert_eq!(peers, ["ch2"]);
    let nested: Vec<u32> = report.codes_nested.iter().map(|it| it.code).collect();
    assert_eq!(nested, [210]);
}
