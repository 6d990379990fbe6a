//! A small world whose every order of events is tried: three controllers that agree on three entries in two segments
//! and a third one; then writes, kills, starts, elections and losses in any order.

use stateright::{Model, Property};

use super::super::names::{Entry, NodeId, Violation};
use super::super::node::{Delay, Out, Role, Step};
use super::super::setup::{Assumptions, Setup, Variant};
use super::super::world::World;
use super::words;
use crate::engine::search::SmallWorld;

/// How far the search goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Writes of clients.
    pub writes: u8,
    /// Processes that are killed and start again.
    pub kills: u8,
    /// Nodes that stand for election.
    pub elections: u8,
    /// Turns of a primary.
    pub ticks: u8,
    /// Messages that are lost.
    pub losses: u8,
    /// Whether the first primary has an entry from the beginning that nobody else got.
    pub is_lonely: bool,
}

impl Bounds {
    /// A kill and a lost message under a primary that stays.
    pub const KILL: Self = Self {
        writes: 1,
        kills: 1,
        elections: 0,
        ticks: 1,
        losses: 1,
        is_lonely: false,
    };
    /// A kill and an election. Nobody takes a turn after it, so all that matters is who may be elected.
    pub const ELECTION: Self = Self {
        elections: 1,
        ticks: 0,
        losses: 0,
        ..Self::KILL
    };
    /// An election and the first turn of whoever wins it: it greets the others, and what only one of them has makes way.
    pub const TAKEOVER: Self = Self {
        writes: 0,
        kills: 0,
        elections: 1,
        losses: 0,
        is_lonely: true,
        ..Self::KILL
    };

    /// All that a check searches.
    pub const ALL: [Self; 3] = [Self::KILL, Self::ELECTION, Self::TAKEOVER];
}

/// What can happen next.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Event {
    Step(Step),
    Lose(Step),
    Write(NodeId),
    /// A process is killed; of what is not durable this much survives.
    Kill(NodeId, usize),
    Start(NodeId),
    Elect(NodeId),
    Tick(NodeId),
}

/// A state of the search.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct State {
    pub(super) world: World,
    /// What is under way, sorted; a message is there once.
    pending: Vec<Step>,
    left: [u8; 5],
    written: u64,
    /// What was written last when a node was killed; nothing for one that was not.
    killed: [Option<u64>; NODES],
}

/// The search.
#[derive(Debug, Clone, Copy)]
pub(super) struct Small {
    pub(super) variant: Variant,
    pub(super) bounds: Bounds,
}

/// A node that was killed has an entry that was written after the kill.
pub const REJOINS: &str = "a node that was killed follows again and has a later entry";

/// What a primary wrote and nobody else got makes way for what the next one wrote.
pub const TRUNCATES: &str = "a conflicting entry was truncated";

const NODES: usize = 3;

impl Small {
    fn begin(self) -> State {
        let mut world = World::new(Setup {
            nodes: NODES,
            variant: self.variant,
            // Every way by which something is written before recovery.
            assumptions: Assumptions {
                pushes: true,
                ..Assumptions::default()
            },
        });
        for node in 0..NODES {
            for lsn in 1..3 {
                let entry = Entry {
                    lsn,
                    term: 1,
                    value: lsn,
                };
                world.put_segment(node, &[entry]);
            }
        }
        let bounds = self.bounds;
        let mut state = State {
            world,
            pending: Vec::new(),
            left: [
                bounds.writes,
                bounds.kills,
                bounds.elections,
                bounds.ticks,
                bounds.losses,
            ],
            written: 10,
            killed: [None; NODES],
        };
        for node in 0..NODES {
            state.happen(|world, out| world.start(node, 0, out));
        }
        state.drain();
        state.happen(|world, out| world.stand_for_election(0, out));
        state.drain();
        state.happen(|world, out| world.tick(0, out));
        state.drain();
        if bounds.is_lonely {
            let value = state.written;
            // A node that has just committed takes it; its messages go nowhere.
            let mut is_taken = false;
            state.happen(|world, out| is_taken = world.write(0, value, true, out).is_ok());
            debug_assert!(is_taken);
            state
                .pending
                .retain(|it| !matches!(it, Step::Deliver { .. }));
            state.drain();
        }
        state
    }
}

impl State {
    fn happen(&mut self, what: impl FnOnce(&mut World, &mut Out)) {
        let mut out = Out::default();
        what(&mut self.world, &mut out);
        for (delay, step) in out.later {
            // Turns, elections and deadlines are events of the search; what arrives nowhere is not under way.
            let is_timer = matches!(delay, Delay::Election | Delay::Tick | Delay::Wait);
            if !is_timer && !self.pending.contains(&step) {
                self.pending.push(step);
            }
        }
        self.pending.retain(|step| {
            let node = &self.world.nodes[step.node()];
            let is_current = |life: u32| node.life == life;
            node.is_up
                && match step {
                    Step::Recover { life, .. } | Step::Synced { life, .. } => is_current(*life),
                    Step::Deliver { .. }
                    | Step::Election { .. }
                    | Step::Tick { .. }
                    | Step::Deadline { .. } => true,
                }
        });
        self.pending.sort_unstable();
        for node in &mut self.world.nodes {
            node.timer = 0;
        }
    }

