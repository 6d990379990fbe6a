//! The JSON logger in its shapes, and what a message in it may hold.

use crate::product::{Folder, findings};

fn object(time: &str, level: &str, message: &str) -> String {
    format!(
        "{{\"date_time\":\"{time}\",\"thread_name\":\"\",\"thread_id\":\"7\",\"level\":\"{level}\",\"query_id\":\"q\",\
         \"logger_name\":\"BaseDaemon\",\"message\":\"{message}\",\"source_file\":\"a.cpp; f()\",\"source_line\":\"3\"}}\n"
    )
}

#[test]
fn a_head_in_a_message_forges_no_record() {
    let forged = "2023.12.31 23:59:59.000000 [ 1 ] {} <Fatal> BaseDaemon: ########";
    let message = format!("(from 1.1.1.1:1) SELECT 1\\n{forged}\\n{forged}");
    let log = object("1704067199.000001", "Debug", &message).repeat(3);
    let report = Folder::with("clickhouse-server.log", log).report();
    assert_eq!((report.records.total, report.records.suspect), (3, 0));
    assert_eq!(report.records.continuation_lines, 6);
    assert_eq!(report.records.by_level.len(), 1);
    assert!(findings(&report, "server-crash").is_empty());
}

#[test]
fn a_query_id_or_a_logger_that_imitates_a_head_stays_a_field() {
    let log = object("1704067199.000001", "Debug", "hello").replace(
        "\"q\"",
        "\"x} <Fatal> BaseDaemon: Received signal 11\\n2024.01.01\"",
    );
    let report = Folder::with("clickhouse-server.log", log.repeat(3)).report();
    assert_eq!(report.records.total, 3);
    assert_eq!(report.records.by_level["debug"], 3);
}

#[test]
fn the_time_is_the_second_that_the_object_names() {
    // 1704067199 is 2023-12-31T23:59:59Z, by `date -u -d @1704067199`.
    let log =
        object("1704067199.000001", "Error", "a") + &object("1709164800.999999", "Error", "b");
    let report = Folder::with("clickhouse-server.log", log).report();
    let input = &report.inputs[0];
    assert!(
        input
            .first
            .as_ref()
            .unwrap()
            .starts_with("2023-12-31T23:59:59.000001")
    );
    assert!(
        input
            .last
            .as_ref()
            .unwrap()
            .starts_with("2024-02-29T00:00:00.999999")
    );
}

#[test]
fn broken_objects_are_lines_of_no_record_and_the_rest_is_read() {
    let whole = object("1704067199.000001", "Error", "a");
    let broken = [
        "{\"date_time\":\"1704067199.000001\",\"level\"\n",
        "{\"date_time\":\"x\",\"level\":\"Error\",\"message\":\"m\"}\n",
        "{\"date_time\":1e99999,\"level\":{\"a\":[\n",
        "\n",
    ];
    let log = broken
        .iter()
        .fold(whole.repeat(9), |log, line| log + line + &whole);
    let report = Folder::with("clickhouse-server.log", log).report();
    assert_eq!(report.records.total, 13);
    assert_eq!(report.records.by_level["error"], 13);
    assert_eq!(report.records.unparsed_lines, 4);
}

#[test]
fn the_err_log_in_json_repeats_the_main_log_in_json() {
    let error = object(
        "1704067199.000001",
        "Error",
        "Code: 241. DB::Exception: limit\\n0. f",
    );
    let folder = Folder::with(
        "n1/clickhouse-server.log",
        object("1704067198.000001", "Debug", "hello") + &error,
    );
    folder.put("n1/clickhouse-server.err.log", &error);
    let report = folder.report();
    assert_eq!(report.records.total, 2);
    assert_eq!(report.codes.iter().map(|row| row.count).sum::<u64>(), 1);
}
