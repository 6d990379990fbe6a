//! A run: a world under a clock, with load, faults and an operator.

use std::collections::BTreeMap;

use super::load::{Job, Tables};
use super::names::{Note, What};
use super::scenario::{Act, Deed, Scenario};
use super::tally::{SAMPLE, Tally};
use super::timing::{Clockwork, Target};
use super::variant::Variant;
use super::world::{Out, Outcome, Step, World};
use crate::engine::sim::{MILLISECOND, Micros, SECOND, Schedule, Stream, Trace, Window};

/// Is told what happens, when, and in which world.
pub type Sink<'a> = &'a mut dyn FnMut(Micros, &Note, &World);

/// What waits for its time.
#[derive(Debug, Clone, Copy)]
pub(super) enum Event {
    /// A step of the system.
    Step(Step, Outcome),
    /// A failed attempt of a request.
    Tell(Note),
    /// A load's turn on a server.
    Load { load: usize, node: usize },
    /// The initiator of an attach looks whether its lane is quiet (fix C3).
    Quiet { job: u64 },
    /// An operator's turn.
    Act(Act),
    /// The queues are measured.
    Sample,
    /// Ledgers that were not used are evicted.
    Evict,
    /// The harness asks every server something.
    Select,
}

/// Events of a run at most: some minutes.
const EVENTS_MAX: u64 = 50_000_000;

/// Parts, each of which every server keeps something of: a gigabyte.
const PARTS_MAX: usize = 1_000_000;

/// What a run keeps at most, unless a soak counts its own operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Most {
    /// Events.
    pub events: u64,
    /// Parts.
    pub parts: usize,
}

impl Default for Most {
    fn default() -> Self {
        Self {
            events: EVENTS_MAX,
            parts: PARTS_MAX,
        }
    }
}

/// How often the harness of a soak with faults asks every server something.
const SELECT: Micros = 2 * SECOND;

/// How often ledgers are evicted.
const EVICT: Micros = SECOND;

/// A scenario while it runs.
pub struct Run<'a> {
    /// The system.
    pub world: World,
    /// What was counted.
    pub tally: Tally,
    /// Whether it was ended before its time because more happened than a run keeps.
    pub is_cut: bool,
    /// When that is.
    pub most: Most,
    pub(super) scenario: Scenario,
    pub(super) schedule: Schedule<Event>,
    pub(super) load_streams: BTreeMap<(usize, usize), Stream>,
    pub(super) jobs: BTreeMap<u64, Job>,
    pub(super) next_job: u64,
    pub(super) tables: Tables,
    pub(super) out: Out,
    pub(super) finished: Vec<(u64, bool)>,
    pub(super) announced: u64,
    clockwork: Clockwork,
    /// What stands still with its server, in its order; nothing for a server that runs.
    pub(super) paused: BTreeMap<usize, Vec<Event>>,
    trace: Trace,
    sink: Option<Sink<'a>>,
}

impl<'a> Run<'a> {
    /// A scenario at its beginning.
    pub fn new(scenario: &Scenario, variant: Variant, seed: u64, sink: Option<Sink<'a>>) -> Self {
        let setup = scenario.setup(variant);
        let lanes = setup.nodes * setup.tables;
        let clockwork = Clockwork::new(
            scenario.timing(),
            scenario.faults(),
            seed,
            lanes,
            setup.tables,
        );
        let mut run = Self {
            world: World::new(setup),
            tally: Tally::new(scenario.nodes),
            is_cut: false,
            most: Most::default(),
            tables: Tables::new(scenario.tables),
            scenario: scenario.clone(),
            schedule: Schedule::default(),
            load_streams: BTreeMap::new(),
            jobs: BTreeMap::new(),
            next_job: 0,
            out: Out::default(),
            finished: Vec::new(),
            announced: 0,
            clockwork,
            paused: BTreeMap::new(),
            trace: Trace::default(),
            sink,
        };
        run.plan(seed);
        run
    }

    fn plan(&mut self, seed: u64) {
        for (place, load) in self.scenario.load.clone().iter().enumerate() {
            for node in &load.nodes {
                let name = format!("load {place} on {node}");
                let mut stream = Stream::new(seed, &name);
                let at = load.from_s * SECOND + load.every.draw(&mut stream);
                self.load_streams.insert((place, *node), stream);
                let event = Event::Load {
                    load: place,
                    node: *node,
                };
                self.schedule.at(at, event);
            }
        }
        for act in self.scenario.act.clone() {
            self.schedule.at(act.at_s * SECOND, Event::Act(act));
        }
        self.schedule.at(0, Event::Sample);
        self.world.begin_leases(&mut self.out);
        self.settle();
        if self.scenario.soak.as_ref().is_some_and(|it| it.phase > 1) {
            self.schedule.at(SELECT, Event::Select);
        }
        if self.scenario.resident.is_some() {
            self.schedule.at(EVICT, Event::Evict);
        }
        if let Some(every) = self.scenario.gc_s {
            self.world.gc.interval = Some(every * SECOND);
            let step = Step::GcRead { lane: 0 };
            self.schedule
                .at(every * SECOND, Event::Step(step, Outcome::Done));
        }
    }

    /// Runs until the scenario ends or a promise of the protocol is broken.
    pub fn finish(&mut self) {
        self.run_until(self.scenario.end());
    }

    /// Runs until a time, until a promise is broken, or until more has happened than a run keeps.
    pub fn run_until(&mut self, end: Micros) {
        // Whoever drives a soak counts its operations.
        let is_bounded = self.scenario.soak.is_none();
        while self.world.broken.is_empty() && !self.is_cut {
            let Some(event) = self.schedule.next_until(end) else {
                return;
            };
            self.happen(event);
            let Most { events, parts } = self.most;
            let is_full = self.events() >= events || self.world.parts.len() >= parts;
            self.is_cut = is_bounded && is_full;
        }
    }

