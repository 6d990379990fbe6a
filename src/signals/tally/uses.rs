//! What counts the records of one signal.

use super::{AwaitedSide, Counter, PairedSide, StallWatch};
use crate::signals::{Signal, TallyKind};

/// What counts the records of one signal, by index.
#[derive(Debug, Default, Clone)]
pub struct Uses {
    /// The fields whose values are counted.
    pub values: Vec<usize>,
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
        signals: &[Signal],
        counters: &[Counter],
        stalls: &[StallWatch],
        sides: &[PairedSide],
        awaited: &[AwaitedSide],
    ) -> Vec<Self> {
        let of_signal = |signal: &Signal| {
            let fields = signal.fields.iter().enumerate();
            let counted = fields.filter(|(_, field)| field.tally != TallyKind::Not);
            Self {
                values: counted.map(|(at, _)| at).collect(),
                ..Self::default()
            }
        };
        let mut uses: Vec<Self> = signals.iter().map(of_signal).collect();
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
