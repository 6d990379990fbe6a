//! Time on the page: clocks that can be compared share an axis, others have one of their own, and a log without dates
//! runs through midnight.

use casdiag::report::PLOTS;
use casdiag::report::model::Report;
use serde_json::Value;

use super::{Parsed, page};
use crate::product::{self, Folder, repository};

/// What the script gets.
fn data(parsed: &Parsed) -> Value {
    let found = parsed
        .named("script")
        .find(|it| it.attribute("id") == Some("data"));
    serde_json::from_str(&found.unwrap().text).unwrap()
}

/// The stretches that the page says it shows.
fn ranges(parsed: &Parsed) -> Vec<String> {
    let is_range = |it: &&super::Element| {
        it.attribute("id")
            .is_some_and(|id| id.starts_with("tl-range"))
    };
    let found = parsed.elements.iter().filter(is_range);
    found.map(|it| it.text.clone()).collect()
}

fn rates(report: &Report) -> String {
    let plot = PLOTS.iter().find(|it| it.file == "plots/rates.svg");
    (plot.unwrap().draw)(report).unwrap()
}

/// How long each axis is, in seconds.
fn lengths(data: &Value) -> Vec<i64> {
    let second = |it: &Value, at: usize| it["whole"][at].as_i64().unwrap();
    let axes = data["axes"].as_array().unwrap().iter();
    axes.map(|it| second(it, 1) - second(it, 0)).collect()
}

#[test]
fn runs_share_an_axis_only_where_their_clocks_can_be_compared() {
    let report = product::report(&repository("samples/incidents"));
    let html = page(&report);
    let parsed = Parsed::of(&html);
    assert!(!html.contains("1970"), "a log without dates has no year");
    // One run without dates, and two that lie two weeks apart.
    let ranges = ranges(&parsed);
    assert_eq!(ranges.len(), 3, "{ranges:?}");
    assert!(ranges.iter().any(|it| it.starts_with("2026-08-18 14:02:")));
    assert!(ranges.iter().any(|it| it.starts_with("2026-09-01 23:2")));
    assert!(ranges.iter().any(|it| it.starts_with("07:0")));
    let data = data(&parsed);
    assert!(lengths(&data).iter().all(|it| *it < 86_400), "{data}");
    let svg = rates(&report);
    assert!(!svg.contains("1970"));
    for begin in ["2026-08-18 14:02:", "2026-09-01 23:2", " 07:0"] {
        assert!(svg.contains(begin), "{begin}");
    }
}

fn record(at: &str, message: &str) -> String {
    format!(
        "{at} [ 7 ] {{}} <Error> Fetcher: {message}: Code: 210. DB::Exception: Source ch2 did not prove it still holds the manifest it offered for part all_1_1_0 by relink; the relink is abandoned and the fetch will be retried later. (NETWORK_ERROR)\n"
    )
}

#[test]
fn dated_runs_of_one_day_share_an_axis() {
    let folder = Folder::new();
    for (run, hour) in [("a", "10"), ("b", "11")] {
        let log: String = (0..60)
            .map(|minute| record(&format!("2026.09.01 {hour}:{minute:02}:00.000000"), "x"))
            .collect();
        for node in ["n1", "n2"] {
            folder.put(&format!("{run}/{node}/clickhouse-server.log"), &log);
        }
    }
    let parsed = Parsed::of(&page(&folder.report()));
    assert_eq!(ranges(&parsed).len(), 1, "{:?}", ranges(&parsed));
}

