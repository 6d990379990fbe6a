//! What a title calls queries are queries, and whoever is at fault is accused: several loggers write one failure.

use casdiag::report::model::{Finding, Report};
use casdiag::vocab::Severity;

use crate::product::{Folder, count, findings};

/// Five queries that fail a second apart, each written by these loggers.
fn fails(loggers: &[&str], text: &str) -> String {
    let lines = (1..=5).flat_map(|n| {
        let of = loggers.iter().enumerate();
        of.map(move |(at, logger)| {
            format!(
                "2026.09.01 10:00:0{n}.00{at}000 [ {n} ] {{q-{n}}} <Error> {logger}: {text} (version 25.3.2.39 (official build))\n"
            )
        })
    });
    lines.collect()
}

fn report(log: &str) -> Report {
    Folder::with("n1/clickhouse-server.err.log", log).report()
}

fn found<'r>(report: &'r Report, rule: &str) -> &'r Finding {
    findings(report, rule)[0]
}

const MEMORY: &str = "Code: 241. DB::Exception: Query memory limit exceeded: would use 10.00 GiB. (MEMORY_LIMIT_EXCEEDED)";

#[test]
fn a_failed_query_counts_once_whoever_writes_it() {
    let parts = "Code: 252. DB::Exception: Too many parts (3000 with average size of 1.00 MiB) in table 'a.b'. Merges are processing significantly slower than inserts. (TOO_MANY_PARTS)";
    let time = "Code: 159. DB::Exception: Timeout exceeded: elapsed 60002.123 ms, maximum: 60000 ms. (TIMEOUT_EXCEEDED)";
    let shard =
        "Code: 279. DB::Exception: All connection tries failed. (ALL_CONNECTION_TRIES_FAILED)";
    for (rule, signal, text, says) in [
        ("memory-limit", "memory-limit", MEMORY, "ended 5 queries"),
        (
            "too-many-parts",
            "too-many-parts",
            parts,
            "5 inserts refused",
        ),
        ("query-timeouts", "query-timeout", time, "ended 5 queries"),
        (
            "shard-unreachable",
            "all-tries-failed",
            shard,
            "5 queries at n1",
        ),
    ] {
        for loggers in [
            &["executeQuery"][..],
            &["TCPHandler"],
            &["executeQuery", "TCPHandler"],
            &["executeQuery", "HTTPHandler"],
            &["executeQuery", "DynamicQueryHandler"],
            &["executeQuery", "MySQLHandler"],
            &["executeQuery", "PostgreSQLHandler"],
            &["executeQuery", "GRPCServer"],
        ] {
            let report = report(&fails(loggers, text));
            let title = &found(&report, rule).title;
            assert!(title.contains(says), "{loggers:?}: {title}");
            // Records stay records.
            let records = u64::try_from(5 * loggers.len()).unwrap();
            assert_eq!(
                count(&report, signal, "n1"),
                records,
                "{loggers:?} {signal}"
            );
        }
    }
}

#[test]
fn a_threshold_counts_queries() {
    // Five queries, ten records: below ten. Two minutes later they fail again under the same ids: ten.
    let once = fails(&["executeQuery", "TCPHandler"], MEMORY);
    let again = once.replace(" 10:00:", " 10:02:");
    for (log, ended, severity) in [
        (once.clone(), 5, Severity::Low),
        (once + &again, 10, Severity::Medium),
    ] {
        let report = report(&log);
        let limit = found(&report, "memory-limit");
        assert_eq!(limit.counts["exceeded"], ended);
        assert_eq!(limit.severity, severity);
    }
}

#[test]
fn who_refuses_is_accused_and_not_who_passes_it_on() {
    let memory = MEMORY.replace(
        "Exception: Query",
        "Exception: Received from n2:9000. DB::Exception: Query",
    );
    let parts = "Code: 252. DB::Exception: Received from n2:9000. DB::Exception: Too many parts (3000 with average size of 1.00 MiB) in table 'a.b'. Merges are processing significantly slower than inserts. (TOO_MANY_PARTS)";
    for (rule, text, says) in [
        (
            "memory-limit",
            &memory[..],
            "limits on memory at n2 ended 5 queries of n1",
        ),
        (
            "too-many-parts",
            parts,
            "5 inserts of n1 refused at n2 because of too many parts",
        ),
    ] {
        let report = report(&fails(&["executeQuery", "TCPHandler"], text));
        let found = found(&report, rule);
        assert_eq!(
            (&found.title[..], &found.accused[..]),
            (says, &["n2".to_owned()][..])
        );
    }
}

#[test]
fn an_address_that_a_query_names_is_no_failure_of_the_servers_store() {
    let text = "Code: 499. DB::Exception: Failed to get object info: No response body.. HTTP response code: 404: while reading x.csv: The table structure cannot be extracted from a CSV format file. (S3_ERROR) (from 127.0.0.1:1) (query 1, line 1) (in query: SELECT * FROM s3('https://b/x.csv'))";
    let report = report(&fails(&["executeQuery"], text));
    assert!(findings(&report, "object-store-errors").is_empty());
    let title = &found(&report, "user-errors").title;
    let says = "5 records of queries at n1 that could not read an object that they name";
    assert_eq!(title, says);
}

#[test]
fn one_name_one_table_one_part_and_one_container_are_no_seven() {
    let name = "Cannot resolve host (ch9), error 0: Host not found.";
    let session = "Couldn't start replication (table will be in readonly mode): Replica /clickhouse/tables/1/t/replicas/r1 appears to be already active. If you're sure it's not, try again in a minute or remove znode /clickhouse/tables/1/t/replicas/r1/is_active manually. Code: 224. DB::Exception: Replica /clickhouse/tables/1/t/replicas/r1 appears to be already active. (REPLICA_IS_ALREADY_ACTIVE)";
    let lost = "Part all_0_0_0 is lost forever.";
    let broken = "Part all_0_0_0 looks broken. Removing it and will try to fetch.";
    let missing = "Removing missing part from ZooKeeper and queueing a fetch: all_0_0_0";
    let check = "db.t (ReplicatedMergeTreePartCheckThread)";
    for (rule, logger, text, says) in [
        (
            "names-not-resolved",
            "DNSResolver",
            name,
            "5 tries to resolve a name failed at n1: ch9",
        ),
        (
            "old-session-alive",
            "db.t (ReplicatedMergeTreeRestartingThread)",
            session,
            "tables at n1 could not start replication, said 5 times (/clickhouse/tables/1/t/replicas/r1), because",
        ),
        (
            "parts-damaged",
            check,
            lost,
            "1 part is on no replica, as n1 found in 5 records",
        ),
        (
            "parts-damaged",
            check,
            broken,
            "1 part looked broken on the disk of n1, to be fetched anew",
        ),
        (
            "parts-missing",
            "db.t (StorageReplicatedMergeTree)",
            missing,
            "1 part not on the disk of n1 at a start, which should have been there: fetched from other replicas",
        ),
    ] {
        let report = report(&fails(&[logger], text));
        let title = &found(&report, rule).title;
        assert!(title.starts_with(says), "{title}");
    }
    let compose = "ch-1  | 2026.09.01 10:00:00.000000 [ 1 ] {} <Information> Application: Ready for connections.\nch-1 exited with code 137\n";
    let report = Folder::with("compose.log", compose.repeat(2)).report();
    let title = &found(&report, "container-killed").title;
    assert_eq!(
        title,
        "containers of ch-1 were killed 2 times (ch-1): exit code 137"
    );
}
