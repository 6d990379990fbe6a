//! What a scenario may ask for: a file is anyone's, and every run of it ends.

use super::scenario::{Deed, SYSTEM, Scenario};
use crate::engine::sim::{MILLISECOND, TIME_MAX};

/// The longest run, and the latest deed: a day, in milliseconds.
const DAY_MS: u64 = 24 * 3600 * 1000;

/// The highest position and the most records of all segments together that earlier lives left.
const RECORDS_MAX: u64 = 1_000_000;

/// Segments that earlier lives left.
const SEGMENTS_MAX: usize = 1_000;

/// The highest term that earlier lives reached.
const TERM_MAX: u64 = 1_000_000;

/// Writes of all deeds together.
const WRITES_MAX: u64 = 100_000;

/// The same where no batch waits for the one before: each is sent with all that are not acknowledged yet.
const WRITES_AT_ONCE_MAX: u64 = 2_000;

impl Scenario {
    /// What is wrong with it, if anything is.
    pub(super) fn problem(&self) -> Option<String> {
        if self.system != SYSTEM {
            return Some(format!("system must be {SYSTEM}"));
        }
        if self.time_of_day().is_none() {
            return Some("begins must be a time of day, such as 07:05:40".to_owned());
        }
        let nodes = u64::try_from(self.nodes).unwrap_or(u64::MAX);
        out_of("nodes", nodes, 1, 9)
            .or_else(|| out_of("until-ms", self.until_ms, 0, DAY_MS))
            .or_else(|| self.place_problem())
            .or_else(|| self.disk_problem())
            .or_else(|| self.act_problem())
            .or_else(|| self.timing_problem())
    }

    fn place_problem(&self) -> Option<String> {
        let acts = self.act.iter().map(|it| it.node);
        let mut named = acts.chain(self.disk.iter().map(|it| it.node));
        let node = named.find(|it| *it >= self.nodes)?;
        let there = self.nodes;
        Some(format!("controller {node} is named, and there are {there}"))
    }

    fn disk_problem(&self) -> Option<String> {
        if self.disk.len() > SEGMENTS_MAX {
            return Some(format!("there are more than {SEGMENTS_MAX} segments"));
        }
        let mut records = 0;
        for it in &self.disk {
            if it.first == 0 || it.last < it.first {
                let word = "a segment begins at 1 or later and ends behind its beginning";
                return Some(word.to_owned());
            }
            let problem = out_of("last of a segment", it.last, 1, RECORDS_MAX);
            let problem = problem.or_else(|| out_of("term of a segment", it.term, 0, TERM_MAX));
            if problem.is_some() {
                return problem;
            }
            records += it.last - it.first + 1;
        }
        out_of("records of all segments together", records, 0, RECORDS_MAX)
    }

    fn act_problem(&self) -> Option<String> {
        let most = if self.assume.one_batch {
            WRITES_MAX
        } else {
            WRITES_AT_ONCE_MAX
        };
        let mut writes: u64 = 0;
        for act in &self.act {
            if let Some(problem) = out_of("at-ms", act.at_ms, 0, DAY_MS) {
                return Some(problem);
            }
            if matches!(act.deed, Deed::Write | Deed::Job) {
                writes = writes.saturating_add(act.count.max(1));
            }
        }
        let client = self.client.and_then(|it| {
            out_of("from-ms", it.from_ms, 0, DAY_MS)
                .or_else(|| out_of("every-ms", it.every_ms, 1, DAY_MS))
                .or_else(|| out_of("attempts", it.attempts, 1, WRITES_MAX))
        });
        out_of("count of all writes together", writes, 0, most).or(client)
    }

    fn timing_problem(&self) -> Option<String> {
        let it = &self.timing;
        // Whoever is not elected stands again after such a time.
        let named = [
            ("hop", &it.hop, 0),
            ("sync", &it.sync, 0),
            ("start", &it.start, 0),
            ("election", &it.election, MILLISECOND),
        ];
        let mut latencies = named.into_iter();
        let latency =
            latencies.find_map(|(name, it, least)| Some(format!("{name}: {}", it.problem(least)?)));
        latency
            .or_else(|| out_of("tick", it.tick, MILLISECOND, TIME_MAX))
            .or_else(|| out_of("wait", it.wait, 0, TIME_MAX))
            .or_else(|| out_of("loss", it.loss.into(), 0, 1000))
            .or_else(|| out_of("batches", self.assume.batches, 1, 1000))
            .or_else(|| {
                let limit = self.assume.segment_records;
                out_of("segment-records", limit, 0, RECORDS_MAX)
            })
    }
}

fn out_of(what: &str, value: u64, least: u64, most: u64) -> Option<String> {
    let is_in = (least..=most).contains(&value);
    (!is_in).then(|| format!("{what} must be from {least} to {most}"))
}
