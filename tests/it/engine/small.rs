//! Every order of events in a small world: broken protocols are caught, sound ones are not.

use std::time::Duration;

use casdiag::engine::cas::check::{ARRIVES, Bounds, IN_VAIN, IN_VAIN_AND_ARRIVES, check};
use casdiag::engine::cas::{Variant, Violation};
use casdiag::engine::search::{Checked, Limits};

use crate::product::casdiag;

/// States that no search here comes near.
const STATES: usize = 5_000_000;

fn bounds() -> Bounds {
    Bounds::small()
}

fn checked(variant: &str, bounds: Bounds) -> Checked {
    let limits = Limits::new(STATES, 1);
    let checked = check(Variant::parse(variant).unwrap(), bounds, limits);
    assert!(checked.is_complete, "{variant}");
    checked
}

/// The shortest way to break a promise.
fn trace(checked: &Checked, violation: Violation) -> Option<&[String]> {
    let (_, what) = Violation::ALL.iter().find(|it| it.0 == violation).unwrap();
    let finding = checked.findings.iter().find(|it| it.what == *what).unwrap();
    finding.trace.as_deref()
}

/// The shortest way to something that is possible.
fn possible<'c>(checked: &'c Checked, what: &str) -> Option<&'c [String]> {
    let finding = checked.findings.iter().find(|it| it.what == what).unwrap();
    finding.trace.as_deref()
}

#[test]
fn a_yes_from_a_row_whose_removal_is_durable_promotes_over_a_deleted_blob() {
    let checked = checked("naive-yes", bounds());
    assert!(trace(&checked, Violation::YesWithoutRow).is_some());
    let trace = trace(&checked, Violation::PromotedOverDeleted).unwrap();
    assert!(trace.len() <= 12, "{trace:?}");
    let at = |text: &str| trace.iter().position(|it| it.contains(text)).unwrap();
    // The collector decides, only then the receiver's +1 comes, and the source still says yes.
    let removal = at("removal of the reference of the part is durable");
    assert!(removal < at("about to be deleted"));
    assert!(at("about to be deleted") < at("own reference (+1)"));
    assert!(at("own reference (+1)") < at("answers yes"));
    assert!(trace.last().unwrap().contains("deletes the blob"));
}

#[test]
fn a_confirm_before_the_plus_one_promotes_over_a_deleted_blob() {
    let checked = checked("promote-before-plus-one", bounds());
    let trace = trace(&checked, Violation::PromotedOverDeleted).unwrap();
    assert!(trace.len() <= 12, "{trace:?}");
}

#[test]
fn bytes_after_an_open_promotion_bind_a_reference_twice() {
    let checked = checked("bytes-after-unresolved", bounds());
    let open = trace(&checked, Violation::BytesWhileOpen).unwrap();
    assert!(open.len() <= 12, "{open:?}");
    let rebound = trace(&checked, Violation::Rebound).unwrap();
    assert!(rebound.len() <= 12, "{rebound:?}");
}

#[test]
fn no_order_of_events_breaks_a_sound_protocol() {
    for variant in ["v0", "v1", "v2", "A", "C1", "C3", "D", "E", "ckpt-coalesce"] {
        let checked = checked(variant, bounds());
        assert!(checked.is_sound(), "{variant}: {:?}", checked.findings);
        assert!(possible(&checked, ARRIVES).is_some(), "{variant}");
    }
}

#[test]
fn an_eviction_or_a_restart_breaks_nothing_either() {
    let evicted = Bounds {
        evictions: 1,
        faults: 0,
        ..bounds()
    };
    let restarted = Bounds {
        restarts: 1,
        faults: 0,
        rounds: 2,
        ..bounds()
    };
    for (variant, bounds) in [("v1", evicted), ("v2", evicted), ("v2", restarted)] {
        let checked = checked(variant, bounds);
        assert!(checked.is_sound(), "{variant}: {:?}", checked.findings);
    }
}

#[test]
fn bytes_after_a_true_no_can_be_asked_for_in_vain_and_the_covering_part_still_comes() {
    let two = Bounds {
        attempts: 2,
        faults: 0,
        rounds: 2,
        ..bounds()
    };
    let checked = checked("B", two);
    assert!(checked.is_sound(), "{:?}", checked.findings);
    let in_vain = possible(&checked, IN_VAIN).unwrap();
    let no = in_vain.iter().position(|it| it.contains("answers no"));
    let asks = in_vain
        .iter()
        .position(|it| it.contains("asks for the bytes"));
    assert!(no.is_some() && no < asks, "{in_vain:?}");
    assert!(possible(&checked, IN_VAIN_AND_ARRIVES).is_some());
}

#[test]
fn waiting_before_an_answer_makes_no_search_endless() {
    // Looking again is no new state unless something else happened meanwhile: the search is of the size of v1's.
    let waits = checked("E", bounds());
    assert!(waits.is_sound(), "{:?}", waits.findings);
    let plain = checked("v1", bounds());
    assert!(plain.states < waits.states && waits.states < 3 * plain.states);
}

#[test]
fn searches_are_compared_row_by_row() {
    let ran = casdiag(&["replay", "--check", "--small", "--compare", "v2,naive-yes"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let rows: Vec<&str> = ran.out.lines().collect();
    assert!(rows[2].starts_with("| v2 | ") && rows[2].ends_with("| yes | kept |  |"));
    assert!(rows[3].starts_with("| v2+naive-yes | ") && rows[3].contains("| **broken** | "));
    let refused = casdiag(&["replay", "--compare", "v1,v2"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
}

#[test]
fn a_search_whose_time_is_over_does_not_say_that_it_saw_everything() {
    let late = Limits {
        time: Duration::ZERO,
        ..Limits::new(STATES, 1)
    };
    let v1 = Variant::parse("v1").unwrap();
    assert!(!check(v1, bounds(), late).is_complete);
    let few = check(v1, bounds(), Limits::new(1000, 1));
    assert!(!few.is_complete);
    assert!(few.states < checked("v1", bounds()).states);
}
