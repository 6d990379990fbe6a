//! What a storm of failing entries of the replication queue is called, by what its records say.

use casdiag::vocab::Severity;

use crate::product::{Folder, findings, record};

const STORAGE: &str = "shop.orders (StorageReplicatedMergeTree)";
const BROKEN: &str = "Code: 210. DB::NetException: I/O error: Broken pipe, while writing to socket (10.0.0.2:9009 -> 10.0.0.1:51170). (NETWORK_ERROR)";
const REFUSED: &str = "Code: 210. DB::NetException: Connection refused (n1:9009). (NETWORK_ERROR)";
const TIMED_OUT: &str = "Code: 209. DB::NetException: Timeout exceeded while reading from socket (n1:9009). (SOCKET_TIMEOUT)";
const NO_NAME: &str = "Code: 198. DB::NetException: Not found address of host: n1. (DNS_ERROR)";

/// Entries that fail, one a second, each with an error and the part of the fetch that the record before it names.
fn failing(entries: &[(&str, Option<&str>)]) -> Folder {
    let mut log = String::new();
    for (second, (error, part)) in entries.iter().enumerate() {
        let at = format!("10:00:{second:02}.000000");
        if let Some(part) = part {
            let text = format!("Fetching part {part} from /clickhouse/tables/orders/replicas/n1");
            log += &record(&at, "Debug", STORAGE, &text);
        }
        let text = format!(
            "auto DB::StorageReplicatedMergeTree::processQueueEntry(X)::operator() const: {error}"
        );
        log += &record(&at, "Error", STORAGE, &text);
    }
    Folder::with("n2/clickhouse-server.log", log)
}

/// The title and the severity of the one finding of a rule.
fn told(folder: &Folder, rule: &str) -> (String, Severity) {
    let report = folder.report();
    let found = findings(&report, rule);
    assert_eq!(found.len(), 1, "{rule}");
    (found[0].title.clone(), found[0].severity)
}

#[test]
fn entries_that_fail_for_an_unknown_reason_are_not_called_fetches() {
    let (title, severity) = told(&failing(&[(BROKEN, None); 12]), "fetch-storm");
    assert_eq!(
        title,
        "12 entries of the replication queue failed at n2, 12 with an error of no known kind: no record says whether these are fetches, \
         merges or mutations; of 12 failures it is not observable whether the part came"
    );
    assert_eq!(severity, Severity::High);
    let (title, severity) = told(&failing(&[(BROKEN, None); 6]), "fetch-storm");
    assert!(
        title.starts_with("6 entries of the replication queue failed at n2, 6 with"),
        "{title}"
    );
    assert_eq!(severity, Severity::Medium);
    let (title, _) = told(&failing(&[(BROKEN, None)]), "fetch-failures-isolated");
    assert_eq!(
        title,
        "1 entry of the replication queue failed at n2, 1 with an error of no known kind, too few for a storm"
    );
}

#[test]
fn fetches_that_fail_for_an_unknown_reason_are_told_by_the_record_that_names_their_part() {
    let (title, severity) = told(&failing(&[(BROKEN, Some("all_1_1_0")); 12]), "fetch-storm");
    assert_eq!(
        title,
        "12 fetches failed at n2, 12 with an error of no known kind; source: n1; 1 part is still missing where the log ends, and what came later \
         is not observable"
    );
    assert_eq!(severity, Severity::High);
}

#[test]
fn a_mixed_storm_names_the_kinds_that_it_has_and_no_others() {
    let kinds = [(REFUSED, 5), (TIMED_OUT, 4), (NO_NAME, 3)];
    let entries = kinds.map(|(error, times)| vec![(error, Some("all_1_1_0")); times]);
    let (title, _) = told(&failing(&entries.concat()), "fetch-storm");
    assert!(
        title.starts_with(
            "12 fetches failed at n2, 5 refused, 4 timed out, 3 for a name that was not resolved; source: n1; "
        ),
        "{title}"
    );
}

