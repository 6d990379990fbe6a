//! What rules cost, for those who write them: measured only where it is asked for, and told in no report.

#![expect(
    clippy::disallowed_types,
    reason = "a profile is of times; no report depends on it"
)]

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// What each signal and each rule cost, added up by all threads.
#[derive(Debug)]
pub struct Profile {
    /// The search for the texts of all signals.
    pub search: Cost,
    /// By signal, in the order of declaration: what came after its text was found.
    pub signals: Vec<Cost>,
    /// By rule, in the order of declaration: conditions and findings.
    pub rules: Vec<Cost>,
}

/// What one thing cost.
#[derive(Debug, Default)]
pub struct Cost {
    tried: AtomicU64,
    found: AtomicU64,
    bytes: AtomicU64,
    nanos: AtomicU64,
}

impl Profile {
    /// Nothing measured yet.
    pub fn new(signals: usize, rules: usize) -> Self {
        let costs = |of: usize| std::iter::repeat_with(Cost::default).take(of).collect();
        Self {
            search: Cost::default(),
            signals: costs(signals),
            rules: costs(rules),
        }
    }
}

impl Cost {
    /// Does `work` on `bytes` bytes and adds what it cost; `found` says of its result whether it came to something.
    pub fn of<T>(
        cost: Option<&Self>,
        bytes: usize,
        work: impl FnOnce() -> T,
        found: impl FnOnce(&T) -> bool,
    ) -> T {
        let start = cost.map(|_| Instant::now());
        let done = work();
        let (Some(cost), Some(start)) = (cost, start) else {
            return done;
        };
        let nanos = start.elapsed().as_nanos();
        let add = |to: &AtomicU64, more: u64| to.fetch_add(more, Ordering::Relaxed);
        add(&cost.nanos, u64::try_from(nanos).unwrap_or(u64::MAX));
        add(&cost.bytes, u64::try_from(bytes).unwrap_or(u64::MAX));
        add(&cost.tried, 1);
        add(&cost.found, u64::from(found(&done)));
        done
    }

    /// How often it was done.
    pub fn tried(&self) -> u64 {
        self.tried.load(Ordering::Relaxed)
    }

    /// How often it came to something.
    pub fn found(&self) -> u64 {
        self.found.load(Ordering::Relaxed)
    }

    /// On how many bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// How long it took, over all threads.
    pub fn time(&self) -> Duration {
        Duration::from_nanos(self.nanos.load(Ordering::Relaxed))
    }
}
