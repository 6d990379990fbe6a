//! What a receiver does about its own appends, and about fetches that are dropped while they work.

use casdiag::engine::cas::{Blob, EntryKind, Held, Outcome, Owned, Step, What};

use super::{
    Next, PART, Pair, SOURCE, is_append, is_bytes_asked, is_confirm, is_confirmed, is_offer,
};

/// An exchange that is about to promote: everything before went well.
fn proven() -> Pair {
    let mut pair = Pair::new("v1");
    pair.until(is_confirmed);
    pair.until(is_append);
    pair
}

/// Row 2: without its own reference the receiver asks for no proof and takes the bytes, once.
#[test]
fn a_refused_plus_one_leads_to_the_bytes_once() {
    let mut pair = Pair::new("v1");
    pair.until(is_append);
    pair.next(Outcome::Failed);
    pair.until(is_append);
    assert_eq!(pair.rows(), [2]);
    let answers = [What::Proven, What::Unknown, What::No].map(|it| pair.told(it));
    assert_eq!(answers, [0, 0, 0]);
    // That of the bytes is refused as well.
    pair.notes.retain(|it| it.what != What::AppendRefused);
    pair.next(Outcome::Failed);
    pair.run();
    assert_eq!(pair.told(What::Downloading), 1);
    assert_eq!(pair.told(What::Postponed), 1);
    assert!(!pair.arrived(PART));
    assert_eq!(pair.owned(PART), Owned::default());
    pair.again();
    assert!(pair.arrived(PART));
}

/// Row 5: the promotion is refused and nothing of it happened.
#[test]
fn a_refused_promotion_leads_to_the_bytes_once() {
    let mut pair = proven();
    pair.next(Outcome::Failed);
    pair.until(is_append);
    assert_eq!(pair.rows(), [5]);
    // The +1 of the bytes is durable, and then their promotion is refused too.
    pair.next(Outcome::Done);
    pair.until(is_append);
    pair.next(Outcome::Failed);
    pair.run();
    assert_eq!(pair.told(What::Downloading), 1);
    assert_eq!(pair.told(What::Postponed), 1);
    assert!(!pair.arrived(PART));
    pair.again();
    assert!(pair.arrived(PART));

    let mut pair = proven();
    pair.next(Outcome::Failed);
    pair.run();
    assert_eq!(pair.told(What::Downloaded), 1);
    assert!(pair.arrived(PART));
}

/// Row 5b: bytes are forbidden, and the next attempt finds out that the promotion has come to be after all.
#[test]
fn a_promotion_whose_outcome_is_open_is_taken_over_by_the_next_attempt() {
    for has_landed in [true, false] {
        let mut pair = proven();
        pair.next(Outcome::Open(has_landed));
        pair.run();
        assert_eq!(pair.told(What::Unresolved), 1);
        assert_eq!(pair.told(What::Postponed), 1);
        assert_eq!(pair.told(What::Downloading), 0);
        assert!(!pair.arrived(PART));
        pair.again();
        assert!(pair.arrived(PART), "{:?}", pair.notes);
        // No second proof, no second promotion: the reference is the one of the first attempt.
        assert_eq!(pair.told(What::Proven), 1);
        assert_eq!(pair.told(What::Refused) + pair.told(What::Downloading), 0);
        let owned = pair.owned(PART);
        assert_eq!(owned.committed.map(|it| it.build), Some(1));
        assert_eq!(owned.staged, None);
    }
}

/// Data that was deleted while its bytes were on their way is written again before anything refers to it.
#[test]
fn bytes_bring_back_what_the_collector_has_deleted() {
    let mut pair = Pair::with("v1", |it| it.without_confirm = vec![SOURCE]);
    pair.until(is_bytes_asked);
    pair.next(Outcome::Done);
    let blob: &mut Blob = &mut pair.world.blobs[0];
    let token = blob.token;
    blob.present = false;
    pair.run();
    assert!(pair.arrived(PART));
    let blob = pair.world.blobs[0];
    assert!(blob.present && blob.token != token);
}

/// A part that is dropped while a fetch of it is at work, wherever that is, leaves nothing behind.
#[test]
fn a_dropped_fetch_leaves_no_reference() {
    let staging = {
        let mut pair = Pair::new("v1");
        pair.until(is_append);
        pair
    };
    let asking = |is_next: Next| {
        let mut pair = Pair::new("v1");
        pair.until(is_next);
        pair
    };
    let fallen_back = {
        let mut pair = proven();
        pair.next(Outcome::Failed);
        pair.until(is_bytes_asked);
        pair
    };
    let pairs = [
        staging,
        asking(is_confirm),
        asking(is_confirmed),
        proven(),
        fallen_back,
    ];
    for (place, mut pair) in pairs.into_iter().enumerate() {
        pair.keep(|_| true);
        pair.pull(EntryKind::Drop, PART);
        pair.run();
        pair.release();
        let left = pair.owned(PART);
        assert_eq!(left, Owned::default(), "{place}: {:?}", pair.notes);
        assert!(!pair.arrived(PART) && pair.world.nodes[1].queue.is_empty());
    }
}

/// Another fetch has taken the place of one that was dropped: what was meant for the first does nothing to it.
#[test]
fn a_message_of_a_dropped_fetch_does_nothing_to_its_successor() {
    let mut pair = Pair::new("v1");
    pair.until(is_confirmed);
    pair.keep(is_confirmed);
    pair.pull(EntryKind::Drop, PART);
    pair.run();
    let other = pair.write();
    pair.run();
    pair.pull(EntryKind::Get, other);
    pair.until(is_offer);
    let offer = pair.coming.pop_front().unwrap();
    pair.release();
    assert_eq!(pair.told(What::Refused) + pair.told(What::Finished), 0);
    pair.coming.push_back(offer);
    pair.run();
    assert_eq!(pair.told(What::Finished), 1);
    assert!(pair.arrived(other));
}

/// Two entries for one part: the second waits for the fetch that is at work, and then has nothing to do.
#[test]
fn a_part_is_fetched_once_at_a_time() {
    let mut pair = Pair::new("v1");
    pair.until(is_confirm);
    pair.keep(is_confirm);
    pair.pull(EntryKind::Get, PART);
    pair.run();
    assert_eq!(pair.told(What::Fetching), 1);
    pair.release();
    pair.wake(|it| matches!(it, Step::Due { .. }));
    assert_eq!(pair.told(What::Fetching), 1);
    assert_eq!(pair.world.nodes[1].part(PART), Held::Active);
    assert!(pair.world.nodes[1].queue.is_empty());
}
