//! What a scenario must show, measured over seeds.

use serde::{Deserialize, Serialize};

use super::ledger::Why;
use super::names::What;
use super::replica::Held;
use super::run::Run;
use super::tally::STEP_S;
use crate::engine::sim::SECOND;

/// What is measured of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// Relinks refused.
    Refused,
    /// Relinks refused per minute.
    RefusedPerMinute,
    /// Relinks refused per relink finished, in hundredths.
    RefusedPerFinished,
    /// Relinks finished.
    Finished,
    /// Finished relinks among those that were finished or refused, in percent.
    Availability,
    /// Answers `unknown`.
    Unknown,
    /// Answers `no`.
    No,
    /// Parts taken as bytes.
    Downloaded,
    /// Batches appended.
    Appends,
    /// The length of the queue at the end of the time.
    Queue,
    /// The length of the queue at the end of the time, in percent of that at its beginning.
    QueueLeft,
    /// Parts that some server has and this one lacks.
    Missing,
    /// Servers whose parts differ or whose queue is not empty: 0 if all have converged.
    Unequal,
    /// The longest wait that an entry was given, in milliseconds.
    LongestWait,
    /// How often the entry with that wait had failed.
    FailuresAtLongestWait,
    /// Connections that were reset.
    Resets,
    /// Committed references without data, and promises that were broken.
    Broken,
    /// Ledgers that had to be recovered.
    Recovered,
    /// Refusals of the mount's fence.
    Fenced,
    /// Entries that a full pool refused and that count as tried.
    PoolFull,
    /// Answers `unknown` because the table's ledger is not in memory.
    NotResident,
    /// Answers `unknown` because the table's ledger is being recovered.
    Unrecovered,
    /// Servers that stopped.
    Stopped,
    /// Soaks that passed.
    SoakPassed,
    /// Leases that a server lost and said so.
    LeasesLost,
    /// Mounts that the collector fenced out.
    FencedOut,
    /// Mounts that came back in a new epoch.
    Remounted,
    /// Ledgers whose next log is foreign.
    Faulted,
    /// Servers that the kernel killed for their memory.
    OutOfMemory,
    /// Changes of the catalog that came second (412).
    Conflicts,
    /// Tables that were not made, in percent of all.
    NotMade,
    /// The most attempts of a table, made or not.
    MostAttempts,
    /// Requests to the store that failed once.
    StoreErrors,
}

/// How the values of several seeds become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum Over {
    /// The middle one.
    #[default]
    Median,
    /// Each of them must fit.
    Each,
}

/// One thing that must come out.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Expect {
    /// What is measured.
    pub measure: Measure,
    /// On which server; on all together if none is named.
    pub node: Option<usize>,
    /// From when.
    #[serde(default)]
    pub from_s: u64,
    /// Until when; the end if it is not said.
    pub to_s: Option<u64>,
    /// Until a soak has executed so many operations, for what is refused.
    pub after_ops: Option<u64>,
    /// The smallest value that fits.
    pub at_least: Option<u64>,
    /// The largest value that fits.
    pub at_most: Option<u64>,
    /// How values of several seeds are taken together.
    #[serde(default)]
    pub over: Over,
    /// Under which protocol; the scenario's own if it is not said.
    pub variant: Option<String>,
    /// Where the expectation comes from.
    pub from: String,
    /// Why it does not come out, where that is known: the table then says no, and this.
    pub gap: Option<String>,
}

impl Expect {
    /// Whether values of several seeds fit.
    pub fn fits(&self, values: &[u64]) -> bool {
        let fits = |value: u64| {
            self.at_least.is_none_or(|it| value >= it) && self.at_most.is_none_or(|it| value <= it)
        };
        match self.over {
            Over::Each => !values.is_empty() && values.iter().all(|it| fits(*it)),
            Over::Median => median(values).is_some_and(fits),
        }
    }
}

/// The middle value, the lower of two.
pub fn median(values: &[u64]) -> Option<u64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let middle = sorted.len().checked_sub(1)? / 2;
    sorted.get(middle).copied()
}

fn steps(seconds: u64) -> usize {
    usize::try_from(seconds / STEP_S).unwrap_or(usize::MAX)
}

fn share(part: u64, whole: u64, scale: u64) -> u64 {
    (part * scale).checked_div(whole).unwrap_or(0)
}

