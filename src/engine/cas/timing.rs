//! How long things take and which of them go wrong: the store's request engine, the network, the waits.

use super::names::{NONE, NodeId, Note, What};
use super::replica::backoff_ms;
use super::world::{Delay, Outcome};
use crate::engine::sim::{Effect, Latency, MILLISECOND, Micros, SECOND, Stream, Window};

/// What a request goes to.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Deserialize, serde::Serialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Object {
    /// `cas/ref_catalog`.
    Catalog,
    /// `_ckpt`.
    Ckpt,
    /// `_log/...`.
    Log,
    /// Another server.
    Link,
    /// The mount of a server.
    Mount,
}

impl Object {
    /// How keys of its kind end.
    pub fn key(self) -> &'static str {
        match self {
            Self::Catalog => "cas/ref_catalog",
            Self::Ckpt => "_ckpt",
            Self::Log => "_log",
            Self::Link => "",
            Self::Mount => "mount",
        }
    }
}

/// A fault's target: a kind of object, as some servers see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// What is hit.
    pub object: Object,
    /// Whose requests; empty for everyone's.
    pub nodes: Vec<NodeId>,
}

/// The latencies of a scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timing {
    /// One way between two servers.
    pub hop: Latency,
    /// The creation of a log.
    pub log: Latency,
    /// The publication of a frontier.
    pub frontier: Latency,
    /// A read of the store.
    pub read: Latency,
    /// The way of an entry through the coordination service.
    pub keeper: Latency,
    /// The bytes of a part.
    pub transfer: Latency,
    /// A merge.
    pub merge: Latency,
    /// How far waits after failures are spread, in thousandths either way.
    pub jitter: u64,
    /// The distance of two mutations of one `_ckpt`; 0 if the store does not limit them.
    pub token: Micros,
    /// Reads of a recovery beside the catalog and the checkpoint.
    pub recovery_reads: u64,
    /// Whether each batch looks at the catalog first.
    pub checks_catalog: bool,
}

impl Timing {
    fn of(&self, object: Object, writes: bool) -> &Latency {
        match object {
            Object::Ckpt if writes => &self.frontier,
            Object::Log | Object::Catalog | Object::Mount if writes => &self.log,
            Object::Ckpt | Object::Log | Object::Catalog | Object::Link | Object::Mount => {
                &self.read
            }
        }
    }
}

/// An attempt of a request times out after this.
const ATTEMPT: Micros = 5 * SECOND;

/// The first wait between attempts, doubled each time.
const RETRY: Micros = 200 * MILLISECOND;

/// The longest wait between attempts.
const RETRY_MAX: Micros = 5 * SECOND;

/// Attempts of a change of a mount, and how long each may take with its connection: three in 21 s, as the renewals of
/// the field were given up.
const MOUNT_ATTEMPTS: (u32, Micros) = (3, 7 * SECOND);

/// Attempts of one request.
const ATTEMPTS: u32 = 16;

/// No attempt begins later than this after the first.
const DEADLINE: Micros = 90 * SECOND;

/// A connection that is not answered is given up after this.
const CONNECT: Micros = SECOND;

/// Turns waits into times.
#[derive(Debug)]
pub(super) struct Clockwork {
    timing: Timing,
    faults: Vec<Window<Target>>,
    latency: Stream,
    fault: Stream,
    tokens: Vec<Micros>,
    tables: usize,
}

/// When a wait ends, how, and what is to be told on the way.
#[derive(Debug, Default)]
pub(super) struct Wait {
    /// When.
    pub(super) at: Micros,
    /// How; nothing stands for done.
    pub(super) outcome: Option<Outcome>,
    /// Failed attempts, with their times.
    pub(super) errors: Vec<(Micros, Note)>,
}

impl Wait {
    fn until(at: Micros) -> Self {
        Self {
            at,
            ..Self::default()
        }
    }
}

impl Clockwork {
    /// The clockwork of a run.
    pub(super) fn new(
        timing: Timing,
        faults: Vec<Window<Target>>,
        seed: u64,
        lanes: usize,
        tables: usize,
    ) -> Self {
        Self {
            timing,
            faults,
            latency: Stream::new(seed, "latency"),
            fault: Stream::new(seed, "faults"),
            tokens: vec![0; lanes],
            tables,
        }
    }

    /// One fault more.
    pub(super) fn add(&mut self, window: Window<Target>) {
        self.faults.push(window);
    }

