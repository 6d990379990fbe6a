//! Positions over time and records without a stamp: what the logs say, and no time made up.

use casdiag::report::model::Report;
use casdiag::vocab::MarkKind;

use crate::product::{self, Folder, repository};

/// The lowest and the highest position of a field on a node, and how many steps have one.
fn ends(report: &Report, node: &str, signal: &str, field: &str) -> (u64, u64, usize) {
    let mut found = report
        .timeline
        .positions
        .iter()
        .filter(|it| it.node == node && it.signal == signal && it.field == field);
    let series = found
        .next()
        .unwrap_or_else(|| panic!("{signal} {field} on {node}"));
    assert!(found.next().is_none());
    let low = series.points.iter().map(|(_, low, _)| *low).min().unwrap();
    let high = series
        .points
        .iter()
        .map(|(_, _, high)| *high)
        .max()
        .unwrap();
    (low, high, series.points.len())
}

#[test]
fn the_stall_of_the_sample_shows_in_its_positions() {
    let report = product::report(&repository("samples/incidents/report-003"));
    // As grep counts in the logs: 320 once, 323 21 times with one stamp each; 323 once, 340 20 times.
    assert_eq!(
        ends(&report, "ctrl-1", "append-ok", "match"),
        (320, 323, 22)
    );
    assert_eq!(
        ends(&report, "ctrl-1", "append-rejected", "prev"),
        (341, 341, 1)
    );
    assert_eq!(ends(&report, "ctrl-2", "wal-stream", "lsn"), (323, 340, 21));
    assert_eq!(
        ends(&report, "ctrl-2", "wal-stream", "ceiling"),
        (342, 342, 21)
    );
    assert_eq!(
        ends(&report, "ctrl-2", "wal-stream", "committed"),
        (341, 341, 21)
    );
    assert_eq!(ends(&report, "ctrl-2", "wal-nack", "lsn"), (342, 342, 1));
    assert_eq!(
        ends(&report, "ctrl-2", "commit-wait-expired", "lsn"),
        (343, 343, 1)
    );
    // The axis begins at 07:05:00; the first stream is of 07:06:45, the next of 07:06:48.
    let stream = report
        .timeline
        .positions
        .iter()
        .find(|it| it.signal == "wal-stream" && it.field == "lsn")
        .unwrap();
    assert_eq!(stream.points[..2], [(105, 323, 323), (108, 340, 340)]);
}

#[test]
fn positions_of_a_long_log_are_bounded_and_keep_their_extremes() {
    // A day, a heartbeat a second.
    let line = |at: u32| {
        let (hour, minute, second) = (at / 3_600, at / 60 % 60, at % 60);
        format!(
            "{hour:02}:{minute:02}:{second:02},012 ctrl-1 ha_consume_append_entries: leader_idx=2 term=20 prevIdx=318 n=0 -> success=1 match={}\n",
            5_000 + at
        )
    };
    let report = Folder::with("ctrl-1.log", (0..80_000).map(line).collect::<String>()).report();
    let (low, high, steps) = ends(&report, "ctrl-1", "append-ok", "match");
    assert_eq!((low, high), (5_000, 84_999));
    assert!(steps <= 360, "{steps}");
}

#[test]
fn a_mark_without_a_stamp_is_between_its_neighbors_or_nowhere() {
    let stamped = |at: &str| {
        format!(
            "{at} ctrl-1 HA repl: standby[0] lsn=340 < stream_ceiling_lsn=342 (committed_lsn=341) → stream WAL batches\n"
        )
    };
    let kill = |round: u32| format!("[xce-test-ha] round {round}: kill ctrl-3, expect failover\n");
    let log = kill(1)
        + &stamped("07:05:50,012")
        + "worker: xcecli x\n"
        + &kill(2)
        + &kill(3)
        + &stamped("07:05:53,500")
        + &kill(4);
    let folder = Folder::with("ctrl-1.log", log);
    folder.put("soak/soak.log", kill(5));
    let report = folder.report();
    let found: Vec<(u64, Option<&str>, Option<&str>)> = report
        .timeline
        .unplaced
        .iter()
        .map(|it| (it.line, it.not_before.as_deref(), it.not_after.as_deref()))
        .collect();
    let (first, last) = (Some("T07:05:50.012000"), Some("T07:05:53.500000"));
    assert_eq!(
        found,
        [
            (1, None, first),
            (4, first, last),
            (5, first, last),
            (7, last, None),
            (1, None, None)
        ]
    );
    for one in &report.timeline.unplaced {
        assert_eq!(one.kind, MarkKind::Fault);
        assert!(one.said.contains("kill ctrl-3"), "{}", one.said);
    }
    assert!(
        report
            .timeline
            .marks
            .iter()
            .all(|it| it.kind != MarkKind::Fault),
        "no time is made up"
    );
    assert_eq!(report.timeline.unmarked, 5);
}

#[test]
fn where_a_block_ends_does_not_matter() {
    use casdiag::intake::Limits;
    let mut log = String::new();
    for at in 0..400 {
        let line = format!(
            "07:{:02}:{:02},012 ctrl-1 HA repl: standby[0] lsn=340 < stream_ceiling_lsn=342 (committed_lsn=341) → stream WAL batches\n",
            at / 60,
            at % 60
        );
        log += &line;
        if at % 7 == 0 {
            log += "[xce-test-ha] round 2: kill ctrl-3, expect failover\n";
        }
    }
    let folder = Folder::with("ctrl-1.log", &log);
    let of = |block_bytes| {
        let mut plan = product::plan(folder.path());
        plan.limits = Limits {
            block_bytes,
            ..Limits::default()
        };
        let report = product::report_of(&plan);
        serde_json::to_string(&report.timeline.unplaced).unwrap()
    };
    let whole = of(Limits::default().block_bytes);
    assert!(whole.matches("T07:0").count() > 100, "{whole}");
    assert_eq!(of(512), whole);
}

#[test]
fn checkpoints_and_faults_of_a_soak_are_listed_in_their_order() {
    let report = product::report(&repository("samples/incidents/report-000"));
    let found: Vec<(MarkKind, u64)> = report
        .timeline
        .unplaced
        .iter()
        .map(|it| (it.kind, it.line))
        .collect();
    // grep -n 'checkpoint OK\|TRANSPORT FAILURE' soak.log; the error is quoted in the JSON below it once more.
    assert_eq!(
        found,
        [
            (MarkKind::Checkpoint, 5),
            (MarkKind::Checkpoint, 8),
            (MarkKind::Fault, 11)
        ]
    );
    assert!(
        report
            .timeline
            .unplaced
            .iter()
            .all(|it| it.not_before.is_none() && it.not_after.is_none())
    );
}
