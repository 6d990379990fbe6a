//! A small world whose every order of events is tried: two servers, one part, a part that covers it, the collector.

use stateright::{Model, Property};

use super::super::exchange::ANSWER_LOOK_US;
use super::super::ledger::{Act, Answer, Item};
use super::super::names::{PartInfo, What};
use super::super::replica::{EntryKind, Held};
use super::super::variant::{Fix, Variant};
use super::super::world::{Delay, Out, Outcome, Setup, Step, Violation, Waiter, World};
use super::words;
use crate::engine::search::SmallWorld;

/// How far the search goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Messages and requests that go wrong.
    pub faults: u8,
    /// Ledgers that are evicted.
    pub evictions: u8,
    /// Servers that are killed and start again.
    pub restarts: u8,
    /// Rounds of the collector.
    pub rounds: u32,
    /// Attempts of the receiver.
    pub attempts: u32,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            faults: 1,
            evictions: 1,
            restarts: 0,
            rounds: 3,
            attempts: 2,
        }
    }
}

impl Bounds {
    /// One attempt and no eviction: enough for every counterexample, and seconds.
    pub fn small() -> Self {
        Self {
            evictions: 0,
            attempts: 1,
            ..Self::default()
        }
    }
}

/// What a step waits for, as far as it can go wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Via {
    /// A message.
    Message,
    /// A write whose answer can be lost.
    Write,
    /// Nothing that can go wrong.
    Sure,
}

/// What can happen next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Event {
    /// A step, and how what it waited for ended.
    Step(Step, Outcome),
    /// The source merges the part into one that covers it.
    Cover,
    /// A server's ledger is evicted.
    Evict(usize),
    /// A server is killed and starts again.
    Restart(usize),
}

/// A state of the search.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct State {
    /// The system.
    pub(super) world: World,
    /// What is under way, in order of its kind.
    pub(super) pending: Vec<(Step, Via)>,
    /// Whether the source has begun to merge the part.
    pub(super) is_covered: bool,
    /// What is left of the bounds.
    left: (u8, u8, u8),
    /// Whether bytes were asked for, after an answer `no`, from a source that does not have the part any more.
    pub(super) in_vain: bool,
}

/// The search.
#[derive(Debug, Clone, Copy)]
pub(super) struct Small {
    /// The protocol.
    pub(super) variant: Variant,
    /// How far it goes.
    pub(super) bounds: Bounds,
}

/// The part, the one that covers it, and the table's only lane of each server.
const PART: usize = 0;
const COVER: usize = 1;
const SOURCE: usize = 0;
const RECEIVER: usize = 1;

impl Small {
    fn setup(&self) -> Setup {
        Setup {
            fetch_slots: 1,
            common_slots: 1,
            old_parts_us: 0,
            // A wait is a choice here, so that the second look stands for any later one: a third would only see what
            // the second sees when it comes later.
            answer_within_us: ANSWER_LOOK_US,
            breaker_streak: 1,
            ..Setup::new(self.variant)
        }
    }

    /// Whether the part comes from an attach: the fixes that are about one need it.
    pub(super) fn attaches(&self) -> bool {
        self.variant.has(Fix::C1) || self.variant.has(Fix::C3)
    }

    /// Whether the initiator of an attach still waits for a quiet lane (fix C3).
    fn holds_back(&self, state: &State, step: Step) -> bool {
        let source = state.world.lanes.get(SOURCE);
        let is_quiet = source.is_none_or(super::super::Lane::is_quiet);
        self.variant.has(Fix::C3) && matches!(step, Step::Pull { .. }) && !is_quiet
    }

    /// The source has the part; the receiver has an entry for it.
    fn begin(&self) -> State {
        let mut world = World::new(self.setup());
        let mut out = Out::default();
        for _ in [PART, COVER] {
            let blob = world.new_blob();
            let block = u32::try_from(blob + 1).unwrap_or(1);
            world.parts.push(PartInfo::fresh(0, 0, block, blob));
        }
        let item = |world: &mut World, part| {
            let manifest = world.nodes.get_mut(SOURCE).map(|it| it.build(SOURCE))?;
            Some(Item {
                part,
                act: Act::Create(manifest),
                waiter: Waiter::Writer(SOURCE, 0),
            })
        };
        if let Some(item) = item(&mut world, PART) {
            world.submit(SOURCE, item, &mut out);
        }
        while let Some((_, step)) = out.later.pop() {
            world.apply(step, Outcome::Done, &mut out);
        }
        if let Some(blob) = world.blobs.first_mut() {
            // An earlier round has seen it.
            blob.life = super::super::gc::Life::Live;
        }
        let pull = Step::Pull {
            node: RECEIVER,
            kind: if self.attaches() {
                EntryKind::Replace
            } else {
                EntryKind::Get
            },
            first: PART,
            count: 1,
        };
        if self.variant.has(Fix::C1) {
            for lane in &mut world.lanes {
                lane.pins = 1;
            }
        }
        let bounds = self.bounds;
        State {
            world,
            pending: vec![(pull, Via::Sure), (Step::GcRead { lane: 0 }, Via::Sure)],
            is_covered: false,
            left: (bounds.faults, bounds.evictions, bounds.restarts),
            in_vain: false,
        }
    }

