//! What a log leaves out for its level is not observable in it, at whichever of its levels a record may be logged.

use std::fmt::Write as _;

use crate::product::{self, Folder, findings, record};

const LOST: &str = "2026.09.01 10:00:40.000000 [ 9 ] {} <Error> a.b (ReplicatedMergeTreeQueue): Code: 999, e.displayText() = Coordination::Exception: Session expired (Session expired), e.what() = Coordination::Exception\n";

fn fetched(level: &str, part: &str) -> String {
    let text = format!("Fetched part {part} from /clickhouse/tables/a/b/replicas/n9");
    record("10:00:01.000000", level, "a.b", &text)
}

fn other(level: &str) -> String {
    record("10:00:02.000000", level, "l", "at work")
}

/// The cells of a row in the tables of counts, with the total where there is more than one node.
fn row(folder: &Folder, what: &str) -> Vec<String> {
    let arguments = ["--fail-on", "never", "--format", "markdown"];
    let ran = product::analyze(folder.path(), &arguments);
    let starts = format!("| {what}");
    let line = ran.out.lines().find(|line| line.starts_with(&starts));
    let line = line.unwrap_or_else(|| panic!("{what}: {}", ran.out));
    let cells = line.trim_matches('|').split('|').skip(1);
    cells.map(|cell| cell.trim().to_owned()).collect()
}

/// Why a signal could not be seen on a node, as the report has it.
fn why(folder: &Folder, signal: &str, node: &str) -> Option<String> {
    let missed = folder.report().not_observable;
    let mut missed = missed.into_iter();
    let found = missed.find(|it| it.signal == signal && it.node == node);
    found.map(|it| it.why)
}

#[test]
fn a_nought_needs_a_log_down_to_the_least_level_at_which_versions_log_it() {
    // The same record is at Debug in one version and at Information in another.
    let folder = Folder::with(
        "n1/clickhouse-server.log",
        fetched("Debug", "all_1_1_0") + &fetched("Debug", "all_2_2_0"),
    );
    folder.put("n2/clickhouse-server.log", other("Information"));
    folder.put("n3/clickhouse-server.log", other("Debug"));
    folder.put("n4/clickhouse-server.log", other("Trace"));
    folder.put("n5/clickhouse-server.log", other("Warning"));
    let cells = row(&folder, "fetch-finished");
    assert_eq!(cells, ["2", "n/o", "0", "0", "n/o", "≥ 2"]);
    assert_eq!(
        why(&folder, "fetch-finished", "n2").unwrap(),
        "its log shows nothing below Information, and it may be logged at Debug"
    );
    assert_eq!(
        why(&folder, "fetch-finished", "n5").unwrap(),
        "its log shows nothing below Warning"
    );
    assert_eq!(why(&folder, "fetch-finished", "n3"), None);
}

#[test]
fn an_occurrence_says_at_which_level_its_version_logs_it() {
    let folder = Folder::with(
        "n1/clickhouse-server.log",
        fetched("Information", "all_1_1_0"),
    );
    folder.put("n2/clickhouse-server.log", other("Debug"));
    assert_eq!(row(&folder, "fetch-finished"), ["1", "0", "1"]);
    assert_eq!(why(&folder, "fetch-finished", "n1"), None);
}

#[test]
fn an_err_log_shows_warnings_and_not_what_may_be_said_at_information() {
    let folder = Folder::with(
        "n1/clickhouse-server.err.log",
        record(
            "10:00:01.000000",
            "Error",
            "a.b (ReplicatedMergeTreeQueue)",
            "Code: 210. DB::Exception: Source n2 did not prove it still holds the manifest it offered for part all_1_1_0 by relink; the relink is abandoned and the fetch will be retried later. (NETWORK_ERROR)",
        ) + &record(
            "10:00:02.000000",
            "Error",
            "executeQuery",
            "Code: 241. DB::Exception: Memory limit exceeded. (MEMORY_LIMIT_EXCEEDED)",
        ),
    );
    folder.put("n2/clickhouse-server.err.log", other("Warning"));
    // One era logs a refusal at Error, the next at Information; a limit on memory is at Error or Warning in all.
    assert_eq!(row(&folder, "relink-refused"), ["1", "n/o", "≥ 1"]);
    assert_eq!(row(&folder, "memory-limit"), ["1", "0", "1"]);
    assert_eq!(
        why(&folder, "relink-refused", "n2").unwrap(),
        "only its err.log is here, and it may be logged at Information"
    );
}