#[test]
fn the_end_of_all_there_is_is_the_last_record() {
    // 1,007 seconds do not divide into 200 bars.
    let log =
        record("2026.09.01 10:00:00.000000", "x") + &record("2026.09.01 10:16:46.000000", "x");
    let folder = Folder::with("n1/clickhouse-server.log", log);
    let parsed = Parsed::of(&page(&folder.report()));
    assert_eq!(ranges(&parsed), ["2026-09-01 10:00:00 .. 10:16:46"]);
    let log =
        record("2025.12.31 23:00:00.000000", "x") + &record("2027.01.02 10:16:46.000000", "x");
    let folder = Folder::with("n1/clickhouse-server.log", log);
    let html = page(&folder.report());
    let parsed = Parsed::of(&html);
    assert_eq!(
        ranges(&parsed),
        ["2025-12-31 23:00:00 .. 2027-01-02 10:16:46"]
    );
    // More than a year: a tick of two figures for month and day alone could be of either.
    let ticks: Vec<&str> = parsed
        .named("text")
        .map(|it| it.text.as_str())
        .filter(|it| it.len() > 1)
        .collect();
    assert!(!ticks.is_empty());
    assert!(ticks.iter().all(|it| it.starts_with("202")), "{ticks:?}");
}

/// The sample without dates, its clocks moved by so many seconds.
fn moved(by: i64) -> Folder {
    let folder = Folder::new();
    for node in ["ctrl-1.log", "ctrl-2.log"] {
        let path = repository("samples/incidents/report-003").join(node);
        let text = std::fs::read_to_string(path).unwrap();
        let lines = text.lines().map(|line| {
            let part = |at: usize| line[at..at + 2].parse::<i64>().unwrap();
            let second = (part(0) * 3600 + part(3) * 60 + part(6) + by).rem_euclid(86_400);
            let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
            format!("{hour:02}:{minute:02}:{second:02}{}\n", &line[8..])
        });
        folder.put(node, lines.collect::<String>());
    }
    folder
}

#[test]
fn a_log_without_dates_runs_through_midnight() {
    // The records lie between 07:05:47 and 07:07:47: moved so that midnight is amid both nodes, and between their starts.
    for (to, range) in [
        (86_400 - 60, "23:59:00 .. 00:01:00"),
        (86_400 - 1, "23:59:59 .. 00:01:59"),
    ] {
        let report = moved(to - (7 * 3600 + 5 * 60 + 47)).report();
        let parsed = Parsed::of(&page(&report));
        assert_eq!(ranges(&parsed), [range]);
        assert!(lengths(&data(&parsed)).iter().all(|it| *it <= 240));
        let mut spans = 0;
        for rect in parsed.named("rect") {
            let end = |name| rect.attribute(name).map(|it| it.parse::<i64>().unwrap());
            if let (Some(first), Some(last)) = (end("data-a"), end("data-b")) {
                assert!((first..first + 240_000).contains(&last), "{first} {last}");
                spans += 1;
            }
        }
        assert_eq!(spans, 2, "findings with a window");
        let marks = parsed.elements.iter().filter(|it| it.has_class("mk"));
        assert!(marks.clone().count() == 3, "a start and an election");
        assert!(marks.clone().all(|it| !it.has_class("out")));
        let svg = rates(&report);
        assert!(svg.contains(&format!("{range};")), "{range}");
    }
}

#[test]
fn a_log_without_dates_of_more_than_a_day_keeps_its_days() {
    // Every hour from 10:00 on, 60 times: until 21:00 of the day after the next.
    let lines = (10..70).map(|hour| {
        format!("{:02}:00:00,012 ctrl-1 ha_consume_append_entries: leader_idx=2 term=20 prevIdx=318 n=2 -> success=1 match=320\n", hour % 24)
    });
    let folder = Folder::with("ctrl-1.log", lines.collect::<String>());
    let mut report = folder.report();
    // Of 05:00 nobody knows which of three it is.
    let mut finding =
        product::report(&repository("samples/incidents/report-003")).findings[1].clone();
    finding.run.clone_from(&report.timeline.series[0].run);
    finding.window.first = Some("T05:00:00.012000".to_owned());
    finding.window.last = Some("T06:00:00.012000".to_owned());
    report.findings.push(finding);
    let html = page(&report);
    assert!(!html.contains("data-a="), "no place is guessed");
    assert!(html.contains("only the time of day is known"));
    let parsed = Parsed::of(&html);
    assert_eq!(ranges(&parsed), ["10:00:00 .. 21:00:00, 2 days later"]);
    let length = 59 * 3600;
    assert!((length..length + 3600).contains(&lengths(&data(&parsed))[0]));
}