    fn cover(world: &mut World, out: &mut Out) {
        if let Some(part) = world.parts.get_mut(PART) {
            part.into = Some(COVER);
        }
        if let Some(part) = world.parts.get_mut(COVER) {
            part.sources = vec![PART];
        }
        let Some(manifest) = world.nodes.get_mut(SOURCE).map(|it| it.build(SOURCE)) else {
            return;
        };
        let item = Item {
            part: COVER,
            act: Act::Create(manifest),
            waiter: Waiter::Writer(SOURCE, 1),
        };
        world.submit(SOURCE, item, out);
    }
}

fn via(delay: Delay) -> Via {
    match delay {
        Delay::Hop(..) => Via::Message,
        Delay::Log(_) | Delay::Frontier(_) => Via::Write,
        Delay::Read(_)
        | Delay::Recovery(_)
        | Delay::Token(_)
        | Delay::Backoff(..)
        | Delay::Transfer(..)
        | Delay::Merge
        | Delay::Keeper
        | Delay::Collect
        | Delay::Mount(_)
        | Delay::CatalogRead(_)
        | Delay::CatalogWrite(_)
        | Delay::Jitter(_)
        | Delay::Exact(_) => Via::Sure,
    }
}

/// Whether a step is a request for bytes that follows an answer `no`.
fn asks_after_no(world: &World, step: Step) -> bool {
    let Step::BytesAsked(ticket) = step else {
        return false;
    };
    let slots = world.nodes.get(ticket.node).map(|it| &it.slots);
    let task = slots.and_then(|it| it.get(ticket.slot)).copied().flatten();
    task.is_some_and(|it| matches!(it.answer, Some(Answer::No(_))))
}

/// How a wait can end.
fn endings(via: Via, step: Step, may_fail: bool) -> &'static [Outcome] {
    match via {
        _ if !may_fail || via == Via::Sure => &[Outcome::Done],
        Via::Write if matches!(step, Step::LogAnswered { .. }) => &[
            Outcome::Done,
            Outcome::Failed,
            Outcome::Open(false),
            Outcome::Open(true),
        ],
        Via::Message | Via::Write | Via::Sure => &[Outcome::Done, Outcome::Failed],
    }
}

impl SmallWorld for Small {
    fn variant(&self) -> String {
        self.variant.name()
    }

    fn words(&self) -> String {
        let how = if self.attaches() { "attached " } else { "" };
        let Bounds {
            faults,
            evictions,
            restarts,
            rounds,
            attempts,
        } = self.bounds;
        let counted = |count: u32, one: &str, many: &str| match count {
            0 => format!("no {one}"),
            1 => format!("1 {one}"),
            more => format!("{more} {many}"),
        };
        [
            format!("2 servers, 1 {how}part and one that covers it"),
            counted(attempts, "attempt", "attempts"),
            counted(rounds, "round of the collector", "rounds of the collector"),
            counted(
                faults.into(),
                "lost or refused request",
                "lost or refused requests",
            ),
            counted(evictions.into(), "eviction", "evictions"),
            counted(restarts.into(), "restart", "restarts"),
        ]
        .join(", ")
    }

    fn tell(path: Vec<(State, Option<Event>)>) -> Vec<String> {
        words::tell(path)
    }
}

impl Model for Small {
    type State = State;
    type Action = Event;

