//! What a node says of its process: version, build, starts, zone.

use super::WalProblem;
use crate::signals::SignalSet;
use crate::signals::tally::NodeTally;
use crate::time::{Timestamp, Zone};

/// What was counted of one node, and what is known of its process.
#[derive(Debug)]
pub struct NodeFacts {
    /// The counts.
    pub tally: NodeTally,
    /// The zone of its clock.
    pub zone: Zone,
    /// Its version, as its start or its exceptions name it.
    pub versions: Vec<String>,
    /// Its build, as its start names it.
    pub build: Option<String>,
    /// When its process started.
    pub starts: Vec<Timestamp>,
    /// What is wrong with its WALs.
    pub wal: Vec<WalProblem>,
}

/// Where the environment is read from.
#[derive(Debug, Clone, Copy, Default)]
pub struct Environment {
    /// The signal of a start, and its fields with the version and the build.
    pub start: Option<(u16, usize, usize)>,
    /// The signal and field that name the zone.
    pub zone: Option<(u16, usize)>,
    /// The same of the start of a Keeper as a process of its own.
    pub keeper: Option<(u16, usize, usize)>,
}

impl Environment {
    /// The signal of a start.
    pub fn start_signal(&self) -> Option<u16> {
        self.start.map(|(signal, ..)| signal)
    }

    /// Whether the logs of a node tell of the start of a Keeper, and of no server's: a server may have a Keeper within.
    fn is_keeper_alone(&self, tally: &NodeTally) -> bool {
        let starts = |signal: Option<u16>| {
            signal.is_some_and(|at| tally.signals[usize::from(at)].all.count > 0)
        };
        starts(self.keeper.map(|(signal, ..)| signal)) && !starts(self.start_signal())
    }

    /// Reads the environment of a node from its tally; a zone that the user gives wins.
    pub fn facts(&self, mut tally: NodeTally, given: Zone, signals: &SignalSet) -> NodeFacts {
        tally.seen.keeper_alone = self.is_keeper_alone(&tally);
        let values = |signal: u16, field: usize| -> Vec<String> {
            let ranked = tally.signals[usize::from(signal)].values[field].ranked();
            ranked
                .into_iter()
                .map(|(value, _)| value.trim_end_matches([',', '.', ')']).to_owned())
                .collect()
        };
        debug_assert_eq!(signals.signals().len(), tally.signals.len());
        let starts = || self.start.iter().chain(&self.keeper);
        let mut versions: Vec<String> = starts()
            .flat_map(|(signal, version, _)| values(*signal, *version))
            .collect();
        for version in &tally.process.versions {
            if !versions.contains(version) {
                versions.push(version.clone());
            }
        }
        let mut builds = starts().flat_map(|(signal, _, build)| values(*signal, *build));
        let build = builds.next();
        let named = self.zone.and_then(|(signal, field)| {
            values(signal, field)
                .first()
                .and_then(|name| Zone::from_name(name))
        });
        // Formats without stamps say nothing of a clock.
        let logs = || {
            let formats = tally.seen.formats.iter().map(|format| format.spec());
            formats.filter(|spec| spec.counts_records)
        };
        let undated = logs().next().is_some() && logs().all(|spec| spec.dateless);
        let zone = if undated {
            Zone::Dateless
        } else if tally.seen.zones == (true, false) {
            Zone::utc()
        } else if given == Zone::Unknown {
            named.unwrap_or_default()
        } else {
            given
        };
        let starts = tally.process.starts.clone();
        NodeFacts {
            tally,
            zone,
            versions,
            build,
            starts,
            wal: Vec::new(),
        }
    }
}
