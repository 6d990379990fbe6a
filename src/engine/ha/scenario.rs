//! A scenario of the controllers as a file: disks, timing, what someone does, and what is assumed.

use serde::Deserialize;
use thiserror::Error;

use super::names::NodeId;
use super::setup::{Assumptions, Setup, UnknownVariant, Variant};
use crate::engine::sim::{Latency, MILLISECOND, Micros, SECOND};

/// Which system a scenario is about, in its first key.
pub const SYSTEM: &str = "controllers";

/// A scenario.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Scenario {
    /// Always [`SYSTEM`].
    pub system: String,
    /// What it shows, in one sentence.
    pub what: String,
    /// The defects that are there, as [`Variant::parse`] reads them.
    #[serde(default = "reported")]
    pub variant: String,
    /// Controllers.
    #[serde(default = "three")]
    pub nodes: usize,
    /// What all chance is drawn from.
    #[serde(default = "one")]
    pub seed: u64,
    /// How long it runs, in milliseconds.
    pub until_ms: u64,
    /// The time of day at its beginning.
    #[serde(default = "morning")]
    pub begins: String,
    /// What is assumed of the reported system.
    #[serde(default)]
    pub assume: Assumptions,
    /// How long things take.
    #[serde(default)]
    pub timing: Timing,
    /// Segments that earlier lives left.
    #[serde(default)]
    pub disk: Vec<Old>,
    /// What someone does.
    #[serde(default)]
    pub act: Vec<Act>,
    /// Who waits for a failover.
    pub client: Option<Client>,
}

/// How long things take, in microseconds.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Timing {
    /// One way between two controllers.
    pub hop: Latency,
    /// A write to the disk.
    pub sync: Latency,
    /// From the start of a process to its recovery.
    pub start: Latency,
    /// How long a controller waits for a primary.
    pub election: Latency,
    /// The turn of a primary: hello, heartbeat, catch-up.
    pub tick: Micros,
    /// How long a write waits for its commit.
    pub wait: Micros,
    /// Messages that are lost, of 1000.
    pub loss: u16,
    /// Whether messages between two nodes may overtake each other.
    pub reorders: bool,
}

impl Default for Timing {
    /// Three processes on one machine, with the tick of the report.
    fn default() -> Self {
        Self {
            hop: Latency::Uniform(150, 450),
            sync: Latency::Uniform(300, 900),
            start: Latency::Fixed(668_000),
            election: Latency::Uniform(9_000_000, 12_000_000),
            tick: 3_083_000,
            wait: 500_000,
            loss: 0,
            reorders: false,
        }
    }
}

/// A segment that an earlier life left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Old {
    /// Whose.
    pub node: NodeId,
    /// Its first position.
    pub first: u64,
    /// Its last position.
    pub last: u64,
    /// The term of its entries.
    pub term: u64,
}

/// What someone does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Act {
    /// When, in milliseconds.
    pub at_ms: u64,
    /// What.
    pub deed: Deed,
    /// To which controller; writes go to the primary.
    #[serde(default)]
    pub node: NodeId,
    /// How many writes, how many bytes survive a kill, or which segment.
    #[serde(default)]
    pub count: u64,
}

/// What can be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Deed {
    /// A process starts.
    Start,
    /// It is killed; of what is not durable `count` bytes survive.
    Kill,
    /// It ends in order.
    Stop,
    /// It is stopped in its tracks: its peers give the connections up, and what is sent to it meanwhile is lost.
    Pause,
    /// It goes on.
    Resume,
    /// Its network is cut.
    Cut,
    /// Its network is there again.
    Heal,
    /// Its time without a primary is over.
    Elect,
    /// Clients write.
    Write,
    /// The controllers write for themselves: they do not wait until the primary is ready.
    Job,
    /// It takes a snapshot and removes the segments that it covers.
    Compact,
    /// Someone removes the segment that begins at `count`.
    RemoveSegment,
}

/// Who waits for a failover, as the harness's worker does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Client {
    /// Its first attempt, in milliseconds.
    pub from_ms: u64,
    /// The distance of two attempts, in milliseconds.
    pub every_ms: u64,
    /// After how many it gives up.
    pub attempts: u64,
    /// The number of the harness's round.
    pub round: u64,
}

fn reported() -> String {
    "reported".to_owned()
}

fn three() -> usize {
    3
}

fn one() -> u64 {
    1
}

fn morning() -> String {
    "07:00:00".to_owned()
}

/// What is wrong with a scenario.
#[derive(Debug, Error)]
pub enum ScenarioError {
    /// It is not of the expected form.
    #[error("{0}: {1}")]
    Toml(String, Box<toml::de::Error>),
    /// It names a variant that there is not.
    #[error(transparent)]
    Variant(#[from] UnknownVariant),
    /// A number is out of range.
    #[error("{0}")]
    Range(String),
}

impl Scenario {
    /// Whether a text is a scenario of this system.
    pub fn claims(text: &str) -> bool {
        let first = text
            .lines()
            .find(|it| !it.trim().is_empty() && !it.starts_with('#'));
        first.is_some_and(|it| it.starts_with("system") && it.contains(SYSTEM))
    }

    /// Reads a scenario; `name` stands in errors.
    pub fn read(name: &str, text: &str) -> Result<Self, ScenarioError> {
        let scenario: Self = toml::from_str(text)
            .map_err(|error| ScenarioError::Toml(name.to_owned(), Box::new(error)))?;
        Variant::parse(&scenario.variant)?;
        match scenario.problem() {
            Some(problem) => Err(ScenarioError::Range(format!("{name}: {problem}"))),
            None => Ok(scenario),
        }
    }

    /// What runs.
    pub fn setup(&self, variant: Variant) -> Setup {
        Setup {
            nodes: self.nodes,
            variant,
            assumptions: self.assume.clone(),
        }
    }

    /// Its own variant.
    pub fn protocol(&self) -> Variant {
        Variant::parse(&self.variant).unwrap_or(Variant::REPORTED)
    }

    /// When it ends.
    pub fn end(&self) -> Micros {
        self.until_ms * MILLISECOND
    }

    /// The time of day at its beginning, from midnight.
    pub fn time_of_day(&self) -> Option<Micros> {
        let mut parts = self.begins.split(':').map(str::parse::<u64>);
        let mut part = |most: u64| parts.next()?.ok().filter(|it| *it < most);
        let (hours, minutes, seconds) = (part(24)?, part(60)?, part(60)?);
        Some((hours * 3600 + minutes * 60 + seconds) * SECOND)
    }
}