#[test]
fn a_full_disk_names_only_what_failed_on_it() {
    let full = "Code: 75, e.displayText() = DB::ErrnoException: Cannot write to file /var/lib/clickhouse/data/shop/orders/tmp_fetch_202601_1_1_0/amount.bin, errno: 28";
    let (title, _) = told(&failing(&[(full, None); 4]), "disk-full");
    assert_eq!(
        title,
        "the disk of n2 is full: 4 records of writes that failed, 4 fetches"
    );
}

#[test]
fn words_agree_with_one_node_and_with_several() {
    let gone = record(
        "10:00:03.000000",
        "Warning",
        "KeeperTCPHandler",
        "Got exception processing session #23: Connection reset by peer",
    );
    let keeper = Folder::with("kp1/clickhouse-keeper.log", gone);
    let (title, _) = told(&keeper, "client-disconnects");
    assert_eq!(
        title,
        "1 connection of Keeper's clients broken by the other end at kp1"
    );
    let missing = record(
        "10:00:00.000000",
        "Error",
        STORAGE,
        "DB::StorageReplicatedMergeTree::queueTask()::<lambda(X&)>: Code: 86. DB::Exception: Received error from remote server /?endpoint=DataPartsExchange%3A%2Ftables%2Forders%2Freplicas%2Fn1&part=all_1_1_0&compress=false. HTTP status code: 500 Internal Server Error, body: Code: 221. DB::Exception: No interserver IO endpoint named DataPartsExchange:/tables/orders/replicas/n1. (NO_SUCH_INTERSERVER_IO_ENDPOINT)",
    );
    let folder = Folder::with("n2/clickhouse-server.err.log", &missing);
    let (title, _) = told(&folder, "interserver-endpoint-missing");
    assert!(
        title.starts_with("n2 was told 1 time by n1 that there is no endpoint"),
        "{title}"
    );
    folder.put("n3/clickhouse-server.err.log", &missing);
    let (title, _) = told(&folder, "interserver-endpoint-missing");
    assert!(
        title.starts_with("n2 and n3 were told 2 times by n1 that there is no endpoint"),
        "{title}"
    );
}

#[test]
fn arrivals_of_all_tables_are_said_to_be_of_all_tables() {
    let replaced = |second: u32| {
        let at = format!("10:01:{second:02}.000000");
        record(
            &at,
            "Debug",
            STORAGE,
            "Found 1 parts that could be cloned (of 4 required parts)",
        ) + &record(
            &at,
            "Trace",
            "ReadWriteBufferFromHTTP",
            "Sending request to http://10.0.0.1:9009/?endpoint=DataPartsExchange%3A%2Ftables%2Forders%2Freplicas%2Fn1&part=all_5_5_0&compress=false",
        ) + &record(
            &at,
            "Error",
            STORAGE,
            &format!("DB::StorageReplicatedMergeTree::queueTask()::<lambda(X&)>: {REFUSED}"),
        )
    };
    let came = record(
        "10:01:30.000000",
        "Trace",
        "shop.orders (Data)",
        "Renaming temporary part tmp_replace_from_fetch_all_5_5_0 to all_5_5_0.",
    );
    let replaced: String = (0..4).map(replaced).collect::<String>() + &came;
    let folder = Folder::with("n2/clickhouse-server.log", &replaced);
    let (title, _) = told(&folder, "diverged-replicas");
    assert!(
        title.ends_with("; healed: 1 part of all tables came since, by name or within a larger one, the last at 2026-09-01 10:01:30, and none is missing"),
        "{title}"
    );
    // A fetch of another table that failed and never came is among the missing, and is not called the replaced partition's.
    let other = record(
        "10:00:00.000000",
        "Debug",
        "shop.items (StorageReplicatedMergeTree)",
        "Fetching part all_9_9_0 from /clickhouse/tables/items/replicas/n1",
    ) + &record(
        "10:00:00.000001",
        "Error",
        "shop.items (StorageReplicatedMergeTree)",
        &format!("DB::StorageReplicatedMergeTree::queueTask()::<lambda(X&)>: {REFUSED}"),
    );
    folder.put("n2/clickhouse-server.log", other + &replaced);
    let (title, _) = told(&folder, "diverged-replicas");
    assert!(
        title.ends_with("; of the parts of all tables that failed to come there, 1 is still missing where the log ends, and what came later is not observable"),
        "{title}"
    );
}