    /// When what was begun `now` ends.
    pub(super) fn wait(&mut self, now: Micros, delay: Delay) -> Wait {
        let timing = &self.timing;
        match delay {
            Delay::Exact(time) => Wait::until(now + time),
            Delay::Hop(from, to) => self.message(now, from, to, false),
            Delay::Transfer(from, to) => self.message(now, from, to, true),
            Delay::Keeper => Wait::until(now + timing.keeper.draw(&mut self.latency)),
            Delay::Merge => Wait::until(now + timing.merge.draw(&mut self.latency)),
            Delay::Collect => Wait::until(now + timing.read.draw(&mut self.latency)),
            Delay::Backoff(tries, cap) => {
                let wait = backoff_ms(tries, cap) * MILLISECOND;
                let spread = wait * timing.jitter / 1000;
                Wait::until(now + self.latency.between(wait - spread, wait + spread))
            }
            Delay::Token(lane) => {
                let Some(next) = self.tokens.get_mut(lane) else {
                    return Wait::until(now);
                };
                let at = now.max(*next);
                *next = at + timing.token;
                Wait::until(at)
            }
            Delay::Log(lane) => {
                let mut wait = Wait::until(now);
                let goes_on = !timing.checks_catalog || self.read(&mut wait, lane, Object::Catalog);
                if goes_on {
                    self.write(&mut wait, lane, Object::Log);
                }
                wait
            }
            Delay::Frontier(lane) => {
                let mut wait = Wait::until(now);
                self.write(&mut wait, lane, Object::Ckpt);
                wait
            }
            Delay::Read(lane) => {
                let mut wait = Wait::until(now);
                self.read(&mut wait, lane, Object::Log);
                wait
            }
            Delay::Mount(node) => {
                let mut wait = Wait::until(now);
                self.request(&mut wait, (node, NONE), Object::Mount, true);
                wait
            }
            Delay::CatalogRead(node) | Delay::CatalogWrite(node) => {
                let mut wait = Wait::until(now);
                let writes = matches!(delay, Delay::CatalogWrite(_));
                self.request(&mut wait, (node, NONE), Object::Catalog, writes);
                if wait.outcome.is_some() {
                    wait.outcome = Some(Outcome::Failed);
                }
                wait
            }
            Delay::Jitter(attempts) => {
                let most = RETRY_MAX.min(RETRY << attempts.min(10));
                Wait::until(now + self.latency.below(most))
            }
            Delay::Recovery(lane) => self.recovery(now, lane),
        }
    }

    /// Catalog, checkpoint, logs, and then the frontier.
    fn recovery(&mut self, now: Micros, lane: usize) -> Wait {
        let mut wait = Wait::until(now);
        let mut goes_on =
            self.read(&mut wait, lane, Object::Catalog) && self.read(&mut wait, lane, Object::Ckpt);
        for _ in 0..self.timing.recovery_reads {
            goes_on = goes_on && self.read(&mut wait, lane, Object::Log);
        }
        if goes_on {
            self.write(&mut wait, lane, Object::Ckpt);
        }
        if wait.outcome.is_some() {
            wait.outcome = Some(Outcome::Failed);
        }
        wait
    }

    fn hit(&mut self, now: Micros, object: Object, node: NodeId) -> Option<Effect> {
        let stream = &mut self.fault;
        let is_hit =
            |it: &Target| it.object == object && (it.nodes.is_empty() || it.nodes.contains(&node));
        let mut windows = self.faults.iter();
        windows.find_map(|window| window.hit(now, stream, is_hit))
    }

    fn message(&mut self, now: Micros, from: NodeId, to: NodeId, bytes: bool) -> Wait {
        let latency = if bytes {
            &self.timing.transfer
        } else {
            &self.timing.hop
        };
        let time = latency.draw(&mut self.latency);
        let hit = match self.hit(now, Object::Link, from) {
            None => self.hit(now, Object::Link, to),
            hit => hit,
        };
        let (time, outcome) = match hit {
            None => (time, None),
            Some(Effect::Slow) => (10 * time, None),
            Some(Effect::Timeout) => (CONNECT, Some(Outcome::Failed)),
            Some(Effect::Refused | Effect::Throttled) => (time, Some(Outcome::Failed)),
        };
        Wait {
            at: now + time,
            outcome,
            errors: Vec::new(),
        }
    }

    /// A read that is tried until it succeeds or the time is over. Whether it did.
    fn read(&mut self, wait: &mut Wait, lane: usize, object: Object) -> bool {
        let node = lane / self.tables.max(1);
        self.request(wait, (node, lane % self.tables.max(1)), object, false);
        if wait.outcome.is_some() {
            wait.outcome = Some(Outcome::Failed);
        }
        wait.outcome.is_none()
    }

    /// A conditional write: what is open after an attempt is read before the next.
    fn write(&mut self, wait: &mut Wait, lane: usize, object: Object) {
        let node = lane / self.tables.max(1);
        self.request(wait, (node, lane % self.tables.max(1)), object, true);
    }

    fn request(
        &mut self,
        wait: &mut Wait,
        (node, table): (NodeId, usize),
        object: Object,
        writes: bool,
    ) {
        let begun = wait.at;
        let mut was_sent = false;
        let (attempts, envelope) = match object {
            Object::Mount => MOUNT_ATTEMPTS,
            Object::Catalog | Object::Ckpt | Object::Log | Object::Link => (ATTEMPTS, ATTEMPT),
        };
        for attempt in 0..attempts {
            let time = self.timing.of(object, writes).draw(&mut self.latency);
            let effect = match self.hit(wait.at, object, node) {
                None => {
                    wait.at += time;
                    return;
                }
                Some(Effect::Slow) => {
                    wait.at += 10 * time;
                    return;
                }
                Some(effect) => effect,
            };
            // A change of a mount that cannot be read back counts as none.
            let may_land = writes && object != Object::Mount;
            let has_landed = effect == Effect::Timeout && may_land && self.fault.happens(500);
            wait.at += match effect {
                Effect::Timeout => envelope,
                Effect::Refused | Effect::Throttled | Effect::Slow => time,
            };
            let note = Note {
                table,
                a: object as u64,
                b: effect as u64,
                ..Note::of(What::StoreError, node)
            };
            wait.errors.push((wait.at, note));
            was_sent |= effect == Effect::Timeout && writes;
            let is_last = attempt + 1 == attempts || wait.at - begun >= DEADLINE;
            if has_landed && !is_last {
                // The read before the next attempt finds it.
                wait.at += self.timing.read.draw(&mut self.latency);
                return;
            }
            if is_last {
                wait.outcome = Some(if was_sent {
                    Outcome::Open(has_landed)
                } else {
                    Outcome::Failed
                });
                return;
            }
            let most = RETRY_MAX.min(RETRY << attempt);
            wait.at += self.latency.below(most);
        }
    }
}
