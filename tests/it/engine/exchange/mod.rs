//! The exchange of parts, message by message: what each side must do when one of them goes wrong.
//!
//! Two servers, and nothing happens by itself: a test delivers every message and every answer of the store, or loses
//! it. What is expected is the protocol's own table of situations, row by row.

use std::collections::VecDeque;

use casdiag::engine::cas::{
    Act, Delay, EntryKind, Held, Item, Manifest, Note, Out, Outcome, Owned, PartInfo, Setup, Step,
    Variant, Waiter, What, Why, World,
};

mod answers;
mod receiver;

/// The server that has the part, the one that wants it, and the part.
const SOURCE: usize = 0;
const RECEIVER: usize = 1;
const PART: usize = 0;

/// Whether a step is the one that a test waits for.
type Next = fn(Step) -> bool;

/// Two servers and what is under way between them.
struct Pair {
    world: World,
    /// What arrives next, in this order.
    coming: VecDeque<Step>,
    /// What waits for a time.
    later: Vec<Step>,
    /// What a test keeps back.
    kept: Vec<Step>,
    notes: Vec<Note>,
}

impl Pair {
    /// The source has written the part, and the receiver is about to ask for it.
    fn new(variant: &str) -> Self {
        Self::with(variant, |_| {})
    }

    fn with(variant: &str, change: impl FnOnce(&mut Setup)) -> Self {
        let mut setup = Setup::new(Variant::parse(variant).unwrap());
        change(&mut setup);
        let mut pair = Self {
            world: World::new(setup),
            coming: VecDeque::new(),
            later: Vec::new(),
            kept: Vec::new(),
            notes: Vec::new(),
        };
        assert_eq!(pair.write(), PART);
        pair.run();
        pair.notes.clear();
        pair.pull(EntryKind::Get, PART);
        pair
    }

    fn take(&mut self, out: Out) {
        for (delay, step) in out.later {
            if matches!(delay, Delay::Exact(_) | Delay::Backoff(..)) {
                self.later.push(step);
            } else {
                self.coming.push_back(step);
            }
        }
        self.notes.extend(out.notes);
        assert!(self.world.broken.is_empty(), "{:?}", self.world.broken);
    }

    /// The source begins to write another part.
    fn write(&mut self) -> usize {
        let blob = self.world.new_blob();
        let part = self.world.parts.len();
        let block = u32::try_from(part + 1).unwrap();
        self.world.parts.push(PartInfo::fresh(0, 0, block, blob));
        let node = &mut self.world.nodes[SOURCE];
        node.builds += 1;
        let manifest = Manifest {
            node: SOURCE,
            epoch: node.epoch,
            build: node.builds,
        };
        let item = Item {
            part,
            act: Act::Create(manifest),
            waiter: Waiter::Writer(SOURCE, 0),
        };
        let mut out = Out::default();
        self.world.submit(SOURCE, item, &mut out);
        self.take(out);
        part
    }

    /// An entry comes into the receiver's queue.
    fn pull(&mut self, kind: EntryKind, first: usize) {
        let step = Step::Pull {
            node: RECEIVER,
            kind,
            first,
            count: 1,
        };
        self.coming.push_back(step);
    }

    /// The next thing happens, and ends like this.
    fn next(&mut self, outcome: Outcome) {
        let step = self.coming.pop_front().unwrap();
        let mut out = Out::default();
        self.world.apply(step, outcome, &mut out);
        self.take(out);
    }

    /// Everything goes well until nothing is left but what waits for a time.
    fn run(&mut self) {
        while !self.coming.is_empty() {
            self.next(Outcome::Done);
        }
    }

    /// Everything goes well until this is next.
    fn until(&mut self, is_next: Next) {
        while !is_next(*self.coming.front().expect("it never comes")) {
            self.next(Outcome::Done);
        }
    }

    /// Keeps all of this back, whatever else happens.
    fn keep(&mut self, is_kept: Next) {
        let coming = self.coming.drain(..);
        let (kept, coming): (Vec<Step>, Vec<Step>) = coming.partition(|it| is_kept(*it));
        self.coming.extend(coming);
        self.kept.extend(kept);
    }