    /// Lets one thing happen, if there is one up to `end`.
    pub(super) fn run_one(&mut self, end: Micros) {
        if let Some(event) = self.schedule.next_until(end) {
            self.happen(event);
        }
    }

    /// Jobs that have ended since the last call, and whether they failed.
    pub(super) fn take_finished(&mut self) -> Vec<(u64, bool)> {
        std::mem::take(&mut self.finished)
    }

    /// Plans what someone does.
    pub(super) fn plan_act(&mut self, at: Micros, deed: Deed, node: usize) {
        let at_s = at / SECOND;
        self.schedule.at(at, Event::Act(Act { at_s, deed, node }));
    }

    /// Plans a fault.
    pub(super) fn plan_fault(&mut self, window: Window<Target>) {
        self.clockwork.add(window);
    }

    /// The time.
    pub fn now(&self) -> Micros {
        self.schedule.now()
    }

    /// Events so far.
    pub fn events(&self) -> u64 {
        self.schedule.events()
    }

    /// The hash of everything that happened so far.
    pub fn hash(&self) -> u64 {
        self.trace.hash()
    }

    fn happen(&mut self, event: Event) {
        self.world.now = self.schedule.now();
        if !self.paused.is_empty()
            && let Event::Step(step, _) = event
            && let Some(node) = self.world.server_of(step)
            && let Some(held) = self.paused.get_mut(&node)
        {
            held.push(event);
            return;
        }
        match event {
            Event::Step(step, outcome) => self.world.apply(step, outcome, &mut self.out),
            Event::Tell(note) => self.out.notes.push(note),
            Event::Load { load, node } => self.load_turn(load, node),
            Event::Quiet { job } => self.announce(job),
            Event::Act(act) => self.act(act),
            Event::Sample => {
                for (tally, node) in self.tally.nodes.iter_mut().zip(&self.world.nodes) {
                    let length = u32::try_from(node.queue.len()).unwrap_or(u32::MAX);
                    tally.queue.push(length);
                }
                let next = self.schedule.now() + SAMPLE;
                self.schedule.at(next, Event::Sample);
            }
            Event::Select => self.select(),
            Event::Evict => {
                if let Some(most) = self.scenario.resident {
                    for node in 0..self.world.nodes.len() {
                        self.world.evict_down_to(node, most, &mut self.out);
                    }
                }
                let next = self.schedule.now() + EVICT;
                self.schedule.at(next, Event::Evict);
            }
        }
        self.settle();
    }

    /// A query is an access to the ledger of its table: it warms one that is cold.
    fn select(&mut self) {
        for node in 0..self.world.nodes.len() {
            let is_up = self.world.nodes.get(node).is_some_and(|it| it.is_up);
            if is_up && !self.paused.contains_key(&node) {
                self.world.load_tables(node, &mut self.out);
            }
        }
        let next = self.schedule.now() + SELECT;
        self.schedule.at(next, Event::Select);
    }

    fn act(&mut self, act: Act) {
        let (world, out) = (&mut self.world, &mut self.out);
        match act.deed {
            Deed::StopFetches | Deed::StartFetches => {
                if let Some(node) = world.nodes.get_mut(act.node) {
                    node.is_stopped = act.deed == Deed::StopFetches;
                }
                world.dispatch(act.node, out);
            }
            Deed::Stop => world.stop(act.node, out),
            Deed::Start => world.start(act.node, out),
            Deed::LoseLease => world.lose_lease(act.node, true, out),
            Deed::ExpireLease => world.lose_lease(act.node, false, out),
            Deed::RegainLease => world.regain_lease(act.node),
            Deed::FenceOut => world.fence_out(act.node, 0, out),
            Deed::Remount => world.remount(act.node, out),
            Deed::ForeignLog => {
                let lane = world.setup.lane(act.node, 0);
                if let Some(lane) = world.lanes.get_mut(lane) {
                    lane.stream.is_foreign = true;
                }
            }
            Deed::Pause => {
                out.notes.push(Note::of(What::Paused, act.node));
                self.paused.entry(act.node).or_default();
            }
            Deed::Resume => self.resume(act.node),
        }
    }

    /// A server goes on with what came meanwhile.
    fn resume(&mut self, node: usize) {
        self.out.notes.push(Note::of(What::Resumed, node));
        let now = self.schedule.now();
        for event in self.paused.remove(&node).unwrap_or_default() {
            self.schedule.at(now, event);
        }
    }

    /// Tells what happened and schedules what follows.
    pub(super) fn settle(&mut self) {
        let now = self.schedule.now();
        while !self.out.written.is_empty() {
            for (job, result) in std::mem::take(&mut self.out.written) {
                self.part_written(job, result);
            }
        }
        for note in self.out.notes.drain(..) {
            self.trace.add(&[now]);
            self.trace.add(&note.words());
            self.tally.count(now, &note);
            if let Some(sink) = &mut self.sink {
                sink(now, &note, &self.world);
            }
        }
        for (delay, step) in self.out.later.drain(..) {
            let wait = self.clockwork.wait(now, delay);
            for (at, note) in wait.errors {
                self.schedule.at(at, Event::Tell(note));
            }
            let outcome = wait.outcome.unwrap_or(Outcome::Done);
            self.schedule.at(wait.at, Event::Step(step, outcome));
        }
    }

    /// Lets something happen at the load's own time.
    pub(super) fn later(&mut self, after: Micros, event: Event) {
        let at = self.schedule.now() + after;
        self.schedule.at(at, event);
    }
}

/// How often the initiator of an attach looks at its lane (fix C3).
pub(super) const LOOK: Micros = 5 * MILLISECOND;