    fn init_states(&self) -> Vec<State> {
        vec![self.begin()]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Event>) {
        if state.world.broken.contains(&Violation::PromotedOverDeleted) {
            return;
        }
        let (faults, evictions, restarts) = state.left;
        let mut before = None;
        for (step, via) in &state.pending {
            if before == Some(step) {
                continue;
            }
            before = Some(step);
            if self.holds_back(state, *step) {
                continue;
            }
            let endings = endings(*via, *step, faults > 0);
            actions.extend(endings.iter().map(|it| Event::Step(*step, *it)));
        }
        if !state.is_covered {
            actions.push(Event::Cover);
        }
        if evictions > 0 {
            let idle = |lane: &usize| {
                state
                    .world
                    .lanes
                    .get(*lane)
                    .is_some_and(super::super::Lane::is_idle)
            };
            actions.extend(
                [SOURCE, RECEIVER]
                    .into_iter()
                    .filter(idle)
                    .map(Event::Evict),
            );
        }
        if restarts > 0 {
            actions.extend([SOURCE, RECEIVER].map(Event::Restart));
        }
    }

    fn next_state(&self, last: &State, event: Event) -> Option<State> {
        let mut state = last.clone();
        let mut out = Out::default();
        match event {
            Event::Step(step, outcome) => {
                let place = state.pending.iter().position(|it| it.0 == step)?;
                state.pending.remove(place);
                if outcome != Outcome::Done {
                    state.left.0 -= 1;
                }
                state.world.apply(step, outcome, &mut out);
                let not_there = out.notes.iter().any(|it| it.what == What::NotThere);
                state.in_vain |= not_there && asks_after_no(&last.world, step);
            }
            Event::Cover => {
                state.is_covered = true;
                Self::cover(&mut state.world, &mut out);
            }
            Event::Evict(lane) => {
                state.left.1 -= 1;
                state.world.evict(lane, &mut out);
            }
            Event::Restart(node) => {
                state.left.2 -= 1;
                state.world.stop(node, &mut out);
                state.world.start(node, &mut out);
            }
        }
        for (delay, step) in out.later {
            state.pending.push((step, via(delay)));
        }
        // Rounds follow each other as long as the bounds allow.
        if matches!(event, Event::Step(Step::GcDelete, _))
            && state.world.gc.round < self.bounds.rounds
        {
            state.pending.push((Step::GcRead { lane: 0 }, Via::Sure));
        }
        state.pending.sort_unstable();
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let mut all = vec![
            Property::<Self>::always(Violation::ALL[0].1, |_, it| {
                keeps(it, Violation::YesWithoutRow)
            }),
            Property::<Self>::always(Violation::ALL[1].1, |_, it| {
                keeps(it, Violation::ConfirmBeforePlusOne)
            }),
            Property::<Self>::always(Violation::ALL[2].1, |_, it| {
                keeps(it, Violation::PromotedOverDeleted)
            }),
            Property::<Self>::always(Violation::ALL[3].1, |_, it| {
                keeps(it, Violation::BytesWhileOpen)
            }),
            Property::<Self>::always(Violation::ALL[4].1, |_, it| keeps(it, Violation::Rebound)),
            Property::<Self>::always(Violation::ALL[5].1, |_, it| keeps(it, Violation::OddCost)),
            Property::<Self>::always(STUCK, |_, it| {
                let has = it.world.covers(RECEIVER, PART);
                has || !it.pending.is_empty()
            }),
            Property::<Self>::sometimes(ARRIVES, |_, it| {
                it.world
                    .nodes
                    .get(RECEIVER)
                    .is_some_and(|node| node.part(PART) == Held::Active)
            }),
        ];
        if self.variant.has(Fix::B) {
            all.push(Property::<Self>::sometimes(IN_VAIN, |_, it| it.in_vain));
            all.push(Property::<Self>::sometimes(IN_VAIN_AND_ARRIVES, |_, it| {
                it.in_vain && it.world.covers(RECEIVER, PART)
            }));
        }
        all
    }

    fn within_boundary(&self, state: &State) -> bool {
        let attempts = state.world.nodes.get(RECEIVER).map_or(0, |it| it.serial);
        attempts <= self.bounds.attempts
    }
}

/// As long as the receiver lacks the part, something is under way that may bring it.
pub const STUCK: &str = "an entry is never forgotten";

/// The search reaches what it is about.
pub const ARRIVES: &str = "the part arrives";

/// A true `no` leads to a request for bytes that are not there.
pub const IN_VAIN: &str = "bytes are asked for from a source that no longer has the part";

/// And the entry is done afterwards.
pub const IN_VAIN_AND_ARRIVES: &str = "and the covering part arrives afterwards";

fn keeps(state: &State, violation: Violation) -> bool {
    !state.world.broken.contains(&violation)
}
