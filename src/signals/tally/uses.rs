//! What counts the records of one signal.

use super::{AwaitedSide, Counter, PairedSide, StallWatch};

/// What counts the records of one signal, by index.
#[derive(Debug, Default, Clone)]
pub struct Uses {
    /// The counters.
    pub counters: Vec<usize>,
    /// The stalls.
    pub stalls: Vec<usize>,
    /// The sides of pairs.
    pub sides: Vec<usize>,
    /// What opens or closes something that a node awaits.
    pub awaited: Vec<usize>,
}

impl Uses {
    /// By signal.
    pub fn of_all(
        signals: usize,
        counters: &[Counter],
        stalls: &[StallWatch],
        sides: &[PairedSide],
        awaited: &[AwaitedSide],
    ) -> Vec<Self> {
        let mut uses = vec![Self::default(); signals];
        for (at, counter) in counters.iter().enumerate() {
            if let Some(signal) = counter.signal {
                uses[usize::from(signal)].counters.push(at);
            }
        }
        for (at, stall) in stalls.iter().enumerate() {
            uses[usize::from(stall.signal)].stalls.push(at);
        }
        for (at, side) in sides.iter().enumerate() {
            uses[usize::from(side.signal)].sides.push(at);
        }
        for (at, side) in awaited.iter().enumerate() {
            uses[usize::from(side.signal)].awaited.push(at);
        }
        uses
    }
}
