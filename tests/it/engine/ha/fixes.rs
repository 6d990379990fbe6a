//! Which fix and which assumption changes what.

use casdiag::engine::ha::{
    Act, Deed, Defect, Dispatch, Heartbeat, Recovery, Scenario, Shown, Variant, What,
};

use super::{ran, scenario};

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
    assert_eq!(run.world.layout(1).len(), 1);
    assert!(
        summary.nodes[1].problems[0].starts_with("missing 235..305"),
        "{summary:?}"
    );
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
    let next = with(|it| it.assume.heartbeat = Heartbeat::Next);
    let stall = ran(&next, Variant::REPORTED).1.stall;
    // It walks back to the report, and the stream finds nothing there either.
    assert!(stall.is_none_or(|it| it.from == 323));
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
