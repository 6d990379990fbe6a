//! The harness: verdicts, lines, and shares over seeds.

use casdiag::engine::ha::Variant;
use casdiag::engine::ha::soak::{Mode, Soak, shares};

use crate::product::{Folder, casdiag, findings, report};

#[test]
fn the_command_prints_a_verdict_a_round_and_checks_the_segments_last() {
    let ran = casdiag(&["soak", "ha", "--rounds", "5", "--variant", "fixed"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let lines: Vec<&str> = ran.out.lines().collect();
    assert!(
        lines[0].starts_with("[xce-test-ha] round 1: kill ctrl-"),
        "{}",
        lines[0]
    );
    assert_eq!(ran.out.matches("] PASS: round ").count(), 5);
    let checked = lines[lines.len() - 2];
    assert!(checked.ends_with(" segments, 0 problems"), "{checked}");
    assert_eq!(lines[lines.len() - 1], "[xce-test-ha] PASS: 5 rounds");
}

#[test]
fn before_the_fix_a_share_is_misfiled_and_a_smaller_one_stalls_and_after_it_none() {
    for (mode, rounds) in [
        (Mode::Sequential, 20),
        (Mode::Sequential, 50),
        (Mode::Chaotic, 50),
        (Mode::TruncatedFence, 20),
    ] {
        let before = shares(mode, Variant::REPORTED, rounds, 50);
        assert!(before.misfiled > 5, "{mode:?} {before:?}");
        // A stall needs more than a misfiled segment: its node must lead, and a standby must need what is in there.
        assert!(before.stalled > 0, "{mode:?} {before:?}");
        assert!(before.stalled < before.misfiled, "{mode:?} {before:?}");
        assert!(before.lagging > 0, "{mode:?} {before:?}");
        // A stream finds nothing wherever a catch-up stands still, and nothing is dropped where all is taken in.
        assert!(before.empty >= before.stalled + before.lagging);
        assert_eq!(before.drops, 0, "{mode:?} {before:?}");
        // Whatever ended in a stall did not pass.
        assert!(before.rounds_passed + before.stalled <= before.runs);
        let after = shares(mode, Variant::FIXED, rounds, 50);
        assert_eq!(after.rounds_passed, 50, "{mode:?} {after:?}");
        assert_eq!(
            (
                after.misfiled,
                after.stalled,
                after.lagging,
                after.diverged,
                after.empty
            ),
            (0, 0, 0, 0, 0),
            "{mode:?} {after:?}"
        );
        assert!(after.dropped > 0, "{mode:?} {after:?}");
        assert!(after.drops >= after.dropped, "{mode:?} {after:?}");
    }
}

#[test]
fn what_a_soak_leaves_is_read_like_anyones() {
    // The first seed whose segments are misfiled, and the same one mended.
    let is_misfiled = |seed: &u64| {
        let outcome = Soak::new(Mode::Sequential, Variant::REPORTED, *seed).finish(20);
        !outcome.misfiled.is_empty()
    };
    let seed = (1..50).find(is_misfiled).unwrap().to_string();
    for (variant, is_there) in [("reported", true), ("fixed", false)] {
        let folder = Folder::new();
        let dir = folder.path().join("out");
        let dir = dir.to_str().unwrap();
        casdiag(&[
            "soak",
            "ha",
            "--seed",
            &seed,
            "--variant",
            variant,
            "--logs",
            dir,
        ]);
        let report = report(&folder.path().join("out"));
        let found = findings(&report, "misfiled-segment");
        assert_eq!(!found.is_empty(), is_there, "{variant}");
    }
}
