//! What a scenario may ask for: a file is anyone's, and every run of it ends.

use super::scenario::{Scenario, ScenarioError};
use super::soak::Soak;
use crate::engine::sim::{Latency, MILLISECOND, TIME_MAX};

/// The longest run, and the latest time that is named: a week, in seconds.
const WEEK_S: u64 = 7 * 24 * 3600;

/// The shortest time between two things that are done over and over: a millisecond.
const EVERY_MIN: u64 = MILLISECOND;

/// What is out of bounds: what it is, its value, the smallest and the largest allowed.
type Size = (&'static str, u64, u64, u64);

impl Scenario {
    /// Whether it names only what there is, and asks for no more than can be run.
    pub fn check(&self, name: &str) -> Result<(), ScenarioError> {
        let sizes = self.sizes().into_iter();
        let sizes = sizes.chain(self.load_sizes()).chain(self.times());
        let sizes = sizes.chain(self.soak.iter().flat_map(soak_sizes));
        for (what, size, least, most) in sizes {
            if !(least..=most).contains(&size) {
                let name = name.to_owned();
                return Err(ScenarioError::Size {
                    name,
                    what,
                    least,
                    most,
                });
            }
        }
        for (what, latency, least) in self.latencies() {
            if let Some(problem) = latency.problem(least) {
                let name = name.to_owned();
                return Err(ScenarioError::Latency {
                    name,
                    what,
                    problem,
                });
            }
        }
        self.check_places(name)
    }

    fn sizes(&self) -> Vec<Size> {
        let handlers = self.handlers.iter().flat_map(|it| {
            [
                ("threads", whole(it.threads), 1, 1_000_000),
                ("backlog", whole(it.backlog), 0, 1_000_000),
                ("offer-us", it.offer_us, 0, TIME_MAX),
                ("request-mb", whole(it.request_mb), 0, 1_000_000_000),
                ("memory-mb", whole(it.memory_mb), 0, 1_000_000_000),
            ]
        });
        let it = &self.latency;
        let sizes = [
            ("nodes", whole(self.nodes), 1, 16),
            ("tables", whole(self.tables), 1, 1000),
            ("seeds", self.seeds, 1, 1000),
            ("until-s", self.until_s, 0, WEEK_S),
            ("fetch-slots", whole(self.fetch_slots), 1, 1000),
            ("common-slots", whole(self.common_slots), 1, 1000),
            ("fetch-cap-ms", self.fetch_cap_ms, 0, WEEK_S * 1000),
            ("task-cap-ms", self.task_cap_ms, 0, WEEK_S * 1000),
            ("old-parts-s", self.old_parts_s, 0, WEEK_S),
            ("gc-s", self.gc_s.unwrap_or(1), 1, WEEK_S),
            ("token-us", it.token_us, 0, TIME_MAX),
            ("catalog-us", it.catalog_us, 0, TIME_MAX),
            ("recovery-reads", it.recovery_reads, 0, 1000),
        ];
        handlers.chain(sizes).collect()
    }

    fn load_sizes(&self) -> Vec<Size> {
        let load = |it: &super::scenario::Load| [("parts", whole(it.parts), 0, 1000)];
        self.load.iter().flat_map(load).collect()
    }

    /// Every time that is named.
    fn times(&self) -> Vec<Size> {
        let mut times: Vec<Size> = Vec::new();
        for it in &self.load {
            times.push(("from-s of a load", it.from_s, 0, WEEK_S));
            times.push(("to-s of a load", it.to_s, 0, WEEK_S));
        }
        for it in &self.fault {
            times.push(("from-s of a fault", it.from_s, 0, WEEK_S));
            times.push(("to-s of a fault", it.to_s, 0, WEEK_S));
        }
        for it in &self.act {
            times.push(("at-s of an act", it.at_s, 0, WEEK_S));
        }
        for it in &self.expect {
            let to_s = it.to_s.unwrap_or(WEEK_S);
            times.push(("to-s of an expectation", to_s, 0, WEEK_S));
            times.push(("from-s of an expectation", it.from_s, 0, to_s));
        }
        times
    }

    /// Every latency with its key and the shortest that its middle may be.
    fn latencies(&self) -> Vec<(&'static str, &Latency, u64)> {
        let it = &self.latency;
        let mut latencies = vec![
            ("hop", &it.hop, 0),
            ("log", &it.log, 0),
            ("frontier", &it.frontier, 0),
            ("read", &it.read, 0),
            ("keeper", &it.keeper, 0),
            ("transfer", &it.transfer, 0),
            ("merge", &it.merge, 0),
        ];
        latencies.extend(self.load.iter().map(|it| ("every", &it.every, EVERY_MIN)));
        latencies.extend(self.soak.iter().map(|it| ("client", &it.client, EVERY_MIN)));
        latencies
    }

    fn check_places(&self, name: &str) -> Result<(), ScenarioError> {
        let loads = self.load.iter();
        let mut nodes: Vec<usize> = loads.clone().flat_map(|it| it.nodes.clone()).collect();
        nodes.extend(self.fault.iter().flat_map(|it| it.nodes.clone()));
        nodes.extend(self.act.iter().map(|it| it.node));
        nodes.extend(&self.without_confirm);
        nodes.extend(self.expect.iter().filter_map(|it| it.node));
        let tables = loads.flat_map(|it| it.tables.clone()).collect();
        for (what, numbers, count) in [
            ("server", nodes, self.nodes),
            ("table", tables, self.tables),
        ] {
            if let Some(number) = numbers.into_iter().find(|it| *it >= count) {
                return Err(ScenarioError::Place {
                    name: name.to_owned(),
                    what,
                    number,
                    count,
                });
            }
        }
        Ok(())
    }
}

fn soak_sizes(soak: &Soak) -> [Size; 7] {
    let least = soak.min_ops_between_mutations;
    [
        ("ops", soak.ops, 0, 1_000_000),
        ("workers", whole(soak.workers), 1, 1000),
        ("checkpoint-every", soak.checkpoint_every, 0, 1_000_000),
        ("phase", soak.phase.into(), 1, 3),
        ("chaos-interval", soak.chaos_interval, 1, WEEK_S),
        ("duration-s", soak.duration_s, 0, WEEK_S),
        ("min-ops-between-mutations", least, 0, 1_000_000),
    ]
}

fn whole(size: usize) -> u64 {
    u64::try_from(size).unwrap_or(u64::MAX)
}
