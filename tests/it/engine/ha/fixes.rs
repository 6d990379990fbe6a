//! Which fix and which assumption changes what.

use casdiag::engine::ha::{
    Act, Deed, Defect, Dispatch, Heartbeat, LayoutKind, Recovery, Scenario, Shown, Variant, What,
    write_logs,
};
use serde_json::Value;

use super::{ran, scenario};
use crate::product::{Folder, casdiag};

#[test]
fn of_all_combinations_those_stall_that_write_before_recovery() {
    let scenario = scenario("wal-catch-up-stall");
    let mut tried = 0;
    for variant in Variant::all() {
        let (_, summary) = ran(&scenario, variant);
        // engine.md: the write gate or the dropped intake keeps the layout clean; the other two cure nothing.
        let writes =
            variant.has(Defect::PreRecoveryWrite) && variant.has(Defect::PreRecoveryIntake);
        let problems: usize = summary.nodes.iter().map(|it| it.problems.len()).sum();
        assert_eq!(problems, usize::from(writes), "{}", variant.name());
        assert_eq!(summary.stall.is_some(), writes, "{}", variant.name());
        let hidden: u64 = summary.nodes.iter().map(|it| it.hidden).sum();
        // 306 to 348 are 43 records.
        assert_eq!(hidden, if writes { 43 } else { 0 }, "{}", variant.name());
        let silent = variant.has(Defect::SilentEmptyStream);
        assert_eq!(summary.warned > 0, writes && !silent, "{}", variant.name());
        if let Some(stall) = &summary.stall {
            let from = if variant.has(Defect::JoinOverridesReport) {
                340
            } else {
                323
            };
            assert_eq!(
                (stall.from, stall.matched),
                (from, Some(323)),
                "{}",
                variant.name()
            );
        }
        tried += 1;
    }
    assert_eq!(tried, 16);
}

#[test]
fn a_nack_before_the_first_stream_walks_back_one_round_a_tick() {
    // A clean log: only the join position is wrong.
    for (defects, rounds) in [("join-overrides-report", 17), ("silent-empty-stream", 0)] {
        let mut late = scenario("wal-catch-up-stall");
        late.assume.dispatch = Dispatch::AtTick;
        let (run, summary) = ran(&late, Variant::parse(defects).unwrap());
        assert!(summary.stall.is_none(), "{summary:?}");
        // 340 to 324 are seventeen positions; the live append before them is one more rejection.
        let rejected = run.count(Some(0), |it| matches!(it, What::AppendRejected { .. }));
        assert_eq!(rejected, rounds + 1, "{defects}");
        let ready = summary.elections.last().unwrap().ready_after_ms.unwrap();
        let ticks = ready / 3083;
        assert_eq!(ticks, rounds + 2, "{defects}: {ready} ms");
    }
}

/// A scenario after a change.
fn with(change: impl FnOnce(&mut Scenario)) -> Scenario {
    let mut changed = scenario("wal-catch-up-stall");
    change(&mut changed);
    changed
}

/// The segments of ctrl-2 after a run as reported.
fn segments(scenario: &Scenario) -> Vec<String> {
    ran(scenario, Variant::REPORTED).1.nodes[1].segments.clone()
}

#[test]
fn without_a_successor_below_the_position_there_is_no_stall() {
    let removed = with(|it| {
        it.act.push(Act {
            at_ms: 40_000,
            deed: Deed::RemoveSegment,
            node: 1,
            count: 235,
        });
    });
    let (run, summary) = ran(&removed, Variant::REPORTED);
    assert!(summary.stall.is_none(), "{summary:?}");
    // Without its successor the rest of the segment is misfiled, and a range is missing. The command that checks
    // anyone's segments says the same.
    let mut problems: Vec<(LayoutKind, u64, u64)> = run
        .world
        .layout(1)
        .iter()
        .map(|it| (it.kind, it.first, it.last))
        .collect();
    problems.sort_by_key(|it| it.1);
    let [
        (LayoutKind::Missing, 235, 305),
        (LayoutKind::Misfiled, 306, last),
    ] = problems[..]
    else {
        panic!("{problems:?}");
    };
    let folder = Folder::new();
    write_logs(&run, folder.path()).unwrap();
    let data = folder.path().join("data/ctrl-2");
    let checked = casdiag(&[
        "wal-layout-check",
        data.to_str().unwrap(),
        "--format",
        "json",
    ]);
    let value: Value = serde_json::from_str(&checked.out).unwrap();
    let told = value["wal"][0]["problems"].as_array().unwrap();
    let range = |kind: &str| {
        let of_kind: Vec<&Value> = told.iter().filter(|it| it["kind"] == kind).collect();
        let [one] = of_kind[..] else {
            panic!("{kind}: {told:?}");
        };
        (one["lsn"].as_u64(), one["lsn_to"].as_u64())
    };
    assert_eq!(told.len(), 2, "{told:?}");
    assert_eq!(range("missing-range"), (Some(235), Some(305)));
    assert_eq!(range("misfiled"), (Some(306), Some(last)));
}

#[test]
fn a_segment_that_is_closed_by_its_size_is_not_misfiled() {
    let limited = with(|it| it.assume.segment_records = 234);
    let (_, summary) = ran(&limited, Variant::REPORTED);
    assert!(
        summary.stall.is_none() && summary.nodes[1].problems.is_empty(),
        "{summary:?}"
    );
}