/// The value of a measure at the end of its time, on a run that has come exactly that far.
pub fn measure(expect: &Expect, run: &Run<'_>) -> u64 {
    let to_s = expect.to_s.unwrap_or(run.now() / SECOND);
    let (from, to) = (steps(expect.from_s), steps(to_s.saturating_add(STEP_S - 1)));
    let count = |what| run.tally.between(what, expect.node, from, to);
    match expect.measure {
        Measure::Refused => count(What::Refused),
        Measure::RefusedPerMinute => share(
            count(What::Refused),
            u64::try_from(to - from).unwrap_or(1) * STEP_S,
            60,
        ),
        Measure::RefusedPerFinished => share(count(What::Refused), count(What::Finished), 100),
        Measure::Finished => count(What::Finished),
        Measure::Availability => {
            let finished = count(What::Finished);
            share(finished, finished + count(What::Refused), 100)
        }
        Measure::Unknown => count(What::Unknown),
        Measure::No => count(What::No),
        Measure::Downloaded => count(What::Downloaded),
        Measure::Appends => count(What::Appended),
        Measure::Queue => queue(run, expect.node, to_s),
        Measure::QueueLeft => {
            let before = queue(run, expect.node, expect.from_s);
            share(queue(run, expect.node, to_s), before, 100)
        }
        Measure::Missing => missing(run, expect.node),
        Measure::Unequal => u64::from(!run.world.has_converged()),
        Measure::LongestWait => run.tally.longest_wait(expect.node).0,
        Measure::FailuresAtLongestWait => run.tally.longest_wait(expect.node).1,
        Measure::Resets => count(What::ConnectionReset),
        Measure::Broken => {
            super::fsck::check(&run.world).dangling
                + u64::try_from(run.world.broken.len()).unwrap_or(u64::MAX)
        }
        Measure::Recovered => count(What::Recovered),
        Measure::Fenced => count(What::Fenced),
        Measure::PoolFull => count(What::PoolFull),
        Measure::NotResident => run.tally.reason(Why::NotResident, expect.node),
        Measure::Stopped => count(What::Stopped),
        // Only whoever drives a soak knows.
        Measure::SoakPassed => 0,
        Measure::LeasesLost => count(What::LeaseLost),
        Measure::FencedOut => count(What::FencedOut),
        Measure::Remounted => count(What::Remounted),
        Measure::Faulted => count(What::Faulted),
        Measure::OutOfMemory => count(What::OutOfMemory),
        Measure::Conflicts => count(What::CatalogConflict),
        Measure::NotMade => {
            let not_made = count(What::TableNotMade);
            share(not_made, not_made + count(What::TableMade), 100)
        }
        Measure::MostAttempts => run.tally.most_attempts,
        Measure::StoreErrors => count(What::StoreError),
        Measure::Unrecovered => run.tally.reason(Why::Unrecovered, expect.node),
    }
}

fn queue(run: &Run<'_>, node: Option<usize>, at_s: u64) -> u64 {
    let nodes = (0..run.world.nodes.len()).filter(|it| node.is_none_or(|node| node == *it));
    nodes
        .filter_map(|it| run.tally.queue_at(it, at_s * SECOND))
        .map(u64::from)
        .sum()
}

/// Parts that some server has and this one, or any, lacks.
pub(super) fn missing(run: &Run<'_>, node: Option<usize>) -> u64 {
    let nodes = (0..run.world.nodes.len()).filter(|it| node.is_none_or(|node| node == *it));
    let lacks = |place: usize| {
        let parts = 0..run.world.parts.len();
        let lacking = parts.filter(|part| {
            let elsewhere = run
                .world
                .nodes
                .iter()
                .any(|it| it.part(*part) == Held::Active);
            elsewhere && !run.world.covers(place, *part)
        });
        u64::try_from(lacking.count()).unwrap_or(u64::MAX)
    };
    nodes.map(lacks).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_hold_for_the_middle_or_for_each() {
        let mut expect = Expect {
            measure: Measure::Refused,
            node: None,
            from_s: 0,
            to_s: None,
            after_ops: None,
            at_least: Some(10),
            at_most: Some(20),
            over: Over::Median,
            variant: None,
            from: String::new(),
            gap: None,
        };
        assert!(expect.fits(&[1, 15, 99]));
        assert!(!expect.fits(&[1, 2, 15]));
        assert!(!expect.fits(&[]));
        expect.over = Over::Each;
        assert!(!expect.fits(&[1, 15, 99]));
        assert!(expect.fits(&[10, 20]));
    }
}
