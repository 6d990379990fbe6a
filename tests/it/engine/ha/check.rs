//! Every order of events of a small world.

use casdiag::engine::ha::Variant;
use casdiag::engine::ha::check::{Bounds, Checked, check};

/// States that no search here comes near.
const STATES: usize = 5_000_000;

fn checked(variant: &str, bounds: Bounds) -> Checked {
    let checked = check(Variant::parse(variant).unwrap(), bounds, STATES, 1);
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
    for bounds in [Bounds::KILL, Bounds::ELECTION] {
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