    /// What was kept back comes.
    fn release(&mut self) {
        self.coming.extend(self.kept.drain(..));
        self.run();
    }

    /// The time comes for what waits for one, if it is this.
    fn wake(&mut self, is_due: Next) {
        let later = self.later.drain(..);
        let (due, later): (Vec<Step>, Vec<Step>) = later.partition(|it| is_due(*it));
        self.later = later;
        self.coming.extend(due);
        self.run();
    }

    /// The receiver tries again.
    fn again(&mut self) {
        self.wake(|it| matches!(it, Step::Due { .. }));
    }

    /// The source is busy with a write of its own that takes long.
    fn busy_source(&mut self) {
        self.write();
        self.keep(|it| matches!(it, Step::LogAnswered { lane: SOURCE, .. }));
    }

    /// The source has the part no more, while something is kept back.
    fn drop_at_source(&mut self) {
        let mut out = Out::default();
        self.world.outdate(SOURCE, PART, &mut out);
        self.take(out);
        self.wake(|it| matches!(it, Step::Clean { .. }));
        assert_eq!(self.world.nodes[SOURCE].part(PART), Held::Absent);
    }

    fn stop(&mut self, node: usize) {
        let mut out = Out::default();
        self.world.stop(node, &mut out);
        self.take(out);
    }

    /// How often something was told.
    fn told(&self, what: What) -> usize {
        self.notes.iter().filter(|it| it.what == what).count()
    }

    /// Rows of the table that led to the bytes.
    fn rows(&self) -> Vec<u64> {
        let notes = self.notes.iter();
        let fell = notes.filter(|it| it.what == What::FellBack);
        fell.map(|it| it.a).collect()
    }

    /// Reasons of answers that were not yes.
    fn reasons(&self, what: What) -> Vec<Why> {
        let notes = self.notes.iter().filter(|it| it.what == what);
        notes
            .map(|it| Why::ALL[usize::try_from(it.a).unwrap()])
            .collect()
    }

    /// What the receiver's namespace says of a part.
    fn owned(&self, part: usize) -> Owned {
        let owners = &self.world.lanes[RECEIVER].stream.owners;
        owners.get(&part).copied().unwrap_or_default()
    }

    /// Appends of the receiver that became durable.
    fn appends(&self) -> usize {
        let notes = self.notes.iter();
        notes
            .filter(|it| it.what == What::Appended && it.node == RECEIVER)
            .count()
    }

    fn arrived(&self, part: usize) -> bool {
        self.world.nodes[RECEIVER].part(part) == Held::Active
    }

    /// The attempt has left nothing behind, and the entry waits for its next.
    fn assert_failed(&self, why: What) {
        assert_eq!(self.told(why), 1, "{why:?}: {:?}", self.notes);
        assert_eq!(self.told(What::Postponed), 1, "{:?}", self.notes);
        assert_eq!(self.owned(PART), Owned::default());
        assert!(!self.arrived(PART));
    }
}

fn is_offer(step: Step) -> bool {
    matches!(step, Step::Offer(_))
}

fn is_offered(step: Step) -> bool {
    matches!(step, Step::Offered(_))
}

fn is_confirm(step: Step) -> bool {
    matches!(step, Step::Confirm(_))
}

fn is_confirmed(step: Step) -> bool {
    matches!(step, Step::Confirmed(_))
}

fn is_bytes_asked(step: Step) -> bool {
    matches!(step, Step::BytesAsked(_))
}

fn is_bytes_arrived(step: Step) -> bool {
    matches!(step, Step::BytesArrived(_))
}

/// The store answers the receiver's append.
fn is_append(step: Step) -> bool {
    matches!(step, Step::LogAnswered { lane: RECEIVER, .. })
}

