//! Counts over time: exact, in steps that suffice, with marks, strips and silences.

use casdiag::report::model::{Report, Series};
use casdiag::vocab::MarkKind;

use crate::product::Folder;

const LOG: &str = "n1/clickhouse-server.log";

fn stamp(second: u32) -> String {
    let (day, rest) = (1 + second / 86_400, second % 86_400);
    let (hour, minute, second) = (rest / 3_600, rest / 60 % 60, rest % 60);
    format!("2026.09.{day:02} {hour:02}:{minute:02}:{second:02}.250000")
}

fn unproven(second: u32, answer: &str) -> String {
    format!(
        "{} [ 7 ] {{}} <Debug> q.s (94c6) (Replicated PartsService): Relink confirm is unproven ({answer}) for ref 'all_1_1_0' (part all_1_1_0, manifest 1:4:1) in namespace 'n@cas@'\n",
        stamp(second)
    )
}

fn series<'r>(report: &'r Report, signal: &str) -> &'r Series {
    report
        .timeline
        .series
        .iter()
        .find(|it| it.signal == signal)
        .unwrap()
}

#[test]
fn a_short_log_is_counted_by_the_second() {
    let text = [3, 3, 3, 70, 599]
        .map(|second| unproven(second, "unknown"))
        .concat();
    let report = Folder::with(LOG, text).report();
    assert_eq!(
        report.timeline.start.as_deref(),
        Some("2026-09-01T00:00:00.000000")
    );
    assert_eq!(report.timeline.step_seconds, 1);
    assert_eq!(
        series(&report, "relink-unproven").points,
        [(3, 3), (70, 1), (599, 1)]
    );
}

#[test]
fn a_long_log_is_counted_in_few_steps_and_none_is_lost() {
    // Every 10 s for 20 hours: 7,200 records, which 15 s or a minute would split into too many steps.
    let text: String = (0..7_200).map(|nth| unproven(nth * 10, "no")).collect();
    let report = Folder::with(LOG, text).report();
    let points = &series(&report, "relink-unproven").points;
    assert_eq!(report.timeline.step_seconds, 300);
    assert_eq!(points.len(), 240);
    assert!(
        points
            .iter()
            .all(|(at, count)| at % 300 == 0 && *count == 30)
    );
}

#[test]
fn answers_stand_side_by_side_in_a_strip() {
    let text = [(1, "unknown"), (2, "no"), (2, "no"), (3, "unknown")]
        .map(|(second, answer)| unproven(second, answer))
        .concat();
    let report = Folder::with(LOG, text).report();
    let strip = &report.timeline.strips[0];
    let rows: Vec<_> = strip
        .rows
        .iter()
        .map(|it| {
            (
                it.what.as_str(),
                it.node.as_str(),
                it.count,
                it.points.clone(),
            )
        })
        .collect();
    assert_eq!(
        rows,
        [
            ("`unknown`", "n1", 2, vec![(1, 1), (3, 1)]),
            ("`no`", "n1", 2, vec![(2, 2)]),
        ]
    );
}

#[test]
fn starts_stops_and_silences_are_marked_where_they_were() {
    let mut text = String::new();
    for (second, record) in [
        (
            5,
            "<Information> Application: Starting ClickHouse 26.6.2.1 (revision: 5, git hash: ab, build id: C), PID 1",
        ),
        (6, "<Debug> a: b"),
        (66, "<Debug> a: b"),
        (
            67,
            "<Information> Application: Received termination signal (Terminated)",
        ),
    ] {
        text.push_str(&[&stamp(second), " [ 1 ] {} ", record, "\n"].concat());
    }
    let report = Folder::with(LOG, text).report();
    let marks: Vec<_> = report
        .timeline
        .marks
        .iter()
        .map(|it| (it.at.as_str(), it.node.as_str(), it.kind))
        .collect();
    assert_eq!(
        marks,
        [
            ("2026-09-01T00:00:05.250000", "n1", MarkKind::Start),
            ("2026-09-01T00:01:07.250000", "n1", MarkKind::Stop),
        ]
    );
    let gaps: Vec<_> = report
        .timeline
        .gaps
        .iter()
        .map(|it| (it.first.as_str(), it.last.as_str()))
        .collect();
    assert_eq!(
        gaps,
        [("2026-09-01T00:00:06.250000", "2026-09-01T00:01:06.250000")]
    );
    assert_eq!(report.timeline.unmarked, 0);
}

#[test]
fn evidence_of_a_finding_has_the_lines_beside_it() {
    let mut text = String::from("2026.09.01 00:00:00.000000 [ 1 ] {} <Debug> a: one\n");
    text.push_str("2026.09.01 00:00:00.000000 [ 1 ] {} <Debug> a: two\n");
    text.push_str("2026.09.01 00:00:00.000000 [ 1 ] {} <Debug> a: three\n");
    let crash = "<Fatal> BaseDaemon: (version 21.8.1.1, build id: X) (from thread 9) (no query) Received signal Segmentation fault (11)";
    text.push_str(&[&stamp(1), " [ 1 ] {} ", crash, "\nits second line\n"].concat());
    text.push_str("2026.09.01 00:00:02.000000 [ 1 ] {} <Debug> a: four\n");
    let report = Folder::with(LOG, &text).report();
    let evidence = report.findings.iter().flat_map(|it| &it.evidence);
    let cited = evidence.into_iter().find(|it| it.line == 4).unwrap();
    assert!(cited.text.ends_with("Segmentation fault (11)"));
    let tails = |lines: &[String]| -> Vec<String> {
        lines
            .iter()
            .map(|it| it.rsplit("> ").next().unwrap().to_owned())
            .collect()
    };
    assert_eq!(tails(&cited.before), ["a: two", "a: three"]);
    assert_eq!(tails(&cited.after), ["its second line", "a: four"]);
    assert!(
        report
            .signals
            .iter()
            .flat_map(|it| &it.evidence)
            .all(|it| it.before.is_empty())
    );
}
