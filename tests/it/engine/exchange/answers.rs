//! What a source answers to a confirm, and what its receiver makes of that.

use casdiag::engine::cas::{EntryKind, Out, Outcome, Owned, Step, What, Why};

use super::{PART, Pair, RECEIVER, SOURCE, is_confirm, is_confirmed};

/// A confirm arrives while the source writes something else.
fn asked_while_busy(variant: &str) -> Pair {
    let mut pair = Pair::new(variant);
    pair.until(is_confirm);
    pair.busy_source();
    pair.run();
    pair
}

/// A confirm arrives when the source has merged the part away and removed it.
fn asked_when_gone(variant: &str, evicts: bool) -> Pair {
    let mut pair = Pair::new(variant);
    pair.until(is_confirm);
    pair.keep(is_confirm);
    pair.drop_at_source();
    if evicts {
        pair.world.evict(SOURCE, &mut Out::default());
        assert!(!pair.world.lanes[SOURCE].resident);
    }
    pair.release();
    pair
}

/// Row 3: the +1 is removed, and the entry is tried later. Bytes are forbidden.
#[test]
fn an_answer_that_is_not_yes_costs_two_appends_and_no_bytes() {
    for variant in ["v0", "v1", "v1+C1", "v1+C3", "v1+D"] {
        let mut pair = asked_while_busy(variant);
        assert_eq!(pair.reasons(What::Unknown), [Why::TableBusy], "{variant}");
        pair.assert_failed(What::Refused);
        assert_eq!(pair.appends(), 2, "{variant}");
        assert_eq!(pair.told(What::Downloading) + pair.told(What::Finished), 0);
        pair.release();
        pair.again();
        assert!(pair.arrived(PART), "{variant}");
    }
}

/// The shipped rule: a change of another reference hinders nothing.
#[test]
fn a_busy_table_proves_what_nobody_is_changing() {
    let pair = asked_while_busy("v2");
    assert_eq!(pair.told(What::Proven), 1);
    assert!(pair.arrived(PART));
}

#[test]
fn bytes_follow_an_unknown_answer_where_a_fix_allows_them() {
    for variant in ["v1+A", "v1+B"] {
        let pair = asked_while_busy(variant);
        assert_eq!(pair.told(What::Unknown), 1);
        assert_eq!(pair.rows(), [3], "{variant}");
        assert_eq!(pair.told(What::Downloaded), 1);
        assert!(pair.arrived(PART));
    }
}

/// The part is looked at before the ledger: it is gone whatever the ledger could say.
#[test]
fn a_part_that_is_gone_is_a_no() {
    for evicts in [false, true] {
        let pair = asked_when_gone("v1", evicts);
        assert_eq!(pair.reasons(What::No), [Why::PartGone]);
        assert_eq!(pair.told(What::Unknown), 0);
        pair.assert_failed(What::Refused);
        assert_eq!(pair.told(What::Downloading), 0);
    }
}

/// `A` is about `unknown` only. `B` asks after a true no as well, and in vain.
#[test]
fn bytes_after_a_no_are_asked_for_under_b_only_and_are_not_there() {
    let pair = asked_when_gone("v1+A", false);
    pair.assert_failed(What::Refused);
    assert_eq!(pair.told(What::Downloading), 0);
    let pair = asked_when_gone("v1+B", false);
    assert_eq!(pair.rows(), [3]);
    pair.assert_failed(What::NotThere);
    assert_eq!(pair.told(What::Downloaded), 0);
}

/// Neither fix allows bytes without an answer: the receiver cannot know what the source said.
#[test]
fn no_fix_takes_bytes_when_the_answer_is_lost() {
    for variant in ["v1+A", "v1+B"] {
        for is_lost in [is_confirm, is_confirmed] {
            let mut pair = Pair::new(variant);
            pair.until(is_confirm);
            pair.busy_source();
            pair.until(is_lost);
            pair.next(Outcome::Failed);
            pair.run();
            assert_eq!(pair.told(What::ConfirmLost), 1);
            pair.assert_failed(What::Refused);
            assert_eq!(pair.told(What::Downloading), 0, "{variant}");
        }
    }
}

/// Fix E: the source looks again for a while, and then says what it can.
#[test]
fn a_source_waits_for_its_lane_and_not_for_ever() {
    let mut pair = asked_while_busy("v1+E");
    assert_eq!(pair.told(What::Unknown), 0);
    pair.release();
    pair.wake(is_confirm);
    assert_eq!(pair.told(What::Unknown), 0);
    assert!(pair.arrived(PART));
    let mut pair = asked_while_busy("v1+E");
    // Half a second, in steps that are not shorter than a millisecond.
    for _ in 0..500 {
        pair.wake(is_confirm);
    }
    assert_eq!(pair.reasons(What::Unknown), [Why::TableBusy]);
    pair.assert_failed(What::Refused);
}

/// Fix D: two refusals in a row pause the source, until the pause ends.
#[test]
fn a_source_that_does_not_prove_is_paused() {
    let mut pair = Pair::with("v1+D", |it| it.breaker_streak = 2);
    pair.until(is_confirm);
    pair.busy_source();
    pair.run();
    // One refusal is no streak.
    pair.again();
    assert_eq!(pair.told(What::Refused), 2);
    pair.again();
    assert_eq!(pair.told(What::Fetching), 2);
    pair.release();
    pair.wake(|it| matches!(it, Step::Reopen { .. }));
    assert_eq!(pair.told(What::Fetching), 3);
    assert!(pair.arrived(PART));
}

#[test]
fn a_proof_ends_a_streak_of_refusals() {
    let mut pair = Pair::with("v1+D", |it| it.breaker_streak = 2);
    pair.until(is_confirm);
    pair.busy_source();
    pair.run();
    pair.release();
    pair.again();
    assert!(pair.arrived(PART));
    let other = pair.write();
    pair.run();
    pair.pull(EntryKind::Get, other);
    pair.until(is_confirm);
    pair.busy_source();
    pair.run();
    assert_eq!(pair.told(What::Refused), 2);
    assert_eq!(pair.told(What::Fetching), 3);
    pair.again();
    assert_eq!(pair.told(What::Fetching), 4);
}

/// A mount that does not hold proves nothing, and the row is still looked at.
#[test]
fn a_source_without_its_lease_never_says_yes() {
    let mut pair = Pair::new("v2");
    pair.until(is_confirm);
    pair.world.nodes[SOURCE].is_fenced = true;
    pair.run();
    assert_eq!(pair.reasons(What::Unknown), [Why::MountLost]);
    pair.assert_failed(What::Refused);
}

/// The answer is on its way to a receiver that has died and come back: it is nobody's.
#[test]
fn an_answer_to_a_process_that_is_gone_changes_nothing() {
    let mut pair = Pair::new("v2");
    pair.until(is_confirmed);
    pair.keep(is_confirmed);
    pair.stop(RECEIVER);
    pair.release();
    assert_eq!(pair.told(What::Finished), 0);
    assert_ne!(pair.owned(PART), Owned::default());
    assert!(pair.owned(PART).committed.is_none());
}
