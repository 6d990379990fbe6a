//! Every order of events of a small world.

use casdiag::engine::ha::Variant;
use casdiag::engine::ha::check::{Bounds, REJOINS, TRUNCATES, check};
use casdiag::engine::search::{Checked, Limits};
use serde_json::Value;

use crate::product::casdiag;

/// States that no search here comes near.
const STATES: usize = 5_000_000;

fn checked(variant: &str, bounds: Bounds) -> Checked {
    let limits = Limits::new(STATES, 1);
    let checked = check(Variant::parse(variant).unwrap(), bounds, limits);
    assert!(checked.is_complete, "{variant}");
    checked
}

#[test]
fn a_write_before_recovery_files_a_later_record_where_nobody_looks() {
    let checked = checked("pre-recovery-write", Bounds::KILL);
    let finding = checked
        .findings
        .iter()
        .find(|it| it.what.contains("reader by name"))
        .unwrap();
    let trace = finding.trace.as_ref().unwrap();
    let at = |text: &str| trace.iter().position(|it| it.contains(text)).unwrap();
    assert!(trace.len() <= 12, "{trace:?}");
    assert!(at("is killed") < at("which has not recovered"), "{trace:?}");
    assert!(trace.last().unwrap().contains("arrives"), "{trace:?}");
}

#[test]
fn no_order_of_events_breaks_the_mended_controllers() {
    for bounds in Bounds::ALL {
        for variant in [
            "fixed",
            "join-overrides-report+silent-empty-stream",
            "pre-recovery-intake",
        ] {
            let checked = checked(variant, bounds);
            assert!(checked.is_sound(), "{variant}: {:?}", checked.findings);
        }
    }
}

/// The way to something that is possible, or to a broken promise.
fn way<'c>(checked: &'c Checked, what: &str) -> Option<&'c [String]> {
    let finding = checked.findings.iter().find(|it| it.what == what).unwrap();
    finding.trace.as_deref()
}

#[test]
fn a_killed_node_rejoins_and_a_lonely_entry_makes_way() {
    for variant in ["fixed", "pre-recovery-intake"] {
        let kill = checked(variant, Bounds::KILL);
        let rejoins = way(&kill, REJOINS).unwrap();
        let at = |text: &str| rejoins.iter().position(|it| it.contains(text)).unwrap();
        assert!(at("is killed") < at("a client writes"), "{rejoins:?}");
        let takeover = checked(variant, Bounds::TAKEOVER);
        let truncates = way(&takeover, TRUNCATES).unwrap();
        let at = |text: &str| truncates.iter().position(|it| it.contains(text)).unwrap();
        assert!(
            at("stands for election") < at("takes its turn"),
            "{truncates:?}"
        );
    }
}

#[test]
fn every_search_finds_what_is_broken_on_purpose() {
    // Whoever is elected by blind votes lacks what was committed: an election shows it, a kill alone does not.
    let complete = "a new primary has every committed entry";
    let blind = checked("blind-votes", Bounds::ELECTION);
    assert!(!blind.is_sound());
    let trace = way(&blind, complete).unwrap();
    assert!(
        trace.iter().any(|it| it.contains("stands for election")),
        "{trace:?}"
    );
    assert!(checked("blind-votes", Bounds::KILL).is_sound());
    // Nobody follows a primary that greets nobody.
    let silent = checked("no-hello", Bounds::KILL);
    assert!(way(&silent, REJOINS).is_none(), "{:?}", silent.findings);
    let silent = checked("no-hello", Bounds::TAKEOVER);
    assert!(way(&silent, TRUNCATES).is_none(), "{:?}", silent.findings);
}

#[test]
fn all_searches_are_one_document() {
    let command = [
        "replay",
        "wal-catch-up-stall",
        "--check",
        "--variant",
        "fixed",
    ];
    let ran = casdiag(&[&command[..], &["--format", "json"]].concat());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let value: Value = serde_json::from_str(&ran.out).unwrap();
    let searches = value.as_array().unwrap();
    let bounds = [
        "1 killed, 0 elections",
        "1 killed, 1 elections",
        "0 killed, 1 elections",
    ];
    assert_eq!(searches.len(), bounds.len());
    for (search, bounds) in searches.iter().zip(bounds) {
        assert_eq!(search["is_complete"], true, "{bounds}");
        assert!(search["bounds"].as_str().unwrap().contains(bounds));
    }
}
