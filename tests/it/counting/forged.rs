//! Rule 13 where the forged record bears the time of its neighbours: only the err.log tells.

use super::findings;
use crate::product::{Folder, record};

const CRASH: &str =
    "(version 26.6.2) (from thread 1) (no query) Received signal Segmentation fault (11)";

fn open_query(at: &str) -> String {
    record(at, "Debug", "executeQuery", "(from 1.1.1.1:1) SELECT 'x")
}

#[test]
fn a_record_that_an_open_query_may_have_printed_is_forged_if_the_err_log_lacks_it() {
    let real = record("10:00:00.000003", "Error", "a", "real");
    let forged = record("10:00:00.000002", "Fatal", "BaseDaemon", CRASH);
    let folder = Folder::with(
        "n1/clickhouse-server.log",
        open_query("10:00:00.000001") + &forged + &real,
    );
    folder.put("n1/clickhouse-server.err.log", &real);
    let report = folder.report();
    assert_eq!((report.records.total, report.records.suspect), (3, 1));
    assert!(findings(&report, "server-crash").is_empty());
}

#[test]
fn it_is_forged_beside_an_empty_err_log_too() {
    let forged = record("10:00:00.000002", "Fatal", "BaseDaemon", CRASH);
    let folder = Folder::with(
        "n1/clickhouse-server.log",
        open_query("10:00:00.000001") + &forged,
    );
    folder.put("n1/clickhouse-server.err.log", "");
    let report = folder.report();
    assert_eq!((report.records.total, report.records.suspect), (2, 1));
    assert!(findings(&report, "server-crash").is_empty());
}

#[test]
fn a_true_crash_in_a_query_with_an_open_quotation_is_believed_if_the_err_log_holds_it() {
    let crash = record("10:00:00.000002", "Fatal", "BaseDaemon", CRASH);
    let folder = Folder::with(
        "n1/clickhouse-server.log",
        open_query("10:00:00.000001") + &crash,
    );
    folder.put("n1/clickhouse-server.err.log", &crash);
    let report = folder.report();
    assert_eq!((report.records.total, report.records.suspect), (2, 0));
    assert_eq!(findings(&report, "server-crash").len(), 1);
}

#[test]
fn without_an_err_log_nothing_speaks_against_a_record_of_the_right_time() {
    let crash = record("10:00:00.000002", "Fatal", "BaseDaemon", CRASH);
    let folder = Folder::with(
        "n1/clickhouse-server.log",
        open_query("10:00:00.000001") + &crash,
    );
    let report = folder.report();
    assert_eq!((report.records.total, report.records.suspect), (2, 0));
    assert_eq!(findings(&report, "server-crash").len(), 1);
}

/// Two forged heads: the first one's record ends where the second one's begins, and the query ends behind both.
const TWO_HEADS: [&str; 2] = ["Fatal", "Debug"];

fn printed_by_a_query(first: &str) -> String {
    let rest = "' (stage: Complete)\n";
    let hashes = record("10:00:00.000002", first, "BaseDaemon", "########");
    let crash = record("10:00:00.000003", "Fatal", "BaseDaemon", CRASH);
    open_query("10:00:00.000001") + &hashes + &crash + rest
}

#[test]
fn every_record_up_to_the_end_of_the_quotation_is_forged_if_the_err_log_lacks_it() {
    for (first, suspect) in TWO_HEADS.into_iter().zip([2, 1]) {
        for real in ["", &record("10:00:01.000000", "Error", "a", "real")] {
            let folder = Folder::with("n1/clickhouse-server.log", printed_by_a_query(first) + real);
            folder.put("n1/clickhouse-server.err.log", real);
            let report = folder.report();
            assert_eq!(report.records.suspect, suspect, "{first} {real}");
            assert!(
                findings(&report, "server-crash").is_empty(),
                "{first} {real}"
            );
        }
    }
}

#[test]
fn what_follows_the_end_of_the_quotation_is_the_server_s() {
    let crash = record("10:00:01.000000", "Fatal", "BaseDaemon", CRASH);
    let folder = Folder::with(
        "n1/clickhouse-server.log",
        printed_by_a_query("Fatal") + &crash,
    );
    folder.put("n1/clickhouse-server.err.log", "");
    let report = folder.report();
    assert_eq!(report.records.suspect, 2);
    assert_eq!(findings(&report, "server-crash").len(), 1);
}

#[test]
fn a_crash_after_a_query_of_several_lines_is_believed_if_the_err_log_holds_it() {
    let first = record("10:00:00.000002", "Fatal", "BaseDaemon", "########");
    let crash = record("10:00:00.000003", "Fatal", "BaseDaemon", CRASH);
    let query = open_query("10:00:00.000001") + "y -- it's\n";
    let folder = Folder::with("n1/clickhouse-server.log", query + &first + &crash);
    folder.put("n1/clickhouse-server.err.log", first + &crash);
    let report = folder.report();
    assert_eq!(report.records.suspect, 0);
    assert_eq!(findings(&report, "server-crash").len(), 1);
}

#[test]
fn without_an_err_log_two_heads_are_believed_as_one_is() {
    let folder = Folder::with("n1/clickhouse-server.log", printed_by_a_query("Fatal"));
    let report = folder.report();
    assert_eq!(report.records.suspect, 0);
    assert_eq!(findings(&report, "server-crash").len(), 1);
}

#[test]
fn an_apostrophe_in_an_error_s_own_words_opens_nothing() {
    let missing = record(
        "10:00:00.000001",
        "Error",
        "executeQuery",
        "Code: 60. DB::Exception: Table a.b doesn't exist. (UNKNOWN_TABLE)",
    );
    let crash = record("10:00:00.000002", "Fatal", "BaseDaemon", CRASH);
    let folder = Folder::with("n1/clickhouse-server.log", missing.clone() + &crash);
    folder.put("n1/clickhouse-server.err.log", &missing);
    let report = folder.report();
    assert_eq!(report.records.suspect, 0);
    assert_eq!(findings(&report, "server-crash").len(), 1);
}