#[test]
fn a_relink_is_offered_staged_proven_and_promoted_by_two_appends() {
    for variant in ["v0", "v1", "v2"] {
        let mut pair = Pair::new(variant);
        pair.until(is_confirm);
        // The receiver's own reference is durable before it asks, and protects the data.
        assert!(pair.owned(PART).staged.is_some() && pair.owned(PART).committed.is_none());
        pair.run();
        for what in [What::Offered, What::Relinking, What::Proven, What::Finished] {
            assert_eq!(pair.told(what), 1, "{variant}: {what:?}");
        }
        assert_eq!(pair.told(What::Downloading), 0);
        assert_eq!(pair.appends(), 2);
        assert!(pair.arrived(PART) && pair.owned(PART).staged.is_none());
    }
}

/// Whatever is lost on the way, the attempt ends with its reason and without a trace, and the next one succeeds.
#[test]
fn a_message_that_is_lost_ends_the_attempt() {
    let cases: [(Next, bool, What); 6] = [
        (is_offer, false, What::Unreachable),
        (is_offered, false, What::Unreachable),
        (is_confirm, false, What::ConfirmLost),
        (is_confirmed, false, What::ConfirmLost),
        (is_bytes_asked, true, What::Unreachable),
        (is_bytes_arrived, true, What::Unreachable),
    ];
    for (place, (is_lost, by_bytes, why)) in cases.into_iter().enumerate() {
        let mut pair = Pair::with("v1", |it| {
            it.without_confirm = if by_bytes { vec![SOURCE] } else { vec![] };
        });
        pair.until(is_lost);
        pair.next(Outcome::Failed);
        pair.run();
        pair.assert_failed(why);
        let is_about_a_confirm = why == What::ConfirmLost;
        assert_eq!(pair.told(What::Refused), usize::from(is_about_a_confirm));
        // A refused attempt costs its +1 and the removal of it.
        assert_eq!(pair.appends(), 2 * usize::from(is_about_a_confirm));
        pair.again();
        assert!(pair.arrived(PART), "case {place}: {:?}", pair.notes);
        // What was lost was no answer: the bytes are no way around it.
        assert_eq!(pair.told(What::Downloading) > 0, by_bytes);
    }
}

/// A server that is down is not reached, and says nothing.
#[test]
fn a_source_that_is_down_ends_the_attempt() {
    let cases: [(Next, bool, What); 4] = [
        (is_offer, false, What::Unreachable),
        (is_confirm, false, What::ConfirmLost),
        (is_bytes_asked, true, What::Unreachable),
        (is_bytes_arrived, true, What::Unreachable),
    ];
    for (is_next, by_bytes, why) in cases {
        let mut pair = Pair::with("v1", |it| {
            it.without_confirm = if by_bytes { vec![SOURCE] } else { vec![] };
        });
        pair.until(is_next);
        pair.stop(SOURCE);
        let before = pair.notes.len();
        pair.run();
        pair.assert_failed(why);
        let mut said = pair.notes[before..].iter();
        assert!(said.all(|it| it.node == RECEIVER), "{:?}", pair.notes);
    }
}

/// Row 0 and row 1: a side that does not know the confirm.
#[test]
fn a_pair_of_which_one_does_not_know_the_confirm_sends_bytes() {
    for (without, rows) in [(RECEIVER, vec![]), (SOURCE, vec![1])] {
        let mut pair = Pair::with("v1", |it| it.without_confirm = vec![without]);
        pair.run();
        assert_eq!(pair.rows(), rows);
        assert_eq!(pair.told(What::Offered) + pair.told(What::Relinking), 0);
        assert_eq!(pair.told(What::Downloaded), 1);
        assert!(pair.arrived(PART));
    }
}

#[test]
fn a_source_offers_only_a_part_that_it_has() {
    let mut pair = Pair::new("v1");
    pair.until(is_offer);
    // Out of the table's parts before its reference is gone.
    pair.world.nodes[SOURCE].held[PART] = Held::Absent;
    pair.run();
    pair.assert_failed(What::NotThere);
    assert_eq!(pair.told(What::Offered) + pair.told(What::Relinking), 0);
}