#[test]
fn a_log_of_errors_alone_shows_no_warnings() {
    let renewed = record(
        "10:00:01.000000",
        "Warning",
        "CasMountLeaseKeeper",
        "CAS mount renewal 'ca-1' entered retry after physical attempt 1 (writer_epoch=3, seq=88, remaining_confirmed_budget_ms=12000)",
    );
    let folder = Folder::with("n1/clickhouse-server.log", renewed);
    folder.put("n2/clickhouse-server.log", other("Error"));
    let cells = || row(&folder, "mount-renewal-retried");
    assert_eq!(cells(), ["1", "n/o", "≥ 1"]);
    // An err.log goes down to Warning, whatever stands in it.
    folder.put("n2/clickhouse-server.err.log", other("Error"));
    assert_eq!(cells(), ["1", "0", "1"]);
}

#[test]
fn parts_that_failed_to_come_are_untold_where_the_log_may_not_show_that_they_came() {
    let log = |level: &str| {
        let fails = |n: u32| {
            format!(
                "2026.09.01 10:00:{n:02}.000000 [ 6 ] {{}} <Debug> a.b (StorageReplicatedMergeTree): Fetching part all_{n}_{n}_0 from /clickhouse/tables/a/b/replicas/n1\n\
                 2026.09.01 10:00:{n:02}.100000 [ 6 ] {{}} <Error> a.b (StorageReplicatedMergeTree): DB::StorageReplicatedMergeTree::queueTask()::<lambda(X&)>: Poco::Exception. Code: 1000, e.code() = 111, e.displayText() = Connection refused, e.what() = Connection refused\n"
            )
            .replace("<Debug>", level)
        };
        (0..12).map(fails).collect::<String>()
    };
    let title = |level: &str| {
        let folder = Folder::with("n2/clickhouse-server.log", log(level));
        let report = folder.report();
        findings(&report, "fetch-storm")[0].title.clone()
    };
    // A log at Debug shows every part that came; one at Information only where the version says it there.
    assert!(title("<Debug>").ends_with(
        "; 12 parts are still missing where the log ends, and what came later is not observable"
    ));
    assert!(
        title("<Information>")
            .ends_with("; of 12 failures it is not observable whether the part came")
    );
}

#[test]
fn a_keeper_lacks_nothing_that_only_servers_log() {
    let mut keeper = String::from(
        "2026.09.01 10:00:00.000000 [ 1 ] {} <Information> Application: Starting ClickHouse Keeper 26.3.1.896 (revision: 54510, git hash: 187e0661, build id: C386), PID 1\n",
    );
    write!(keeper, "{}", other("Trace")).unwrap();
    let gone = record(
        "10:00:03.000000",
        "Warning",
        "KeeperTCPHandler",
        "Got exception processing session #23: Connection reset by peer",
    );
    let server = fetched("Debug", "all_1_1_0") + LOST;
    let folder = Folder::with("n1/clickhouse-server.log", &server);
    folder.put("n2/clickhouse-server.log", other("Trace"));
    folder.put("kp1/clickhouse-keeper.log", keeper.clone() + &gone);
    folder.put("kp2/clickhouse-keeper.log", &keeper);
    // In the order of the columns: kp1, kp2, n1, n2. What runs at a Keeper fetches nothing, so no total is less than it was.
    assert_eq!(
        row(&folder, "fetch-finished"),
        ["n/o", "n/o", "1", "0", "1"]
    );
    assert_eq!(
        row(&folder, "keeper-client-gone"),
        ["1", "0", "0", "0", "1"]
    );
    // A server that starts on the node has both programs' records there.
    let start = "2026.09.01 10:00:00.000000 [ 1 ] {} <Information> Application: Starting ClickHouse 26.3.1.896 (revision: 54510, git hash: 187e0661, build id: C386), PID 1\n";
    folder.put(
        "kp2/clickhouse-server.log",
        start.to_owned() + &other("Trace"),
    );
    assert_eq!(row(&folder, "fetch-finished"), ["n/o", "0", "1", "0", "1"]);
}

#[test]
fn a_log_whose_records_have_no_codes_has_no_nought_of_them() {
    let folder = Folder::with("n1/clickhouse-server.log", LOST);
    folder.put("n2/clickhouse-server.log", other("Trace"));
    folder.put(
        "zk/zookeeper.log",
        "2026-09-01 10:00:00,000 [myid:] - INFO  [main:ZooKeeperServerMain@123] - Starting server\n",
    );
    let cells = row(&folder, "999 KEEPER_EXCEPTION");
    assert_eq!(cells, ["1", "0", "n/o", "1"]);
}
