//! A scenario as a file: servers, protocol, latencies, load, faults, what an operator does, and what is expected.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::expect::Expect;
use super::soak::Soak;
use super::timing::{Object, Target, Timing};
use super::variant::{UnknownVariant, Variant};
use super::world::Setup;
use crate::engine::sim::{Effect, Latency, MILLISECOND, Micros, SECOND, Window};

/// A scenario.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Scenario {
    /// What it shows, in one sentence.
    pub what: String,
    /// The protocol, as [`Variant::parse`] reads it.
    #[serde(default = "v1")]
    pub variant: String,
    /// Servers.
    #[serde(default = "two")]
    pub nodes: usize,
    /// Replicated tables.
    #[serde(default = "one")]
    pub tables: usize,
    /// What all chance is drawn from.
    #[serde(default = "one_seed")]
    pub seed: u64,
    /// How many seeds its expectations are about, from the first.
    #[serde(default = "one_seed")]
    pub seeds: u64,
    /// How long it runs.
    pub until_s: u64,
    /// Fetches at once.
    #[serde(default = "slots")]
    pub fetch_slots: usize,
    /// Other tasks at once.
    #[serde(default = "pool")]
    pub common_slots: usize,
    /// The longest wait of a failed fetch.
    #[serde(default = "minute_ms")]
    pub fetch_cap_ms: u64,
    /// The longest wait of another failed entry.
    #[serde(default = "minutes_ms")]
    pub task_cap_ms: u64,
    /// How long merged parts stay.
    #[serde(default = "old_parts")]
    pub old_parts_s: u64,
    /// Servers that do not know the confirm.
    #[serde(default)]
    pub without_confirm: Vec<usize>,
    /// Whether an entry that a full pool refuses counts as tried.
    #[serde(default)]
    pub counts_full_pool: bool,
    /// The HTTP handlers of a server.
    pub handlers: Option<Handlers>,
    /// Tables whose ledger a server keeps in memory.
    pub resident: Option<usize>,
    /// The distance of two rounds of the garbage collector; none without.
    pub gc_s: Option<u64>,
    /// Whether mounts live by renewals that go to the store; without, only an act ends one.
    #[serde(default)]
    pub leases: bool,
    /// How long things take.
    #[serde(default)]
    pub latency: Latencies,
    /// The harness that writes, if it is the soak's.
    pub soak: Option<Soak>,
    /// What writes.
    #[serde(default)]
    pub load: Vec<Load>,
    /// What goes wrong.
    #[serde(default)]
    pub fault: Vec<Fault>,
    /// What someone does.
    #[serde(default)]
    pub act: Vec<Act>,
    /// What must come out.
    #[serde(default)]
    pub expect: Vec<Expect>,
}

/// The HTTP handlers of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Handlers {
    /// Requests at once.
    pub threads: usize,
    /// Connections that wait.
    pub backlog: usize,
    /// How long an offer keeps a handler, in microseconds.
    pub offer_us: u64,
    /// Memory of a request while a handler works on it, in megabytes.
    #[serde(default)]
    pub request_mb: usize,
    /// Memory that all of them may take before the kernel kills the server, in megabytes; 0 for any.
    #[serde(default)]
    pub memory_mb: usize,
}

/// How long things take, in microseconds.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Latencies {
    /// One way between two servers.
    pub hop: Latency,
    /// The creation of a log.
    pub log: Latency,
    /// The publication of a frontier.
    pub frontier: Latency,
    /// A read of the store.
    pub read: Latency,
    /// An entry's way through the coordination service.
    pub keeper: Latency,
    /// The bytes of a part.
    pub transfer: Latency,
    /// A merge.
    pub merge: Latency,
    /// The spread of waits after failures, in thousandths either way.
    pub jitter: u64,
    /// The distance of two mutations of one `_ckpt`; 0 without a limit.
    pub token_us: u64,
    /// The distance of two mutations of the catalog; 0 without a limit.
    pub catalog_us: u64,
    /// Logs that a recovery reads.
    pub recovery_reads: u64,
    /// Whether each batch looks at the catalog.
    pub checks_catalog: bool,
}