    /// Whether a node that was killed follows again and has a client's entry from after its kill.
    fn has_rejoined(&self) -> bool {
        let nodes = self.world.nodes.iter().zip(self.killed);
        nodes.into_iter().any(|(node, killed)| {
            let follows = node.is_recovered() && node.role == Role::Follower && node.life > 1;
            let is_later = |written: u64| node.log.values().any(|it| it.value > written);
            follows && killed.is_some_and(is_later)
        })
    }

    /// Lets everything that is under way happen, in order.
    fn drain(&mut self) {
        while !self.pending.is_empty() {
            let step = self.pending.remove(0);
            self.happen(|world, out| world.apply(step, out));
        }
    }
}

impl SmallWorld for Small {
    fn variant(&self) -> String {
        self.variant.name()
    }

    fn words(&self) -> String {
        let Bounds {
            writes,
            kills,
            elections,
            ticks,
            losses,
            is_lonely,
        } = self.bounds;
        let lonely = if is_lonely {
            ", and a fourth that only its writer has"
        } else {
            ""
        };
        format!(
            "{NODES} controllers with 3 entries{lonely}, {writes} more written, {kills} killed, {elections} elections, {ticks} turns of a primary, {losses} messages lost"
        )
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
        let [writes, kills, elections, ticks, losses] = state.left;
        for step in &state.pending {
            actions.push(Event::Step(step.clone()));
            if losses > 0 && matches!(step, Step::Deliver { .. }) {
                actions.push(Event::Lose(step.clone()));
            }
        }
        for (node, it) in state.world.nodes.iter().enumerate() {
            if !it.is_up {
                actions.push(Event::Start(node));
                continue;
            }
            if kills > 0 {
                actions.push(Event::Kill(node, 0));
                let volatile = it.disk.volatile();
                if volatile > 0 {
                    actions.push(Event::Kill(node, volatile / 2));
                    actions.push(Event::Kill(node, volatile));
                }
            }
            if it.primary().is_some() {
                if writes > 0 {
                    actions.push(Event::Write(node));
                }
                if ticks > 0 {
                    actions.push(Event::Tick(node));
                }
            } else if elections > 0 && it.is_recovered() {
                actions.push(Event::Elect(node));
            }
        }
    }

    fn next_state(&self, last: &State, event: Event) -> Option<State> {
        let mut state = last.clone();
        match event {
            Event::Step(step) => {
                let place = state.pending.iter().position(|it| *it == step)?;
                state.pending.remove(place);
                state.happen(|world, out| world.apply(step, out));
            }
            Event::Lose(step) => {
                let place = state.pending.iter().position(|it| *it == step)?;
                state.pending.remove(place);
                state.left[4] -= 1;
            }
            Event::Write(node) => {
                state.left[0] -= 1;
                state.written += 1;
                let value = state.written;
                let mut is_taken = false;
                state.happen(|world, out| {
                    is_taken = world.write(node, value, false, out).is_ok();
                });
                if !is_taken {
                    return None;
                }
            }
            Event::Kill(node, kept) => {
                state.left[1] -= 1;
                state.killed[node] = Some(state.written);
                state.happen(|world, out| world.kill(node, kept, out));
            }
            Event::Start(node) => state.happen(|world, out| world.start(node, 0, out)),
            Event::Elect(node) => {
                state.left[2] -= 1;
                state.happen(|world, out| world.stand_for_election(node, out));
            }
            Event::Tick(node) => {
                state.left[3] -= 1;
                state.happen(|world, out| world.tick(node, out));
            }
        }
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let mut all = vec![
            Property::<Self>::always(promise(0), |_, it| keeps(it, 0)),
            Property::<Self>::always(promise(1), |_, it| keeps(it, 1)),
            Property::<Self>::always(promise(2), |_, it| keeps(it, 2)),
            Property::<Self>::always(promise(3), |_, it| keeps(it, 3)),
            Property::<Self>::always(promise(4), |_, it| keeps(it, 4)),
            Property::<Self>::always(promise(5), |_, it| keeps(it, 5)),
            Property::<Self>::always(promise(6), |_, it| keeps(it, 6)),
        ];
        // Possible only if someone is greeted.
        let Bounds {
            kills,
            elections,
            ticks,
            ..
        } = self.bounds;
        if kills > 0 && ticks > 0 {
            all.push(Property::<Self>::sometimes(REJOINS, |_, it| {
                it.has_rejoined()
            }));
        }
        if elections > 0 && ticks > 0 {
            all.push(Property::<Self>::sometimes(TRUNCATES, |_, it| {
                it.world.has_truncated()
            }));
        }
        all
    }
}

fn promise(number: usize) -> &'static str {
    Violation::ALL.get(number).map_or("", |it| it.1)
}

fn keeps(state: &State, number: usize) -> bool {
    let violation = Violation::ALL.get(number);
    violation.is_none_or(|it| !state.world.broken.contains(&it.0))
}
