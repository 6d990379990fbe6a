//! Clocks: a wrapper's beside the record's, an hour that is there twice or not at all.

use std::fmt::Write as _;

use casdiag::report::model::Report;

use crate::product::{Folder, record};

fn zone(report: &Report) -> Option<&str> {
    report.environment[0].zone.as_deref()
}

/// A log of containers whose runtime writes 10:00 UTC where the server writes `hour`.
fn wrapped(hour: u32) -> Report {
    let mut log = String::new();
    for second in 0..5 {
        let line = record(&format!("{hour:02}:00:0{second}.900000"), "Error", "a", "b");
        write!(
            log,
            "2026-09-01T10:00:0{}.000000123Z stderr F {line}",
            second + 1
        )
        .unwrap();
    }
    Folder::with("n1/clickhouse-server.log", log).report()
}

#[test]
fn two_clocks_in_a_line_tell_the_offset_of_the_server() {
    // Etc/GMT-2 is two hours ahead of UTC.
    for (hour, expected) in [(10, "UTC"), (12, "Etc/GMT-2"), (3, "Etc/GMT+7")] {
        assert_eq!(zone(&wrapped(hour)), Some(expected), "{hour}");
    }
    let report = wrapped(12);
    assert_eq!(
        report.inputs[0].first.as_deref(),
        Some("2026-09-01T12:00:00.900000+02:00")
    );
}

#[test]
fn clocks_that_disagree_tell_nothing() {
    let mut log = String::new();
    for minute in 0..9 {
        let line = record(&format!("12:{minute:02}:00.000000"), "Error", "a", "b");
        write!(log, "2026-09-01T10:00:00Z stderr F {line}").unwrap();
    }
    let report = Folder::with("n1/clickhouse-server.log", log).report();
    assert_eq!(zone(&report), None);
}

fn line(stamp: &str) -> String {
    format!("{stamp} [ 7 ] {{}} <Error> a: Code: 210. DB::NetException: x\n")
}

/// A busy minute before 03:00, an hour with few records that begins at 02:00 again, and the second 03:00.
const TWICE: [&str; 8] = [
    "02:59:10", "02:59:50", "02:00:20", "02:10:00", "02:30:00", "02:50:00", "02:59:40", "03:00:10",
];

#[test]
fn the_hour_that_is_there_twice_where_summer_ends_is_not_forged() {
    // 2026-10-25 is the Sunday on which central Europe goes back from 03:00 to 02:00.
    let stamps = TWICE.map(|time| line(&format!("2026.10.25 {time}.000000")));
    let report = Folder::with("n1/clickhouse-server.log", stamps.concat()).report();
    assert_eq!((report.records.total, report.records.suspect), (8, 0));
}

#[test]
fn such_a_step_on_a_working_day_is_suspect() {
    let stamps = TWICE.map(|time| line(&format!("2026.10.27 {time}.000000")));
    let report = Folder::with("n1/clickhouse-server.log", stamps.concat()).report();
    // The four that are away from the records on both sides.
    assert_eq!((report.records.total, report.records.suspect), (8, 4));
}

#[test]
fn the_hour_that_summer_takes_away_is_no_silence() {
    let zone_line = "2026.03.29 01:59:50.000000 [ 1 ] {} <Trace> Application: Initialized DateLUT with time zone 'Europe/Berlin'.\n";
    let mut log = zone_line.to_owned();
    log += &line("2026.03.29 01:59:59.000000");
    log += &line("2026.03.29 03:00:00.000000");
    log += &line("2026.03.29 03:00:40.000000");
    let report = Folder::with("n1/clickhouse-server.log", log).report();
    assert_eq!(zone(&report), Some("Europe/Berlin"));
    let gaps: Vec<&str> = report
        .timeline
        .gaps
        .iter()
        .map(|gap| gap.first.as_str())
        .collect();
    // From 01:59:50 to :59 nine seconds, and forty at the end.
    assert_eq!(
        gaps,
        [
            "2026-03-29T01:59:50.000000+01:00",
            "2026-03-29T03:00:00.000000+02:00"
        ]
    );
}