#[test]
fn a_stream_of_more_than_one_segment_writes_the_second_one_twice() {
    let twice = with(|it| it.assume.batches = 2);
    assert_eq!(
        segments(&twice),
        [
            "seg-0000000000000001 1..348",
            "seg-00000000000000eb 235..305"
        ]
    );
}

#[test]
fn a_recovery_by_positions_hides_nothing() {
    let ordered = with(|it| it.assume.recovery = Recovery::Positions);
    let (_, summary) = ran(&ordered, Variant::REPORTED);
    assert!(summary.stall.is_some());
    assert_eq!(summary.nodes[1].hidden, 0);
}

#[test]
fn the_line_would_say_323_if_it_showed_the_report() {
    let shown = with(|it| it.assume.shown = Shown::Report);
    let stall = ran(&shown, Variant::REPORTED).1.stall.unwrap();
    assert_eq!(stall.from, 323);
}

#[test]
fn the_rejected_append_is_the_live_one_and_not_the_stream() {
    let (run, _) = ran(&scenario("wal-catch-up-stall"), Variant::REPORTED);
    let mut rejected = Vec::new();
    for (_, note) in &run.events {
        if let What::AppendRejected { prev, n, .. } = note.what {
            rejected.push((prev, n));
        }
    }
    assert_eq!(rejected, [(341, 1)]);
    // Without it at registration the first NACK comes a tick later, and the line says 323 twice.
    let quiet = with(|it| it.assume.live_at_registration = false);
    let (run, _) = ran(&quiet, Variant::REPORTED);
    let at_report = run.count(Some(1), |it| matches!(it, What::Stream { lsn: 323, .. }));
    assert_eq!(at_report, 2);
}

#[test]
fn live_appends_and_heartbeats_from_the_next_entry_would_walk_back_by_themselves() {
    let live = with(|it| it.assume.suppresses_live = false);
    let (_, summary) = ran(&live, Variant::REPORTED);
    assert!(summary.stall.is_none(), "{summary:?}");
    let next = with(|it| {
        it.assume.heartbeat = Heartbeat::Next;
        // Seventeen ticks take most of the report's time: it needs longer, and nobody stops anything.
        it.act.retain(|act| act.at_ms < 126_000);
        it.until_ms = 200_000;
    });
    let stall = ran(&next, Variant::REPORTED).1.stall.unwrap();
    // It walks back to the report, and the stream finds nothing there either.
    assert_eq!((stall.from, stall.matched), (323, Some(323)));
}

#[test]
fn tick_commit_position_and_pause_give_the_numbers_of_the_report() {
    let quick = with(|it| it.timing.tick = 1_000_000);
    assert!(ran(&quick, Variant::REPORTED).1.stall.unwrap().times > 60);
    let silent = with(|it| it.assume.tells_commit = false);
    let stall = ran(&silent, Variant::REPORTED).1.stall.unwrap();
    assert!(stall.committed < 341, "{stall:?}");
    let awake = with(|it| it.act.retain(|act| act.deed != Deed::Pause));
    let (_, summary) = ran(&awake, Variant::REPORTED);
    assert!(summary.stall.is_none(), "{summary:?}");
    assert_eq!(summary.nodes[1].problems.len(), 1, "misfiled all the same");
}

#[test]
fn where_a_standby_stays_is_not_where_another_one_is() {
    // ctrl-3 comes back and has everything; its answers to heartbeats say nothing of ctrl-1.
    let back = with(|it| {
        it.act.push(Act {
            at_ms: 80_000,
            deed: Deed::Start,
            node: 2,
            count: 0,
        });
    });
    let (run, summary) = ran(&back, Variant::REPORTED);
    let stall = summary.stall.unwrap();
    assert_eq!((stall.from, stall.matched), (340, Some(323)));
    assert!(stall.is_available);
    let level = run.count(
        Some(2),
        |it| matches!(it, What::AppendOk { n: 0, matched, .. } if *matched > 341),
    );
    assert!(level > 0);
}

#[test]
fn without_the_bound_of_one_batch_the_ceiling_rises() {
    let free = with(|it| it.assume.one_batch = false);
    let stall = ran(&free, Variant::REPORTED).1.stall.unwrap();
    assert_eq!(stall.ceiling, 348);
    let bound = ran(&scenario("wal-catch-up-stall"), Variant::REPORTED).1;
    assert_eq!(bound.stall.unwrap().ceiling, 342);
}

#[test]
fn a_path_beside_the_catch_up_is_closed_by_the_write_alone() {
    // A configuration record is pushed when a standby connects; only the gate of the write stands in its way.
    let pushed = with(|it| it.assume.pushes = true);
    let variant = |text: &str| Variant::parse(text).unwrap();
    let (_, open) = ran(&pushed, variant("pre-recovery-write"));
    assert!(!open.nodes[1].problems.is_empty(), "{open:?}");
    assert!(
        open.nodes[1].lost > 0 || !open.broken.is_empty(),
        "{open:?}"
    );
    let (_, closed) = ran(&pushed, variant("pre-recovery-intake"));
    assert!(closed.is_good(), "{closed:?}");
    let (_, fixed) = ran(&pushed, Variant::FIXED);
    assert!(fixed.is_good(), "{fixed:?}");
}