impl Default for Latencies {
    /// A store and a network in one data center.
    fn default() -> Self {
        Self {
            hop: Latency::Uniform(1_000, 3_000),
            log: Latency::Uniform(5_000, 15_000),
            frontier: Latency::Uniform(5_000, 15_000),
            read: Latency::Uniform(2_000, 6_000),
            keeper: Latency::Uniform(2_000, 6_000),
            transfer: Latency::Uniform(20_000, 60_000),
            merge: Latency::Uniform(50_000, 150_000),
            jitter: 200,
            token_us: 0,
            catalog_us: 0,
            recovery_reads: 2,
            checks_catalog: false,
        }
    }
}

/// What a load does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoadKind {
    /// One part, then a `GET_PART` for the others.
    Insert,
    /// Some parts of another table, then one `REPLACE_RANGE` for the others.
    Attach,
    /// The oldest parts of a table become one.
    Merge,
    /// `CREATE TABLE`: a change of the catalog that all servers share.
    Create,
}

/// Something that writes.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Load {
    /// What it does.
    pub kind: LoadKind,
    /// On which servers, each on its own.
    pub nodes: Vec<usize>,
    /// Into which tables; all if none is named.
    #[serde(default)]
    pub tables: Vec<usize>,
    /// The time between two.
    pub every: Latency,
    /// When it begins.
    #[serde(default)]
    pub from_s: u64,
    /// When it ends.
    pub to_s: u64,
    /// Parts of an attach; parts that a merge takes at most.
    #[serde(default = "parts")]
    pub parts: usize,
}

/// Something that goes wrong.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Fault {
    /// What is hit.
    pub object: Object,
    /// Whose requests; everyone's if none is named.
    #[serde(default)]
    pub nodes: Vec<usize>,
    /// When it begins.
    pub from_s: u64,
    /// When it ends.
    pub to_s: u64,
    /// How many of 1000 are hit.
    pub share: u16,
    /// What happens to them.
    pub effect: Effect,
}

/// What someone does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Deed {
    /// `SYSTEM STOP FETCHES`.
    StopFetches,
    /// `SYSTEM START FETCHES`.
    StartFetches,
    /// The process is killed.
    Stop,
    /// The process starts.
    Start,
    /// The mount lease is lost and the server says so.
    LoseLease,
    /// The mount lease expires while a renewal hangs.
    ExpireLease,
    /// The hanging renewal comes through.
    RegainLease,
    /// The collector of the first server fences it out.
    FenceOut,
    /// It mounts again.
    Remount,
    /// The process stands still, with all its connections.
    Pause,
    /// It goes on.
    Resume,
    /// Something foreign writes where the next log of the server's first table belongs.
    ForeignLog,
}

/// When someone does something.
#[derive(Debug, Clone, Copy, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Act {
    /// When.
    pub at_s: u64,
    /// What.
    pub deed: Deed,
    /// To which server.
    pub node: usize,
}

/// Why a scenario cannot run.
#[derive(Debug, Error)]
pub enum ScenarioError {
    /// The file is none.
    #[error("{name}: {source}")]
    Form {
        /// Which file.
        name: String,
        /// What is wrong with it.
        source: Box<toml::de::Error>,
    },
    /// It names a server or a table that it does not have.
    #[error("{name}: {what} {number} is named, and there are {count}")]
    Place {
        /// Which file.
        name: String,
        /// What is named.
        what: &'static str,
        /// Its number.
        number: usize,
        /// How many there are.
        count: usize,
    },
    /// Its size is out of bounds.
    #[error("{name}: {what} must be from {least} to {most}")]
    Size {
        /// Which file.
        name: String,
        /// What is out of bounds.
        what: &'static str,
        /// The smallest allowed.
        least: u64,
        /// The largest allowed.
        most: u64,
    },
    /// One of its latencies is none.
    #[error("{name}: {what}: {problem}")]
    Latency {
        /// Which file.
        name: String,
        /// Which latency.
        what: &'static str,
        /// What is wrong with it.
        problem: String,
    },
    /// Its protocol is not known.
    #[error("{name}: {source}")]
    Variant {
        /// Which file.
        name: String,
        /// Which protocol.
        source: UnknownVariant,
    },
}

impl Scenario {
    /// Reads a scenario and checks what it names.
    pub fn read(name: &str, text: &str) -> Result<Self, ScenarioError> {
        let scenario: Self = toml::from_str(text).map_err(|source| ScenarioError::Form {
            name: name.to_owned(),
            source: Box::new(source),
        })?;
        Variant::parse(&scenario.variant).map_err(|source| ScenarioError::Variant {
            name: name.to_owned(),
            source,
        })?;
        scenario.check(name)?;
        Ok(scenario)
    }

    /// The scenario as a file that [`Self::read`] takes, without what is as by default.
    pub fn text(&self) -> String {
        let own = toml::Table::try_from(self).unwrap_or_default();
        let plain = toml::from_str::<Self>("what = \"\"\nuntil-s = 0");
        let plain = plain.ok().and_then(|it| toml::Table::try_from(it).ok());
        let plain = plain.unwrap_or_default();
        let mut text = toml::Table::new();
        for (key, value) in own {
            let usual = plain.get(&key);
            let differs = match (&value, usual) {
                (toml::Value::Table(mine), Some(toml::Value::Table(usual))) => {
                    let changed = mine.iter().filter(|(key, it)| usual.get(*key) != Some(it));
                    let changed: toml::Table =
                        changed.map(|(key, it)| (key.clone(), it.clone())).collect();
                    if !changed.is_empty() {
                        text.insert(key, toml::Value::Table(changed));
                    }
                    continue;
                }
                (value, usual) => usual != Some(value),
            };
            if differs {
                text.insert(key, value);
            }
        }
        toml::to_string(&text).unwrap_or_default()
    }

    /// The protocol that it names.
    pub fn protocol(&self) -> Variant {
        Variant::parse(&self.variant).unwrap_or(Variant::of(super::Rule::V1))
    }

    /// What does not change while it runs under `variant`.
    pub fn setup(&self, variant: Variant) -> Setup {
        Setup {
            nodes: self.nodes,
            tables: self.tables,
            fetch_slots: self.fetch_slots,
            common_slots: self.common_slots,
            fetch_cap_ms: self.fetch_cap_ms,
            task_cap_ms: self.task_cap_ms,
            old_parts_us: self.old_parts_s * SECOND,
            without_confirm: self.without_confirm.clone(),
            counts_full_pool: self.counts_full_pool,
            handlers: self.handlers.map(|it| (it.threads, it.backlog)),
            offer_us: self.handlers.map_or(0, |it| it.offer_us),
            limits_ckpt: self.latency.token_us > 0,
            leases: self.leases,
            catalog_us: self.latency.catalog_us,
            memory: self
                .handlers
                .filter(|it| it.memory_mb > 0)
                .map(|it| (it.request_mb, it.memory_mb)),
            ..Setup::new(variant)
        }
    }

    /// Its latencies.
    pub fn timing(&self) -> Timing {
        let it = self.latency.clone();
        Timing {
            hop: it.hop,
            log: it.log,
            frontier: it.frontier,
            read: it.read,
            keeper: it.keeper,
            transfer: it.transfer,
            merge: it.merge,
            jitter: it.jitter.min(1000),
            token: it.token_us,
            recovery_reads: it.recovery_reads,
            checks_catalog: it.checks_catalog,
        }
    }

    /// Its faults.
    pub fn faults(&self) -> Vec<Window<Target>> {
        let window = |it: &Fault| Window {
            from: it.from_s * SECOND,
            to: it.to_s * SECOND,
            target: Target {
                object: it.object,
                nodes: it.nodes.clone(),
            },
            share: it.share,
            effect: it.effect,
        };
        self.fault.iter().map(window).collect()
    }

    /// When it ends.
    pub fn end(&self) -> Micros {
        self.until_s * 1000 * MILLISECOND
    }
}

fn v1() -> String {
    "v1".to_owned()
}

fn one() -> usize {
    1
}

fn one_seed() -> u64 {
    1
}

fn two() -> usize {
    2
}

fn slots() -> usize {
    16
}

fn pool() -> usize {
    8
}

fn parts() -> usize {
    4
}

fn minute_ms() -> u64 {
    60_000
}

fn minutes_ms() -> u64 {
    300_000
}

fn old_parts() -> u64 {
    480
}
